package report

import (
	"context"
	"slices"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// linearize finds where the operations of the window take effect, and the states
// after them. It takes these from the witness of a valid history, or from the
// linearization of everything before a failure. Every operation takes effect as
// early as the order allows: just after the latest invocation up to it.
func (b *windowBuilder) linearize(ctx context.Context) {
	order := b.r.Witness
	if b.r.Verdict == jepsen.Invalid {
		order = b.r.Before
		for len(order) > 0 && b.r.openAtFailure(order[len(order)-1]) {
			order = order[:len(order)-1] // no operation that returned needs it
		}
	}
	h, w := b.h, b.w
	var points []Point
	var steps []int // by point: how many operations are linearized up to it
	at := jepsen.Event(jepsen.None)
	for i, op := range order {
		at = max(at, h.Invocation[op])
		place, shown := b.placeOf[op]
		if !shown {
			continue
		}
		if len(points) == 0 {
			w.MorePoints = i
		}
		column, exact := slices.BinarySearch(b.marks, at)
		if !exact {
			column-- // after the last mark before it
		}
		points, steps = append(points, Point{Op: place, At: float64(column)}), append(steps, i+1)
	}
	for from := 0; from < len(points); { // points after the same mark share the room after it
		to := from
		for to < len(points) && points[to].At == points[from].At {
			to++
		}
		for i := from; i < to; i++ {
			points[i].At += float64(i-from+1) / float64(to-from+1)
		}
		from = to
	}
	for i, state := range b.states(ctx, order, steps) {
		points[i].State = state
	}
	w.Points = append(points, b.attempt()...)
}

// openAtFailure says whether an operation was open
// at the failure. The failing one has just returned.
func (r *Result) openAtFailure(op jepsen.Operation) bool {
	h := r.History
	c := h.Completion[op]
	return c == jepsen.None || c > r.FailEvent.OrNone() || h.Status[op] == jepsen.Crashed
}

// attempt returns the pending operations of the longest
// final path, which are tried just before the failure.
func (b *windowBuilder) attempt() []Point {
	if b.w.FailAt < 0 {
		return nil
	}
	var longest []Step
	for _, path := range b.r.Paths {
		if len(path) > len(longest) {
			longest = path
		}
	}
	var points []Point
	for _, s := range longest[:max(0, len(longest)-1)] {
		place, shown := b.placeOf[s.Operation]
		if s.Operation != b.r.LastOperation.OrNone() && shown {
			points = append(points, Point{Op: place, State: stateText(s.State), Attempt: true})
		}
	}
	for i := range points {
		points[i].At = b.w.FailAt - 1 + float64(i+1)/float64(len(points)+1)
	}
	return points
}

// states returns the states after the given numbers of operations of an
// order, as text. It returns none if they cannot be found. A model may fail:
// a part of the author's declarations may run where the whole does not.
func (b *windowBuilder) states(ctx context.Context, order []jepsen.Operation, steps []int) (texts []string) {
	defer func() {
		if p := recover(); p != nil {
			if _, failed := p.(*models.Failure); !failed {
				panic(p)
			}
			texts = nil
		}
	}()
	if len(steps) == 0 || b.r.Keys != nil {
		return nil
	}
	ops := b.model(ctx)
	if ops == nil {
		return nil
	}
	traits := ops.Model.Traits()
	if traits.Within != nil {
		defer traits.Within(ctx, nil)()
	}
	rowOf := ops.Rows()
	var rows []models.Row // of the operations that say something to the model
	var at []int          // how many of these there are up to each step
	for i, op := range order[:steps[len(steps)-1]] {
		if row := rowOf[op]; row >= 0 {
			rows = append(rows, row)
		}
		if i+1 == steps[len(at)] {
			at = append(at, len(rows))
		}
	}
	op := func(i int) models.Op { return ops.Op(rows[i]) }
	if traits.Overwrites != nil { // operations before the last overwriting one make no difference
		for i := at[0] - 1; i >= 0; i-- {
			if traits.Overwrites(op(i)) {
				rows = rows[i:]
				for k := range at {
					at[k] -= i
				}
				break
			}
		}
	}
	states, err := models.StatesAt(ctx, ops.Model, len(rows), op, at)
	if err != nil {
		return nil
	}
	for _, s := range states {
		said := ""
		if len(s) <= maxStateNumbers {
			said = stateText(ops.Model.Record(s))
		}
		texts = append(texts, said)
	}
	return texts
}

// model returns the operations that are linearized, as the
// model reads them, or nil if the model cannot read them.
func (b *windowBuilder) model(ctx context.Context) *models.Operations {
	if b.r.Ops != nil {
		return b.r.Ops
	}
	ops, err := b.r.Spec.ReadWithin(ctx, b.h)
	if err != nil {
		return nil
	}
	if b.r.Verdict == jepsen.Invalid {
		for _, part := range ops.Parts() {
			if _, in := slices.BinarySearch(part.Of, b.h.OpOf[b.r.FailEvent.OrNone()]); in {
				return part
			}
		}
	}
	return ops
}

// Bounds of a state in a picture.
const (
	maxStateNumbers = 200 // numbers in a state of the model
	maxStateText    = 24  // characters
)

// stateText returns a short form of a state: it omits the name of the
// record, and of a record with one field it shows only the field.
func stateText(record edn.Value) string {
	record = content(record)
	s := record.String()
	if one := onlyField(record); one != record {
		switch locks, s1 := record.Items()[0].String() == ":locked?", one.String(); {
		case !locks:
			s = s1
		case s1 == "true":
			s = "held"
		default:
			s = "free"
		}
	}
	return text.Middle(text.Line(s), maxStateText)
}

// content returns what a record holds, without its name.
func content(record edn.Value) edn.Value {
	if record.Kind() == edn.KindTagged {
		return record.Items()[0]
	}
	return record
}

// onlyField returns the only field of a record, or the record if it has several.
func onlyField(record edn.Value) edn.Value {
	if fields := record.Items(); record.Kind() == edn.KindMap && len(fields) == 2 {
		return fields[1]
	}
	return record
}
