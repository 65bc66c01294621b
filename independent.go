package clew

import (
	"context"
	"errors"

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
	r := &report.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init, Inferred: inferred,
		Verdict: jepsen.Valid, Verified: o.Verify,
		FailEvent: jepsen.None, LastOperation: jepsen.None,
	}
	var points []point
	d, lim := newDecider(spec, o), o.limits()
	for from := 0; from < len(keyed.Keys); from += keysAtOnce {
		var histories []*jepsen.KeyHistory
		var keys []*checking
		for i := from; i < min(from+keysAtOnce, len(keyed.Keys)); i++ {
			own := keyed.History(i)
			c, err := read(own.History, spec, o)
			if err != nil {
				return nil, err
			}
			histories, keys = append(histories, own), append(keys, c)
		}
		sideBySide(len(keys), func(i int) { keys[i].decide(ctx, d, lim) })
		for i, c := range keys {
			key := c.result(ctx, d, o)
			r.Keys = append(r.Keys, report.KeyResult{Key: h.Values.Value(keyed.Keys[from+i]), Result: key})
			r.Verified = r.Verified && key.Verified
			points = append(points, pointsOfKey(h, histories[i], key)...)
		}
	}
	together(r)
	if r.Verdict == jepsen.Valid && keyed.Shared() == 0 {
		r.Witness = inOrder(points)
	}
	return r, nil
}

// keysAtOnce is how many keys are under way at once: what a search needs of them
// is gone before the next ones are read.
const keysAtOnce = 4096

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

// pointsOfKey gives the operations of a key's witness points in the whole history.
// Every operation takes effect at the latest invocation up to it in its own key's
// order, which is before it returns; so the witnesses of all keys merge by their
// points.
func pointsOfKey(h *jepsen.History, own *jepsen.KeyHistory, key *report.Result) []point {
	points := make([]point, len(key.Witness))
	at := jepsen.Event(jepsen.None)
	for i, op := range key.Witness {
		whole := own.WholeOp[op]
		at = max(at, h.Invocation[whole])
		points[i] = point{at, whole}
	}
	return points
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
	here := make([]jepsen.Operation, h.Operations()) // by operation: in its key's history
	positionsOf := keyed.Positions(witness)
	for i, key := range keyed.Keys {
		own := keyed.History(i)
		for op, whole := range own.WholeOp {
			here[whole] = jepsen.Operation(op)
		}
		positions := positionsOf(i)
		ops := make([]jepsen.Operation, len(positions))
		for i, at := range positions {
			ops[i] = here[witness[at]]
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
