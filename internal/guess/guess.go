// Package guess finds orders for models that are not in the registry.
//
// Decides: nothing by itself. Many models of users are much like a register or a queue. For such a history, the near-linear
// decision of the registry's model has an order at once. If the user's model can take it, step by step, that order proves
// that the history is linearizable, whatever the two models have in common. If it cannot, nothing is known.
//
// Precondition: the values of the history tell the order, as the near-linear decision requires.
//
// Crashed operations happen where the order has them, or not at all. They have no return, so nothing must come after them.
//
// Cost: that decision, and one step of the user's model for each operation.
package guess

import (
	"context"

	"clew/fastpath"
	"clew/internal/families"
	"clew/jepsen"
	"clew/models"
)

// Least is the number of operations from which a guess is worth its time.
const Least = 1000

// Twin reads a history as the model of the registry that has its :f's. It returns nil if there is none with a near-linear
// decision.
func Twin(ctx context.Context, h *jepsen.History) *models.Operations {
	spec, _, err := models.Spec{}.Infer(h)
	if err != nil {
		return nil
	}
	twin, err := spec.ReadWithin(ctx, h)
	if err != nil {
		return nil
	}
	if path, _ := families.Of(twin.Model); path == nil {
		return nil
	}
	return twin
}

// Order returns an order of operations in which each can happen. There may be one even if it returns false.
func Order(ctx context.Context, ops, twin *models.Operations) (order []models.Row, ok bool) {
	path, _ := families.Of(twin.Model)
	d := path.Decide(ctx, &twin.Columns, fastpath.WantWitness)
	if d.Verdict != jepsen.Valid {
		return nil, false
	}
	rows := make([]models.Row, ops.History.Operations()) // by operation: its row and 1
	for row, op := range ops.Of {
		rows[op] = models.Row(row) + 1
	}
	for _, row := range d.Witness {
		if op := twin.Of[row]; rows[op] > 0 {
			order = append(order, rows[op]-1)
			rows[op] = 0
		}
	}
	var left []models.Row
	for row, op := range ops.Of {
		if rows[op] > 0 && ops.Res[row] != models.Open {
			left = append(left, models.Row(row))
		}
	}
	order = merge(order, left, &ops.Columns)
	if expects := ops.Model.Traits().Expects; expects != nil {
		steps := make([]models.Op, len(order))
		for i, row := range order {
			steps[i] = ops.Op(row)
		}
		expects(steps)
		defer expects(nil)
	}
	_, err := models.Final(ctx, ops.Model, &ops.Columns, order)
	return order, err == nil
}

// merge adds what the registry's model leaves out because it can happen at any time, such as a read of nothing: each as
// early as it can be, behind all that returned before it was called. What was called after it returned is behind all of
// these, too, so the order in time is kept.
func merge(order, left []models.Row, c *models.Columns) (merged []models.Row) {
	if len(left) == 0 {
		return order
	}
	behind := make([]int32, c.Events+1) // by event: how many are in order up to the last one that returned before
	for i, row := range order {
		if res := c.Res[row]; res != models.Open {
			behind[res+1] = int32(i) + 1
		}
	}
	for e := 1; e < len(behind); e++ {
		behind[e] = max(behind[e], behind[e-1])
	}
	from := int32(0)
	for _, row := range left { // they stand in the order of their calls
		to := max(from, behind[c.Inv[row]])
		merged = append(append(merged, order[from:to]...), row)
		from = to
	}
	return append(merged, order[from:]...)
}
