package clew

import (
	"context"
	"fmt"
	"slices"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// alone decides the operations again without the answers that no step can judge, if they are not linearizable with
// them. So a watch that shows what cannot be is not taken for a failure of the operations. It returns c itself if that
// makes no difference.
func (c *checking) alone(ctx context.Context, d *decider, o Options) *checking {
	if c.ops == nil || c.err != nil || c.verdict.verdict == jepsen.Valid {
		return c
	}
	beyond := c.ops.Model.Traits().Beyond
	if beyond == nil {
		return c
	}
	ops := beyond.Alone(c.ops)
	if ops == nil {
		return c
	}
	other := &checking{h: c.h, spec: c.spec, inferred: c.inferred, ops: ops}
	if other.decide(ctx, d, o.limits()); other.verdict.verdict == jepsen.Unknown {
		return c
	}
	if other.verdict.verdict == jepsen.Valid && c.verdict.verdict == jepsen.Invalid {
		part := c.parts[c.verdict.failing]
		other.against = jepsen.Some(part.History.OpOf[c.decisions[c.verdict.failing].FailEvent])
	}
	return other
}

// judge judges the answers that are about the order as a whole. If they break a guarantee, the history is invalid.
func (c *checking) judge(r *report.Result) {
	if c.ops == nil || c.err != nil || r.Cause == jepsen.SelfCheckFailed {
		return
	}
	beyond := c.ops.Model.Traits().Beyond
	if beyond == nil {
		return
	}
	var order []models.Row
	if r.Verdict == jepsen.Valid {
		order = append([]models.Row{}, c.wholeOrder()...)
	}
	r.Broken = beyond.Judge(c.ops, order)
	if op, contradicts := c.against.Get(); contradicts && len(r.Broken) == 0 {
		r.Broken = []models.Broken{{Operation: op, Guarantee: "consistent",
			Why: "no order of the operations explains all that watches and reads of old states show, such as " + c.h.Name(op)}}
	}
	switch {
	case len(r.Broken) == 0:
	case r.Verdict == jepsen.Invalid:
		r.Explanation += besides(r.Broken)
	default:
		c.breaks(r)
	}
}

// breaks makes a result invalid because of a guarantee that is broken.
func (c *checking) breaks(r *report.Result) {
	first := r.Broken[0]
	said := ""
	if r.Verdict == jepsen.Valid {
		said = "; the operations themselves are linearizable"
	}
	r.Verdict, r.Kind, r.Explanation = jepsen.Invalid, models.BrokenGuarantee, first.Why+said+besides(r.Broken[1:])
	r.Cause, r.Hard, r.Vacuous = "", nil, ""
	r.FailEvent = jepsen.Some(c.h.Completion[first.Operation])
	r.Core = []jepsen.Operation{first.Operation}
	r.Paths = [][]report.Step{{{Operation: first.Operation, Why: first.Guarantee + " is broken", Because: first.Why}}}
	r.Named = append([]jepsen.Operation{first.Operation}, first.By...)
	r.Before = slices.DeleteFunc(slices.Clone(r.Witness), func(op jepsen.Operation) bool { return op == first.Operation })
	r.Prior, r.Ops, r.Witness = r.Before, c.ops, nil
}

// maxBesides is how many more broken guarantees an explanation tells.
const maxBesides = 3

// besides tells of more broken guarantees.
func besides(more []models.Broken) string {
	said := ""
	for _, b := range more[:min(maxBesides, len(more))] {
		said += "; besides, " + b.Why
	}
	if n := len(more) - maxBesides; n > 0 {
		said += fmt.Sprintf("; and %d more", n)
	}
	return said
}
