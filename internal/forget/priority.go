package forget

import (
	"context"

	"clew/fastpath"
	"clew/internal/families"
	"clew/jepsen"
	"clew/models"
)

// # Priority queues
//
// Decides which operations of a priority queue later completions still depend on, if crashed dequeues made no difference
// so far. Otherwise all are kept. Cost: that of a decision.
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
// once they are over (see past.over).
//
// What is kept is what is inside, what is open and crashed operations. It is everything once a crashed dequeue has taken
// an element out before one of a lower priority.
func priority(m models.Model, p past, init []int32, keep []bool) bool {
	path, _ := families.Of(m)
	if path == nil || len(init) > 0 {
		return false
	}
	c := &models.Columns{Events: p.decided}
	for row := range models.Row(p.Len()) {
		if kind, res := p.Kind[row], p.Res[row]; p.Inv[row] < p.decided && kind != models.DequeueAny && (kind != models.Dequeue || res != models.Open) {
			if !p.returned(row) {
				res = models.Open
			}
			c.Append(p.Inv[row], res, p.Op(row))
		}
	}
	if path.Decide(context.Background(), c, fastpath.WantVerdict).Verdict != jepsen.Valid {
		return false
	}
	elements, _, ok := p.elements(init, keep)
	if ok {
		p.contents(elements, false, false, keep)
	}
	return ok
}
