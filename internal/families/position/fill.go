package position

import (
	"cmp"
	"math"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// matching fills gaps.
type matching struct {
	*sweep
	places  models.Numbering
	now     []place                 // by number
	byCell  map[models.Cell][]int32 // places in fill, by what they may leave
	byPlace map[int32][]int32       // the same by place
	next    []int32                 // by gap, and one more: a gap from there on that may be free
	counts  bool                    // clues count updates
	spans   []span
	cells   []models.Cell
	sparse  []gap // in sparse positions: what was filled in, in no order
	taken   map[int64]bool
	clues   []models.Clue
	full    int32 // the last return of the updates that leave no gap where there should be one
}

// place is what is known about a place of the state, while positions ascend.
type place struct {
	value int32
	known bool       // value is
	at    int64      // of the update that left it
	sure  int64      // since when it has been certain, whichever updates fill the gaps
	by    models.Row // what showed that
	shown int64      // the last position at which an operation showed the place or left another value there
	count []int64    // the positions of the updates in a row, if clues count them
	done  int64      // up to where they have been counted
}

// span is positions between from and to, both exclusive, at which nobody sees what an update leaves at a place.
type span struct {
	place    int32
	from, to int64
}

// fillGaps fills the gaps. It returns a reason if it does not find out how, or a violation.
func (s *sweep) fillGaps() (reason *fastpath.Finding, r fastpath.Result, found bool) {
	if len(s.fill) == 0 && len(s.gaps) == 0 || s.p.Sees == nil && len(s.gaps) == 0 {
		return nil, r, false
	}
	m := &matching{sweep: s, byCell: map[models.Cell][]int32{}, byPlace: map[int32][]int32{}, taken: map[int64]bool{}}
	if s.p.Sees == nil {
		return m.alike(), r, false
	}
	m.next = make([]int32, len(s.gaps)+1)
	for k := range m.next {
		m.next[k] = int32(k)
	}
	for k, f := range s.fill {
		m.cells = s.p.Makes(m.cells[:0], s.in.Op(f.row))
		for _, c := range m.cells {
			m.byCell[c] = append(m.byCell[c], int32(k))
			m.byPlace[c.Place] = append(m.byPlace[c.Place], int32(k))
		}
	}
	if why, reason := m.named(); why != nil || reason != nil {
		return reason, s.wrongOrNone(why), why != nil
	}
	if why, reason := m.needed(); why != nil || reason != nil {
		r := s.wrongOrNone(why)
		r.End = max(r.End, m.full)
		return reason, r, why != nil
	}
	if s.p.Dense {
		return m.rest(), r, false
	}
	s.gaps = m.sparse
	slices.SortFunc(s.gaps, func(a, b gap) int { return cmp.Compare(a.at, b.at) })
	return nil, r, false
}

func (s *sweep) wrongOrNone(why *fastpath.Finding) (r fastpath.Result) {
	if why != nil {
		r = s.wrong(why)
	}
	return r
}

// alike fills the gaps of a model of whose cells nothing is known. That is certain only if all updates that suit a gap
// are alike.
func (m *matching) alike() (reason *fastpath.Finding) {
	k, active := 0, []int32(nil)
	for g := range m.gaps {
		x := &m.gaps[g]
		for ; k < len(m.fill) && m.lo[m.fill[k].row] < x.at; k++ {
			if m.fill[k].at == none {
				active = append(active, int32(k))
			}
		}
		if x.by >= 0 {
			continue
		}
		x.by = active[0]
		active = active[1:]
		for _, other := range active {
			if m.in.Op(m.fill[other].row) != m.in.Op(m.fill[x.by].row) {
				return Unclear.Of(m.fill[x.by].row, m.fill[other].row)
			}
		}
	}
	return nil
}

// assign fills a gap.
func (m *matching) assign(g, f int32) {
	m.gaps[g].by = f
	m.fill[f].used = true
	m.next[g] = g + 1
}

// free returns the first free gap from g on, or the number of gaps.
func (m *matching) free(g int32) int32 {
	end := g
	for m.next[end] != end {
		end = m.next[end]
	}
	for m.next[g] != g {
		g, m.next[g] = m.next[g], end
	}
	return end
}

// from returns the first gap at a position or above.
func (m *matching) from(at int64) int32 {
	g, _ := slices.BinarySearchFunc(m.gaps, at, func(g gap, at int64) int { return cmp.Compare(g.at, at) })
	return int32(g)
}

// named fills the gaps that answers name together with what they left.
func (m *matching) named() (why, reason *fastpath.Finding) {
	if m.p.Clues == nil {
		return nil, nil
	}
	for g := range m.gaps {
		if m.gaps[g].by >= 0 {
			m.next[g] = int32(g) + 1
		}
	}
	for _, row := range m.rows {
		m.clues = m.p.Clues(m.clues[:0], m.in.Op(row))
		for _, c := range m.clues {
			m.counts = m.counts || c.Count > 0
			g := m.from(c.Position)
			if int(g) == len(m.gaps) || m.gaps[g].at != c.Position || c.Position > m.at[row] {
				continue
			}
			if by := m.gaps[g].by; by >= 0 {
				if m.cells = m.p.Makes(m.cells[:0], m.in.Op(m.fill[by].row)); !slices.Contains(m.cells, c.Cell) {
					return nil, Unclear.Of(row, m.fill[by].row)
				}
				continue
			}
			f, some := m.suits(m.byCell[c.Cell], c.Position)
			switch {
			case f >= 0:
				m.assign(g, f)
			case some:
				return nil, Unplaced.Of(row)
			default:
				return Unmade.Of(row, models.Row(fastpath.Missing)), nil
			}
		}
	}
	return nil, nil
}

// suits returns the first update of a list that may have made a position and is not used, or -1; some says whether
// there is one at all.
func (m *matching) suits(list []int32, at int64) (f int32, some bool) {
	for _, k := range list {
		x := &m.fill[k]
		if m.lo[x.row] >= at {
			break
		}
		if x.at != none && x.at != at {
			continue
		}
		if some = true; !x.used {
			return k, true
		}
	}
	return -1, some
}

// needed fills the gaps that lemma 4 needs, while positions ascend.
func (m *matching) needed() (why, reason *fastpath.Finding) {
	if m.p.Clues == nil {
		for g := range m.gaps {
			if m.gaps[g].by >= 0 {
				m.next[g] = int32(g) + 1
			}
		}
	}
	g := 0
	for _, b := range m.blocks {
		for ; g < len(m.gaps) && m.gaps[g].at <= b.at; g++ {
			if by := m.gaps[g].by; by >= 0 {
				m.leaves(m.fill[by].row, m.gaps[g].at, false)
			}
		}
		for k := b.from; k < b.to; k++ {
			row := m.rows[k]
			if b.update >= 0 && k == b.from {
				row = b.update
			} else if row == b.update {
				row = m.rows[b.from]
			}
			if why, reason = m.shows(row, b.at); why != nil || reason != nil {
				return why, reason
			}
			if row == b.update {
				m.leaves(row, b.at, m.moves[row] == models.AlwaysMoves)
			}
		}
	}
	for k := range m.now {
		if p := &m.now[k]; m.p.Dense && len(m.gaps) > 0 {
			m.spans = append(m.spans, span{int32(k), p.shown, math.MaxInt64})
		}
	}
	return nil, nil
}

// place returns what is known about a place.
func (m *matching) place(number int32) *place {
	n := m.places.Of(number)
	for int(n) >= len(m.now) {
		m.now = append(m.now, place{at: none, sure: none, by: models.Row(fastpath.Initial), shown: none, done: none})
	}
	return &m.now[n]
}

// leaves notes what an update leaves.
func (m *matching) leaves(row models.Row, at int64, certain bool) {
	m.cells = m.p.Makes(m.cells[:0], m.in.Op(row))
	for _, c := range m.cells {
		p := m.place(c.Place)
		gone := m.counts && m.p.None != nil && m.p.None(c)
		if !m.counts || gone {
			if m.p.Dense && len(m.gaps) > 0 && p.shown < at-1 {
				m.spans = append(m.spans, span{m.places.Of(c.Place), p.shown, at})
			}
			p.shown = at
		}
		p.value, p.known, p.at = c.Value, true, at
		if certain {
			p.sure, p.by = at, row
		}
		switch {
		case gone:
			p.count, p.done = p.count[:0], at
		case m.counts:
			p.count = append(p.count, at)
		}
	}
}

// shows compares what an operation shows of places with what is known about them, and fills the gaps that this needs.
func (m *matching) shows(row models.Row, at int64) (why, reason *fastpath.Finding) {
	cells, all := m.p.Sees(m.cells[:0], m.in.Op(row))
	m.cells = cells
	if all {
		return nil, nil
	}
	for _, c := range slices.Clone(cells) {
		p := m.place(c.Place)
		if !p.known {
			p.value, p.known = c.Value, true
			if len(cells) == 1 && len(m.model.Step(nil, m.model.Init(), m.in.Op(row))) == 0 {
				if _, known := m.p.At(m.model.Init()); !known {
					p.known = false
				}
			}
		}
		if !p.known || p.value != c.Value {
			if why, reason = m.need(row, c, p, at); why != nil || reason != nil {
				return why, reason
			}
		}
		p.sure, p.by = at, row
		p.shown = at
	}
	if m.counts {
		return nil, m.count(row)
	}
	return nil, nil
}

// need finds what left a cell that an operation shows at a position.
func (m *matching) need(row models.Row, c models.Cell, p *place, at int64) (why, reason *fastpath.Finding) {
	latest := at
	if m.moves[row] != models.NeverMoves {
		latest--
	}
	list, any := m.byCell[c], false
	_, based := m.p.At(m.model.Init())
	for _, k := range list {
		x := &m.fill[k]
		if m.p.Dense && !based && p.sure == none && m.lo[x.row] == none { // it may have been before the first position
			if any = true; x.used || x.at != none || p.known {
				continue
			}
			x.used = true
			m.before = append(m.before, x.row)
			p.value, p.known = c.Value, true
			return nil, nil
		}
		from := max(p.sure, m.lo[x.row]) + 1
		if from > latest || x.at != none && (x.at < from || x.at > latest) {
			continue
		}
		any = true
		if x.used {
			continue
		}
		made := m.make(k, max(from, p.at+1), latest)
		if made == none {
			continue
		}
		p.value, p.known, p.at = c.Value, true, made
		if m.counts {
			p.count = append(p.count, made)
		}
		return nil, nil
	}
	g := m.from(p.sure + 1)
	if noGap := m.p.Dense && p.sure != none && (int(g) == len(m.gaps) || m.gaps[g].at > latest); any && !noGap {
		return nil, Unplaced.Of(row)
	}
	if any {
		k, _ := slices.BinarySearchFunc(m.blocks, p.sure+1, func(b block, at int64) int { return cmp.Compare(b.at, at) })
		for ; k < len(m.blocks) && m.blocks[k].at <= latest; k++ {
			if b := m.blocks[k]; b.update >= 0 {
				m.full = max(m.full, m.in.Res[b.update])
			}
		}
	}
	return Unmade.Of(row, p.by), nil
}

// make lets an update fill the first free gap between two positions, and returns that gap's position or none.
func (m *matching) make(k int32, from, latest int64) int64 {
	x := &m.fill[k]
	if x.at != none {
		if x.at < from {
			return none
		}
		from, latest = x.at, x.at
	}
	if m.p.Dense {
		if g := m.free(m.from(from)); int(g) < len(m.gaps) && m.gaps[g].at <= latest {
			m.assign(g, k)
			return m.gaps[g].at
		}
		return none
	}
	for at := latest; at >= from && at > latest-maxTried; at-- {
		b, found := slices.BinarySearchFunc(m.blocks, at, func(b block, at int64) int { return cmp.Compare(b.at, at) })
		if !m.taken[at] && !(found && m.blocks[b].update >= 0) {
			m.taken[at], x.used = true, true
			m.sparse = append(m.sparse, gap{at, k})
			return at
		}
	}
	return none
}

// maxTried bounds how many sparse positions are tried for an update.
const maxTried = 64

// count compares the updates in a row with what an operation says of their number.
func (m *matching) count(row models.Row) (reason *fastpath.Finding) {
	m.clues = m.p.Clues(m.clues[:0], m.in.Op(row))
	for _, c := range m.clues {
		if c.Count == 0 {
			continue
		}
		p := m.place(c.Cell.Place)
		n, _ := slices.BinarySearch(p.count, c.Position+1)
		for ; int64(n) < c.Count; n++ {
			made := m.another(c.Cell.Place, max(p.done, none), c.Position-1)
			if made == none {
				return Unplaced.Of(row)
			}
			k, _ := slices.BinarySearch(p.count, made)
			p.count = slices.Insert(p.count, k, made)
		}
		if int64(n) > c.Count && !m.removed(c, p, n) {
			return Unplaced.Of(row)
		}
		p.done = max(p.done, c.Position)
	}
	return nil
}

// another fills a gap between two positions with any update of a place that leaves a value there.
func (m *matching) another(number int32, after, latest int64) int64 {
	for _, k := range m.byPlace[number] {
		x := &m.fill[k]
		if x.used || m.leavesNone(k, number) {
			continue
		}
		if made := m.make(k, max(after, m.lo[x.row])+1, latest); made != none {
			return made
		}
	}
	return none
}

func (m *matching) leavesNone(k, number int32) bool {
	m.cells = m.p.Makes(m.cells[:0], m.in.Op(m.fill[k].row))
	return slices.ContainsFunc(m.cells, func(c models.Cell) bool { return c.Place == number && m.p.None(c) })
}

// removed fills a gap with an update that took the value of a place away, so that fewer updates have been in a row.
func (m *matching) removed(c models.Clue, p *place, n int) bool {
	begin := n - int(c.Count) // in p.count: the first of them
	after, latest := p.count[begin-1], p.count[begin]-1
	for _, k := range m.byPlace[c.Cell.Place] {
		if x := &m.fill[k]; !x.used && m.leavesNone(k, c.Cell.Place) {
			if m.make(k, max(after, m.lo[x.row])+1, latest) != none {
				p.count = slices.Clone(p.count[begin:])
				return true
			}
		}
	}
	return false
}

// rest fills the other gaps with updates that nobody sees.
func (m *matching) rest() (reason *fastpath.Finding) {
	slices.SortFunc(m.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	waiting := make([][]int32, len(m.now)) // by place: updates, the last invoked last
	until := make([]int64, len(m.now))     // by place: up to where nobody sees its updates
	var ready, other []int32               // places to look at, and updates of several places
	k, next := 0, 0
	for g := range m.gaps {
		x := &m.gaps[g]
		for ; next < len(m.spans) && m.spans[next].from < x.at; next++ {
			until[m.spans[next].place] = m.spans[next].to
			ready = append(ready, m.spans[next].place)
		}
		for ; k < len(m.fill) && m.lo[m.fill[k].row] < x.at; k++ {
			if m.fill[k].used || m.fill[k].at != none {
				continue
			}
			m.cells = m.p.Makes(m.cells[:0], m.in.Op(m.fill[k].row))
			if len(m.cells) != 1 {
				other = append(other, int32(k))
				continue
			}
			n := m.places.Of(m.cells[0].Place)
			if int(n) >= len(until) { // nobody ever sees it
				waiting, until = append(waiting, nil), append(until, math.MaxInt64)
			}
			waiting[n] = append(waiting[n], int32(k))
			ready = append(ready, n)
		}
		if x.by >= 0 {
			continue
		}
		for len(ready) > 0 && x.by < 0 {
			n := ready[len(ready)-1]
			list := waiting[n]
			if until[n] <= x.at || len(list) == 0 {
				ready = ready[:len(ready)-1]
				continue
			}
			if f := list[len(list)-1]; !m.fill[f].used {
				x.by, m.fill[f].used = f, true
			}
			waiting[n] = list[:len(list)-1]
		}
		if x.by < 0 {
			x.by = m.unseen(&other, until, x.at)
		}
		if x.by < 0 {
			return Unclear.Of(m.rows[0], m.rows[0])
		}
	}
	return nil
}

// unseen returns an update of no place or of several that nobody sees at a position, or -1.
func (m *matching) unseen(list *[]int32, until []int64, at int64) int32 {
	for i, f := range *list {
		m.cells = m.p.Makes(m.cells[:0], m.in.Op(m.fill[f].row))
		if !m.fill[f].used && !slices.ContainsFunc(m.cells, func(c models.Cell) bool {
			n := m.places.Of(c.Place)
			return int(n) < len(until) && until[n] <= at
		}) {
			m.fill[f].used = true
			*list = slices.Delete(*list, i, i+1)
			return f
		}
		if i == maxTried {
			break
		}
	}
	return -1
}
