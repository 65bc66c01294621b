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
// Precondition: the model has levels. Complexity: linear in what the operations add and show, times the
// number of open operations, and times scanned.
//
// Take a linearization of the operations up to some completion, and an answer there that
// was invoked at i and returned at r. Every operation that returned before i has happened
// when the answer is given, and none that was invoked after r has. So a level is at most its
// start, and all that was added by operations invoked before r, and all that was taken by
// operations that returned before i. It is at least the same with added and taken
// exchanged. The operation that answers has happened itself. A crashed operation never
// returns, so it only widens the bounds.
//
// If all operations move a level by multiples of some amount, it stays a multiple of that amount
// away from its start.
//
// If levels are never negative, no more may have been taken by completed operations, at any
// time, than was there and has been added by all that were invoked.
//
// An earlier answer bounds a level better than its start does. Let it have returned before i.
// What can have been added since is what had not returned when it was invoked. What has been
// taken since is at least what was invoked after it had returned, and returned before i. If
// a queue was empty, each of its values was in it no more often than the queue had elements:
// not at all. Only the last few such answers are looked at, and only some operations since.

// level holds the sums of what operations added and took.
type level struct {
	number                int64
	start                 int64
	invokedAdd, doneAdd   int64   // by those that were invoked, and by those that have returned
	invokedTake, doneTake int64   // at most 0
	mostAdd, leastTake    int64   // the most that those that have returned added, and took
	unit                  int64   // all that were invoked move it by multiples of this; 0 if none does
	done                  []moved // by return, the last ones
	anchors               []anchor
}

// moved is what an operation that has returned did to a level, and when.
type moved struct {
	row         models.Row
	inv, res    int32
	least, most int64
}

// anchor is an answer that bounds a level.
type anchor struct {
	row   models.Row
	bound models.Bound
}

// remembered is how many answers are remembered for a level, and maxAnchors how many are compared with another one, the
// last ones that had returned before that one began. scanned is about how many operations are looked at in all, to find
// out what has been done since; from minScan to maxScan for each answer.
const (
	remembered = 32
	maxAnchors = 4
	scanned    = 20_000_000
	minScan    = 16
	maxScan    = 256
)

// shown is a bound that an open operation will show, and the sums when it was invoked.
type shown struct {
	row               int32
	level             *level
	bound             models.Bound
	doneAdd, doneTake int64
}

// levelsOf is one run.
type levelsOf struct {
	ops     *models.Operations
	model   *models.Levels
	levels  map[int64]*level
	recent  [64]*level // some of them, by the end of their numbers: most are needed several times within a short time
	moves   []models.Move
	bounds  []models.Bound
	open    []shown
	answers []shown // of the row that completes
	scan    int     // how many operations are looked at for an anchor
}

// refutedByLevels returns the first completion that the levels rule out, or models.Open.
func refutedByLevels(ops *models.Operations) (fail int32) {
	model := ops.Model.Traits().Levels
	if model == nil {
		return models.Open
	}
	x := &levelsOf{ops: ops, model: model, levels: map[int64]*level{}, scan: min(max(minScan, scanned/(2*maxAnchors*(ops.Len()+1))), maxScan)}
	rowOf := make([]int32, ops.Events) // 1 more than the row that returns
	for row, res := range ops.Res {
		if res != models.Open {
			rowOf[res] = int32(row) + 1
		}
	}
	next := 0 // the next row to be invoked
	for event, row := range rowOf {
		if row == 0 {
			continue
		}
		for ; next < ops.Len() && ops.Inv[next] <= int32(event); next++ {
			x.invoke(int32(next))
		}
		if !x.complete(row - 1) {
			return int32(event)
		}
	}
	return models.Open
}

func (x *levelsOf) level(number int64) *level {
	at := &x.recent[uint64(number)%uint64(len(x.recent))]
	if l := *at; l != nil && l.number == number {
		return l
	}
	l := x.levels[number]
	if l == nil {
		l = &level{number: number, start: x.model.Start(number)}
		x.levels[number] = l
	}
	*at = l
	return l
}

// invoke notes that a row begins.
func (x *levelsOf) invoke(row int32) {
	op := x.ops.Op(row)
	if x.ops.Res[row] != models.Open {
		x.bounds = x.model.Shows(x.bounds[:0], op)
		for _, b := range x.bounds {
			l := x.level(b.Level)
			x.open = append(x.open, shown{row, l, b, l.doneAdd, l.doneTake})
		}
	}
	x.moves = x.model.Moves(x.moves[:0], op)
	for _, m := range x.moves {
		l := x.level(m.Level)
		l.invokedAdd += max(0, m.Most)
		l.invokedTake += min(0, m.Least)
		if l.unit = commonDivisor(l.unit, m.Most); m.Least != m.Most {
			l.unit = 1
		}
	}
}

// complete notes that a row returns, and says whether its answer is possible.
func (x *levelsOf) complete(row int32) bool {
	x.moves = x.model.Moves(x.moves[:0], x.ops.Op(row))
	possible := true
	x.answers = x.answers[:0]
	x.open = slices.DeleteFunc(x.open, func(s shown) bool {
		if s.row != row {
			return false
		}
		l := s.level
		for _, m := range x.moves {
			if m.Level == s.bound.Level {
				s.doneAdd += max(0, m.Least)
				s.doneTake += min(0, m.Most)
			}
		}
		most := l.start + l.invokedAdd + s.doneTake
		least := l.start + l.invokedTake + s.doneAdd
		possible = possible && s.bound.Least <= most && s.bound.Most >= least && (s.bound.Most >= 0 || !x.model.NotNegative) &&
			(l.unit == 0 || s.bound.Least != s.bound.Most || (s.bound.Least-l.start)%l.unit == 0) && x.follows(row, s.bound, l)
		x.answers = append(x.answers, s)
		return true
	})
	for _, m := range x.moves {
		l := x.level(m.Level)
		l.doneAdd += max(0, m.Least)
		l.doneTake += min(0, m.Most)
		if x.model.NotNegative && m.Most < 0 && (l.start+l.invokedAdd+l.doneTake < 0 || !x.follows(row, models.Bound{Level: m.Level, Least: 0, Most: models.Unbounded}, l)) {
			possible = false
		}
	}
	for _, m := range x.moves {
		l := x.level(m.Level)
		l.mostAdd += max(0, m.Most)
		l.leastTake += min(0, m.Least)
		if len(l.done) == 2*maxScan { // more than maxScan are not looked at
			l.done = slices.Delete(l.done, 0, maxScan-1)
		}
		l.done = append(l.done, moved{row, x.ops.Inv[row], x.ops.Res[row], m.Least, m.Most})
	}
	for _, s := range x.answers {
		l := s.level
		if len(l.anchors) == remembered {
			l.anchors = slices.Delete(l.anchors, 0, remembered/2)
		}
		l.anchors = append(l.anchors, anchor{row, s.bound})
	}
	return possible
}

func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// follows says whether an answer of a row that returns, about a level, may follow earlier ones.
func (x *levelsOf) follows(row models.Row, b models.Bound, l *level) bool {
	if x.model.Whole != 0 && x.model.Whole != b.Level && !x.followsAll(row, b, l, x.level(x.model.Whole).anchors, false) {
		return false
	}
	return x.followsAll(row, b, l, l.anchors, true)
}

// followsAll says whether an answer of a row that returns may follow the last of some earlier ones. below says that
// these also bound its level from below.
func (x *levelsOf) followsAll(row models.Row, b models.Bound, l *level, anchors []anchor, below bool) bool {
	n := 0
	for _, a := range slices.Backward(anchors) {
		if !below {
			a.bound.Least = -models.Unbounded
		}
		if x.ops.Res[a.row] >= x.ops.Inv[row] || a.bound.Most == models.Unbounded && b.Most == models.Unbounded {
			continue
		}
		if n++; n > maxAnchors {
			break
		}
		if !x.mayFollow(row, b, l, a) {
			return false
		}
	}
	return true
}

// mayFollow says whether an answer of a row that returns may follow an earlier one. It says so, too, if too many operations
// have returned since.
func (x *levelsOf) mayFollow(row models.Row, b models.Bound, l *level, a anchor) bool {
	begun, ended, inv := x.ops.Inv[a.row], x.ops.Res[a.row], x.ops.Inv[row]
	mayAdd, mayTake := l.invokedAdd-l.mostAdd, l.invokedTake-l.leastTake
	var mustAdd, mustTake int64
	for _, m := range x.moves {
		if m.Level == b.Level {
			mustAdd += max(0, m.Least)
			mustTake += min(0, m.Most)
		}
	}
	for n := range len(l.done) {
		d := &l.done[len(l.done)-1-n]
		if d.res < begun {
			break
		}
		if n == x.scan {
			return true
		}
		if d.row == a.row {
			continue // its answer says what was there after it
		}
		mayAdd += max(0, d.most)
		mayTake += min(0, d.least)
		if d.inv > ended && d.res < inv {
			mustAdd += max(0, d.least)
			mustTake += min(0, d.most)
		}
	}
	return a.bound.Most+mayAdd+mustTake >= b.Least && a.bound.Least+mayTake+mustAdd <= b.Most
}
