package forget

import (
	"math"

	"clew/models"
)

// # What a linearization of all that comes may begin with
//
// Where a model goes on in a state, that is what leads to it. Ids that differ may stand anywhere in time. Ids that grow stand
// in their order, and all that come later are greater than those that are over, and than the smaller ones.
//
// Lemma for registers (see register.go, whose terms these are): whatever comes later, a linearization may begin with the dead
// blocks in the order of min(first, last). That order is right among them: let first(v) < last(w), so that v must come before w.
// If w has first(w) < last(w), then last(v) <= first(w), since v and w do not contradict each other, and v has the smaller number.
// Otherwise first(v) < last(w) <= first(w), so it has, too. Let a block u have to come before a dead one v: first(u) < last(v). v is
// dead because of w, so last(v) <= first(w) < oldest. If first(v) < oldest, v makes u dead. Otherwise first(u) < last(v) < oldest <=
// first(v) < last(w), and w does. So u is dead, too, and what comes later does not change first(u), or begins a block with
// first(u) >= oldest.
//
// Let v be a block that is not dead, with first(v) < oldest, and let first(v) < last(u) for each other block u that is not dead.
// Then v comes next, since what begins later has a greater last. There is at most one such block. If something that returned
// before oldest shows a later value of it, nothing that returns later sees an earlier one, so these are complete. Of the last
// value that was shown by then, the operations that have returned can follow, as those that return later go on with it.
//
// Values may be used again later: each linearization says which write an operation saw, and none can have seen another one by
// now, as the precondition holds for all that began by then.

// Next says what a linearization of all that comes may begin with.
type Next struct {
	Ready []bool // by row
	// Sees are operations that can happen just after these, one after the other, if these lead to the right state. State is that
	// state. There is neither if any order leads to it.
	Sees  []models.Op
	State models.State
}

// Ready says what a linearization of all that comes may begin with, once Needed has returned what is kept of a part, whose last
// State it may have changed. It returns false if it does not know operations that see the state.
func Ready(part *models.Operations, decided int32, kept Kept) (next Next, ok bool) {
	if kept.Settled != nil {
		next, ok = seen(part, kept.State, kept.At)
		next.Ready = kept.Settled
		return next, ok
	}
	next.Ready = make([]bool, part.Len())
	of := part.Model.Traits().Shape
	if kept.Rows == nil || of == nil {
		return next, true
	}
	switch shape := of().(type) {
	case models.RegisterShape:
		if value, known := readyRegister(pastOf(&part.Columns, decided), shape.Init, next.Ready); known {
			next.Sees = []models.Op{{Kind: models.Read, A: value}}
		}
	case models.IDsShape:
		readyIDs(pastOf(&part.Columns, decided), shape, next.Ready)
	}
	return next, true
}

// MakesNoDifference says whether an operation that a linearization may begin with may also come later than the others, and
// need not be settled: it adds what is there already.
func MakesNoDifference(part *models.Operations, row models.Row) bool {
	_, grows := models.ShapeOf[models.GrowSetShape](part.Model)
	return grows && part.Kind[row] == models.Add
}

// seen returns what tells the state in which a model goes on, which is at if a search has found it.
func seen(part *models.Operations, s *State, at models.State) (next Next, ok bool) {
	v, of := part.History.Values, part.Model.Traits().Shape
	switch {
	case at != nil && part.Model.Traits().IsRegister:
		next.Sees = []models.Op{{Kind: models.Read, A: at[0]}}
		return next, true
	case at != nil || of == nil:
		next.State = at
		return next, at != nil
	}
	switch shape := of().(type) {
	case models.LookupSetShape:
		is := models.HasNot
		if s == inside {
			is = models.Has
		}
		next.Sees = []models.Op{{Kind: is, A: part.A[0]}}
	case models.LogShape:
		have := 0
		if last := stateOf(part.Model); last != nil {
			have = len(last.List.Numbers)
		}
		for place := have; place < len(s.List.Numbers); place++ {
			value := v.InternInt(s.List.Numbers[place])
			if text, isText := s.List.Texts[place]; isText {
				value, _ = v.ParseLenient([]byte(text)) // it is what Text has returned
			}
			next.Sees = append(next.Sees, models.Op{Kind: models.ReadAt, A: int32(v.Same(value)), B: int32(len(shape.Init) + place - have)})
		}
	case models.VersionsShape:
		value, err := v.ParseLenient([]byte(s.Value))
		next.State = models.State{int32(s.Number), int32(v.Same(value))}
		return next, err == nil
	case models.SemaphoreShape, models.CounterShape, models.GrowSetShape: // any order leads to the same state
	default:
		return next, false
	}
	return next, true
}

// pastOf returns what has been decided.
func pastOf(c *models.Columns, decided int32) past {
	p := past{c, decided, decided}
	for row, inv := range c.Inv {
		if res := c.Res[row]; inv < decided && res >= decided && res != models.Open {
			p.oldest = min(p.oldest, inv)
		}
	}
	return p
}

// readyIDs says which ids a linearization may begin with.
func readyIDs(p past, shape models.IDsShape, ready []bool) {
	greatest := int64(math.MinInt64)
	for row := range models.Row(p.Len()) {
		if shape.Growing && p.over(row) {
			greatest = max(greatest, shape.Numbers[p.B[row]])
		}
	}
	for row := range models.Row(p.Len()) {
		ready[row] = p.returned(row) && (!shape.Growing || shape.Numbers[p.B[row]] <= greatest)
	}
}

// readyRegister says which operations of a register a linearization may begin with, and the value that they lead to, if more
// operations may see it.
func readyRegister(p past, init int32, ready []bool) (value int32, known bool) {
	b := blocks{past: p}
	if !b.read(init) {
		return 0, false
	}
	dead := b.dead()
	next := int32(-1) // the block that comes after the dead ones
	for i := range b.nodes {
		if i := int32(i); b.isBlock(i) && !dead[i] && b.nodes[i].first < b.oldest && b.precedesOthers(i, dead) {
			next = i
		}
	}
	last, through := next, make([]bool, len(b.nodes)) // its last value that is shown by what is over, and the path to it
	for row := range models.Row(p.Len()) {
		if i := b.after(row); next >= 0 && b.over(row) && b.rootOf(i) == next && !through[i] {
			for last = i; !through[i]; i = b.numbers.of(b.A[b.nodes[i].update]) {
				if through[i] = true; i == next {
					break
				}
			}
		}
	}
	if next >= 0 {
		through[next] = true
	}
	for row := range models.Row(p.Len()) {
		if i := b.after(row); i >= 0 && b.nodes[i].seen && (p.returned(row) || b.nodes[i].update == row) {
			ready[row] = dead[b.rootOf(i)] || through[i]
		}
	}
	switch {
	case last < 0:
		return 0, false
	case b.nodes[last].update < 0:
		return init, true
	}
	return b.leaves(b.nodes[last].update), true
}

// isBlock says whether a node begins a block that is certainly there.
func (b *blocks) isBlock(i int32) bool { return b.nodes[i].seen && b.rootOf(i) == i }

// precedesOthers says whether a block comes before all others that are not dead.
func (b *blocks) precedesOthers(i int32, dead []bool) bool {
	for u := range b.nodes {
		if u := int32(u); u != i && b.isBlock(u) && !dead[u] && b.nodes[u].last <= b.nodes[i].first {
			return false
		}
	}
	return true
}

// leaves returns the value that is there after an operation.
func (b *blocks) leaves(row models.Row) int32 {
	if b.isCAS(row) {
		return b.B[row]
	}
	return b.A[row]
}

// after returns the node of that value, or -1.
func (b *blocks) after(row models.Row) int32 { return b.numbers.of(b.leaves(row)) }
