package clew

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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
	// Passed, where not nil, follows the number of operations linearized so
	// far.
	Passed *atomic.Int64
}

// Algorithms are the names that Options.Algorithm knows.
var Algorithms = []string{"auto", "porcupine", "competition"}

// Check decides whether a history is linearizable with respect to a model, and
// shows why. An error means that the history or the options make no sense;
// whatever stops the search is a Result with an unknown verdict. It is not safe
// to check one History from several goroutines at once.
func Check(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*jepsen.Result, error) {
	start := time.Now()
	engine, err := engineFor(o.Algorithm)
	if err != nil {
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
	r := &jepsen.Result{
		History: h, File: h.File, Model: spec.Name, Init: spec.Init,
		Analyzer: "clew/" + engine.Name(), Op: jepsen.None, LastOp: jepsen.None,
	}
	parts := ops.Parts()
	answers := decide(ctx, engine, parts, o)
	verdict, cause, failing := conclude(answers)
	r.Verdict, r.Cause = verdict, string(cause)
	switch verdict {
	case jepsen.Valid:
		valid(r, ops, parts, answers)
	case jepsen.Invalid:
		part, a := parts[failing], answers[failing]
		invalid(r, spec, part, a)
		for _, row := range fallback.Core(ctx, engine, part, a, fallback.Limits{Memory: o.Memory}) {
			r.Core = append(r.Core, part.Of[row])
		}
	}
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return r, nil
}

func engineFor(algorithm string) (fallback.Engine, error) {
	switch algorithm {
	case "", "auto", "competition", "porcupine":
		return fallback.Porcupine{}, nil
	}
	return nil, fmt.Errorf("unknown algorithm %q; clew knows %v", algorithm, Algorithms)
}

// A history of several parts is decided in growing prefixes: where one part
// fails early, what the others do later does not matter, however hard it is to
// decide. firstHorizon is the number of events in the first prefix.
const (
	firstHorizon  = 512
	horizonGrowth = 4
)

// decide decides the parts up to the earliest failing completion.
func decide(ctx context.Context, engine fallback.Engine, parts []*models.Operations, o Options) []fallback.Answer {
	limits := fallback.Limits{Memory: o.Memory, Passed: o.Passed}
	if len(parts) == 1 {
		return []fallback.Answer{fallback.Check(ctx, engine, parts[0], limits)}
	}
	for horizon := int32(firstHorizon); ; horizon *= horizonGrowth {
		last := horizon >= parts[0].Events/horizonGrowth
		answers := eachPart(parts, func(part *models.Operations) fallback.Answer {
			if last {
				return fallback.Check(ctx, engine, part, limits)
			}
			return fallback.CheckPrefix(ctx, engine, part, horizon, limits)
		})
		if last || slices.ContainsFunc(answers, func(a fallback.Answer) bool { return a.Verdict != fallback.Valid }) {
			return answers
		}
	}
}

// eachPart decides the parts side by side. A panic in one comes back as one of
// this goroutine.
func eachPart(parts []*models.Operations, check func(*models.Operations) fallback.Answer) []fallback.Answer {
	answers := make([]fallback.Answer, len(parts))
	panics := make([]any, len(parts))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, part := range parts {
		group.Go(func() error {
			defer func() { panics[i] = recover() }()
			answers[i] = check(part)
			return nil
		})
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	return answers
}

// conclude puts the verdicts of the parts together. One failing part is enough
// for INVALID, and the earliest failing completion that is known counts.
func conclude(answers []fallback.Answer) (verdict jepsen.Verdict, cause fallback.Cause, failing int) {
	verdict, failing = jepsen.Valid, -1
	for i, a := range answers {
		switch {
		case a.Verdict == fallback.Unknown && verdict == jepsen.Valid:
			verdict, cause = jepsen.Unknown, a.Cause
		case a.Verdict == fallback.Invalid && (failing < 0 || a.Fail < answers[failing].Fail):
			verdict, cause, failing = jepsen.Invalid, "", i
		}
	}
	return verdict, cause, failing
}

// valid fills in the witness and the final state.
func valid(r *jepsen.Result, ops *models.Operations, parts []*models.Operations, answers []fallback.Answer) {
	state := ops.Model.Init()
	var finals []models.State
	var points []point
	for i, part := range parts {
		run, err := models.Replay(part.Model, &part.Columns, answers[i].Order)
		if err != nil {
			panic("a witness does not replay: " + err.Error())
		}
		if len(run) > 0 {
			state = run[len(run)-1]
		}
		finals = append(finals, state)
		points = append(points, pointsOf(part, answers[i].Order)...)
	}
	if p, ok := ops.Model.(models.Partitioner); ok {
		state = p.Join(finals)
	}
	r.Final = ops.Model.Record(state)
	slices.SortStableFunc(points, func(a, b point) int { return int(a.at - b.at) })
	for _, p := range points {
		r.Witness = append(r.Witness, p.op)
	}
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
func invalid(r *jepsen.Result, spec models.Spec, part *models.Operations, a fallback.Answer) {
	h, model := r.History, part.Model
	of := func(row int32) int32 {
		if row < 0 {
			return jepsen.None
		}
		return part.Of[row]
	}
	config, paths := fallback.Explain(part, a)
	r.Op, r.LastOp = a.Fail, of(config.Last)
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
	r.Explanation = explain(r, paths[0])
	r.Hint = hint(h, spec, part, a.Fail)
}

// CheckAlgorithm says whether a name is one of Algorithms.
func CheckAlgorithm(name string) error {
	_, err := engineFor(name)
	return err
}
