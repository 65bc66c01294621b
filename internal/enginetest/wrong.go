package enginetest

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// Wrong holds engines that are wrong about every history of more than one operation,
// for tests of what detects them. They decide as Frontier does, and have its name.
var Wrong = map[string]fallback.Engine{
	"takes the last operation first": wrong{change: func(_ *models.Operations, a fallback.Answer) fallback.Answer {
		slices.Reverse(a.Order)
		return a
	}},
	"forgets an operation": wrong{change: func(_ *models.Operations, a fallback.Answer) fallback.Answer {
		a.Order = a.Order[1:]
		return a
	}},
	"takes an operation twice": wrong{change: func(_ *models.Operations, a fallback.Answer) fallback.Answer {
		a.Order = append(a.Order, a.Order[0])
		return a
	}},
	"always says no": wrong{change: func(ops *models.Operations, _ fallback.Answer) fallback.Answer {
		return fallback.Answer{Verdict: jepsen.Invalid, FailEvent: slices.Max(ops.Res[:1])}
	}},
}

// wrong is Frontier with changed answers.
type wrong struct {
	configs.Frontier
	change func(*models.Operations, fallback.Answer) fallback.Answer
}

// Decide implements Engine.
func (w wrong) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	a := w.Frontier.Decide(ctx, ops, lim)
	if ops.Len() == 0 || a.Verdict == jepsen.Unknown {
		return a
	}
	return w.change(ops, a)
}
