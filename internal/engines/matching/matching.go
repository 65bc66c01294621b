package matching

import (
	"context"

	"clew/fallback"
	"clew/internal/cdcl"
	"clew/jepsen"
	"clew/models"
)

// Engine decides registers and cas-registers whose values repeat, with any number of
// clients. It searches for the write that each read saw.
//
// Precondition: the model is a register (models.Traits.IsRegister). Complexity: exponential in the
// worst case, since the problem is NP-complete (Gibbons & Korach, 1997). On what
// tests record it is about linear in the operations times the writes that each read
// may have seen, in time and memory.
//
// If it is fixed which reader saw which node, a history is unambiguous, and one rule
// about pairs decides it. So the engine searches only for that, by conflict-driven
// clause learning (package cdcl), and the rule is its theory. docs/algorithms.md
// explains it with an example.
//
// # Chains and zones
//
// A node is the initial value, a write, or a cas that changes the value. A reader is
// a read, or a cas. If a cas saw a node it follows it, and so nodes form chains. A
// chain is a node that saw nothing, what saw it, and so on, each node with the reads
// of it. A chain's first is its earliest return, and its last is its latest
// invocation. For the initial value both are before everything.
//
// Lemma 1. Given which reader saw which node, there is a linearization if and only if
//
//	(a) every completed reader, and every cas that some reader saw, saw a node;
//	(b) no two cas saw the same node, and no cas saw what goes back to itself;
//	(c) in a chain nothing returned before what stands earlier in it was invoked;
//	(d) no two chains have first(X) < last(Y) and first(Y) < last(X).
//
// Proof. In a linearization the operations of a chain stand together, since any other
// node between them would have replaced the value. So X must stand before Y if
// something of X returned before something of Y was invoked, first(X) < last(Y). By
// (d) no chain has to stand both before and after another. Conversely, (d) makes this
// relation acyclic. On a cycle let X have the greatest last, and be before Y, which
// is before Z. Then first(Y) < last(Z) <= last(X), and Y is before X, too. So chains
// can be put in an order; within a chain (c) allows its own. Operations of different
// chains are then in the order of time, since the one that returned before the other
// was invoked belongs to a chain that stands before. The order of min(first, last)
// will do. If X must stand before Y, then first(X) < last(Y) and last(X) < first(Y),
// so min(first(X), last(X)) < min(first(Y), last(Y)).
//
// Lemma 2. (c) and (d) hold for parts of chains if they hold for chains. Parts of a
// chain have a later first and an earlier last, and stand together as well. So a
// violation in an incomplete assignment remains one, and the theory can speak early.
//
// Dropping a read from a chain violates nothing either. So a read may see more than
// one node: the theory goes by the first that it is told.
//
// Lemma 3. A reader saw a node of the right value that was invoked before the reader
// returned, and that was not certainly replaced. It had not returned before another
// node was invoked that had returned before the reader was invoked. Otherwise these
// three violate (c) or (d). No other variables are made.
//
// # Crashed operations
//
// A crashed read says nothing. A crashed operation never returns: its return is after
// everything. So a crashed write that no reader saw is a chain without a first. It
// violates nothing, in any order of chains, and is left out. A cas that no reader saw
// needs no source, and is left out, too. If something that had returned by time t saw
// a cas, that cas took effect before t. So did what the cas saw, and that was invoked
// before t. These are the needs of theory.go.
//
// # The first failing completion
//
// Readers are opened for decision in the order of their returns. In a prefix of the
// history an operation that is still open is like a crashed one. This makes no
// difference to a write. Its return is later than all that the prefix's readers know,
// so neither (c) nor (d) concerns it. So the prefix has a linearization if and only
// if there is an assignment for the readers that have returned in it. A write's
// completion is never the first that fails: put the write last.
//
// They are opened in chunks, and the solution so far stays as far as possible: jumps
// go back at most two chunks unless a conflict lies earlier. If a chunk has no
// solution, what was learnt from it says nothing about its parts. Then the search
// starts over, repeats the last solution, and opens one reader at a time.
type Engine struct{ Rules }

// Rules switch techniques off, for tests.
type Rules struct {
	NoThresholds bool // lemmas name single reads
	NoZoneChoice bool // tries the node that was invoked last first
	NoChunks     bool // opens all readers at once
	NoPhases     bool // does not first try what a reader saw before
	NoHall       bool // finds cas that have too few nodes to see by trying

	// The rules of the solver.
	NoBase, NoRestarts, NoReducing, NoActivity, NoMinimizing bool
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "matching" }

// Decide implements fallback.Engine.
func (e Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	if !ops.Model.Traits().IsRegister {
		return fallback.Answer{Cause: fallback.GaveUp}
	}
	r := &run{Budget: fallback.NewBudget(ctx, lim), Engine: e}
	defer r.Release()
	if r.Cause != "" {
		return fallback.Answer{Cause: r.Cause}
	}
	r.problem = newProblem(ops)
	a := r.decide()
	r.count()
	a.Work = r.Done()
	return a
}

// run is one decision.
type run struct {
	*problem
	*fallback.Budget
	Engine
	t      *theory
	saw    []int32 // by row: what it saw in the last solution
	at     int     // how many readers that solution covers
	before int64   // steps of earlier theories
}

// chunk is how many readers are opened at once.
const chunk = 100

func (r *run) decide() fallback.Answer {
	r.saw = nones(len(r.inv))
	r.t = newTheory(r.problem, r.Rules, r.poll)
	size := chunk
	if r.NoChunks {
		size = len(r.readers)
	}
	for r.at < len(r.readers) {
		n := r.open(min(size, len(r.readers)-r.at))
		if n == 0 {
			return r.invalid()
		}
		switch r.solve(n) {
		case jepsen.Unknown:
			return r.unknown()
		case jepsen.Invalid:
			if n == 1 {
				return r.invalid()
			}
			if !r.again() {
				return r.unknown()
			}
			size = 1
		}
	}
	return fallback.Answer{Verdict: jepsen.Valid, Order: r.order(r.saw, models.Open)}
}

// open opens the next readers, at most n: those before the first one that can have
// seen nothing. It returns how many these are.
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

// solve looks for what n more readers can have seen.
func (r *run) solve(n int) jepsen.Verdict {
	v := r.t.s.Solve()
	if !r.poll() || v == cdcl.Stopped {
		return jepsen.Unknown
	}
	if v == cdcl.Unsatisfiable {
		return jepsen.Invalid
	}
	for _, row := range r.t.changed {
		r.saw[row] = none
		if v := r.t.sees[row]; v != none {
			r.saw[row] = r.t.node[v]
		}
	}
	r.t.changed = r.t.changed[:0]
	r.at += n
	r.Passed(r.covered())
	return jepsen.Valid
}

// again starts over and repeats the last solution, since what was learnt from the
// readers that made it fail says nothing about those before. It returns false if
// it was stopped.
func (r *run) again() bool {
	r.before += r.t.s.Steps + int64(r.t.s.Vars())
	r.t = newTheory(r.problem, r.Rules, r.poll)
	copy(r.t.wish, r.saw)
	n := r.at
	if r.at = 0; n == 0 {
		return true
	}
	r.open(n)
	switch r.solve(n) {
	case jepsen.Unknown:
		return false
	case jepsen.Invalid:
		panic("matching: the last solution is none")
	}
	return true
}

// covered returns how many completions the last solution covers.
func (r *run) covered() int64 {
	if r.at == 0 {
		return 0
	}
	return int64(r.returns[r.at-1])
}

// unknown returns the answer if the run was stopped. The clauses count as held.
func (r *run) unknown() fallback.Answer {
	return fallback.Answer{Cause: r.Cause, Passed: r.covered(), Held: int64(r.t.s.Learnt())}
}

// invalid returns the answer if the next reader makes the rest fail.
func (r *run) invalid() fallback.Answer {
	row := r.readers[r.at]
	return fallback.Answer{Verdict: jepsen.Invalid, Order: r.order(r.saw, r.res[row]), FailEvent: r.ops.Res[row]}
}

// perStep is what a step, a row or a variable costs in units of work.
const perStep = 8

// count counts the work done so far.
func (r *run) count() {
	work := r.before + int64(len(r.inv))
	if r.t != nil {
		work += r.t.s.Steps + int64(r.t.s.Vars())
	}
	r.Worked(perStep * work)
}

// poll says whether the run may go on, and accounts for what it has done and holds.
func (r *run) poll() bool {
	held := r.problem.bytes()
	if r.t != nil {
		held += r.t.bytes()
	}
	r.count()
	r.Hold(held)
	return r.Look()
}
