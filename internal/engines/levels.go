package engines

import (
	"slices"

	"clew/models"
)

// # Levels
//
// Decides: a completion by which operations are not linearizable, because of what their
// answers say of sums (models.Levels).
//
// Precondition: the model has levels. Complexity: n log n, and linear in what the operations add
// and show, times the number of open operations.
//
// Take a linearization of the operations up to some completion, and an answer there that
// was invoked at i and returned at r. Every operation that returned before i has happened
// when the answer is given, and none that was invoked after r has. So a level is at most its
// start, and all that was added by operations invoked before r, and all that was taken by
// operations that returned before i. It is at least the same with added and taken
// exchanged. The operation that answers has happened itself. A crashed operation never
// returns, so it only widens the bounds.
//
// If levels are never negative, no more may have been taken by completed operations, at any
// time, than was there and has been added by all that were invoked.

// level holds the sums of what operations added and took.
type level struct {
	start                 int64
	invokedAdd, doneAdd   int64 // by those that were invoked, and by those that have returned
	invokedTake, doneTake int64 // at most 0
}

// shown is a bound that an open operation will show, and the sums when it was invoked.
type shown struct {
	row               int32
	bound             models.Bound
	doneAdd, doneTake int64
}

// levelsOf is one run.
type levelsOf struct {
	ops    *models.Operations
	model  *models.Levels
	levels map[int64]*level
	moves  []models.Move
	bounds []models.Bound
	open   []shown
}

// refutedByLevels returns the first completion that the levels rule out, or models.Open.
func refutedByLevels(ops *models.Operations) (fail int32) {
	model := ops.Model.Traits().Levels
	if model == nil {
		return models.Open
	}
	x := &levelsOf{ops: ops, model: model, levels: map[int64]*level{}}
	var returning []int32 // rows by return
	for row, res := range ops.Res {
		if res != models.Open {
			returning = append(returning, int32(row))
		}
	}
	slices.SortFunc(returning, func(a, b int32) int { return int(ops.Res[a] - ops.Res[b]) })
	next := 0 // the next row to be invoked
	for _, row := range returning {
		for ; next < ops.Len() && ops.Inv[next] <= ops.Res[row]; next++ {
			x.invoke(int32(next))
		}
		if !x.complete(row) {
			return ops.Res[row]
		}
	}
	return models.Open
}

func (x *levelsOf) level(number int64) *level {
	l := x.levels[number]
	if l == nil {
		l = &level{start: x.model.Start(number)}
		x.levels[number] = l
	}
	return l
}

// invoke notes that a row begins.
func (x *levelsOf) invoke(row int32) {
	op := x.ops.Op(row)
	if x.ops.Res[row] != models.Open {
		x.bounds = x.model.Shows(x.bounds[:0], op)
		for _, b := range x.bounds {
			l := x.level(b.Level)
			x.open = append(x.open, shown{row, b, l.doneAdd, l.doneTake})
		}
	}
	x.moves = x.model.Moves(x.moves[:0], op)
	for _, m := range x.moves {
		l := x.level(m.Level)
		l.invokedAdd += max(0, m.Most)
		l.invokedTake += min(0, m.Least)
	}
}

// complete notes that a row returns, and says whether its answer is possible.
func (x *levelsOf) complete(row int32) bool {
	x.moves = x.model.Moves(x.moves[:0], x.ops.Op(row))
	possible := true
	x.open = slices.DeleteFunc(x.open, func(s shown) bool {
		if s.row != row {
			return false
		}
		l := x.level(s.bound.Level)
		for _, m := range x.moves {
			if m.Level == s.bound.Level {
				s.doneAdd += max(0, m.Least)
				s.doneTake += min(0, m.Most)
			}
		}
		most := l.start + l.invokedAdd + s.doneTake
		least := l.start + l.invokedTake + s.doneAdd
		possible = possible && s.bound.Least <= most && s.bound.Most >= least && (s.bound.Most >= 0 || !x.model.NotNegative)
		return true
	})
	for _, m := range x.moves {
		l := x.level(m.Level)
		l.doneAdd += max(0, m.Least)
		l.doneTake += min(0, m.Most)
		if x.model.NotNegative && m.Most < 0 && l.start+l.invokedAdd+l.doneTake < 0 {
			possible = false
		}
	}
	return possible
}
