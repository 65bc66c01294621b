// Package auto picks the engine of the general search. It takes the one of the
// algorithm that was asked for or, if none was, those that suit how hard the
// history is.
package auto

import (
	"context"
	"math"
	"slices"

	"clew/fallback"
	"clew/fallback/internal/languages"
	"clew/fallback/internal/lockstep"
	"clew/fallback/internal/matching"
	"clew/fallback/internal/staged"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// easyFirst is the general search if no engine was asked for. No engine is strong
// everywhere, so those that suit the history take turns. The first one works
// alone as long as the history is easy. The same history gets the same evidence,
// unless it is so hard that the engines run side by side in the end.
type easyFirst struct{}

// The first turn is enough for an easy history: with 40 busy clients Window does
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

// fewCrashed is the number of crashed operations that every engine can cope with.
const fewCrashed = 10

// crashed returns how many operations have crashed.
func crashed(ops *models.Operations) int {
	n := 0
	for _, res := range ops.Res {
		if res == models.Open {
			n++
		}
	}
	return n
}

// A search over configurations copes with fewOpen operations open at once, and with
// someOpen if there are only fewValues. With more than manyValues, few of which
// repeat, it meets as many states, and it is quicker to go by which read saw which
// write. Up to shortRows that does not matter, and Window shows more of a failure.
const (
	fewOpen    = 12
	someOpen   = 20
	fewValues  = 8
	manyValues = 50
	shortRows  = 5000
)

// busy says whether a register's operations are too much for a search over
// configurations.
func busy(ops *models.Operations) bool {
	open := mostOpen(ops)
	return open > someOpen || open > fewOpen && moreValues(ops, fewValues) || ops.Len() > shortRows && moreValues(ops, manyValues)
}

// moreValues says whether there are more than n values in a register's operations.
func moreValues(ops *models.Operations, n int) bool {
	seen := make([]int32, 0, n+1)
	for i, a := range ops.A {
		for _, value := range [...]int32{a, ops.B[i]} {
			if slices.Contains(seen, value) {
				continue
			}
			if seen = append(seen, value); len(seen) > n {
				return true
			}
		}
	}
	return false
}

// mostOpen returns how many operations are open at once at most, without those
// that crashed.
func mostOpen(ops *models.Operations) int {
	change := make([]int8, ops.Events)
	for i, res := range ops.Res {
		if res != models.Open {
			change[ops.Inv[i]]++
			change[res]--
		}
	}
	open, most := 0, 0
	for _, c := range change {
		open += int(c)
		most = max(most, open)
	}
	return most
}

// Name implements Engine.
func (easyFirst) Name() string { return "auto" }

// suited returns the engines that take turns on a history. An engine gets a line
// here, with the histories that it suits, in the order of their turns. The fewer
// engines suit a history, the sooner it is decided. work_test.go says how many are
// too many.
func suited(ops *models.Operations) []fallback.Engine {
	register := ops.Model.Traits().IsRegister
	stack := languages.Engine{}.Suits(ops.Model)
	queue := lockstep.Engine{}.Suits(ops.Model)
	crashed := crashed(ops)
	looser := looser(ops.Model)
	many, busy := crashed > fewCrashed, register && busy(ops)
	var suited []fallback.Engine
	for _, e := range []struct {
		engine fallback.Engine
		suits  bool
	}{
		{staged.Engine{}, register && many},
		{matching.Engine{}, !many && busy},
		{languages.Engine{}, stack},
		{lockstep.Engine{}, queue},
		{fallback.Window{}, true},
		{loosener{}, looser != nil},
		{matching.Engine{}, register && (many || !busy)},
		{fallback.Frontier{}, !stack && !queue}, // their own engines decide whatever Frontier decides, and more
		{staged.Engine{}, register && 0 < crashed && !many},
		{refuter{}, many && !register && !queue},
		// Its sets of states cope well with crashed dequeues.
		{fallback.Porcupine{}, ops.Len() <= porcupineRows && !register && !queue},
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

// before finds what comes before a failure.
var before = fallback.Relay{Engines: []fallback.Engine{fallback.Window{}, fallback.Frontier{}}, First: turnWork, Turn: turnWork, Apart: math.MaxInt64}

// looser returns a model in which more is linearizable, or nil.
func looser(m models.Model) models.Model {
	if relaxed := m.Traits().Relaxed; relaxed != nil {
		return relaxed()
	}
	return nil
}

// loosener looks for a refutation under a looser model, and gives up if it finds none.
type loosener struct{}

// Name implements Engine.
func (loosener) Name() string { return "loosener" }

// Decide implements Engine.
func (loosener) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	return orGiveUp(fallback.RefuteUnder(ctx, looser(ops.Model), before, ops, lim))
}

// refuter looks for a refutation, and gives up if it finds none.
type refuter struct{}

// Name implements Engine.
func (refuter) Name() string { return "refuter" }

// refuterSteps is how many steps a refutation takes at most.
const refuterSteps = 100_000

// Decide implements Engine.
func (refuter) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	return orGiveUp(fallback.Refute(ctx, before, ops, lim, max(refuterSteps, 4*ops.Len())))
}

// orGiveUp returns an answer if it is a verdict, and gives up otherwise.
func orGiveUp(a fallback.Answer) fallback.Answer {
	if a.Verdict == jepsen.Unknown {
		a = fallback.Answer{Cause: fallback.GaveUp, Work: a.Work}
	}
	return a
}
