package howfar

import (
	"context"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// ofSessions are the guarantees of sessions.
var ofSessions = []report.Guarantee{report.MonotonicReads, report.ReadYourWrites, report.MonotonicWrites, report.WritesFollowReads}

// Guarantees says which guarantees hold for operations that are not linearizable. The parts are those of the operations.
// Sequential consistency is judged for all data types, the others for registers. Where values repeat, only a bounded search
// decides, and only whether operations are sequential. If the context ends early, some guarantees are missing.
func Guarantees(ctx context.Context, ops *models.Operations, parts []*models.Operations) (g report.Guarantees) {
	g.Add(report.Linearizable, jepsen.Invalid)
	until(func() { weaker(ctx, &g, ops, parts) })
	return g
}

func weaker(ctx context.Context, g *report.Guarantees, ops *models.Operations, parts []*models.Operations) {
	v, unique := newVersions(&watch{ctx: ctx}, parts)
	if !unique {
		searched(ctx, g, ops, parts)
		return
	}
	perKey := v.perKey()
	sequential := verdictOf(perKey)
	if perKey && len(parts) > 1 {
		var edges [][]int32
		if sequential, edges = v.sequential(); sequential == jepsen.Unknown {
			sequential = inSomeOrder(ctx, ops, v.rowsOf(ops, parts), edges)
		}
	}
	g.Add(report.Sequential, sequential)
	g.Add(report.SequentialPerKey, verdictOf(perKey))
	holds := v.sessions()
	for _, s := range ofSessions {
		g.Add(s, verdictOf(holds[s]))
	}
}

func verdictOf(holds bool) jepsen.Verdict {
	if holds {
		return jepsen.Valid
	}
	return jepsen.Invalid
}

// searched says what a search finds of operations some of whose values repeat, or that are not those of registers.
func searched(ctx context.Context, g *report.Guarantees, ops *models.Operations, parts []*models.Operations) {
	sequential := inSomeOrder(ctx, ops, all(ops), nil)
	g.Add(report.Sequential, sequential)
	for _, part := range parts {
		if !part.Model.Traits().IsRegister {
			return
		}
	}
	perKey := sequential
	if sequential != jepsen.Valid && len(parts) > 1 {
		perKey = jepsen.Valid
		for _, part := range parts {
			switch v := inSomeOrder(ctx, part, all(part), nil); {
			case v == jepsen.Invalid:
				perKey = v
			case v == jepsen.Unknown && perKey == jepsen.Valid:
				perKey = v
			}
		}
	}
	g.Add(report.SequentialPerKey, perKey)
	for _, s := range ofSessions {
		known := jepsen.Unknown
		if perKey == jepsen.Valid {
			known = jepsen.Valid
		}
		g.Add(s, known)
	}
}
