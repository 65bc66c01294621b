package oracle

import (
	"errors"
	"fmt"
	"slices"

	"clew/models"
)

// ErrManyStates is the error for an order that takes too much to replay, such as one
// with dozens of crashed dequeues that may each have taken any value.
var ErrManyStates = errors.New("there are too many states that the order may lead to")

const maxStates = 1 << 14

// Shows says why an order of rows is not a linearization of what has begun before
// an event, or returns nil if it is one. The order must have all operations that
// returned before the event once, and crashed ones at most once. An operation that
// returned before another began must precede it, and the spec must be able to take
// every step. For a whole history the event is its Events, and for a failure the
// first failing completion. The history may have any length. The error is
// ErrManyStates if the spec may be in too many states at once.
func (h *History) Shows(order []models.Row, end int32) error {
	stands := make([]bool, h.Len())
	latest := int32(-1)
	states, next := []string{h.Init}, []string(nil)
	for i, row := range order {
		switch {
		case row < 0 || int(row) >= h.Len():
			return fmt.Errorf("there is no row %d", row)
		case stands[row]:
			return fmt.Errorf("row %d stands in the order twice", row)
		case h.Res[row] < latest:
			return fmt.Errorf("row %d had returned before one began that stands before it, at %d", row, i)
		case h.Inv[row] >= end:
			return fmt.Errorf("the order knows row %d, which began after event %d", row, end)
		}
		stands[row] = true
		latest = max(latest, h.Inv[row])
		next = after(h.Spec, next[:0], h.Op(row), states)
		if states, next = next, states; len(states) == 0 {
			return fmt.Errorf("row %d cannot happen at %d", row, i)
		}
		if len(states) > maxStates {
			return ErrManyStates
		}
	}
	for row, res := range h.Res {
		if res < end && !stands[row] {
			return fmt.Errorf("row %d is missing in the order", row)
		}
	}
	return nil
}

// after returns the states to which an operation leads from any of some states,
// each once.
func after(spec Spec, dst []string, op models.Op, from []string) []string {
	for _, s := range from {
		dst = spec.Step(dst, op, s)
	}
	if len(dst) > 1 {
		slices.Sort(dst)
		dst = slices.Compact(dst)
	}
	return dst
}

// Shows says why an order of rows is not a linearization of what has begun before
// an event; see History.Shows.
func Shows(ops *models.Operations, order []models.Row, end int32) error {
	return New(&ops.Columns, SpecOf(ops.Model)).Shows(order, end)
}
