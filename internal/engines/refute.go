package engines

import (
	"context"
	"math"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// before finds what comes before a failure.
var before = Turns{Engines: []fallback.Engine{configs.Window{}, configs.Frontier{}}, First: turnWork, Turn: turnWork, Apart: math.MaxInt64}

// loosener decides operations under a looser model, and gives up if it finds no
// refutation. A linearization, including its crashed operations, is one under the
// looser model too. So what fails there also fails under the model itself, at the
// same return or earlier. The model itself decides what comes before.
type loosener struct{}

// looser returns a model in which more is linearizable, or nil.
func looser(m models.Model) models.Model {
	if relaxed := m.Traits().Relaxed; relaxed != nil {
		return relaxed()
	}
	return nil
}

// Name implements fallback.Engine.
func (loosener) Name() string { return "loosener" }

// Decide implements fallback.Engine.
func (loosener) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	a := before.Decide(ctx, ops.Under(looser(ops.Model)), lim)
	if a.Verdict != jepsen.Invalid {
		return fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return failsBy(ctx, ops, lim, a.FailEvent, a.Work)
}

// refuter looks for a refutation by configs.Refute, and gives up if it finds none.
type refuter struct{}

// Name implements fallback.Engine.
func (refuter) Name() string { return "refuter" }

// refuterSteps is how many steps a refutation takes at most, or a few for each
// operation.
const refuterSteps = 100_000

// Decide implements fallback.Engine.
func (refuter) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	fail, work, ok := configs.Refute(ctx, ops, lim, max(refuterSteps, 4*ops.Len()))
	if !ok {
		return fallback.Answer{Cause: fallback.GaveUp, Work: work}
	}
	return failsBy(ctx, ops, lim, fail, work)
}

// failsBy finds where operations fail that are known to fail at a
// return or earlier.
func failsBy(ctx context.Context, ops *models.Operations, lim fallback.Limits, fail int32, work int64) fallback.Answer {
	cut := ops.Prefix(fail - 1)
	a := before.Decide(ctx, cut.Operations, lim)
	a.Renumber(cut)
	a.Work += work
	switch a.Verdict {
	case jepsen.Valid:
		a.Verdict, a.FailEvent = jepsen.Invalid, fail
	case jepsen.Unknown:
		return fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return a
}
