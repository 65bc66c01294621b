package models

import (
	"fmt"
	"slices"
)

// Replay runs rows one after another and returns the state after each. If steps
// have several outcomes, the states are those of one consistent run. It fails
// at the first row that cannot happen. Linear time in the number of outcomes.
func Replay(m Model, c *Columns, order []int32) ([]State, error) {
	// states[ends[i-1]:ends[i]] is the set of states after i rows.
	states := []State{m.Init()}
	ends := make([]int, 1, len(order)+1)
	ends[0] = 1
	from := 0
	for i, row := range order {
		to := ends[i]
		for _, s := range states[from:to] {
			states = m.Step(states, s, c.Op(row))
		}
		switch len(states) - to {
		case 0:
			return nil, &ReplayError{i, m.Why(states[from], c.Op(row))}
		case 1:
		default:
			slices.SortFunc(states[to:], slices.Compare)
			states = states[:to+len(slices.CompactFunc(states[to:], slices.Equal))]
		}
		from = to
		ends = append(ends, len(states))
	}
	// Going backwards, pick for each step a state that leads to the one picked
	// for the next step.
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

// Finals is what Replay ends with: the last state of each part if the model has
// parts, else the last state. It keeps no other states: a run of n rows has n
// states, and each of them may hold all values of the history.
func Finals(m Model, c *Columns, order []int32) ([]State, error) {
	p, parted := m.(Partitioner)
	var number numbering
	sets := [][]State{{m.Init()}} // by part: the states that it may be in
	var next []State
	for i, row := range order {
		op, part := c.Op(row), 0
		if parted {
			if part = int(number.of(p.Part(op))); part == len(sets) {
				sets = append(sets, []State{m.Init()})
			}
		}
		next = next[:0]
		for _, s := range sets[part] {
			next = m.Step(next, s, op)
		}
		if len(next) == 0 {
			return nil, &ReplayError{i, m.Why(sets[part][0], op)}
		}
		if len(next) > 1 {
			slices.SortFunc(next, slices.Compare)
			next = slices.CompactFunc(next, slices.Equal)
		}
		sets[part] = append(sets[part][:0], next...)
	}
	finals := make([]State, len(sets))
	for i, set := range sets {
		finals[i] = set[0]
	}
	return finals, nil
}

// leadingTo is the state of the set from which op leads to next.
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

// Final is the state that Replay's run ends in, which is the initial one if
// there are no rows. Like Finals it keeps no other states.
func Final(m Model, c *Columns, order []int32) (State, error) {
	finals, err := Finals(m, c, order)
	if err != nil {
		return nil, err
	}
	if p, parted := m.(Partitioner); parted {
		return p.Join(finals), nil
	}
	return finals[0], nil
}
