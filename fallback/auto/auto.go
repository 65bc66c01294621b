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

// easyFirst is the general search if no engine was asked for. As long as the
// history is easy it is Window alone, so that the same history always gets the
// same evidence. After that, Window and Frontier race, with Porcupine if few
// operations have crashed and the memory that it needs is small. No engine is
// strong everywhere. If many operations of a register have crashed,
// staged.Engine goes first, and then joins the race; if many operations of
// another model have crashed, Refute goes before the race.
type easyFirst struct{}

// easySteps is how many steps an easy history takes at most, which is some tens
// of milliseconds. A long history may take easyPerOperation steps per
// operation; with ten busy processes it takes 4 to 5. easyNodes is the same for
// staged.Engine, in nodes: a second or two.
const (
	easySteps        = 100_000
	easyPerOperation = 20
	easyNodes        = 2_000_000
)

// porcupineRows is the number of operations up to which Porcupine's memory,
// which grows with the square of that number, does not matter.
const porcupineRows = 2000

// fewCrashed is the number of crashed operations that every engine can cope
// with.
const fewCrashed = 10

// manyCrashed says whether more operations than that have crashed.
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
