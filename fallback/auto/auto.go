// Package auto picks the engine of the general search: by the algorithm that was
// asked for or, if none was, by how hard the history is.
package auto

import (
	"context"

	"clew/fallback"
	"clew/fallback/staged"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// easyFirst is the general search for whoever asks for no engine: Window alone as
// long as the history is easy, so that the same history always gets the same
// evidence, and then Window and Frontier in a race, with Porcupine if few have
// crashed and its memory is small. None is strong everywhere. If many operations of
// a register have crashed it is staged.Engine first, and then among the others; if
// many of another model have, Refute goes before the race.
type easyFirst struct{}

// easySteps is how long a history counts as easy, some tens of milliseconds, and
// easyPerOperation if it is long: ten busy processes take 4 to 5. easyNodes is
// the like for staged.Engine, a second or two.
const (
	easySteps        = 100_000
	easyPerOperation = 20
	easyNodes        = 2_000_000
)

// porcupineRows is how many operations Porcupine's memory, which grows with the
// square of them, is no matter for.
const porcupineRows = 2000

// fewCrashed is how many crashed operations every engine copes with.
const fewCrashed = 10

// manyCrashed says whether more have crashed.
func manyCrashed(ops *models.Operations) bool {
	n := 0
	for _, res := range ops.Res {
		if res == models.Open {
			n++
		}
	}
	return n > fewCrashed
}

// Name implements Engine.
func (easyFirst) Name() string { return "auto" }

// racers are the engines that race if a history is hard.
func racers(ops *models.Operations) fallback.Race {
	race := fallback.Race{fallback.Window{}, fallback.Frontier{}}
	_, single := ops.Model.(models.SingleValue)
	switch many := manyCrashed(ops); {
	case many && single:
		return append(race, staged.Engine{})
	case !many && ops.Len() <= porcupineRows:
		return append(race, fallback.Porcupine{})
	}
	return race
}

// Decide implements Engine.
func (easyFirst) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	first, many := fallback.Engine(fallback.Window{MaxSteps: max(easySteps, easyPerOperation*ops.Len())}), manyCrashed(ops)
	if _, single := ops.Model.(models.SingleValue); single && many {
		first, many = staged.Engine{MaxNodes: max(easyNodes, 4*ops.Len())}, false
	}
	a := first.Decide(ctx, ops, lim)
	if a.Cause != fallback.GaveUp {
		a.By = first.Name()
		return a
	}
	race := racers(ops)
	if many {
		if a := fallback.Refute(ctx, race, ops, lim, max(easySteps, 4*ops.Len())); a.Verdict == jepsen.Invalid {
			return a
		}
	}
	return race.Decide(ctx, ops, lim)
}
