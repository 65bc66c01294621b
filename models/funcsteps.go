package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"clew/edn"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
)

// functional is a Func for one history. A state is its number. If parts are decided side by
// side, numbers depend on which part comes first. Then a hash of the state stands before
// its number, and makes the order of states independent of that.
type functional[S comparable] struct {
	Func[S]
	v      *edn.Values
	init   State
	traits Traits

	// As operations are read:
	calls map[callKey]int32
	ops   []call // by number
	parts map[any]int32

	mu          sync.Mutex
	states      []S // by number
	printed     []State
	stateNumber map[S]int32
	stateSize   int64                      // kept for a state, beside what Size returns
	memo        map[[2]int32]*step         // by state and operation
	running     map[[2]int32]chan struct{} // steps under way, closed when they have ended
	ctx         context.Context            // nil: without end
	memory      *Memory
	taken       int64

	doubts      int   // steps that Doubt has taken
	undescribed error // how Describe failed first
}

// call is an operation; all calls with its callKey do the same.
type call struct {
	Call
	of                Operation // the first one of the history
	part              int32
	reads, overwrites bool // as declared
	told              ToldPosition

	// Where an overwriting operation led to, and from where, once it has run.
	ran      bool
	from, to int32
}

// step is the effect of an operation in a state.
type step struct {
	next    []State
	why     string // why it cannot happen
	failure *Failure
}

// stepSize is about how many bytes a step takes in the memo.
const stepSize = 120

func (m *functional[S]) within(ctx context.Context, memory *Memory) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ctx, m.memory = ctx, memory
	if m.Begin != nil {
		m.Begin(ctx.Done())
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		memory.Give(m.taken)
		m.ctx, m.memory, m.taken = nil, nil, 0
	}
}

// take takes bytes, and fails if none are left.
func (m *functional[S]) take(bytes int64) {
	if m.memory == nil {
		return
	}
	m.taken += bytes
	if !m.memory.Take(bytes) {
		panic(&Failure{Err: limits.ErrOutOfMemory, Cause: jepsen.OutOfMemory})
	}
}

// number returns the state of an S. The caller holds the lock, unless it runs alone.
func (m *functional[S]) number(s S) State {
	n, known := m.stateNumber[s]
	if known {
		return m.printed[n]
	}
	n = int32(len(m.states))
	state := State{n}
	if m.Partition != nil {
		h := fnv.New32a()
		fmt.Fprintf(h, "%v", s)
		state = State{int32(h.Sum32()), n}
	}
	m.stateNumber[s] = n
	m.states, m.printed = append(m.states, s), append(m.printed, state)
	m.take(m.stateSize + m.sized(s))
	return state
}

// sized returns what Size returns for a state.
func (m *functional[S]) sized(s S) (bytes int64) {
	if m.Size == nil {
		return 0
	}
	defer func() {
		if p := recover(); p != nil {
			panic(failure(fmt.Errorf("%s: in size: panic: %w", m.Name, panicked(p)), p))
		}
	}()
	if bytes = int64(m.Size(s)); bytes < 0 {
		panic(&Failure{Err: fmt.Errorf("%s: in size: it returns %d; expected a number of bytes from 0 on", m.Name, bytes)})
	}
	return bytes
}

// begins numbers the initial state.
func (m *functional[S]) begins(s S) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failure(fmt.Errorf("%s: %w", m.Name, panicked(p)), p)
		}
	}()
	m.init = m.number(s)
	return nil
}

// numberOf returns the number of a state.
func numberOf(s State) int32 { return s[len(s)-1] }

// Init implements Model.
func (m *functional[S]) Init() State { return m.init }

// Mutates implements Model.
func (m *functional[S]) Mutates(op Op) bool { return !m.ops[op.A].reads }

// Traits implements Model.
func (m *functional[S]) Traits() *Traits { return &m.traits }

// Step implements Model.
func (m *functional[S]) Step(dst []State, s State, op Op) []State {
	return append(dst, m.step(numberOf(s), op.A).next...)
}

// Why implements Model in the words of the model's author.
func (m *functional[S]) Why(s State, op Op) string {
	why := m.step(numberOf(s), op.A).why
	if why == "" {
		return "its step leads to no state"
	}
	return why
}

// Record implements Model.
func (m *functional[S]) Record(s State) edn.Value {
	n := numberOf(s)
	x, err := m.v.From(m.described(n))
	if err != nil {
		if m.Describe != nil {
			m.notDescribed(fmt.Errorf("%s: describe: %w", m.Name, err))
		}
		x, _ = m.v.From(fmt.Sprint(m.states[n]))
	}
	return x
}

// described returns a state as it prints, if it can. If Describe fails, that is the state itself, or what the failure has
// instead.
func (m *functional[S]) described(state int32) (x any) {
	m.mu.Lock()
	s, ctx := m.states[state], m.ctx
	m.mu.Unlock()
	if m.Describe == nil {
		return s
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover()
		if p == nil {
			panic(&Failure{Err: fmt.Errorf("%s: describe: %w", m.Name, ErrExited)})
		}
		if ctx != nil && ctx.Err() != nil {
			panic(&Failure{Err: context.Cause(ctx), Cause: limits.Stopped(ctx)})
		}
		err := panicked(p)
		if m.At == nil {
			err = fmt.Errorf("%s: describe: %w", m.Name, err)
		}
		x = s
		if f := (*Failure)(nil); errors.As(err, &f) && f.Instead != nil {
			x = f.Instead
		}
		m.notDescribed(err)
	}()
	x = m.Describe(s)
	returned = true
	return x
}

// notDescribed notes how Describe failed.
func (m *functional[S]) notDescribed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undescribed = cmp.Or(m.undescribed, err)
}

// Undescribed returns how the Describe of a Func has failed on a state that was shown, or nil.
func Undescribed(m Model) error {
	f, is := m.(interface{ howUndescribed() error })
	if !is {
		return nil
	}
	return f.howUndescribed()
}

func (m *functional[S]) howUndescribed() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.undescribed
}

// failure returns an error as a Failure. If the panic value p is a Failure already, it
// returns p.
func failure(err error, p any) *Failure {
	var f *Failure
	if cause, ok := p.(error); ok && errors.As(cause, &f) {
		return f
	}
	return &Failure{Err: err}
}

// step returns what an operation does in a state. The first caller runs it, and others wait
// for that.
func (m *functional[S]) step(state, op int32) *step {
	key := [2]int32{state, op}
	m.mu.Lock()
	for {
		if x, known := m.memo[key]; known {
			m.mu.Unlock()
			if x.failure != nil {
				panic(x.failure)
			}
			return x
		}
		end, under := m.running[key]
		if !under {
			break
		}
		m.mu.Unlock()
		<-end
		m.mu.Lock()
	}
	end := make(chan struct{})
	m.running[key] = end
	s, ctx := m.states[state], m.ctx
	m.mu.Unlock()

	x, ended := &step{}, false
	defer func() {
		m.mu.Lock()
		m.memo[key] = x
		delete(m.running, key)
		close(end)
		m.mu.Unlock()
		if x.failure != nil {
			panic(x.failure)
		}
	}()
	defer func() { // the goroutine may end here
		if !ended {
			x.failure = &Failure{Err: fmt.Errorf("%s: in %s: %w", m.Name, m.ops[op].F, ErrExited)}
			x.failure = m.located(x.failure.Err, state, op)
		}
	}()
	var next []S
	if ctx != nil && ctx.Err() != nil {
		x.failure = &Failure{}
	} else {
		next, x.why, x.failure = m.run(s, &m.ops[op])
	}
	switch {
	case x.failure != nil && ctx != nil && ctx.Err() != nil:
		x.failure = &Failure{Err: context.Cause(ctx), Cause: limits.Stopped(ctx)}
	case x.failure != nil && x.failure.Cause == "":
		x.failure = m.located(x.failure.Err, state, op)
	}
	m.note(x, next, state, op)
	ended = true
	return x
}

// run runs a step.
func (m *functional[S]) run(s S, c *call) (next []S, why string, failed *Failure) {
	defer func() {
		if p := recover(); p != nil {
			failed = failure(fmt.Errorf("%s: in %s: panic: %w", m.Name, c.F, panicked(p)), p)
		}
	}()
	next, err := m.stepOf(c.F)(s, c.Call)
	var cannot *inconsistent
	var f *Failure
	switch {
	case errors.As(err, &cannot):
		return nil, cannot.why, nil
	case errors.As(err, &f):
		return nil, "", f
	case err != nil && m.At != nil: // the error has its place
		return nil, "", &Failure{Err: err}
	case err != nil:
		return nil, "", &Failure{Err: fmt.Errorf("%s: in %s: %w", m.Name, c.F, err)}
	}
	return next, "", nil
}

// note numbers the states that a step leads to and compares the step with the declarations.
func (m *functional[S]) note(x *step, next []S, state, op int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			x.failure = failure(fmt.Errorf("%s: %w", m.Name, panicked(p)), p)
		}
	}()
	for _, s := range next {
		if to := m.number(s); !slices.ContainsFunc(x.next, func(t State) bool { return slices.Equal(t, to) }) {
			x.next = append(x.next, to)
		}
	}
	m.take(stepSize + int64(len(x.why)))
	if x.failure != nil {
		return
	}
	c := &m.ops[op]
	if c.reads && len(x.next) > 0 && (len(x.next) > 1 || numberOf(x.next[0]) != state) {
		as := "is among its reads"
		if c.told.Told {
			as = "tells a position and is not an update"
		}
		x.failure = m.misdeclared(as, "may lead to "+m.otherThan(x.next, state), state, op)
	}
	if !c.overwrites {
		return
	}
	const overwrites = "is among its overwrites"
	switch {
	case len(x.next) == 0:
		x.failure = m.misdeclared(overwrites, "cannot happen there: "+x.why, state, op)
	case len(x.next) > 1:
		x.failure = m.misdeclared(overwrites, fmt.Sprintf("may lead to %d states", len(x.next)), state, op)
	case !c.ran:
		c.ran, c.from, c.to = true, state, numberOf(x.next[0])
	case c.to != numberOf(x.next[0]):
		x.failure = m.misdeclared(overwrites, fmt.Sprintf("leads to %s, and from %s to %s", m.textOf(numberOf(x.next[0])), m.textOf(c.from), m.textOf(c.to)), state, op)
	}
}

// otherThan returns the text of one of the states that differs from a given one.
func (m *functional[S]) otherThan(states []State, state int32) string {
	for _, s := range states {
		if numberOf(s) != state {
			return m.textOf(numberOf(s))
		}
	}
	return "several states"
}

// misdeclared returns the failure of an operation that breaks its declaration.
func (m *functional[S]) misdeclared(as, but string, state, op int32) *Failure {
	f, at := m.ops[op].F, m.Name
	if m.At != nil {
		at = m.At(f)
	}
	return &Failure{Err: fmt.Errorf("%s: %s %s, but it %s, %s", at, f, as, but, m.where(state, op)), misdeclared: true}
}

// located adds the operation and the state to the error of a step.
func (m *functional[S]) located(err error, state, op int32) *Failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Failure{Err: fmt.Errorf("%w, %s", err, m.where(state, op))}
}

// where names the operation and the state of a step. The caller holds the lock.
func (m *functional[S]) where(state, op int32) string {
	return fmt.Sprintf("on %v in state %s", m.ops[op].of, m.textOf(state))
}

// maxStateText bounds the text of a state in an error.
const maxStateText = 120

// textOf returns a state's text for an error. The caller holds the lock. It uses a table of
// its own, because the history's values cannot be added to while the history is decided.
func (m *functional[S]) textOf(state int32) string {
	s := m.states[state]
	var x any = s
	if m.Describe != nil {
		x = m.plain(s)
	}
	if v, err := edn.NewValues().From(x); err == nil {
		return text.Shorten(v.String(), maxStateText)
	}
	return text.Shorten(fmt.Sprint(s), maxStateText)
}

// plain returns what Describe says of a state, or the state itself if Describe panics.
func (m *functional[S]) plain(s S) (x any) {
	defer func() {
		if recover() != nil {
			x = s
		}
	}()
	return m.Describe(s)
}

// bare is a functional without what its author declares: any operation may change a state,
// and none overwrites.
type bare[S comparable] struct {
	*functional[S]
	traits Traits
}

func (m *bare[S]) Mutates(Op) bool { return true }

func (m *bare[S]) Traits() *Traits { return &m.traits }

func (m *functional[S]) begin(s State) Run { return &functionalRun[S]{m, s} }

type functionalRun[S comparable] struct {
	m *functional[S]
	s State
}

func (r *functionalRun[S]) Apply(op Op) Outcome {
	switch next := r.m.step(numberOf(r.s), op.A).next; len(next) {
	case 0:
		return Impossible
	case 1:
		r.s = next[0]
		return One
	}
	return Several
}

func (r *functionalRun[S]) State() State { return r.s }
