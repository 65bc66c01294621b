package models

import (
	"context"
	"fmt"
	"slices"
)

// Replay runs rows one after the other and returns the state after each: one consistent run
// where steps have several outcomes. It fails at the first row that cannot happen. It keeps
// every state; Final is tested against it.
func Replay(m Model, c *Columns, order []int32) ([]State, error) {
	// states[ends[i-1]:ends[i]] is the set of states after i rows.
	states := []State{m.Init()}
	ends := make([]int, 1, len(order)+1)
	ends[0] = 1
	from := 0
	for i, row := range order {
		to := ends[i]
		states = StepAll(func() {}, m, states, states[from:to], c.Op(row))
		if len(states) == to {
			return nil, &ReplayError{i, m.Why(states[from], c.Op(row))}
		}
		from = to
		ends = append(ends, len(states))
	}
	// Going backward, pick for each step a state that leads to the one picked for the next
	// step.
	run := make([]State, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		set := states[ends[i]:ends[i+1]]
		run[i] = set[0]
		if i+1 < len(order) && len(set) > 1 {
			run[i] = leadingTo(m, set, c.Op(order[i+1]), run[i+1])
		}
	}
	return run, nil
}

// Final returns the state that Replay's run ends in, the initial one if nothing runs. It
// keeps no other states, and takes the steps of a Run in place. These take linear time,
// times the logarithm of the state for some. If the context is done first, the error is its
// cause.
func Final(ctx context.Context, m Model, c *Columns, order []Row) (State, error) {
	return unlessStopped(ctx, func(poll func()) (State, error) {
		w := newWalk(m, poll)
		for i, row := range order {
			if op := c.Op(row); !w.step(op) {
				return nil, &ReplayError{i, m.Why(w.state(), op)}
			}
		}
		return w.state(), nil
	})
}

// leadingTo returns the state of the set from which op leads to next.
func leadingTo(m Model, set []State, op Op, next State) State {
	for _, s := range set {
		for _, t := range m.Step(nil, s, op) {
			if slices.Equal(t, next) {
				return s
			}
		}
	}
	panic("replay: a state without a predecessor")
}

// ReplayError says at which position of an order the replay failed.
type ReplayError struct {
	Position int
	Why      string
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("position %d: %s", e.Position, e.Why)
}

// StatesAt follows Final's run of n operations and returns its state after each number of
// operations in at, which ascends.
func StatesAt(ctx context.Context, m Model, n int, op func(i int) Op, at []int) (states []State, err error) {
	_, err = unlessStopped(ctx, func(poll func()) (State, error) {
		w := newWalk(m, poll)
		for i := 0; ; i++ {
			for len(states) < len(at) && at[len(states)] == i {
				states = append(states, slices.Clone(w.state()))
			}
			if i == n || len(states) == len(at) {
				return nil, nil
			}
			if !w.step(op(i)) {
				return nil, &ReplayError{i, m.Why(w.state(), op(i))}
			}
		}
	})
	return states, err
}
