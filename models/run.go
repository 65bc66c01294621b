package models

import (
	"context"
	"slices"
)

// Runner is a model whose states grow with the history. Step copies such a state
// each time, which makes a run of n operations quadratic; a Run changes one state
// instead. Searches need Step, since they come back to earlier states; whoever
// follows one order of operations needs no more than a Run.
type Runner interface {
	Model
	// Run begins a run in a state, which stays as it is.
	Run(s State) Run
}

// Run is a run of a model under way.
type Run interface {
	// Apply takes a step. Unless the outcome is One, nothing changes.
	Apply(op Op) Outcome
	// State is the state that the run is in: what Step leads to. A run that leaves
	// open which of several states it is in gives the least.
	State() State
	// States are all the states that it may be in, in order. If finding them may
	// take long, it calls poll now and then.
	States(poll func()) []State
}

// Outcome says what a run makes of a step.
type Outcome uint8

// The outcomes of a step. Several means that there are several states it may lead
// to, which the run cannot be in all at once: Step can.
const (
	Impossible Outcome = iota
	One
	Several
)

func oneIf(possible bool) Outcome {
	if possible {
		return One
	}
	return Impossible
}

// walk follows an order of operations from the initial state on, in whatever way
// the model allows. While a step has several outcomes, it is in a set of states.
// It costs what the run's steps cost, and once there is more than one state, or
// the model has no runs, what Step does with each.
type walk struct {
	model  Model
	runner Runner  // nil if the model has no runs
	run    Run     // nil while there is a set
	set    []State // in order
	next   []State
	poll   func() // called before every step, and within one that may take long
}

func newWalk(m Model, poll func()) *walk {
	w := &walk{model: m, poll: poll}
	w.runner, _ = m.(Runner)
	w.settle([]State{m.Init()})
	return w
}

// settle goes on in a set of states, which is a run if it is one state.
func (w *walk) settle(set []State) {
	w.set, w.run = set, nil
	if w.runner != nil && len(set) == 1 {
		w.run = w.runner.Run(set[0])
	}
}

// step takes a step, and says whether it can happen. If not, nothing changes.
func (w *walk) step(op Op) bool {
	w.poll()
	if w.run != nil {
		switch w.run.Apply(op) {
		case Impossible:
			return false
		case One:
			return true
		}
		w.set, w.run = w.run.States(w.poll), nil
	}
	w.next = stepAll(w.poll, w.model, w.next[:0], w.set, op)
	if len(w.next) == 0 {
		return false
	}
	w.set, w.next = w.next, w.set
	if len(w.set) == 1 {
		w.settle(w.set)
	}
	return true
}

// stepAll appends to dst, in order, every state that op leads to from some state
// of a set. What it appends is a set too. It polls for every one of them.
func stepAll(poll func(), m Model, dst, set []State, op Op) []State {
	from := len(dst)
	each, branching := m.(Branching)
	for _, s := range set {
		poll()
		if !branching {
			dst = m.Step(dst, s, op)
			continue
		}
		each.Outcomes(s, op, func(next State) bool {
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

// stopped is the panic with which a poll ends a walk.
type stopped struct{}

// pollsPerLook is how often a walk polls before its context is looked at.
const pollsPerLook = 16

// polling is a poll that panics if the context is done: see unlessStopped.
func polling(ctx context.Context) (poll func()) {
	n := 0
	return func() {
		if n++; n%pollsPerLook == 0 && ctx.Err() != nil {
			panic(stopped{})
		}
	}
}

// unlessStopped is what f finds, or the cause for which the context is done if a
// poll found it so.
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

// state is the state that the walk has come to, the least if there are several.
func (w *walk) state() State {
	if w.run != nil {
		return w.run.State()
	}
	return w.set[0]
}

// steps takes the rows of an order one after the other.
func (w *walk) steps(c *Columns, order []Row) error {
	for i, row := range order {
		if !w.step(c.Op(row)) {
			return &ReplayError{i, w.model.Why(w.state(), c.Op(row))}
		}
	}
	return nil
}
