// Package auto picks the engine of the general search: by the algorithm that was
// asked for or, if none was, by how hard the history is.
package auto

import (
	"context"
	"math"

	"clew/fallback"
	"clew/fallback/staged"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// easyFirst is the general search if no engine was asked for. No engine is strong
// everywhere, so those that suit the history take turns: the first one is alone
// as long as the history is easy. The same history gets the same evidence, unless
// it is so hard that the engines run side by side in the end.
type easyFirst struct{}

// The first turn is what an easy history takes: with 40 busy clients Window does
// 500 units of work per operation. Later turns are about a millisecond. An engine
// that has done hardWork has worked for some tenths of a second.
const (
	easyWork         = 100_000
	easyPerOperation = 1000
	turnWork         = 100_000
	hardWork         = 20_000_000
)

// porcupineRows is the number of operations up to which Porcupine's memory,
// which grows with the square of that number, does not matter.
const porcupineRows = 2000

// fewCrashed is the number of crashed operations that every engine can cope
// with.
const fewCrashed = 10

// crashed is how many operations have crashed.
func crashed(ops *models.Operations) int {
	n := 0
	for _, res := range ops.Res {
		if res == models.Open {
			n++
		}
	}
	return n
}

// Name implements Engine.
func (easyFirst) Name() string { return "auto" }

// suited are the engines that take turns on a history. An engine gets a line here,
// with the histories that it suits, in the order of their turns. The fewer suit a
// history, the sooner it is decided: work_test.go says how many are too many.
func suited(ops *models.Operations) []fallback.Engine {
	_, register := ops.Model.(models.SingleValue)
	crashed := crashed(ops)
	many := crashed > fewCrashed
	var suited []fallback.Engine
	for _, e := range []struct {
		engine fallback.Engine
		suits  bool
	}{
		{staged.Engine{}, register && many},
		{fallback.Window{}, true},
		{fallback.Frontier{}, true},
		{staged.Engine{}, register && 0 < crashed && !many},
		{refuter{}, many && !register},
		// Its sets of states cope well with crashed dequeues.
		{fallback.Porcupine{}, ops.Len() <= porcupineRows && !(many && register)},
	} {
		if e.suits {
			suited = append(suited, e.engine)
		}
	}
	return suited
}

// Decide implements Engine.
func (easyFirst) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	return fallback.Relay{
		Engines: suited(ops), First: easyWork + easyPerOperation*int64(ops.Len()), Turn: turnWork, Apart: hardWork,
	}.Decide(ctx, ops, lim)
}

// refuter looks for a refutation, and gives up if there is none.
type refuter struct{}

// Name implements Engine.
func (refuter) Name() string { return "refuter" }

// refuterSteps is how many steps a refutation takes at most.
const refuterSteps = 100_000

// Decide implements Engine.
func (refuter) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	before := fallback.Relay{Engines: []fallback.Engine{fallback.Window{}, fallback.Frontier{}}, First: turnWork, Turn: turnWork, Apart: math.MaxInt64}
	a := fallback.Refute(ctx, before, ops, lim, max(refuterSteps, 4*ops.Len()))
	if a.Verdict == jepsen.Unknown {
		a = fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return a
}
