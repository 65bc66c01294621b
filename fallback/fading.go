package fallback

import (
	"slices"
	"sort"

	"clew/models"
)

// # Values that nobody sees, and values that somebody needs
//
// What follows is about models whose state has a value at each of some places
// (models.Fading). A configuration at a return has linearized all that returned before
// it. So an operation that begins after that return comes later than whatever left the
// values that are there now.
//
// Fading. If an operation that begins after the return blindly replaces a value, and
// returns, then what begins after that does not see the value that is there now; nor
// does what has returned. If no other operation shows a value, what is left goes on in
// the same way whatever the value is: the search puts one and the same in the place of
// all such values, and configurations that differ in nothing else become one.
//
// Covering. An operation that shows nothing can happen in every state. If all values
// that it leaves are blindly replaced by another one, which does not show them, it can
// stand right before that one, where nobody sees it: it is covered, as window.go says
// of operations that overwrite everything.
//
// Needs. If an operation is open that must happen, and needs a value, the value is
// there, or what is there may become it, or some operation leaves what may: it is open
// and not gone, or has crashed and is not used, or begins before the one that needs it
// returns. If there is none the configuration is given up: it does not get further than
// that return. So as to name the first failing completion, a search looks only at the
// operation that returns next, and at those that return before the furthest return to
// which it has got: the horizon. Window first looks at all.
//
// Crashed operations may never happen: they replace nothing for certain. What they
// show or leave they may show or leave at any time after their invocation.
//
// Complexity: for each configuration, logarithmic in the number of operations for each
// of its places and for each open operation, and linear in the number of those open if
// one needs what is not there.

// fading is what a search knows about the values of one set of operations.
type fading struct {
	*Layout
	model  models.Fading
	places map[int32]*place
	kin    map[models.Cell]*kin
	faded  []fadedState // by state

	needs, leaves [][]*kin // by class: the cells that it needs, and those that it blindly leaves
	alters, hides []uint64 // by class: the places that it alters, if it shows nothing, and those that it hides
}

// place is the operations that blindly replace its value and return, by invocation.
type place struct {
	bit uint    // in alters and hides, if it is less than maxPlaces
	inv []int32 // when they begin
	res []int32 // the first return of those from here on
}

// maxPlaces is how many places are told apart for covering.
const maxPlaces = 64

// kin is a cell, and the operations and cells that have to do with it.
type kin struct {
	models.Cell
	number  int32
	shown   chain   // the operations that show it
	begin   []int32 // when those begin that blindly leave it
	sources []*kin  // cells that are left, and that may become it

	met     bool    // what follows is known
	becomes []int32 // the numbers of cells that it may become, ascending
	seers   *chain  // the operations that show one of these
}

// kinBytes is about what a kin takes.
const kinBytes = 250

// fadedState is what becomes of a state at a return.
type fadedState struct{ at, to int32 }

// newFading is for all operations. It takes time and memory linear in what they show
// and leave.
func newFading(l *Layout, model models.Fading) *fading {
	n := len(l.space.ops)
	f := &fading{Layout: l, model: model, places: map[int32]*place{}, kin: map[models.Cell]*kin{},
		needs: make([][]*kin, n), leaves: make([][]*kin, n), alters: make([]uint64, n), hides: make([]uint64, n)}
	var left []*kin // by some operation
	var shows, leaves []models.Cell
	known := make([]bool, n)
	for row := range models.Row(l.Ops.Len()) {
		var needs, blindly bool
		op, class := l.Ops.Op(row), l.Class[row]
		shows, needs = model.Shows(shows[:0], op)
		leaves, blindly = model.Leaves(leaves[:0], op)
		for _, cell := range shows {
			f.cell(cell).shown.add(l.Ops.Inv[row], l.Ops.Res[row])
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

// cell is the kin of a cell.
func (f *fading) cell(cell models.Cell) *kin {
	k := f.kin[cell]
	if k == nil {
		k = &kin{Cell: cell, number: int32(len(f.kin))}
		f.kin[cell] = k
		f.Take(kinBytes)
	}
	return k
}

func (f *fading) place(id int32) *place {
	p := f.places[id]
	if p == nil {
		p = &place{bit: uint(len(f.places))}
		f.places[id] = p
	}
	return p
}

// learn notes what a class of operations shows and leaves.
func (f *fading) learn(class int32, shows, leaves []models.Cell, needs, blindly bool) {
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
func (f *fading) findSources(left []*kin) {
	byNumber := make([]*kin, len(f.kin))
	for _, k := range f.kin {
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
func (f *fading) meet(k *kin) {
	if k.met {
		return
	}
	k.met = true
	var all []*kin
	for _, cell := range f.model.Becomes(nil, k.Cell) {
		if x := f.kin[cell]; x != nil && len(x.shown.inv) > 0 {
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
		for i := range x.shown.inv {
			seers = append(seers, seer{x.shown.inv[i], x.shown.res[i]})
		}
	}
	slices.SortFunc(seers, func(a, b seer) int { return int(a.inv - b.inv) })
	k.seers = &chain{}
	for _, s := range seers {
		k.seers.add(s.inv, s.res)
	}
	f.Take(8*int64(len(seers)) + 4*int64(len(all)))
	f.Work += len(seers)
}

// coverable says whether operations of a class may be covered.
func (f *fading) coverable(class int32) bool { return f.alters[class] != 0 }

// covers says whether operations of a class cover those of another.
func (f *fading) covers(by, class int32) bool {
	return f.alters[class] != 0 && f.alters[class]&^f.hides[by] == 0
}

// fade is a state at the k-th return, with what is not seen faded.
func (f *fading) fade(k, state int32) int32 {
	for int(state) >= len(f.faded) {
		f.faded = append(grow(f.Layout, f.faded, 1), fadedState{at: -1})
	}
	if x := f.faded[state]; x.at == k {
		return x.to
	}
	s := f.model.Fade(f.space.states[state], func(cell models.Cell) bool { return f.seen(k, cell) })
	f.Work += numberWork * len(s)
	to := f.space.Number(s)
	f.faded[state] = fadedState{k, to}
	return to
}

// seen says whether some operation may show a cell, or what it becomes, at the k-th
// return or later.
func (f *fading) seen(k int32, cell models.Cell) bool {
	x := f.cell(cell)
	f.meet(x)
	until := int32(models.Open)
	if p := f.places[cell.Place]; p != nil {
		if i := sort.Search(len(p.inv), func(i int) bool { return p.inv[i] > f.Ends[k] }); i < len(p.inv) {
			until = p.res[i]
		}
	}
	return x.seers.after(f.Ends[k]-1, until)
}

// wants says whether some open operation of a configuration at the k-th return, which
// must happen, needs what will never be there.
func (m *moves) wants(k, state int32, c []uint64) bool {
	open := m.OpenRows(k)
	for _, row := range open {
		needs := m.fading.needs[m.Class[row]]
		if len(needs) == 0 || m.discharged(c, row) || row != open[0] && m.Ops.Res[row] >= m.horizon {
			continue
		}
		for _, x := range needs {
			m.Work++
			if !m.fading.mayBecome(m.space.states[state], x) && !m.comes(k, c, row, x) {
				return true
			}
		}
	}
	return false
}

// mayBecome says whether what is there in a state is a cell, or may become it.
func (f *fading) mayBecome(s models.State, x *kin) bool {
	now := models.Cell{Place: x.Place, Value: f.model.At(s, x.Place)}
	if now == x.Cell {
		return true
	}
	k := f.cell(now)
	f.meet(k)
	_, found := slices.BinarySearch(k.becomes, x.number)
	return found
}

// comes says whether, after a configuration at the k-th return, some operation may
// leave what becomes a cell before a row returns.
func (m *moves) comes(k int32, c []uint64, row int32, x *kin) bool {
	for _, source := range x.sources {
		if i, found := slices.BinarySearch(source.begin, m.Ends[k]); !found && i < len(source.begin) && source.begin[i] < m.Ops.Res[row] {
			return true
		}
		open := m.OpenRows(k)
		m.Work += len(open) + len(m.Crashed)
		for _, o := range open {
			if o != row && slices.Contains(m.fading.leaves[m.Class[o]], source) && m.free(c, o) {
				return true
			}
		}
		for crash, of := range m.Crashed {
			if n := m.used(c, crash); n < len(of.Rows) && m.Ops.Inv[of.Rows[n]] <= m.Ends[k] && slices.Contains(m.fading.leaves[of.Class], source) {
				return true
			}
		}
	}
	return false
}
