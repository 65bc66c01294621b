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
// after them: in the witness of a valid history, and in the linearization of what is
// before a failure. Every operation takes effect as early as the order allows: just
// after the latest invocation up to it.
func (b *windowBuilder) linearize(ctx context.Context) {
	order := b.r.Witness
	if b.r.Verdict == jepsen.Invalid {
		order = b.r.Before
		for len(order) > 0 && b.r.openAtFailure(order[len(order)-1]) {
			order = order[:len(order)-1] // nobody that returned needs it
		}
	}
	h, w := b.h, b.w
	var points []Point
	var steps []int // how many operations are linearized by each point
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
	for from := 0; from < len(points); { // those after the same mark share the room behind it
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

// attempt is the pending operations of the longest final path, which are tried just
// before the failure.
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
		if s.Operation != b.r.LastOperation && shown {
			points = append(points, Point{Op: place, State: stateText(s.State), Attempt: true})
		}
	}
	for i := range points {
		points[i].At = b.w.FailAt - 1 + float64(i+1)/float64(len(points)+1)
	}
	return points
}

// states is the states after the given numbers of operations of an order, as text;
// none if they cannot be found, as a part of what a model declares may not run where
// the whole does.
func (b *windowBuilder) states(ctx context.Context, order []jepsen.Operation, steps []int) []string {
	if len(steps) == 0 || b.r.Keys != nil {
		return nil
	}
	ops, rows := b.rows(ctx, order)
	if ops == nil {
		return nil
	}
	at := make([]int, len(steps))
	taken := 0
	for i, k := 0, 0; i < len(order) && k < len(steps); i++ {
		if rows[i] >= 0 {
			rows[taken] = rows[i]
			taken++
		}
		if i+1 == steps[k] {
			at[k] = taken
			k++
		}
	}
	states, err := models.StatesAt(ctx, ops.Model, &ops.Columns, rows[:taken], at)
	if err != nil {
		return nil
	}
	texts := make([]string, len(states))
	for i, s := range states {
		if len(s) <= maxStateNumbers {
			texts[i] = stateText(ops.Model.Record(s))
		}
	}
	return texts
}

// rows is the operations of the order's part as the model reads them, and the order
// as their rows: below 0 is what says nothing to the model.
func (b *windowBuilder) rows(ctx context.Context, order []jepsen.Operation) (*models.Operations, []models.Row) {
	ops, err := b.r.Spec.ReadWithin(ctx, b.h)
	if err != nil {
		return nil, nil
	}
	if b.r.Verdict == jepsen.Invalid {
		for _, part := range ops.Parts() {
			if _, in := slices.BinarySearch(part.Of, b.h.OpOf[b.r.FailEvent]); in {
				ops = part
			}
		}
	}
	rowOf := make([]models.Row, b.h.Operations())
	for op := range rowOf {
		rowOf[op] = -1
	}
	for row, op := range ops.Of {
		rowOf[op] = models.Row(row)
	}
	rows := make([]models.Row, len(order))
	for i, op := range order {
		rows[i] = rowOf[op]
	}
	return ops, rows
}

// Bounds of a state in a picture.
const (
	maxStateNumbers = 200 // of the model
	maxStateText    = 24  // characters
)

// stateText is a state in short: without the name of its record, and of a record
// with one field that field.
func stateText(record edn.Value) string {
	if record.Kind() == edn.KindTagged {
		record = record.Items()[0]
	}
	s := record.String()
	if fields := record.Items(); record.Kind() == edn.KindMap && len(fields) == 2 {
		switch s = fields[1].String(); {
		case fields[0].String() == ":locked?" && s == "true":
			s = "held"
		case fields[0].String() == ":locked?":
			s = "free"
		}
	}
	return text.Shorten(text.Line(s), maxStateText)
}
