package models

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/option"
	"clew/jepsen"
)

// Kinds of queues. A is the value, or for Drain an index into the model's drains.
const (
	Enqueue      Kind = iota
	Dequeue           // took A
	DequeueAny        // crashed: took any element that the order allows
	DequeueEmpty      // found the queue empty; also a peek that did so
	Peek              // saw A first
	Drain             // took these, one after another
	DrainAny          // crashed: took some, one after another
)

// nilIsAnElement says how Knossos reads containers differently. The numbers are those of
// the README.
const nilIsAnElement = "Knossos takes nil for an element, of crashed dequeues (1) and of empty answers (2)"

// mayBeAQueue is the Infer of all queues: only the user knows which queue it is.
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
	traits                            Traits
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
			return q, paramErrorf("%s's %s must be a vector of its elements such as [1 2], not %s", b.Spec.Name, ParamInit, v.Text(*b.init))
		}
		q.init = q.classes(*b.init)
	}
	return q, nil
}

// offers returns the traits that all queues have, with some of their own.
func (q *queueReader) offers(own Traits) Traits {
	own.AnyOrder = func(h *jepsen.History) bool { return !slices.Contains(h.F, q.fDrain) } // drains are collected in a list
	own.Droppable = &Droppable{Lasting: func() []int32 { return q.init }, Touches: q.touches}
	if own.Opening == nil {
		own.Opening = func() Opening { return q.opening(func(elements []int32) {}) }
	}
	return own
}

// Traits implements Model.
func (q *queueReader) Traits() *Traits { return &q.traits }

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
			return Op{}, false, paramErrorf("expected an element, found %s, which says that the queue is empty (%s takes it for an element)", q.v.Text(o.value), option.Knossos)
		}
		return Op{Enqueue, a, 0}, true, nil
	case q.fDequeue:
		switch {
		case crashed && o.value == edn.Nil && !q.knossos:
			return Op{Kind: DequeueAny}, true, nil
		case q.saysEmpty(o.value):
			return Op{Kind: DequeueEmpty}, true, nil
		}
		return Op{Dequeue, a, 0}, true, nil
	case q.fPeek:
		if q.saysEmpty(o.value) {
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

func (q *queueReader) touches(op Op) (values []int32, all bool) {
	switch op.Kind {
	case Enqueue, Dequeue, Peek:
		return []int32{op.A}, false
	case Drain:
		return q.drains[op.A], false
	}
	return nil, false
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

// opening returns an Opening that collects the initial elements. They stand in the order in
// which they come out, unless arrange changes it.
func (q *queueReader) opening(arrange func(elements []int32)) Opening {
	return &taken{
		callers: callers{},
		drains:  func(op Op) []int32 { return q.drains[op.A] },
		start: func(elements []int32) edn.ID {
			arrange(elements)
			return q.v.InternVector(ids(elements))
		},
	}
}
