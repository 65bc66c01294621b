package oracle

import (
	"errors"
	"fmt"
	"slices"

	"clew/models"
)

// ErrManyStates is the error of an order that nobody can replay, as one with dozens of
// dequeues that crashed and may each have taken any value.
var ErrManyStates = errors.New("there are too many states that the order may lead to")

const maxStates = 1 << 14

// Shows says why an order of rows is no linearization of what has begun before an
// event, nil if it is one: all that returned before it stand in the order once,
// crashed ones at most once, what returned before another began stands before it,
// and the spec can take every step. For a whole history the event is its Events,
// for a failure the first failing completion. The history may be of any length. The
// error is ErrManyStates if the spec may be in too many at once.
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

// after is the states that an operation leads to from any of some, each once.
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

// Shows says why an order of rows is no linearization of what has begun before an
// event; see History.Shows.
func Shows(ops *models.Operations, order []models.Row, end int32) error {
	return New(&ops.Columns, SpecOf(ops.Model)).Shows(order, end)
}
