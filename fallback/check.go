package fallback

import (
	"context"
	"sort"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Check decides operations with an engine. For the first failing completion,
// open operations are read as the model wants. If the model reads them
// differently from completed ones, prefixes are bisected (linearizability is
// prefix-closed), which takes at most log2(completions) further decisions. If a
// limit stops any of them the verdict is Unknown.
func Check(ctx context.Context, engine Engine, ops *models.Operations, lim limits.Limits) Answer {
	a := engine.Decide(ctx, ops, lim)
	if a.Verdict != jepsen.Invalid || !ops.ReadsOpenOtherwise() {
		return a
	}
	a.Others = nil // they read open operations as if they had completed
	// If less is known about open operations, a prefix can only fail later.
	ends := Completions(ops)
	valid := sort.Search(len(ends), func(i int) bool { return ends[i] >= a.FailEvent })
	failing := len(ends)
	for failing-valid > 1 {
		middle := valid + (failing-valid)/2
		switch b := decidePrefix(ctx, engine, ops, ends[middle-1], lim); b.Verdict {
		case jepsen.Unknown:
			return b
		case jepsen.Valid:
			valid, a.Order = middle, b.Order
		default:
			failing = middle
		}
	}
	a.FailEvent = ends[failing-1]
	return a
}

// decidePrefix decides the prefix that ends with event t. The answer's rows are
// those of ops.
func decidePrefix(ctx context.Context, engine Engine, ops *models.Operations, t int32, lim limits.Limits) Answer {
	cut := ops.Prefix(t)
	a := engine.Decide(ctx, cut.Operations, lim)
	a.Renumber(cut)
	return a
}

// Completions are the events at which operations return, in order.
func Completions(ops *models.Operations) []int32 {
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
