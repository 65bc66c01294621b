package models

import (
	"slices"

	"clew/edn"
)

var fifoQueueDefinition = Definition{
	Name: "fifo-queue", Fs: ":enqueue v, :dequeue, :peek, :drain", About: "first in, first out",
	Repeating: []string{"enqueue"},
	Default:   "[]",
	Record:    "knossos.model.FIFOQueue",
	Object:    "queue",
	Verbs:     map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued", ":peek": "peeked at"},
	Knossos:   nilIsAnElement,
	Infer:     mayBeAQueue,
	New:       newFIFOQueue,
}

// fifoQueue hands out its elements in the order in which they came. A state holds them in
// this order.
type fifoQueue struct{ queueReader }

func newFIFOQueue(b *Binding) (Reader, error) {
	reader, err := newQueueReader(b)
	q := &fifoQueue{reader}
	q.traits = q.offers(Traits{Shape: func() Shape { return FIFOShape{q.init, q.drains} }, Run: q.run})
	return q, err
}

func (q *fifoQueue) Step(dst []State, s State, op Op) []State {
	switch op.Kind {
	case Enqueue:
		return append(dst, append(slices.Clone(s), op.A))
	case Dequeue:
		if len(s) > 0 && s[0] == op.A {
			return append(dst, s[1:])
		}
	case Peek:
		if len(s) > 0 && s[0] == op.A {
			return append(dst, s)
		}
	case DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
	case DequeueAny:
		if len(s) > 0 {
			return append(dst, s[1:])
		}
	case Drain:
		if d := q.drains[op.A]; len(d) <= len(s) && slices.Equal(d, s[:len(d)]) {
			return append(dst, s[len(d):])
		}
	case DrainAny:
		for n := 0; n <= len(s); n++ {
			dst = append(dst, s[n:])
		}
	}
	return dst
}

// run begins a run. Every step takes constant time, except drains. They take time linear in
// the number of elements drained.
func (q *fifoQueue) run(s State) Run { return &fifoRun{q, slices.Clone(s)} }

type fifoRun struct {
	q     *fifoQueue
	items []int32 // first in first
}

func (r *fifoRun) Apply(op Op) Outcome {
	empty := len(r.items) == 0
	switch op.Kind {
	case Enqueue:
		r.items = append(r.items, op.A)
		return One
	case DequeueEmpty:
		return oneIf(empty)
	case Drain:
		d := r.q.drains[op.A]
		if len(d) > len(r.items) || !slices.Equal(d, r.items[:len(d)]) {
			return Impossible
		}
		r.items = r.items[len(d):]
		return One
	case DrainAny:
		if empty {
			return One
		}
		return Several
	}
	if empty || op.Kind != DequeueAny && r.items[0] != op.A {
		return Impossible
	}
	if op.Kind != Peek {
		r.items = r.items[1:]
	}
	return One
}

func (r *fifoRun) State() State { return slices.Clone(r.items) }

func (r *fifoRun) States(func()) []State { return []State{r.State()} }

func (q *fifoQueue) Why(s State, op Op) string {
	if op.Kind == Dequeue && len(s) == 0 {
		return "can't dequeue " + str(q.v, edn.ID(op.A)) + " from empty queue"
	}
	return q.why(s, op)
}

func (q *fifoQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"pending", q.v.InternVector(ids(s))})
}
