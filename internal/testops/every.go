package testops

import (
	"clew/jepsen"
	"clew/models"
)

// Every calls f with every history of n of the given operations, in which each
// returns or crashes, as fates allows. The operations are valid only during the
// call.
func Every(m models.Model, n int, kinds []models.Op, fates func(op models.Op) (returns, crashes bool), f func(ops *models.Operations)) {
	const busy = -1
	ops := &models.Operations{Model: m}
	begin := func(event, res int32, op models.Op, step func(event int32)) {
		k := ops.Len()
		ops.Append(event, res, op)
		ops.Of = append(ops.Of, jepsen.Operation(k))
		step(event + 1)
		ops.Inv, ops.Res, ops.Kind, ops.A, ops.B, ops.Of = ops.Inv[:k], ops.Res[:k], ops.Kind[:k], ops.A[:k], ops.B[:k], ops.Of[:k]
	}
	var step func(event int32)
	step = func(event int32) {
		over := true
		for row, res := range ops.Res {
			if res == busy {
				over = false
				ops.Res[row] = event
				step(event + 1)
				ops.Res[row] = busy
			}
		}
		switch {
		case ops.Len() < n:
			for _, op := range kinds {
				returns, crashes := fates(op)
				if returns {
					begin(event, busy, op, step)
				}
				if crashes {
					begin(event, models.Open, op, step)
				}
			}
		case over:
			ops.Events = event
			f(ops)
		}
	}
	step(0)
}
