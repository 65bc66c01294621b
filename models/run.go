package models

import (
	"context"
	"slices"

	"clew/internal/limits"
)

// Run is a run of a model under way. Step copies a state that grows with the history each
// time, so n operations take quadratic time. A Run changes one state instead. Searches need
// Step, since they come back to earlier states. Code that follows one order of operations
// needs only a Run.
type Run interface {
	// Apply takes a step. Unless the outcome is One, nothing changes.
	Apply(op Op) Outcome
	// State returns the state that Step leads to. If the run leaves open which of several
	// states it is in, State returns the least.
	State() State
}

// OpenRun is a Run that may leave open which of several states it is in.
type OpenRun interface {
	Run
	// States returns all the states that the run may be in, in order. It calls poll now and
	// then if finding them may take long.
	States(poll func()) []State
}

// Outcome says how a run took a step.
type Outcome uint8

// The outcomes of a step. Several means that the step may lead to several states. A run
// cannot be in all of them at once; Step can return them.
const (
	Impossible Outcome = iota
	One
	Several
)

func OneIf(possible bool) Outcome {
	if possible {
		return One
	}
	return Impossible
}

// walk follows an order of operations from the initial state on. It uses a run while there
// is one state, and a set of states while a step has several outcomes. It costs what the
// run's steps cost. With a set, or without runs, it costs what Step does for each state.
type walk struct {
	model Model
	begin func(State) Run // nil if the model has no runs
	run   Run             // nil while there is a set
	set   []State         // in order
	next  []State
	poll  func() // called before every step, and within one that may take long
}

func newWalk(m Model, poll func()) *walk {
	w := &walk{model: m, begin: m.Traits().Run, poll: poll}
	w.settle([]State{m.Init()})
	return w
}

// settle goes on in a set of states, with a run if there is only one state.
func (w *walk) settle(set []State) {
	w.set, w.run = set, nil
	if w.begin != nil && len(set) == 1 {
		w.run = w.begin(set[0])
	}
}

// step takes a step and says whether it can happen. If it cannot, nothing changes.
func (w *walk) step(op Op) bool {
	w.poll()
	if w.run != nil {
		switch w.run.Apply(op) {
		case Impossible:
			return false
		case One:
			return true
		}
		w.set = []State{w.run.State()}
		if open, ok := w.run.(OpenRun); ok {
			w.set = open.States(w.poll)
		}
		w.run = nil
	}
	w.next = StepAll(w.poll, w.model, w.next[:0], w.set, op)
	if len(w.next) == 0 {
		return false
	}
	w.set, w.next = w.next, w.set
	if len(w.set) == 1 {
		w.settle(w.set)
	}
	return true
}

// StepAll appends to dst, in order, every state that op leads to from some state of a set.
// The states that it appends are a set too. It polls for every one of them.
func StepAll(poll func(), m Model, dst, set []State, op Op) []State {
	from := len(dst)
	outcomes := m.Traits().Outcomes
	for _, s := range set {
		poll()
		if outcomes == nil {
			dst = m.Step(dst, s, op)
			continue
		}
		outcomes(s, op, func(next State) bool {
			poll()
			dst = append(dst, next)
			return true
		})
	}
	if len(dst)-from > 1 {
		slices.SortFunc(dst[from:], func(a, b State) int {
			poll()
			return slices.Compare(a, b)
		})
		dst = dst[:from+len(slices.CompactFunc(dst[from:], slices.Equal))]
	}
	return dst
}

// SomeStates returns states that an operation leads to, at most n of them if there may be very many.
func SomeStates(m Model, n int, from State, op Op) (next []State) {
	outcomes := m.Traits().Outcomes
	if outcomes == nil {
		return m.Step(nil, from, op)
	}
	outcomes(from, op, func(s State) bool {
		next = append(next, s)
		return len(next) < n
	})
	return next
}

// stopped is the panic with which a poll ends a walk.
type stopped struct{}

// pollsPerLook is how many polls share one look at the context.
const pollsPerLook = 16

// polling returns a poll that panics if the context is done: see unlessStopped.
func polling(ctx context.Context) (poll func()) {
	n := 0
	return func() {
		if n++; n%pollsPerLook == 0 && limits.Over(ctx) {
			panic(stopped{})
		}
	}
}

// unlessStopped returns the result of f, or the context's cause if a poll found the context
// done.
func unlessStopped(ctx context.Context, f func(poll func()) (State, error)) (s State, err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case stopped{}:
			s, err = nil, context.Cause(ctx)
		default:
			panic(p)
		}
	}()
	return f(polling(ctx))
}

// state returns the state that the walk has come to, the least if there are several.
func (w *walk) state() State {
	if w.run != nil {
		return w.run.State()
	}
	return w.set[0]
}
