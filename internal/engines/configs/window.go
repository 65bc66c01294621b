package configs

import (
	"context"
	"slices"
	"unsafe"

	"clew/fallback"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// Window decides operations by a depth-first search over compressed
// configurations.
//
// Precondition: none. Complexity: exponential in the worst case. On linearizable
// histories it is nearly linear. It remembers only what failed, so memory follows the
// busiest stretch, not the length.
//
// A configuration is (k, state, discharged, gone, used): the search is about to pass the
// k-th return, and every operation that returned before is linearized. Some of the
// operations open there are discharged: they may return. Some are gone: they cannot be
// linearized any more. Without the rules below both are the same, namely the linearized
// operations. used is how many crashed operations of each class are linearized. Crashed
// operations of equal meaning are interchangeable, so a class holds a count, and its k-th
// use needs the k-th earliest invocation. This is Wing & Gong's search with Lowe's
// memory, except that a configuration is as wide as the concurrency instead of as long as
// the history.
//
// Operations are linearized just in time: only before a return whose operation is not
// linearized yet. The returning operation then comes last. Every linearization can be
// brought into that form by moving operations later.
//
// These rules shrink the search and lose nothing. Each has a switch.
//
//   - Eager reads. An open operation that can never change a state is linearized as soon
//     as it fits. Taking it away from where it would stand later changes nothing, and
//     neither does putting it here.
//   - Covering. An operation that overwrites whatever was there (a write) can stand right
//     before another one that does, where no operation sees it. So once some overwriting
//     operation is linearized, all others that are open are discharged (covered). They
//     may return as if they were linearized, and may still be used until then. When a
//     covered one returns there are two ways to go on. Either it is used, or it never is
//     and stands right before the operation that overwrote last, which is linearized
//     after it began.
//   - Canonical order. Of open operations of equal meaning the one that returns first
//     goes first. A crashed one goes only if no open one of its meaning is left. If a
//     linearization has them the other way round, they can be exchanged: the one that
//     goes first in it may go later, and the other one began early enough. If the later
//     one must happen and the earlier one need not, both are tried.
//   - Domination. Take two configurations that differ only in what is discharged, what
//     can still be used and how many crashed operations are used. One of them may have
//     discharged all that the other has, and be able to use all that the other can. Then
//     it makes the other redundant: it can do whatever the other does next. Suppose that
//     the other must still linearize an operation that this one need not. Then the
//     operation is a read, which can be left out, or a covered one, which can be left
//     covered.
//   - Lookahead, if the model sees what sums or bounds rule out (models.Lookahead). A
//     configuration is given up if the operation that returns next cannot happen after
//     any of those that may be linearized before it. And if that operation may as well go
//     first, only reads are a reason to linearize others before it: those between the
//     last such read and it can be moved behind it. So either it goes first, or some open
//     read that may happen before it must do so. That read is owed. If two configurations
//     differ in nothing else, the one that owes no read makes the other redundant.
//     A configuration is also given up if an open operation that must happen never can
//     again (Lookahead.Never), among those that liveness.go says are looked at.
//   - Narrowing, if the model says which operations at most narrow down what can happen
//     (models.Traits.Narrows). Where such an operation leaves the state as it is, it is
//     linearized as soon as it fits, like a read: without it, all that comes later can
//     happen as well. For the same reason, one that crashed is never used, and a
//     configuration that need not linearize one makes another redundant that must.
//   - A guide, if the model knows what is worth a try before the operation that
//     returns next (models.Guide): nothing else is tried.
//   - Liveness, and needs, if a state has values at places (models.Liveness). The search
//     forgets values that no operation will see, and gives up where an operation needs a
//     value that never comes. There, covering is about places, and operations that append
//     to a value can be covered as well (liveness.go).
//   - Quiescence. After an operation that ran alone, with no crashed one begun, only the
//     state counts. If only one state is possible, whatever was before, the search
//     forgets the configurations before it. Other ways to get there lead no further, and
//     fail at the same place.
//
// A search that gets stuck asks localproof.go whether the last operations alone show why. The
// furthest return that an exhausted search is about to pass is the first failing
// completion. The operations up to just before it have a linearization, which the search
// found. Those up to it have none, or the search would have gone on.
type Window struct {
	Rules
	// MaxSteps, if not 0, is the number of steps after which the search gives up.
	MaxSteps int
}

// Name implements Engine.
func (Window) Name() string { return "window" }

// Decide implements Engine.
func (w Window) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	m := newTransitions(l, w.Rules)
	if l.Cause != "" {
		return fallback.Answer{Cause: l.Cause}
	}
	s := &windowSearch{transitions: m, maxSteps: w.MaxSteps, furthest: -1, patience: firstPatience,
		order: hugepages.Make[int32](ops.Len())[:0], best: hugepages.Make[int32](ops.Len())[:0]}
	found := s.run()
	switch {
	case s.Cause != "":
		return fallback.Answer{Cause: s.Cause, Passed: int64(max(s.furthest, s.reached)), Held: s.held(), Work: s.Done()}
	case found:
		return fallback.Answer{Verdict: jepsen.Valid, Order: s.settle(s.order), Work: s.Done()}
	}
	a := fallback.Answer{Verdict: jepsen.Invalid, Work: s.Done(), Order: s.settle(s.best), FailEvent: s.Ends[s.furthest]}
	for _, o := range s.others {
		order := slices.Concat(s.best[:o.shared], o.rest)
		a.Others = append(a.Others, s.settle(order))
	}
	return a
}

// windowSearch is one run.
type windowSearch struct {
	*transitions

	way
	order []int32 // rows linearized so far; see settle

	furthest int     // the furthest return that the search was about to pass
	best     []int32 // the order with which it got there first
	shared   int     // how long best and order are known to agree
	others   []other // orders with which it got there again, up to fallback.MaxOthers

	failed          *antichain // a configuration that one of these covers fails as well
	maxSteps, steps int

	known      int32 // a return before which only knownState is possible
	knownState int32

	reached int  // how far it got when it looked ahead as far as it can
	proven  bool // there is a local proof

	stuck, patience int // steps since it got further, and after how many it asks for a local proof
}

// other is an order that consists of the first shared rows of best, and the rest.
type other struct {
	shared int
	rest   []int32
}

// frame is a configuration under test, without its words.
type frame struct {
	k      int32 // the return to pass
	state  int32
	order  int32 // len(order) in this configuration
	choice int32 // the next to be tried
	branch int32 // the next outcome of that choice
	plan   plan
}

// frameBytes is how much memory a frame takes.
const frameBytes = int64(unsafe.Sizeof(frame{}))

// run searches, and says whether it found a linearization. If it may give up because
// of what some operation needs (liveness.go), or because it can never happen, it first
// looks as far ahead as it can, which finds linearizations sooner. If there is none, it
// searches again to find out where that shows, unless it gave up nothing because of an
// operation that returns as late as the failure or later.
func (s *windowSearch) run() bool {
	if s.Cause != "" {
		return false
	}
	s.failed, s.way = newAntichain(s.transitions, true), way{budget: &s.Budget, width: s.transitions.width}
	if s.live != nil && !s.NoNeeds || s.lookahead != nil && s.lookahead.Never != nil {
		s.horizon = models.Open
		if found := s.search(); found || s.proven || s.Cause != "" {
			return found
		}
		if s.latest < s.Ends[s.furthest] {
			return false // it would find the same
		}
		s.horizon = s.Ends[s.furthest]
		s.reached, s.furthest, s.best, s.others = s.furthest, -1, nil, nil
		s.truncate(0)
		s.failed.empty()
	}
	return s.search()
}

// search searches from the beginning.
func (s *windowSearch) search() bool {
	clear(s.config(0))
	s.known, s.knownState = 0, s.Space.Number(s.Ops.Model.Init())
	if s.enter(0, s.knownState) {
		return true
	}
	for s.n > 0 {
		if s.steps++; s.steps == s.maxSteps {
			s.Cause = fallback.GaveUp
		}
		if !s.Tick() {
			return false
		}
		if s.stuck++; s.stuck > s.patience && s.failsLocally() {
			s.proven = true
			return false
		}
		if s.next() {
			return true
		}
	}
	return false
}

// next tries the next choice of the configuration on top, and says whether that
// completes a linearization. If no choice is left, the configuration has
// failed.
func (s *windowSearch) next() bool {
	f, c := s.frame(s.n-1), s.config(s.n-1)
	if f.plan >= guided {
		s.gatherAll(f.k, c)
	}
	for n := int32(s.choices(f.k)); f.choice < n; f.choice, f.branch = f.choice+1, 0 {
		row, crash, ok := s.choose(f.k, int(f.choice), f.state, c, f.plan)
		if !ok {
			continue
		}
		if row == passes {
			f.choice++
			s.truncate(int(f.order))
			s.order = append(s.order, ^s.OpenRows(f.k)[0])
			s.pass(f.k, s.above())
			return s.enter(f.k+1, s.withoutDead(f.k+1, f.state))
		}
		to := s.Space.Step(f.state, s.Class[row])
		if int(f.branch) == len(to) {
			continue
		}
		state := s.withoutDead(f.k, to[f.branch])
		f.branch++
		s.truncate(int(f.order))
		s.order = append(s.order, row)
		s.use(f.k, s.above(), row, crash, f.plan)
		return s.enter(f.k, state)
	}
	s.failed.add(f.k, f.state, c)
	s.n--
	return false
}

// held returns how many configurations the search holds: those under test, and
// those that failed.
func (s *windowSearch) held() int64 {
	if s.failed == nil {
		return 0
	}
	return int64(s.n) + int64(s.failed.n) - int64(len(s.failed.free))
}

// enter goes on to a configuration whose words lie above those of the top. It
// linearizes what can be linearized at once, passes returns that are linearized,
// and pushes the configuration unless it is known to fail. It says whether
// nothing is left to pass.
func (s *windowSearch) enter(k, state int32) bool {
	from := -1 // the return at which the top is
	if s.n > 0 {
		from = int(s.frame(s.n - 1).k)
	}
	c := s.config(s.n)
	for {
		if int(k) > s.furthest {
			s.gotTo(int(k))
		} else if int(k) == s.furthest && int(k) > from && len(s.others) < fallback.MaxOthers {
			s.others = append(s.others, other{s.shared, slices.Clone(s.order[s.shared:])})
		}
		if int(k) == len(s.Ends) {
			return true
		}
		s.order = s.read(s.order, k, c, state)
		returning := s.OpenRows(k)[0]
		if !s.discharged(c, returning) || s.free(c, returning) {
			break
		}
		s.pass(k, c)
		if k++; s.alone(k-1) && (s.Space.Fixes[s.Class[returning]] || s.known == k-1 && len(s.Space.Step(s.knownState, s.Class[returning])) == 1) {
			s.known, s.knownState = k, state
			c, from = s.forget(c), -1
		}
		state = s.withoutDead(k, state)
	}
	if p := s.lookAhead(k, state, c); p != hopeless && !s.failed.covered(k, state, c) {
		s.add(frame{k: k, state: state, order: int32(len(s.order)), plan: p})
	}
	return false
}

// forget removes all configurations except the one that is entered. The words
// of that one become the first.
func (s *windowSearch) forget(c []uint64) []uint64 {
	first := s.config(0)
	copy(first, c)
	s.n = 0
	if s.failed.n > 0 {
		s.failed.empty()
	}
	return first
}

// gotTo records that the search got further than before. It copies only the
// part that has changed since the last time.
func (s *windowSearch) gotTo(k int) {
	s.furthest, s.stuck, s.patience, s.others = k, 0, firstPatience, s.others[:0]
	if k < len(s.Ends) {
		s.horizon = max(s.horizon, s.Ends[k])
	}
	s.best = append(s.best[:s.shared], s.order[s.shared:]...)
	s.shared = len(s.order)
	s.Passed(int64(max(k, s.reached)))
	s.Held(s.held())
}

func (s *windowSearch) truncate(n int) {
	s.order = s.order[:n]
	s.shared = min(s.shared, n)
}

// firstPatience is the number of steps without getting further after which a
// search first asks for a local proof. Tests change it.
var firstPatience = 2000

// failsLocally says whether the failure of the furthest return has a local
// proof. The next one is asked for much later.
func (s *windowSearch) failsLocally() bool {
	s.patience *= 4
	return !s.NoLocalProof && s.failsWithin(int32(s.furthest), max(s.stuck, 1000))
}
