package engines

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/jepsen"
	"clew/models"
)

// before finds what comes before a failure.
var before = Turns{Engines: []fallback.Engine{configs.Window{}, configs.Beam{GivesUp: true}, configs.Frontier{}}, First: turnWork, Turn: turnWork, Apart: math.MaxInt64}

// loosener decides operations under the model's projections, and gives up if it finds no
// refutation. A linearization, including its crashed operations, is one under a
// projection too. So what fails there also fails under the model itself, at the
// same return or earlier. The model itself decides what comes before.
type loosener struct{}

// Name implements fallback.Engine.
func (loosener) Name() string { return "loosener" }

// Decide implements fallback.Engine.
func (loosener) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	b := fallback.NewBudget(ctx, lim)
	fail := models.Open
	unseen := lim // what passes there need not pass here
	unseen.Passed, unseen.Held, unseen.Furthest = nil, nil, nil
	for _, p := range ops.Model.Traits().Projections(ops) {
		if fail != models.Open {
			p = p.Prefix(fail).Operations
		}
		turns := before
		if p.Model.Traits().IsRegister {
			turns.Engines = suited(p)
		}
		a := b.Part(unseen, func(lim fallback.Limits) fallback.Answer { return turns.Decide(ctx, p, lim) })
		if a.Verdict == jepsen.Invalid {
			fail = a.FailEvent
		}
	}
	if fail == models.Open {
		return fallback.Answer{Cause: fallback.GaveUp, Work: b.Done()}
	}
	return failsBy(ctx, b, ops, fail, "since it is not linearizable even if part of what the answers show is ignored")
}

// hindsight decides operations under a model that knows what their answers show later.
type hindsight struct{}

// Name implements fallback.Engine.
func (hindsight) Name() string { return "hindsight" }

// Decide implements fallback.Engine. If the operations are not linearizable, those up to an
// earlier completion show less, and may be. So it searches for the first completion at which
// what was shown by then makes them fail. That is not before the one at which they fail with
// all that is shown.
func (h hindsight) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	b := fallback.NewBudget(ctx, lim)
	a := h.known(ctx, b, ops)
	if a.Verdict != jepsen.Invalid {
		return a
	}
	var ends []int32
	for _, res := range ops.Res {
		if res != models.Open && res >= a.FailEvent {
			ends = append(ends, res)
		}
	}
	slices.Sort(ends)
	var unknown fallback.Answer
	i := sort.Search(len(ends), func(i int) bool {
		a := h.known(ctx, b, ops.Prefix(ends[i]).Operations)
		if a.Verdict == jepsen.Unknown {
			unknown = a
		}
		return a.Verdict == jepsen.Invalid
	})
	if unknown.Cause != "" || i == len(ends) {
		return fallback.Answer{Cause: cmp.Or(unknown.Cause, fallback.GaveUp), Work: b.Done()}
	}
	a = upTo(ops, ends[i], func(prefix *models.Operations) fallback.Answer { return h.known(ctx, b, prefix) })
	a.Work = b.Done()
	return a
}

// known decides operations with all that they show. FailEvent may be too early.
func (hindsight) known(ctx context.Context, b *fallback.Budget, ops *models.Operations) fallback.Answer {
	m := ops.Model.Traits().Hindsight(ops)
	if m == nil {
		return fallback.Answer{Verdict: jepsen.Invalid}
	}
	return b.Part(b.Limits, func(lim fallback.Limits) fallback.Answer { return before.Decide(ctx, ops.Under(m), lim) })
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
	b := fallback.NewBudget(ctx, lim)
	var fail int32
	var ok bool
	b.Part(lim, func(lim fallback.Limits) (a fallback.Answer) {
		fail, a.Work, ok = configs.Refute(ctx, ops, lim, max(refuterSteps, 4*ops.Len()))
		return a
	})
	if !ok {
		return fallback.Answer{Cause: fallback.GaveUp, Work: b.Done()}
	}
	return failsBy(ctx, b, ops, fail, "since nothing explains it even if crashed operations could take effect again and again")
}

// failsBy finds where operations fail that are known to fail at a
// return or earlier. as says how.
func failsBy(ctx context.Context, b *fallback.Budget, ops *models.Operations, fail int32, as string) fallback.Answer {
	a := upTo(ops, fail, func(prefix *models.Operations) fallback.Answer {
		return b.Part(b.Limits, func(lim fallback.Limits) fallback.Answer { return before.Decide(ctx, prefix, lim) })
	})
	a.Work = b.Done()
	if a.Verdict == jepsen.Unknown {
		return fallback.Answer{Cause: fallback.GaveUp, Work: a.Work, FailsBy: fail, FailsAs: as}
	}
	return a
}

// upTo decides operations that are known to fail at a return or earlier, given a
// function that decides what comes before it.
func upTo(ops *models.Operations, fail int32, decide func(prefix *models.Operations) fallback.Answer) fallback.Answer {
	cut := ops.Prefix(fail - 1)
	a := decide(cut.Operations)
	a.Renumber(cut)
	if a.Verdict == jepsen.Valid {
		a.Verdict, a.FailEvent = jepsen.Invalid, fail
	}
	return a
}
