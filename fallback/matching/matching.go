// Package matching decides registers by who read whom. It is one Engine of the
// general search, see package fallback.
package matching

import (
	"context"

	"clew/fallback"
	"clew/fallback/cdcl"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Engine decides.
type Engine struct{ Rules }

// Rules switch techniques off, for tests.
type Rules struct {
	NoThresholds                                     bool // lemmas name single reads
	NoZoneChoice                                     bool // the latest node is tried first
	NoChunks                                         bool // all readers are open at once
	NoPhases                                         bool // what a reader saw before is not tried first
	NoBase                                           bool // jumps and restarts go all the way back
	NoRestarts, NoReducing, NoActivity, NoMinimizing bool
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "matching" }

// Decide implements fallback.Engine.
func (e Engine) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	if _, ok := ops.Model.(models.SingleValue); !ok {
		return fallback.Answer{Cause: fallback.GaveUp}
	}
	r := &run{ctx: ctx, limits: lim, rules: e.Rules}
	defer r.release()
	if !r.poll() {
		return fallback.Answer{Cause: r.cause}
	}
	r.problem = newProblem(ops)
	return r.decide()
}

// run is one decision.
type run struct {
	*problem
	ctx    context.Context
	limits limits.Limits
	rules  Rules
	t      *theory
	saw    []int32 // by row: what it saw in the last solution
	at     int     // how many readers that solution covers
	taken  int64
	cause  jepsen.Cause
}

// chunk is how many readers are opened at once.
const chunk = 100

func (r *run) decide() fallback.Answer {
	r.saw = nones(len(r.inv))
	r.t = newTheory(r.problem, r.rules, r.poll)
	size := chunk
	if r.rules.NoChunks {
		size = len(r.readers)
	}
	for r.at < len(r.readers) {
		n := r.open(min(size, len(r.readers)-r.at))
		if n == 0 {
			return r.invalid()
		}
		switch r.solve(n) {
		case stopped:
			return fallback.Answer{Cause: r.cause, Passed: int64(r.at)}
		case failed:
			if n == 1 {
				return r.invalid()
			}
			if !r.again() {
				return fallback.Answer{Cause: r.cause, Passed: int64(r.at)}
			}
			size = 1
		}
	}
	return fallback.Answer{Verdict: jepsen.Valid, Order: r.order(r.saw, models.Open)}
}

// open opens the next readers, at most n: those before the first one that can have
// seen nothing. It says how many these are.
func (r *run) open(n int) int {
	rows := r.readers[r.at : r.at+n]
	for i, row := range rows {
		if !r.sawSomething(row) {
			rows = rows[:i]
			break
		}
	}
	if len(rows) == 0 {
		return 0
	}
	r.t.horizon = r.res[rows[len(rows)-1]]
	r.t.s.SetBase(r.t.s.Level() - 2*chunk)
	for _, row := range rows {
		r.t.open(row)
	}
	return len(rows)
}

type outcome int

const (
	stopped outcome = iota
	failed
	solved
)

// solve looks for what n more readers can have seen.
func (r *run) solve(n int) outcome {
	v := r.t.s.Solve()
	if !r.poll() || v == cdcl.Stopped {
		return stopped
	}
	if v == cdcl.Unsatisfiable {
		return failed
	}
	for _, row := range r.t.changed {
		r.saw[row] = none
		if v := r.t.sees[row]; v != none {
			r.saw[row] = r.t.node[v]
		}
	}
	r.t.changed = r.t.changed[:0]
	r.at += n
	if r.limits.Passed != nil {
		r.limits.Passed.Store(int64(r.at))
	}
	return solved
}

// again begins anew and repeats the last solution, since what was learnt of the
// readers that made it fail says nothing of those before. It says whether that was
// not stopped.
func (r *run) again() bool {
	r.t = newTheory(r.problem, r.rules, r.poll)
	copy(r.t.wish, r.saw)
	n := r.at
	if r.at = 0; n == 0 {
		return true
	}
	r.open(n)
	switch r.solve(n) {
	case stopped:
		return false
	case failed:
		panic("matching: the last solution is none")
	}
	return true
}

// invalid is the answer if the next reader makes the rest fail.
func (r *run) invalid() fallback.Answer {
	row := r.readers[r.at]
	return fallback.Answer{Verdict: jepsen.Invalid, Order: r.order(r.saw, r.res[row]), FailEvent: r.ops.Res[row]}
}

// poll says whether the run may go on, and settles what it holds.
func (r *run) poll() bool {
	held := int64(0)
	if r.problem != nil {
		held += r.problem.bytes()
	}
	if r.t != nil {
		held += r.t.bytes()
	}
	more := held - r.taken
	r.taken = held
	there := true
	if more > 0 {
		there = r.limits.Memory.Take(more)
	} else {
		r.limits.Memory.Give(-more)
	}
	switch {
	case r.cause != "":
	case !there:
		r.cause = jepsen.OutOfMemory
	case r.ctx.Err() != nil:
		r.cause = limits.Stopped(r.ctx)
	}
	return r.cause == ""
}

// release gives back all that was taken.
func (r *run) release() {
	r.limits.Memory.Give(r.taken)
}
