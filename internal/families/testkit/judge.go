package testkit

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// Compare decides a history and judges the decision and its evidence.
func (k *Type) Compare(t *testing.T, n *Counts, c *models.Columns) fastpath.Decision {
	t.Helper()
	fatal := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s: %s\n%s", k.Name, fmt.Sprintf(format, args...), k.Show(c))
	}
	defer func() {
		if p := recover(); p != nil {
			fatal("panic: %v\n%s", p, debug.Stack())
		}
	}()
	before := clone(c)
	d := k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
	plain := k.Decide(c, fastpath.WantVerdict)
	switch {
	case !same(c, before):
		fatal("the decision changed the history; it was\n%s", k.Show(before))
	case d.Verdict != jepsen.Unknown && plain.Verdict != d.Verdict:
		fatal("%v, and %v if evidence is wanted", plain.Verdict, d.Verdict)
	}
	if err := k.Judge(c, d); err != nil {
		fatal("%v\n%+v", err, d)
	}
	n.count(c, d)
	return d
}

func clone(c *models.Columns) *models.Columns {
	return &models.Columns{Events: c.Events, Inv: slices.Clone(c.Inv), Res: slices.Clone(c.Res),
		Kind: slices.Clone(c.Kind), A: slices.Clone(c.A), B: slices.Clone(c.B)}
}

func same(c, d *models.Columns) bool {
	return c.Events == d.Events && slices.Equal(c.Inv, d.Inv) && slices.Equal(c.Res, d.Res) &&
		slices.Equal(c.Kind, d.Kind) && slices.Equal(c.A, d.A) && slices.Equal(c.B, d.B)
}

// Judge says what is wrong with a decision of a small history that includes
// a witness and the failure. It returns nil if nothing is wrong.
func (k *Type) Judge(c *models.Columns, d fastpath.Decision) error {
	if d.Verdict == jepsen.Unknown {
		if d.FailEvent != -1 {
			return fmt.Errorf("ambiguous, and fails at event %d", d.FailEvent)
		}
		return k.doubt(c, d.Reason)
	}
	h := k.History(c)
	want := h.FirstFailing()
	switch {
	case (want < 0) != (d.Verdict == jepsen.Valid):
		return fmt.Errorf("%v, first failing completion is %d", d.Verdict, want)
	case want < 0:
		return k.witness(h, d.Witness, c.Events)
	case d.BoundEvent < want:
		return fmt.Errorf("bound %d, first failing completion %d", d.BoundEvent, want)
	case d.FailEvent < 0:
		return k.doubt(c, d.Reason)
	case d.FailEvent != want:
		return fmt.Errorf("first failing completion %d, not %d", want, d.FailEvent)
	}
	if err := k.witness(h, d.Before, want); err != nil {
		return fmt.Errorf("before the failure: %w", err)
	}
	if err := k.core(h, d); err != nil {
		return fmt.Errorf("core %v: %w", d.Core, err)
	}
	return k.why(h, d)
}

// doubt says what is wrong with a reason for ambiguity.
func (k *Type) doubt(c *models.Columns, reason *fastpath.Finding) error {
	if reason == nil {
		return errors.New("ambiguous without a reason")
	}
	for _, row := range reason.Rows {
		if int(row) >= c.Len() {
			return fmt.Errorf("ambiguous for an operation that there is not: %v", reason)
		}
	}
	if k.Doubt != nil && !k.Doubt(c, reason) {
		return fmt.Errorf("ambiguous for no reason: %v", reason)
	}
	return nil
}

// witness says what is wrong with an order that should be a linearization
// of the operations begun before an event. It may contain an operation that
// did not return only if that operation says something and was seen.
func (k *Type) witness(h *oracle.History, order []models.Row, end int32) error {
	if err := h.Shows(order, end); err != nil {
		return fmt.Errorf("witness %v: %w", order, err)
	}
	for n, row := range order {
		if h.Res[row] < end {
			continue
		}
		last := n+1 == len(order)
		if last || k.Seen != nil && !k.Seen(h.Op(order[n+1])) {
			return fmt.Errorf("witness %v: row %d never returned, nor did anything see it", order, row)
		}
		if end < h.Events && !k.says(h.Op(row)) {
			return fmt.Errorf("witness %v: row %d says nothing yet", order, row)
		}
	}
	return nil
}

// core says what is wrong with a core.
func (k *Type) core(h *oracle.History, d fastpath.Decision) error {
	var closed func(oracle.Set) bool
	if k.Closed != nil {
		closed = k.Closed(h.Columns, d)
	}
	if err := h.Core(d.Core, d.FailEvent, closed); err != nil {
		return err
	}
	for _, row := range d.Core {
		if h.Res[row] > d.FailEvent && !k.says(h.Op(row)) {
			return fmt.Errorf("row %d says nothing yet", row)
		}
	}
	if k.Core != nil {
		if problem := k.Core(k, h.Columns, d); problem != "" {
			return errors.New(problem)
		}
	}
	return nil
}

// Needless names an operation that could be left out of a core, which would
// still fail at the same event as a history of its own. It considers only
// the operations that of selects, and returns "" if there is none.
func (k *Type) Needless(c *models.Columns, d fastpath.Decision, of func(row models.Row) bool) string {
	h, core := k.History(c), oracle.SetOf(d.Core)
	for _, row := range d.Core {
		less := core &^ (1 << row)
		if of(row) && h.Linearizable(d.FailEvent, less) && !h.Linearizable(d.FailEvent+1, less) {
			return fmt.Sprintf("row %d could be left out", row)
		}
	}
	return ""
}

// why says what is wrong with a violation.
func (k *Type) why(h *oracle.History, d fastpath.Decision) error {
	if d.Why == nil {
		if !k.Unexplained {
			return errors.New("not explained")
		}
		return nil
	}
	if len(d.Why.Rows) == 0 {
		return fmt.Errorf("explained by nothing: %v", d.Why)
	}
	if rows := d.Why.Rows; len(rows) > 1 && !slices.ContainsFunc(rows, func(row models.Row) bool { return row != rows[0] }) {
		return fmt.Errorf("one operation against itself: %v", d.Why)
	}
	later := k.later(d.Why)
	for _, i := range d.Why.Rows {
		if i >= 0 && !slices.Contains(d.Core, i) && (i != later || h.Inv[i] < d.FailEvent) {
			return fmt.Errorf("explained by others than core %v: %v", d.Core, d.Why)
		}
	}
	if k.Why != nil && !k.Why(h.Columns, d) {
		return fmt.Errorf("not what core %v shows: %v", d.Core, d.Why)
	}
	return nil
}

// judgeLong says what is wrong with the evidence for a history that is too long for the
// oracle. A witness must be a linearization. Just before the first failing completion
// the history must be linearizable. Up to there it must not be, nor may the core alone.
func (k *Type) judgeLong(c *models.Columns, d fastpath.Decision) error {
	h := k.History(c)
	if d.Verdict == jepsen.Valid {
		return k.witness(h, d.Witness, c.Events)
	}
	if d.Verdict == jepsen.Unknown || d.FailEvent < 0 {
		return nil
	}
	if err := k.witness(h, d.Before, d.FailEvent); err != nil {
		return fmt.Errorf("before the failure: %w", err)
	}
	before, _ := k.Cut(c, d.FailEvent-1)
	if b := k.Decide(before, fastpath.WantWitness); b.Verdict != jepsen.Valid {
		return fmt.Errorf("%v just before the first failing completion", b.Verdict)
	} else if err := k.witness(k.History(before), b.Witness, before.Events); err != nil {
		return fmt.Errorf("just before the first failing completion: %w", err)
	}
	cut, rows := k.Cut(c, d.FailEvent)
	if v := k.Decide(cut, fastpath.WantVerdict).Verdict; v != jepsen.Invalid {
		return fmt.Errorf("%v up to the first failing completion", v)
	}
	core := &models.Columns{Events: cut.Events}
	for at, row := range rows {
		if slices.Contains(d.Core, row) {
			core.Append(cut.Inv[at], cut.Res[at], cut.Op(int32(at)))
		}
	}
	if k.Decide(core, fastpath.WantVerdict).Verdict == jepsen.Valid || core.Len() < 20 && k.Linearizable(core) {
		return fmt.Errorf("core %v is linearizable", d.Core)
	}
	return nil
}
