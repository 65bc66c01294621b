package queue

import (
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

var fifoQueueDefinition = models.Definition{
	Name: "fifo-queue", Fs: ":enqueue v, :dequeue, :peek, :drain", About: "first in, first out",
	Repeating: []string{"enqueue"},
	Default:   "[]",
	Record:    "knossos.model.FIFOQueue",
	Object:    "queue",
	Verbs:     map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued", ":peek": "peeked at"},
	Knossos:   NilIsAnElement,
	Infer:     MayBeAQueue,
	New:       newFIFOQueue,
}

// fifoQueue hands out its elements in the order in which they came. A state holds them in
// this order.
type fifoQueue struct{ Reader }

func newFIFOQueue(b *models.Binding) (models.Reader, error) {
	reader, err := NewReader(b)
	q := &fifoQueue{reader}
	q.Offered = q.Offers(models.Traits{Shape: func() models.Shape { return models.FIFOShape{Init: q.Initial, Drains: q.drains} }, Run: q.run})
	return q, err
}

func (q *fifoQueue) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.Enqueue:
		return append(dst, append(slices.Clone(s), op.A))
	case models.Dequeue:
		if len(s) > 0 && s[0] == op.A {
			return append(dst, s[1:])
		}
	case models.Peek:
		if len(s) > 0 && s[0] == op.A {
			return append(dst, s)
		}
	case models.DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
	case models.DequeueAny:
		if len(s) > 0 {
			return append(dst, s[1:])
		}
	case models.Drain:
		if d := q.drains[op.A]; len(d) <= len(s) && slices.Equal(d, s[:len(d)]) {
			return append(dst, s[len(d):])
		}
	case models.DrainAny:
		for n := 0; n <= len(s); n++ {
			dst = append(dst, s[n:])
		}
	}
	return dst
}

// run begins a run. Every step takes constant time, except drains. They take time linear in
// the number of elements drained.
func (q *fifoQueue) run(s models.State) models.Run { return &fifoRun{q, slices.Clone(s)} }

type fifoRun struct {
	q     *fifoQueue
	items []int32 // first in first
}

func (r *fifoRun) Apply(op models.Op) models.Outcome {
	empty := len(r.items) == 0
	switch op.Kind {
	case models.Enqueue:
		r.items = append(r.items, op.A)
		return models.One
	case models.DequeueEmpty:
		return models.OneIf(empty)
	case models.Drain:
		d := r.q.drains[op.A]
		if len(d) > len(r.items) || !slices.Equal(d, r.items[:len(d)]) {
			return models.Impossible
		}
		r.items = r.items[len(d):]
		return models.One
	case models.DrainAny:
		if empty {
			return models.One
		}
		return models.Several
	}
	if empty || op.Kind != models.DequeueAny && r.items[0] != op.A {
		return models.Impossible
	}
	if op.Kind != models.Peek {
		r.items = r.items[1:]
	}
	return models.One
}

func (r *fifoRun) State() models.State { return slices.Clone(r.items) }

func (q *fifoQueue) Why(s models.State, op models.Op) string {
	if op.Kind == models.Dequeue && len(s) == 0 {
		return "can't dequeue " + home.Text(q.V, edn.ID(op.A)) + " from empty queue"
	}
	return q.Reason(s, op)
}

func (q *fifoQueue) Record(s models.State) edn.Value {
	return q.Print("pending", q.Vector(s))
}
