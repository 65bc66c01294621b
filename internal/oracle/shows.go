package oracle

import (
	"fmt"
	"slices"

	"clew/models"
)

// Shows says why an order of rows is not a linearization of the operations that
// began before an event; it is nil if it is one. Every operation that returned
// before the event stands in the order once, and the others at most once; an
// operation that returned before another began stands before it; and the model
// can take every step. For a whole history the event is its Events, and for a
// failure it is the first failing completion.
func Shows(ops *models.Operations, order []models.Row, end int32) error {
	stands := make([]bool, ops.Len())
	latest := int32(-1)
	states := []models.State{ops.Model.Init()}
	for i, row := range order {
		switch {
		case stands[row]:
			return fmt.Errorf("row %d stands in the order twice", row)
		case ops.Res[row] < latest:
			return fmt.Errorf("row %d had returned before one began that stands before it, at %d", row, i)
		case ops.Inv[row] >= end:
			return fmt.Errorf("the order knows row %d, which began after event %d", row, end)
		}
		stands[row] = true
		latest = max(latest, ops.Inv[row])
		op := ops.Op(row)
		if ops.Res[row] >= end {
			op = ops.Opened(row)
		}
		if states = after(ops.Model, states, op); len(states) == 0 {
			return fmt.Errorf("row %d cannot happen at %d", row, i)
		}
	}
	for row, res := range ops.Res {
		if res < end && !stands[row] {
			return fmt.Errorf("row %d is missing in the order", row)
		}
	}
	return nil
}

// after is the states that an operation leads to from any of some, each once.
func after(m models.Model, from []models.State, op models.Op) []models.State {
	var to []models.State
	for _, s := range from {
		for _, next := range m.Step(nil, s, op) {
			if !slices.ContainsFunc(to, func(t models.State) bool { return slices.Equal(t, next) }) {
				to = append(to, next)
			}
		}
	}
	return to
}
