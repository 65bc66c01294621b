package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"clew/edn"
	"clew/internal/beside"
	"clew/internal/hugepages"
	"clew/internal/text"
	"clew/jepsen"
)

// DefaultMaxHolds is how many times the owner of a reentrant lock may hold it by default.
const DefaultMaxHolds = 2

// Spec names a model and its parameters. The zero Spec stands for the model that Infer
// finds: with Spec{}, functions that get a history infer its model.
type Spec struct {
	Name string // "" means the model that Infer finds
	// Init is the initial value as EDN text, such as "0". "" means the model's default, and
	// the first reads of a history may show that it began with another value. The default
	// itself, "nil" for a register or "{}" for kv, says that it began there.
	Init string

	// NilReadsExact: an :ok read of nil saw nil. Otherwise it matches anything.
	NilReadsExact bool
	// ObserveFailedCAS: a failed cas saw a value other than the one that it
	// expected. Otherwise a failed cas says nothing.
	ObserveFailedCAS bool
	// Knossos reads values as Knossos does: nil and :empty are ordinary values of queues,
	// and only a set is read as a set.
	Knossos bool
	// Priority says which element a priority-queue hands out: "max" or "" for
	// the greatest, "min" for the least.
	Priority string
	// Permits is how many permits a semaphore has.
	Permits int
	// MaxHolds is how many times the owner of a reentrant lock may hold it at
	// once; 0 means DefaultMaxHolds.
	MaxHolds int
	// Threads, if not 0, makes the owner of a lock the process modulo Threads.
	Threads int
	// GrowingIDs: the ids of an id-generator are integers that grow. Otherwise
	// they are any values, all distinct.
	GrowingIDs bool
	// NegativeBalances: a transfer may leave a bank's account with less than 0.
	// Otherwise it cannot happen then.
	NegativeBalances bool

	// Answers says whether completions of a log's appends and of a counter's increments
	// tell offsets and new values (AnswersTold). Otherwise they only repeat their
	// invocations (AnswersEcho). "" means that the history shows it.
	Answers string
	// KVKeys is for a kv whose operations have no :key. It says whether their values are
	// [key value] (KVKeysPairs), or have no key (KVKeysNone). "" means that the history
	// shows it.
	KVKeys string
	// Accounts says what the keywords that name accounts in reads of a bank stand for (AccountsNumbers,
	// AccountsStrings, or AccountsAsWritten for themselves). "" means that the history shows it.
	Accounts string

	// Position is the key of an op map that says where its operation stands in the order of updates, such as "revision",
	// without a colon. "" means that only the model's own answers say it. "none" ignores what a model of your own says.
	Position string
	// SparsePositions: an update has a greater position than those before it. Otherwise every update adds one.
	SparsePositions bool

	fromTest string // see FromTest

	own *Definition // of a model that is not in the registry
}

// WithTest returns the spec with what the map of a test says to a model, as of Definition.FromTest.
func (s Spec) WithTest(d *Definition, get func(key string) (edn.Value, bool)) Spec {
	if d.FromTest != nil {
		s.fromTest = d.FromTest(get)
	}
	return s
}

// FromTest returns what the map of the test says of the initial value without giving it, or "".
func (s Spec) FromTest() string { return s.fromTest }

// Own returns the spec of a model that is not in the registry. Its parameters are set as on
// any other spec.
func Own(d *Definition) Spec {
	if d == nil {
		return Spec{own: &Definition{}}
	}
	return Spec{Name: d.Name, own: d}
}

// IsOwn reports whether the model is not in the registry.
func (s Spec) IsOwn() bool { return s.own != nil }

// Definition returns what is known about the model that the spec names. If there is no such
// model, the error lists the known models.
func (s Spec) Definition() (*Definition, error) {
	switch {
	case s.own == nil:
		return lookup(s.Name)
	case s.own.Name == "" || s.own.New == nil:
		return nil, errors.New("a custom model needs a Definition with a Name and New")
	}
	return s.own, nil
}

// unclearOutput returns an error for the first interval record whose output is null beside a value, if the model may
// return nil there. A value of [key nil] has the nil of its key, whichever is meant.
func (s Spec) unclearOutput(h *jepsen.History, d *Definition) error {
	for _, e := range h.NullOutputs() {
		items := h.Values.Items(h.Value[e])
		keyed := isList(h.Values, h.Value[e]) && len(items) == 2 && items[1] == edn.Nil
		if f := short(h.Values, h.F[e]); s.own != nil || slices.Contains(d.NilOutputs, f) && !keyed {
			return h.Errorf(e, `the :%s with "value" %s has "output" null, which may mean that value or nil; expected {"edn":"nil"} for nil, or no "output" for the value`,
				f, text.Shorten(h.Values.Text(h.Value[e]), MaxRepeated))
		}
	}
	return nil
}

// Admits returns nil if the parts of a history that were skipped mean nothing to the model.
// It is an error if a process that is not a client has an :f that the model knows. It is
// also one if a value that may stand under another key than :value would count, or if an
// interval record's output is null where that could mean nil or its value.
func (s Spec) Admits(h *jepsen.History) error {
	if h == nil || len(h.SkippedClientOps)+len(h.Misread)+len(h.NullOutputs()) == 0 {
		return nil
	}
	m, d, err := s.bind(h.Values)
	if err != nil {
		return err
	}
	if err := s.unclearOutput(h, d); err != nil {
		return err
	}
	for i := range h.SkippedClientOps {
		x := &h.SkippedClientOps[i]
		_, _, err := m.Read(Operation{Values: h.Values, FID: x.F, ValueID: x.Value, KeyID: x.Key, Status: jepsen.Crashed, GivenID: x.Value, ProcessID: x.Process})
		if !errors.Is(err, ErrUnknownF) {
			return x.Err()
		}
	}
	for i := range h.Misread {
		if x := &h.Misread[i]; matters(m, h.Values, x) {
			return x.Err()
		}
	}
	return nil
}

// matters says whether a model reads an operation differently with the part that may be
// missing.
func matters(m Reader, v *edn.Values, x *jepsen.Misread) bool {
	o := Operation{Values: v, FID: x.F, ValueID: x.Value, KeyID: x.Key, Status: jepsen.Crashed, GivenID: x.Value, ProcessID: x.Process}
	if x.Returned {
		o.Status = jepsen.Succeeded
	}
	op, keep, err := m.Read(o)
	if errors.Is(err, ErrUnknownF) {
		return false // the history's own operation reports that
	}
	word := v.InternKeyword("clew/missing")
	for _, other := range []edn.ID{word, v.InternVector([]edn.ID{word})} {
		if x.OfKey {
			o.KeyID = other
		} else {
			o.ValueID = other
		}
		otherOp, otherKeep, otherErr := m.Read(o)
		if err != nil || otherErr != nil || op != otherOp || keep != otherKeep {
			return true
		}
	}
	return false
}

// Pairing returns how this spec pairs the events of a history.
func (s Spec) Pairing() jepsen.Options { return jepsen.Options{AnyFailedF: s.Knossos} }

// Model returns the model for the values of a table, without a history.
func (s Spec) Model(v *edn.Values) (Model, error) {
	m, _, err := s.bind(v)
	return m, err
}

// Check says whether the spec makes sense before any history is read.
func (s Spec) Check() error {
	_, _, err := s.bind(edn.NewValues())
	return err
}

func (s Spec) bind(v *edn.Values) (Reader, *Definition, error) {
	d, err := s.Definition()
	if err != nil {
		return nil, nil, err
	}
	if err := s.checkParams(d); err != nil {
		return nil, nil, err
	}
	init, err := s.initial(v)
	if err != nil {
		return nil, nil, err
	}
	m, err := d.New(&Binding{Spec: s, Record: d.Record, Values: v, InitID: init})
	if err == nil && m == nil {
		err = errors.New("the New of " + d.Name + " returned no model")
	}
	return m, d, err
}

// Read gives the operations of a history their meaning. It drops failed operations, and
// crashed ones that cannot change a state. An error about an operation is an *edn.Error: it
// names the operation, its place, and what the model knows. Linear time.
func (s Spec) Read(h *jepsen.History) (*Operations, error) {
	return s.ReadWithin(context.Background(), h)
}

// ReadWithin is Read until the context is done. Then the error is the context's cause.
func (s Spec) ReadWithin(ctx context.Context, h *jepsen.History) (*Operations, error) {
	if h == nil || h.Values == nil {
		return nil, jepsen.ErrNoHistory
	}
	if err := s.Admits(h); err != nil {
		return nil, err
	}
	s, m, d, err := s.surveyed(h)
	if err != nil {
		return nil, err
	}
	ops := &Operations{Model: m, History: h, verbs: d.Verbs}
	if d.Words != nil {
		h.Tell(d.Words(s, h))
	}
	ops.Events = int32(len(h.Type))
	ops.grow(h.Operations())
	ops.Of = hugepages.Make[jepsen.Operation](h.Operations())[:0]
	if err := s.readAll(ctx, ops, m, d); err != nil {
		return nil, err
	}
	if err := s.oneKey(ops, d); err != nil {
		return nil, err
	}
	if finish := m.Traits().Finish; finish != nil {
		if row, err := finish(&ops.Columns); err != nil {
			return nil, readError(h, ops.Of[row], d, err)
		}
	}
	if settle := m.Traits().Settle; settle != nil {
		ops.Model = settle()
	}
	return ops, s.position(ops, d)
}

// manyOperations is how many operations are worth another goroutine.
const manyOperations = 1 << 14

// readAll reads all operations. It reads two halves side by side if reading one operation
// does not depend on another.
func (s Spec) readAll(ctx context.Context, ops *Operations, m Reader, d *Definition) error {
	n := jepsen.Operation(ops.History.Operations())
	anyOrder := m.Traits().AnyOrder
	if n < manyOperations || runtime.GOMAXPROCS(0) == 1 || anyOrder == nil || !anyOrder(ops.History) {
		return s.readSome(ctx, ops, m, d, 0, n)
	}
	var failed [2]error
	half := n / 2
	later := ops.tail(int(half))
	beside.Call(
		func() { failed[0] = s.readSome(ctx, ops, m, d, 0, half) },
		func() { failed[1] = s.readSome(ctx, later, m, d, half, n) },
	)
	ops.join(int(half), later)
	return cmp.Or(failed[0], failed[1])
}

// readSome appends the operations with numbers in [from, to).
func (s Spec) readSome(ctx context.Context, ops *Operations, m Reader, d *Definition, from, to jepsen.Operation) error {
	h := ops.History
	ops.repeats = to
	for o := from; o < to; o++ {
		if o%8 == 7 && ctx.Err() != nil { // a single value may be large
			return context.Cause(ctx)
		}
		status := h.Status[o]
		if status == jepsen.Failed && !s.ObserveFailedCAS {
			continue
		}
		told := OperationOf(h, o)
		if told.ValueID != told.GivenID && told.GivenID != edn.Nil {
			ops.repeats = min(ops.repeats, o)
		}
		op, keep, err := m.Read(told)
		if err != nil {
			return readError(h, o, d, err)
		}
		res := Open
		if status != jepsen.Crashed {
			res = int32(h.Completion[o])
		}
		if !keep || res == Open && !m.Mutates(op) {
			continue
		}
		ops.Append(int32(h.Invocation[o]), res, op)
		ops.Of = append(ops.Of, o)
	}
	return nil
}

// lastEvent returns the completion of an operation that succeeded, and the invocation of others.
func lastEvent(h *jepsen.History, o jepsen.Operation) jepsen.Event {
	if h.Status[o] == jepsen.Succeeded {
		return h.Completion[o]
	}
	return h.Invocation[o]
}

// unknownF is ErrUnknownF in words.
type unknownF string

func (e unknownF) Error() string { return string(e) }

// Is implements errors.Is.
func (unknownF) Is(target error) bool { return target == ErrUnknownF }

// readError returns an error about an operation that the model cannot read.
func readError(h *jepsen.History, o jepsen.Operation, d *Definition, err error) error {
	event := lastEvent(h, o)
	f, index := h.Values.Text(h.F[event]), h.Index(event)
	if errors.Is(err, ErrUnknownF) {
		return h.Errorf(event, "%w", unknownF(fmt.Sprintf("%s does not know :f %s (index %d); it knows %s", d.Name, f, index, d.Fs)))
	}
	return h.Errorf(event, "%s cannot read the value of %s (index %d): %w; it knows %s", d.Name, f, index, err, d.Fs)
}
