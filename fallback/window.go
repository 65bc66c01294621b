package fallback

import (
	"context"
	"encoding/binary"
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
	// NoEagerReads, NoCanonicalOrder and NoDomination switch the rules off, for
	// tests.
	NoEagerReads, NoCanonicalOrder, NoDomination bool
}

// Name implements Engine.
func (Window) Name() string { return "window" }

// Decide implements Engine.
func (w Window) Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer {
	s := newWindowSearch(ctx, w, ops, limits)
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
	Window
	ctx    context.Context
	ops    *models.Operations
	limits Limits
	space  *space
	class  []int32 // by row

	ends      []int32 // the returns, as events, in order
	returning []int32 // by return: its row
	slot      []int32 // by row that returns: its bit in the mask while it is open
	words     int     // of a mask
	open      []int32 // by return: the rows open there, the one that returns first in front ..
	openFrom  []int32 // .. from here, to the next return's
	crashed   []crashClass

	stack []frame
	masks []uint64 // words for every frame
	used  []int32  // len(crashed) for every frame
	order []int32  // rows linearized so far

	furthest int     // the furthest return that the search was about to pass
	best     []int32 // the order with which it got there first
	shared   int     // how long best and order are known to agree

	failed map[string][][]int32 // by return, state and mask: the used counts that failed
	key    []byte
	taken  int64
	ticks  int
	cause  Cause
}

// crashClass is crashed operations of one meaning, by invocation.
type crashClass struct {
	class int32
	rows  []int32
}

// frame is a configuration under test; its mask and used counts are in masks
// and used.
type frame struct {
	k      int32 // the return to pass
	state  int32
	order  int32 // len(order) in this configuration
	choice int32 // the next to be tried: the rows of open, then the crash classes
	branch int32 // the next outcome of that choice
}

func newWindowSearch(ctx context.Context, w Window, ops *models.Operations, limits Limits) *windowSearch {
	s := &windowSearch{Window: w, ctx: ctx, ops: ops, limits: limits, furthest: -1, failed: map[string][][]int32{}}
	s.space, s.class = newSpace(ops)
	s.slot = make([]int32, ops.Len())
	s.layOut()
	s.take(int64(len(s.open))*4 + int64(ops.Len())*40)
	return s
}

// layOut gives every row that returns a bit that is free while it is open, and
// finds for every return the rows that are open there.
func (s *windowSearch) layOut() {
	at := rowsAt(s.ops)
	classAt := map[int32]int{}
	var open, free []int32
	slots := int32(0)
	for e, row := range at {
		switch {
		case row < 0:
		case s.ops.Res[row] == models.Open:
			c, ok := classAt[s.class[row]]
			if !ok {
				c = len(s.crashed)
				classAt[s.class[row]] = c
				s.crashed = append(s.crashed, crashClass{class: s.class[row]})
			}
			s.crashed[c].rows = append(s.crashed[c].rows, row)
		case s.ops.Inv[row] == int32(e):
			if n := len(free); n > 0 {
				s.slot[row], free = free[n-1], free[:n-1]
			} else {
				s.slot[row] = slots
				slots++
			}
			// By return, so that the first in line returns first.
			i, _ := slices.BinarySearchFunc(open, row, func(a, b int32) int { return int(s.ops.Res[a] - s.ops.Res[b]) })
			open = slices.Insert(open, i, row)
		default:
			s.ends = append(s.ends, int32(e))
			s.returning = append(s.returning, row)
			s.openFrom = append(s.openFrom, int32(len(s.open)))
			s.open = append(s.open, open...)
			open = open[1:]
			free = append(free, s.slot[row])
		}
	}
	s.openFrom = append(s.openFrom, int32(len(s.open)))
	s.words = int(slots+63) / 64
}

// rowsAt is the row that each event belongs to, or -1.
func rowsAt(ops *models.Operations) []int32 {
	at := make([]int32, ops.Events)
	for i := range at {
		at[i] = -1
	}
	for i, inv := range ops.Inv {
		at[inv] = int32(i)
		if res := ops.Res[i]; res != models.Open {
			at[res] = int32(i)
		}
	}
	return at
}

// run searches, and says whether it found a linearization.
func (s *windowSearch) run() bool {
	s.masks = make([]uint64, s.words)
	s.used = make([]int32, len(s.crashed))
	if s.enter(0, s.space.number(s.ops.Model.Init())) {
		return s.cause == ""
	}
	for len(s.stack) > 0 {
		if s.ticks++; s.ticks%256 == 0 && s.ctx.Err() != nil {
			s.cause = stopped(s.ctx)
		}
		if s.cause != "" {
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
	open := s.openRows(f.k)
	for ; int(f.choice) < len(open)+len(s.crashed); f.choice, f.branch = f.choice+1, 0 {
		row, crash := int32(0), int(f.choice)-len(open)
		if crash < 0 {
			row = open[f.choice]
			if !s.mayGo(open, int(f.choice), mask) {
				continue
			}
		} else {
			c := &s.crashed[crash]
			n := used[crash]
			if int(n) == len(c.rows) || s.ops.Inv[c.rows[n]] > s.ends[f.k] || !s.NoCanonicalOrder && s.hasTwin(open, mask, c.class) {
				continue
			}
			row = c.rows[n]
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

// openRows is the rows open at the k-th return, which is the first one's.
func (s *windowSearch) openRows(k int32) []int32 { return s.open[s.openFrom[k]:s.openFrom[k+1]] }

// mayGo says whether the i-th open row is a choice: it is not linearized, it can
// change the state or is the one that returns, and no row of the same meaning
// comes before it.
func (s *windowSearch) mayGo(open []int32, i int, mask []uint64) bool {
	row := open[i]
	if hasBit(mask, s.slot[row]) || i > 0 && !s.NoEagerReads && !s.ops.Model.Mutates(s.ops.Op(row)) {
		return false
	}
	return s.NoCanonicalOrder || !s.hasTwin(open[:i], mask, s.class[row])
}

// hasTwin says whether a row of a class is open and not linearized.
func (s *windowSearch) hasTwin(open []int32, mask []uint64, class int32) bool {
	for _, o := range open {
		if s.class[o] == class && !hasBit(mask, s.slot[o]) {
			return true
		}
	}
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
		open := s.openRows(k)
		if !s.NoEagerReads {
			s.read(open, mask, state)
		}
		if !hasBit(mask, s.slot[open[0]]) {
			break
		}
		clearBit(mask, s.slot[open[0]])
		k++
	}
	used := s.used[depth*len(s.crashed) : (depth+1)*len(s.crashed)]
	if !s.hasFailed(k, state, mask, used) {
		s.stack = append(s.stack, frame{k: k, state: state, order: int32(len(s.order))})
	}
	return false
}

// read linearizes the open rows that change nothing and fit the state.
func (s *windowSearch) read(open []int32, mask []uint64, state int32) {
	for _, row := range open {
		if !hasBit(mask, s.slot[row]) && !s.ops.Model.Mutates(s.ops.Op(row)) && len(s.space.step(state, s.class[row])) > 0 {
			setBit(mask, s.slot[row])
			s.order = append(s.order, row)
		}
	}
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

// keyOf is a configuration without its used counts, as bytes.
func (s *windowSearch) keyOf(k, state int32, mask []uint64) []byte {
	key := binary.LittleEndian.AppendUint32(s.key[:0], uint32(k))
	key = binary.LittleEndian.AppendUint32(key, uint32(state))
	for _, w := range mask {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	s.key = key
	return key
}

// hasFailed says whether a configuration is known to fail.
func (s *windowSearch) hasFailed(k, state int32, mask []uint64, used []int32) bool {
	for _, u := range s.failed[string(s.keyOf(k, state, mask))] {
		if s.NoDomination && slices.Equal(u, used) || !s.NoDomination && dominates(u, used) {
			return true
		}
	}
	return false
}

// fail remembers a configuration that failed, and forgets those that it
// dominates.
func (s *windowSearch) fail(f *frame, mask []uint64, used []int32) {
	key := s.keyOf(f.k, f.state, mask)
	list := s.failed[string(key)]
	if !s.NoDomination {
		list = slices.DeleteFunc(list, func(u []int32) bool { return dominates(used, u) })
	}
	s.failed[string(key)] = append(list, slices.Clone(used))
	s.take(int64(120+len(key)+4*len(used)) + s.space.spent())
}

// dominates says whether a uses at most what b does of every class.
func dominates(a, b []int32) bool {
	for i, n := range a {
		if n > b[i] {
			return false
		}
	}
	return true
}

func (s *windowSearch) take(bytes int64) {
	s.taken += bytes
	if !s.limits.Memory.take(bytes) && s.cause == "" {
		s.cause = OutOfMemory
	}
}

func hasBit(mask []uint64, i int32) bool { return mask[i>>6]&(1<<(i&63)) != 0 }
func setBit(mask []uint64, i int32)      { mask[i>>6] |= 1 << (i & 63) }
func clearBit(mask []uint64, i int32)    { mask[i>>6] &^= 1 << (i & 63) }
