package fastpath

import (
	"slices"

	"clew/models"
)

// # Locks without owners: mutex, semaphore
//
// Decides: histories of one counter, the permits that are held, from 0 to a
// bound. An acquire moves it up by one, a release, by anybody, down by one. A
// mutex is a semaphore of one permit.
//
// Precondition: none for a mutex. A semaphore whose operations take several
// permits at once is not decided (3-PARTITION reduces to it).
//
// Cost: O(operations * log64(events) + events / 64).
//
// Rests on: the exchange argument of flips.go, whose sweep this is, for one
// counter. So the open flips of a kind are the events at which they return: the
// first, which alone can be the next to be linearized, and a bitset of the
// others. Events at which nothing has to happen are not looked at.
//
// Crashed operations: one that never returns is taken where no other is left.
//
// # Core
//
// Locks are not closed under dropping operations. Their core is the history up
// to the failure.

// Mutex decides a history of Acquire and Release on a lock that anybody may
// release. init is 1 if it is held at first, else 0.
func Mutex(c *models.Columns, init int32, want Want) Decision {
	return decideSemaphore(c, init, 1, want)
}

// Semaphore decides a history of Acquire and Release of one permit each (B), of
// which there are permits. init is how many are held at first.
func Semaphore(c *models.Columns, init, permits int32, want Want) Decision {
	for i, count := range c.B {
		if count != 1 {
			return Decision{Fail: -1, Bound: -1, Reason: Ambiguity{Cause: Counted, Reader: int32(i)}}
		}
	}
	return decideSemaphore(c, init, permits, want)
}

func decideSemaphore(c *models.Columns, init, permits int32, want Want) Decision {
	for i, kind := range c.Kind {
		if kind > models.Release || c.A[i] != 0 {
			return Decision{Fail: -1, Bound: -1, Reason: Ambiguity{Cause: Unsupported, Reader: int32(i), Value: c.A[i]}}
		}
	}
	in := newInput(c, 0)
	s := lockSweep{in: in, witness: want&(WantWitness|WantFailure) != 0}
	t := s.sweep(permits-init, init)
	if t < 0 {
		return Decision{Verdict: Valid, Fail: -1, Bound: -1, Witness: s.order}
	}
	d := Decision{Verdict: Invalid, Fail: -1, Bound: -1}
	if want&WantFailure != 0 {
		o := in.opReturning(t)
		d.Fail, d.Bound = c.Res[o], c.Res[o]
		d.Core = in.upTo(t)
		d.Why = whyLock(in, s.order, o)
	}
	return d
}

// openFlips are the flips of one kind that are open and not linearized.
type openFlips struct {
	first   int32   // the first event at which one returns; Open if none does
	others  bitset  // the others
	crashed []int32 // those that never return
	room    int32   // how many more of the kind can happen
}

// add adds a flip that returns at event res.
func (f *openFlips) add(res int32) {
	if f.first == models.Open {
		f.first = res
		return
	}
	f.others.add(max(f.first, res))
	f.first = min(f.first, res)
}

// lockSweep is a sweep over the events of a history.
type lockSweep struct {
	in      input
	open    [2]openFlips // by kind
	witness bool
	ops     []int32 // by event: the operation that returns, for the witness
	order   []int32
}

// sweep returns the first event at which a return fails, or -1.
func (s *lockSweep) sweep(free, held int32) int32 {
	in := s.in
	for k := range s.open {
		s.open[k] = openFlips{others: newBitset(in.Events), first: models.Open}
	}
	acquires, releases := &s.open[models.Acquire], &s.open[models.Release]
	acquires.room, releases.room = free, held
	if s.witness {
		s.ops = make([]int32, in.Events)
		s.order = make([]int32, 0, in.Len())
	}
	for i, inv := range in.Inv {
		if t := s.returnsBefore(inv); t >= 0 {
			return t
		}
		f, res := &s.open[in.Kind[i]], in.Res[i]
		if res == models.Open {
			f.crashed = append(f.crashed, int32(i))
			continue
		}
		f.add(res)
		if s.witness {
			s.ops[res] = int32(i)
		}
	}
	return s.returnsBefore(in.Events)
}

// returnsBefore linearizes what returns before event end and was not linearized
// yet. It returns the first event at which this fails, or -1.
func (s *lockSweep) returnsBefore(end int32) int32 {
	for {
		f, other := &s.open[models.Acquire], &s.open[models.Release]
		if other.first < f.first {
			f, other = other, f
		}
		if f.first >= end {
			return -1
		}
		if f.room > 0 {
			f.room--
			other.room++
		} else if !s.linearize(other) { // which makes room for this one
			return f.first
		}
		s.linearize(f)
	}
}

// linearize linearizes the flip of a kind that returns first, if there is one.
func (s *lockSweep) linearize(f *openFlips) bool {
	if t := f.first; t < models.Open {
		if s.witness {
			s.order = append(s.order, s.ops[t])
		}
		if f.first = f.others.takeFirst(t); f.first < 0 {
			f.first = models.Open
		}
		return true
	}
	if len(f.crashed) == 0 {
		return false
	}
	if s.witness {
		s.order = append(s.order, f.crashed[0])
	}
	f.crashed = f.crashed[1:]
	return true
}

// upTo is the operations invoked up to event t.
func (in input) upTo(t int32) []int32 {
	n, _ := slices.BinarySearch(in.Inv, t)
	ops := make([]int32, n)
	for i := range ops {
		ops[i] = int32(i)
	}
	return ops
}

// whyLock says what held, or had released, a lock when o failed, given the
// order of what was linearized by then.
func whyLock(in input, order []int32, o int32) Explanation {
	if in.Kind[o] == models.Release {
		last := Missing
		for _, i := range order {
			if in.Kind[i] == models.Release {
				last = i
			}
		}
		return Explanation{NotHeld, []int32{o, last}}
	}
	var held []int32
	for _, i := range order {
		if in.Kind[i] == models.Acquire {
			held = append(held, i)
		} else if len(held) > 0 {
			held = held[:len(held)-1]
		}
	}
	held = held[max(0, len(held)-maxHolders):]
	return Explanation{HeldAlready, append([]int32{o}, held...)}
}
