package models

import (
	"slices"

	"clew/edn"
)

var unorderedQueueDefinition = Definition{
	Name: "unordered-queue", Fs: ":enqueue v, :dequeue, :drain", About: "a bag",
	Called:    []string{"bag"},
	Repeating: []string{"enqueue"},
	Default:   "[]",
	Object:    "unordered-queue",
	Record:    "knossos.model.UnorderedQueue",
	Verbs:     map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued"},
	Knossos:   nilIsAnElement,
	Infer:     mayBeAQueue,
	New:       newUnorderedQueue,
}

// unorderedQueue is a bag: it hands out its elements in any order. A state holds them
// sorted, and each as often as it is in the bag.
type unorderedQueue struct{ queueReader }

func newUnorderedQueue(b *Binding) (Reader, error) { return newBag(b) }

func newBag(b *Binding) (*unorderedQueue, error) {
	reader, err := newQueueReader(b)
	slices.Sort(reader.init)
	q := &unorderedQueue{reader}
	q.traits = q.offers(Traits{Shape: func() Shape { return BagShape{q.init} }, Run: q.run, Outcomes: q.outcomes})
	return q, err
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
	case DequeueAny, DrainAny:
		q.outcomes(s, op, func(next State) bool {
			dst = append(dst, next)
			return true
		})
	case Drain:
		next, ok := s, true
		for _, x := range q.drains[op.A] {
			if next, ok = without(next, x); !ok {
				return dst
			}
		}
		return append(dst, next)
	}
	return dst
}

func (q *unorderedQueue) outcomes(s State, op Op, yield func(State) bool) {
	switch op.Kind {
	case DequeueAny:
		for i, x := range s {
			if (i == 0 || x != s[i-1]) && !yield(slices.Delete(slices.Clone(s), i, i+1)) {
				return
			}
		}
	case DrainAny:
		subsets(nil, s, yield)
	default:
		for _, next := range q.Step(nil, s, op) {
			yield(next) // at most one
		}
	}
}

// without returns s without one x.
func without(s State, x int32) (State, bool) {
	i, found := slices.BinarySearch(s, x)
	if !found {
		return nil, false
	}
	return slices.Delete(slices.Clone(s), i, i+1), true
}

// subsets yields every sub-multiset of rest, each after the elements kept, and says whether
// yield never returned false.
func subsets(kept, rest State, yield func(State) bool) bool {
	if len(rest) == 0 {
		return yield(slices.Clone(kept))
	}
	run := 1
	for run < len(rest) && rest[run] == rest[0] {
		run++
	}
	for n := 0; n <= run; n++ {
		if !subsets(append(slices.Clone(kept), rest[:n]...), rest[run:], yield) {
			return false
		}
	}
	return true
}

func (q *unorderedQueue) Why(s State, op Op) string { return q.why(s, op) }

func (q *unorderedQueue) Record(s State) edn.Value {
	return record(q.v, q.record, field{"pending", q.v.InternVector(ids(s))})
}
