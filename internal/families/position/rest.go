package position

import (
	"cmp"
	"math"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// span is positions between from and to, both exclusive, at which nobody sees what an update leaves at a place.
type span struct {
	place    int32
	from, to int64
}

// pause is the gaps from one on, after an operation left or showed a value at a place, and before another one shows one
// there. If the last of them leaves that value, nobody sees what the others leave at this place.
type pause struct {
	cell       models.Cell
	place      int32
	first, end int32
}

// rest fills the gaps that no answer needs with updates that nobody sees, while positions ascend.
type rest struct {
	*matching
	waiting [][]int32 // by place: updates that suit the gap, the last invoked last
	until   []int64   // by place: up to where nobody sees what they leave
	ready   []int32   // places to look at
	other   []int32   // updates of no place, or of several
	within  []int32   // pauses that may go on
}

// fillRest fills the other gaps. It returns a reason if it does not find out how.
func (m *matching) fillRest() (reason *fastpath.Finding) {
	slices.SortFunc(m.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(m.pauses, func(a, b pause) int { return cmp.Compare(a.first, b.first) })
	x := &rest{matching: m, waiting: make([][]int32, len(m.now)), until: make([]int64, len(m.now))}
	fill, spans, pauses := 0, m.spans, m.pauses
	for g := range m.gaps {
		at := m.gaps[g].at
		for ; len(pauses) > 0 && int(pauses[0].first) <= g; pauses = pauses[1:] {
			x.within = append(x.within, int32(len(m.pauses)-len(pauses)))
		}
		for ; len(spans) > 0 && spans[0].from < at; spans = spans[1:] {
			x.unseen(spans[0].place, spans[0].to)
		}
		for ; fill < len(m.fill) && m.lo[m.fill[fill].row] < at; fill++ {
			x.wait(int32(fill))
		}
		if m.gaps[g].by >= 0 || x.alone(g) || x.close(g) && (m.gaps[g].by >= 0 || x.alone(g)) || x.several(g) {
			continue
		}
		return Unclear.Of(m.rows[0], m.rows[0])
	}
	return nil
}

// unseen notes up to where nobody sees what updates leave at a place.
func (x *rest) unseen(n int32, until int64) {
	x.until[n] = max(x.until[n], until)
	x.ready = append(x.ready, n)
}

// wait adds an update that suits the gaps from now on. One that depends on what is there is left out.
func (x *rest) wait(fill int32) {
	f := &x.fill[fill]
	if f.used || f.at != none || x.depends(f.row) {
		return
	}
	x.cells = x.p.Makes(x.cells[:0], x.in.Op(f.row))
	if len(x.cells) != 1 {
		x.other = append(x.other, fill)
		return
	}
	n := x.places.Of(x.cells[0].Place)
	if int(n) >= len(x.until) { // nobody ever sees it
		x.waiting, x.until = append(x.waiting, nil), append(x.until, math.MaxInt64)
	}
	x.waiting[n] = append(x.waiting[n], fill)
	x.ready = append(x.ready, n)
}

// alone fills a gap with an update of one place.
func (x *rest) alone(g int) bool {
	for len(x.ready) > 0 {
		n := x.ready[len(x.ready)-1]
		list := x.waiting[n]
		if x.until[n] <= x.gaps[g].at || len(list) == 0 {
			x.ready = x.ready[:len(x.ready)-1]
			continue
		}
		f := list[len(list)-1]
		x.waiting[n] = list[:len(list)-1]
		if !x.fill[f].used {
			x.assign(int32(g), f)
			return true
		}
	}
	return false
}

// close lets the last gap of a pause around gap g leave the value that is shown after it.
func (x *rest) close(g int) bool {
	x.within = slices.DeleteFunc(x.within, func(i int32) bool { return int(x.pauses[i].end) <= g })
	for n, i := range slices.Backward(x.within) {
		if n < len(x.within)-maxTried {
			break
		}
		p := &x.pauses[i]
		last := x.free(p.end)
		if int(last) < g {
			continue
		}
		for k := range x.unused(x.byCell[p.cell], x.gaps[last].at) {
			if !x.depends(x.fill[k].row) {
				x.assign(last, k)
				x.unseen(p.place, x.gaps[last].at)
				return true
			}
		}
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
			n := x.places.Of(c.Place)
			return int(n) < len(x.until) && x.until[n] <= x.gaps[g].at
		}) {
			x.assign(int32(g), k)
			x.other = slices.Delete(x.other, i, i+1)
			return true
		}
	}
	return false
}
