package forget

import (
	"slices"

	"clew/edn"
	"clew/models"
)

// # Sets that are read as a whole
//
// Decides which operations of a set that only grows later completions still depend on. Linear time and space in the
// operations and the sizes of the sets that were read.
//
// Let t be the first invocation of a read that has yet to return. An element is certain if an add of it, or a read that
// has it, returned before t; or if a read that has returned has it, but lacks one that is certain. Each linearization
// has all certain elements by t: a read that lacks a certain one comes before that is added, so all that it has were
// added before, too. Reads that have returned have all of the certain elements, or none that is not.
//
// Lemma: whatever is invoked later, a linearization may begin with one add of each certain element, and with the reads
// that have no others. Take any linearization, and move these to the front, in the same order. They see the same, as
// the reads among them had nothing else. The others see the same, too: those that have returned or will return have all
// certain elements, and come after them. As for time, let an operation that stays behind return before one of those
// begins. If it is an add, its element is not certain; so that one begins at t or later, and does not read, as a read would see
// the element. The only adds that begin then are of elements that a read has that lacks a certain one; so they were
// added before t by an earlier one. If it is a read, it has all certain elements; so they were added before it returned,
// and a read without others cannot begin after it.
//
// What is kept is what is open, crashed adds that no read has seen, and adds and reads of what is not certain.

// growSet does what Needed does for a set.
func growSet(part *models.Operations, shape models.GrowSetShape, decided int32) Kept {
	t := decided
	for row, kind := range part.Kind {
		if kind != models.Add && part.Res[row] >= decided {
			t = min(t, part.Inv[row])
		}
	}
	in := map[int32]bool{}
	add := func(elements []int32) {
		for _, x := range elements {
			in[x] = true
		}
	}
	add(shape.Init)
	for row, res := range part.Res {
		if res < t && part.Kind[row] == models.Add {
			in[part.A[row]] = true
		} else if res < t && part.Kind[row] == models.ReadSet {
			add(shape.Sets[part.A[row]])
		}
	}
	most := models.Row(-1) // the read of the most elements that lacks one that is certain
	for row, res := range part.Res {
		if row := models.Row(row); res < decided && part.Kind[row] == models.ReadSet {
			if set := shape.Sets[part.A[row]]; count(set, in) < len(in) && (most < 0 || len(set) > len(shape.Sets[part.A[most]])) {
				most = row
			}
		}
	}
	if most >= 0 {
		add(shape.Sets[part.A[most]])
	}
	next, certain := &State{}, make([]int32, 0, len(in))
	if last := stateOf(part.Model); last != nil {
		next.Given = last.Given
	}
	for x := range in {
		certain = append(certain, x)
	}
	done := make([]bool, part.Len())
	for row, kind := range part.Kind {
		switch set := part.A[row]; {
		case part.Inv[row] >= decided:
		case kind == models.Add:
			done[row] = in[part.A[row]]
		case kind == models.ReadSet && part.Res[row] < decided:
			done[row] = count(shape.Sets[set], in) == len(shape.Sets[set])
		}
	}
	return settled(&part.Columns, decided, done, next, next.Given.add(part.History.Values, certain))
}

// count returns how many elements are in a set.
func count(elements []int32, in map[int32]bool) (n int) {
	for _, x := range elements {
		if in[x] {
			n++
		}
	}
	return n
}

// resumedSet is a set that has elements. It begins with those that some read lacks, and no read has the others.
type resumedSet struct {
	*resumed
	sets []models.State
}

// growSet returns operations under a set that goes on. Adds of what it has make no difference.
func (r *resumed) growSet(part *models.Operations, shape models.GrowSetShape) *models.Operations {
	m, v, given := &resumedSet{resumed: r, sets: make([]models.State, len(shape.Sets))}, part.History.Values, &r.state.Given
	var rows []models.Row
	for row, kind := range part.Kind {
		if kind != models.Add || !given.has(v, part.A[row]) {
			rows = append(rows, models.Row(row))
		}
		if kind != models.ReadSet {
			continue
		}
		if set := shape.Sets[part.A[row]]; countGiven(v, given, set) < given.size() {
			r.init = append(r.init, given.but(v, set)...)
		}
	}
	slices.Sort(r.init)
	r.init = slices.Compact(r.init)
	for row, kind := range part.Kind {
		if set := part.A[row]; kind == models.ReadSet {
			m.sets[set] = slices.DeleteFunc(slices.Clone(shape.Sets[set]), func(x int32) bool {
				_, lacked := slices.BinarySearch(r.init, x)
				return !lacked && given.has(v, x)
			})
		}
	}
	shape.Init, shape.Sets = r.init, m.sets
	r.traits = models.Traits{Shape: func() models.Shape { return shape }}
	return part.Select(rows).Under(m)
}

// countGiven returns how many elements of a set are given.
func countGiven(v *edn.Values, given *Given, set []int32) (n int) {
	for _, x := range set {
		if given.has(v, x) {
			n++
		}
	}
	return n
}

// Step implements models.Model.
func (m *resumedSet) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.ReadNoSet:
		return dst
	case models.Add:
		if i, found := slices.BinarySearch(s, op.A); !found {
			return append(dst, slices.Insert(slices.Clone(s), i, op.A))
		}
	case models.ReadSet:
		if !slices.Equal(s, m.sets[op.A]) {
			return dst
		}
	}
	return append(dst, s)
}
