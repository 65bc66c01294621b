package position

import (
	"cmp"
	"math"
	"slices"

	"clew/models"
)

// span is positions between from and to, both exclusive, at which no operation shows what an update leaves at a place.
// The cell is what was there before.
type span struct {
	cell     models.Cell
	known    bool // the cell is
	from, to int64
}

// pause is the gaps from one on, after an operation left or showed a value at a place, and before another one shows one
// there. If the last of them leaves that value, no operation shows what the others leave at this place.
type pause struct {
	cell       models.Cell
	first, end int32
}

// rest fills the gaps that no answer needs with updates whose effects are not shown, while positions ascend.
type rest struct {
	*matching
	waiting [][]int32 // by place: updates that suit the gap, the last invoked last
	taking  [][]int32 // by place: those that take its value away, if it has one
	until   []int64   // by place: up to where no operation shows what they leave
	now     []cell    // by place: what is there
	ready   []int32   // places to look at
	other   []int32   // updates of no place, or of several
	within  []int32   // pauses that may go on
}

// cell is a cell that may not be known.
type cell struct {
	models.Cell
	known bool
}

// fillRest fills other gaps as far as it finds out how.
func (m *matching) fillRest() {
	slices.SortFunc(m.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(m.pauses, func(a, b pause) int { return cmp.Compare(a.first, b.first) })
	x := &rest{matching: m, waiting: make([][]int32, len(m.now)), taking: make([][]int32, len(m.now)), until: make([]int64, len(m.now)), now: make([]cell, len(m.now))}
	fill, spans, pauses := 0, m.spans, m.pauses
	for g := range m.gaps {
		at := m.gaps[g].at
		for ; len(pauses) > 0 && int(pauses[0].first) <= g; pauses = pauses[1:] {
			x.within = append(x.within, int32(len(m.pauses)-len(pauses)))
		}
		for ; len(spans) > 0 && spans[0].from < at; spans = spans[1:] {
			n := x.numberOf(spans[0].cell.Place)
			x.now[n] = cell{spans[0].cell, spans[0].known}
			x.unseen(n, spans[0].to)
		}
		for ; fill < len(m.fill) && m.lo[m.fill[fill].row] < at; fill++ {
			x.wait(int32(fill))
		}
		if m.gaps[g].by >= 0 || x.alone(g) || x.idle(g) || x.close(g) || x.several(g) || x.borrow(g) {
			continue
		}
		m.gaps[g].by = -1 // the replay searches
	}
}

// unseen notes up to where no operation shows what updates leave at a place.
func (x *rest) unseen(n int32, until int64) {
	x.until[n] = max(x.until[n], until)
	x.ready = append(x.ready, n)
}

// wait adds an update that suits the gaps from now on. One that depends on what is there is left out, and so is one that
// may change nothing, unless it takes a value away.
func (x *rest) wait(fill int32) {
	f := &x.fill[fill]
	if f.used || f.kept || f.at != none {
		return
	}
	depends := x.depends(f.row)
	x.cells = x.p.Makes(x.cells[:0], x.in.Op(f.row))
	if len(x.cells) != 1 {
		if !depends {
			x.other = append(x.other, fill)
		}
		return
	}
	n := x.numberOf(x.cells[0].Place)
	for int(n) >= len(x.until) { // no operation ever shows it
		x.waiting, x.taking, x.until, x.now = append(x.waiting, nil), append(x.taking, nil), append(x.until, math.MaxInt64), append(x.now, cell{})
	}
	switch {
	case depends:
	case x.moves[f.row] == models.AlwaysMoves:
		x.waiting[n] = append(x.waiting[n], fill)
	case x.p.None != nil && x.p.None(x.cells[0]):
		x.taking[n] = append(x.taking[n], fill)
	}
	x.ready = append(x.ready, n)
}

// alone fills a gap with an update of one place.
func (x *rest) alone(g int) bool {
	for len(x.ready) > 0 {
		n := x.ready[len(x.ready)-1]
		if x.until[n] > x.gaps[g].at && (x.blind(g, n) || x.suited(g, n) || x.clear(g, n)) {
			return true
		}
		x.ready = x.ready[:len(x.ready)-1]
	}
	return false
}

// blind fills a gap with an update of a place that can always happen.
func (x *rest) blind(g int, n int32) bool { return x.latest(g, n, x.waiting) }

// clear fills a gap with an update that takes the value of a place away.
func (x *rest) clear(g int, n int32) bool {
	return x.now[n].known && x.p.None != nil && !x.p.None(x.now[n].Cell) && x.latest(g, n, x.taking)
}

// latest fills a gap with the update of a place that was invoked last.
func (x *rest) latest(g int, n int32, lists [][]int32) bool {
	for list := lists[n]; len(list) > 0; list = lists[n] {
		f := list[len(list)-1]
		lists[n] = list[:len(list)-1]
		if !x.fill[f].used {
			x.put(g, f, n)
			return true
		}
	}
	return false
}

// suited fills a gap with an update of a place that can happen now.
func (x *rest) suited(g int, n int32) bool {
	if !x.now[n].known {
		return false
	}
	for k := range x.unused(x.bySeen[x.now[n].Cell], x.gaps[g].at) {
		x.put(g, k, n)
		return true
	}
	return false
}

// put fills a gap, and notes what that leaves at a place.
func (x *rest) put(g int, k, n int32) {
	x.assign(int32(g), k)
	x.cells = x.p.Makes(x.cells[:0], x.in.Op(x.fill[k].row))
	for _, c := range x.cells {
		if x.numberOf(c.Place) == n {
			x.now[n] = cell{c, true}
		}
	}
}

// idle fills a gap in a pause with an update that leaves what it finds.
func (x *rest) idle(g int) bool {
	x.within = slices.DeleteFunc(x.within, func(i int32) bool { return int(x.pauses[i].end) <= g })
	for n, i := range slices.Backward(x.within) {
		if n < len(x.within)-maxTried {
			break
		}
		c := x.pauses[i].cell
		for k := range x.unused(x.bySeen[c], x.gaps[g].at) {
			x.cells = x.p.Makes(x.cells[:0], x.in.Op(x.fill[k].row))
			if !slices.ContainsFunc(x.cells, func(made models.Cell) bool { return made != c }) {
				x.assign(int32(g), k)
				return true
			}
		}
	}
	return false
}

// Ways to fill a gap in a pause with an update that leaves what is shown after it.
const (
	lastOne = iota // the gap is the last one
	closing        // another gap is, and then no operation shows what this one leaves
	anyhow         // the gap is not the last one
)

// close fills gap g, or the last gap of a pause around it and then gap g.
func (x *rest) close(g int) bool {
	for how := lastOne; how <= anyhow; how++ {
		for n, i := range slices.Backward(x.within) {
			if n < len(x.within)-maxTried {
				break
			}
			if x.fillPause(&x.pauses[i], g, how) {
				return true
			}
		}
	}
	return false
}

func (x *rest) fillPause(p *pause, g, how int) bool {
	last, n := int(x.free(p.end)), x.numberOf(p.cell.Place)
	if last < g || (how == lastOne) != (last == g) {
		return false
	}
	if how == anyhow {
		last = g
	}
	for k := range x.unused(x.byCell[p.cell], x.gaps[last].at) {
		if x.depends(x.fill[k].row) {
			continue
		}
		if how == closing && !slices.ContainsFunc(x.waiting[n], func(f int32) bool { return f != k && !x.fill[f].used }) {
			return false
		}
		x.assign(int32(last), k)
		if how == closing {
			x.now[n] = cell{p.cell, true}
			x.unseen(n, x.gaps[last].at)
			return x.alone(g)
		}
		return true
	}
	return false
}

// borrow fills a gap with an update that fills a later one, for which another may do.
func (x *rest) borrow(g int) bool {
	for later := g + 1; later < min(g+maxTried, len(x.gaps)); later++ {
		j := x.jobs[later]
		if j.latest == 0 || j.from > x.gaps[g].at {
			continue
		}
		x.assign(int32(g), x.gaps[later].by)
		x.jobs[g], x.jobs[later], x.gaps[later].by = j, job{}, -1
		n := x.numberOf(j.place)
		x.until[n] = min(x.until[n], x.gaps[g].at)
		return true
	}
	return false
}

// several fills a gap with an update of no place or of several.
func (x *rest) several(g int) bool {
	for i, k := range x.other {
		if i == maxTried {
			break
		}
		x.cells = x.p.Makes(x.cells[:0], x.in.Op(x.fill[k].row))
		if !x.fill[k].used && !slices.ContainsFunc(x.cells, func(c models.Cell) bool {
			n := x.numberOf(c.Place)
			return int(n) < len(x.until) && x.until[n] <= x.gaps[g].at
		}) {
			x.assign(int32(g), k)
			x.other = slices.Delete(x.other, i, i+1)
			return true
		}
	}
	return false
}
