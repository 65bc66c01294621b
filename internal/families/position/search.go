package position

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strconv"

	"clew/models"
)

// widths are the searches of a run, one after another. Most gaps are filled by what always leaves the same, or by what takes a
// value away. So others are tried for a few gaps only at first (limited discrepancy search, Harvey and Ginsberg 1995).
var widths = [...]struct{ width, doubts, steps int }{{1, 0, 100_000}, {1, 1, 100_000}, {4, 1, 200_000}, {4, 2, 500_000}, {16, maxGaps, 1_000_000}}

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
	doubtful          = 16  // times as many updates are tried for a gap if it is not certain what they leave
	maxGaps           = 16  // of a search
	maxBack           = 16  // runs that again goes back
	farAhead          = 256 // positions after the last gap at which it matters whether a place is shown
	stepsPerOperation = 16
	freeSteps         = 200_000
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
			if by := x.gaps[g].by; by >= 0 && x.fill[by].at == none && !x.gaps[g].named {
				x.empty(g)
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
	next     []models.State
	places   []int32
	wanted   []choice // what leaves what is shown
	conflict conflict // why the last step could not be taken
	until    int      // the block up to which everything must happen
	width    int      // how many updates of a footprint to try for a gap
	// doubts is for how many gaps more one may try what is not sure to do what it says.
	doubts int
	limit  int // of work
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
	l.findFootprints()
	l.want()
	for _, w := range widths {
		l.width, l.doubts = w.width, w.doubts
		l.limit = min(x.work+w.steps, stepsPerOperation*x.in.Len()+freeSteps)
		if l.from(x.last.from, x.last.block, x.last.state, maxAhead) {
			return true
		}
	}
	return false
}

// want finds updates that leave what operations show up to the block.
func (l *look) want() {
	met := map[models.Cell]bool{}
	for _, b := range l.blocks[l.last.block : l.until+1] {
		for _, row := range l.rows[b.from:b.to] {
			if l.p.Sees == nil {
				return
			}
			for _, c := range l.seen(row) {
				list := l.byCell[c]
				if list == nil || met[c] {
					continue
				}
				met[c] = true
				for k := len(list.fill) - 1; k >= max(0, len(list.fill)-maxTried); k-- {
					if f := &l.fill[list.fill[k]]; !f.used && f.at == none {
						l.wanted = append(l.wanted, choice{fill: list.fill[k], seen: math.MaxInt64})
						break
					}
				}
			}
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
	at := l.gaps[g].at
	if l.work++; l.work > l.limit {
		l.conflict = conflict{all: true}
		return false
	}
	if by := l.gaps[g].by; by >= 0 {
		next, ok := l.one(s, l.fill[by].row, at)
		if !ok {
			l.fails(l.fill[by].row, at)
			return false
		}
		return l.from(g+1, k, next, ahead)
	}
	var all conflict
	for _, c := range l.unseenFirst(at) {
		f := c.fill
		next, ok := l.one(s, l.fill[f].row, at)
		if !ok {
			continue
		}
		later := l.fillsGap[f]
		if later >= 0 {
			l.empty(int(later))
		}
		l.put(g, f)
		l.doubts -= c.doubt
		if l.from(g+1, k, next, ahead) {
			return true
		}
		l.doubts += c.doubt
		l.empty(g)
		if later >= 0 {
			l.put(int(later), f)
		}
		if l.work > l.limit || !l.matters(at) {
			return false
		}
		all.add(l.conflict)
	}
	if len(all.shown) == 0 {
		all.all = true
	}
	l.conflict = all
	return false
}

// put lets an update fill a gap.
func (x *replay) put(g int, f int32) {
	x.gaps[g].by, x.fill[f].used, x.fillsGap[f] = f, true, int32(g)
}

// empty undoes that.
func (x *replay) empty(g int) {
	f := x.gaps[g].by
	if x.gaps[g].by, x.fill[f].used = -1, false; x.fillsGap != nil {
		x.fillsGap[f] = -1
	}
}

// conflict is the places on which it depends that something could not happen, or all.
type conflict struct {
	all   bool
	shown []shown
}

// shown is a place and the position at which something depends on it.
type shown struct {
	place int32
	at    int64
}

func (c *conflict) add(other conflict) {
	if c.all = c.all || other.all || len(c.shown) > maxTried; c.all {
		return
	}
	for _, o := range other.shown {
		if !slices.Contains(c.shown, o) {
			c.shown = append(c.shown, o)
		}
	}
}

// fails notes that an operation cannot happen at a position.
func (l *look) fails(row models.Row, at int64) {
	l.conflict = conflict{all: l.p.Depends == nil}
	if l.conflict.all {
		return
	}
	l.places = l.p.Depends(l.places[:0], l.in.Op(row))
	for _, p := range l.places {
		l.conflict.shown = append(l.conflict.shown, shown{p, at})
	}
}

// matters says whether what happened at a position can be a cause of the conflict: no operation shows one of the places
// in between.
func (l *look) matters(at int64) bool {
	return l.conflict.all || slices.ContainsFunc(l.conflict.shown, func(c shown) bool {
		list := l.shownAt[c.place]
		k, _ := slices.BinarySearch(list, at)
		return (k == len(list) || list[k] >= c.at) && !l.alone(c.place, at)
	})
}

// choice is an update to try for a gap.
type choice struct {
	fill  int32
	seen  int64 // the next position at which an operation shows its places
	doubt int
}

// unseenFirst returns the updates to try for a position, those first that leave what is not shown for the longest.
func (l *look) unseenFirst(at int64) (list []choice) {
	place, known := l.left[at]
	for _, c := range l.wanted {
		if f := l.fill[c.fill]; !f.used && l.lo[f.row] < at {
			list = append(list, c)
		}
	}
	for i := range l.footprints {
		p := &l.footprints[i]
		if p.doubt > l.doubts || !l.mayMove(p, at) || known && !l.leavesAt(p, place) {
			continue
		}
		seen, width := l.seenNext(p.cells, at), l.width
		if p.doubt > 0 {
			width *= doubtful
		}
		end := sort.Search(len(p.fill), func(k int) bool { return l.lo[l.fill[p.fill[k]].row] >= at })
		for k := end - 1; k >= 0 && width > 0; k-- {
			if f := p.fill[k]; !l.fill[f].used && !l.fill[f].kept {
				list = append(list, choice{f, seen, p.doubt})
				width--
			}
		}
		width = l.width - 1
		for k := end - 1; k >= 0 && width > 0; k-- {
			if f := p.fill[k]; l.fill[f].used && l.fillsGap[f] >= int32(l.last.end) && !l.gaps[l.fillsGap[f]].named {
				list = append(list, choice{f, seen, p.doubt})
				width--
			}
		}
	}
	slices.SortStableFunc(list, func(a, b choice) int { return cmp.Or(cmp.Compare(a.doubt, b.doubt), cmp.Compare(b.seen, a.seen)) })
	return list
}

// footprint is updates that never returned and may leave something at the same places, or take it away.
type footprint struct {
	cells []models.Cell // of one of them
	sure  bool          // they leave all that, whenever they happen
	doubt int           // 1 if they may do other things than take a value away
	fill  []int32
}

// findFootprints finds those of the updates that never returned.
func (x *replay) findFootprints() {
	if x.footprints != nil {
		return
	}
	x.fillsGap = slices.Repeat([]int32{-1}, len(x.fill))
	for g := range x.gaps {
		if by := x.gaps[g].by; by >= 0 {
			x.fillsGap[by] = int32(g)
		}
	}
	number := map[string]int32{}
	var name []byte
	for k := range x.fill {
		f := &x.fill[k]
		if f.at != none {
			continue
		}
		var cells []models.Cell
		if x.p.Makes != nil {
			cells = x.p.Makes(nil, x.in.Op(f.row))
		}
		sure := x.moves[f.row] == models.AlwaysMoves && !x.vague[f.row]
		name = strconv.AppendBool(name[:0], sure)
		for _, c := range cells {
			name = binary.AppendVarint(name, int64(c.Place))
			name = strconv.AppendBool(name, x.p.None != nil && x.p.None(c))
		}
		i, found := number[string(name)]
		if !found {
			i = int32(len(x.footprints))
			number[string(name)] = i
			p := footprint{cells: cells, sure: sure}
			if !sure && !(len(cells) == 1 && x.p.None != nil && x.p.None(cells[0])) {
				p.doubt = 1
			}
			x.footprints = append(x.footprints, p)
		}
		x.footprints[i].fill = append(x.footprints[i].fill, int32(k))
	}
}

// mayMove says whether the updates of a footprint may have made a position: if something happens at a place that
// was left alone then, they have not.
func (x *replay) mayMove(p *footprint, at int64) bool {
	alone := func(c models.Cell) bool { return x.alone(c.Place, at) }
	if p.sure {
		return !slices.ContainsFunc(p.cells, alone)
	}
	return len(p.cells) == 0 || slices.ContainsFunc(p.cells, func(c models.Cell) bool { return !alone(c) })
}

// leavesAt says whether the updates of a footprint may leave a value at a place.
func (x *replay) leavesAt(p *footprint, place int32) bool {
	return slices.ContainsFunc(p.cells, func(c models.Cell) bool { return c.Place == place && (x.p.None == nil || !x.p.None(c)) })
}

// alone says whether no update left anything at a place at a position.
func (x *replay) alone(place int32, at int64) bool {
	list := x.quiet[place]
	k := sort.Search(len(list), func(k int) bool { return list[k].until >= at })
	return k < len(list) && list[k].after < at
}

// seenNext returns the first position from one on at which an operation shows one of the places.
func (x *replay) seenNext(cells []models.Cell, at int64) int64 {
	next := int64(math.MaxInt64)
	for _, c := range cells {
		list := x.shownAt[c.Place]
		if k, _ := slices.BinarySearch(list, at); k < len(list) {
			next = min(next, list[k])
		}
	}
	return next
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
		l.fails(b.update, b.at)
		l.conflict.all = l.conflict.all || l.unsure(b)
		return nil, false
	}
	for _, row := range l.rows[b.from:b.to] {
		if row == update {
			continue
		}
		*ahead--
		if s, ok = l.one(s, row, b.at); !ok {
			l.fails(row, b.at)
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
