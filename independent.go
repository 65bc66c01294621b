package clew

import (
	"context"
	"errors"
	"fmt"

	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// checkKeys checks every key of a history of independent keys: read one after
// the other, decided side by side within the shared limits, each by its best
// path.
func checkKeys(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*report.Result, error) {
	part := h.Independent
	if o.Keyless {
		part = h.IndependentOrShared
	}
	keyed, err := part()
	if err != nil {
		return nil, err
	}
	spec, inferred, err := spec.Infer(keyed.Unwrapped)
	if err != nil {
		return nil, err
	}
	if err := spec.Admits(h); err != nil {
		return nil, err
	}
	histories := make([]*jepsen.KeyHistory, len(keyed.Keys))
	keys := make([]*checking, len(keyed.Keys))
	for i := range keys {
		histories[i] = keyed.History(i)
		if keys[i], err = read(histories[i].History, spec, o); err != nil {
			return nil, err
		}
	}
	d, lim := newDecider(spec, o), o.limits()
	sideBySide(len(keys), func(i int) { keys[i].decide(ctx, d, lim) })

	r := &report.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init, Inferred: inferred,
		Verdict: jepsen.Valid, Verified: o.Verify,
		FailEvent: jepsen.None, LastOperation: jepsen.None,
	}
	for i, c := range keys {
		key, err := c.result(ctx, d, o)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", h.Values.Text(keyed.Keys[i]), err)
		}
		r.Keys = append(r.Keys, report.KeyResult{Key: h.Values.Value(keyed.Keys[i]), Result: key})
		r.Verified = r.Verified && key.Verified
	}
	together(r)
	if r.Verdict == jepsen.Valid && keyed.Shared() == 0 {
		r.Witness = wholeWitness(h, histories, r.Keys)
	}
	return r, nil
}

// together is the verdict of the keys together: that of the first failing one,
// else of the first undecided one, else of any.
func together(r *report.Result) {
	shown := r.FailingKey()
	for i := range r.Keys {
		if shown == nil && r.Keys[i].Verdict == jepsen.Unknown {
			shown = &r.Keys[i]
		}
	}
	if shown == nil {
		shown = &r.Keys[0]
	}
	r.Verdict, r.Analyzer, r.Cause = shown.Verdict, shown.Analyzer, shown.Cause
	if r.Verdict == jepsen.Valid {
		for _, k := range r.Keys {
			r.Depth = max(r.Depth, k.Depth)
		}
	}
	name := "key " + shown.Key.String() + ": "
	if shown.Verdict != jepsen.Valid && shown.Explanation != "" {
		r.Explanation, r.Hint = name+shown.Explanation, shown.Hint
	}
}

// wholeWitness merges the witnesses of the keys into one of the whole history.
// Every operation takes effect at the latest invocation up to it in its own
// key's order, which is before it returns.
func wholeWitness(h *jepsen.History, histories []*jepsen.KeyHistory, keys []report.KeyResult) []jepsen.Operation {
	var points []point
	for i, k := range keys {
		at := jepsen.Event(jepsen.None)
		for _, op := range k.Witness {
			whole := histories[i].WholeOp[op]
			at = max(at, h.Invocation[whole])
			points = append(points, point{at, whole})
		}
	}
	return inOrder(points)
}

// VerifyKeys is Verify for a history of independent keys: the operations of
// every key, in the order of the witness, are a linearization of the key's
// history. An operation without a key is one of every key.
func VerifyKeys(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	keyed, err := h.IndependentOrShared()
	if err != nil {
		return err
	}
	if spec, _, err = spec.Infer(keyed.Unwrapped); err != nil {
		return err
	}
	if err := spec.Admits(h); err != nil {
		return err
	}
	for i, key := range keyed.Keys {
		own := keyed.History(i)
		here := make(map[jepsen.Operation]jepsen.Operation, len(own.WholeOp))
		for op, whole := range own.WholeOp {
			here[whole] = jepsen.Operation(op)
		}
		var ops []jepsen.Operation
		var positions []int
		for at, whole := range witness {
			if op, ok := here[whole]; ok {
				ops, positions = append(ops, op), append(positions, at)
			}
		}
		err := Verify(own.History, spec, ops)
		var wrong *WitnessError
		if errors.As(err, &wrong) {
			at := append(positions, len(witness))[wrong.Position]
			return &WitnessError{at, "key " + h.Values.Text(key) + ": " + wrong.Msg}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
