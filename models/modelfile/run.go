package modelfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"sync"

	"go.starlark.net/starlark"

	"clew/edn"
	"clew/internal/text"
	"clew/models"
)

// predeclared are the names that a file finds, beside Starlark's own.
var predeclared = func() starlark.StringDict {
	d := starlark.StringDict{
		"inconsistent": starlark.NewBuiltin("inconsistent", cannot),
		"one_of":       starlark.NewBuiltin("one_of", oneOf),
		"keyword":      starlark.NewBuiltin("keyword", keywordOf),
		"crashed":      crash{},
		"range":        starlark.NewBuiltin("range", ranged),
		"str":          starlark.NewBuiltin("str", texted("str")),
		"repr":         starlark.NewBuiltin("repr", texted("repr")),
		"getattr":      starlark.NewBuiltin("getattr", noGetattr),
		attribute:      starlark.NewBuiltin(attribute, attributed),
		increment:      starlark.NewBuiltin(increment, incremented),
		unite:          starlark.NewBuiltin(unite, united),
	}
	for _, op := range operators {
		d[op.String()] = starlark.NewBuiltin(op.String(), operator(op))
	}
	return d
}()

// impossible is the value of inconsistent(why): no state.
type impossible struct{ why string }

// outcomes is the value of one_of([..]): several states.
type outcomes struct{ list []starlark.Value }

// crash stands for a crash in an example.
type crash struct{}

func (impossible) String() string          { return "inconsistent(..)" }
func (impossible) Type() string            { return "inconsistent" }
func (impossible) Freeze()                 {}
func (impossible) Truth() starlark.Bool    { return false }
func (x impossible) Hash() (uint32, error) { return 0, errors.New("unhashable type: inconsistent") }
func (outcomes) String() string            { return "one_of(..)" }
func (outcomes) Type() string              { return "one_of" }
func (outcomes) Freeze()                   {}
func (outcomes) Truth() starlark.Bool      { return true }
func (outcomes) Hash() (uint32, error)     { return 0, errors.New("unhashable type: one_of") }
func (crash) String() string               { return "crashed" }
func (crash) Type() string                 { return "crashed" }
func (crash) Freeze()                      {}
func (crash) Truth() starlark.Bool         { return true }
func (crash) Hash() (uint32, error)        { return 0, nil }

func cannot(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var why string
	err := starlark.UnpackArgs("inconsistent", args, named, "why", &why)
	return impossible{why}, err
}

func oneOf(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var states starlark.Iterable
	if err := starlark.UnpackArgs("one_of", args, named, "states", &states); err != nil {
		return nil, err
	}
	var x outcomes
	for s := range starlark.Elements(states) {
		if _, none := s.(impossible); none {
			return nil, errors.New("one_of contains inconsistent(..), which is not a state; leave it out")
		}
		x.list = append(x.list, s)
	}
	if len(x.list) == 0 {
		return nil, errors.New("one_of has no states; expected inconsistent(why) if the operation cannot happen")
	}
	return x, nil
}

func keywordOf(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var name string
	err := starlark.UnpackArgs("keyword", args, named, "name", &name)
	return keyword(name), err
}

func noGetattr(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return nil, errors.New("a model cannot use getattr; expected x.name")
}

// operation is an operation as a model sees it.
type operation struct {
	models.Call
	of *bound
}

func (o operation) String() string        { return fmt.Sprintf(":%s %v", o.F, o.Call.Value) }
func (o operation) Type() string          { return "op" }
func (o operation) Freeze()               {}
func (o operation) Truth() starlark.Bool  { return true }
func (o operation) Hash() (uint32, error) { return 0, errors.New("unhashable type: op") }

// AttrNames makes operation a value with attributes.
func (o operation) AttrNames() []string {
	return []string{"f", "key", "ok", "out", "process", "value"}
}

// Attr makes operation a value with attributes.
func (o operation) Attr(name string) (starlark.Value, error) {
	switch name {
	case "f":
		return starlark.String(o.F), nil
	case "ok":
		return starlark.Bool(o.OK), nil
	case "value":
		return o.of.values.get(o.Call.Value), nil
	case "key":
		return o.of.values.get(o.Key), nil
	case "out":
		if !o.OK {
			return nil, errors.New("the op.out of a crashed operation is unknown; expected a check of op.ok first")
		}
		return o.of.values.get(o.Out), nil
	case "process":
		if !o.of.file.process {
			return nil, errors.New("op.process requires uses_process = True in the model")
		}
		return o.of.values.get(o.Process), nil
	}
	return nil, nil
}

// state is a state: its number in a table.
type state struct {
	number int32
	hash   uint32
}

// String returns a text that depends only on the value of the state.
func (s state) String() string { return fmt.Sprint(s.hash) }

// bound is a file's model for one history.
type bound struct {
	file   *File
	values *values
	states *table
	start  starlark.Value // the initial state
	stop   <-chan struct{}
	idle   sync.Pool // calls that have ended
}

// bind returns the model for one history.
func (f *File) bind(b *models.Binding) (models.Reader, error) {
	m := &bound{file: f, values: newValues(f.keep), states: newTable()}
	start := f.init
	if init, given := b.Init(); given {
		var err error
		if start, err = m.values.read(init); err != nil {
			return nil, err
		}
	}
	m.start = start
	s, err := m.intern(start, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: the initial state: %w", f.path, err)
	}
	x := models.Func[state]{
		Name: filepath.Base(f.path), Init: s, Ops: map[string]models.StepFunc[state]{},
		Check: m.check, Describe: m.describe, Size: m.size, At: f.at,
		Reads: f.reads, Overwrites: f.overwrite, UsesProcess: f.process, Unrefusing: !f.refuses,
		Begin: func(stop <-chan struct{}) { m.stop = stop },
	}
	for name, step := range f.ops {
		x.Ops[name] = func(s state, c models.Call) ([]state, error) { return m.step(step, s, c) }
	}
	if f.partition != nil {
		x.Partition = m.part
	}
	if f.position != nil {
		x.Tell, x.SparsePositions = m.tell, f.sparse
	}
	return x.Reader(b)
}

// at returns the place of an :f's function.
func (f *File) at(name string) string {
	step := f.ops[name]
	return fmt.Sprintf("%s:%d:%d", f.path, step.Position().Line, step.Position().Col)
}

// check reads the values of an operation.
func (m *bound) check(c models.Call) error {
	for _, x := range []edn.Value{c.Value, c.Out, c.Key, c.Process} {
		if _, err := m.values.read(x); err != nil {
			return err
		}
	}
	return nil
}

// intern returns the state of a value.
func (m *bound) intern(v starlark.Value, grown growth) (state, error) {
	t := m.states
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.intern(v, grown, 0)
	if err != nil {
		return state{}, err
	}
	return state{n, t.facts[n].hash}, nil
}

// value returns the value of a state.
func (m *bound) value(s state) starlark.Value {
	m.states.mu.Lock()
	defer m.states.mu.Unlock()
	return m.states.value(s.number)
}

// size returns roughly how many bytes the table has added since the last call.
func (m *bound) size(state) int {
	m.states.mu.Lock()
	defer m.states.mu.Unlock()
	n := m.states.spent
	m.states.spent = 0
	return n
}

// step calls the function of an operation. A state does not keep the order of its dicts and sets, so if it has any, step
// also calls the function with other orders, and fails if that makes a difference.
func (m *bound) step(f *starlark.Function, s state, c models.Call) ([]state, error) {
	before, others := m.orders(s)
	next, refusal, err := m.call(f, before, c)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		again, otherwise, err := m.call(f, other, c)
		if err != nil || (refusal == nil) != (otherwise == nil) || !sameStates(next, again) {
			select {
			case <-m.stop: // then this call may have ended early
			default:
				return nil, inFile(m.file.path, f.Position()).Errorf("in %s: %w", f.Name(), errOrder)
			}
		}
	}
	return next, refusal
}

var errOrder = errors.New("what it answers depends on the order of a dict or a set of the state, which clew does not keep; expected the order in a list, or sorted keys")

// orders returns the value of a state, and equal ones with other orders of its dicts and sets if it has any: the reverse
// order, and another one if that leaves an element in the middle where it is.
func (m *bound) orders(s state) (value starlark.Value, others []starlark.Value) {
	m.states.mu.Lock()
	defer m.states.mu.Unlock()
	if m.states.facts[s.number].loose {
		reversed, odd := m.states.reversed(s.number, false)
		if others = append(others, reversed); odd {
			turned, _ := m.states.reversed(s.number, true)
			others = append(others, turned)
		}
	}
	return m.states.value(s.number), others
}

// sameStates says whether two lists have the same states, in any order.
func sameStates(a, b []state) bool {
	byNumber := func(x, y state) int { return cmp.Compare(x.number, y.number) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byNumber), slices.SortedFunc(slices.Values(b), byNumber))
}

// call calls the function of an operation with the value of a state. refusal says why the operation cannot happen there.
func (m *bound) call(f *starlark.Function, before starlark.Value, c models.Call) (next []state, refusal, err error) {
	x := m.begin()
	v, err := starlark.Call(x.thread, f, starlark.Tuple{before, operation{c, m}}, nil)
	if err != nil {
		return nil, nil, placed(m.file.path, err)
	}
	defer m.idle.Put(x)
	list := []starlark.Value{v}
	switch v := v.(type) {
	case impossible:
		return nil, models.Inconsistent("%s", v.why), nil
	case outcomes:
		list = v.list
	}
	next = make([]state, len(list))
	for i, v := range list {
		if err = m.shaped(before, v, operation{c, m}); err == nil {
			next[i], err = m.intern(v, x.grown)
		}
		if err != nil {
			return nil, nil, inFile(m.file.path, f.Position()).Errorf("in %s: %w", f.Name(), err)
		}
	}
	return next, nil, nil
}

// begin returns a new call, or reuses one that has ended.
func (m *bound) begin() *inCall {
	x, ended := m.idle.Get().(*inCall)
	if !ended {
		return newCall(m.file, m.states, m.stop)
	}
	x.stop, x.grown, x.thread.Steps = m.stop, nil, 0
	x.thread.SetMaxExecutionSteps(pollSteps)
	return x
}

// part returns the part that an operation touches. It panics with an error in the model, as
// models.Func expects.
func (m *bound) part(c models.Call) any {
	s, err := m.asked(m.file.partition, operation{c, m})
	if err != nil {
		panic(err)
	}
	n, err := m.intern(s, nil)
	if err != nil {
		panic(fmt.Errorf("%s: in partition: %w", m.file.path, err))
	}
	return n.number
}

// tell returns what an operation tells of its position.
func (m *bound) tell(c models.Call) (at models.ToldPosition, err error) {
	v, err := m.asked(m.file.position, operation{c, m})
	if err != nil {
		return at, err
	}
	at.Moves = models.MayMove
	said := v
	if pair, isPair := v.(starlark.Tuple); isPair && len(pair) == 2 {
		if update, isBool := pair[1].(starlark.Bool); isBool {
			said, at.Moves = pair[0], models.NeverMoves
			if update {
				at.Moves = models.AlwaysMoves
			}
		}
	}
	if said == starlark.None {
		return at, nil
	}
	if n, isInt := said.(starlark.Int); isInt {
		at.At, at.Told = n.Int64()
	}
	if !at.Told || at.At < 0 {
		const want = "a natural number, None, or a tuple of that and whether the operation is an update"
		return at, inFile(m.file.path, m.file.position.Position()).Errorf("in position: it returns %v; expected %s", text.Shorten(v.String(), models.MaxRepeated), want)
	}
	return at, nil
}

// describe returns a state as it prints.
func (m *bound) describe(s state) any {
	v := m.value(s)
	if m.file.describe != nil {
		said, err := m.asked(m.file.describe, v)
		if err != nil {
			panic(&models.Failure{Err: err, Instead: m.values.plain(v)})
		}
		v = said
	}
	return m.values.plain(v)
}

// labelOf returns the label of an operation.
func (f *File) labelOf(ctx context.Context, o models.Operation) (string, error) {
	m := &bound{file: f, values: newValues(f.keep), states: newTable(), stop: ctx.Done()}
	c := o.Call(f.process)
	if err := m.check(c); err != nil {
		return "", inFile(f.path, f.label.Position()).Errorf("in label: %w", err)
	}
	v, err := m.asked(f.label, operation{c, m})
	if err != nil {
		return "", err
	}
	said, ok := starlark.AsString(v)
	if !ok {
		return "", inFile(f.path, f.label.Position()).Errorf("in label: it returns a value of type %s; expected a string", v.Type())
	}
	return said, nil
}

// asked returns the answer of a function of the file.
func (m *bound) asked(f *starlark.Function, x starlark.Value) (starlark.Value, error) {
	v, err := starlark.Call(newCall(m.file, m.states, m.stop).thread, f, starlark.Tuple{x}, nil)
	if err != nil {
		return nil, placed(m.file.path, err)
	}
	return v, nil
}

// maxSteps bounds the steps of one call. After every pollSteps steps, a call checks whether
// it should end.
const (
	maxSteps  = 5_000_000
	pollSteps = 20_000
)

// inCall is one call of a function of a file.
type inCall struct {
	file   *File
	table  *table
	thread *starlark.Thread
	stop   <-chan struct{}
	grown  growth
}

const inThread = "call"

func callOf(thread *starlark.Thread) *inCall { return thread.Local(inThread).(*inCall) }

var printing sync.Mutex

// newCall returns a call that ends early once stop is closed.
func newCall(f *File, t *table, stop <-chan struct{}) *inCall {
	c := &inCall{file: f, table: t, stop: stop}
	c.thread = &starlark.Thread{
		Name: f.path,
		Print: func(_ *starlark.Thread, msg string) {
			if f.Print != nil {
				printing.Lock()
				defer printing.Unlock()
				fmt.Fprintln(f.Print, msg)
			}
		},
		OnMaxSteps: func(thread *starlark.Thread) {
			select {
			case <-c.stop:
				thread.Cancel("stopped by a limit")
				return
			default:
			}
			if thread.Steps >= maxSteps {
				thread.Cancel(fmt.Sprintf("it takes more than %d steps", maxSteps))
				return
			}
			thread.SetMaxExecutionSteps(thread.Steps + pollSteps)
		},
	}
	c.thread.SetLocal(inThread, c)
	c.thread.SetMaxExecutionSteps(pollSteps)
	return c
}

func (c *inCall) sum(x, y *starlark.List) (starlark.Value, error) {
	if c.grown == nil {
		c.grown = growth{}
	}
	return c.table.sum(x, y, c.grown, c.file.pure)
}

// hashOf returns a hash of a text.
func hashOf(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}
