package stack

import (
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/types/queue"
	"clew/models"
)

// stack hands out the element that came last. A state holds the elements, with the top
// last.
type stack struct{ queue.Reader }

var stackDefinition = models.Definition{
	Name: "stack", Fs: ":push v, :pop, :peek", About: "last in, first out",
	Called:    []string{"lifo"},
	Repeating: []string{"push"},
	Default:   "[]",
	Record:    "clew.model.Stack",
	Object:    "stack",
	Verbs:     map[string]string{":push": "pushed", ":pop": "popped", ":peek": "peeked at"},
	Knossos:   queue.NilIsAnElement,
	Infer:     func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":push", ":pop")) },
	New:       newStack,
}

func newStack(b *models.Binding) (models.Reader, error) {
	reader, err := queue.NewReader(b)
	q := &stack{reader}
	q.FEnqueue, q.FDequeue = b.Values.InternKeyword("push"), b.Values.InternKeyword("pop")
	q.Offered = q.Offers(models.Traits{
		Shape: func() models.Shape { return models.LIFOShape{Init: q.Initial} },
		Run:   func(s models.State) models.Run { return &stackRun{slices.Clone(s)} }, // every step takes constant time
		// The element that comes out first was on top, at the end.
		Opening: func() models.Opening { return q.OpeningFrom(slices.Reverse[[]int32]) },
	})
	return q, err
}

func (q *stack) Read(o models.Operation) (models.Op, bool, error) {
	if o.FID == q.FDrain {
		return models.Op{}, false, models.ErrUnknownF
	}
	return q.Reader.Read(o)
}

func (q *stack) Step(dst []models.State, s models.State, op models.Op) []models.State {
	top := len(s) - 1
	switch op.Kind {
	case models.Push:
		return append(dst, append(slices.Clone(s), op.A))
	case models.Pop:
		if top >= 0 && s[top] == op.A {
			return append(dst, s[:top:top])
		}
	case models.Peek:
		if top >= 0 && s[top] == op.A {
			return append(dst, s)
		}
	case models.PopEmpty:
		if top < 0 {
			return append(dst, s)
		}
	case models.PopAny:
		if top >= 0 {
			return append(dst, s[:top:top])
		}
	}
	return dst
}

type stackRun struct{ items []int32 }

func (r *stackRun) Apply(op models.Op) models.Outcome {
	top := len(r.items) - 1
	if (op.Kind == models.Pop || op.Kind == models.Peek) && (top < 0 || r.items[top] != op.A) || op.Kind == models.PopEmpty && top >= 0 || op.Kind == models.PopAny && top < 0 {
		return models.Impossible
	}
	switch op.Kind {
	case models.Push:
		r.items = append(r.items, op.A)
	case models.Pop, models.PopAny:
		r.items = r.items[:top]
	}
	return models.One
}

func (r *stackRun) State() models.State { return slices.Clone(r.items) }

func (q *stack) Why(s models.State, op models.Op) string {
	v := home.Text(q.V, edn.ID(op.A))
	switch op.Kind {
	case models.Pop:
		if len(s) == 0 {
			return "can't pop " + v + " from empty stack"
		}
		return "can't pop " + v
	case models.PopAny:
		return "can't pop from empty stack"
	}
	return q.Reason(s, op)
}

func (q *stack) Record(s models.State) edn.Value {
	return q.Print("items", q.Vector(s))
}
