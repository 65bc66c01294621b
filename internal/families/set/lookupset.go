package set

import (
	"context"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/models"
)

// # Flips: lookup-set
//
// Decides: histories of objects that consist of independent counters, each from 0 to a bound.
// Every operation moves one counter up or down by one (a flip), or asks whether it is at 0 or at
// the bound (a test; in this case the bound is 1). An element of a lookup-set is such a counter
// with the bound 1. An insert that found it absent moves it up, a remove that found it present
// moves it down, and all others are tests. Locks are one such counter; see package lock.
//
// Precondition: none. Values may repeat.
//
// Cost: O(operations * log(operations open at once) + events + ids).
//
// Rests on: an exchange argument. The sweep follows the events and linearizes a flip only when it
// must: when it returns, or when another operation that returns needs it. Among the flips that
// would help, it takes the one that returns first. (Any linearization can be changed into the
// sweep's: open flips of one counter in one direction can change places, and what is not needed yet
// can wait.) Tests cost nothing and are linearized as soon as the state allows. If no flip helps an
// operation that returns, no order of the events so far is a linearization: that return is the
// first failing completion.
//
// Crashed operations: a flip that never returns has a deadline after all
// others, and is taken last. A crashed test says nothing. An insert or
// remove that crashed may have been a test; then it can also be omitted.
//
// # Core
//
// For a lookup-set, a choice is an element and a moment: the operations of the element that had
// not returned by then, without the tests that had begun. The core is a choice that no state of
// the element at that moment allows. This holds even if the flips that were open then may happen
// at any later time or never. For the choice one operation later, some state does. If only the
// initial state of the element makes it fail, the core is all operations of the element.
//
// The core also has a run-up, so that it fails at the same operation as a history of its own:
// some flips that had returned by that moment. In the order of a linearization, one of them
// comes wherever the flips that were open then would not alternate. One comes at the end if
// they would not lead to the element's state at that moment. With the run-up, everything in the
// core can happen as it did in that linearization, until the operation that fails. If the
// run-up is short, flips are removed from it as long as the core still fails at that operation.

// lookupSet decides a history of the kinds of lookup-set.
func lookupSet(ctx context.Context, c *models.Columns, shape models.LookupSetShape, want fastpath.Want) fastpath.Decision {
	return fastpath.WithInitial(c, shape.Init, models.Insert, func(all *models.Columns) fastpath.Decision {
		return decideLookupSet(ctx, all, int32(len(shape.Init)), want)
	})
}

// flip says what an operation does to its counter.
type flip uint8

const (
	down  flip = iota // one less
	up                // one more
	testD             // asks for 0
	testU             // asks for 1
)

var setFlips = [...]flip{
	models.Insert: up, models.InsertPresent: testU, models.InsertAny: up,
	models.Remove: down, models.RemoveAbsent: testD, models.RemoveAny: down,
	models.Has: testU, models.HasNot: testD,
}

// counter is the state of an element. Operations are given by their row plus 1.
type counter struct {
	state int32
	flips [2]int32 // open and not linearized, by direction: a heap by return
	tests [2]int32 // the same, by the state that they ask for: a list
}

// flipSweep is a sweep over the events of a history.
type flipSweep struct {
	in       fastpath.Input
	counters []counter
	until    int32   // if not 0, it stops just before this event
	returns  []int32 // by event: the operation that returns and is not linearized, plus 1
	// A heap is a pairing heap: child is the first child of an operation, and
	// next is its sibling. next also links lists.
	child, next []int32
	witness     bool
	order       []int32
}

// sweep goes through the events from start on and returns the operation whose return
// fails, or -1. Operations that returned before start are gone, and so are tests that
// are open then. Flips that are open then never return. All counters start at state.
func (s *flipSweep) sweep(start, state int32) int32 {
	n := int32(s.in.Len())
	s.counters = hugepages.Make[counter](s.in.IDs)
	if state != 0 {
		for v := range s.counters {
			s.counters[v].state = state
		}
	}
	s.returns = hugepages.Make[int32](s.in.Events)
	s.child, s.next = hugepages.Make[int32](n), hugepages.Make[int32](n)
	if s.witness {
		s.order = hugepages.Make[int32](n)[:0]
	}
	i := int32(0)
	for ; i < n && s.in.Inv[i] < start; i++ {
		if s.in.Res[i] == models.Open && setFlips[s.in.Kind[i]] <= up {
			s.push(i)
		}
	}
	for k := i; k < n; k++ {
		if res := s.in.Res[k]; res != models.Open {
			s.returns[res] = k + 1
		}
	}
	end := s.in.Events
	if s.until > 0 {
		end = s.until
	}
	for t := start; t < end; t++ {
		if i < n && s.in.Inv[i] == t {
			s.invoke(i)
			i++
		} else if o := s.returns[t]; o > 0 && !s.finish(o-1) {
			return o - 1
		}
	}
	return -1
}

func (s *flipSweep) invoke(i int32) {
	m := setFlips[s.in.Kind[i]]
	if m <= up {
		s.push(i)
		return
	}
	c := &s.counters[s.in.A[i]]
	switch need := m - testD; {
	case s.in.Res[i] == models.Open:
	case c.state == int32(need):
		s.linearize(i)
	default:
		s.next[i] = c.tests[need]
		c.tests[need] = i + 1
	}
}

// finish linearizes an operation that returns, and reports whether it can.
func (s *flipSweep) finish(i int32) bool {
	c := &s.counters[s.in.A[i]]
	switch m := setFlips[s.in.Kind[i]]; m {
	case testD, testU:
		return s.flip(c, m-testD) // which linearizes the tests of the new state
	case up:
		return (c.state == 0 || s.flip(c, down)) && s.flip(c, up)
	default:
		return (c.state > 0 || s.flip(c, up)) && s.flip(c, down)
	}
}

// flip linearizes the flip of a direction that returns first, if there is one,
// and the tests that waited for it. If a flip returns now, it is the first.
func (s *flipSweep) flip(c *counter, to flip) bool {
	i := c.flips[to] - 1
	if i < 0 {
		return false
	}
	c.flips[to] = s.pop(i)
	s.linearize(i)
	c.state += 2*int32(to) - 1
	for k := c.tests[to]; k > 0; k = s.next[k-1] {
		s.linearize(k - 1)
	}
	c.tests[to] = 0
	return true
}

func (s *flipSweep) linearize(i int32) {
	if res := s.in.Res[i]; res != models.Open {
		s.returns[res] = 0
	}
	if s.witness {
		s.order = append(s.order, i)
	}
}

// push adds a flip to its heap.
func (s *flipSweep) push(i int32) {
	root := &s.counters[s.in.A[i]].flips[setFlips[s.in.Kind[i]]]
	*root = s.meld(*root, i+1)
}

// meld makes one heap of two.
func (s *flipSweep) meld(a, b int32) int32 {
	if a == 0 {
		return b
	}
	if s.in.Res[b-1] < s.in.Res[a-1] {
		a, b = b, a
	}
	s.next[b-1] = s.child[a-1]
	s.child[a-1] = b
	return a
}

// pop returns the heap of i without its root i. It melds the children in
// pairs, and then the pairs one by one, from the last to the first.
func (s *flipSweep) pop(i int32) int32 {
	pairs := int32(0) // linked by next
	for a := s.child[i]; a > 0; {
		b := s.next[a-1]
		if b == 0 {
			s.next[a-1] = pairs
			pairs = a
			break
		}
		rest := s.next[b-1]
		m := s.meld(a, b)
		s.next[m-1] = pairs
		pairs = m
		a = rest
	}
	root := int32(0)
	for pairs > 0 {
		rest := s.next[pairs-1]
		root = s.meld(root, pairs)
		pairs = rest
	}
	return root
}

// LookupBefore returns the operations on one element that have been linearized just before an event, at which nothing has
// failed, and whether the element is in the set then, if it is given whether it was at the beginning. By the exchange
// argument, any linearization of what comes later can begin with these. It returns false for operations on several
// elements, and for those that the sweep does not decide.
func LookupBefore(c *models.Columns, at bool, event int32) (done []bool, in, ok bool) {
	all := *c
	all.A = make([]int32, c.Len())
	for row, kind := range c.Kind {
		if c.A[row] != c.A[0] || int(kind) >= len(setFlips) || (kind == models.InsertAny || kind == models.RemoveAny) && c.Res[row] != models.Open {
			return nil, false, false
		}
	}
	until := int32(0) // as events that nothing happens at are left out
	for row, res := range c.Res {
		if c.Inv[row] < event {
			until++
		}
		if res < event {
			until++
		}
	}
	s := flipSweep{in: fastpath.Input{Columns: &all}.DenseEvents(), witness: true, until: until}
	s.in.IDs = 1
	state := int32(0)
	if at {
		state = 1
	}
	if done = make([]bool, c.Len()); until == 0 {
		return done, at, true
	}
	s.sweep(0, state)
	for _, row := range s.order {
		done[row] = true
	}
	return done, s.counters[0].state == 1, true
}

// decideLookupSet decides a history whose first operations are initial.
func decideLookupSet(ctx context.Context, c *models.Columns, initial int32, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if (kind == models.InsertAny || kind == models.RemoveAny) && c.Res[i] != models.Open || int(kind) >= len(setFlips) {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	in := fastpath.NewInput(ctx, c, 0)
	s := flipSweep{in: in, witness: want&fastpath.WantWitness != 0}
	o := s.sweep(0, 0)
	return in.Swept(o, s.order, want, func(d *fastpath.Decision) {
		before := flipSweep{in: in.Cut(in.Res[o] - 1), witness: true} // in it, operations that return later are needed last
		before.sweep(0, 0)
		d.Before = before.order
		lookupSetCore(in, o, initial, d)
	})
}

// lookupSetCore finds the core of a history that fails when o returns.
func lookupSetCore(in fastpath.Input, o, initial int32, d *fastpath.Decision) {
	var ops []int32
	for i := int32(0); int(i) < in.Len() && in.Inv[i] < in.Res[o]; i++ {
		open := in.Res[i] > in.Res[o]
		if in.A[i] == in.A[o] && (!open || setFlips[in.Kind[i]] <= up) {
			ops = append(ops, i)
		}
	}
	sub := in.Cut(in.Res[o]).Pick(ops)
	fails := func(k int) bool { // from operation k on, whatever the state was
		start, c := sub.Inv[k], *sub.Columns
		c.Res = slices.Clone(c.Res)
		for i := range k {
			if c.Res[i] > start {
				c.Res[i] = models.Open
			}
		}
		later := sub
		later.Columns = &c
		from := flipSweep{in: later}
		return from.sweep(start, 0) >= 0 && from.sweep(start, 1) >= 0
	}
	// The last few operations are probably enough.
	low, high := 0, sub.Len()
	for step := 1; low < high; step *= 2 {
		k := max(high-step, low)
		if fails(k) {
			low = k
			break
		}
		high = k
	}
	for low+1 < high {
		if k := (low + high) / 2; fails(k) {
			low = k
		} else {
			high = k
		}
	}
	moment := sub.Inv[low]
	if high == 0 {
		moment = 0
	}
	s := flipSweep{in: sub, witness: true}
	s.sweep(0, 0)
	kept := make([]bool, len(ops))
	for k := range ops {
		ran := sub.Inv[k] < moment
		kept[k] = ops[k] < initial || sub.Res[k] >= moment && (!ran || setFlips[sub.Kind[k]] <= up)
	}
	s.shorten(s.runUp(moment, kept), kept)
	d.Why = Unchanged.Of(o, fastpath.Initial)
	for k, i := range ops {
		if kept[k] {
			d.Core = append(d.Core, i)
		}
	}
	for _, k := range s.order { // the last operation of the core that left the element as it is
		if setFlips[sub.Kind[k]]&up == flip(s.counters[sub.A[k]].state) && kept[k] {
			d.Why.Rows[1] = ops[k]
		}
	}
}

// runUp keeps flips that had returned by an event, so that those kept alternate and lead
// to the state at that event. Wherever two kept flips would not alternate, the flip just
// before the second one is not kept yet. Keeping it makes them alternate, as all flips do.
func (s *flipSweep) runUp(moment int32, kept []bool) (added []int32) {
	state, last := down, int32(-1)
	for _, k := range s.order {
		if s.in.Inv[k] >= moment {
			break
		}
		to := setFlips[s.in.Kind[k]]
		if to > up {
			continue
		}
		if kept[k] {
			if state == to {
				added = append(added, last)
			}
			state = to
		}
		last = k
	}
	if last >= 0 && setFlips[s.in.Kind[last]] != state {
		added = append(added, last)
	}
	for _, k := range added {
		kept[k] = true
	}
	return added
}

// maxShortened is the length of the longest run-up that is shortened.
const maxShortened = 16

// shorten removes flips from a run-up as long as the rest, as a history of
// its own, still fails at the last event and not before.
func (s *flipSweep) shorten(runUp []int32, kept []bool) {
	fails := func() bool {
		var rows []int32
		for k := range kept {
			if kept[k] {
				rows = append(rows, int32(k))
			}
		}
		own := flipSweep{in: s.in.Pick(rows)}
		o := own.sweep(0, 0)
		return o >= 0 && own.in.Res[o] == own.in.Events-1
	}
	for again := len(runUp) <= maxShortened; again; {
		again = false
		for _, k := range runUp {
			if kept[k] {
				kept[k] = false
				again = fails()
				kept[k] = !again
			}
			if again {
				break
			}
		}
	}
}

// Unchanged (op, after): op found or left its element present, or absent, which the
// element cannot have been after the other operation (Initial: initially). No operation
// could have changed that in between: those that ran were needed elsewhere.
var Unchanged = &fastpath.Pattern{Name: "unchanged", ChooseKind: unchanged, Choose: func(t models.Teller, v []models.Row) string {
	was, change := "was not in the set", "inserted"
	if saysAbsent(t.Op(v[0])) {
		was, change = "was in the set", "removed"
	}
	if v[1] == fastpath.Initial {
		return "{name 0} cannot be right: {value 0} " + was + " at first, and no operation can have " + change + " it by then"
	}
	return "{name 0} cannot be right: {value 0} " + was + " after {name 1}, and no operation can have " + change + " it in between"
}}

// saysAbsent reports whether an operation found its element absent.
func saysAbsent(op models.Op) bool {
	return op.Kind == models.Insert || op.Kind == models.RemoveAbsent || op.Kind == models.HasNot
}

// unchanged is Unchanged.ChooseKind. An element that was there and is said to be absent got lost. One that was removed
// and is said to be there came back. If it was never there, operations besides these two matter.
func unchanged(t models.Teller, v []models.Row) models.Anomaly {
	switch {
	case saysAbsent(t.Op(v[0])):
		return models.LostElement
	case v[1] != fastpath.Initial && t.Op(v[1]).Kind == models.Remove:
		return models.Resurrected
	}
	return ""
}
