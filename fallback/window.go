package fallback

import (
	"context"
	"slices"

	"clew/models"
)

// Window decides operations by a depth-first search over compressed
// configurations.
//
// Precondition: none. Complexity: exponential in the worst case. On
// linearizable histories it is nearly linear, and what it remembers is only
// what failed: memory follows the busiest stretch, not the length.
//
// A configuration is (k, state, mask, used): the search is about to pass the
// k-th return, every operation that returned before is linearized, mask says
// which of those open there are, and used how many of each class of crashed
// operations. Crashed operations of equal meaning are interchangeable, so a
// class holds a count, and its k-th use needs the k-th earliest invocation. It
// is Wing & Gong's search with Lowe's memory, except that a configuration is as
// wide as the concurrency instead of as long as the history.
//
// Operations are linearized just in time: only before a return that is not
// linearized yet, and then the returning one last. Every linearization can be
// brought into that form by moving operations later.
//
// Rules that shrink the search and lose nothing; each has a switch:
//
//   - Eager reads. An open operation that can never change a state is
//     linearized as soon as it fits: wherever it stands later, taking it away
//     there changes nothing, and putting it here does not either.
//   - Canonical order. Of open operations of equal meaning the one that returns
//     first goes first, and a crashed one only where no open one of its meaning
//     is left: in a linearization that has them otherwise they can be exchanged,
//     since the one that goes first now may go later, and the other one began
//     early enough.
//   - Domination. What failed with some crashed operations used fails with more
//     of them used: they only were choices.
//
// The furthest return that an exhausted search is about to pass is the first
// failing completion: the operations up to just before it have a linearization,
// which the search found, and those up to it have none, or it would have gone
// on.
type Window struct {
	Rules
	// MaxSteps, where not 0, is the number of steps after which it gives up.
	MaxSteps int
}

// GaveUp is the cause of an unknown verdict after MaxSteps.
const GaveUp Cause = "gave-up"

// Name implements Engine.
func (Window) Name() string { return "window" }

// Decide implements Engine.
func (w Window) Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer {
	s := &windowSearch{layout: newLayout(ctx, w.Rules, ops, limits), maxSteps: w.MaxSteps, furthest: -1, failed: map[string][][]int32{}}
	defer func() { limits.Memory.give(s.taken) }()
	found := s.run()
	switch {
	case s.cause != "":
		return Answer{Cause: s.cause}
	case found:
		return Answer{Verdict: Valid, Order: s.order}
	}
	return Answer{Verdict: Invalid, Order: s.best, Fail: s.ends[s.furthest]}
}

// windowSearch is one run.
type windowSearch struct {
	*layout

	stack []frame
	masks []uint64 // words for every frame
	used  []int32  // len(crashed) for every frame
	order []int32  // rows linearized so far

	furthest int     // the furthest return that the search was about to pass
	best     []int32 // the order with which it got there first
	shared   int     // how long best and order are known to agree

	failed          map[string][][]int32 // by return, state and mask: the used counts that failed
	maxSteps, steps int
}

// frame is a configuration under test; its mask and used counts are in masks
// and used.
type frame struct {
	k      int32 // the return to pass
	state  int32
	order  int32 // len(order) in this configuration
	choice int32 // the next to be tried
	branch int32 // the next outcome of that choice
}

// run searches, and says whether it found a linearization.
func (s *windowSearch) run() bool {
	if s.cause != "" {
		return false
	}
	s.masks = make([]uint64, s.words)
	s.used = make([]int32, len(s.crashed))
	if s.enter(0, s.space.number(s.ops.Model.Init())) {
		return true
	}
	for len(s.stack) > 0 {
		if s.steps++; s.steps == s.maxSteps {
			s.cause = GaveUp
		}
		if s.cause != "" || s.steps%256 == 0 && !s.poll() {
			return false
		}
		if s.next() {
			return true
		}
	}
	return false
}

// next tries the next choice of the configuration on top, and says whether that
// completes a linearization. Where there is none left the configuration has
// failed.
func (s *windowSearch) next() bool {
	top := len(s.stack) - 1
	f := &s.stack[top]
	mask := s.masks[top*s.words : (top+1)*s.words]
	used := s.used[top*len(s.crashed) : (top+1)*len(s.crashed)]
	for ; int(f.choice) < s.choices(f.k); f.choice, f.branch = f.choice+1, 0 {
		row, crash, ok := s.choose(f.k, int(f.choice), mask, used)
		if !ok {
			continue
		}
		to := s.space.step(f.state, s.class[row])
		if int(f.branch) == len(to) {
			continue
		}
		state := to[f.branch]
		f.branch++
		s.truncate(int(f.order))
		s.order = append(s.order, row)
		s.masks = append(s.masks[:(top+1)*s.words], mask...)
		s.used = append(s.used[:(top+1)*len(s.crashed)], used...)
		if crash < 0 {
			setBit(s.masks[(top+1)*s.words:], s.slot[row])
		} else {
			s.used[(top+1)*len(s.crashed)+crash]++
		}
		return s.enter(f.k, state)
	}
	s.fail(f, mask, used)
	s.stack = s.stack[:top]
	return false
}

// enter goes on to a configuration whose mask and used counts lie above those of
// the top: it linearizes what can be at once, passes returns that are
// linearized, and pushes it unless it is known to fail. It says whether nothing
// is left to pass.
func (s *windowSearch) enter(k, state int32) bool {
	depth := len(s.stack)
	mask := s.masks[depth*s.words : (depth+1)*s.words]
	for {
		if int(k) > s.furthest {
			s.gotTo(int(k))
		}
		if int(k) == len(s.ends) {
			return true
		}
		s.order = s.read(s.order, k, mask, state)
		returning := s.slot[s.openRows(k)[0]]
		if !hasBit(mask, returning) {
			break
		}
		clearBit(mask, returning)
		k++
	}
	used := s.used[depth*len(s.crashed) : (depth+1)*len(s.crashed)]
	if !s.hasFailed(k, state, mask, used) {
		s.stack = append(s.stack, frame{k: k, state: state, order: int32(len(s.order))})
	}
	return false
}

// gotTo notes that the search got further than before. Only what has changed
// since the last time is copied.
func (s *windowSearch) gotTo(k int) {
	s.furthest = k
	s.best = append(s.best[:s.shared], s.order[s.shared:]...)
	s.shared = len(s.order)
	if s.limits.Passed != nil {
		s.limits.Passed.Store(int64(k))
	}
}

func (s *windowSearch) truncate(n int) {
	s.order = s.order[:n]
	s.shared = min(s.shared, n)
}

// hasFailed says whether a configuration is known to fail.
func (s *windowSearch) hasFailed(k, state int32, mask []uint64, used []int32) bool {
	for _, u := range s.failed[string(s.keyOf(k, state, mask))] {
		if s.covers(u, used) {
			return true
		}
	}
	return false
}

// fail remembers a configuration that failed, and forgets those that it covers.
func (s *windowSearch) fail(f *frame, mask []uint64, used []int32) {
	key := s.keyOf(f.k, f.state, mask)
	list := slices.DeleteFunc(s.failed[string(key)], func(u []int32) bool { return s.covers(used, u) })
	s.failed[string(key)] = append(list, slices.Clone(used))
	s.take(int64(120+len(key)+4*len(used)) + s.space.spent())
}
