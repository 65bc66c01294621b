package clew

import (
	"context"
	"fmt"

	"clew/edn"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A verdict is about a reading of the history: a model, a level, keys, an initial value, what nil says (report.Reading). What
// nobody has said about it is a default, and may be wrong. So:
//
//   - A history is INVALID only if no other value of such a part makes it valid. Otherwise the verdict is unknown, with
//     the readings that differ. Keys are tried here, and initial values in initial.go. The level is no such part.
//   - A verdict that is VALID only because reads of nil say nothing has a warning.
//
// Cost: nothing where no such part matters, which a linear pass shows. Otherwise one more decision.

// another withdraws the verdict of a history that fails as one object, if each of its keys, which nobody has denied, does not.
func another(ctx context.Context, r *report.Result, spec models.Spec, o Options) *report.Result {
	d, err := r.Spec.Definition()
	if r.Verdict != jepsen.Invalid || o.Independent || o.Whole || o.Consistency.Weaker() || err != nil || d.Pairs || !r.History.MayHaveKeys() {
		return r
	}
	o.Independent, o.Verify = true, VerifyNever
	keyed, err := checkKeys(ctx, r.History, spec, o)
	if err != nil || keyed.Verdict == jepsen.Invalid {
		return r
	}
	each, none := option.Independent.String(), option.Whole.String()
	says := "each key by itself is"
	if keyed.Verdict != jepsen.Valid {
		says = "whether each key by itself is was not decided"
	}
	return &report.Result{
		History: r.History, File: r.File, Model: r.Model, Init: r.Init, Inferred: r.Inferred, ToldBy: r.ToldBy, Spec: r.Spec, Altered: r.Altered,
		Analyzer: r.Analyzer, Cause: jepsen.Reading,
		Explanation: fmt.Sprintf("as one %s it is not linearizable: %s; but every value is a pair whose first element may be a key, and %s: %s or %s says which it was",
			r.Model, r.Explanation, says, each, none),
		Alternatives: []report.Alternative{
			{Part: "keys", Value: "none", Verdict: jepsen.Invalid, Flag: none},
			{Part: "keys", Value: "each", Verdict: keyed.Verdict, Flag: each},
		},
	}
}

// granted warns if a history is valid only because its reads of nil say nothing.
func granted(ctx context.Context, r *report.Result, spec models.Spec, o Options) string {
	d, err := r.Spec.Definition()
	if r.Verdict != jepsen.Valid || r.Spec.NilReadsExact || err != nil || !d.Takes(models.ParamNilReads) {
		return ""
	}
	n := nilReads(r.History)
	if n == 0 {
		return ""
	}
	if spec.Name == "" {
		spec.Name = r.Model
	}
	spec.NilReadsExact, o.Verify = true, VerifyNever
	check := checkOne
	if o.Independent {
		check = checkKeys
	}
	exact, err := check(ctx, r.History, spec, o)
	if err != nil || exact.Verdict != jepsen.Invalid {
		return ""
	}
	were, saw := "were", "they"
	if n == 1 {
		were, saw = "was", "it"
	}
	return fmt.Sprintf("%s of nil %s taken to say nothing; if %s saw nil, the completion at index %d cannot happen (%s exact)",
		text.Count(n, "read"), were, saw, r.History.Index(exact.FirstFailing().FailEvent.OrNone()), models.ParamNilReads)
}

// nilReads returns how many reads have succeeded with nil, those of transactions and those of a key among them.
func nilReads(h *jepsen.History) (n int) {
	v := h.Values
	read, short, txn := v.InternKeyword("read"), v.InternKeyword("r"), v.InternKeyword("txn")
	for op, status := range h.Status {
		if status != jepsen.Succeeded {
			continue
		}
		f, value := h.F[h.Invocation[op]], h.OpValue(jepsen.Operation(op))
		items := v.Items(value)
		switch {
		case f == txn:
			for _, step := range items {
				if step := v.Items(step); len(step) == 3 && (step[0] == read || step[0] == short) && step[2] == edn.Nil {
					n++
				}
			}
		case f == read && (value == edn.Nil || v.Kind(value) == edn.KindVector && len(items) == 2 && items[1] == edn.Nil):
			n++
		}
	}
	return n
}
