package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"clew/edn"
	"clew/jepsen"
)

// Func is a model of the caller's own, written as functions over a state. The state may be
// of any type that Go can compare: a number, a string, an array, a struct of these. Func is
// the shortest way to a model; Definition turns it into one.
//
// States and operations are numbered. A step of a state and an operation runs once in a
// check, whatever engine asks and however often. So a step may be slow, but it must be a
// function of its arguments and of nothing else. Steps may run concurrently. A step that
// fails, panics or ends its goroutine (as t.Fatal does) ends the check with an error that
// names the operation and the state.
type Func[S comparable] struct {
	Name  string // of the model, as it prints
	About string // what it is, in a few words, for lists

	// Init is the initial state. Start, unless it is nil, makes the initial state from the
	// initial value if one is given.
	Init  S
	Start func(init edn.Value) (S, error)

	// At, unless it is nil, returns where the step of an :f stands, for errors.
	At func(f string) string

	// Ops has a step for every :f, by its name without the colon.
	Ops map[string]StepFunc[S]
	// Other, unless it is nil, is the step of every :f that is not among Ops.
	Other StepFunc[S]
	// Check, unless it is nil, is called when the history is read. It returns what is wrong
	// with an operation.
	Check func(c Call) error
	// Describe, unless it is nil, returns a state as it prints in results: anything that
	// edn.Values.From takes. Otherwise the state itself prints if that is possible, else
	// its text from fmt. So it does if Describe fails, with a warning.
	Describe func(s S) any
	// Label, unless it is nil, returns what pictures say of an operation, such as "x = 1";
	// "" leaves the usual words. It is called for operations that are shown. One that failed
	// is not OK. If Label fails, the usual words stand, with a warning.
	Label func(c Call) string
	// Size, unless it is nil, returns about how many bytes a new state takes beyond S
	// itself.
	Size func(s S) int

	// The fields below are optional. They make searches faster, and are checked on every
	// state and operation that a search steps on. A declaration that does not hold is an
	// error. A history that is not linearizable is decided again without them.

	// Reads are the :f's that never change a state.
	Reads []string
	// Overwrites are the :f's that can happen in every state and leave a state that depends
	// on the operation alone.
	Overwrites []string
	// Partition, unless it is nil, returns the part of the state that an operation touches,
	// as a value that Go can compare. It is for states in which every operation depends on
	// its own part only and changes no other.
	Partition func(c Call) any

	// Position, unless it is nil, returns the position that an operation tells in the order of updates, such as a revision,
	// and whether it is an update. known is false if it tells none. It is called for operations that completed. One that
	// is not an update never changes the state, as if it was among the Reads; any other may be an update, if it crashed or
	// tells no position. See Positions.
	Position func(c Call) (position int64, update, known bool)
	// Tell does what Position does, for operations whose answers do not say whether they are updates, and returns what is
	// wrong with an answer.
	Tell func(c Call) (ToldPosition, error)
	// SparsePositions says that positions only grow. Otherwise every update adds one.
	SparsePositions bool

	// Unrefusing says that no step ever returns Inconsistent. Then no history is invalid,
	// and every verdict is vacuous.
	Unrefusing bool

	// UsesProcess gives steps the process of a call. Otherwise calls of different
	// processes are the same operation.
	UsesProcess bool
	// Begin, unless it is nil, is called before the first step of a check, with a channel
	// that is closed when the steps should end.
	Begin func(stop <-chan struct{})
}

// StepFunc applies calls of an :f to a state and returns the states that they may lead to.
// If the call cannot happen in the state, it returns an error made by Inconsistent, which
// says why, or no states and no error. Any other error ends the check.
type StepFunc[S comparable] func(s S, c Call) ([]S, error)

// Call is an operation as a Func sees it.
type Call struct {
	F     string    // the name of its :f, without the colon
	Value edn.Value // the invocation's
	Out   edn.Value // the completion's; nil if the operation crashed, since it is not known
	// OK is false if the operation crashed. Then it may have any result.
	OK      bool
	Key     edn.Value // the :key of the invocation, nil if it has none
	Process edn.Value // nil without UsesProcess

	number int32
}

// Number returns the number of the call among those of its history, from 0 in their order. Calls that are the same
// operation have the same number.
func (c Call) Number() int32 { return c.number }

// Inconsistent returns the error of a step that cannot happen; it says why.
func Inconsistent(format string, args ...any) error {
	return &inconsistent{fmt.Sprintf(format, args...)}
}

type inconsistent struct{ why string }

func (e *inconsistent) Error() string { return e.why }

// Failure is the panic of a model's methods when they cannot go on because the caller's own
// code failed or a limit stopped it. Model's methods do not return errors, and no engine
// could go on with half an answer. Check, Verify and Compare of package clew turn it into
// an error or an unknown verdict.
type Failure struct {
	Err   error
	Cause jepsen.Cause // of an unknown verdict, if a limit stopped it; else ""
	// Instead, unless nil, is what shows a state if it is a panic of Func.Describe.
	Instead any

	misdeclared bool // it is about what the model's author declares
}

// ErrExited is the error of a Failure if the caller's code ended its goroutine, as
// testing.T.FailNow does.
var ErrExited = errors.New("runtime.Goexit was called, as t.Fatal does; return an error instead")

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error itself.
func (f *Failure) Unwrap() error { return f.Err }

// Definition returns the model of these functions, for Own.
func (f Func[S]) Definition() *Definition {
	d := &Definition{Name: f.Name, About: f.About, Fs: f.fs(), New: func(b *Binding) (Reader, error) { return f.Reader(b) }}
	if f.Start == nil {
		d.NoInit = "its initial state is fixed"
	}
	if f.Label != nil {
		d.Label = func(_ context.Context, o Operation) (string, error) { return f.Label(o.Call(f.UsesProcess)), nil }
	}
	return d
}

// stepOf returns the step of an :f, nil if the model does not know it.
func (f Func[S]) stepOf(name string) StepFunc[S] {
	if step := f.Ops[name]; step != nil {
		return step
	}
	return f.Other
}

// fs lists the :f's that the model knows, for messages.
func (f Func[S]) fs() string {
	if f.Other != nil {
		return "any :f"
	}
	return ":" + strings.Join(slices.Sorted(maps.Keys(f.Ops)), ", :")
}

// Reader returns the model for one history. It is for a Definition whose New makes
// functions that depend on the history's values.
func (f Func[S]) Reader(b *Binding) (Reader, error) {
	for _, declared := range [][]string{f.Reads, f.Overwrites} {
		for _, name := range declared {
			if f.stepOf(name) == nil {
				return nil, fmt.Errorf("%s makes a declaration about :%s, which is not among its operations; it has %s", f.Name, name, f.fs())
			}
		}
	}
	if len(f.Ops) == 0 && f.Other == nil {
		return nil, fmt.Errorf("%s has no operations", f.Name)
	}
	m := &functional[S]{
		Func: f, v: b.Values,
		calls: map[callKey]int32{}, parts: map[any]int32{},
		stateNumber: map[S]int32{}, memo: map[[2]int32]*step{}, running: map[[2]int32]chan struct{}{},
	}
	var zero S
	m.stateSize = int64(unsafe.Sizeof(zero)) + 100
	start := f.Init
	if init, given := b.Init(); given && f.Start != nil {
		var err error
		if start, err = f.Start(init); err != nil {
			return nil, err
		}
	}
	if err := m.begins(start); err != nil {
		return nil, err
	}
	m.traits = Traits{Run: m.begin, RefusesNothing: f.Unrefusing, Within: m.within, FindVisibility: m.findVisibility, FindKinds: m.findKinds}
	if f.Tell != nil || f.Position != nil {
		m.traits.Told = &Told{Of: func(op Op) ToldPosition { return m.ops[op.A].told }, Sparse: f.SparsePositions}
	}
	if f.Partition != nil || m.traits.Told != nil || len(f.Reads)+len(f.Overwrites) > 0 {
		plain := &bare[S]{m, m.traits}
		m.traits.Declared = &Declared{Bare: func() Model { return plain }, Doubt: m.doubt}
	}
	m.traits.Overwrites = func(op Op) bool { return m.ops[op.A].overwrites }
	m.traits.MayIdle = func(op Op) bool { return m.ops[op.A].told.Moves == MayMove }
	m.traits.Hard = f.hard
	if f.Partition != nil {
		m.traits.Partition = &Partition{Of: func(op Op) int32 { return m.ops[op.A].part }}
	}
	return m, nil
}

// hard says what helps a search whose states and steps are those of somebody else.
func (f Func[S]) hard() Hard {
	h := Hard{Change: []string{"make the steps faster", "keep states few and small, for example by emptying what they hold now and then"}}
	if f.Partition != nil {
		h.Change = append(h.Change, "use more keys with fewer operations each")
	} else {
		h.Change = append(h.Change, "declare the parts of the state, if it has several (partition)")
	}
	return h
}

// callKey identifies an operation by classes of values. Operations with the same key are
// the same operation.
type callKey struct {
	f, value, out, key, process edn.ID
	ok                          bool
}

// Read implements Reader. An Op's A is the number of its call.
func (m *functional[S]) Read(o Operation) (Op, bool, error) {
	v, ok := m.v, o.Status != jepsen.Crashed
	key := callKey{f: o.FID, value: v.Same(o.GivenID), key: v.Same(o.KeyID), ok: ok}
	if ok {
		key.out = v.Same(o.ValueID)
	}
	if m.UsesProcess {
		key.process = o.ProcessID
	}
	if n, known := m.calls[key]; known {
		return Op{A: n}, true, nil
	}
	op := call{Call: o.Call(m.UsesProcess), of: o}
	op.number = int32(len(m.ops))
	if m.stepOf(op.F) == nil {
		return Op{}, false, ErrUnknownF
	}
	if err := m.checked(op.Call); err != nil {
		return Op{}, false, err
	}
	op.reads, op.overwrites = slices.Contains(m.Reads, op.F), slices.Contains(m.Overwrites, op.F)
	if err := m.tell(&op); err != nil {
		return Op{}, false, err
	}
	if m.Partition != nil {
		if err := m.partition(&op); err != nil {
			return Op{}, false, err
		}
	}
	m.calls[key] = op.number
	m.ops = append(m.ops, op)
	return Op{A: op.number}, true, nil
}

// checked returns what Check says is wrong with a call.
func (m *functional[S]) checked(c Call) (err error) {
	if m.Check == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("in check: panic: %w", panicked(p))
		}
	}()
	return m.Check(c)
}

// tell finds out what a call tells of its position.
func (m *functional[S]) tell(op *call) (err error) {
	if op.told.Moves = MayMove; op.reads {
		op.told.Moves = NeverMoves
	}
	if !op.OK || m.Tell == nil && m.Position == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("in position: %w", panicked(p))
		}
	}()
	var said ToldPosition
	if m.Tell != nil {
		said, err = m.Tell(op.Call)
	} else if at, update, known := m.Position(op.Call); known {
		said = ToldPosition{At: at, Told: true, Moves: NeverMoves}
		if update {
			said.Moves = AlwaysMoves
		}
	}
	switch {
	case err != nil || !said.Told:
		return err
	case said.Moves == AlwaysMoves && op.reads:
		return fmt.Errorf("it says that it is an update, but :%s is among the reads", op.F)
	case said.Moves == MayMove && op.reads:
		said.Moves = NeverMoves
	}
	op.told, op.reads = said, said.Moves == NeverMoves
	return nil
}

// partition finds the part of a call.
func (m *functional[S]) partition(op *call) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = panicked(p); m.At == nil { // it has no place
				err = fmt.Errorf("in partition: %w", err)
			}
		}
	}()
	part := m.Partition(op.Call)
	n, known := m.parts[part]
	if !known {
		n = int32(len(m.parts))
		m.parts[part] = n
	}
	op.part = n
	return nil
}

// panicked returns a panic as an error.
func panicked(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("%v", p)
}
