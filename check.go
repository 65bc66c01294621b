package clew

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Options say how a history is checked.
type Options struct {
	// Algorithm is one of Algorithms; "" is "auto".
	Algorithm string
	// TimeLimit bounds the check; 0 is no limit.
	TimeLimit time.Duration
	// Memory is what the search may use, possibly together with other checks;
	// nil is no limit.
	Memory *fallback.Budget
	// Verify re-checks the evidence: a witness is replayed, a core decided again
	// by another engine.
	Verify bool
	// Passed, where not nil, follows the number of operations linearized so
	// far.
	Passed *atomic.Int64
}

// Algorithms are the names that Options.Algorithm knows. "auto" is the fast path
// where there is one and the history is unambiguous, else the general search;
// "fast" is the fast path or an unknown verdict, "ambiguous"; "window" (which
// "wgl" is too), "frontier" ("linear") and "porcupine" are the general search with
// that engine alone, "competition" with all of them in a race.
var Algorithms = []string{"auto", "fast", "window", "wgl", "frontier", "linear", "porcupine", "competition"}

// CheckAlgorithm says whether a name is one of Algorithms.
func CheckAlgorithm(name string) error {
	if name == "" || slices.Contains(Algorithms, name) {
		return nil
	}
	return fmt.Errorf("unknown algorithm %q; clew knows %s", name, strings.Join(Algorithms, ", "))
}

// Check decides whether a history is linearizable with respect to a model, and
// shows why. An error means that the history or the options make no sense;
// whatever stops the search is a Result with an unknown verdict. It is not safe
// to check one History from several goroutines at once.
func Check(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*jepsen.Result, error) {
	start := time.Now()
	if err := CheckAlgorithm(o.Algorithm); err != nil {
		return nil, err
	}
	ops, err := spec.Read(h)
	if err != nil {
		return nil, err
	}
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.TimeLimit)
		defer cancel()
	}
	d := newDecider(ctx, spec, o)
	parts, decisions := d.decide(ops)
	r := &jepsen.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init,
		Op: jepsen.None, LastOp: jepsen.None,
	}
	failing := conclude(r, decisions)
	switch r.Verdict {
	case jepsen.Valid:
		valid(r, ops, parts, decisions)
	case jepsen.Invalid:
		invalid(r, spec, parts[failing], decisions[failing])
		r.Core = d.core(parts[failing], decisions[failing])
	}
	if o.Verify {
		if err := d.verify(r, spec, parts, failing); err != nil {
			panic("the evidence does not stand up: " + err.Error())
		}
	}
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return r, nil
}

// conclude puts the verdicts of the parts together and returns the failing one.
// One failing part is enough for INVALID, and the earliest failing completion
// that is known counts.
func conclude(r *jepsen.Result, decisions []decision) (failing int) {
	failing = -1
	r.Verdict = jepsen.Valid
	for i, d := range decisions {
		switch {
		case d.Verdict == fallback.Unknown && r.Verdict != jepsen.Invalid:
			r.Verdict, r.Cause, r.Error, r.Analyzer = jepsen.Unknown, string(d.Cause), d.reason, d.analyzer
		case d.Verdict == fallback.Invalid && (failing < 0 || d.Fail < decisions[failing].Fail):
			r.Verdict, r.Cause, r.Error, r.Analyzer, failing = jepsen.Invalid, "", "", d.analyzer, i
		case r.Analyzer == "":
			r.Analyzer = d.analyzer
		}
	}
	return failing
}

// valid fills in the witness and the final state.
func valid(r *jepsen.Result, ops *models.Operations, parts []*models.Operations, decisions []decision) {
	var finals []models.State
	var points []point
	for i, part := range parts {
		run, err := models.Replay(part.Model, &part.Columns, decisions[i].Order)
		if err != nil {
			panic("a witness does not replay: " + err.Error())
		}
		state := part.Model.Init()
		if len(run) > 0 {
			state = run[len(run)-1]
		}
		finals = append(finals, state)
		points = append(points, pointsOf(part, decisions[i].Order)...)
	}
	state := finals[0]
	if p, ok := ops.Model.(models.Partitioner); ok {
		state = p.Join(finals)
	}
	points = append(points, free(ops)...)
	r.Final = ops.Model.Record(state)
	slices.SortStableFunc(points, func(a, b point) int { return int(a.at - b.at) })
	for _, p := range points {
		r.Witness = append(r.Witness, p.op)
	}
}

// free gives the operations that succeeded and that the model reads as saying
// nothing, such as reads of nil, a point as well.
func free(ops *models.Operations) []point {
	h := ops.History
	read := make([]bool, h.Operations())
	for _, op := range ops.Of {
		read[op] = true
	}
	var points []point
	for op, done := range read {
		if !done && h.Status[op] == jepsen.Succeeded {
			points = append(points, point{h.Invocation[op], int32(op)})
		}
	}
	return points
}

// point is where an operation takes effect: just after event at.
type point struct{ at, op int32 }

// pointsOf gives every operation of a linearization the earliest point that its
// order allows: the latest invocation up to it. It lies before the operation's
// return, so the orders of several parts merge by their points.
func pointsOf(part *models.Operations, order []int32) []point {
	at := int32(-1)
	points := make([]point, len(order))
	for i, row := range order {
		at = max(at, part.Inv[row])
		points[i] = point{at, part.Of[row]}
	}
	return points
}

// invalid fills in where and why.
func invalid(r *jepsen.Result, spec models.Spec, part *models.Operations, d decision) {
	h, model := r.History, part.Model
	of := func(row int32) int32 {
		if row < 0 {
			return jepsen.None
		}
		return part.Of[row]
	}
	config, paths := fallback.Explain(part, d.Answer)
	r.Op, r.LastOp = d.Fail, of(config.Last)
	c := jepsen.Config{Model: model.Record(config.State), Last: r.LastOp}
	for _, row := range config.Pending {
		c.Pending = append(c.Pending, of(row))
	}
	r.Configs = []jepsen.Config{c}
	for _, path := range paths {
		var steps []jepsen.Step
		for _, s := range path {
			record := edn.ID(0)
			if s.State != nil || s.Why == "" {
				record = model.Record(s.State)
			} else {
				record = jepsen.Inconsistent(h.Values, s.Why)
			}
			steps = append(steps, jepsen.Step{Op: of(s.Row), Model: record})
		}
		r.Paths = append(r.Paths, steps)
	}
	if r.Explanation = explainFast(part, d.why); r.Explanation == "" {
		r.Explanation = explain(r, paths[0])
	}
	r.Hint = hint(h, spec, part, d.Fail)
}
