package staged

import (
	"cmp"
	"context"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Engine decides registers and cas-registers by stages that forget and bring
// back the counts of crashed operations.
//
// Precondition: the model is a register (models.Traits.IsRegister). Complexity: exponential in
// the concurrency in the worst case. The number of crashed operations matters
// little.
//
//  1. A depth-first search with learning (search.go) that may visit few
//     more nodes than there are returns. It finds most linearizations.
//  2. The graph of all nodes with the counts forgotten. If even this does not
//     get to the end, the history is not linearizable.
//  3. Prices for crashed operations, by subgradient steps (prices.go). They
//     refute a history that needs more crashed operations than there are, or
//     suggest a linearization.
//  4. and 5. The search again with the prices as bounds, restarted with growing
//     budgets, and new prices for as far as it got.
//
// The engine decides prefixes to find the first failing completion. The prefix
// that the search got to has a linearization, and the graph grows only as far
// as a prefix needs.
//
// space.go says why nothing is lost; all stages walk over the same nodes. The
// bound of stage 3 is Lagrangian relaxation (Held & Karp, 1970); the learning
// is nogood recording (Dechter, 1990).
type Engine struct{ Rules }

// Rules switch off, for tests, the rules that shrink the search and lose
// nothing, and force the later stages.
type Rules struct {
	NoTwins     bool // do not exchange operations of equal meaning, or a cas and a write
	NoRuleG     bool // try a write even if a cas is left
	BoundsOnly  bool // graph and prices only prune and do not decide
	FirstBudget int  // if not 0, the first budget of every search
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "staged" }

// Decide implements fallback.Engine.
func (d Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	if !ops.Model.Traits().IsRegister {
		return fallback.Answer{Cause: fallback.GaveUp}
	}
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	if l.Cause != "" {
		return fallback.Answer{Cause: l.Cause}
	}
	x := newRegisterSearch(newRegisterSpace(l, d.Rules))
	verdict := x.run()
	switch {
	case x.Cause != "":
		return fallback.Answer{Cause: x.Cause, Passed: int64(x.far), Work: x.Done()}
	case verdict == jepsen.Invalid:
		return fallback.Answer{Verdict: jepsen.Invalid, Order: x.follow(x.best), FailEvent: x.Ends[x.far], Work: x.Done()}
	}
	return fallback.Answer{Verdict: jepsen.Valid, Order: x.follow(x.best), Work: x.Done()}
}

// Budgets of the search, in nodes.
const (
	quickPerReturn = 1.25
	quickMore      = 200
	firstBudget    = 4000
)

// firstHorizon is the return up to which a prefix is decided first, if the
// quick search has failed.
const firstHorizon = 4096

// run finds the furthest return with a linearization up to it, x.far.
func (x *registerSearch) run() jepsen.Verdict {
	n := int32(len(x.Ends))
	failing := n + 1 // the least return known to be unreachable
	quick := int(quickPerReturn*float64(n)) + quickMore
	if x.search(n, cmp.Or(x.FirstBudget, quick), nil) == jepsen.Invalid { // stage 1
		failing = n
	}
	probe, ahead := int32(0), int32(1)
	for x.Cause == "" && x.far < n && x.far+1 < failing {
		// The search seldom stops before the place where it fails.
		goal := min(x.far+(failing-x.far)/2, x.far+ahead)
		ahead *= 4
		switch {
		case failing > n:
			goal = min(n, 2*x.far+firstHorizon)
		case probe > x.far:
			goal, probe = probe, 0
		}
		if x.decide(goal) == jepsen.Invalid {
			failing, ahead = min(goal, x.goal), 1
			if x.horizon > 0 && x.depthOf[x.start()] == failing-1 {
				probe = failing - 1 // a prefix that fails without counts mostly fails at the same return with them
			}
		}
	}
	if x.far < n {
		return jepsen.Invalid
	}
	return jepsen.Valid
}

// decide decides whether return goal can be reached. If so, x.far is at least
// goal. If not, x.goal is a return up to it that cannot be reached. It returns
// Unknown only if a limit stopped it.
func (x *registerSearch) decide(goal int32) jepsen.Verdict {
	if goal > x.horizon && !x.graph(goal) {
		return jepsen.Unknown
	}
	x.goal = goal
	if depth := x.depthOf[x.start()]; depth < goal && !x.BoundsOnly {
		x.goal = depth + 1
		return jepsen.Invalid
	}
	effort := bidEffort{windows: 8, rounds: 60}
	if v := x.offer(goal, effort); v != jepsen.Unknown || x.Cause != "" {
		return v
	}
	return x.rounds(goal, effort)
}

// keepPrices is how many price systems serve as bounds.
const keepPrices = 4

// offer runs stage 3 for a prefix. The prices stay as a bound if they do not decide.
func (x *registerSearch) offer(goal int32, effort bidEffort) jepsen.Verdict {
	x.goal = goal
	v, p := x.bid(goal, effort)
	if v == jepsen.Valid || x.Cause != "" {
		x.Give(p.taken)
		return v
	}
	x.bounds = append(x.bounds, p)
	if len(x.bounds) > keepPrices {
		x.Give(x.bounds[0].taken)
		x.bounds = x.bounds[1:]
	}
	if x.BoundsOnly {
		return jepsen.Unknown
	}
	return v
}

// rounds runs stages 4 and 5.
func (x *registerSearch) rounds(goal int32, effort bidEffort) jepsen.Verdict {
	budget := cmp.Or(x.FirstBudget, firstBudget)
	last := int32(-1)
	for round := 0; ; round++ {
		var order *prices
		if round%2 == 0 && len(x.bounds) > 0 {
			order = x.bounds[len(x.bounds)-1]
		}
		if v := x.search(goal, budget, order); v != jepsen.Unknown || x.Cause != "" {
			return v
		}
		budget *= 2
		end := min(goal, x.far+1)
		if end == last {
			effort.grow()
		}
		last = end
		v := x.offer(end, effort)
		for passed, blocked := end, goal; v == jepsen.Valid && blocked-passed > 1; {
			middle := passed + (blocked-passed)/2
			switch w := x.offer(middle, effort); {
			case x.Cause != "" || w == jepsen.Invalid:
				v = w
			case w == jepsen.Valid:
				passed = middle
			default:
				blocked = middle
			}
		}
		if x.Cause != "" || v == jepsen.Invalid || v == jepsen.Valid && x.far >= goal {
			return v
		}
	}
}
