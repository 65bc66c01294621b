package queue

import (
	"slices"

	"clew/edn"
	"clew/models"
)

var unorderedQueueDefinition = models.Definition{
	Name: "unordered-queue", Fs: ":enqueue v, :dequeue, :drain", About: "a bag",
	Called:     []string{"bag"},
	NilOutputs: []string{"dequeue"},
	Repeating:  []string{"enqueue"},
	Default:    "[]",
	Object:     "unordered-queue",
	Record:     "knossos.model.UnorderedQueue",
	Verbs:      map[string]string{":enqueue": "enqueued", ":dequeue": "dequeued"},
	Knossos:    NilIsAnElement,
	Infer:      MayBeAQueue,
	New:        newUnorderedQueue,
}

// Unordered is a bag: it hands out its elements in any order. A state holds them
// sorted, and each as often as it is in the bag.
type Unordered struct{ Reader }

func newUnorderedQueue(b *models.Binding) (models.Reader, error) { return NewBag(b) }

func NewBag(b *models.Binding) (*Unordered, error) {
	reader, err := NewReader(b)
	slices.Sort(reader.Initial)
	q := &Unordered{reader}
	q.Offered = q.Offers(models.Traits{Shape: func() models.Shape { return models.BagShape{Init: q.Initial} }, Run: q.run, Because: q.because, Outcomes: q.outcomes})
	return q, err
}

func (q *Unordered) Read(o models.Operation) (models.Op, bool, error) {
	if o.FID == q.fPeek {
		return models.Op{}, false, models.ErrUnknownF
	}
	return q.Reader.Read(o)
}

func (q *Unordered) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch op.Kind {
	case models.Enqueue:
		i, _ := slices.BinarySearch(s, op.A)
		return append(dst, slices.Insert(slices.Clone(s), i, op.A))
	case models.Dequeue:
		if next, ok := without(s, op.A); ok {
			return append(dst, next)
		}
	case models.DequeueEmpty:
		if len(s) == 0 {
			return append(dst, s)
		}
	case models.DequeueAny, models.DrainAny:
		q.outcomes(s, op, func(next models.State) bool {
			dst = append(dst, next)
			return true
		})
	case models.Drain:
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

func (q *Unordered) outcomes(s models.State, op models.Op, yield func(models.State) bool) {
	switch op.Kind {
	case models.DequeueAny:
		for i, x := range s {
			if (i == 0 || x != s[i-1]) && !yield(slices.Delete(slices.Clone(s), i, i+1)) {
				return
			}
		}
	case models.DrainAny:
		subsets(nil, s, yield)
	default:
		for _, next := range q.Step(nil, s, op) {
			yield(next) // at most one
		}
	}
}

// without returns s without one x.
func without(s models.State, x int32) (models.State, bool) {
	i, found := slices.BinarySearch(s, x)
	if !found {
		return nil, false
	}
	return slices.Delete(slices.Clone(s), i, i+1), true
}

// subsets yields every sub-multiset of rest, each after the elements kept, and says whether
// yield never returned false.
func subsets(kept, rest models.State, yield func(models.State) bool) bool {
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

func (q *Unordered) Why(s models.State, op models.Op) string { return q.Reason(s, op) }

// because is Traits.Because.
func (q *Unordered) because(s models.State, op models.Op) string {
	if op.Kind == models.Dequeue {
		return q.Text(op.A) + " is not in the queue"
	}
	return q.Because(q.InOrder(s), op, 0, "")
}

func (q *Unordered) Record(s models.State) edn.Value {
	return q.Print("pending", q.Vector(s))
}
