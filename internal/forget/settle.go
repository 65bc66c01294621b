package forget

import (
	"slices"

	"clew/edn"
	"clew/internal/families/lock"
	"clew/internal/families/register"
	"clew/internal/families/sequence"
	"clew/internal/families/set"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// # Models that go on in another state
//
// Some decisions are sweeps that are never wrong about what has happened: whatever comes later, a linearization may begin
// with what the sweep has linearized by then. So what comes later depends only on the state that this leads to, and on
// what has not been linearized. The sweeps that have a Before say why. What has been linearized is forgotten once it
// has returned.

// State is what is left of what was forgotten. It is plain data.
type State struct {
	Number int64  // permits that are held, the total of a counter, a version, a position, or 1 if an element is in a set
	Value  string // of a register, as EDN
	Given  Given  // ids, or the elements of a set that is read as a whole
	List   List   // the values of a log, but for those that it began with
	IsPath bool
	Path   []jepsen.Operation // of the history that is held: they lead there, one after another
}

// Whether an element is in a lookup-set. There may be many elements, so all of them share these two, in all monitors of a
// process: they have no path, and nothing writes to them.
var outside, inside = &State{}, &State{Number: 1}

// settling does what Needed does for a model that goes on in another state.
type settling func(part *models.Operations, decided int32) Kept

func settlingOf(m models.Model) settling {
	of := m.Traits().Shape
	if of == nil {
		return nil
	}
	switch shape := of().(type) {
	case models.SemaphoreShape:
		return func(part *models.Operations, decided int32) Kept {
			done, held, ok := lock.Before(&part.Columns, shape, decided)
			return settled(&part.Columns, decided, done, &State{Number: int64(held)}, ok)
		}
	case models.CounterShape:
		return func(part *models.Operations, decided int32) Kept {
			done, total, ok := sequence.CounterBefore(&part.Columns, shape, decided)
			return settled(&part.Columns, decided, done, &State{Number: total}, ok)
		}
	case models.LookupSetShape:
		return func(part *models.Operations, decided int32) Kept {
			done, in, ok := set.LookupBefore(&part.Columns, slices.Contains(shape.Init, part.A[0]), decided)
			next := outside
			if in {
				next = inside
			}
			return settled(&part.Columns, decided, done, next, ok)
		}
	case models.VersionsShape:
		return func(part *models.Operations, decided int32) Kept {
			done, version, value, ok := register.VersionsBefore(&part.Columns, shape, decided)
			return settled(&part.Columns, decided, done, &State{Number: int64(version), Value: part.History.Values.Text(edn.ID(value))}, ok)
		}
	case models.GrowSetShape:
		return func(part *models.Operations, decided int32) Kept { return growSet(part, shape, decided) }
	case models.LogShape:
		return func(part *models.Operations, decided int32) Kept { return log(part, shape, decided) }
	case models.IDsShape:
		if !shape.Growing {
			return distinctIDs
		}
	case models.PositionShape:
		if _, is := shape.Model.(models.Placed); is {
			return func(part *models.Operations, decided int32) Kept { return positions(part, shape, decided) }
		}
	}
	return nil
}

// settled returns what must be kept if some operations have been linearized, and lead to a state.
func settled(c *models.Columns, decided int32, done []bool, s *State, ok bool) Kept {
	if !ok {
		return Kept{}
	}
	kept := Kept{Rows: make([]bool, c.Len()), Settled: done, State: s}
	for row, res := range c.Res {
		kept.Rows[row] = !done[row] || res >= decided && res != models.Open
	}
	return kept
}

// From returns operations under their model as it goes on in a state that Needed has returned for the same model, after the
// operations of its path. The state may be nil.
func From(part *models.Operations, s *State, path []models.Op) *models.Operations {
	if s == nil {
		return part
	}
	if m, is := part.Model.(models.Placed); is {
		return part.Under(placedFrom(m, s, path))
	} else if s.IsPath {
		return part.Under(along(part.Model, s, path))
	}
	of := part.Model.Traits().Shape
	r := &resumed{Model: part.Model, traits: *part.Model.Traits(), state: s}
	switch shape := of().(type) {
	case models.SemaphoreShape:
		r.semaphore(shape)
	case models.CounterShape:
		r.traits.Shape = func() models.Shape {
			next := of().(models.CounterShape) // totals may be added
			next.Init = s.Number
			return next
		}
		r.init = home.StateOf(s.Number)
		r.traits.Levels, r.traits.Anomaly = nil, nil // they start elsewhere
	case models.LookupSetShape:
		r.init = nil
		if s.Number == 1 && part.Len() > 0 {
			r.init = models.State{part.A[0]} // the part has one element
		}
		shape.Init = r.init
		r.traits.Shape, r.traits.Anomaly = func() models.Shape { return shape }, nil // which starts elsewhere
	case models.VersionsShape:
		value, _ := part.History.Values.ParseLenient([]byte(s.Value)) // it is what Text has returned
		shape.First, shape.Value = int32(s.Number), int32(part.History.Values.Same(value))
		r.init = models.State{shape.First, shape.Value}
		r.traits.Shape = func() models.Shape { return shape }
	case models.GrowSetShape:
		return r.growSet(part, shape)
	case models.LogShape:
		return r.log(part, shape)
	case models.IDsShape:
		given := s.Given.among(part)
		shape.Given = given
		r.traits.Shape = func() models.Shape { return shape }
		r.init = given
	}
	return part.Under(r)
}

// resumed is a model that begins in another state.
type resumed struct {
	models.Model
	traits models.Traits
	init   models.State
	state  *State
	path   []models.Op
}

// Init implements models.Model.
func (r *resumed) Init() models.State { return r.init }

// Traits implements models.Model.
func (r *resumed) Traits() *models.Traits { return &r.traits }

// last returns the state.
func (r *resumed) last() *State { return r.state }

// stateOf returns the state in which From had a model go on, or nil.
func stateOf(m models.Model) *State {
	if r, ok := m.(interface{ last() *State }); ok {
		return r.last()
	}
	return nil
}

// semaphore has a lock begin with the permits that are held.
func (r *resumed) semaphore(shape models.SemaphoreShape) {
	held := int32(r.state.Number)
	acquire := models.Op{Kind: models.Acquire}
	if shape.Counted {
		acquire.B = 1
	}
	r.init = r.Model.Init()
	for range held - shape.Held {
		r.init = r.Model.Step(nil, r.init, acquire)[0]
	}
	shape.Held = held
	r.traits.Shape, r.traits.Levels = func() models.Shape { return shape }, nil // which start elsewhere
}
