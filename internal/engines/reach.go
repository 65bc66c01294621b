package engines

import (
	"context"

	"clew/fallback"
	"clew/models"
)

// # Reach
//
// Decides: a completion by which operations are not linearizable, because no state that
// operations can lead to allows its answer.
//
// Precondition: none. It gives up if there are many states. Complexity: a step for each state and
// each meaning of operations.
//
// A linearization of the operations up to some completion is a sequence of operations that had
// been invoked by then, from the initial state. So each of its states is among those that such
// operations lead to in any order, and as often as they like. If none of these allows what the
// completion answered, they are not linearizable. A crashed operation is one of those invoked.
//
// It needs nothing but the model's steps. So a user's own bounded queue that returns what
// nothing put there, or is longer than its bound, is refuted however many operations have
// crashed.
type reacher struct{}

// maxReached bounds the states that are met, and reachSteps the steps that are taken for each operation.
const (
	maxReached = 20_000
	reachSteps = 200
)

// Name implements fallback.Engine.
func (reacher) Name() string { return "reacher" }

// Decide implements fallback.Engine. It gives up if it finds no refutation.
func (reacher) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	if l.Cause != "" {
		return fallback.Answer{Cause: l.Cause}
	}
	if fail, ok := newReach(l).run(); ok {
		return failsBy(ctx, &l.Budget, ops, fail, "since no order of the operations that had begun leads to a state that allows its answer")
	}
	return fallback.Answer{Cause: fallback.GaveUp, Work: l.Done()}
}

// reach is one run.
type reach struct {
	*fallback.Layout
	states   []int32 // in the order in which they were met
	met      []bool  // by state
	begun    []int32 // classes
	has      []bool  // by class: it has begun
	possible []bool  // by class: some state allows it
	steps    int
}

func newReach(l *fallback.Layout) *reach {
	x := &reach{Layout: l, has: make([]bool, len(l.Space.Ops)), possible: make([]bool, len(l.Space.Ops))}
	x.meet(l.Space.Number(l.Ops.Model.Init()))
	return x
}

// run goes through the events. It returns the first completion whose answer no state allows.
func (x *reach) run() (fail int32, ok bool) {
	for event, row := range fallback.RowsAt(x.Ops) {
		switch {
		case row < 0:
		case x.Ops.Inv[row] == int32(event):
			if class := x.Class[row]; !x.has[class] && !x.begin(class) {
				return 0, false
			}
		case !x.possible[x.Class[row]]:
			return int32(event), true
		}
	}
	return 0, false
}

// begin lets the operations of a class happen. It returns false if there are too many states.
func (x *reach) begin(class int32) bool {
	x.has[class] = true
	x.begun = append(x.begun, class)
	old := len(x.states)
	for _, state := range x.states[:old] {
		if !x.step(state, class) {
			return false
		}
	}
	for i := old; i < len(x.states); i++ {
		for _, class := range x.begun {
			if !x.step(x.states[i], class) {
				return false
			}
		}
	}
	return true
}

// step takes a step, unless it shows nothing. It returns false if that is one too many.
func (x *reach) step(state, class int32) bool {
	if x.Space.Reads[class] && x.possible[class] {
		return true
	}
	if x.steps++; x.steps > reachSteps*x.Ops.Len() || !x.Tick() {
		return false
	}
	for _, to := range x.Space.Step(state, class) {
		x.possible[class] = true
		x.meet(to)
	}
	return len(x.states) <= maxReached
}

// meet adds a state, unless it is known.
func (x *reach) meet(state int32) {
	for len(x.met) <= int(state) {
		x.met = append(x.met, false)
	}
	if !x.met[state] {
		x.met[state] = true
		x.states = append(x.states, state)
	}
}
