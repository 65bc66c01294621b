package lock

import (
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

// ownerType returns a lock with owners; counts are the numbers of permits that operations take.
func ownerType(name string, lock models.OwnerLockShape, counts ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, lock, c, want)
		},
		Owned: true,
	}
	for _, n := range counts {
		k.Completed = append(k.Completed, models.Op{Kind: models.Acquire, B: n}, models.Op{Kind: models.Release, B: n})
	}
	k.Crashed = k.Completed
	k.Step = func(dst []string, op models.Op, s string) []string {
		held := map[rune]int32{} // by owner; a state names the owner of each permit held
		permits := int32(0)
		for _, o := range s {
			held[o]++
			permits++
		}
		owner := op.A
		if op.Kind == models.Acquire {
			if lock.Permits == 0 && (len(held) > 1 || len(held) == 1 && held[owner] == 0) ||
				lock.Permits > 0 && permits+op.B > lock.Permits || lock.Holds > 0 && held[owner]+op.B > lock.Holds {
				return dst
			}
			held[owner] += op.B
		} else {
			if held[owner] < op.B {
				return dst
			}
			held[owner] -= op.B
		}
		var after []rune
		for o, n := range held {
			for range n {
				after = append(after, o)
			}
		}
		slices.Sort(after)
		return append(dst, string(after))
	}
	return k
}

var ownerTypes = []*testkit.Type{
	ownerType("owner-mutex", models.OwnerLockShape{Holds: 1}, 1),
	ownerType("reentrant mutex", models.OwnerLockShape{Holds: 2}, 1),
	ownerType("mutex held any number of times", models.OwnerLockShape{}, 1),
	ownerType("semaphore of 2 with owners", models.OwnerLockShape{Permits: 2}, 1),
	ownerType("semaphore of 3 with owners, 1 or 2 at a time", models.OwnerLockShape{Permits: 3}, 1, 2),
}

func TestEverySmallHistoryOfOwnerLocks(t *testing.T) {
	for _, k := range ownerTypes {
		usual, long := 4, 5
		if len(k.Completed) > 2 {
			usual, long = 3, 4
		}
		testkit.EverySmall(t, usual, long, byTwo, k)
	}
}

func TestRandomOwnerLocks(t *testing.T) { testkit.RandomHistories(t, ownerTypes...) }

func TestCountsAreNoIDs(t *testing.T) {
	const many = 1 << 29
	c := &models.Columns{Events: 6}
	c.Append(0, 1, models.Op{Kind: models.Acquire, A: 7, B: many})
	c.Append(2, 3, models.Op{Kind: models.Acquire, A: 1 << 28, B: many})
	c.Append(4, 5, models.Op{Kind: models.Acquire, A: 7, B: 1})
	if d := testkit.Decide(Path, models.OwnerLockShape{Permits: 2 * many}, c, fastpath.WantFailure); d.Verdict != jepsen.Invalid || d.FailEvent != 5 {
		t.Errorf("%+v", d)
	}
	if d := testkit.Decide(Path, models.OwnerLockShape{Permits: 2*many + 1}, c, fastpath.WantFailure); d.Verdict != jepsen.Valid {
		t.Errorf("%+v", d)
	}
}
