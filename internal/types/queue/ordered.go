package queue

import (
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/models"
)

var fifoQueueDefinition = models.Definition{
	Name: "fifo-queue", Fs: ":enqueue v, :dequeue, :peek, :drain", About: "first in, first out",
	NilOutputs: []string{"dequeue", "peek"},
	Repeating:  []string{"enqueue"},
	Default:    "[]",
	Record:     "knossos.model.FIFOQueue",
	Object:     "queue",
	Verbs:      map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued", ":peek": "peeked at"},
	Knossos:    NilIsAnElement,
	Infer:      MayBeAQueue,
	New: func(b *models.Binding) (models.Reader, error) {
		q, err := NewOrdered(b)
		q.Offered.Shape = func() models.Shape { return models.FIFOShape{Init: q.Initial, Drains: q.drains} }
		return q, err
	},
}

// Ordered hands out its elements in the order in which they came, or the last one first. A
// state holds them in the order in which they came.
type Ordered struct {
	Reader
	LastFirst bool
}

// NewOrdered returns an Ordered that hands out the first element first. Its shape is missing.
func NewOrdered(b *models.Binding) (*Ordered, error) {
	reader, err := NewReader(b)
	q := &Ordered{Reader: reader}
	q.Offered = q.Offers(models.Traits{Run: q.run, Because: q.because})
	return q, err
}

// next returns the element that comes out next, and what is left then. There must be one.
func (q *Ordered) next(s []int32) (x int32, rest []int32) {
	if top := len(s) - 1; q.LastFirst {
		return s[top], s[:top]
	}
	return s[0], s[1:]
}

func (q *Ordered) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.Enqueue:
		return append(dst, append(slices.Clone(s), op.A))
	case models.DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
		return dst
	case models.Drain:
		if d := q.drains[op.A]; len(d) <= len(s) && slices.Equal(d, s[:len(d)]) {
			return append(dst, s[len(d):])
		}
		return dst
	case models.DrainAny:
		for n := 0; n <= len(s); n++ {
			dst = append(dst, s[n:])
		}
		return dst
	}
	if len(s) == 0 {
		return dst
	}
	switch x, rest := q.next(s); {
	case op.Kind != models.DequeueAny && x != op.A:
		return dst
	case op.Kind == models.Peek:
		return append(dst, s)
	default:
		return append(dst, slices.Clip(rest))
	}
}

// run begins a run. Every step takes constant time, except drains. They take time linear in
// the number of elements drained.
func (q *Ordered) run(s models.State) models.Run { return &orderedRun{q, slices.Clone(s)} }

type orderedRun struct {
	q     *Ordered
	items []int32
}

func (r *orderedRun) Apply(op models.Op) models.Outcome {
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
	if empty {
		return models.Impossible
	}
	x, rest := r.q.next(r.items)
	if op.Kind != models.DequeueAny && x != op.A {
		return models.Impossible
	}
	if op.Kind != models.Peek {
		r.items = rest
	}
	return models.One
}

func (r *orderedRun) State() models.State { return slices.Clone(r.items) }

func (q *Ordered) Why(s models.State, op models.Op) string {
	if op.Kind == models.Dequeue && len(s) == 0 {
		return "can't dequeue " + home.Text(q.V, edn.ID(op.A)) + " from empty queue"
	}
	return q.Reason(s, op)
}

// because is Traits.Because.
func (q *Ordered) because(s models.State, op models.Op) string {
	next, where := int32(0), "first"
	if q.LastFirst {
		where = "on top"
	}
	if len(s) > 0 {
		next, _ = q.next(s)
	}
	return q.Because(s, op, next, where)
}

func (q *Ordered) Record(s models.State) edn.Value { return q.Print("pending", q.Vector(s)) }
