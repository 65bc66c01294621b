package models

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"clew/edn"
	"clew/jepsen"
)

// Spec names a model and its parameters.
type Spec struct {
	Name string
	Init string // the initial value as EDN text; "" is the model's default

	// NilReadsExact: an :ok read of nil saw nil. Otherwise it matches anything.
	NilReadsExact bool
	// ObserveFailedCAS: a failed cas saw another value than it expected.
	// Otherwise a failed cas says nothing.
	ObserveFailedCAS bool
	// Knossos reads values as Knossos does where it differs: nil and :empty are
	// ordinary values of queues, and a set is read as a set only.
	Knossos bool
	// Priority says which element a priority-queue hands out: "max", which "" is
	// too, or "min".
	Priority string
	// Permits is how many permits a semaphore has.
	Permits int
	// MaxHolds is how often the owner of a reentrant lock may hold it at once; 0
	// is DefaultMaxHolds.
	MaxHolds int
	// Threads, where not 0, makes the owner of a lock the process modulo Threads.
	Threads int
}

// Operations are the operations of a history as a model reads them.
type Operations struct {
	Columns
	Model   Model
	History *jepsen.History
	Of      []int32 // by row: the operation of the history
}

// definition is what a model's file provides: a Model and how to read its
// operations.
type definition interface {
	Model
	// read gives an operation its meaning. keep is false where it cannot matter.
	// The error says what was expected; the caller adds where.
	read(o operation) (op Op, keep bool, err error)
}

// finisher is a model that needs to see all operations before it can give them
// all of their meaning. row is where the error is.
type finisher interface {
	finish(c *Columns) (row int32, err error)
}

// operation is what read sees of an operation.
type operation struct {
	f      edn.ID
	value  edn.ID // the completion's where it succeeded, else the invocation's
	key    edn.ID
	status jepsen.Status
	// given is the invocation's value, process the integer that names the process.
	given, process edn.ID
}

// entry is a line of the registry.
type entry struct {
	name  string
	fs    string // the :f's it knows, for messages
	about string
	// new makes the model for one history; init is nil where --init was not
	// given.
	new func(s Spec, v *edn.Values, init *edn.ID) (definition, error)
}

var registry = []entry{
	{"register", ":read, :write", "one value", newRegister},
	{"cas-register", ":read, :write, :cas [old new]", "one value with compare-and-set", newCASRegister},
	{"versioned-register", ":read, :write, :cas, each with [version value]", "a register that counts its updates", newVersioned},
	{"multi-register", ":txn [[:read k v] [:write k v] ..], also :read and :write with such a vector", "a map of registers, read and written together", newMultiRegister},
	{"mutex", ":acquire, :release", "a lock without an owner", newMutex},
	{"semaphore", ":acquire, :release, with :value n or {:permits n} for n permits", "permits that anybody may give back", newSemaphore},
	{"owner-mutex", ":acquire, :release", "a lock released by who holds it", newOwnerMutex},
	{"reentrant-mutex", ":acquire, :release", "a lock that its owner may hold several times", newReentrantMutex},
	{"owner-semaphore", ":acquire, :release, with :value n or {:permits n} for n permits", "permits given back by who holds them", newOwnerSemaphore},
	{"fenced-mutex", ":acquire, :release, with {:client c :fence n}", "a lock with an owner whose fences grow", newFencedMutex},
	{"reentrant-fenced-mutex", ":acquire, :release, with {:client c :fence n}", "such a lock that its owner may hold several times", newReentrantFencedMutex},
	{"set", ":add v, :read", "a set that only grows, read as a whole", newSet},
	{"lookup-set", ":insert v (or :add), :remove v (or :delete), :contains v (or :lookup)", "a set asked element by element", newLookupSet},
	{"fifo-queue", ":enqueue v, :dequeue, :peek, :drain", "first in, first out", newFIFOQueue},
	{"unordered-queue", ":enqueue v, :dequeue, :drain", "a bag", newUnorderedQueue},
	{"stack", ":push v, :pop, :peek", "last in, first out", newStack},
	{"priority-queue", ":enqueue v (or :insert), :dequeue (or :poll), :peek", "the element of highest priority first", newPriorityQueue},
	{"java-queue", ":offer v, :poll, :peek, :size, :isEmpty, :clear, :contains v, :remove v, :addAll [v ..], :containsAll, :removeAll, :retainAll, :toArray, :toString", "java.util.Queue, first in, first out", newJavaQueue},
	{"kv", ":get, :put, :append with :key and :value", "strings by key", newKV},
}

// About describes a model for a list of models.
type About struct{ Name, Fs, About string }

// All describes every model.
func All() []About {
	var all []About
	for _, e := range registry {
		all = append(all, About{e.name, e.fs, e.about})
	}
	return all
}

func names() string {
	var ns []string
	for _, e := range registry {
		ns = append(ns, e.name)
	}
	return strings.Join(ns, ", ")
}

func lookup(name string) (entry, error) {
	for _, e := range registry {
		if e.name == name {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("unknown model %q; clew knows %s", name, names())
}

// Model is the model for values of a table, without a history.
func (s Spec) Model(v *edn.Values) (Model, error) {
	d, _, err := s.bind(v)
	return d, err
}

// Check says whether the spec makes sense before any history is read.
func (s Spec) Check() error {
	_, _, err := s.bind(edn.NewValues())
	return err
}

func (s Spec) bind(v *edn.Values) (definition, entry, error) {
	e, err := lookup(s.Name)
	if err != nil {
		return nil, e, err
	}
	if s.ObserveFailedCAS && s.Name != "cas-register" {
		return nil, e, fmt.Errorf("--failed-cas observe goes with cas-register, not with %s", s.Name)
	}
	if s.NilReadsExact && s.Name != "register" && s.Name != "cas-register" && s.Name != "multi-register" {
		return nil, e, fmt.Errorf("--nil-reads exact goes with registers, not with %s", s.Name)
	}
	if s.Priority != "" && s.Name != "priority-queue" {
		return nil, e, fmt.Errorf("--priority goes with priority-queue, not with %s", s.Name)
	}
	if err := s.checkLocks(); err != nil {
		return nil, e, err
	}
	var init *edn.ID
	if s.Init != "" {
		id, err := v.Parse([]byte(s.Init), edn.Pos{File: "--init", Line: 1, Col: 1})
		if err != nil {
			return nil, e, err
		}
		id = v.Same(id)
		init = &id
	}
	d, err := e.new(s, v, init)
	return d, e, err
}

// Read gives the operations of a history their meaning. Failed operations are
// dropped, and so are crashed ones that cannot change a state. Errors name the
// op, where it stands, and what the model knows. Linear time.
func (s Spec) Read(h *jepsen.History) (*Operations, error) {
	d, e, err := s.bind(h.Values)
	if err != nil {
		return nil, err
	}
	ops := &Operations{Model: d, History: h}
	ops.Events = int32(len(h.Type))
	ops.grow(h.Operations())
	ops.Of = make([]int32, 0, h.Operations())
	for o := int32(0); o < int32(h.Operations()); o++ {
		status := h.Status[o]
		if status == jepsen.Failed && !s.ObserveFailedCAS {
			continue
		}
		inv := h.Invocation[o]
		op, keep, err := d.read(operation{h.F[inv], h.OpValue(o), h.Key(inv), status, h.Value[inv], h.Processes[h.Process[inv]]})
		if err != nil {
			return nil, s.readError(h, o, e, err)
		}
		res := Open
		if status != jepsen.Crashed {
			res = h.Completion[o]
		}
		if !keep || res == Open && !d.Mutates(op) {
			continue
		}
		ops.Append(inv, res, op)
		ops.Of = append(ops.Of, o)
	}
	if f, ok := d.(finisher); ok {
		if row, err := f.finish(&ops.Columns); err != nil {
			return nil, s.readError(h, ops.Of[row], e, err)
		}
	}
	return ops, nil
}

// errUnknownF is the error of read for a :f that the model does not know.
var errUnknownF = errors.New("unknown :f")

func (s Spec) readError(h *jepsen.History, o int32, e entry, err error) error {
	event := h.Invocation[o]
	if h.Status[o] == jepsen.Succeeded {
		event = h.Completion[o]
	}
	f, index := h.Values.Text(h.F[event]), h.Index(event)
	if err == errUnknownF {
		return h.Errorf(event, "%s does not know :f %s (index %d); it knows %s", s.Name, f, index, e.fs)
	}
	return h.Errorf(event, "%s cannot read the value of %s (index %d): %v; it knows %s", s.Name, f, index, err, e.fs)
}

// Select is the operations in the given rows, which ascend.
func (o *Operations) Select(rows []int32) *Operations {
	part := &Operations{Model: o.Model, History: o.History}
	part.Events = o.Events
	part.grow(len(rows))
	part.Of = make([]int32, 0, len(rows))
	for _, i := range rows {
		part.Append(o.Inv[i], o.Res[i], o.Op(i))
		part.Of = append(part.Of, o.Of[i])
	}
	return part
}

// Prefix is the operations invoked up to event t, as they stand there: those not
// completed by then are optional, and keep the value that they will return (which
// is Knossos's meaning).
func (o *Operations) Prefix(t int32) Cut {
	cut := Cut{&Operations{Model: o.Model, History: o.History}, nil}
	cut.Events = t + 1
	for i := int32(0); i < int32(o.Len()) && o.Inv[i] <= t; i++ {
		op, res := o.Op(i), o.Res[i]
		if res > t {
			op, res = o.Opened(i), Open
			if !o.Model.Mutates(op) {
				continue
			}
		}
		cut.Append(o.Inv[i], res, op)
		cut.Of = append(cut.Of, o.Of[i])
		cut.Rows = append(cut.Rows, i)
	}
	return cut
}

// Opened is row i as a prefix that ends before its return has it. What never
// returns means the same everywhere.
func (o *Operations) Opened(i int32) Op {
	if opener, ok := o.Model.(opener); ok && o.Res[i] != Open {
		return opener.Opened(o.Op(i))
	}
	return o.Op(i)
}

// ReadsOpenOtherwise says whether some operation counts for less while it is
// open than once it has returned.
func (o *Operations) ReadsOpenOtherwise() bool {
	for i := int32(0); i < int32(o.Len()); i++ {
		if o.Opened(i) != o.Op(i) {
			return true
		}
	}
	return false
}

// Parts splits the rows by the model's partition, in order of the parts' first
// operation. It is one part where the model has none.
func (o *Operations) Parts() []*Operations {
	p, ok := o.Model.(Partitioner)
	if !ok || o.Len() == 0 {
		return []*Operations{o}
	}
	all := make([]int32, o.Len())
	for i := range all {
		all[i] = int32(i)
	}
	var parts []*Operations
	for _, rows := range o.split(p, all) {
		parts = append(parts, o.Select(rows))
	}
	return parts
}

// Infer says which model a history is of: the one that its text names, or else
// that which its :f's stand for; an error lists the candidates. Neither the
// initial value nor independent keys are ever inferred.
func Infer(h *jepsen.History) (string, error) {
	if h.Model != "" {
		return h.Model, nil
	}
	name, err := infer(h)
	if _, unknown := lookup(name); err == nil && unknown != nil {
		return "", fmt.Errorf("this looks like a %s, which clew does not know; it knows %s", name, names())
	}
	return name, err
}

func infer(h *jepsen.History) (string, error) {
	seen := map[string]bool{}
	for _, inv := range h.Invocation {
		seen[h.Values.Text(h.F[inv])] = true
	}
	fs := make([]string, 0, len(seen))
	for f := range seen {
		fs = append(fs, f)
	}
	sort.Strings(fs)
	all := strings.Join(fs, ", ")
	has := func(f string) bool { return seen[f] }
	within := func(allowed ...string) bool {
		for _, f := range fs {
			if !slices.Contains(allowed, f) {
				return false
			}
		}
		return true
	}
	switch {
	case len(fs) == 0:
		return "register", nil // nothing to check: any model is as good
	case has(":enqueue") || has(":dequeue"):
		return "", fmt.Errorf("cannot infer the model from %s; give --model fifo-queue, unordered-queue or priority-queue", all)
	case has(":txn"):
		return "multi-register", nil
	case has(":push") || has(":pop"):
		return "stack", nil
	case has(":acquire") || has(":release"):
		return "mutex", nil
	case has(":contains") && (has(":add") || has(":insert") || has(":remove")):
		return "lookup-set", nil
	case has(":add") && within(":add", ":read") && readsCollections(h):
		return "set", nil
	case has(":get") || has(":put"):
		return "kv", nil
	case has(":cas") && within(":read", ":write", ":cas"):
		return "cas-register", nil
	case (has(":read") || has(":write")) && within(":read", ":write"):
		return "register", nil
	}
	return "", fmt.Errorf("cannot infer the model from %s; give --model with one of %s", all, names())
}

// readsCollections says whether every :read that returned a value returned a
// collection.
func readsCollections(h *jepsen.History) bool {
	read := h.Values.InternKeyword("read")
	for op, inv := range h.Invocation {
		if h.F[inv] != read || h.Status[op] != jepsen.Succeeded {
			continue
		}
		switch h.Values.Kind(h.OpValue(int32(op))) {
		case edn.KindNil, edn.KindVector, edn.KindList, edn.KindSet:
		default:
			return false
		}
	}
	return true
}
