package clew

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"clew/fallback"
	"clew/internal/engines"
	"clew/jepsen"
	"clew/models"
)

// A history of several parts is decided in growing prefixes: if one part fails early, what the others do later does
// not matter, however hard it is to decide. The first prefix has firstHorizon events.
const (
	firstHorizon  = 512
	horizonGrowth = 4
)

// decide decides operations. It goes part by part if the model has parts and the fast path does not decide them all
// at once.
func (d *decider) decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) ([]*models.Operations, []decision) {
	if ops.Model.Traits().Partition != nil && d.fast {
		first := *d
		first.only = true
		if x := first.part(ctx, ops, lim); x.Verdict != jepsen.Unknown {
			return []*models.Operations{ops}, []decision{x}
		}
	}
	parts := ops.Parts()
	decisions := d.all(ctx, parts, lim)
	if d.only {
		ambiguousFirst(decisions)
	}
	return parts, decisions
}

// ambiguousFirst withdraws failures if some part is ambiguous: that part may fail earlier, and no other engine is
// asked.
func ambiguousFirst(decisions []decision) {
	i := slices.IndexFunc(decisions, func(x decision) bool { return x.Cause == jepsen.Ambiguous })
	for k, x := range decisions {
		if i >= 0 && x.Verdict == jepsen.Invalid {
			decisions[k] = decisions[i]
		}
	}
}

// all decides the parts up to the earliest failing completion.
func (d *decider) all(ctx context.Context, parts []*models.Operations, lim fallback.Limits) []decision {
	if len(parts) == 1 {
		return []decision{d.part(ctx, parts[0], lim)}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	whole := func(part *models.Operations) decision {
		if ctx.Err() != nil {
			return d.late(ctx)
		}
		return d.part(ctx, part, lim)
	}
	if e, ok := engines.Of(d.engine.Name()); ok && e.OnlyWitnesses {
		return eachPart(stop, parts, whole) // no part is found to fail, and a prefix needs more depth
	}
	for horizon := int32(firstHorizon); ; horizon *= horizonGrowth {
		if horizon >= parts[0].Events/horizonGrowth {
			return eachPart(stop, parts, whole)
		}
		decisions := eachPart(stop, parts, func(part *models.Operations) decision {
			if ctx.Err() != nil {
				return d.late(ctx)
			}
			cut := part.Prefix(horizon)
			return d.part(ctx, cut.Operations, lim).renumber(cut)
		})
		if slices.ContainsFunc(decisions, func(x decision) bool { return x.Verdict != jepsen.Valid }) {
			return decisions
		}
	}
}

// eachPart decides the parts in parallel. If one of them panics, since a model may fail, the others are stopped.
func eachPart(stop func(), parts []*models.Operations, decide func(*models.Operations) decision) []decision {
	decisions := make([]decision, len(parts))
	sideBySide(len(parts), func(i int) {
		decided := false
		defer func() {
			if !decided {
				stop()
			}
		}()
		decisions[i], decided = decide(parts[i]), true
	})
	return decisions
}

// sideBySide calls f for 0 to n-1 in parallel, with one goroutine per processor. Each takes one call after the other:
// a million small calls would grow a million stacks. A panic in a call panics again in this goroutine, once all calls
// are done.
func sideBySide(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var next atomic.Int64
	var panicked atomic.Pointer[any]
	guarded := func(i int) {
		var exited any = &models.Failure{Err: models.ErrExited}
		defer func() {
			if p := cmp.Or(recover(), exited); p != nil {
				panicked.CompareAndSwap(nil, &p)
			}
		}()
		f(i)
		exited = nil
	}
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				guarded(i)
			}
		})
	}
	group.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}
