package lock

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// # Fenced locks: fenced-mutex, reentrant-fenced-mutex
//
// Decides: a lock with an owner that may hold it several times and whose acquires may
// show a fence. An acquire of the free lock shows a fence greater than all before it,
// or none. An acquire by an owner that already holds the lock shows the fence that
// the lock is held with, or none. If the lock has been held without a fence so far,
// that acquire may bring one, which is greater than all before it. A is the owner. B
// is the number of the fence in the order of fences, or 0 if none is shown.
//
// Precondition: as for locks with an owner (ownerlocks.go), no owner begins an
// operation while an older one of its own is open.
//
// Cost: O(operations + events + owners).
//
// Rests on: the sweep over locks with an owner, which applies acquires in the
// order of their returns. Given the precondition, no other order is possible:
//
// Lemma: in every linearization, acquires that returned stand in the order of their returns. Proof:
// the owner of an acquire that returned at t holds the lock from its place on beyond t, because it
// begins no release before t. So the owner holds the lock at t. The acquires of others stand before
// it, with all their releases, or after t. The owner's own acquires are in their order.
//
// So it is certain which fences came before an acquire. The sweep compares them as it
// proceeds. The first acquire whose fence does not fit fails, whatever else is open.
//
// Crashed operations: a crashed acquire is omitted. Its owner does nothing
// afterwards, so the acquire could only get in the way, and its fence could only rule
// out others. A crashed release happens once an acquire needs it; it shows no fence.

// fencedLock decides a history of Acquire and Release on an initially free fenced lock.
func fencedLock(ctx context.Context, c *models.Columns, lock models.FencedLockShape, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if kind > models.Release || c.B[i] < 0 {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	return decideOwned(ctx, c, ownerSweep{lock: models.OwnerLockShape{Holds: lock.Holds}, fenced: true}, want)
}

// fences holds what acquires have shown so far. Numbers of fences begin at 1.
type fences struct {
	held, greatest     int32 // the fence that the lock is held with; the greatest so far
	heldBy, greatestBy int32 // the acquires that showed them first
	wrong              *fastpath.Finding
}

// show reports whether an acquire can show a fence now, and records the fence if so.
func (f *fences) show(acquire, fence int32) bool {
	switch {
	case fence == 0 || fence == f.held:
	case f.held > 0:
		f.wrong = FenceDiffers.Of(acquire, f.heldBy)
		return false
	case fence <= f.greatest:
		f.wrong = FenceTooLow.Of(acquire, f.greatestBy)
		return false
	default:
		*f = fences{held: fence, greatest: fence, heldBy: acquire, greatestBy: acquire}
	}
	return true
}

// FenceTooLow (acquire, earlier): the fence of acquire is not greater than the fence of
// earlier, which had acquired before it.
var FenceTooLow = &fastpath.Pattern{Name: "fence-too-low", ChooseKind: lowFence, Relate: fastpath.Against(1, 0),
	Says: "the fence of {name 0} is not greater than that of {name 1}, which had acquired the lock before"}

// lowFence is FenceTooLow.ChooseKind.
func lowFence(t models.Teller, v []models.Row) models.Anomaly {
	if t.Op(v[0]).B == t.Op(v[1]).B {
		return models.ReusedID
	}
	return models.NotMonotonic
}

// FenceDiffers (acquire, held): the owner of acquire already held the lock with the fence
// of held, but acquire showed another one.
var FenceDiffers = &fastpath.Pattern{Name: "fence-differs", Says: "{name 0} shows a different fence although the lock was still held with that of {name 1}"}
