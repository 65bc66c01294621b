package forget

import "clew/models"

// Kept says what is needed of a part of which everything before an event has been decided.
type Kept struct {
	Rows []bool // by row: the operation must be kept; nil: all must
	// Settled are operations that are kept although they count as having happened, since they have yet to return.
	Settled []bool
	State   *State       // unless nil, from which state the part goes on
	Path    *Path        // unless nil, operations that lead to it, which are kept
	At      models.State // that state, if a search has found it
	Hard    bool         // a search gave up: another one is worth it once much more has come
}

// Options says how Needed decides.
type Options struct {
	Settle   bool                  // operations may be settled, and there may be a State
	Searches bool                  // what takes a search to know may be forgotten
	Pinned   func(models.Row) bool // these operations are kept in any case
}

// Needed says what must be kept of operations that are decided up to an event: a prefix up to just before it is
// linearizable. The columns also have what comes later; of an operation that is open at the event, it is known how it
// ends. Linear time and space.
//
// The part is what From returns for the last State, which Needed may change.
func Needed(part *models.Operations, decided int32, o Options) Kept {
	if decided == 0 || part.Len() == 0 {
		return Kept{} // nothing has been decided, or was there
	}
	if of := settlingOf(part.Model); of != nil {
		if !o.Settle {
			return Kept{}
		}
		if kept := of(part, decided); kept.Rows != nil {
			return kept
		}
		return o.search(part, decided)
	}
	rule := ruleOf(part.Model, o.Pinned)
	if rule == nil {
		return o.search(part, decided)
	}
	c := &part.Columns
	keep := make([]bool, c.Len())
	oldest := decided // the first invocation of those that have yet to return
	for row, inv := range c.Inv {
		if inv >= decided {
			keep[row] = true
		} else if res := c.Res[row]; res == models.Open {
			keep[row] = o.Pinned(models.Row(row))
		} else if res >= decided {
			keep[row] = true
			oldest = min(oldest, inv)
		}
	}
	if !rule(past{c, decided, oldest}, keep) {
		return o.search(part, decided)
	}
	return Kept{Rows: keep}
}

// search does what Needed does where nothing else does it.
func (o Options) search(part *models.Operations, decided int32) Kept {
	of := stateOfOne(part.Model)
	if !o.Settle || !o.Searches || of == nil && !hasPaths(part.Model) {
		return Kept{}
	}
	kept, ok := searched(part, decided, of)
	kept.Hard = !ok
	return kept
}

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

func ruleOf(m models.Model, pinned func(models.Row) bool) rule {
	of := m.Traits().Shape
	if of == nil {
		return nil
	}
	switch shape := of().(type) {
	case models.RegisterShape:
		return func(p past, keep []bool) bool { return registers(p, shape.Init, keep) }
	case models.FIFOShape:
		return func(p past, keep []bool) bool { return container(p, shape.Init, true, keep) }
	case models.BagShape:
		return func(p past, keep []bool) bool { return container(p, shape.Init, false, keep) }
	case models.PriorityShape:
		return func(p past, keep []bool) bool { return priority(p, shape.Init, keep, pinned) }
	case models.IDsShape:
		return func(p past, keep []bool) bool { return growingIDs(p, shape.Numbers, keep) }
	}
	return nil
}

// # What a linearization of all that comes may begin with
//
// Where a model goes on in a state, that is what leads to it. For registers and ids, see there. Queues have no such rule: the order
// of what is inside is open until it comes out.

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
		if s.Number == inside.Number {
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
