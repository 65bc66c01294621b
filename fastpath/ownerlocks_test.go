package fastpath

import (
	"slices"
	"testing"

	"clew/models"
)

// ownerType is a lock with owners; counts are the numbers of permits that
// operations are about.
func ownerType(name string, lock Owned, counts ...int32) *sweepType {
	k := &sweepType{
		name:   name,
		decide: func(c *models.Columns, want Want) Decision { return OwnerLock(c, lock, want) },
		says:   func(models.Op) bool { return true },
		owned:  true,
		core:   wholeHistory,
	}
	for _, n := range counts {
		k.completed = append(k.completed, models.Op{Kind: models.Acquire, B: n}, models.Op{Kind: models.Release, B: n})
	}
	k.crashed = k.completed
	k.next = func(dst []string, op models.Op, s string) []string {
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

var ownerTypes = []*sweepType{
	ownerType("owner-mutex", Owned{Holds: 1}, 1),
	ownerType("reentrant mutex", Owned{Holds: 2}, 1),
	ownerType("mutex held any number of times", Owned{}, 1),
	ownerType("semaphore of 2 with owners", Owned{Permits: 2}, 1),
	ownerType("semaphore of 3 with owners, 1 or 2 at a time", Owned{Permits: 3}, 1, 2),
}

func TestEverySmallHistoryOfOwnerLocks(t *testing.T) {
	size := 4
	if long {
		size = 5
	}
	for _, k := range ownerTypes {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			owners := []models.Op{}
			for a := range int32(2) {
				for _, op := range k.completed {
					op.A = a
					owners = append(owners, op)
				}
			}
			n := size
			if len(owners) > 4 {
				n--
			}
			for n := range n + 1 {
				everySweep(t, k, n, func(bool) []models.Op { return owners })
			}
		})
	}
}

func TestRandomOwnerLocks(t *testing.T) { randomSweep(t, ownerTypes...) }

func TestCountsAreNoIDs(t *testing.T) {
	const many = 1 << 29
	c := &models.Columns{Events: 6}
	c.Append(0, 1, models.Op{Kind: models.Acquire, A: 7, B: many})
	c.Append(2, 3, models.Op{Kind: models.Acquire, A: 1 << 28, B: many})
	c.Append(4, 5, models.Op{Kind: models.Acquire, A: 7, B: 1})
	if d := OwnerLock(c, Owned{Permits: 2 * many}, WantFailure); d.Verdict != Invalid || d.Fail != 5 {
		t.Errorf("%+v", d)
	}
	if d := OwnerLock(c, Owned{Permits: 2*many + 1}, WantFailure); d.Verdict != Valid {
		t.Errorf("%+v", d)
	}
}
