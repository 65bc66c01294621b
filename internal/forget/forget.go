package forget

import (
	"clew/internal/families/lock"
	"clew/models"
)

// Kept says what is needed of a part of which everything before an event has been decided.
type Kept struct {
	Rows []bool // by row: the operation must be kept; nil: all must
	// Settled are operations that are kept although they count as having happened, since they have yet to return.
	Settled []bool
	State   *State // unless nil, from which state the part goes on
}

// State is what is left of what was forgotten.
type State struct{ held int32 } // permits

// Needed says what must be kept of operations that are decided up to an event: a prefix up to just before it is
// linearizable. The columns also have what comes later; of an operation that is open at the event, it is known how it
// ends. Pinned operations are kept in any case. Linear time and space.
func Needed(m models.Model, c *models.Columns, decided int32, pinned func(models.Row) bool) Kept {
	if decided == 0 {
		return Kept{} // nothing has been decided
	}
	if shape, ok := models.ShapeOf[models.SemaphoreShape](m); ok {
		return permits(c, shape, decided)
	}
	rule := ruleOf(m)
	if rule == nil {
		return Kept{}
	}
	keep := make([]bool, c.Len())
	oldest := decided // the first invocation of those that have yet to return
	for row, inv := range c.Inv {
		if inv >= decided {
			keep[row] = true
		} else if res := c.Res[row]; res == models.Open {
			keep[row] = pinned(models.Row(row))
		} else if res >= decided {
			keep[row] = true
			oldest = min(oldest, inv)
		}
	}
	if !rule(past{c, decided, oldest}, keep) {
		return Kept{}
	}
	return Kept{Rows: keep}
}

// permits does what Needed does for locks without owners. The sweep of internal/families/lock is never wrong about what has
// happened, so what comes later depends only on how many permits are held, and on what is open and has not happened.
func permits(c *models.Columns, shape models.SemaphoreShape, decided int32) Kept {
	done, held, ok := lock.Before(c, shape, decided)
	if !ok {
		return Kept{}
	}
	kept := Kept{Rows: make([]bool, c.Len()), Settled: done, State: &State{held}}
	for row, res := range c.Res {
		kept.Rows[row] = !done[row] || res >= decided && res != models.Open
	}
	return kept
}

// From returns a model that begins in a state that Needed has returned for the same model.
func From(m models.Model, s *State) models.Model {
	shape, ok := models.ShapeOf[models.SemaphoreShape](m)
	if s == nil || !ok {
		return m
	}
	r := &resumed{Model: m, traits: *m.Traits()}
	r.traits.Shape = func() models.Shape {
		shape.Held = s.held
		return shape
	}
	r.traits.Levels = nil // it starts elsewhere
	acquire := models.Op{Kind: models.Acquire}
	if shape.Counted {
		acquire.B = 1
	}
	r.init = m.Init()
	for range s.held - shape.Held {
		r.init = m.Step(nil, r.init, acquire)[0]
	}
	return r
}

// resumed is a model that begins in another state.
type resumed struct {
	models.Model
	traits models.Traits
	init   models.State
}

// Init implements models.Model.
func (r *resumed) Init() models.State { return r.init }

// Traits implements models.Model.
func (r *resumed) Traits() *models.Traits { return &r.traits }

// past is what has been decided.
type past struct {
	*models.Columns
	decided int32 // it has all returns before this event
	// oldest is the first invocation of those that have yet to return: what returns later was invoked at it or later.
	oldest int32
}

// returned says whether an operation returned in the past.
func (p *past) returned(row models.Row) bool { return p.Res[row] < p.decided }

// over says whether an operation is before everything that returns later.
func (p *past) over(row models.Row) bool { return p.Res[row] < p.oldest }

// rule adds to what must be kept, and keeps what belongs to operations that are kept already. It returns false if that
// is everything.
type rule func(p past, keep []bool) bool

func ruleOf(m models.Model) rule {
	of := m.Traits().Shape
	if of == nil {
		return nil
	}
	switch shape := of().(type) {
	case models.RegisterShape:
		return func(p past, keep []bool) bool { return register(p, shape.Init, keep) }
	case models.FIFOShape:
		return func(p past, keep []bool) bool { return container(p, shape.Init, true, keep) }
	case models.BagShape:
		return func(p past, keep []bool) bool { return container(p, shape.Init, false, keep) }
	}
	return nil
}
