package engines

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// easyFirst is the general search if no engine was asked for. No engine is strong
// everywhere, so those that suit the history take turns. The first one works
// alone as long as the history is easy. The same history gets the same evidence,
// unless it is so hard that the engines run side by side in the end.
type easyFirst struct{ noLevels bool }

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
	open := MostOpen(ops)
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

// MostOpen returns how many operations are open at once at most, without those
// that crashed.
func MostOpen(ops *models.Operations) int {
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

// history is what the table looks at.
type history struct {
	rows, crashed          int
	register, stack, queue bool
	many                   bool // operations have crashed
	busy                   bool // it is a register that is too much for a search over configurations
	leveled                bool // the model says what its answers show of sums
	hindsight              bool // there is a model that uses what is shown later
	looser                 bool // the model has projections
	placed                 bool // a state has values at places, and most of them do not matter
}

func look(ops *models.Operations) *history {
	h := &history{rows: ops.Len(), register: isRegister(ops.Model), stack: isStack(ops.Model), queue: isQueue(ops.Model), looser: ops.Model.Traits().Projections != nil,
		placed: ops.Model.Traits().Liveness != nil, leveled: ops.Model.Traits().Levels != nil, hindsight: ops.Model.Traits().Hindsight != nil}
	for _, res := range ops.Res {
		if res == models.Open {
			h.crashed++
		}
	}
	h.many = h.crashed > fewCrashed
	h.busy = h.register && busy(ops)
	return h
}

// suited returns the engines that take turns on a history, in the order of their turns.
func suited(ops *models.Operations) []fallback.Engine {
	h := look(ops)
	entries := slices.DeleteFunc(slices.Clone(table), func(e Entry) bool { return e.turn(h) == 0 })
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.turn(h) - b.turn(h) })
	var suited []fallback.Engine
	for _, e := range entries {
		if e.among != nil {
			suited = append(suited, e.among)
		} else {
			suited = append(suited, e.New(0))
		}
	}
	return suited
}

// Name implements fallback.Engine.
func (easyFirst) Name() string { return auto }

// Decide implements fallback.Engine.
func (e easyFirst) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	if e.noLevels || ops.Model.Traits().Levels == nil {
		return e.search(ctx, ops, lim, nil)
	}
	b, fail := fallback.NewBudget(ctx, lim), models.Open
	a := b.Part(lim, func(lim fallback.Limits) fallback.Answer {
		return e.search(ctx, ops, lim, func() bool { // levels are worth their time unless that was enough
			fail = refutedByLevels(ops)
			return fail != models.Open
		})
	})
	if fail == models.Open {
		return a
	}
	a = b.Part(lim, func(lim fallback.Limits) fallback.Answer {
		return upTo(ops, fail, func(prefix *models.Operations) fallback.Answer { return e.search(ctx, prefix, lim, nil) })
	})
	a.Work = b.Done()
	if a.Verdict == jepsen.Unknown && (a.FailsBy == 0 || fail < a.FailsBy) {
		a.FailsBy, a.FailsAs = fail, "since no order of the operations that had begun by then leads to its answer"
	}
	return a
}

func (easyFirst) search(ctx context.Context, ops *models.Operations, lim fallback.Limits, endIf func() bool) fallback.Answer {
	return Turns{
		Engines: suited(ops), First: easyWork + easyPerOperation*int64(ops.Len()), Turn: turnWork, Apart: hardWork, EndIf: endIf,
	}.Decide(ctx, ops, lim)
}
