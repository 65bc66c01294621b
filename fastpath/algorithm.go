package fastpath

import (
	"slices"

	"clew/jepsen"
	"clew/models"
)

// Result is what the Decide of a type returns.
type Result struct {
	Verdict jepsen.Verdict
	Reason  *Finding     // unknown
	Witness []models.Row // valid and wanted
	Keys    []models.Row // invalid: operations that show it
	End     int32        // invalid: the history up to this event is also invalid
	Loose   bool         // invalid: End is probably far too late
	Alone   bool         // invalid: Keys show it without the operations that are Always in a core
	Why     *Finding     // invalid
}

// Algorithm is what the shared machinery needs to know about a data type.
type Algorithm struct {
	// Decide decides a history.
	Decide func(in Input, witness bool) Result
	// Needs prepares the Needs of a history, which say what must stay together in its cores.
	Needs func(in Input) Needs
	// Step is the sequential meaning of an operation; ok reports whether it can happen. Step is
	// nil if Decide never finds ambiguous in a small history what it decides in a large one.
	Step func(op models.Op, state int32) (next int32, ok bool)
	// Always reports whether an operation belongs to every sub-history; nil: none does.
	Always func(op models.Op) bool
	// Explain explains a minimal core; nil: Decide does.
	Explain func(core Input) *Finding
	// Later adds to a violation what happened after the failure, unless it is nil.
	Later func(c *models.Columns, why *Finding, failEvent int32)
	// Evidence adds the core and its explanation, given a history that ends where it fails
	// and its result; nil: the shared machinery makes the keys and what they need smaller.
	Evidence func(in Input, r Result, d *Decision)
	// FewerDescents lowers MaxDescents. Both ways to find a failure find the same one.
	FewerDescents int
}

// Needs appends to out the other operations that a sub-history with operation o must contain.
type Needs func(o models.Row, out []models.Row) []models.Row

// Run decides a history and collects the evidence that is wanted.
func (a *Algorithm) Run(in Input, want Want) Decision {
	r := a.Decide(in, want&WantWitness != 0)
	d := Decision{Verdict: r.Verdict, Reason: r.Reason, Witness: r.Witness, FailEvent: -1, BoundEvent: -1}
	if r.Verdict == jepsen.Invalid && want&WantFailure != 0 {
		a.Failure(in, r, want&WantWitness != 0, &d)
		d.FailEvent, d.BoundEvent = in.Original(d.FailEvent), in.Original(d.BoundEvent)
		if a.Later != nil && d.Why != nil {
			a.Later(in.from, d.Why, d.FailEvent)
		}
	}
	return d
}

// Wrong returns the result for a violation that some operations show on their own.
func (in Input) Wrong(why *Finding) Result {
	r := Result{Verdict: jepsen.Invalid, End: -1, Why: why}
	for _, i := range why.Rows {
		if i >= 0 {
			r.Keys = append(r.Keys, i)
			r.End = max(r.End, in.Res[i])
		}
	}
	slices.Sort(r.Keys)
	r.Keys = slices.Compact(r.Keys)
	return r
}

// Swept returns the decision of a sweep that finds the first failing completion itself. fail is
// the operation whose return fails, or -1, and order is a witness. evidence adds what else is
// wanted of a failure.
func (in Input) Swept(fail models.Row, order []models.Row, want Want, evidence func(d *Decision)) Decision {
	d := Decision{Verdict: jepsen.Valid, FailEvent: -1, BoundEvent: -1}
	if fail >= 0 {
		d.Verdict = jepsen.Invalid
	} else if want&WantWitness != 0 {
		d.Witness = order
	}
	if fail >= 0 && want&WantFailure != 0 {
		d.FailEvent, d.BoundEvent = in.from.Res[fail], in.from.Res[fail]
		evidence(&d)
	}
	return d
}
