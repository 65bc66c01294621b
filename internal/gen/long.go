package gen

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// LongOptions say which long history to make.
type LongOptions struct {
	Model       string
	Kind        LongKind
	Operations  int     // a bug may need a few more
	Processes   int     // how many operations run at once; 5 if 0
	Values      int     // distinct values from 0 on; 0: every write has its own
	Keys        int     // of a multi-register or kv; a bank's accounts; 3 if 0
	Appends     bool    // kv: most updates append to strings; then it has no certain bug
	Independent int     // the number of objects, whose values are [object value]; 0: one
	Permits     int     // of a semaphore; 2 if 0
	Reads       float64 // the share of operations that change nothing; a half if 0
	Crashed     int     // how many operations that change something end in :info
	Crashes     float64 // the share of all operations that also end in :info
	Fails       float64 // the share of operations that change something and end in :fail
	At          float64 // where the bug is, as a fraction of the history; 0.9 if 0
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
	out := &longWriter{w: w, Rand: r, Clients: o.Processes, fail: -1, buffer: make([]byte, 0, longBuffer)}
	threads := make([]LongThread, o.Processes)
	for i := range threads {
		threads[i].process, threads[i].Number = i, i
	}
	groups := 1
	if o.Independent > 0 {
		groups = min(o.Independent, max(1, o.Processes/longGroup))
	}
	next := 0 // the next object
	machines := make([]*LongHistory, groups)
	for i := range machines {
		machines[i] = o.object(next, out, threads[i*len(threads)/groups:(i+1)*len(threads)/groups])
		next++
	}
	for running := groups; running > 0 && out.err == nil; {
		i := r.IntN(len(threads))
		g := ((i+1)*groups - 1) / len(threads)
		l := machines[g]
		switch {
		case l == nil:
		case !l.done():
			l.step(&threads[i])
		case next < o.Independent:
			machines[g] = o.object(next, out, l.threads)
			next++
		default:
			machines[g] = nil
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

// object begins the n-th object.
func (o LongOptions) object(n int, out *longWriter, threads []LongThread) *LongHistory {
	l := &LongHistory{LongOptions: o, longWriter: out, key: -1, threads: threads, due: map[int][]LongOp{}}
	if o.Independent > 0 {
		l.key = n
		share := func(all int) int { return all*(n+1)/o.Independent - all*n/o.Independent }
		l.Operations, l.Crashed = share(o.Operations), share(o.Crashed)
		if n != o.FailingKey() {
			l.Kind = Linearizable
		}
	}
	// The values of bugs lie beyond all others.
	if l.Mark = o.Values; l.Mark == 0 {
		l.Mark = 2 * l.Operations
	}
	if l.Kind == Linearizable {
		l.Phase = After
	}
	l.object = registered[o.Model].Long(l)
	return l
}

// FailingKey returns the number of the independent object that has the bug.
func (o LongOptions) FailingKey() int {
	return min(int(o.defaults().At*float64(o.Independent)), o.Independent-1)
}

// LongHistory makes the history of an object.
type LongHistory struct {
	LongOptions
	*longWriter
	key     int // its number; -1 if it is the only one
	threads []LongThread

	object  LongObject
	due     map[int][]LongOp // crashed, by how many operations begin before they take effect
	pending int              // how many of these there are
	Fresh   int              // the next value, if every write has its own
	Mark    int              // the first value of bugs: the marked one, its successor, one that is never written
	Phase   phase
	busy    int  // operations in progress
	changes int  // operations in progress that change something
	bugged  bool // a step of the bug is in progress
	alone   bool // only the bug's steps may begin

	Started, crashed int
}

// LongThread is a client: a process, and its operation if it has one.
type LongThread struct {
	Number  int // from 0 on, always the same
	process int
	stage   stage
	op      LongOp
}

type stage int8

const (
	idle stage = iota
	begun
	took
	refuses
)

// phase says how far a bug has come.
type phase int8

const (
	before   phase = iota
	Draining       // until no change is in progress
	acting         // the bug takes its steps
	After
)

// LongOp is an operation. The object gives its numbers their meaning.
type LongOp struct {
	F       string
	Changes bool // whether it changes something
	Crashes bool
	fails   bool
	step    bool // of the bug
	Forced  bool // it has its answer already, and does not take effect
	Last    bool // its completion is the impossible one
	Ok      bool
	A, B    int
	Key     int
	Two     int
	List    []int
}

// LongObject is a sequential object.
type LongObject interface {
	// Change makes up an operation of a thread that changes something.
	Change(t *LongThread) LongOp
	// Read makes up one that does not, or one that brings the object to rest. ok
	// is false if there is none now.
	Read(t *LongThread) (o LongOp, ok bool)
	// Bug returns the next step of the bug, if this thread may take it. The steps
	// come one after another, and the last one is marked.
	Bug(t *LongThread) (o LongOp, ok bool)
	// Apply lets an operation take effect.
	Apply(o *LongOp) Outcome
	// Value prints the value of an operation, as it was invoked or as it returned.
	Value(b []byte, o *LongOp, returned bool) []byte

	// The following have defaults.

	// Rests says whether the bug may begin when no change is in progress.
	Rests() bool
	// MayCrash says whether an operation of a thread that begins may crash.
	MayCrash(t *LongThread, o *LongOp) bool
	// Ghost says whether an operation that crashes takes effect.
	Ghost(o *LongOp) Haunting
	// Err changes the answer of an operation into another one.
	Err(o *LongOp)
}

// Haunting says whether a crashed operation takes effect.
type Haunting int8

const (
	Perhaps Haunting = iota // at once, later or never
	Surely                  // at once
	Never
)

func (l *LongHistory) Rests() bool                          { return true }
func (l *LongHistory) MayCrash(*LongThread, *LongOp) bool   { return true }
func (l *LongHistory) Ghost(*LongOp) Haunting               { return Perhaps }
func (l *LongHistory) Err(o *LongOp)                        { o.A = (o.A + 1) % l.Mark }
func (l *LongHistory) Read(*LongThread) (o LongOp, ok bool) { return o, false }

// done says whether the history of the object is at its end.
func (l *LongHistory) done() bool {
	return l.busy == 0 && l.full()
}

// full says whether no more operations begin.
func (l *LongHistory) full() bool {
	return l.Started >= l.Operations && l.Phase == After && l.crashed >= l.Crashed
}

// step lets a process take a step.
func (l *LongHistory) step(t *LongThread) {
	switch t.stage {
	case idle:
		l.begin(t)
	case begun:
		l.effect(t)
	default:
		l.complete(t)
	}
}

func (l *LongHistory) begin(t *LongThread) {
	if l.pending > 0 {
		l.haunt(l.Started)
	}
	l.advance()
	if l.full() {
		return
	}
	if !l.next(t) {
		return
	}
	t.stage = begun
	l.Started++
	l.busy++
	if t.op.Changes {
		l.changes++
	}
	l.emit(l, t, ":invoke")
}

// haunt lets the crashed operations of an instant take effect.
func (l *LongHistory) haunt(instant int) {
	ops := l.due[instant]
	for i := range ops {
		l.object.Apply(&ops[i])
	}
	if ops != nil {
		l.pending -= len(ops)
		delete(l.due, instant)
	}
}

// advance goes on to the next phase of the bug if it is time.
func (l *LongHistory) advance() {
	if l.Phase == before && l.Started >= int(l.At*float64(l.Operations)) {
		l.Phase = Draining
		if l.Kind == ImpossibleRead || l.Kind == WrongAnswer {
			l.Phase = acting
		}
		l.alone = l.Kind == LostWrite // otherwise other operations would see that it is lost
	}
	if l.Phase == Draining && l.changes == 0 && (l.busy == 0 || !l.alone) && l.object.Rests() {
		l.Phase = acting
		// Crashed operations that are to take effect do so now, and not later.
		for l.pending > 0 {
			first := math.MaxInt
			for at := range l.due {
				first = min(first, at)
			}
			l.haunt(first)
		}
	}
}

// next makes up the next operation of a thread, if one may begin.
func (l *LongHistory) next(t *LongThread) (ok bool) {
	o := &t.op
	if l.Phase == acting && !l.bugged {
		if *o, ok = l.object.Bug(t); ok {
			o.step, l.bugged = true, true
			return true
		}
	}
	if l.alone {
		return false
	}
	if l.quiet() {
		*o, ok = l.object.Read(t)
		return ok
	}
	// The operations that still have to crash are chosen at random among those
	// that are left.
	if l.Crashed > 0 && l.Rand.IntN(max(l.Operations-l.Started, 1)) < l.Crashed-l.crashed {
		*o = l.object.Change(t)
		if o.Crashes = l.object.MayCrash(t, o); o.Crashes {
			l.crashed++
		}
		return true
	}
	if l.Reads > 0 && l.Rand.Float64() < l.Reads || l.Reads == 0 && l.Rand.IntN(2) == 0 {
		*o, ok = l.object.Read(t)
	}
	if !ok {
		*o = l.object.Change(t)
	}
	switch {
	case l.Crashes > 0 && l.Rand.Float64() < l.Crashes:
		o.Crashes = l.object.MayCrash(t, o)
	case l.Fails > 0 && o.Changes:
		o.fails = l.Rand.Float64() < l.Fails
	}
	return true
}

// quiet says whether only the bug may change anything now.
func (l *LongHistory) quiet() bool {
	return (l.Phase == Draining || l.Phase == acting) && l.Kind != ImpossibleRead && l.Kind != WrongAnswer
}

// longPatience is how often, on average, an operation is blocked before it fails.
const longPatience = 8

// effect lets a thread's operation take effect.
func (l *LongHistory) effect(t *LongThread) {
	o := &t.op
	t.stage = took
	switch {
	case o.Forced:
	case o.fails:
		t.stage = refuses
	case o.Crashes:
		l.vanish(o)
	default:
		switch l.object.Apply(o) {
		case Refused:
			t.stage = refuses
		case Blocked:
			if t.stage = begun; l.Rand.IntN(longPatience) == 0 {
				t.stage = refuses
			}
		case Done:
			if o.Last && l.Kind == WrongAnswer {
				l.object.Err(o)
			}
		}
	}
}

// vanish decides whether and when an operation that crashes takes effect.
func (l *LongHistory) vanish(o *LongOp) {
	how := l.object.Ghost(o)
	switch n := l.Rand.IntN(3); {
	case !o.Changes || how == Never || how == Perhaps && n == 0:
	case how == Surely || n == 1:
		l.object.Apply(o)
	default:
		l.postpone(*o)
	}
}

// longPending bounds the crashed operations that may still take effect.
const longPending = 1 << 12

// postpone lets a crashed operation take effect when some more operations have
// begun: a few or very many, with the same chance for every order of magnitude.
func (l *LongHistory) postpone(o LongOp) {
	if l.quiet() || l.pending >= longPending {
		return
	}
	left := float64(max(l.Operations-l.Started, 1))
	at := l.Started + int(math.Pow(left, l.Rand.Float64()))
	l.due[at] = append(l.due[at], o)
	l.pending++
}

func (l *LongHistory) complete(t *LongThread) {
	o := &t.op
	refused := t.stage == refuses
	t.stage = idle
	l.busy--
	if o.Changes {
		l.changes--
	}
	if o.step {
		l.bugged = false
	}
	switch {
	case o.Crashes:
		l.emit(l, t, ":info")
		t.process += l.Clients
		return
	case refused:
		l.emit(l, t, ":fail")
		return
	}
	if o.Last {
		if l.Kind != WrongAnswer {
			l.fail = l.events
		}
		l.Phase, l.alone = After, false
	}
	l.emit(l, t, ":ok")
}

// Write returns a value to write.
func (l *LongHistory) Write() int {
	if l.Values > 0 {
		return l.Rand.IntN(l.Values)
	}
	l.Fresh++
	return l.Fresh - 1
}

// longWriter writes the events of all objects.
type longWriter struct {
	w       io.Writer
	err     error
	Rand    *rand.Rand
	Clients int
	events  int
	time    int64 // nanoseconds
	fail    int   // the first failing completion, or -1
	buffer  []byte
}

// longBuffer is how much is written at once.
const longBuffer = 1 << 16

// emit writes an event of a thread's operation.
func (w *longWriter) emit(l *LongHistory, t *LongThread, typ string) {
	w.time += int64(1000 + w.Rand.Uint32()>>12)
	b := append(w.buffer, "{:index "...)
	b = strconv.AppendInt(b, int64(w.events), 10)
	b = strconv.AppendInt(append(b, ", :time "...), w.time, 10)
	b = append(append(b, ", :type "...), typ...)
	b = strconv.AppendInt(append(b, ", :process "...), int64(t.process), 10)
	b = append(append(b, ", :f "...), t.op.F...)
	b = append(b, ", :value "...)
	if l.key >= 0 {
		b = append(AppendNumber(append(b, '['), l.key), ' ')
	}
	b = l.object.Value(b, &t.op, typ == ":ok")
	if l.key >= 0 {
		b = append(b, ']')
	}
	w.buffer = append(b, "}\n"...)
	w.events++
	if len(w.buffer) > longBuffer-1024 {
		w.flush()
	}
}

func (w *longWriter) flush() {
	if w.err == nil {
		_, w.err = w.w.Write(w.buffer)
	}
	w.buffer = w.buffer[:0]
}

// AppendNumber prints a value; -1 is nil.
func AppendNumber(b []byte, n int) []byte {
	if n < 0 {
		return append(b, "nil"...)
	}
	return strconv.AppendInt(b, int64(n), 10)
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
	case o.Kind != Linearizable && !slices.Contains(model.Bugs, o.Kind):
		return fmt.Errorf("%s has no %s; it has %s", o.Model, o.Kind, model.Bugs)
	case o.Keys < 2 && (o.Model == "bank" || o.Kind == TornRead) && o.Kind != Linearizable:
		return fmt.Errorf("%s of a %s needs at least 2 keys", o.Kind, o.Model) // a bank with one account never changes
	case o.Independent > o.Operations:
		return fmt.Errorf("%d keys need as many operations, not %d", o.Independent, o.Operations)
	case o.Processes < 2 && (o.Kind == TwoHolders || o.Kind == ForeignRelease):
		return fmt.Errorf("%s needs at least 2 processes", o.Kind)
	}
	return nil
}
