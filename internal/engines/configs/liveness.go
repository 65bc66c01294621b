package configs

import (
	"slices"
	"sort"

	"clew/fallback"
	"clew/models"
)

// # Values that no operation sees, and values that some operation needs
//
// What follows is about models whose state has a value at each of some places
// (models.Liveness). A configuration at a return has linearized all operations that
// returned before it. So an operation that begins after that return comes later than
// whatever left the values that are there now.
//
// Forgetting. Suppose that an operation that begins after the return blindly replaces a
// value, and returns. What begins after that does not see the value that is there now,
// and neither does what has returned. If no other operation shows the value, the rest
// goes on in the same way whatever the value is. So the search replaces all such values
// by one and the same value, and merges configurations that differ in nothing else.
//
// Covering. An operation that shows nothing can happen in every state. Suppose that
// another operation blindly replaces all values that it leaves, and does not show them.
// Then it can stand right before that one, where no operation sees it: it is covered,
// as window.go says of operations that overwrite everything.
//
// Needs. Suppose that an open operation must happen and needs a value. Then the value
// is there, or the value that is there may become it, or some operation leaves one that
// may. That operation is open and not gone, or has crashed and is not used, or begins
// before the one that needs it returns. If there is no such operation the search gives
// up the configuration, because it does not get further than that return. To name the
// first failing completion, a search looks only at some open operations: the one that
// returns next, and those that return before the horizon. The horizon is the furthest
// return that the search has reached. Window first looks at all open operations.
//
// Crashed operations may never happen, so they replace nothing for certain. They may
// show or leave their values at any time after their invocation.
//
// Complexity: for each configuration, logarithmic in the number of operations for each
// of its places and for each open operation. It is also linear in the number of open
// operations if one of them needs a value that is not there.

// liveness holds what a search knows about the values of one set of operations.
type liveness struct {
	*fallback.Layout
	model  *models.Liveness
	places map[int32]*place
	uses   map[models.Cell]*cellUse
	forgot []forgotten // by state

	needs, leaves [][]*cellUse // by class: the cells that it needs, and the cells that it blindly leaves
	alters, hides []uint64     // by class: the places that it alters, if it shows nothing, and the places that it hides
}

// place holds the operations that blindly replace its value and return, by invocation.
type place struct {
	bit uint    // in alters and hides, if it is less than maxPlaces
	inv []int32 // when they begin
	res []int32 // the first return of those from here on
}

// maxPlaces is how many places covering distinguishes.
const maxPlaces = 64

// cellUse is a cell with the operations and cells that are related to it.
type cellUse struct {
	models.Cell
	number  int32
	shown   fallback.Spans // the operations that show it
	begin   []int32        // when those begin that blindly leave it
	sources []*cellUse     // cells that are left, and that may become it

	met     bool            // what follows is known
	becomes []int32         // the numbers of the cells that it may become, ascending
	seers   *fallback.Spans // the operations that show one of these
}

// cellUseBytes is about how much memory a cellUse takes.
const cellUseBytes = 250

// forgotten says which state a state becomes at a return without the values that are not seen.
type forgotten struct{ at, to int32 }

// newLiveness prepares what liveness knows about all operations. It takes time and
// memory linear in what they show and leave.
func newLiveness(l *fallback.Layout, model *models.Liveness) *liveness {
	n := len(l.Space.Ops)
	f := &liveness{Layout: l, model: model, places: map[int32]*place{}, uses: map[models.Cell]*cellUse{},
		needs: make([][]*cellUse, n), leaves: make([][]*cellUse, n), alters: make([]uint64, n), hides: make([]uint64, n)}
	var left []*cellUse // by some operation
	var shows, leaves []models.Cell
	known := make([]bool, n)
	for row := range models.Row(l.Ops.Len()) {
		var needs, blindly bool
		op, class := l.Ops.Op(row), l.Class[row]
		shows, needs = model.Shows(shows[:0], op)
		leaves, blindly = model.Leaves(leaves[:0], op)
		for _, cell := range shows {
			f.cell(cell).shown.Add(l.Ops.Inv[row], l.Ops.Res[row])
		}
		for _, cell := range leaves {
			if !blindly {
				break
			}
			k := f.cell(cell)
			if len(k.begin) == 0 {
				left = append(left, k)
			}
			k.begin = append(k.begin, l.Ops.Inv[row])
			if p := f.place(cell.Place); l.Ops.Res[row] != models.Open {
				p.inv, p.res = append(p.inv, l.Ops.Inv[row]), append(p.res, l.Ops.Res[row])
			}
		}
		if !known[class] {
			known[class] = true
			f.learn(class, shows, leaves, needs, blindly)
		}
	}
	for _, p := range f.places {
		for i := len(p.res) - 2; i >= 0; i-- {
			p.res[i] = min(p.res[i], p.res[i+1])
		}
	}
	f.findSources(left)
	f.Take(20 * int64(l.Ops.Len()))
	return f
}

// cell returns the use of a cell, and makes it if it is new.
func (f *liveness) cell(cell models.Cell) *cellUse {
	k := f.uses[cell]
	if k == nil {
		k = &cellUse{Cell: cell, number: int32(len(f.uses))}
		f.uses[cell] = k
		f.Take(cellUseBytes)
	}
	return k
}

func (f *liveness) place(id int32) *place {
	p := f.places[id]
	if p == nil {
		p = &place{bit: uint(len(f.places))}
		f.places[id] = p
	}
	return p
}

// learn notes what a class of operations shows and leaves.
func (f *liveness) learn(class int32, shows, leaves []models.Cell, needs, blindly bool) {
	var altered, shown uint64
	for _, cell := range shows {
		shown |= 1 << f.place(cell.Place).bit
		if needs {
			f.needs[class] = append(f.needs[class], f.cell(cell))
		}
	}
	for _, cell := range leaves {
		altered |= 1 << f.place(cell.Place).bit
		if blindly {
			f.leaves[class] = append(f.leaves[class], f.cell(cell))
		}
	}
	if len(f.places) > maxPlaces {
		return
	}
	if len(shows) == 0 {
		f.alters[class] = altered
	}
	if blindly {
		f.hides[class] = altered &^ shown
	}
}

// findSources finds what the cells that some operations leave may become.
func (f *liveness) findSources(left []*cellUse) {
	byNumber := make([]*cellUse, len(f.uses))
	for _, k := range f.uses {
		byNumber[k.number] = k
	}
	for _, k := range left {
		f.meet(k)
		for _, number := range k.becomes {
			byNumber[number].sources = append(byNumber[number].sources, k)
		}
	}
}

// meet finds what a cell may become.
func (f *liveness) meet(k *cellUse) {
	if k.met {
		return
	}
	k.met = true
	var all []*cellUse
	for _, cell := range f.model.Becomes(nil, k.Cell) {
		if x := f.uses[cell]; x != nil && len(x.shown.Inv) > 0 {
			all = append(all, x)
			k.becomes = append(k.becomes, x.number)
		}
	}
	slices.Sort(k.becomes)
	if len(all) == 1 {
		k.seers = &all[0].shown
		return
	}
	type seer struct{ inv, res int32 }
	var seers []seer
	for _, x := range all {
		for i := range x.shown.Inv {
			seers = append(seers, seer{x.shown.Inv[i], x.shown.Res[i]})
		}
	}
	slices.SortFunc(seers, func(a, b seer) int { return int(a.inv - b.inv) })
	k.seers = &fallback.Spans{}
	for _, s := range seers {
		k.seers.Add(s.inv, s.res)
	}
	f.Take(8*int64(len(seers)) + 4*int64(len(all)))
	f.Work += len(seers)
}

// coverable says whether operations of a class may be covered.
func (f *liveness) coverable(class int32) bool { return f.alters[class] != 0 }

// covers says whether operations of one class cover those of another.
func (f *liveness) covers(by, class int32) bool {
	return f.alters[class] != 0 && f.alters[class]&^f.hides[by] == 0
}

// forget returns a state at the k-th return without the values that are not seen.
func (f *liveness) forget(k, state int32) int32 {
	for int(state) >= len(f.forgot) {
		f.forgot = append(fallback.Grow(&f.Budget, f.forgot, 1), forgotten{at: -1})
	}
	if x := f.forgot[state]; x.at == k {
		return x.to
	}
	s := f.model.Forget(f.Space.States[state], func(cell models.Cell) bool { return f.seen(k, cell) })
	f.Work += fallback.NumberWork * len(s)
	to := f.Space.Number(s)
	f.forgot[state] = forgotten{k, to}
	return to
}

// seen says whether some operation may show a cell, or what it becomes, at the k-th
// return or later.
func (f *liveness) seen(k int32, cell models.Cell) bool {
	x := f.cell(cell)
	f.meet(x)
	until := int32(models.Open)
	if p := f.places[cell.Place]; p != nil {
		if i := sort.Search(len(p.inv), func(i int) bool { return p.inv[i] > f.Ends[k] }); i < len(p.inv) {
			until = p.res[i]
		}
	}
	return x.seers.After(f.Ends[k]-1, until)
}

// wants says whether some open operation that must happen needs a value that will
// never be there, in a configuration at the k-th return.
func (m *transitions) wants(k, state int32, c []uint64) bool {
	open := m.OpenRows(k)
	for _, row := range open {
		needs := m.live.needs[m.Class[row]]
		if len(needs) == 0 || m.discharged(c, row) || row != open[0] && m.Ops.Res[row] >= m.horizon {
			continue
		}
		for _, x := range needs {
			m.Work++
			if !m.live.mayBecome(m.Space.States[state], x) && !m.comes(k, c, row, x) {
				m.blame(row, open)
				return true
			}
		}
	}
	return false
}

// blame notes that a configuration was given up because of an open row, which may return later than the first one.
func (m *transitions) blame(row int32, open []int32) {
	if row != open[0] {
		m.latest = max(m.latest, m.Ops.Res[row])
	}
}

// mayBecome says whether the value that is there in a state is a cell, or may
// become it.
func (f *liveness) mayBecome(s models.State, x *cellUse) bool {
	now := models.Cell{Place: x.Place, Value: f.model.At(s, x.Place)}
	if now == x.Cell {
		return true
	}
	k := f.cell(now)
	f.meet(k)
	_, found := slices.BinarySearch(k.becomes, x.number)
	return found
}

// comes says whether some operation may leave what becomes a cell before a row
// returns, after a configuration at the k-th return.
func (m *transitions) comes(k int32, c []uint64, row int32, x *cellUse) bool {
	for _, source := range x.sources {
		if i, found := slices.BinarySearch(source.begin, m.Ends[k]); !found && i < len(source.begin) && source.begin[i] < m.Ops.Res[row] {
			return true
		}
		open := m.OpenRows(k)
		m.Work += len(open) + len(m.Crashed)
		for _, o := range open {
			if o != row && slices.Contains(m.live.leaves[m.Class[o]], source) && m.free(c, o) {
				return true
			}
		}
		for crash, of := range m.Crashed {
			if n := m.used(c, crash); n < len(of.Rows) && m.Ops.Inv[of.Rows[n]] <= m.Ends[k] && slices.Contains(m.live.leaves[of.Class], source) {
				return true
			}
		}
	}
	return false
}
