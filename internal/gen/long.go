package gen

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// LongOptions say which long history to make.
type LongOptions struct {
	Model       string
	Kind        LongKind
	Operations  int     // a bug may need a few more
	Processes   int     // how many operations run at once; 5 if 0
	Values      int     // distinct values from 0 on; 0: every write has its own
	Keys        int     // of a multi-register, a kv or an etcd; a bank's accounts; 3 if 0
	Appends     bool    // kv: most updates append to strings; then it has no certain bug
	Steps       int     // transactions on registers have up to as many steps; 2, of which the first one writes if any does, if 0
	Independent int     // the number of objects, whose values are [object value]; 0: one
	Permits     int     // of a semaphore; 2 if 0
	Reads       float64 // the share of operations that change nothing; a half if 0
	Crashed     int     // how many operations that change something end in :info
	Crashes     float64 // the share of all operations that also end in :info
	Fails       float64 // the share of operations that change something and end in :fail
	At          float64 // where the bug is, as a fraction of the history; 0.9 if 0
	Position    string  // the key under which completions say their positions, "" if they do not
	Sparse      bool    // positions leave out numbers
	Leases      int     // how many leases an etcd has; 2 if 0, none if below
	Watches     float64 // the share of operations of an etcd that are watches; 1/40 if 0, none if below
	Plain       bool    // an etcd is asked only what a report of its robustness tests can tell
	Seed        uint64
}

// Long writes a long history as Jepsen prints it, with a line per event. It does
// not hold the history: memory does not grow with it, except for the state of its
// objects.
//
// The history is linearizable by construction, since every operation takes effect
// at a random instant between its invocation and its completion. The only
// exception is the bug of its kind, which is certain (bug.go says why). fail is
// the first failing completion, the index of an event, or -1.
//
// Where the model leaves a choice, a third of the crashed operations has taken
// effect, a third does so at some later time, and a third never does. Their
// processes go on under new numbers. Independent objects have five processes at a
// time, as in jepsen.independent.
func Long(w io.Writer, o LongOptions) (fail int, err error) {
	o = o.defaults()
	if err := o.Check(); err != nil {
		return 0, err
	}
	r := Rand(o.Seed)
	out := &writer{w: w, Rand: r, Clients: o.Processes, fail: -1, buffer: make([]byte, 0, longBuffer)}
	threads := newThreads(o.Processes)
	groups := 1
	if o.Independent > 0 {
		groups = min(o.Independent, max(1, o.Processes/longGroup))
	}
	next := 0 // the next object
	makers := make([]*Maker, groups)
	for i := range makers {
		makers[i] = o.object(next, out, threads[i*len(threads)/groups:(i+1)*len(threads)/groups])
		next++
	}
	for running := groups; running > 0 && out.err == nil; {
		i := r.IntN(len(threads))
		g := ((i+1)*groups - 1) / len(threads)
		m := makers[g]
		switch {
		case m == nil:
		case !m.done():
			m.step(&threads[i])
		case next < o.Independent:
			makers[g] = o.object(next, out, m.threads)
			next++
		default:
			makers[g] = nil
			running--
		}
	}
	out.flush()
	return out.fail, out.err
}

// longGroup is how many processes independent objects have.
const longGroup = 5

// defaults returns the options with their defaults in place of 0.
func (o LongOptions) defaults() LongOptions {
	o.Processes, o.Keys, o.Permits = UpTo(o.Processes, 5), UpTo(o.Keys, 3), UpTo(o.Permits, 2)
	if o.At == 0 {
		o.At = 0.9
	}
	return o
}

// UpTo returns a number that is given, or the standard one for 0.
func UpTo(given, standard int) int {
	if given == 0 {
		return standard
	}
	return given
}

// object begins the n-th object.
func (o LongOptions) object(n int, out *writer, threads []Thread) *Maker {
	m := &Maker{LongOptions: o, writer: out, key: -1, threads: threads}
	if o.Independent > 0 {
		m.key = n
		share := func(all int) int { return all*(n+1)/o.Independent - all*n/o.Independent }
		m.Operations, m.Crashed = share(o.Operations), share(o.Crashed)
		if n != o.FailingKey() {
			m.Kind = Linearizable
		}
	}
	m.create()
	return m
}

// FailingKey returns the number of the independent object that has the bug.
func (o LongOptions) FailingKey() int {
	return min(int(o.defaults().At*float64(o.Independent)), o.Independent-1)
}

// Check says whether such a history exists.
func (o LongOptions) Check() error {
	o = o.defaults()
	model, known := registered[o.Model]
	switch {
	case !known:
		return fmt.Errorf("no history can be made of %q", o.Model)
	case o.Appends && (o.Model != "kv" || o.Kind != Linearizable && o.Kind != WrongAnswer):
		return errors.New("appends go with kv, and not with a certain bug")
	case o.Kind == WrongAnswer && !model.Mistaken:
		return fmt.Errorf("%s has no wrong answers", o.Model)
	case o.Kind == WrongAnswer:
	case o.Kind != Linearizable && o.Kind != WrongPosition && !slices.Contains(model.Bugs, o.Kind):
		return fmt.Errorf("%s has no %s; it has %s", o.Model, o.Kind, model.Bugs)
	case o.Keys < 2 && (o.Model == "bank" || o.Kind == TornRead || o.Kind.anomaly()) && o.Kind != Linearizable:
		return fmt.Errorf("%s of a %s needs at least 2 keys", o.Kind, o.Model) // a bank with one account never changes
	case o.Kind == WrongPosition && o.Position == "":
		return fmt.Errorf("%s needs positions", o.Kind)
	case o.Position != "" && o.Independent > 0:
		return errors.New("independent keys have no positions in common")
	case o.Position != "" && !model.Positions:
		return fmt.Errorf("%s has no positions", o.Model)
	case !model.Leases && (o.Leases != 0 || o.Watches != 0 || o.Plain):
		return fmt.Errorf("%s has no leases and no watches", o.Model)
	case o.Independent > o.Operations:
		return fmt.Errorf("%d keys need as many operations, not %d", o.Independent, o.Operations)
	case o.Processes < o.Kind.Processes():
		return fmt.Errorf("%s needs at least %d processes", o.Kind, o.Kind.Processes())
	}
	return nil
}
