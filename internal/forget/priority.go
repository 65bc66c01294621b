package forget

import (
	"slices"

	containers "clew/internal/families/container"
	"clew/models"
)

// # Priority queues
//
// Decides which operations of a priority queue later completions still depend on, if it is known what crashed dequeues took so
// far. Otherwise all are kept. Cost: that of a decision.
//
// Precondition: that of queues (see container.go). The queue is empty at the beginning.
//
// A poll, a peek and an empty answer each need an instant at which no element of a higher priority, or none at all, is
// certainly inside: after its insert has returned, or something has seen it, and before the last operation that sees it
// was invoked (see internal/families/container/priorityqueue.go). Nothing else contradicts, but for what each element
// shows alone.
//
// Lemma: let what has returned be linearizable without the crashed dequeues. Then it finds these instants whatever comes
// later. An element that is inside may come out later, or be taken by a crashed dequeue, and is certainly inside for less
// long then. An element that nothing has seen, and whose insert has not returned, is certainly inside later only. So what
// comes later depends on what may be inside when it begins. An element that went out is forgotten with its operations
// once they are over (see past.over), and once they are before all that is not over: a later peek may take an instant from
// that, which then needs an earlier one.
//
// Some elements may have to be gone, although nothing that is known took them. If it is certain which ones, and they had to be gone
// before the oldest open operation, each was taken by a crashed dequeue that had begun by then (see
// internal/families/container/prioritytaken.go). Whatever comes later, the same number of crashed dequeues is left for it. Which ones
// are left does not matter, since all began before what comes. So each such element is forgotten, and a crashed dequeue for it.
//
// What is kept is what is inside, what is open and crashed operations.
func priority(p past, init []int32, keep []bool, pinned func(models.Row) bool) bool {
	if len(init) > 0 {
		return false
	}
	before := p.oldest
	for row, inv := range p.Inv {
		if res := p.Res[row]; inv < p.decided && res >= p.oldest && res < p.decided {
			before = min(before, inv)
		}
	}
	p.oldest = before
	c, rows, named := p.known()
	taken, ok := containers.PriorityBefore(c, p.oldest)
	if !ok || len(taken) > 0 && named {
		return false
	}
	elements, _, ok := p.elements(init, keep)
	if !ok {
		return false
	}
	gone, left := map[int32]bool{}, len(taken)
	for _, i := range taken {
		add := rows[i]
		if !p.returned(add) {
			return false
		}
		gone[p.A[add]] = true
	}
	p.contents(elements, false, false, keep)
	for row, kind := range p.Kind {
		row := models.Row(row)
		switch takes := p.takesAny(row); {
		case takes && left > 0 && p.Inv[row] < p.oldest && !pinned(row):
			keep[row] = false
			left--
		case !takes && hasElement(kind) && gone[p.A[row]] && p.returned(row):
			keep[row] = false
		}
	}
	return left == 0
}

// takesAny says whether an operation may have taken any element.
func (p *past) takesAny(row models.Row) bool { return p.Kind[row] == models.DequeueAny }

// hasElement says whether operations of a kind are about an element.
func hasElement(kind models.Kind) bool {
	return slices.Contains([]models.Kind{models.Enqueue, models.Dequeue, models.Peek}, kind)
}

// known returns the past with what open operations will answer, and the rows of it. Crashed dequeues of a known element are left
// out; named says whether there are any.
func (p *past) known() (c *models.Columns, rows []models.Row, named bool) {
	c = &models.Columns{Events: p.decided}
	for row := range models.Row(p.Len()) {
		switch res := p.Res[row]; {
		case p.Inv[row] >= p.decided:
		case p.Kind[row] == models.Dequeue && res == models.Open:
			named = true
		default:
			if !p.returned(row) {
				res = models.Open
			}
			c.Append(p.Inv[row], res, p.Op(row))
			rows = append(rows, row)
		}
	}
	return c, rows, named
}
