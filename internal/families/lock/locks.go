package lock

import (
	"context"

	"clew/fastpath"
	"clew/internal/bitset"
	"clew/models"
)

// # Locks without owners: mutex, semaphore
//
// Decides: histories of one counter, the permits that are held, from 0 to a
// bound. An acquire moves it up by one, and a release by any process moves
// it down by one. A mutex is a semaphore with one permit.
//
// Precondition: none for a mutex. A semaphore whose operations take several
// permits at once is not decided (3-PARTITION reduces to it).
//
// Cost: O(operations * log64(events) + events / 64).
//
// Rests on: the exchange argument of lookupset.go in package set, whose sweep this is,
// for one counter. So the open flips of a kind are stored as the events at which
// they return: the first of these, because only that flip can be linearized next,
// and a bitset of the others. The sweep skips events at which nothing has to happen.
//
// Crashed operations: a flip that never returns is taken only if no other flip is left.

// semaphore decides a history of Acquire and Release on permits without owners.
func semaphore(ctx context.Context, c *models.Columns, lock models.SemaphoreShape, want fastpath.Want) fastpath.Decision {
	if lock.Counted {
		for i, count := range c.B {
			if count != 1 {
				return fastpath.Undecided(Counted.Of(int32(i)))
			}
		}
	}
	for i, kind := range c.Kind {
		if kind > models.Release || c.A[i] != 0 {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	in := fastpath.NewInput(ctx, c, 0)
	s := lockSweep{in: in, witness: want&(fastpath.WantWitness|fastpath.WantFailure) != 0}
	t := s.sweep(lock)
	o := in.OpReturning(t)
	return in.Swept(o, s.order, want, func(d *fastpath.Decision) {
		before := lockSweep{in: in.Cut(t - 1), witness: true} // operations that return later are needed last there
		before.sweep(lock)
		d.Before = before.order
		d.Why = whyLock(in, s.order, o, lock.Counted)
		d.Core = core(in, t, s.order, false, func(i int32) int32 { return 1 - 2*int32(in.Kind[i]) }, d.Why)
	})
}

// openFlips holds the flips of one kind that are open and not linearized.
type openFlips struct {
	first   int32      // the first event at which one returns; Open if none does
	others  bitset.Set // the others
	crashed []int32    // those that never return
	room    int32      // how many more of the kind can happen
}

// add adds a flip that returns at event res.
func (f *openFlips) add(res int32) {
	if f.first == models.Open {
		f.first = res
		return
	}
	f.others.Add(max(f.first, res))
	f.first = min(f.first, res)
}

// lockSweep is a sweep over the events of a history.
type lockSweep struct {
	in      fastpath.Input
	open    [2]openFlips // by kind
	until   int32        // if not 0, it stops just before this event
	witness bool
	ops     []int32 // by event: the operation that returns, for the witness
	order   []int32
}

// Before returns the operations that have been linearized just before an event, at which nothing has failed, and how many
// permits are held then. What comes later depends on nothing else: those that are open and have not been linearized may
// be, and the others have happened, whenever they return. It returns false for operations that the sweep does not decide.
func Before(c *models.Columns, lock models.SemaphoreShape, event int32) (done []bool, held int32, ok bool) {
	for i, kind := range c.Kind {
		if kind > models.Release || c.A[i] != 0 || lock.Counted && c.B[i] != 1 {
			return nil, 0, false
		}
	}
	s := lockSweep{in: fastpath.Input{Columns: c}, witness: true, until: event}
	s.sweep(lock)
	done, held = make([]bool, c.Len()), lock.Held
	for _, i := range s.order {
		if done[i] = true; c.Kind[i] == models.Acquire {
			held++
		} else {
			held--
		}
	}
	return done, held, true
}

// sweep returns the first event at which a return fails, or -1.
func (s *lockSweep) sweep(lock models.SemaphoreShape) int32 {
	in, until := s.in, s.in.Events
	if s.until > 0 {
		until = s.until
	}
	for k := range s.open {
		s.open[k] = openFlips{others: bitset.New(in.Events), first: models.Open}
	}
	acquires, releases := &s.open[models.Acquire], &s.open[models.Release]
	acquires.room, releases.room = lock.Permits-lock.Held, lock.Held
	if s.witness {
		s.ops = make([]int32, in.Events)
		s.order = make([]int32, 0, in.Len())
	}
	for i, inv := range in.Inv {
		if inv >= until {
			break
		}
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
	return s.returnsBefore(until)
}

// returnsBefore linearizes the operations that return before event end and have
// not been linearized yet. It returns the first event at which this fails, or
// -1.
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
		if f.first = f.others.TakeFirst(t); f.first < 0 {
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

// whyLock says which acquires held a lock, or which release had freed it,
// when o failed. order holds the operations that were linearized by then. permits says that it is a semaphore.
func whyLock(in fastpath.Input, order []int32, o int32, permits bool) *fastpath.Finding {
	held, free := HeldAlready, NotHeld
	if permits {
		held, free = heldPermits, noneHeld
	}
	if in.Kind[o] == models.Release {
		last := fastpath.Missing
		for _, i := range order {
			if in.Kind[i] == models.Release {
				last = i
			}
		}
		return free.Of(o, last)
	}
	var holders []int32
	for _, i := range order {
		if in.Kind[i] == models.Acquire {
			holders = append(holders, i)
		} else if len(holders) > 0 {
			holders = holders[:len(holders)-1]
		}
	}
	return held.Of(append(holders[max(0, len(holders)-fastpath.MaxNamed):], o)...)
}

// HeldAlready (holders, acquire): acquire acquired when nothing was free. The holders are
// the acquires that held the lock or its permits, the latest last, at most fastpath.MaxNamed
// of them. None of their releases had begun, or these releases were needed elsewhere.
// For locks with an owner, the owners of the holders had not begun to release.
var HeldAlready = &fastpath.Pattern{Name: "held-already", Choose: heldAlready, ChooseKind: func(t models.Teller, v []models.Row) models.Anomaly {
	switch {
	case len(v) == 1:
		return ""
	case len(v) > 2:
		return models.Oversold
	case t.OneProcess(v[0], v[1]):
		return models.DoubleAcquire
	}
	return models.SplitBrain // it was the only permit, as that of a mutex
}}

// heldByOwner is HeldAlready for a mutex with owners.
var heldByOwner = &fastpath.Pattern{Choose: heldAlready, Name: HeldAlready.Name, ChooseKind: func(t models.Teller, v []models.Row) models.Anomaly {
	switch n := len(v) - 1; {
	case n > 0 && t.Op(v[0]).A != t.Op(v[n]).A:
		return models.SplitBrain
	case n == 1:
		return models.DoubleAcquire
	}
	return "" // more often than its owner may
}}

// heldByOwners is HeldAlready for permits with owners.
var heldByOwners = &fastpath.Pattern{Choose: noneFree, Name: HeldAlready.Name, Kind: models.Oversold}

// heldPermits is HeldAlready for permits without owners.
var heldPermits = &fastpath.Pattern{Choose: noneFree, Name: HeldAlready.Name, ChooseKind: HeldAlready.ChooseKind}

func heldAlready(t models.Teller, v []models.Row) string {
	switch n := len(v) - 1; {
	case n == 0:
		return "{who 0} acquired the lock, which was not free"
	case n > 1 && t.Op(v[0]).A == t.Op(v[n]).A:
		return "{who -1} acquired the lock once more than its owner may: " + fastpath.ListProcesses(n) + " still held it"
	default:
		return "{who -1} acquired the lock while " + fastpath.ListProcesses(n) + " still held it"
	}
}

func noneFree(_ models.Teller, v []models.Row) string {
	switch n := len(v) - 1; n {
	case 0:
		return "{who 0} acquired a permit, but none was free"
	case 1:
		return "{who 1} acquired a permit while {who 0} still held the only one"
	default:
		return "{who -1} acquired a permit while " + fastpath.ListProcesses(n) + " still held them all"
	}
}

// NotHeld (release, last): release released what was not held. The last release before it may be Missing.
var NotHeld = &fastpath.Pattern{Name: "not-held", Kind: models.DoubleRelease, Choose: released("the lock, which was free", "the previous release")}

// noneHeld is NotHeld for permits without owners.
var noneHeld = &fastpath.Pattern{Choose: released("a permit, but none was held", "the previous release"), Name: NotHeld.Name, Kind: models.DoubleRelease}

// notTheirs is NotHeld for a mutex with owners.
var notTheirs = &fastpath.Pattern{Choose: released("the lock without holding it", "its owner's previous release"), Name: NotHeld.Name, Kind: models.ForeignRelease}

// notTheirPermits is NotHeld for permits with owners.
var notTheirPermits = &fastpath.Pattern{Choose: released("more permits than it held", "its owner's previous release"), Name: NotHeld.Name, Kind: models.ForeignRelease}

func released(what, previous string) func(models.Teller, []models.Row) string {
	return func(_ models.Teller, v []models.Row) string {
		s := "{who 0} released " + what
		if v[1] == fastpath.Missing {
			return s
		}
		return s + "; " + previous + " was by {who 1}"
	}
}

// Counted: the operation acquires or releases several permits without owners, which is
// too hard to decide fast.
var Counted = &fastpath.Pattern{Says: "{name 0} takes or returns several permits, and permits have no owners"}
