package fallback

import (
	"context"
	"slices"

	"clew/models"
)

// Frontier decides operations by a breadth-first search over compressed
// configurations (window.go says what they are): just-in-time linearization
// (Lowe, "Testing for linearizability", 2017), which Knossos calls linear.
//
// Precondition: none. Complexity: exponential in the concurrency in the worst
// case, linear in the length. It sweeps the returns and holds all configurations
// that are about to pass one: from each it linearizes what it must for the
// returning operation to be linearized, and no more.
//
// Of equal configurations only those with the fewest crashed operations used
// are kept (an antichain), and those that use few are expanded first. So it is
// strong where much has crashed and the history is not linearizable, where
// Window has to try all; it is weak where much is concurrent.
//
// Where no configuration passes a return, that is the first failing completion,
// and those that were about to pass it are what survived.
type Frontier struct{ Rules }

// Name implements Engine.
func (Frontier) Name() string { return "frontier" }

// Decide implements Engine.
func (f Frontier) Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer {
	s := &frontierSearch{layout: newLayout(ctx, f.Rules, ops, limits)}
	defer func() { limits.Memory.give(s.taken) }()
	last, failed := s.run()
	switch {
	case s.cause != "":
		return Answer{Cause: s.cause}
	case failed >= 0:
		return Answer{Verdict: Invalid, Order: last.order(), Fail: s.ends[failed]}
	}
	return Answer{Verdict: Valid, Order: last.order()}
}

// frontierSearch is one run.
type frontierSearch struct {
	*layout
	layer  []*config            // about to pass the return at hand
	seen   map[string][]*config // at that return, by state and mask
	queue  [][]*config          // to be expanded, by how many crashed operations they use
	passed map[string][]*config // past it, by state and mask
	next   []*config
	bytes  int64 // of what is dropped after the return
	ticks  int
}

// config is a configuration, with the way to it.
type config struct {
	state int32
	mask  []uint64
	used  []int32
	rows  []int32 // linearized since parent
	from  *config
}

// order is the rows linearized up to a configuration.
func (c *config) order() []int32 {
	var order []int32
	for ; c != nil; c = c.from {
		for _, row := range slices.Backward(c.rows) {
			order = append(order, row)
		}
	}
	slices.Reverse(order)
	return order
}

// base is the nearest configuration on the way, c among them, at which rows were
// linearized, or the first of all: the others need not be kept.
func (c *config) base() *config {
	if len(c.rows) == 0 && c.from != nil {
		return c.from
	}
	return c
}

// uses is how many crashed operations a configuration uses.
func (c *config) uses() int {
	n := int32(0)
	for _, u := range c.used {
		n += u
	}
	return int(n)
}

// run sweeps the returns. It returns a configuration that got furthest, and the
// return that none could pass, or -1.
func (s *frontierSearch) run() (last *config, failed int32) {
	if s.cause != "" {
		return nil, -1
	}
	s.layer = []*config{{state: s.space.number(s.ops.Model.Init()), mask: make([]uint64, s.words), used: make([]int32, len(s.crashed))}}
	for k := range int32(len(s.ends)) {
		s.pass(k)
		if !s.poll() {
			return nil, -1
		}
		if len(s.next) == 0 {
			return s.layer[0], k
		}
		s.layer = s.next
		if s.limits.Passed != nil {
			s.limits.Passed.Store(int64(k) + 1)
		}
	}
	return s.layer[0], -1
}

// pass finds the configurations past the k-th return.
func (s *frontierSearch) pass(k int32) {
	s.seen, s.passed = map[string][]*config{}, map[string][]*config{}
	s.queue, s.next = s.queue[:0], nil
	before := s.bytes
	s.bytes = 0
	for _, c := range s.layer {
		s.expect(k, &config{state: c.state, mask: slices.Clone(c.mask), used: c.used, from: c.base()})
	}
	returning := s.slot[s.openRows(k)[0]]
	for uses := 0; uses < len(s.queue); uses++ {
		for i := 0; i < len(s.queue[uses]); i++ {
			c := s.queue[uses][i]
			if s.ticks++; s.cause != "" || s.ticks%64 == 0 && !s.poll() {
				return
			}
			if hasBit(c.mask, returning) {
				s.arrive(c, returning)
			} else {
				s.expand(k, c)
			}
		}
	}
	s.give(before)
}

// expect queues a configuration at the k-th return, with the reads that fit it,
// unless an equal one is there.
func (s *frontierSearch) expect(k int32, c *config) {
	c.rows = s.read(c.rows, k, c.mask, c.state)
	if !s.add(s.seen, c) {
		return
	}
	uses := c.uses()
	for len(s.queue) <= uses {
		s.queue = append(s.queue, nil)
	}
	s.queue[uses] = append(s.queue[uses], c)
}

// add adds a configuration to an antichain, unless it is redundant there.
func (s *frontierSearch) add(to map[string][]*config, c *config) bool {
	key := s.keyOf(0, c.state, c.mask)
	for _, other := range to[string(key)] {
		if s.covers(other.used, c.used) {
			return false
		}
	}
	to[string(key)] = append(to[string(key)], c)
	bytes := int64(200 + len(key) + 8*len(c.mask) + 4*len(c.used))
	s.bytes += bytes
	s.take(bytes + s.space.spent())
	return true
}

// expand queues what a configuration leads to at the k-th return.
func (s *frontierSearch) expand(k int32, c *config) {
	for choice := range s.choices(k) {
		row, crash, ok := s.choose(k, choice, c.mask, c.used)
		if !ok {
			continue
		}
		for _, state := range s.space.step(c.state, s.class[row]) {
			to := &config{state: state, mask: slices.Clone(c.mask), used: c.used, rows: []int32{row}, from: c.base()}
			if crash < 0 {
				setBit(to.mask, s.slot[row])
			} else {
				to.used = slices.Clone(c.used)
				to.used[crash]++
			}
			s.expect(k, to)
		}
	}
}

// arrive lets a configuration pass the return, whose operation it has
// linearized.
func (s *frontierSearch) arrive(c *config, returning int32) {
	past := &config{state: c.state, mask: slices.Clone(c.mask), used: c.used, from: c.base()}
	clearBit(past.mask, returning)
	if s.add(s.passed, past) {
		s.next = append(s.next, past)
	}
}
