package forget

import (
	"encoding/binary"
	"slices"

	"clew/internal/engines/configs"
	"clew/models"
)

// # Paths
//
// A state of any model, also of a user's own, can be kept as operations that lead to it one after another. They are
// short if states come back: what happened between two times that a state was there is left out. A lock that is
// held needs the one operation that took it, however often it was taken before.
//
// Precondition: each step on the way has one outcome. Complexity: linear in the sizes of the states on the way.
//
// Right since what comes depends only on the state, and on the operations that have not been linearized (configs.Before says
// why, also of those that crashed, which stay candidates unless it has linearized them). The path is read again with what is held, so
// a state may be of values, whose numbers change. What a model knows of its initial state is left out of its traits.

// Path is operations that lead to a state.
type Path struct {
	Old  []int        // these of the path before, by place
	Rows []models.Row // and then these
}

const (
	maxPathWork  = 1 << 24 // how many numbers the states have together through which withoutLoops goes
	maxShortcuts = 256     // how many operations it tries at the beginning
)

// hasPaths says whether states of a model are kept as paths. Its fast path begins there, or a search is as good.
func hasPaths(m models.Model) bool {
	of := m.Traits().Shape
	if of == nil {
		return true
	}
	switch of().(type) {
	case nil, models.RegisterShape, models.LIFOShape, models.FIFOShape, models.BagShape, models.PriorityShape, models.OwnerLockShape, models.FencedLockShape:
		return true
	}
	return false
}

// pathTo returns a path to the state that some operations lead to, of which returns one of them. It returns false if the path has
// most of them, or if a step of theirs has several outcomes.
func pathTo(m models.Model, past configs.Past, of func(models.Row) models.Op) (*Path, bool) {
	old := []models.Op(nil)
	if r, ok := m.(*resumed); ok {
		m, old = r.Model, r.path
	}
	n := len(old) + len(past.Order)
	op := func(i int) models.Op {
		if i < len(old) {
			return old[i]
		}
		return of(past.Order[i-len(old)])
	}
	path, ok := lastUpdates(m, n, op, past.State)
	if !ok {
		path, ok = withoutLoops(m, n, op, past.State)
	}
	if !ok || 2*len(path) > n {
		return nil, false
	}
	p := &Path{}
	for _, i := range path {
		if i < len(old) {
			p.Old = append(p.Old, i)
		} else {
			p.Rows = append(p.Rows, past.Order[i-len(old)])
		}
	}
	return p, true
}

// lastUpdates returns a path of the last updates of all places, and of what these depend on. It returns false if it does not lead
// to the state.
func lastUpdates(m models.Model, n int, op func(int) models.Op, to models.State) (path []int, ok bool) {
	see := m.Traits().Cells()
	if see == nil {
		return nil, false
	}
	left := map[int32]bool{} // places of which later updates in the path leave everything
	var cells []models.Cell
	for i := n - 1; i >= 0; i-- {
		x := op(i)
		if !m.Mutates(x) {
			continue
		}
		matters := false
		if cells = see.Makes(cells[:0], x); len(cells) == 0 {
			return nil, false
		}
		for _, c := range cells {
			matters = matters || !left[c.Place]
		}
		if !matters {
			continue
		}
		for _, c := range cells {
			left[c.Place] = true
		}
		path = append(path, i)
		var all bool
		if cells, all = see.Sees(cells[:0], x); all {
			return nil, false
		}
		for _, c := range cells {
			left[c.Place] = false
		}
	}
	slices.Reverse(path)
	s := m.Init()
	for _, i := range path {
		if s, ok = from(m, s, op(i)); !ok {
			return nil, false
		}
	}
	return path, slices.Equal(s, to)
}

// withoutLoops returns the path that some operations take, without what is between two times that a state was there. It returns
// false if they do not lead to the state. Linear in the sizes of the states on the way.
func withoutLoops(m models.Model, n int, op func(int) models.Op, to models.State) (path []int, ok bool) {
	s, work := m.Init(), 0
	states, lengths := []string{keyOf(s)}, map[string]int{keyOf(s): 0} // of the path; a state counts the operations to it
	for i := range n {
		if s, ok = from(m, s, op(i)); !ok {
			return nil, false
		}
		if work += len(s); work > maxPathWork {
			return nil, false
		}
		key := keyOf(s)
		length, known := lengths[key]
		if !known {
			path, states = append(path, i), append(states, key)
			lengths[key] = len(path)
			continue
		}
		for _, left := range states[length+1:] {
			delete(lengths, left)
		}
		path, states = path[:length], states[:length+1]
	}
	for i := len(path) - 1; i > max(0, len(path)-maxShortcuts); i-- {
		if next, ok := from(m, m.Init(), op(path[i])); ok && keyOf(next) == states[i+1] {
			path = path[i:] // what comes before does not matter to it
			break
		}
	}
	return path, slices.Equal(s, to)
}

// from returns the one state that an operation leads to from another. It returns false if there is none, or several.
func from(m models.Model, s models.State, op models.Op) (next models.State, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if f, failed := p.(*models.Failure); !failed || f.Cause != "" {
				panic(p)
			}
			ok = false // a user's own model fails in a state in which no search has taken this step
		}
	}()
	all := m.Step(nil, s, op)
	if len(all) != 1 {
		return nil, false
	}
	return all[0], true
}

// keyOf returns a state as a string.
func keyOf(s models.State) string {
	key := make([]byte, 0, 4*len(s))
	for _, x := range s {
		key = binary.NativeEndian.AppendUint32(key, uint32(x))
	}
	return string(key)
}

// along returns a model that begins where the operations of a path lead to.
func along(m models.Model, s *State, path []models.Op) *resumed {
	r := &resumed{Model: m, traits: *m.Traits(), init: m.Init(), state: s, path: path}
	for _, op := range path {
		r.init, _ = from(m, r.init, op) // pathTo has taken this step
	}
	t := &r.traits
	t.Levels, t.Hindsight, t.Projections, t.Alone, t.Droppable = nil, nil, nil, nil, nil // they start elsewhere
	var shape models.Shape
	if t.Shape != nil {
		shape = t.Shape()
		t.Shape = beginning(shape, r.init)
	}
	switch shape.(type) {
	case models.OwnerLockShape, models.FencedLockShape: // what is held initially counts
	default:
		t.Anomaly = nil
	}
	if d := m.Traits().Declared; d != nil {
		t.Declared = &models.Declared{Doubt: d.Doubt, Bare: func() models.Model { return along(d.Bare(), s, path) }}
	}
	return r
}

// beginning returns what Traits.Shape is for a model that begins in another state, nil if its fast path cannot.
func beginning(shape models.Shape, s models.State) func() models.Shape {
	switch other := shape.(type) {
	case models.RegisterShape:
		other.Init = s[0]
		shape = other
	case models.LIFOShape:
		other.Init = s
		shape = other
	case models.FIFOShape:
		other.Init = s
		shape = other
	default:
		return nil
	}
	return func() models.Shape { return shape }
}
