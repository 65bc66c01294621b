package lock

import (
	"context"

	"clew/fastpath"
	"clew/models"
)

// # Fenced locks: fenced-mutex, reentrant-fenced-mutex
//
// Decides: a lock with an owner, who may hold it several times, whose acquires
// may show a fence. An acquire of the free lock shows a fence greater than all
// before it, or none. An acquire by the owner who holds it already shows the
// fence that the lock is held with, or none. If the lock is held without a
// fence so far, that acquire may bring one, which is greater than all before
// it. A is the owner, and B is the number of the fence in the order of fences,
// 0 if none is shown.
//
// Precondition: as for locks with an owner (ownerlocks.go), no owner begins an
// operation while an older one of its own is open.
//
// Cost: O(operations + events + owners).
//
// Rests on: the sweep over locks with an owner, which applies acquires in the
// order of their returns. Given the precondition no other order is possible:
//
// Lemma: in every linearization acquires that returned stand in the order of
// their returns. Proof: an acquire that returned at t has its owner hold the
// lock from its place on, beyond t, since the owner begins no release before t.
// So the owner holds the lock at t, and the acquires of others stand before it,
// with all releases of theirs, or after t. Those of its own are in their order.
//
// So it is certain which fences came before an acquire. The sweep compares as
// it goes, and the first acquire whose fence does not fit fails, whatever else
// is open.
//
// Crashed operations: a crashed acquire is left out. Its owner does nothing
// afterwards, so it could only be in the way, and its fence could only rule out
// others. A crashed release happens once an acquire needs it; it shows no
// fence.
//
// # Core
//
// Locks are not closed under dropping operations. Their core is the history up
// to the failure.

// fencedLock decides a history of Acquire and Release on a fenced lock that is
// free at first.
func fencedLock(ctx context.Context, c *models.Columns, lock models.FencedLockShape, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if kind > models.Release || c.B[i] < 0 {
			return fastpath.Undecided(&fastpath.Unsupported{Op: int32(i)})
		}
	}
	return decideOwned(ctx, c, ownerSweep{lock: models.OwnerLockShape{Holds: lock.Holds}, fenced: true}, want)
}

// fences is what acquires have shown so far. Numbers of fences begin at 1.
type fences struct {
	held, greatest     int32 // the fence that the lock is held with; the greatest
	heldBy, greatestBy int32 // who showed it first
	wrong              fastpath.Violation
}

// show reports whether an acquire can show a fence now, and if so notes the
// fence.
func (f *fences) show(acquire, fence int32) bool {
	switch {
	case fence == 0 || fence == f.held:
	case f.held > 0:
		f.wrong = &FenceDiffers{acquire, f.heldBy}
		return false
	case fence <= f.greatest:
		f.wrong = &FenceTooLow{acquire, f.greatestBy}
		return false
	default:
		*f = fences{held: fence, greatest: fence, heldBy: acquire, greatestBy: acquire}
	}
	return true
}

// FenceTooLow: Acquire acquired with a fence that is not greater than the fence
// of Earlier, which had acquired before it.
type FenceTooLow struct{ Acquire, Earlier models.Row }

// Rows are the operations.
func (v *FenceTooLow) Rows() []*models.Row { return []*models.Row{&v.Acquire, &v.Earlier} }

// Relations are the steps of the sentence.
func (v *FenceTooLow) Relations() []models.Relation {
	return fastpath.Against(v.Earlier, v.Acquire)
}

// Tell is the sentence.
func (v *FenceTooLow) Tell(t models.Teller) string {
	return "the fence of " + t.Name(v.Acquire) + " is not greater than that of " + t.Name(v.Earlier) + ", which had acquired before"
}

// FenceDiffers: Acquire acquired what its owner held already with the fence of
// Held, but showed another.
type FenceDiffers struct{ Acquire, Held models.Row }

// Rows are the operations.
func (v *FenceDiffers) Rows() []*models.Row { return []*models.Row{&v.Acquire, &v.Held} }

// Tell is the sentence.
func (v *FenceDiffers) Tell(t models.Teller) string {
	return t.Name(v.Acquire) + " shows another fence than " + t.Name(v.Held) + ", with which it was still held"
}
