package clew

import (
	"context"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// otherwise says whether a history that is not linearizable in the order that its positions tell is linearizable in
// another order, or "" if little work does not show that. It costs another reading of the history.
func (c *checking) otherwise(ctx context.Context) string {
	name := c.spec.Position
	if name == "" {
		return ""
	}
	spec := c.spec
	spec.Position, spec.SparsePositions = "", false
	other, err := read(ctx, c.h, spec, Options{})
	if err != nil || other.ops == nil {
		return ""
	}
	ctx, lim, stop := fallback.Limits{Memory: models.NewMemory(judgeMemory)}.Within(ctx, otherwiseWork+judgePerOperation*int64(other.ops.Len()))
	defer stop()
	other.decide(ctx, newDecider(spec, Options{}), lim)
	if other.release != nil {
		other.release()
	}
	switch {
	case other.err != nil:
		return ""
	case other.verdict.verdict == jepsen.Valid:
		return "the history is linearizable in another order than that of :" + name + " (" + models.ParamPosition.String() + " none)"
	case other.verdict.verdict == jepsen.Invalid:
		return "the history is not linearizable in any other order than that of :" + name + " either"
	}
	return ""
}

// otherwiseWork is the work of a search for another order than that of the positions, besides some for each operation.
const otherwiseWork = 1_000_000
