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
type stack struct{ *queue.Ordered }

var stackDefinition = models.Definition{
	Name: "stack", Fs: ":push v, :pop, :peek", About: "last in, first out",
	Called:     []string{"lifo"},
	NilOutputs: []string{"pop", "peek"},
	Repeating:  []string{"push"},
	Default:    "[]",
	Record:     "clew.model.Stack",
	Object:     "stack",
	Verbs:      map[string]string{":push": "pushed", ":pop": "popped", ":peek": "peeked at"},
	Knossos:    queue.NilIsAnElement,
	Infer:      func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":push", ":pop")) },
	New: func(b *models.Binding) (models.Reader, error) {
		ordered, err := queue.NewOrdered(b)
		q := &stack{ordered}
		q.Called, q.LastFirst, q.FEnqueue, q.FDequeue = "stack", true, b.Values.InternKeyword("push"), b.Values.InternKeyword("pop")
		q.Offered.Shape = func() models.Shape { return models.LIFOShape{Init: q.Initial} }
		// The element that comes out first was on top, at the end.
		q.Offered.Opening = func() models.Opening { return q.OpeningFrom(slices.Reverse[[]int32]) }
		return q, err
	},
}

func (q *stack) Read(o models.Operation) (models.Op, bool, error) {
	if o.FID == q.FDrain {
		return models.Op{}, false, models.ErrUnknownF
	}
	return q.Ordered.Read(o)
}

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
