package queue

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/option"
	"clew/jepsen"
	"clew/models"
)

// NilIsAnElement says how Knossos reads containers differently. The numbers are those of
// the README.
const NilIsAnElement = "Knossos takes nil for an element, of crashed dequeues (1) and of empty answers (2)"

// MayBeAQueue is the Infer of all queues: only the user knows which queue it is.
func MayBeAQueue(s *models.Seen) models.Fit {
	if s.Any(":enqueue", ":dequeue") {
		return models.MayFit
	}
	return models.NoFit
}

// Reader reads the operations that queues have in common.
type Reader struct {
	home.Base
	FEnqueue, FDequeue, fPeek, FDrain edn.ID
	empty                             edn.ID // :empty
	knossos                           bool
	Called                            string // what an error calls it
	drains                            [][]int32
}

func NewReader(b *models.Binding) (Reader, error) {
	v := b.Values
	q := Reader{
		Base:     home.NewBase(b),
		FEnqueue: v.InternKeyword("enqueue"),
		FDequeue: v.InternKeyword("dequeue"),
		fPeek:    v.InternKeyword("peek"),
		FDrain:   v.InternKeyword("drain"),
		empty:    v.InternKeyword("empty"),
		knossos:  b.Spec.Knossos,
		Called:   "queue",
	}
	if b.InitID != nil {
		items, ok := q.Sequence(*b.InitID)
		if !ok {
			return q, home.BadInit(b, "a vector of its elements such as [1 2]")
		}
		q.Initial = q.Classes(items)
	}
	return q, nil
}

// Offers returns the traits that all queues have, with some of their own.
func (q *Reader) Offers(own models.Traits) models.Traits {
	own.AnyOrder = func(h *jepsen.History) bool { return !slices.Contains(h.F, q.FDrain) } // drains are collected in a list
	own.Droppable = &models.Droppable{Lasting: func() []int32 { return q.Initial }, Touches: q.touches}
	own.Levels = &models.Levels{Start: q.start, Moves: q.moves, Shows: q.shows, NotNegative: true, Whole: size}
	own.Anomaly = func(ops *models.Operations, row models.Row) models.Anomaly { return home.ByLevels(ops, row, Anomaly) }
	if own.Opening == nil {
		own.Opening = func() models.Opening { return q.OpeningFrom(func(elements []int32) {}) }
	}
	return own
}

// The levels of a queue are how often it holds each element, by class, and its size.
const size = -1

// Anomaly returns the kind of failure of an operation of a queue that contradicts a level.
func Anomaly(op models.Op, x home.Beyond) models.Anomaly {
	switch {
	case x.Level == size && op.Kind == models.DequeueEmpty:
		return models.WrongEmpty
	case x.Level == size && op.Kind == models.Size:
		return models.WrongSize
	case x.Level == size:
		return ""
	case x.Missing != "":
		return x.Missing
	case op.Kind == models.Dequeue || op.Kind == models.Drain:
		return models.Duplicate
	}
	return models.Resurrected
}

func (q *Reader) start(level int64) int64 {
	return Held(q.Initial, level)
}

// Held returns how many elements some content has of a class, or altogether.
func Held(content models.State, level int64) (n int64) {
	for _, x := range content {
		if level == size || int64(x) == level {
			n++
		}
	}
	return n
}

func (q *Reader) moves(dst []models.Move, op models.Op) []models.Move {
	switch op.Kind {
	case models.Enqueue:
		return append(dst, models.By(int64(op.A), 1), models.By(size, 1))
	case models.Dequeue:
		return append(dst, models.By(int64(op.A), -1), models.By(size, -1))
	case models.DequeueAny:
		return append(dst, models.Move{Level: size, Least: -1, Most: 0})
	case models.Drain:
		for _, x := range q.drains[op.A] {
			dst = append(dst, models.By(int64(x), -1), models.By(size, -1))
		}
	case models.DrainAny:
		return append(dst, models.Move{Level: size, Least: -models.Unbounded, Most: 0})
	}
	return dst
}

func (q *Reader) shows(dst []models.Bound, op models.Op) []models.Bound {
	switch op.Kind {
	case models.DequeueEmpty:
		return append(dst, models.Bound{Level: size, Least: 0, Most: 0})
	case models.Peek:
		return append(dst, models.Bound{Level: int64(op.A), Least: 1, Most: models.Unbounded})
	}
	return dst
}

// saysEmpty says whether a value means that the queue was empty.
func (q *Reader) saysEmpty(value edn.ID) bool {
	return !q.knossos && (value == edn.Nil || value == q.empty)
}

func (q *Reader) Read(o models.Operation) (models.Op, bool, error) {
	a, crashed := q.Class(o.ValueID), o.Status == jepsen.Crashed
	switch o.FID {
	case q.FEnqueue:
		if q.saysEmpty(o.ValueID) {
			return models.Op{}, false, models.ParamErrorf("expected an element, found %s, which says that the %s is empty (%s takes it for an element)", q.V.Text(o.ValueID), q.Called, option.Knossos)
		}
		return models.Op{Kind: models.Enqueue, A: a, B: 0}, true, nil
	case q.FDequeue:
		switch {
		case crashed && o.ValueID == edn.Nil && !q.knossos:
			return models.Op{Kind: models.DequeueAny}, true, nil
		case q.saysEmpty(o.ValueID):
			return models.Op{Kind: models.DequeueEmpty}, true, nil
		}
		return models.Op{Kind: models.Dequeue, A: a, B: 0}, true, nil
	case q.fPeek:
		if q.saysEmpty(o.ValueID) {
			return models.Op{Kind: models.DequeueEmpty}, !crashed, nil
		}
		return models.Op{Kind: models.Peek, A: a, B: 0}, !crashed, nil
	case q.FDrain:
		return q.drain(o, crashed)
	}
	return models.Op{}, false, models.ErrUnknownF
}

func (q *Reader) drain(o models.Operation, crashed bool) (models.Op, bool, error) {
	items, ok := q.Sequence(o.ValueID)
	switch {
	case crashed && o.ValueID == edn.Nil:
		return models.Op{Kind: models.DrainAny}, true, nil
	case ok:
		q.drains = append(q.drains, q.Classes(items))
		return models.Op{Kind: models.Drain, A: int32(len(q.drains) - 1), B: 0}, true, nil
	}
	return models.Op{}, false, fmt.Errorf("expected [v ..], the elements drained, found %s", q.V.Text(o.ValueID))
}

func (q *Reader) Mutates(op models.Op) bool {
	return op.Kind != models.Peek && op.Kind != models.DequeueEmpty
}

func (q *Reader) touches(op models.Op) (values []int32, all bool) {
	switch op.Kind {
	case models.Enqueue, models.Dequeue, models.Peek:
		return []int32{op.A}, false
	case models.Drain:
		return q.drains[op.A], false
	}
	return nil, false
}

func (q *Reader) Reason(s models.State, op models.Op) string {
	switch op.Kind {
	case models.Dequeue:
		return "can't dequeue " + home.Text(q.V, edn.ID(op.A))
	case models.Peek:
		return "can't peek " + home.Text(q.V, edn.ID(op.A))
	case models.DequeueEmpty:
		return "not empty: " + q.V.Text(q.Vector(s))
	case models.Drain:
		return "can't drain " + q.V.Text(q.Vector(q.drains[op.A]))
	case models.DequeueAny:
		return "can't dequeue from empty queue"
	}
	return ""
}

// Because is Traits.Because of a queue that hands out the next element, if there is one, which is said to be somewhere.
func (q *Reader) Because(s models.State, op models.Op, next int32, where string) string {
	holds := "the " + q.Called + " is empty"
	if len(s) > 0 {
		holds = "the " + q.Called + " holds " + q.V.Text(q.Vector(s))
	}
	switch {
	case len(s) > 0 && (op.Kind == models.Dequeue || op.Kind == models.Peek):
		return q.Text(next) + " is " + where + ", not " + q.Text(op.A)
	case op.Kind == models.Drain:
		return holds + ", not " + q.V.Text(q.Vector(q.drains[op.A]))
	}
	return holds
}

// OpeningFrom returns an Opening that collects the initial elements. They stand in the order in
// which they come out, unless arrange changes it.
func (q *Reader) OpeningFrom(arrange func(elements []int32)) models.Opening {
	return &home.Taken{
		Callers: home.Callers{},
		Drains:  func(op models.Op) []int32 { return q.drains[op.A] },
		Start: func(elements []int32) edn.ID {
			arrange(elements)
			return q.Vector(elements)
		},
	}
}
