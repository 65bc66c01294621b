package models

import "slices"

// RelationKind says how two operations are related.
type RelationKind uint8

// The kinds of relations. Each begins with the operation that comes first.
const (
	ReturnedBefore RelationKind = iota // the first returned before the second was invoked
	MustBeBefore                       // the first must take effect before the second
	Saw                                // the second saw what the first did
)

func (k RelationKind) String() string {
	return [...]string{"returned before", "must be before", "was seen by"}[k]
}

// Relation is a relation of two operations, a step of a contradiction.
type Relation struct {
	Kind     RelationKind
	From, To Row
}

// Seeing returns a function that says whether one operation may have seen what another did.
// The maker leaves a value at a place, or puts in an element, and the seer depends on it.
// It returns nil if the model does not tell.
func Seeing(m Model) func(maker, seer Op) bool {
	traits := m.Traits()
	if traits.Shape != nil {
		switch traits.Shape().(type) {
		case FIFOShape, LIFOShape, PriorityShape, BagShape:
			return func(maker, seer Op) bool {
				return maker.Kind == Enqueue && (seer.Kind == Dequeue || seer.Kind == Peek) && maker.A == seer.A
			}
		}
	}
	visible := traits.Visibility
	if visible == nil {
		return nil
	}
	var made, seen []Cell
	return func(maker, seer Op) bool {
		made = visible.Makes(made[:0], maker)
		if len(made) == 0 {
			return false
		}
		seen, _ = visible.Sees(seen[:0], seer)
		return slices.ContainsFunc(made, func(c Cell) bool { return slices.Contains(seen, c) })
	}
}
