package models

import (
	"slices"

	"clew/edn"
)

// Kinds of stacks: those of queues, under the names that stacks use. A is the value.
const (
	Push     = Enqueue
	Pop      = Dequeue      // took A
	PopAny   = DequeueAny   // crashed: took the element on top
	PopEmpty = DequeueEmpty // found the stack empty; also a peek that did so
)

// stack hands out the element that came last. A state holds the elements, with the top
// last.
type stack struct{ queueReader }

var stackDefinition = Definition{
	Name: "stack", Fs: ":push v, :pop, :peek", About: "last in, first out",
	Called:    []string{"lifo"},
	Repeating: []string{"push"},
	Default:   "[]",
	Record:    "clew.model.Stack",
	Object:    "stack",
	Verbs:     map[string]string{":push": "pushed", ":pop": "popped", ":peek": "peeked at"},
	Knossos:   nilIsAnElement,
	Infer:     func(s *Seen) Fit { return fitsIf(s.Any(":push", ":pop")) },
	New:       newStack,
}

func newStack(b *Binding) (Reader, error) {
	reader, err := newQueueReader(b)
	q := &stack{reader}
	q.fEnqueue, q.fDequeue = b.v.InternKeyword("push"), b.v.InternKeyword("pop")
	q.traits = q.offers(Traits{
		Shape: func() Shape { return LIFOShape{q.init} },
		Run:   func(s State) Run { return &stackRun{slices.Clone(s)} }, // every step takes constant time
		// The element that comes out first was on top, at the end.
		Opening: func() Opening { return q.opening(slices.Reverse[[]int32]) },
	})
	return q, err
}

func (q *stack) Read(o Operation) (Op, bool, error) {
	if o.f == q.fDrain {
		return Op{}, false, ErrUnknownF
	}
	return q.queueReader.Read(o)
}

func (q *stack) Step(dst []State, s State, op Op) []State {
	top := len(s) - 1
	switch op.Kind {
	case Push:
		return append(dst, append(slices.Clone(s), op.A))
	case Pop:
		if top >= 0 && s[top] == op.A {
			return append(dst, s[:top:top])
		}
	case Peek:
		if top >= 0 && s[top] == op.A {
			return append(dst, s)
		}
	case PopEmpty:
		if top < 0 {
			return append(dst, s)
		}
	case PopAny:
		if top >= 0 {
			return append(dst, s[:top:top])
		}
	}
	return dst
}

type stackRun struct{ items []int32 }

func (r *stackRun) Apply(op Op) Outcome {
	top := len(r.items) - 1
	if (op.Kind == Pop || op.Kind == Peek) && (top < 0 || r.items[top] != op.A) || op.Kind == PopEmpty && top >= 0 || op.Kind == PopAny && top < 0 {
		return Impossible
	}
	switch op.Kind {
	case Push:
		r.items = append(r.items, op.A)
	case Pop, PopAny:
		r.items = r.items[:top]
	}
	return One
}

func (r *stackRun) State() State { return slices.Clone(r.items) }

func (r *stackRun) States(func()) []State { return []State{r.State()} }

func (q *stack) Why(s State, op Op) string {
	v := str(q.v, edn.ID(op.A))
	switch op.Kind {
	case Pop:
		if len(s) == 0 {
			return "can't pop " + v + " from empty stack"
		}
		return "can't pop " + v
	case PopAny:
		return "can't pop from empty stack"
	}
	return q.why(s, op)
}

func (q *stack) Record(s State) edn.Value {
	return record(q.v, q.record, field{"items", q.v.InternVector(ids(s))})
}
