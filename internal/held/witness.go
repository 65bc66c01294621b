package held

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"clew/internal/forget"
	"clew/jepsen"
	"clew/models"
)

// # A linearization of what is forgotten
//
// What is forgotten is written first, as the next operations of a linearization of the whole, whatever comes (see forget.Ready). An
// operation that is not ready is held until it is. If one was written, but is held for what it says, it is in History.Written.
//
// What is ready is put in order as a small history: what was written before comes first, and what sees the state comes last. An
// operation that returned and that no part has changes nothing. It stands where it was invoked, and waits for what
// returned before that.

// Witness writes a linearization of a history: that of each part of each key.
type Witness struct {
	To io.Writer
	// Order returns a linearization of operations, or false if it finds none.
	Order func(part *models.Operations) (order []models.Row, ok bool)

	next  []jepsen.Operation // to be written
	bytes int64              // that were written
	err   error
}

// Err returns why the linearization could not be written.
func (w *Witness) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// Length returns how many bytes have been written.
func (w *Witness) Length() int64 {
	if w == nil {
		return 0
	}
	return w.bytes
}

// From goes on after so many bytes of a file.
func (w *Witness) From(bytes int64) error {
	if w == nil {
		return nil
	}
	file, is := w.To.(interface {
		io.Seeker
		Truncate(int64) error
	})
	if !is {
		return errors.New("with a state, expected a file for the witness, which can be cut off where it goes on")
	}
	switch end, err := file.Seek(0, io.SeekEnd); {
	case err != nil:
		return fmt.Errorf("the witness: %w", err)
	case end < bytes:
		return fmt.Errorf("the witness has %d bytes, but it had %d when the state was saved; expected the same file", end, bytes)
	}
	w.bytes = bytes
	err := file.Truncate(bytes)
	if err == nil {
		_, err = file.Seek(bytes, io.SeekStart)
	}
	return err
}

// text returns the lines of what is next, of which nothing is next from then on.
func (w *Witness) text(h *jepsen.History) (text []byte) {
	if w == nil || len(w.next) == 0 {
		return nil
	}
	ops := h.OpPrinter()
	for _, op := range w.next {
		if h.Status[op] == jepsen.Crashed {
			text = ops.AppendOperation(text, op)
		} else {
			text = ops.AppendEvent(text, h.Completion[op])
		}
		text = append(text, '\n')
	}
	w.next = w.next[:0]
	return text
}

func (w *Witness) write(text []byte) {
	if len(text) > 0 && w.err == nil {
		var n int
		n, w.err = w.To.Write(text)
		w.bytes += int64(n)
	}
}

// placed is an operation of a history that is judged by itself, just after an event.
type placed struct {
	at int32
	op jepsen.Operation
}

// due returns what is to be written of a part, of which need must be held, and what must be held then. What returned at the event
// before or later is not due, so what was invoked after that waits.
func (w *Witness) due(x *History, j *Judged, part *models.Operations, end int32, need forget.Kept) (kept forget.Kept, due []placed, before int32) {
	next, ok := forget.Ready(part, end, need)
	written := x.written(j, part)
	taken, some := make([]bool, part.Len()), false
	before = models.Open
	for row, ready := range next.Ready {
		switch {
		case !ready && !written[row]:
			before = min(before, part.Res[row])
		case !ready:
			ok = ok && need.Settled == nil
		case !written[row]:
			taken[row], some = true, true
		}
	}
	for row, take := range taken {
		if take && part.Inv[row] > before {
			ok = ok && forget.MakesNoDifference(part, models.Row(row))
			taken[row], next.Ready[row] = false, false // it is not settled, either
		}
	}
	var rows []models.Row
	if ok && some {
		rows, ok = w.order(part, taken, written, next)
	}
	if !ok && need.State != nil && need.State.Given.Texts != nil { // which has changed
		w.err = errors.New("the witness does not go on: no order of what has been decided was found")
	}
	if !ok {
		return forget.Kept{Hard: true}, nil, 0
	}
	for row := range need.Rows {
		need.Rows[row] = need.Rows[row] || !next.Ready[row] && !written[row] && part.Res[row] != models.Open
	}
	return need, points(part, rows), before
}

// points places rows in their order.
func points(part *models.Operations, rows []models.Row) []placed {
	order, at := make([]placed, len(rows)), int32(-1)
	for i, row := range rows {
		at = max(at, part.Inv[row])
		order[i] = placed{at, part.Of[row]}
	}
	return order
}

// written returns what was written of a part, by row.
func (x *History) written(j *Judged, part *models.Operations) []bool {
	rows := make([]bool, part.Len())
	for row, op := range part.Of {
		rows[row] = len(x.Written) > 0 && has(x.Written, j.H.WholeOperation(op))
	}
	return rows
}

// take has what is due be next, with the operations that no part has, if they returned before an event. Of these it holds
// those that wait.
func (w *Witness) take(x *History, h *jepsen.History, j *Judged, due []placed, end, before int32, hold func(whole jepsen.Operation)) {
	in := make([]bool, j.H.Operations())
	for _, part := range j.Parts {
		for _, op := range part.Of {
			in[op] = true
		}
	}
	for op, in := range in {
		op := jepsen.Operation(op)
		whole, inv := j.H.WholeOperation(op), int32(j.H.Invocation[op])
		switch {
		case in || h.Status[whole] != jepsen.Succeeded || int32(j.H.Completion[op]) >= end || has(x.Settled, whole) || has(x.Written, whole):
		case inv > before && len(j.Parts) == 1:
			hold(whole)
		default:
			due = append(due, placed{inv, op})
		}
	}
	if len(j.Parts) == 1 {
		slices.SortStableFunc(due, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	}
	for _, p := range due {
		w.next = append(w.next, j.H.WholeOperation(p.op))
	}
}

// moment is when an operation begins or ends in a small history. What was written comes in phase 0, and what sees the state in
// phase 2, with rows behind those of the part.
type moment struct {
	phase, at int32
	row       int
	ends      bool
}

// order returns the rows that are taken in an order in which they can follow those that were written. If no state is asked for, nothing
// more comes, and those that never returned need not have happened.
func (w *Witness) order(part *models.Operations, taken, written []bool, next forget.Next) (rows []models.Row, ok bool) {
	var all []moment
	for row, inv := range part.Inv {
		phase := int32(1)
		if written[row] {
			phase = 0
		} else if !taken[row] {
			continue
		}
		all = append(all, moment{phase, inv, row, false})
		if res := part.Res[row]; res != models.Open || written[row] || next.Ready != nil {
			all = append(all, moment{phase, res, row, true})
		}
	}
	n := part.Len()
	for i := range next.Sees {
		all = append(all, moment{2, int32(2 * i), n + i, false}, moment{2, int32(2*i + 1), n + i, true})
	}
	slices.SortFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row))
	})
	small := part.Select(nil)
	small.Events = int32(len(all))
	var of []int // by row of small: that of the part
	at := make([]models.Row, n+len(next.Sees))
	for e, m := range all {
		if m.ends {
			small.Res[at[m.row]] = int32(e)
			continue
		}
		at[m.row] = models.Row(len(of))
		of = append(of, m.row)
		op, shown := models.Op{}, part.Of[0] // what sees the state has no text of its own
		if m.row < n {
			op, shown = part.Op(models.Row(m.row)), part.Of[m.row]
		} else {
			op = next.Sees[m.row-n]
		}
		small.Append(int32(e), models.Open, op)
		small.Of = append(small.Of, shown)
	}
	order, ok := w.Order(small)
	if ok && next.State != nil {
		s, err := models.Final(context.Background(), small.Model, &small.Columns, order)
		if ok = err == nil && slices.Equal(s, next.State); !ok {
			order, ok = w.Order(leadingTo(next.State, small))
		}
	}
	for _, row := range order {
		if int(row) < len(of) && of[row] < n && taken[of[row]] {
			rows = append(rows, models.Row(of[row]))
		}
	}
	return rows, ok
}

// ending is a model that has one more operation, which can happen only in one state.
type ending struct {
	models.Model
	traits models.Traits
	in     models.State
}

// lastKind is the kind of that operation. No model has it.
const lastKind models.Kind = 255

// leadingTo returns operations that are followed by one that can happen only in one state.
func leadingTo(s models.State, ops *models.Operations) *models.Operations {
	ops = ops.Under(&ending{Model: ops.Model, in: s})
	ops.Append(ops.Events, ops.Events+1, models.Op{Kind: lastKind})
	ops.Of = append(ops.Of, ops.Of[0])
	ops.Events += 2
	return ops
}

// Traits implements models.Model. Those of the model do not know the operation.
func (m *ending) Traits() *models.Traits { return &m.traits }

// Mutates implements models.Model.
func (m *ending) Mutates(op models.Op) bool { return op.Kind != lastKind && m.Model.Mutates(op) }

// Step implements models.Model.
func (m *ending) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind != lastKind:
		return m.Model.Step(dst, s, op)
	case slices.Equal(s, m.in):
		return append(dst, s)
	}
	return dst
}

// Finish writes all that has not been written, once nothing more comes.
func (x *History) Finish(h *jepsen.History, all []*Judged, w *Witness) error {
	for _, j := range all {
		var due []placed
		for i, part := range j.Parts {
			written := x.written(j, part)
			taken := make([]bool, part.Len())
			for row := range taken {
				taken[row] = !written[row]
			}
			rows, ok := w.order(part, taken, written, forget.Next{})
			if !ok {
				return fmt.Errorf("the witness has no end: no order of the last operations was found, of part %q", j.NameOf(i))
			}
			due = append(due, points(part, rows)...)
		}
		w.take(x, h, j, due, int32(len(j.H.Type)), models.Open, nil)
	}
	w.write(w.text(h))
	return w.err
}
