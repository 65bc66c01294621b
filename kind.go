package clew

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/fastpath"
	"clew/internal/families"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// kind returns the kind of a failure, or "" if its evidence does not show one for certain: that of the sentence if the
// fast path found one, else that of the operation that fails, else that of another operation of the core.
func (c *checking) kind(ctx context.Context, r *report.Result) models.Anomaly {
	part, d := c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	var found models.Anomaly
	if d.why != nil {
		found = d.why.Anomaly(part.Teller())
	}
	if of := part.Model.Traits().Anomaly; found == "" && of != nil {
		rows := []models.Row{models.Row(slices.Index(part.Res, d.FailEvent))}
		if part.Len() <= maxReadForKind {
			rows = append(rows, rowsAmong(part, r.Core[:min(len(r.Core), maxKinds)])...)
		}
		for _, row := range rows {
			if found == "" && row >= 0 && part.Res[row] <= d.FailEvent && ctx.Err() == nil {
				found = of(part, row)
			}
		}
	}
	if (found == models.NeverWritten || found == models.FutureRead) && c.onlyFailedWrote(ctx, r) {
		return models.DirtyRead
	}
	return found
}

// Bounds of what looking for a kind reads.
const (
	maxKinds       = 64     // operations of the core
	maxReadForKind = 50_000 // operations of a history that is read for each of them, or again
)

// onlyFailedWrote reports whether failed operations wrote what nothing else had written: with them, as if they had
// crashed, the core is linearizable.
func (c *checking) onlyFailedWrote(ctx context.Context, r *report.Result) bool {
	h, fail := r.History, r.FailEvent.OrNone()
	if h.Operations() > maxReadForKind {
		return false
	}
	var failed []jepsen.Operation
	for op, status := range h.Status {
		if status == jepsen.Failed && h.Invocation[op] < fail {
			failed = append(failed, jepsen.Operation(op))
		}
	}
	if len(failed) == 0 || len(r.Core) == 0 {
		return false
	}
	ops, err := c.spec.ReadWithin(ctx, h.Crashing(failed...))
	if err != nil {
		return false
	}
	some := rowsAmong(ops, append(slices.Clone(r.Core), failed...))
	core := ops.Select(some).Prefix(int32(fail))
	path, _ := families.Of(ops.Model)
	if path == nil {
		return c.explains(ctx, core.Operations)
	}
	d := path.Decide(ctx, &core.Columns, fastpath.WantVerdict)
	return d.Verdict == jepsen.Valid || d.Verdict == jepsen.Unknown && c.explains(ctx, core.Operations)
}

// explains reports whether a small amount of work finds that operations are linearizable.
func (c *checking) explains(ctx context.Context, ops *models.Operations) (valid bool) {
	ctx, lim, stop := fallback.Limits{Memory: models.NewMemory(judgeMemory)}.Within(ctx, judgeWork)
	defer stop()
	failure := caught(ops.Model, func() { valid = newDecider(c.spec, Options{}).search(ctx, ops, lim).Verdict == jepsen.Valid })
	return failure == nil && valid
}
