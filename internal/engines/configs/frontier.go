package configs

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Frontier decides operations by a breadth-first search over compressed
// configurations (window.go defines them). It does just-in-time linearization
// (Lowe, "Testing for linearizability", 2017), which Knossos calls linear.
//
// Precondition: none. Complexity: exponential in the concurrency in the worst
// case, linear in the length. It sweeps the returns and holds all
// configurations that are about to pass one. From each it linearizes only what
// is necessary for the returning operation to be linearized.
//
// It drops configurations that others make redundant (the rest are an
// antichain), and first expands those that use few crashed operations. So
// Frontier is strong if many operations have crashed and the history is not
// linearizable, a case in which Window has to try everything. It is weak if
// many operations are concurrent.
//
// If no configuration passes a return, that return is the first failing
// completion, and the surviving configurations are those that were about to
// pass it.
type Frontier struct{ Rules }

// Name implements Engine.
func (Frontier) Name() string { return "frontier" }

// Decide implements Engine.
func (f Frontier) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	m := newTransitions(l, f.Rules)
	if l.Cause != "" {
		return fallback.Answer{Cause: l.Cause}
	}
	s := newFrontierSearch(m)
	s.start(0, s.Space.Number(ops.Model.Init()), make([]uint64, s.width))
	failed := s.run(0, int32(len(s.Ends)))
	if s.Cause != "" {
		return fallback.Answer{Cause: s.Cause, Passed: int64(s.at), Held: s.held(), Work: s.Done()}
	}
	return s.decided(failed)
}

// decided returns the answer of a search that failed at a return, or nowhere if that is -1.
func (s *frontierSearch) decided(failed int32) fallback.Answer {
	if failed < 0 {
		return fallback.Answer{Verdict: jepsen.Valid, Order: s.settle(s.orderTo(s.layer.trail[0])), Work: s.Done()}
	}
	a := fallback.Answer{Verdict: jepsen.Invalid, Work: s.Done(), Order: s.settle(s.orderTo(s.layer.trail[0])), FailEvent: s.Ends[failed]}
	for _, at := range s.layer.trail[1:min(len(s.layer.trail), fallback.MaxOthers)] {
		a.Others = append(a.Others, s.settle(s.orderTo(at)))
	}
	return a
}

// maxEndless is how many states a model may have for a refutation. Some models have infinitely many, ever larger states
// if operations can be repeated without limit. The search goes breadth first, so it reaches the small ones.
const maxEndless = 500

// Refute sweeps the frontier as if each crashed operation could happen again and again once it is invoked. Operations
// that are not linearizable even then are not linearizable, and fail at the return that it returns or earlier. It
// returns false if it finds no refutation within some steps. The rules that count what is left of crashed operations are
// off.
//
// Precondition: none. Complexity: linear in the number of configurations without their used counts, which does not grow
// with the number of crashed operations.
func Refute(ctx context.Context, ops *models.Operations, lim fallback.Limits, steps int) (fail int32, work int64, ok bool) {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	m := newTransitions(l, Rules{NoLookahead: true, NoGuide: true, NoNeeds: true})
	if l.Cause != "" {
		return 0, l.Done(), false
	}
	m.endless = true
	s := newFrontierSearch(m)
	s.silent, s.maxSteps, s.maxStates = true, steps, maxEndless
	s.start(0, s.Space.Number(ops.Model.Init()), make([]uint64, s.width))
	failed := s.run(0, int32(len(s.Ends)))
	if failed < 0 {
		return 0, l.Done(), false
	}
	return s.Ends[failed], l.Done(), true
}

// frontierSearch is one run.
type frontierSearch struct {
	*transitions
	layer, next layer      // about to pass the current return, and past it
	seen        *antichain // at the current return
	seenTrail   []int32    // by configuration of seen
	seenPlan    []plan     // the same
	queue       [][]int32  // of seen, to be expanded, by how many crashed operations they use
	passed      *antichain // past the current return
	passedTrail []int32

	trail           []step // how configurations were reached
	collect         int    // the length at which steps that lead nowhere are removed from the trail
	at              int32  // the current return
	silent          bool   // how it gets there is not needed
	steps, maxSteps int    // it gives up after maxSteps, unless that is 0
	maxStates       int    // it gives up if it meets more, unless that is 0
	*beam                  // nil: it drops nothing

	c    []uint64 // a configuration in the making
	rows []int32  // rows that it has linearized since the configuration that it was made from
}

// layer is configurations at one return.
type layer struct {
	states  []int32
	configs []uint64 // width for each
	trail   []int32  // where the way to each ends
}

// step is a row of an order (see settle), and the step before or -1.
type step struct{ row, before int32 }

// firstCollection is the length of the trail when it is cleaned up first.
const firstCollection = 1 << 14

func newFrontierSearch(m *transitions) *frontierSearch {
	return &frontierSearch{transitions: m, seen: newAntichain(m, false), passed: newAntichain(m, false), c: make([]uint64, m.width), collect: firstCollection}
}

// start adds a configuration to the first layer.
func (s *frontierSearch) start(k, state int32, c []uint64) {
	s.layer.states = append(s.layer.states, state)
	s.layer.configs = append(s.layer.configs, c...)
	s.layer.trail = append(s.layer.trail, -1)
}

// orderTo returns the rows linearized up to a step; see settle.
func (s *frontierSearch) orderTo(at int32) []int32 {
	var order []int32
	for ; at >= 0; at = s.trail[at].before {
		order = append(order, s.trail[at].row)
	}
	slices.Reverse(order)
	return order
}

// run sweeps the returns from k up to the one before end. It returns the first
// return that no configuration can pass, or -1.
func (s *frontierSearch) run(k, end int32) (failed int32) {
	for ; k < end; k++ {
		s.at = k
		s.passAll(k)
		if s.isSpent() || !s.Tick() {
			return -1
		}
		if len(s.next.states) == 0 {
			return k
		}
		s.layer, s.next = s.next, s.layer
		if !s.silent {
			s.Passed(int64(k + 1))
			s.Held(s.held())
		}
		if len(s.trail) > s.collect {
			s.sweep()
			if s.beam != nil {
				s.oldest = k + 1 // the trails of other layers are gone
			}
		}
	}
	return -1
}

// isSpent says whether the search gives up.
func (s *frontierSearch) isSpent() bool {
	return s.maxSteps > 0 && s.steps >= s.maxSteps || s.maxStates > 0 && s.Space.Met() > s.maxStates
}

// held returns how many configurations the search holds.
func (s *frontierSearch) held() int64 {
	return int64(len(s.layer.states)) + int64(s.seen.n) + int64(s.passed.n)
}

// passAll finds the configurations that have passed the k-th return.
func (s *frontierSearch) passAll(k int32) {
	s.seen.empty()
	s.passed.empty()
	if s.beam != nil {
		s.fewest = 0
	}
	s.seenTrail, s.seenPlan, s.passedTrail, s.queue = s.seenTrail[:0], s.seenPlan[:0], s.passedTrail[:0], s.queue[:0]
	for i, state := range s.layer.states {
		copy(s.c, s.layer.configs[i*s.width:])
		s.expect(k, state, s.layer.trail[i])
	}
	for uses := 0; uses < len(s.queue) && !s.isFull(); uses++ {
		for i := 0; i < len(s.queue[uses]) && !s.isFull(); i++ {
			if s.steps++; s.isSpent() || !s.Tick() {
				return
			}
			if at := s.queue[uses][i]; !s.seen.isDead(at) {
				s.expand(k, at, s.beam.first())
			}
		}
		if s.beam != nil && !s.useCrashed(k, uses) {
			break
		}
	}
	s.next.states, s.next.configs, s.next.trail = s.next.states[:0], s.next.configs[:0], s.next.trail[:0]
	for i := range s.passed.n {
		if s.passed.isDead(i) {
			continue
		}
		state, c := s.passed.config(i)
		s.next.states = append(fallback.Grow(&s.Budget, s.next.states, 1), state)
		s.next.configs = append(fallback.Grow(&s.Budget, s.next.configs, s.width), c...)
		s.next.trail = append(fallback.Grow(&s.Budget, s.next.trail, 1), s.passedTrail[i])
	}
}

// expect queues the configuration in the making at the k-th return, with the
// reads that fit it, unless it is redundant. trail is where the way to it ends,
// not counting s.rows.
func (s *frontierSearch) expect(k, state, trail int32) {
	s.rows = s.read(s.rows, k, s.c, state)
	if !s.seen.covered(k, state, s.c) {
		p := s.lookAhead(k, state, s.c)
		at := s.seen.add(k, state, s.c) // even if it is hopeless: then so is what it covers
		s.seenTrail = append(fallback.Grow(&s.Budget, s.seenTrail, 1), -1)
		s.seenPlan = append(fallback.Grow(&s.Budget, s.seenPlan, 1), p)
		if p == hopeless {
			s.rows = s.rows[:0]
			return
		}
		s.seenTrail[at] = s.extend(trail)
		uses := s.uses(s.c)
		for len(s.queue) <= uses {
			if len(s.queue) < cap(s.queue) {
				s.queue = s.queue[:len(s.queue)+1]
				s.queue[len(s.queue)-1] = s.queue[len(s.queue)-1][:0]
			} else {
				s.queue = append(s.queue, nil)
			}
		}
		s.queue[uses] = append(fallback.Grow(&s.Budget, s.queue[uses], 1), at)
	}
	s.rows = s.rows[:0]
}

// extend adds s.rows to the trail.
func (s *frontierSearch) extend(trail int32) int32 {
	if s.silent {
		return -1
	}
	for _, row := range s.rows {
		s.trail = append(fallback.Grow(&s.Budget, s.trail, 1), step{row, trail})
		trail = int32(len(s.trail)) - 1
	}
	return trail
}

// expand lets a configuration of seen pass the k-th return, if it may. It also
// queues the other configurations that some choices lead to there.
func (s *frontierSearch) expand(k, at int32, which choices) {
	returning := s.OpenRows(k)[0]
	state, c := s.seen.config(at)
	if s.discharged(c, returning) && !s.free(c, returning) {
		if which != all && which != notCrashed {
			return
		}
		copy(s.c, c)
		s.arrive(k, state, at)
		return
	}
	p := s.seenPlan[at]
	for choice := range s.choices(k) {
		_, c := s.seen.config(at)
		if p >= guided {
			s.gatherAll(k, c)
		}
		if which != all && s.which(k, choice) != which {
			continue
		}
		row, crash, ok := s.choose(k, choice, state, c, p)
		if !ok {
			continue
		}
		if row == passes {
			copy(s.c, c)
			s.rows = append(s.rows, ^returning)
			s.arrive(k, state, at)
			continue
		}
		for _, to := range s.Space.Step(state, s.Class[row]) {
			copy(s.c, c)
			s.use(k, s.c, row, crash, p)
			s.rows = append(s.rows, row)
			s.expect(k, s.withoutDead(k, to), s.seenTrail[at])
		}
	}
}

// arrive lets the configuration in the making pass the k-th return. It was made
// from one of seen.
func (s *frontierSearch) arrive(k, state, from int32) {
	s.transitions.pass(k, s.c)
	state = s.withoutDead(k+1, state)
	if !s.passed.covered(k+1, state, s.c) {
		s.passed.add(k+1, state, s.c)
		s.passedTrail = append(fallback.Grow(&s.Budget, s.passedTrail, 1), s.extend(s.seenTrail[from]))
	}
	s.rows = s.rows[:0]
}

// sweep removes from the trail all steps that do not lead to a configuration of
// the layer.
func (s *frontierSearch) sweep() {
	const reached = -2
	to := make([]int32, len(s.trail)) // where a step goes
	for _, at := range s.layer.trail {
		for ; at >= 0 && to[at] != reached; at = s.trail[at].before {
			to[at] = reached
		}
	}
	kept := int32(0)
	for i, x := range s.trail {
		if to[i] != reached {
			continue
		}
		if x.before >= 0 {
			x.before = to[x.before]
		}
		s.trail[kept] = x
		to[i] = kept
		kept++
	}
	for i, at := range s.layer.trail {
		if at >= 0 {
			s.layer.trail[i] = to[at]
		}
	}
	s.trail = s.trail[:kept]
	s.collect = max(firstCollection, 2*int(kept))
}
