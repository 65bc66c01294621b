package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// Kinds of queues. A is the value, or for Drain an index into the model's
// drains.
const (
	Enqueue      Kind = iota
	Dequeue           // took A
	DequeueAny        // crashed: took any element that the order allows
	DequeueEmpty      // found the queue empty; a peek that did so too
	Peek              // saw A first
	Drain             // took these, one after the other
	DrainAny          // crashed: took some, one after the other
)

var fifoQueueDefinition = Definition{
	Name: "fifo-queue", Fs: ":enqueue v, :dequeue, :peek, :drain", About: "first in, first out",
	Record:  "knossos.model.FIFOQueue",
	Object:  "queue",
	Verbs:   map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued", ":peek": "peeked at"},
	Knossos: nilIsAnElement,
	Infer:   mayBeAQueue,
	New:     newFIFOQueue,
}

var unorderedQueueDefinition = Definition{
	Name: "unordered-queue", Fs: ":enqueue v, :dequeue, :drain", About: "a bag",
	Record:  "knossos.model.UnorderedQueue",
	Verbs:   map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued"},
	Knossos: nilIsAnElement,
	Infer:   mayBeAQueue,
	New:     newUnorderedQueue,
}

// nilIsAnElement is how Knossos differs with containers; the numbers are the
// README's.
const nilIsAnElement = "Knossos takes nil for an element, of crashed dequeues (1) and of empty answers (2)"

// mayBeAQueue is the Infer of all queues: only their users know which.
func mayBeAQueue(s *Seen) Fit {
	if s.Any(":enqueue", ":dequeue") {
		return MayFit
	}
	return NoFit
}

// queueReader reads the operations that queues have in common.
type queueReader struct {
	v                                 *edn.Values
	record                            string
	fEnqueue, fDequeue, fPeek, fDrain edn.ID
	empty                             edn.ID // :empty
	knossos                           bool
	init                              State
	drains                            [][]int32
	empties                           bool // some completed operation found the queue empty
}

func newQueueReader(b *Binding) (queueReader, error) {
	v := b.v
	q := queueReader{
		v:        v,
		record:   b.record,
		fEnqueue: v.InternKeyword("enqueue"),
		fDequeue: v.InternKeyword("dequeue"),
		fPeek:    v.InternKeyword("peek"),
		fDrain:   v.InternKeyword("drain"),
		empty:    v.InternKeyword("empty"),
		knossos:  b.Spec.Knossos,
	}
	if b.init != nil {
		if k := v.Kind(*b.init); k != edn.KindVector && k != edn.KindList {
			return q, paramErrorf("%s's %s is a vector of its elements such as [1 2], not %s", b.Spec.Name, ParamInit, v.Text(*b.init))
		}
		q.init = q.classes(*b.init)
	}
	return q, nil
}

func (q *queueReader) classes(list edn.ID) []int32 {
	var cs []int32
	for _, item := range q.v.Items(list) {
		cs = append(cs, int32(q.v.Same(item)))
	}
	return cs
}

// saysEmpty says whether a value means that the queue was empty.
func (q *queueReader) saysEmpty(value edn.ID) bool {
	return !q.knossos && (value == edn.Nil || value == q.empty)
}

func (q *queueReader) Read(o Operation) (Op, bool, error) {
	a, crashed := int32(q.v.Same(o.value)), o.status == jepsen.Crashed
	switch o.f {
	case q.fEnqueue:
		if q.saysEmpty(o.value) {
			return Op{}, false, paramErrorf("expected an element, found %s, which says that the queue is empty (%s knossos takes it for an element)", q.v.Text(o.value), ParamSemantics)
		}
		return Op{Enqueue, a, 0}, true, nil
	case q.fDequeue:
		switch {
		case crashed && o.value == edn.Nil && !q.knossos:
			return Op{Kind: DequeueAny}, true, nil
		case q.saysEmpty(o.value):
			q.empties = q.empties || !crashed
			return Op{Kind: DequeueEmpty}, true, nil
		}
		return Op{Dequeue, a, 0}, true, nil
	case q.fPeek:
		if q.saysEmpty(o.value) {
			q.empties = q.empties || !crashed
			return Op{Kind: DequeueEmpty}, !crashed, nil
		}
		return Op{Peek, a, 0}, !crashed, nil
	case q.fDrain:
		return q.drain(o, crashed)
	}
	return Op{}, false, ErrUnknownF
}

func (q *queueReader) drain(o Operation, crashed bool) (Op, bool, error) {
	switch kind := q.v.Kind(o.value); {
	case crashed && kind == edn.KindNil:
		return Op{Kind: DrainAny}, true, nil
	case kind == edn.KindVector, kind == edn.KindList:
		q.drains = append(q.drains, q.classes(o.value))
		return Op{Drain, int32(len(q.drains) - 1), 0}, true, nil
	}
	return Op{}, false, fmt.Errorf("expected [v ..], the elements drained, found %s", q.v.Text(o.value))
}

func (q *queueReader) Init() State { return q.init }

func (q *queueReader) Mutates(op Op) bool { return op.Kind != Peek && op.Kind != DequeueEmpty }

// Touches makes queues Valued.
func (q *queueReader) Touches(op Op) (values []int32, all bool) {
	switch op.Kind {
	case Enqueue, Dequeue, Peek:
		return []int32{op.A}, false
	case Drain:
		return q.drains[op.A], false
	}
	return nil, false
}

// fifoQueue hands out its elements in the order in which they came. A state
// holds them, first in first.
type fifoQueue struct{ queueReader }

func newFIFOQueue(b *Binding) (Reader, error) {
	q, err := newQueueReader(b)
	return &fifoQueue{q}, err
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

// Run makes fifo-queue a Runner. Every step takes constant time but for drains,
// which take one linear in what they drained.
func (q *fifoQueue) Run(s State) Run { return &fifoRun{q, slices.Clone(s)} }

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

func (r *fifoRun) States() []State { return []State{r.State()} }

// Shape makes fifo-queue Shaped.
func (q *fifoQueue) Shape() Shape { return FIFOShape{q.init} }

func (q *fifoQueue) Why(s State, op Op) string {
	if op.Kind == Dequeue && len(s) == 0 {
		return "can't dequeue " + str(q.v, edn.ID(op.A)) + " from empty queue"
	}
	return q.why(s, op)
}

func (q *fifoQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"pending", q.v.InternVector(ids(s))})
}

// unorderedQueue is a bag: it hands out its elements in any order. A state
// holds them sorted, repeated ones repeated.
type unorderedQueue struct{ queueReader }

func newUnorderedQueue(b *Binding) (Reader, error) {
	q, err := newQueueReader(b)
	slices.Sort(q.init)
	return &unorderedQueue{q}, err
}

func (q *unorderedQueue) Read(o Operation) (Op, bool, error) {
	if o.f == q.fPeek {
		return Op{}, false, ErrUnknownF
	}
	return q.queueReader.Read(o)
}

func (q *unorderedQueue) Step(dst []State, s State, op Op) []State {
	switch op.Kind {
	case Enqueue:
		i, _ := slices.BinarySearch(s, op.A)
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case Dequeue:
		if next, ok := without(s, op.A); ok {
			return append(dst, next)
		}
	case DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
	case DequeueAny:
		for i, x := range s {
			if i == 0 || x != s[i-1] {
				dst = append(dst, slices.Delete(slices.Clone(s), i, i+1))
			}
		}
	case Drain:
		next, ok := s, true
		for _, x := range q.drains[op.A] {
			if next, ok = without(next, x); !ok {
				return dst
			}
		}
		return append(dst, next)
	case DrainAny:
		return subsets(dst, nil, s)
	}
	return dst
}

// without is s less one x.
func without(s State, x int32) (State, bool) {
	i, found := slices.BinarySearch(s, x)
	if !found {
		return nil, false
	}
	return slices.Delete(slices.Clone(s), i, i+1), true
}

// subsets appends every sub-multiset of rest, each after the elements kept.
func subsets(dst []State, kept, rest State) []State {
	if len(rest) == 0 {
		return append(dst, slices.Clone(kept))
	}
	run := 1
	for run < len(rest) && rest[run] == rest[0] {
		run++
	}
	for n := 0; n <= run; n++ {
		dst = subsets(dst, append(slices.Clone(kept), rest[:n]...), rest[run:])
	}
	return dst
}

// Shape makes unordered-queue Shaped.
func (q *unorderedQueue) Shape() Shape { return BagShape{q.init} }

func (q *unorderedQueue) Why(s State, op Op) string { return q.why(s, op) }

func (q *unorderedQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"pending", q.v.InternVector(ids(s))})
}

// Opened makes an open dequeue one that crashed: with empty answers a bag's
// prefix must not use the value that a dequeue will return (the contract's one
// exception to Knossos's meaning of a prefix).
func (q *unorderedQueue) Opened(op Op) Op {
	switch {
	case q.empties && op.Kind == Dequeue:
		return Op{Kind: DequeueAny}
	case q.empties && op.Kind == Drain:
		return Op{Kind: DrainAny}
	}
	return op
}

func (q *queueReader) why(s State, op Op) string {
	switch op.Kind {
	case Dequeue:
		return "can't dequeue " + str(q.v, edn.ID(op.A))
	case Peek:
		return "can't peek " + str(q.v, edn.ID(op.A))
	case DequeueEmpty:
		return "not empty: " + q.v.Text(q.v.InternVector(ids(s)))
	case Drain:
		var all State
		all = append(all, q.drains[op.A]...)
		return "can't drain " + q.v.Text(q.v.InternVector(ids(all)))
	case DequeueAny:
		return "can't dequeue from empty queue"
	}
	return ""
}
