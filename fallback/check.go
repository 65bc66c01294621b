package fallback

import (
	"context"
	"sort"

	"clew/models"
)

// Check decides operations with an engine. The answer's first failing
// completion takes open operations as the model wants them: where it reads them
// otherwise than as completed, prefixes are bisected (linearizability is
// prefix-closed), at most log2(completions) further decisions. If a limit stops
// any of them the verdict is Unknown.
func Check(ctx context.Context, engine Engine, ops *models.Operations, limits Limits) Answer {
	a := engine.Decide(ctx, ops, limits)
	if a.Verdict != Invalid || !ops.ReadsOpenOtherwise() {
		return a
	}
	a.Others = nil // they read open operations as completed
	// With less known about open operations a prefix can only fail later.
	ends := completions(ops)
	valid := sort.Search(len(ends), func(i int) bool { return ends[i] >= a.Fail })
	failing := len(ends)
	for failing-valid > 1 {
		middle := valid + (failing-valid)/2
		switch b := decidePrefix(ctx, engine, ops, ends[middle-1], limits); b.Verdict {
		case Unknown:
			return b
		case Valid:
			valid, a.Order = middle, b.Order
		default:
			failing = middle
		}
	}
	a.Fail = ends[failing-1]
	return a
}

// decidePrefix decides the prefix that ends with event t. The answer's rows are
// those of ops.
func decidePrefix(ctx context.Context, engine Engine, ops *models.Operations, t int32, limits Limits) Answer {
	cut, rows := ops.Prefix(t)
	a := engine.Decide(ctx, cut, limits)
	for i, row := range a.Order {
		a.Order[i] = rows[row]
	}
	return a
}

// completions is the events at which operations return, in order.
func completions(ops *models.Operations) []int32 {
	returns := make([]bool, ops.Events)
	for _, res := range ops.Res {
		if res != models.Open {
			returns[res] = true
		}
	}
	var ends []int32
	for e, r := range returns {
		if r {
			ends = append(ends, int32(e))
		}
	}
	return ends
}
