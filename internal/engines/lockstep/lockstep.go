package lockstep

import (
	"context"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Engine decides first-in-first-out queues whose values may repeat: enqueues, dequeues,
// peeks, empty answers, sizes, drains, and initial elements.
//
// Precondition: the model has a models.FIFOShape. Complexity: the configurations that can
// be reached, times what is open in them. This is exponential in the operations that are
// open at once, and linear in all others. Memory: a record for each configuration.
//
// Rests on the idea of Lee & Mathur (Fixed Parameter Tractable Linearizability Monitoring,
// PLDI 2026) that the contents of a queue need not be part of a configuration. They go by
// words of dequeues that are still to come. This engine goes through two orders side by
// side, which also allows for crashed operations, peeks, empty answers and drains.
//
// # Two orders in lockstep
//
// Take the enqueues in one order, e1 e2 .., and all else in a second one, in which the i-th
// element that is taken has the value of ei. A dequeue takes the next element, a drain the
// next few, a peek sees the one that is taken next, and an empty answer sees none. An
// operation of the second order needs one enqueue for each element that it, or an operation
// before it in that order, takes or sees. If n elements are taken before a size of k, it, and
// what comes after it in that order, needs n+k enqueues.
//
// Lemma 1. The two orders can be merged into a linearization if and only if
//
//	(1) each of them on its own respects time;
//	(2) no operation that needs k enqueues had returned before one of e1 .. ek was
//	    invoked;
//	(3) if an empty answer or a size needs i enqueues, then all enqueues that had returned
//	    before it was invoked, or before something that stands before it was, are among
//	    e1 .. ei;
//	(4) an empty answer or a size with n elements taken before it, and k inside, needs no
//	    more than n+k.
//
// Proof. The merged orders are a linearization if both orders and time are respected, if
// what needs k enqueues stands behind ek, and if an empty answer or a size that needs i
// stands before e(i+1). Then whatever is taken is there, and is the first. That is possible unless these
// relations have a cycle. Since the orders are total, there is then a cycle that goes from
// the second order to the first and back, once. It goes from s to ek, from ek along its
// order to el (k <= l), from el to r, and from r along its order to s (or r is s).
//
//   - s had returned before ek was invoked, and r needs el. Then s needs el, too, and (2)
//     does not hold. If (2) does not hold, there is such a cycle.
//   - s had returned before ek was invoked, and el before r was. But el had not returned
//     before ek was invoked, and s had not before r was. So res(el) > inv(ek) > res(s) >
//     inv(r) > res(el), which is impossible.
//   - s is an empty answer or a size that needs k-1 enqueues, and r needs el. It needs no
//     more than s (4), so l < k, which is impossible.
//   - s is such an operation, and el had returned before r was invoked. (3) forbids that.
//
// So the search goes through both orders side by side, element by element. A configuration
// consists of the operations of either order that are linearized, and the value of the
// first element, or none if it has not been enqueued yet. The search does not guess in
// which order elements came in before it sees in which order they went out.
//
// If no element is first, the next step is an empty answer or an enqueue. For an empty
// answer, every enqueue that is left must return later than the latest invocation in the
// second order (3). An enqueue must have been invoked before anything that is left in either
// order returned (1, 2). If an element is first, the next step is a drain that begins with
// it, or a peek or a dequeue of its value. A peek or dequeue must have been invoked before
// anything that is left in the second order returned (1). A drain is left until it has taken
// all its elements. The search ends where all operations of the second order that returned
// are linearized. The elements of the remaining enqueues stay in the queue.
//
// # Sizes
//
// A size needs enqueues that the search has not linearized yet. So a configuration also says
// what it owes (sizes.go): after how many more enqueues each size is satisfied, before which
// return all of these must have been invoked (2), and after which invocation all others must
// return (3). It is dropped if no enqueues that are left can do so, whatever their values are
// (filler). For that, the enqueue that returns first among those that may stand at a place
// stands there: exchanging two enqueues for that violates none of (1) to (3). What is owed is
// left out of a configuration if time demands it anyway, so without concurrency there are no
// more configurations with sizes than without.
//
// Lemma 2 below holds, since a size that has not returned by a prefix's end can be left out.
//
// Where a size stands among dequeues is a guess, and it can take as many elements as the queue
// holds until enqueues show that it was wrong. In the meantime, there are guesses for other
// sizes. So most configurations from there on differ only in what they owe, and nearly all of
// that has nothing to do with the failure. That is what reasons are for.
//
// A reason why a configuration gets no further is a part of what it owes, such that no
// configuration with the same operations linearized, the same element first, and this
// part among what it owes gets further than the search has got.
//
// Lemma 3. This is a reason for a configuration whose steps have all been tried: what it owes
// and has a share in what rules steps out, and what it owes and is in a reason for one of the
// configurations after those steps.
//
// Proof. Call it C, and let C' have the same operations linearized and the same element first,
// but owe only the reason. What is owed changes item by item: a step drops an item, or changes
// it in a way that depends only on the step and on what is linearized. So what else C owes
// ruled out no step, in C or later, and the search went on from C as it would have from C'.
// By the rules below, it got as far as any way from C' does. Let D be a configuration as
// described. It owes all that C' does, so all its ways are ways from C', too.
//
// Items are known by how many enqueues come before the others, which is different for each.
// What rules steps out:
//
//   - A size that needs fewer enqueues than the last item is ruled out by that item.
//   - An enqueue that was invoked too late for the first item is ruled out by that item, and so
//     is one that lets another return too late for it.
//   - If a filler is missing, the items are its share that ends with the one that cannot be
//     fulfilled, as short as a filler is missing for them alone.
//   - An empty answer is ruled out by any item, and the first one is taken.
//   - A step to a visited configuration is ruled out by a reason that is recorded there. If it
//     is still on the trail, that is all that it owes.
//
// The guesses themselves are better if it is known in which order elements are taken. So the
// engine first looks for a way that ignores sizes, within a bound, unless the queue is short. Its order of enqueues says
// which places are likely for a size: those where all enqueues that must come before it, and
// none that must not, stand before it there. A likely size is tried before all else, an
// unlikely one after it (guide). The order of choices rules nothing out.
//
// # Crashed operations
//
// A crashed operation never returns, and may be left out. The operations of one class have
// the same meaning and are used in the order of their invocations, so a configuration only
// has to count them. A crashed dequeue of an unknown value takes the first element. A
// crashed drain of unknown values takes elements right when they are enqueued, for as long
// as nothing else is taken. Crashed peeks and empty answers say nothing.
//
// # The first failing completion
//
// Lemma 2. It is the return of the operation for which the furthest configurations wait.
// These have the longest prefix of the second order's returns behind them.
//
// Proof. A prefix of the history has the same steps as the whole: no step looks at what
// happens later than the next return in the second order. An operation that is still open
// at the prefix's end is left, or linearized with the value that it will return, as the
// prefix allows. So a prefix is linearizable if and only if some configuration has all of
// its returns of the second order behind it. An enqueue's return is never the first that
// fails: put it last.
//
// So there is no need to decide prefixes. The way to a furthest configuration is the
// linearization of what comes before.
//
// # What need not be tried
//
// A way consists of the steps from a configuration to one that has the returns of some
// prefix behind it. Each rule keeps a way for every prefix that has one.
//
// An operation of the second order is harmless if putting it right here, instead of
// somewhere later, cannot violate (3). It is if no empty answer and no size is left, or if it was
// invoked before something that is already linearized. It also is if it was invoked before
// the next return of the enqueues that are left. Then, for any i from here on, every enqueue
// that returned before it is among e1 .. ei.
//
//   - A harmless peek of the value that is first may as well come at once. It does not
//     violate (1), as it may come now, and not (2), as it needs less here (eager peeks).
//   - An empty answer that may come is harmless, and itself needs less here (eager
//     empties). It may not come while anything is owed (4). But it may wait if there is a drain that takes what comes, which it would
//     end.
//   - Suppose that two operations a and b do the same and may come now, and a returns
//     first. If b comes now, and a later or not at all in this prefix, exchange them. a may
//     come now, and b, which returns later, does no harm there (1, 2). For enqueues, this
//     leaves no more that return early, so (3) holds, too. In the second order (3) holds if
//     a is harmless, or was invoked before b (twins). Crashed operations return last, and a
//     crashed dequeue of an unknown value does what any other does.
//   - An enqueue comes only if something can see or take its value then (uses).
//   - Suppose that, when an operation returns, some value has been taken more often than it
//     can have been enqueued by then. Then the history fails there or before. So the first
//     configuration that waits for this return is one of the furthest (counting).
//   - Suppose that a visited configuration differs only in that it used no more of any
//     class. Then it could do what this one can (domination): a shortest way from among all
//     that were visited cannot begin with a step to one that was not. Steps that peek and
//     empty answers do not count there.
//   - Suppose that a reason for a visited configuration is among what this one owes, or this
//     one owes something stricter. Then this one gets no further (reasons).
type Engine struct{ Rules }

// Rules switch techniques off, for tests.
type Rules struct {
	NoEagerPeeks   bool // a peek may wait even if it fits
	NoEagerEmpties bool // an empty answer may wait, too
	NoTwins        bool // among operations that do the same, any may come first
	NoUses         bool // enqueue values that nothing can take next
	NoCounting     bool // look for elements that were never enqueued
	NoDomination   bool // a configuration makes only equal ones redundant
	NoGuide        bool // do not look first for an order that ignores sizes
	ShortGuide     bool // look for it even if the queue is short
	NoReasons      bool // what a configuration owes always counts as the reason why it gets no further
	NoMemo         bool // the search does not know where it has been
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "lockstep" }

// Decide implements fallback.Engine.
func (e Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	shape, ok := models.ShapeOf[models.FIFOShape](ops.Model)
	if !ok {
		return fallback.Answer{Cause: fallback.GaveUp}
	}
	r := &run{Budget: fallback.NewBudget(ctx, lim)}
	defer r.Release()
	if r.Cause != "" {
		return fallback.Answer{Cause: r.Cause}
	}
	r.problem = newProblem(ops, shape, true)
	if !r.poll() {
		return fallback.Answer{Cause: r.Cause, Work: r.Done()}
	}
	var guide []int32
	if (r.problem.long() || e.ShortGuide && shape.Sizes) && !e.NoGuide {
		guide = r.guide(ops, shape, e.Rules)
	}
	r.search = newSearch(r.problem, e.Rules, guide)
	a := r.answer(r.search.run(r.poll))
	r.count()
	a.Work = r.Done()
	return a
}

// run is one decision.
type run struct {
	*fallback.Budget
	problem *problem
	search  *search
	spent   int64 // work, before the search
}

// guideSteps bounds the steps for a guide, by operation.
const guideSteps = 32

// guide returns an order of all enqueues that is right, or as far as possible, if sizes are
// ignored.
func (r *run) guide(ops *models.Operations, shape models.FIFOShape, rules Rules) []int32 {
	p := newProblem(ops, shape, false)
	s := newSearch(p, rules, nil)
	s.run(func() bool {
		r.spent = s.done()
		r.count()
		r.Hold(r.problem.bytes() + p.bytes() + s.bytes())
		return s.steps < guideSteps*int64(len(p.inv)) && r.Look()
	})
	s.note()
	r.spent = s.done()
	return p.enqueues(s.order[1:])
}

func (r *run) answer(v jepsen.Verdict) fallback.Answer {
	p, s := r.problem, r.search
	switch v {
	case jepsen.Unknown:
		return fallback.Answer{Cause: r.Cause, Passed: r.reached(), Held: int64(s.visited.n)}
	case jepsen.Valid:
		return fallback.Answer{Verdict: jepsen.Valid, Order: p.before(s.order[1:], models.Open)}
	}
	fail := p.out.res[s.best]
	return fallback.Answer{Verdict: jepsen.Invalid, Order: p.before(s.order[1:], fail), FailEvent: fail - 2*p.first}
}

// reached returns how many completions have a linearization up to them.
func (r *run) reached() int64 { return int64(r.problem.out.passed[max(0, r.search.best)]) }

// perStep is the cost of a step, of a row, or of something that a step looks at, in
// units of work.
const perStep = 8

// count counts the work done so far.
func (r *run) count() {
	work := int64(len(r.problem.inv)) + r.spent
	if r.search != nil {
		work += r.search.done()
	}
	r.Worked(perStep * work)
}

// poll says whether the run may go on, and accounts for what it has done and holds.
func (r *run) poll() bool {
	held := r.problem.bytes()
	if s := r.search; s != nil {
		held += s.bytes()
		r.Passed(r.reached())
		r.Held(int64(s.visited.n))
	}
	r.count()
	r.Hold(held)
	return r.Look()
}
