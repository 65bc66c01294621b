package lock

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/models"
)

// coreAt returns what core does if the operation that returns at t fails, and names some operations. It returns nil if that
// operation has been linearized already, or if the sweep does not decide what comes before.
func coreAt(c *models.Columns, shape models.Shape, t int32, named []models.Row) []models.Row {
	why := &fastpath.Finding{Rows: named}
	if lock, is := shape.(models.SemaphoreShape); is {
		in := fastpath.NewInput(context.Background(), c, 0)
		s := lockSweep{in: in, witness: true, until: t}
		s.sweep(lock)
		if slices.Contains(s.order, in.OpReturning(t)) {
			return nil
		}
		return core(in, t, s.order, false, func(i int32) int32 { return 1 - 2*int32(in.Kind[i]) }, why)
	}
	s := ownerSweep{}
	switch lock := shape.(type) {
	case models.OwnerLockShape:
		s.lock = lock
	case models.FencedLockShape:
		s.lock.Holds, s.fenced = lock.Holds, true
	}
	owners := *c
	owners.B = c.A
	in := fastpath.NewInput(context.Background(), &owners, 0)
	in.B = c.B
	s.prepare(in)
	if s.end < t {
		return nil
	}
	s.end = t
	s.sweep()
	if slices.Contains(s.order, in.OpReturning(t)) {
		return nil
	}
	return core(in, t, s.order, true, func(i int32) int32 { return (1 - 2*int32(in.Kind[i])) * s.permits(i) }, why)
}

// What a core leaves out does not matter: where the whole is linearizable, the rest is, too.
func TestWhatIsLeftOutOfACoreDoesNotMatter(t *testing.T) {
	shapes := map[*testkit.Type]models.Shape{
		lockTypes[0]: models.SemaphoreShape{Permits: 1}, lockTypes[1]: models.SemaphoreShape{Permits: 1, Held: 1},
		lockTypes[2]: models.SemaphoreShape{Permits: 2, Counted: true}, lockTypes[3]: models.SemaphoreShape{Permits: 3, Held: 2, Counted: true},
		ownerTypes[0]: models.OwnerLockShape{Holds: 1}, ownerTypes[1]: models.OwnerLockShape{Holds: 2}, ownerTypes[2]: models.OwnerLockShape{},
		ownerTypes[3]: models.OwnerLockShape{Permits: 2}, ownerTypes[4]: models.OwnerLockShape{Permits: 3},
		fencedType("fenced mutex", 1, 3): models.FencedLockShape{Holds: 1}, fencedType("reentrant fenced mutex", 2, 3): models.FencedLockShape{Holds: 2},
	}
	for k, shape := range shapes {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			rng, rests, left := rand.New(rand.NewPCG(1, 2)), 0, 0
			for range effort.Histories(20_000, 1_000_000) {
				c := k.Small(rng)
				h := k.History(c)
				for _, res := range c.Res {
					if res == models.Open || !k.Linearizable(cutAt(k, c, res)) {
						continue
					}
					var named []models.Row
					if rng.IntN(2) == 0 {
						named = []models.Row{models.Row(rng.IntN(c.Len()))}
					}
					rows := coreAt(c, shape, res, named)
					if rows == nil {
						continue
					}
					rests++
					left += h.Len() - len(rows)
					if !h.Linearizable(res+1, oracle.SetOf(rows)) {
						t.Fatalf("without what is not in %v, which names %v, the history fails by %d:\n%s", rows, named, res, k.Show(c))
					}
				}
			}
			if rests == 0 || left == 0 {
				t.Errorf("%d cores leave %d operations out", rests, left)
			}
		})
	}
}

// cutAt returns a history up to and including an event.
func cutAt(k *testkit.Type, c *models.Columns, event int32) *models.Columns {
	cut, _ := k.Cut(c, event)
	return cut
}

// Where an acquire fails, a core has what still holds the lock, which its sentence names, and nothing else that had returned. If
// an owner holds several permits, the sentence may name a later acquire, and the core then has an earlier one, too.
func TestACoreHasWhatIsStillHeld(t *testing.T) {
	for _, k := range []*testkit.Type{lockTypes[0], lockTypes[2], ownerTypes[0]} {
		rng, cores := rand.New(rand.NewPCG(3, 4)), 0
		for range effort.Histories(20_000, 1_000_000) {
			c := k.Small(rng)
			d := k.Decide(c, fastpath.WantFailure)
			if d.Why == nil || d.Why.Name != HeldAlready.Name {
				continue
			}
			cores++
			for _, row := range d.Core {
				if c.Res[row] <= d.FailEvent && !slices.Contains(d.Why.Rows, row) {
					t.Fatalf("%s: row %d is in the core %v, and not among %v:\n%s", k.Name, row, d.Core, d.Why.Rows, k.Show(c))
				}
			}
		}
		if cores < 100 {
			t.Errorf("%s: only %d cores", k.Name, cores)
		}
	}
}
