package lock

import (
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/models"
)

// lockType returns a lock without owners; permits is 0 for a mutex.
func lockType(name string, held, permits int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Spec: oracle.Spec{Init: strings.Repeat("x", int(held)), Step: func(dst []string, op models.Op, s string) []string {
			switch {
			case op.Kind == models.Acquire && len(s) < int(max(permits, 1)):
				dst = append(dst, s+"x")
			case op.Kind == models.Release && len(s) > 0:
				dst = append(dst, s[1:])
			}
			return dst
		}},
		Completed: []models.Op{{Kind: models.Acquire, B: min(permits, 1)}, {Kind: models.Release, B: min(permits, 1)}},
	}
	k.Decide = func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		shape := models.SemaphoreShape{Held: held, Permits: permits, Counted: true}
		if permits == 0 {
			shape.Permits, shape.Counted = 1, false
		}
		return testkit.Decide(Path, shape, c, want)
	}
	k.Crashed = k.Completed
	k.Like = func(op models.Op) []models.Op { return k.Completed }
	return k
}

var lockTypes = []*testkit.Type{
	lockType("mutex", 0, 0), lockType("mutex held", 1, 0), lockType("semaphore of 2", 0, 2), lockType("semaphore of 3, 2 held", 2, 3),
}

func TestEverySmallHistoryOfLocks(t *testing.T) {
	testkit.EverySmall(t, 4, 5, (*testkit.Type).Alphabet, lockTypes...)
}

func TestRandomLocks(t *testing.T) { testkit.RandomHistories(t, lockTypes...) }
