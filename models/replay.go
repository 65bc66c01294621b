package models

import (
	"fmt"
	"slices"
)

// Replay runs rows one after the other and returns the state after each, one
// consistent run where steps have several outcomes. It fails at the first row
// that cannot happen. Linear time in the number of outcomes.
func Replay(m Model, c *Columns, order []int32) ([]State, error) {
	sets := make([][]State, len(order)+1)
	sets[0] = []State{m.Init()}
	for i, row := range order {
		var next []State
		for _, s := range sets[i] {
			next = m.Step(next, s, c.Op(row))
		}
		if len(next) == 0 {
			return nil, &ReplayError{i, m.Why(sets[i][0], c.Op(row))}
		}
		if len(next) > 1 {
			slices.SortFunc(next, slices.Compare)
			next = slices.CompactFunc(next, slices.Equal)
		}
		sets[i+1] = next
	}
	// Backwards, pick for each step a state that leads to the one picked after.
	run := make([]State, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		run[i] = sets[i+1][0]
		if i+1 < len(order) {
			run[i] = leadingTo(m, sets[i+1], c.Op(order[i+1]), run[i+1])
		}
	}
	return run, nil
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

// VerifyOrder says whether rows are a linearization: every completed operation
// once, crashed ones at most once, none before an operation that returned
// before it began, and every step possible. Linear time. It shares no code
// with any engine.
func VerifyOrder(m Model, c *Columns, order []int32) error {
	seen := make([]bool, c.Len())
	latest := int32(-1) // the latest invocation so far
	for i, row := range order {
		if row < 0 || int(row) >= c.Len() {
			return &ReplayError{i, "no such operation"}
		}
		if seen[row] {
			return &ReplayError{i, "the operation happens twice"}
		}
		if c.Res[row] < latest {
			return &ReplayError{i, "the operation returned before an earlier one of this order began"}
		}
		seen[row] = true
		latest = max(latest, c.Inv[row])
	}
	for row, ok := range seen {
		if !ok && c.Res[row] != Open {
			return &ReplayError{len(order), fmt.Sprintf("operation %d, which completed, is missing", row)}
		}
	}
	_, err := Replay(m, c, order)
	return err
}
