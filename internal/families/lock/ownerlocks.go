package lock

import (
	"context"
	"math"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// # Locks with an owner
//
// Decides: a mutex, a reentrant mutex, and a semaphore whose permits are returned
// by the owner that holds them. A is the owner, and B is the number of permits.
//
// Precondition: no owner begins an operation while an older one of its own is open.
// This holds for Jepsen's processes, because a process that crashes is replaced by
// one with another number. It does not hold if owners are threads or clients that
// continue after a crash. A failure before the first such operation is still found.
//
// Cost: O(operations + events + owners).
//
// Rests on: under the precondition, an owner's operations stand in a fixed order. For the
// operations of others it can only help if as few permits as possible are held at any time.
// So every release happens at its invocation and every acquire at its return. An operation
// that fails then fails in every order, and the event is the first failing completion.
//
// Crashed operations: a crashed acquire is omitted. Its owner does nothing afterwards,
// so it could only get in the way. A crashed release happens once an acquire needs it.

// ownerLock decides a history of Acquire and Release on an initially free lock with owners.
func ownerLock(ctx context.Context, c *models.Columns, lock models.OwnerLockShape, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if kind > models.Release || c.B[i] < 1 {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	return decideOwned(ctx, c, ownerSweep{lock: lock}, want)
}

// decideOwned decides a history of Acquire and Release by a sweep that starts as a copy of fresh.
func decideOwned(ctx context.Context, c *models.Columns, fresh ownerSweep, want fastpath.Want) fastpath.Decision {
	owners := *c
	owners.B = c.A // counts are not ids
	in := fastpath.NewInput(ctx, &owners, 0)
	in.B = c.B
	s := fresh
	a := s.prepare(in)
	o := s.sweep()
	if o < 0 && a != nil {
		return fastpath.Undecided(a)
	}
	return in.Swept(o, s.order, want, func(d *fastpath.Decision) {
		before := fresh // releases that are open there happen only when needed
		before.prepare(in.Cut(in.Res[o] - 1))
		before.sweep()
		d.Before = before.order
		d.Why = s.why(o)
		d.Core = core(in, in.Res[o], s.order, true, func(i int32) int32 { return (1 - 2*int32(in.Kind[i])) * s.permits(i) }, d.Why)
	})
}

// ownerSweep is a sweep over the events of a history.
type ownerSweep struct {
	in      fastpath.Input
	lock    models.OwnerLockShape
	returns []int32 // by event: the operation that returns, plus 1
	end     int32   // the event at which the precondition fails, or the number of events
	held    []int32 // by owner
	total   int64
	holders int32
	lost    []int32 // crashed releases that have not happened yet
	order   []int32
	fenced  bool // acquires have fences
	fences  fences
}

// prepare fills in returns. It finds the first operation that was invoked
// while an older one of its owner was open. A failure before that is certain.
func (s *ownerSweep) prepare(in fastpath.Input) (a *fastpath.Finding) {
	s.in = in
	last := make([]int32, in.IDs) // by owner: its last operation, plus 1
	s.returns = make([]int32, in.Events)
	s.end = in.Events
	for i, owner := range in.A {
		if p := last[owner] - 1; p >= 0 && in.Res[p] > in.Inv[i] && a == nil {
			a = Overlapping.Of(int32(i), p)
			s.end = in.Inv[i]
		}
		last[owner] = int32(i) + 1
		if in.Res[i] != models.Open {
			s.returns[in.Res[i]] = int32(i) + 1
		}
	}
	return a
}

// sweep returns the operation whose return fails, or -1.
func (s *ownerSweep) sweep() int32 {
	in := s.in
	if s.lock.Holds == 0 {
		s.lock.Holds = math.MaxInt32
	}
	s.held = make([]int32, in.IDs)
	s.order = make([]int32, 0, in.Len())
	i := int32(0)
	for t := range s.end {
		if int(i) < in.Len() && in.Inv[i] == t {
			if in.Kind[i] == models.Release && s.held[in.A[i]] >= s.permits(i) {
				if in.Res[i] == models.Open {
					s.lost = append(s.lost, i)
				} else {
					s.release(i)
				}
			} else if in.Kind[i] == models.Release && in.Res[i] != models.Open {
				s.returns[in.Res[i]] = -(i + 1) // it will fail
			}
			i++
			continue
		}
		switch o := s.returns[t]; {
		case o < 0:
			return -o - 1
		case o > 0 && in.Kind[o-1] == models.Acquire && !s.acquire(o-1):
			return o - 1
		}
	}
	return -1
}

// permits returns how many permits an operation takes or returns. For a mutex this is always one.
func (s *ownerSweep) permits(i int32) int32 {
	if s.lock.Permits == 0 {
		return 1
	}
	return s.in.B[i]
}

func (s *ownerSweep) release(i int32) {
	owner, n := s.in.A[i], s.permits(i)
	s.held[owner] -= n
	s.total -= int64(n)
	if s.held[owner] == 0 {
		s.holders--
		s.fences.held = 0
	}
	s.order = append(s.order, i)
}

// acquire reports whether an acquire can happen, and applies it if so.
func (s *ownerSweep) acquire(i int32) bool {
	owner, n := s.in.A[i], s.permits(i)
	if n > s.lock.Holds-s.held[owner] {
		return false
	}
	for !s.fits(owner, n) {
		if len(s.lost) == 0 {
			return false
		}
		s.release(s.lost[len(s.lost)-1])
		s.lost = s.lost[:len(s.lost)-1]
	}
	if s.fenced && !s.fences.show(i, s.in.B[i]) {
		return false
	}
	if s.held[owner] == 0 {
		s.holders++
	}
	s.held[owner] += n
	s.total += int64(n)
	s.order = append(s.order, i)
	return true
}

// fits reports whether the others leave room for n more permits of an owner.
func (s *ownerSweep) fits(owner, n int32) bool {
	if s.lock.Permits == 0 {
		return s.holders == 0 || s.held[owner] > 0
	}
	return s.total+int64(n) <= int64(s.lock.Permits)
}

// why says which acquires held the lock, or which release had freed it, when o failed.
func (s *ownerSweep) why(o int32) *fastpath.Finding {
	in := s.in
	if s.fences.wrong != nil {
		return s.fences.wrong
	}
	if in.Kind[o] == models.Release {
		last := fastpath.Missing // the owner's release before it
		for _, i := range s.order {
			if in.Kind[i] == models.Release && in.A[i] == in.A[o] {
				last = i
			}
		}
		if s.lock.Permits > 0 {
			return notTheirPermits.Of(o, last)
		}
		return notTheirs.Of(o, last)
	}
	// These are the acquires that have not been released: for each owner the
	// latest ones, up to the permits it holds.
	holders := []models.Row{}
	left := append([]int32{}, s.held...)
	for k := len(s.order) - 1; k >= 0 && len(holders) < fastpath.MaxNamed; k-- {
		i := s.order[k]
		if in.Kind[i] == models.Acquire && left[in.A[i]] > 0 {
			left[in.A[i]] -= s.permits(i)
			holders = append(holders, i)
		}
	}
	slices.Reverse(holders)
	if s.lock.Permits == 0 {
		return heldByOwner.Of(append(holders, o)...)
	}
	return heldByOwners.Of(append(holders, o)...)
}

// Overlapping (op, older): op was invoked while an older operation of the same owner was
// open. (The owner crashed in it and continued under the same name.)
var Overlapping = &fastpath.Pattern{Says: "{name 0} began while an older operation of its owner, {name 1}, was open"}
