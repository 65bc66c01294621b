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
// What is forgotten is written, as the next operations of a linearization of the whole, whatever comes (see forget.Ready). So an
// operation that is not yet due is held until it is. One that is held for what it says although it was written is in
// History.Written.
//
// The order of what is due is that of a small history, in which what was written comes first, and what shows the state comes
// last. An operation that returned and that no part has changes nothing. It stands where it was invoked.

// Witness writes a linearization of a history, as far as that is known, key by key and part by part.
type Witness struct {
	To io.Writer
	// Order returns a linearization of operations, or false if it finds none.
	Order func(part *models.Operations) (order []models.Row, ok bool)

	next  []jepsen.Operation // to be written
	bytes int64              // that were written
	err   error
}

// Length returns how many bytes have been written.
func (w *Witness) Length() int64 {
	if w == nil {
		return 0
	}
	return w.bytes
}

// From has the witness go on after so many bytes in a file.
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
		return fmt.Errorf("the witness has %d bytes, but %d when the state was saved; expected the same file", end, bytes)
	}
	w.bytes = bytes
	if err := file.Truncate(bytes); err != nil {
		return fmt.Errorf("the witness: %w", err)
	}
	_, err := file.Seek(bytes, io.SeekStart)
	return err
}

// Err returns why the linearization could not be written.
func (w *Witness) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// write writes the lines of the operations that are next.
func (w *Witness) write(text []byte) {
	if w == nil || w.err != nil || len(text) == 0 {
		return
	}
	n, err := w.To.Write(text)
	w.bytes += int64(n)
	w.err = err
	w.keep()
}

// keep has no operations be next, since they are held.
func (w *Witness) keep() {
	if w != nil {
		w.next = w.next[:0]
	}
}

// text returns the lines of the operations that are next.
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
	return text
}

// placed is an operation of a history that is judged by itself, just after an event.
type placed struct {
	at int32
	op jepsen.Operation
}

// due takes what is due of a part, of which need must be held. It returns what must be held besides, and before which event an
// operation that changes nothing must have been invoked to be due as well.
func (w *Witness) due(x *History, j *Judged, part *models.Operations, end int32, need forget.Kept) (kept forget.Kept, order []placed, before int32) {
	next, ok := forget.Ready(part, end, need)
	written := x.written(j, part)
	before = models.Open
	taken := make([]bool, part.Len())
	some := false
	for row, res := range part.Res {
		taken[row] = next.Ready[row] && !written[row]
		some = some || taken[row]
		if !next.Ready[row] && !written[row] {
			before = min(before, res)
		}
		ok = ok && (need.Settled == nil || next.Ready[row] || !written[row])
	}
	for row := range taken {
		if row := models.Row(row); taken[row] && part.Inv[row] > before {
			taken[row] = false
			next.Ready[row] = false // which is need.Settled, if that is there
			need.Rows[row] = true
			ok = ok && forget.MayComeAgain(part.Model, part.Op(row))
		}
	}
	var rows []models.Row
	if ok && some {
		rows, ok = w.order(part, taken, written, false, next)
	}
	switch {
	case ok:
	case need.State != nil && need.State.Given.Texts != nil:
		w.err = errors.Join(w.err, errors.New("the witness does not go on: an order of what has been decided was not found"))
		return need, nil, before
	default: // another time
		return forget.Kept{Hard: true}, nil, slices.Min(append(unwritten(part, written), models.Open))
	}
	for row := range need.Rows {
		if !next.Ready[row] && !written[row] && part.Res[row] != models.Open {
			need.Rows[row] = true
		}
	}
	return need, points(part, rows), before
}

// unwritten returns when operations return that were not written.
func unwritten(part *models.Operations, written []bool) (res []int32) {
	for row, at := range part.Res {
		if !written[row] {
			res = append(res, at)
		}
	}
	return res
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

// written returns by row what was written.
func (x *History) written(j *Judged, part *models.Operations) []bool {
	rows := make([]bool, part.Len())
	for row, op := range part.Of {
		rows[row] = len(x.Written) > 0 && has(x.Written, j.H.WholeOperation(op))
	}
	return rows
}

// take takes the operations of a history that is judged by itself: those of its parts that are due, and those that no part has, if
// they returned before an event and were invoked before another one. It says of which operations of the whole it must be
// held that they are not due.
func (w *Witness) take(x *History, h *jepsen.History, j *Judged, order []placed, end, before int32, hold func(whole jepsen.Operation)) {
	in := make([]bool, j.H.Operations())
	for _, part := range j.Parts {
		for _, op := range part.Of {
			in[op] = true
		}
	}
	for op, in := range in {
		op := jepsen.Operation(op)
		if whole := j.H.WholeOperation(op); !in && h.Status[whole] == jepsen.Succeeded && int32(j.H.Completion[op]) < end && !has(x.Settled, whole) && !has(x.Written, whole) {
			if inv := int32(j.H.Invocation[op]); inv < before {
				order = append(order, placed{inv, op})
			} else {
				hold(whole)
			}
		}
	}
	if len(j.Parts) == 1 {
		slices.SortStableFunc(order, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	}
	for _, p := range order {
		w.next = append(w.next, j.H.WholeOperation(p.op))
	}
}

// moment is when an operation begins or ends in a small history. What was written is in phase 0, and what shows the state in
// phase 2; the rows of the latter count down from -1.
type moment struct {
	phase, at int32
	row       models.Row
	ends      bool
}

// order returns the rows that are taken, as they may follow those that were written. If nothing more comes, operations that
// never returned may have happened; otherwise all have.
func (w *Witness) order(part *models.Operations, taken, written []bool, ended bool, next forget.Next) (rows []models.Row, ok bool) {
	var all []moment
	for row, inv := range part.Inv {
		row, phase, res := models.Row(row), int32(1), part.Res[row]
		if written[row] {
			phase = 0
		} else if !taken[row] {
			continue
		}
		all = append(all, moment{phase, inv, row, false})
		if res != models.Open || phase == 0 || !ended {
			all = append(all, moment{phase, res, row, true})
		}
	}
	for i := range int32(len(next.Sees)) {
		all = append(all, moment{2, 2 * i, -1 - i, false}, moment{2, 2*i + 1, -1 - i, true})
	}
	slices.SortFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row))
	})
	small := part.Select(nil)
	small.Events = int32(len(all))
	at := map[models.Row]int{} // by row: in the small history
	var of []models.Row
	for e, m := range all {
		if m.ends {
			small.Res[at[m.row]] = int32(e)
			continue
		}
		at[m.row] = len(of)
		of = append(of, m.row)
		if m.row < 0 {
			small.Append(int32(e), models.Open, next.Sees[-1-m.row])
			small.Of = append(small.Of, part.Of[0]) // it is not told
		} else {
			small.Append(int32(e), models.Open, part.Op(m.row))
			small.Of = append(small.Of, part.Of[m.row])
		}
	}
	order, ok := w.Order(small)
	if ok && next.Leads != nil {
		s, err := models.Final(context.Background(), small.Model, &small.Columns, order)
		ok = err == nil && next.Leads(s)
	}
	for _, row := range order {
		if row := of[row]; row >= 0 && !written[row] {
			rows = append(rows, row)
		}
	}
	return rows, ok
}

// Finish writes all that is held and has not been written, once nothing more comes.
func (x *History) Finish(h *jepsen.History, all []*Judged, w *Witness) error {
	for _, j := range all {
		var order []placed
		for i, part := range j.Parts {
			written := x.written(j, part)
			taken := make([]bool, part.Len())
			for row := range taken {
				taken[row] = !written[row]
			}
			rows, ok := w.order(part, taken, written, true, forget.Next{})
			if !ok {
				return fmt.Errorf("the witness has no end: no order of the last operations%s was found", j.named(i))
			}
			order = append(order, points(part, rows)...)
		}
		w.take(x, h, j, order, int32(len(j.H.Type)), models.Open, func(jepsen.Operation) {})
	}
	w.write(w.text(h))
	return w.err
}

// named says of which key a part is.
func (j *Judged) named(part int) string {
	if key := j.NameOf(part); key != "" {
		return " of key " + key
	}
	return ""
}
