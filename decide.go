package clew

import (
	"context"

	"clew/fallback"
	"clew/fallback/auto"
	"clew/fastpath"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// decision is what became of one part.
type decision struct {
	fallback.Answer
	analyzer string
	reason   string               // unknown: why the fast path cannot say, or how far the search got
	core     []models.Row         // if the fast path found it
	why      fastpath.Explanation // likewise, with rows
}

// renumber gives the rows of a decision about a cut their numbers in the whole.
func (x decision) renumber(cut models.Cut) decision {
	x.Renumber(cut)
	cut.Whole(x.core, x.why.Ops)
	return x
}

// decider decides parts by the path that the options ask for.
type decider struct {
	spec   models.Spec
	fast   fastPath // nil: the model has none, or it is not asked for
	engine fallback.Engine
	only   bool // the fast path or nothing
}

func newDecider(spec models.Spec, o Options) *decider {
	d := &decider{spec: spec, only: o.Algorithm == onlyFast}
	general := o.Algorithm
	if d.only {
		general = ""
	}
	d.engine = auto.Engine(general, o.Depth)
	if general == "" || general == "auto" {
		d.fast = fastPaths[spec.Name]
	}
	return d
}

// part decides one part: by the fast path if it knows, else by the general
// search.
func (d *decider) part(ctx context.Context, part *models.Operations, lim limits.Limits) decision {
	if reason := d.notFast(part); reason != "" {
		if d.only {
			return decision{Answer: fallback.Answer{Cause: jepsen.Ambiguous}, analyzer: "clew/fast-" + d.spec.Name, reason: reason}
		}
		return d.search(ctx, part, lim)
	}
	fast := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		c.Stop = func() bool { return ctx.Err() != nil }
		if c.Stop() {
			return fastpath.Decision{Reason: fastpath.Ambiguity{Cause: fastpath.Stopped}}
		}
		return d.fast(part.Model, d.spec, c, want)
	}
	f := fast(&part.Columns, fastpath.WantWitness|fastpath.WantFailure)
	x := decision{analyzer: "clew/fast-" + d.spec.Name, core: f.Core, why: f.Why}
	switch {
	case f.Reason.Cause == fastpath.Stopped:
		return stopped(ctx, x)
	case f.Verdict == fastpath.Valid:
		x.Answer = fallback.Answer{Verdict: jepsen.Valid, Order: f.Witness}
		return x
	case f.Verdict == fastpath.Invalid && f.Fail >= 0:
		// Everything up to just before the failure has a linearization, and the
		// fast path can show it.
		cut := part.Prefix(f.Fail - 1)
		before := fast(&cut.Columns, fastpath.WantWitness)
		if before.Reason.Cause == fastpath.Stopped {
			return stopped(ctx, x)
		}
		if before.Verdict != fastpath.Valid {
			// What is open there may be ambiguous, though the failure is certain.
			cut = part.Prefix(f.Fail)
			return d.search(ctx, cut.Operations, lim).renumber(cut)
		}
		x.Answer = fallback.Answer{Verdict: jepsen.Invalid, FailEvent: f.Fail, Order: before.Witness}
		x.Renumber(cut)
		return x
	case d.only:
		x.Answer = fallback.Answer{Cause: jepsen.Ambiguous}
		x.reason = ambiguity(part, f.Reason)
		return x
	case f.Verdict == fastpath.Invalid:
		// It fails for certain, but some prefix is ambiguous: the search finds
		// where, and need not look further than where it surely has failed.
		cut := part.Prefix(f.Bound)
		return d.search(ctx, cut.Operations, lim).renumber(cut)
	}
	return d.search(ctx, part, lim)
}

// stopped is the decision of a fast path that the context stopped.
func stopped(ctx context.Context, x decision) decision {
	x.Answer = fallback.Answer{Cause: limits.Stopped(ctx)}
	x.reason = "the fast path was still at it"
	return x
}

// notFast says why the fast path is not for a part, or "".
func (d *decider) notFast(part *models.Operations) string {
	switch {
	case d.fast == nil:
		return "there is no fast path for " + d.spec.Name
	case startEmpty[d.spec.Name] && len(part.Model.Init()) > 0:
		return "the fast path for " + d.spec.Name + " takes no initial contents"
	}
	return ""
}

// search decides operations by the general search.
func (d *decider) search(ctx context.Context, ops *models.Operations, lim limits.Limits) decision {
	x := decision{Answer: fallback.Check(ctx, d.engine, ops, lim)}
	if x.analyzer = "clew/" + d.engine.Name(); x.By != "" {
		x.analyzer = "clew/" + x.By
	}
	if x.Verdict == jepsen.Unknown {
		x.reason = x.HowFar(ops)
	}
	return x
}

// core is the operations of a part's core.
func (d *decider) core(ctx context.Context, part *models.Operations, x decision, lim limits.Limits) []jepsen.Operation {
	rows := x.core
	if rows == nil {
		rows = fallback.Core(ctx, d.engine, part, x.FailEvent, limits.Limits{Memory: lim.Memory})
	}
	ops := make([]jepsen.Operation, len(rows))
	for i, row := range rows {
		ops[i] = part.Of[row]
	}
	return ops
}
