package position

import (
	"cmp"
	"math"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// matching fills gaps.
type matching struct {
	*sweep
	places  models.Numbering
	now     []place // by number
	byPlace map[int32]*pool
	bySeen  map[models.Cell]*pool // by the one cell that they depend on
	next    []int32               // by gap plus 1: a gap up to there, plus 1, that may be free; 0 if none is
	jobs    []job                 // by gap
	pauses  []pause
	met     []int32 // gaps of an augmenting path
	counts  bool    // clues count updates
	spans   []span
	cells   []models.Cell
	sparse  []gap // in sparse positions: what was filled in, in no order
	taken   map[int64]bool
	clues   []models.Clue
	beside  map[models.Cell]bool // what operations beside the order of updates may leave
	full    int32                // the last return of the updates that leave no gap where there should be one
}

// place is what is known about a place of the state, while positions ascend.
type place struct {
	number int32
	value  int32
	known  bool       // value is
	at     int64      // of the update that left it
	sure   int64      // when it was last certain, whichever updates fill the gaps
	was    int32      // the value then
	by     models.Row // what showed that
	vague  bool       // since then an operation that was told may have left another value
	shown  int64      // the last position at which an operation showed the place or left another value there
	count  []int64    // the positions of the updates in a row, if clues count them
	done   int64      // up to where they have been counted
}

// job says why an update fills a gap, and where else it might.
type job struct {
	place        int32
	from, latest int64 // latest is 0 if there is none
}

// fillGaps fills the gaps as far as it finds out how: the replay searches for the others. It returns a violation if there
// is one.
func (s *sweep) fillGaps() (r fastpath.Result, found bool) {
	if s.p.Sees == nil || len(s.fill)+len(s.gaps) == 0 || without[byCells] {
		return r, false
	}
	m := newMatching(s)
	for _, row := range s.side {
		m.cells = s.p.Makes(m.cells[:0], s.in.Op(row))
		for _, c := range m.cells {
			m.beside[c] = true
		}
	}
	why := m.named()
	if why == nil {
		why = m.needed()
	}
	if why != nil {
		r = s.in.Wrong(why)
		r.End = max(r.End, m.full)
		return r, true
	}
	if s.p.Dense {
		m.fillRest()
		return r, false
	}
	s.gaps = m.sparse
	slices.SortFunc(s.gaps, func(a, b gap) int { return cmp.Compare(a.at, b.at) })
	return r, false
}

// newMatching returns a matching in which nothing fills the gaps but what will tell that it does.
func newMatching(s *sweep) *matching {
	s.shownAt, s.quiet, s.left, s.byCell = map[int32][]int64{}, map[int32][]quiet{}, map[int64]int32{}, make(map[models.Cell]*pool, len(s.fill))
	m := &matching{sweep: s, byPlace: map[int32]*pool{}, bySeen: map[models.Cell]*pool{}, taken: map[int64]bool{}, beside: map[models.Cell]bool{}}
	m.next, m.jobs = make([]int32, len(s.gaps)+1), make([]job, len(s.gaps))
	for k := range m.next {
		m.next[k] = int32(k)
	}
	for g := range s.gaps {
		if s.gaps[g].by >= 0 {
			m.take(int32(g))
		}
	}
	for k, f := range s.fill {
		m.cells = s.p.Makes(m.cells[:0], s.in.Op(f.row))
		for _, c := range m.cells {
			addTo(m.byCell, c, int32(k))
			addTo(m.byPlace, c.Place, int32(k))
		}
		if m.cells, _ = s.p.Sees(m.cells[:0], s.in.Op(f.row)); len(m.cells) == 1 {
			addTo(m.bySeen, m.cells[0], int32(k))
		}
	}
	return m
}

// contradicted returns a better finding for a failure of the replay without gaps: what shows another value than the
// operation that fails.
func (s *sweep) contradicted(r fastpath.Result) fastpath.Result {
	if r.Verdict != jepsen.Invalid || !r.Why.Is(OtherAnswer) || s.p.Sees == nil || len(s.gaps)+len(s.fill)+len(s.side) > 0 {
		return r
	}
	if why := newMatching(s).needed(); why != nil && slices.Contains(why.Rows, r.Why.Rows[0]) {
		return s.in.Wrong(why)
	}
	return r
}

// assign fills a gap.
func (m *matching) assign(g, f int32) {
	m.gaps[g].by = f
	m.fill[f].used = true
	m.take(g)
}

// take notes that a gap is not free. The sets of gaps that next describes are numbered from 1.
func (m *matching) take(g int32) { m.next[g+1] = g }

// free returns the last free gap before gap end, or -1.
func (m *matching) free(end int32) int32 {
	last := end
	for m.next[last] != last {
		last = m.next[last]
	}
	for m.next[end] != end {
		end, m.next[end] = m.next[end], last
	}
	return last - 1
}

// from returns the first gap at a position or above.
func (m *matching) from(at int64) int32 {
	g, _ := slices.BinarySearchFunc(m.gaps, at, func(g gap, at int64) int { return cmp.Compare(g.at, at) })
	return int32(g)
}

// named fills the gaps that answers name together with what they left.
func (m *matching) named() (why *fastpath.Finding) {
	var later []int32 // gaps of which only a place is known
	for _, row := range m.rows {
		seen := m.seen(row)
		for _, c := range seen {
			if list := m.byCell[c]; list != nil && len(list.fill) == 1 {
				m.fill[list.fill[0]].kept = true
			}
		}
		if m.p.Clues == nil {
			continue
		}
		m.clues = m.p.Clues(m.clues[:0], m.in.Op(row))
		for _, c := range m.clues {
			m.counts = m.counts || c.Count > 0
			switch {
			case c.Any && c.Count > 0:
			case c.Any && m.mutates(row):
				m.undisturbed(c, m.at[row]-1)
			case c.Any || slices.Contains(seen, c.Cell):
				m.undisturbed(c, m.at[row])
			}
			g := m.from(c.Position)
			if int(g) == len(m.gaps) || m.gaps[g].at != c.Position || c.Position > m.at[row] {
				continue
			}
			if m.gaps[g].by >= 0 {
				continue
			}
			m.left[c.Position] = c.Cell.Place
			if c.Any {
				later = append(later, g)
				continue
			}
			n := 0
			for k := range m.unused(m.byCell[c.Cell], c.Position) {
				if n++; n == 1 {
					m.assign(g, k)
				}
			}
			m.gaps[g].named = n == 1
			if m.gaps[g].by < 0 && !m.some(m.byCell[c.Cell], c.Position, c.Position) {
				return Unmade.Of(row, models.Row(fastpath.Missing))
			}
		}
	}
	for _, g := range later {
		if m.gaps[g].by < 0 {
			m.anyOf(g, m.left[m.gaps[g].at])
		}
	}
	return nil
}

// anyOf fills a gap with an update that leaves some value at a place.
func (m *matching) anyOf(g, place int32) {
	for k := range m.unused(m.byPlace[place], m.gaps[g].at) {
		if f := &m.fill[k]; !f.kept && m.moves[f.row] == models.AlwaysMoves && !m.leavesNone(f.row, place) {
			m.assign(g, k)
			return
		}
	}
}

// undisturbed notes that nothing was left at the place of a clue between its position and the one at which it was shown.
func (m *matching) undisturbed(c models.Clue, at int64) {
	if len(m.gaps) == 0 {
		return
	}
	list := m.quiet[c.Cell.Place]
	for n := len(list); n > 0 && list[n-1].after >= c.Position; n-- { // shown before, too
		list = list[:n-1]
	}
	if n := len(list); n == 0 || list[n-1].until < at {
		m.quiet[c.Cell.Place] = append(list, quiet{c.Position, at})
	}
}

// needed fills the gaps that lemma 4 needs, while positions ascend.
func (m *matching) needed() (why *fastpath.Finding) {
	g := 0
	for _, b := range m.blocks {
		for ; g < len(m.gaps) && m.gaps[g].at <= b.at; g++ {
			if by := m.gaps[g].by; by >= 0 {
				m.leaves(m.fill[by].row, m.gaps[g].at)
			}
		}
		for _, row := range m.rows[b.from:b.to] { // what may have made the position comes before what saw it
			if row != b.update && m.moves[row] == models.MayMove {
				m.leaves(row, b.at)
			}
		}
		for k := b.from; k < b.to; k++ {
			row := m.rows[k]
			if b.update >= 0 && k == b.from {
				row = b.update
			} else if row == b.update {
				row = m.rows[b.from]
			}
			if why := m.shows(row, b.at); why != nil {
				return why
			}
			if m.mutates(row) {
				m.leaves(row, b.at)
			}
		}
	}
	for k := range m.now {
		if p := &m.now[k]; m.p.Dense && len(m.gaps) > 0 {
			m.spans = hugepages.Append(m.spans, span{models.Cell{Place: p.number, Value: p.value}, p.known, max(p.shown, p.at), math.MaxInt64})
		}
	}
	return nil
}

// numberOf numbers places, which may be negative, from 0 on.
func (m *matching) numberOf(place int32) int32 {
	if place < 0 {
		return m.places.Of(-2*place - 1)
	}
	return m.places.Of(2 * place)
}

// place returns what is known about a place.
func (m *matching) place(number int32) *place {
	n := m.numberOf(number)
	for int(n) >= len(m.now) {
		m.now = append(m.now, place{number: number, at: none, sure: none, by: models.Row(fastpath.Initial), shown: none, done: none})
	}
	return &m.now[n]
}

// leaves notes what an operation leaves.
func (m *matching) leaves(row models.Row, at int64) {
	m.cells = m.p.Makes(m.cells[:0], m.in.Op(row))
	told := m.in.Res[row] != models.Open
	certain := told && m.moves[row] == models.AlwaysMoves && !m.vague[row]
	for _, c := range m.cells {
		p := m.place(c.Place)
		gone := m.counts && m.p.None != nil && m.p.None(c)
		if !m.counts || gone {
			if m.p.Dense && len(m.gaps) > 0 && p.shown < at-1 {
				m.spans = hugepages.Append(m.spans, span{models.Cell{Place: c.Place, Value: p.value}, p.known, max(p.shown, p.at), at})
			}
			p.shown = at
		}
		p.value, p.known, p.at = c.Value, true, at
		if p.vague = p.vague && !certain || told && !certain; certain {
			p.sure, p.was, p.by = at, c.Value, row
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
func (m *matching) shows(row models.Row, at int64) (why *fastpath.Finding) {
	cells, all := m.p.Sees(m.cells[:0], m.in.Op(row))
	m.cells = cells
	if all || m.vague[row] { // it may have done nothing, whatever was there
		return nil
	}
	for _, c := range slices.Clone(cells) {
		p := m.place(c.Place)
		if !p.known && m.mayBegin(row, c) {
			p.value, p.known = c.Value, true
		}
		if !p.known || p.value != c.Value {
			if why := m.need(row, c, p, at); why != nil {
				return why
			}
			p.value, p.known = c.Value, true // by whatever
		}
		if m.p.Dense && !m.counts {
			m.pause(c, p, row, at)
		}
		p.sure, p.was, p.by, p.vague = at, c.Value, row, false
		p.shown = at
		if n := len(m.gaps); n > 0 && at >= m.gaps[0].at && at <= m.gaps[n-1].at+farAhead {
			m.shownAt[c.Place] = append(m.shownAt[c.Place], at)
		}
	}
	if m.counts {
		m.count(row)
	}
	return nil
}

// mayBegin says whether a cell that an operation shows may have been there at first.
func (m *matching) mayBegin(row models.Row, c models.Cell) bool {
	if m.p.None != nil {
		return m.p.None(c)
	}
	init := m.model.Init()
	_, based := m.p.At(init)
	return based || len(m.seen(row)) != 1 || len(m.model.Step(nil, init, m.in.Op(row))) > 0
}

// pause notes the gaps before an operation shows a cell, since anything showed or left something else there.
func (m *matching) pause(c models.Cell, p *place, row models.Row, at int64) {
	if m.moves[row] != models.NeverMoves {
		at--
	}
	first, end := m.from(max(p.shown, p.at)+1), m.from(at+1)
	if p.at > p.shown { // what filled a gap left it
		m.spans = hugepages.Append(m.spans, span{models.Cell{Place: c.Place, Value: p.was}, p.sure == p.shown && p.sure != none, p.shown, p.at})
	}
	if first < end {
		m.pauses = hugepages.Append(m.pauses, pause{c, first, end})
	}
}

// need finds what left a cell that an operation shows at a position.
func (m *matching) need(row models.Row, c models.Cell, p *place, at int64) (why *fastpath.Finding) {
	if m.beside[c] {
		return nil // the replay will tell
	}
	if p.vague || p.sure != none && p.was == c.Value || p.sure == none && m.mayBegin(row, c) {
		return nil // what filled a gap since then is in the way, or may not have happened
	}
	latest := at
	if m.moves[row] != models.NeverMoves {
		latest--
	}
	list := m.byCell[c]
	any := m.some(list, p.sure+1, latest)
	now := models.Cell{Place: c.Place, Value: p.value}
	made := m.fillOne(c.Place, list, max(p.sure, p.at), latest, func(row models.Row) bool { return m.suitsAfter(row, p.known, now) })
	if made != none {
		if m.p.Dense && m.forced(list, p.sure, latest, made) {
			m.gaps[m.from(made)].named = true
		}
		p.value, p.known, p.at = c.Value, true, made
		if m.counts && m.p.None != nil && m.p.None(c) {
			p.count, p.done = p.count[:0], made
		} else if m.counts {
			p.count = append(p.count, made)
		}
		return nil
	}
	if _, based := m.p.At(m.model.Init()); !based && p.sure == none && m.end(list, 0) > 0 {
		// It may have been before the first position.
		if k := m.last(list, m.end(list, 0)); k >= 0 && !p.known && m.fill[list.fill[k]].at == none {
			f := &m.fill[list.fill[k]]
			f.used = true
			m.before = append(m.before, f.row)
			p.value, p.known = c.Value, true
			return nil
		}
		return nil
	}
	g := m.from(p.sure + 1)
	if noGap := m.p.Dense && p.sure != none && (int(g) == len(m.gaps) || m.gaps[g].at > latest); any && !noGap {
		return nil
	}
	if any {
		k, _ := slices.BinarySearchFunc(m.blocks, p.sure+1, func(b block, at int64) int { return cmp.Compare(b.at, at) })
		for ; k < len(m.blocks) && m.blocks[k].at <= latest; k++ {
			if m.unsure(m.blocks[k]) {
				return nil
			}
			if b := m.blocks[k]; b.update >= 0 {
				m.full = max(m.full, m.in.Res[b.update])
			}
		}
	}
	return Unmade.Of(row, p.by)
}

// forced says whether a gap is the only one where some update can have left what was shown, and only one can have left it.
func (m *matching) forced(list *pool, sure, latest, made int64) bool {
	first := m.from(sure + 1)
	return sure != none && m.gaps[first].at == made && m.from(latest+1) == first+1 && m.end(list, made) == 1
}

// depends says whether an update depends on what is there.
func (m *matching) depends(row models.Row) bool {
	cells, all := m.p.Sees(nil, m.in.Op(row))
	return all || len(cells) > 0
}

// suitsAfter says whether an update can happen while a place has a cell.
func (m *matching) suitsAfter(row models.Row, known bool, c models.Cell) bool {
	cells, all := m.p.Sees(nil, m.in.Op(row))
	return !all && (len(cells) == 0 || known && len(cells) == 1 && cells[0] == c)
}

// fillOne lets an update that suits fill the last free gap after a position and up to another.
func (m *matching) fillOne(number int32, list *pool, after, latest int64, suits func(row models.Row) bool) int64 {
	if !m.p.Dense {
		return m.fillSparse(list, after, latest, suits)
	}
	put := func(g int32) int64 {
		if g < 0 || m.gaps[g].at <= after {
			return none
		}
		for k := range m.unused(list, m.gaps[g].at) {
			if row := m.fill[k].row; suits(row) {
				m.assign(g, k)
				m.jobs[g] = job{number, max(after, m.lo[row]) + 1, latest}
				return m.gaps[g].at
			}
		}
		return none
	}
	end := m.from(latest + 1)
	if at := put(m.free(end)); at != none || m.end(list, latest) == 0 {
		return at
	}
	return put(m.room(m.from(after+1), end))
}

// fillSparse is fillOne for sparse positions, where every position that no update has is a gap. It takes the first one,
// which leaves the later ones to those that need them later.
func (m *matching) fillSparse(list *pool, after, latest int64, suits func(row models.Row) bool) int64 {
	for k := range m.unused(list, latest) {
		if !suits(m.fill[k].row) {
			continue
		}
		first := max(after, m.lo[m.fill[k].row]) + 1
		for at := first; at <= latest && at < first+maxTried; at++ {
			b, found := slices.BinarySearchFunc(m.blocks, at, func(b block, at int64) int { return cmp.Compare(b.at, at) })
			if fixed := m.fill[k].at; m.taken[at] || found && m.blocks[b].update >= 0 || fixed != none && fixed != at {
				continue
			}
			m.taken[at], m.fill[k].used = true, true
			m.sparse = append(m.sparse, gap{at: at, by: k})
			return at
		}
	}
	return none
}

// room frees one of the gaps between two by moving what fills it to another one, and what fills that, and so on: an
// augmenting path. It returns the gap or -1.
func (m *matching) room(from, end int32) int32 {
	m.met = m.met[:0]
	for g := end - 1; g >= from && g >= end-maxTried; g-- {
		if m.move(g) {
			return g
		}
	}
	return -1
}

// move moves what fills a gap to another one.
func (m *matching) move(g int32) bool {
	j := m.jobs[g]
	if j.latest == 0 || slices.Contains(m.met, g) || len(m.met) >= maxTried {
		return false
	}
	m.met = append(m.met, g)
	from, end := m.from(j.from), m.from(j.latest+1)
	other := m.free(end)
	for k := end - 1; other < from && k >= from && k >= end-maxTried; k-- {
		if k != g && m.move(k) {
			other = k
		}
	}
	if other < from {
		return false
	}
	m.assign(other, m.gaps[g].by)
	m.jobs[other], m.jobs[g], m.gaps[g].by = j, job{}, -1
	return true
}

// maxTried bounds how many positions are tried for an update.
const maxTried = 64

// count compares the updates in a row with what an operation says of their number.
func (m *matching) count(row models.Row) {
	m.clues = m.p.Clues(m.clues[:0], m.in.Op(row))
	for _, c := range m.clues {
		if c.Count == 0 {
			continue
		}
		p := m.place(c.Cell.Place)
		n, _ := slices.BinarySearch(p.count, c.Position+1)
		if c.Position == m.at[row] && m.moves[row] != models.NeverMoves { // what it leaves itself
			n++
		}
		for ; int64(n) < c.Count; n++ {
			made := m.another(c.Cell.Place, max(p.done, none), c.Position-1, false)
			if made == none {
				break
			}
			k, _ := slices.BinarySearch(p.count, made)
			p.count = slices.Insert(p.count, k, made)
		}
		if int64(n) > c.Count {
			m.removed(c, p, n)
		}
		p.done = max(p.done, c.Position)
	}
}

// another fills a gap between two positions with any update of a place that leaves a value there, or takes it away: if
// there is one, with one that does nothing else, and else with one whose value no operation shows.
func (m *matching) another(number int32, after, latest int64, takes bool) int64 {
	list := m.byPlace[number]
	for _, suits := range [...]func(row models.Row) bool{
		func(row models.Row) bool {
			return !m.keeps(row) && m.onlyPlace(row) && (takes || m.moves[row] == models.AlwaysMoves)
		},
		func(row models.Row) bool { return !m.keeps(row) },
		func(models.Row) bool { return true },
	} {
		made := m.fillOne(number, list, after, latest, func(row models.Row) bool { return m.leavesNone(row, number) == takes && suits(row) })
		if made != none {
			return made
		}
	}
	return none
}

// onlyPlace says whether an update leaves nothing but one cell.
func (m *matching) onlyPlace(row models.Row) bool {
	m.cells = m.p.Makes(m.cells[:0], m.in.Op(row))
	return len(m.cells) == 1
}

// keeps says whether an operation shows what an update leaves, which has that from no other.
func (m *matching) keeps(row models.Row) bool {
	k, found := slices.BinarySearchFunc(m.fill, row, func(f filler, row models.Row) int { return int(f.row - row) })
	return found && m.fill[k].kept
}

func (m *matching) leavesNone(row models.Row, number int32) bool {
	m.cells = m.p.Makes(m.cells[:0], m.in.Op(row))
	return slices.ContainsFunc(m.cells, func(c models.Cell) bool { return c.Place == number && m.p.None(c) })
}

// removed fills a gap with an update that took the value of a place away, so that fewer updates have been in a row: as early
// as there is a gap, and others with those that must have followed it then.
func (m *matching) removed(c models.Clue, p *place, n int) {
	number := c.Cell.Place
	for begin := n - int(c.Count); begin < n; begin++ { // in p.count: the first of them
		after, latest := p.count[begin-1], c.Position-1
		if begin < len(p.count) {
			latest = p.count[begin] - 1
		}
		row := slices.Clone(p.count[begin:])
		if begin > n-int(c.Count) && m.from(after+1) == m.from(latest+1) {
			continue // no gap
		}
		for more := begin - (n - int(c.Count)); more > 0; more-- {
			made := m.another(number, after, latest, false)
			if made == none {
				return
			}
			row, latest = slices.Insert(row, 0, made), made-1
		}
		if m.another(number, after, latest, true) != none {
			p.count = row
			return
		}
	}
}
