package clew

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clew/fallback/auto"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// WitnessError says why a witness is no linearization, and at which position of
// it (from 0; the length of the witness if an operation is missing).
type WitnessError struct {
	Position int
	Msg      string
}

func (e *WitnessError) Error() string { return fmt.Sprintf("position %d: %s", e.Position, e.Msg) }

// Verify says whether a witness, operations of the history in order, is a
// linearization: every operation that succeeded stands in it once, crashed ones
// at most once and failed ones not at all; none stands behind one that began
// after it had returned; and the model can take every step. It shares nothing
// with the engines: the model's sequential step, and one pass over the witness. If
// it is none, the error is a *WitnessError; any other means that the history or the
// spec makes no sense. Linear time.
func Verify(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	return verifyWithin(context.Background(), h, spec, witness)
}

// verifyWithin is Verify as long as the context is not done: then the error is its
// cause.
func verifyWithin(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation) (err error) {
	if f := caught(func() { err = replay(ctx, h, spec, witness) }); f != nil {
		return f
	}
	return err
}

// replay is verifyWithin, unless the model fails.
func replay(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	spec, _, err := spec.Infer(h)
	if err != nil {
		return err
	}
	ops, err := spec.ReadWithin(ctx, h)
	if err != nil {
		return err
	}
	rowOf := rowsByOperation(ops)
	seen := make([]bool, h.Operations())
	var rows, positions []int32
	latest := jepsen.Operation(jepsen.None) // the operation that began last so far
	for i, op := range witness {
		switch {
		case op < 0 || int(op) >= len(seen):
			return &WitnessError{i, "the history has no such operation"}
		case seen[op]:
			return &WitnessError{i, h.Name(op) + " stands in it twice"}
		case h.Status[op] == jepsen.Failed && rowOf[op] == jepsen.None:
			return &WitnessError{i, h.Name(op) + " failed"}
		case latest >= 0 && h.Status[op] != jepsen.Crashed && h.Completion[op] < h.Invocation[latest]:
			return &WitnessError{i, fmt.Sprintf("%s had returned before %s began, yet stands behind it", h.Name(op), h.Name(latest))}
		}
		seen[op] = true
		if latest < 0 || h.Invocation[op] > h.Invocation[latest] {
			latest = op
		}
		if rowOf[op] != jepsen.None {
			rows, positions = append(rows, rowOf[op]), append(positions, int32(i))
		}
	}
	for op, done := range seen {
		if !done && (h.Status[op] == jepsen.Succeeded || h.Status[op] == jepsen.Failed && rowOf[op] != jepsen.None) {
			return &WitnessError{len(witness), h.Name(jepsen.Operation(op)) + " is missing"}
		}
	}
	var stuck *models.ReplayError
	if _, err := models.Final(ctx, ops.Model, &ops.Columns, rows); errors.As(err, &stuck) {
		at := positions[stuck.Position]
		return &WitnessError{int(at), h.Name(witness[at]) + " cannot happen there: " + stuck.Why}
	} else if err != nil {
		return err
	}
	return nil
}

// verify re-checks the evidence of a result and says so in it: a witness is
// replayed; a core is decided by another engine than the one that found it.
func (d *decider) verify(ctx context.Context, r *report.Result, spec models.Spec, parts []*models.Operations, failing int, lim limits.Limits) error {
	switch r.Verdict {
	case jepsen.Valid:
		r.Verified = true
		return verifyWithin(ctx, r.History, spec, r.Witness)
	case jepsen.Invalid:
		var err error
		r.Verified, err = d.verifyCore(ctx, r, parts[failing], lim)
		return err
	}
	return nil
}

func (d *decider) verifyCore(ctx context.Context, r *report.Result, part *models.Operations, lim limits.Limits) (bool, error) {
	core := part.Select(rowsAmong(part, r.Core)).Prefix(int32(r.FailEvent))
	again := *d
	again.fast, again.only, again.engine = false, false, auto.Judge(strings.TrimPrefix(r.Analyzer, "clew/"))
	switch x := again.part(ctx, core.Operations, lim); x.Verdict {
	case jepsen.Invalid:
		return true, nil
	case jepsen.Valid:
		return false, errors.New("the core is linearizable, says " + x.analyzer)
	}
	return false, nil
}
