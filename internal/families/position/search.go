package position

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"clew/models"
)

// run is gaps between which no update is told, and where a replay stood before them.
type run struct {
	from, end int // gaps
	block     int
	state     models.State // nil if it was too large to keep
	order     int
	latest    int32
	due       int
	open      []models.Row
	retried   bool
}

// Bounds of a search: told operations that it looks ahead, updates that it tries for a gap, and the steps for each
// operation, and besides, of all searches.
const (
	maxAhead          = 48
	maxChoices        = 96
	maxGaps           = 16  // of a search
	maxBack           = 16  // runs that again goes back
	farAhead          = 256 // positions after the last gap at which it matters whether a place is shown
	stepsPerOperation = 4
	freeSteps         = 5_000_000
)

// beginRun begins a run of gaps, and searches if it is not clear what fills some of them. It returns false if that is
// not found.
func (x *replay) beginRun() bool {
	if x.last.end > 0 {
		if x.before = append(x.before, x.last); len(x.before) > maxBack {
			x.before = slices.Delete(x.before, 0, 1)
		}
	}
	x.last = run{from: x.g, end: x.g + 1, block: x.k, order: len(x.order), latest: x.latest, due: x.due, open: slices.Clone(x.open)}
	k, clear := x.k, x.gaps[x.g].by >= 0
	for g := x.g + 1; g < len(x.gaps); g++ {
		for k < len(x.blocks) && x.blocks[k].at < x.gaps[g].at && x.blocks[k].update < 0 {
			k++
		}
		if k < len(x.blocks) && x.blocks[k].at < x.gaps[g].at {
			break
		}
		x.last.end, clear = g+1, clear && x.gaps[g].by >= 0
	}
	if x.copied < stepsPerOperation*x.in.Len()+freeSteps {
		x.last.state = x.now()
		x.copied += len(x.last.state)
	}
	return clear || x.search(x.k)
}

// now returns the state.
func (x *replay) now() models.State {
	if x.run != nil {
		return x.run.State()
	}
	return x.state
}

// again goes back to the last run of gaps and searches, with more to look ahead, or to one before that. It returns false
// if that was done already, or finds nothing.
func (x *replay) again() bool {
	failed, end := x.k, x.last.end
	for end > x.last.from+1 && x.gaps[end-1].at > x.blocks[failed].at {
		end--
	}
	for x.last.end > 0 && x.last.state != nil && end-x.last.from <= maxGaps {
		l := &x.last
		for g := l.from; g < end; g++ {
			if by := x.gaps[g].by; by >= 0 && x.fill[by].at == none {
				x.fill[by].used, x.gaps[g].by = false, -1
			}
		}
		if !l.retried {
			l.retried, l.end = true, end
			x.cut(l.order)
			x.beside.marks = x.beside.marks[:0]
			x.latest, x.due, x.open = l.latest, l.due, append(x.open[:0], l.open...)
			x.g, x.k = l.from, l.block
			x.begin(l.state)
			if x.search(failed) {
				x.k-- // the loop goes on with the run's first block
				return true
			}
		}
		if len(x.before) == 0 {
			return false
		}
		x.last, x.before = x.before[len(x.before)-1], x.before[:len(x.before)-1]
	}
	return false
}

// look is a search for what fills a run of gaps.
type look struct {
	*replay
	choice []int32 // the updates to try, one of each meaning
	next   []models.State
	until  int // the block up to which everything must happen
}

// search fills the gaps of the run, and of later ones up to a block, so that what is told up to there can happen, and
// some more.
func (x *replay) search(block int) bool {
	if x.last.state == nil || without[byRuns] {
		return false
	}
	for x.last.end < len(x.gaps) && x.gaps[x.last.end].at <= x.blocks[block].at {
		x.last.end++
	}
	l := &look{replay: x, until: block}
	l.choose()
	return l.from(x.last.from, x.last.block, x.last.state, maxAhead)
}

// choose finds the updates to try: the latest of each meaning that were invoked in time.
func (l *look) choose() {
	met := map[models.Op]bool{}
	at := l.gaps[l.last.end-1].at
	end := sort.Search(len(l.fill), func(i int) bool { return l.lo[l.fill[i].row] >= at })
	for k := end - 1; k >= 0 && len(l.choice) < maxChoices && k > end-maxChoices*maxChoices; k-- {
		if f := &l.fill[k]; !f.used && f.at == none && !met[l.in.Op(f.row)] {
			met[l.in.Op(f.row)] = true
			l.choice = append(l.choice, int32(k))
		}
	}
}

// from goes on from a gap and a block in a state.
func (l *look) from(g, k int, s models.State, ahead int) bool {
	for g == len(l.gaps) || l.gaps[g].at > l.blocks[k].at {
		var ok bool
		if s, ok = l.take(l.blocks[k], s, &ahead); !ok {
			return false
		}
		if k++; k == len(l.blocks) || g >= l.last.end && k > l.until && ahead <= 0 {
			return true
		}
	}
	if g >= l.last.end {
		return true // what fills it may be wrong, or is searched later
	}
	if l.work++; l.work > stepsPerOperation*l.in.Len()+freeSteps {
		return false
	}
	if by := l.gaps[g].by; by >= 0 {
		next, ok := l.one(s, l.fill[by].row, l.gaps[g].at)
		return ok && l.from(g+1, k, next, ahead)
	}
	for _, f := range l.unseenFirst(l.gaps[g].at) {
		next, ok := l.one(s, l.fill[f].row, l.gaps[g].at)
		if !ok {
			continue
		}
		l.fill[f].used, l.gaps[g].by = true, f
		if l.from(g+1, k, next, ahead) {
			return true
		}
		l.fill[f].used, l.gaps[g].by = false, -1
	}
	return false
}

// unseenFirst returns the updates to try for a position, those first that leave what is not shown for the longest.
func (l *look) unseenFirst(at int64) []int32 {
	type scored struct {
		fill int32
		seen int64
	}
	var list []scored
	for _, f := range l.choice {
		if l.fill[f].used {
			if f = l.twin(f, at); f < 0 {
				continue
			}
		}
		if l.lo[l.fill[f].row] < at {
			list = append(list, scored{f, l.seenNext(l.fill[f].row, at)})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.seen, a.seen) })
	fills := make([]int32, len(list))
	for i, x := range list {
		fills[i] = x.fill
	}
	return fills
}

// seenNext returns the first position from one on at which an operation shows what an update leaves.
func (l *look) seenNext(row models.Row, at int64) int64 {
	next := int64(math.MaxInt64)
	if l.p.Makes == nil {
		return next
	}
	for _, c := range l.p.Makes(nil, l.in.Op(row)) {
		list := l.shownAt[c.Place]
		if k, _ := slices.BinarySearch(list, at); k < len(list) {
			next = min(next, list[k])
		}
	}
	return next
}

// twin returns an unused update of the same meaning that was invoked in time, or -1.
func (l *look) twin(f int32, at int64) int32 {
	op := l.in.Op(l.fill[f].row)
	for k := f - 1; k >= 0 && k > f-maxChoices*maxChoices; k-- {
		if x := &l.fill[k]; !x.used && x.at == none && l.in.Op(x.row) == op && l.lo[x.row] < at {
			return k
		}
	}
	return -1
}

// take returns the state after the operations of a position, or false if they cannot happen.
func (l *look) take(b block, s models.State, ahead *int) (models.State, bool) {
	ok, update := b.update < 0, b.update
	for _, row := range l.rows[b.from:b.to] {
		if ok || row != b.update && (!l.unsure(b) || l.moves[row] != models.MayMove) {
			continue
		}
		if next, can := l.one(s, row, b.at); can {
			s, ok, update = next, true, row
		}
	}
	if !ok {
		return nil, false
	}
	for _, row := range l.rows[b.from:b.to] {
		if row == update {
			continue
		}
		*ahead--
		if s, ok = l.one(s, row, b.at); !ok {
			return nil, false
		}
	}
	*ahead--
	return s, true
}

// one returns the state at a position to which an operation leads, or false if there is none.
func (l *look) one(s models.State, row models.Row, at int64) (models.State, bool) {
	l.work++
	l.next = l.model.Step(l.next[:0], s, l.in.Op(row))
	for _, next := range l.next {
		if p, known := l.p.At(next); !known || p == at {
			return next, true
		}
	}
	return nil, false
}
