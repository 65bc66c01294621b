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
