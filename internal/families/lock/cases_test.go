package lock

import (
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

func TestLockCases(t *testing.T) {
	const open = models.Open
	mutex := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, models.SemaphoreShape{Permits: 1}, c, want)
	}
	semaphore := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, models.SemaphoreShape{Permits: 2, Counted: true}, c, want)
	}
	ownerMutex := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, models.OwnerLockShape{Holds: 1}, c, want)
	}
	for _, test := range []struct {
		name    string
		decide  func(c *models.Columns, want fastpath.Want) fastpath.Decision
		rows    []testkit.Row
		verdict jepsen.Verdict
		fail    int32
		core    []int32
		why     *fastpath.Finding
	}{
		{"a mutex acquired twice", mutex,
			[]testkit.Row{testkit.At(models.Acquire, 0, 0, 0, 1), testkit.At(models.Acquire, 0, 0, 2, 3)},
			jepsen.Invalid, 3, []int32{0, 1}, HeldAlready.Of(0, 1)},
		{"a mutex acquired twice, while a release crashed", mutex,
			[]testkit.Row{testkit.At(models.Acquire, 0, 0, 0, 1), testkit.At(models.Release, 0, 0, 2, open), testkit.At(models.Acquire, 0, 0, 3, 4)},
			jepsen.Valid, -1, nil, nil},
		{"a mutex released before it was held", mutex,
			[]testkit.Row{testkit.At(models.Release, 0, 0, 0, 1), testkit.At(models.Acquire, 0, 0, 2, 3)},
			jepsen.Invalid, 1, []int32{0}, NotHeld.Of(0, fastpath.Missing)},
		{"a semaphore of 2 acquired three times", semaphore,
			[]testkit.Row{testkit.At(models.Acquire, 0, 1, 0, 1), testkit.At(models.Acquire, 0, 1, 2, 3), testkit.At(models.Acquire, 0, 1, 4, 5)},
			jepsen.Invalid, 5, []int32{0, 1, 2}, heldPermits.Of(0, 1, 2)},
		{"a semaphore whose permits go two at a time", semaphore,
			[]testkit.Row{testkit.At(models.Acquire, 0, 2, 0, 1)}, jepsen.Unknown, -1, nil, nil},
		{"a release by another", ownerMutex,
			[]testkit.Row{testkit.At(models.Acquire, 1, 1, 0, 1), testkit.At(models.Release, 2, 1, 2, 3)},
			jepsen.Invalid, 3, []int32{0, 1}, notTheirs.Of(1, fastpath.Missing)},
		{"an owner that goes on after a crash", ownerMutex,
			[]testkit.Row{testkit.At(models.Acquire, 1, 1, 0, open), testkit.At(models.Release, 1, 1, 2, 3)}, jepsen.Unknown, -1, nil, nil},
		{"an owner that goes on after a crash, once it has failed", ownerMutex,
			[]testkit.Row{testkit.At(models.Release, 1, 1, 0, 1), testkit.At(models.Acquire, 1, 1, 2, open), testkit.At(models.Release, 1, 1, 4, 5)},
			jepsen.Invalid, 1, []int32{0}, notTheirs.Of(0, fastpath.Missing)},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := test.decide(testkit.Columns(test.rows...), fastpath.WantWitness|fastpath.WantFailure)
			testkit.Expect(t, d, test.verdict, test.fail, test.core, test.why)
		})
	}
}

func TestGapsBetweenEventsDoNotMatter(t *testing.T) {
	testkit.GapsDoNotMatter(t, slices.Concat(lockTypes, ownerTypes, fencedTypes)...)
}

func TestLongLocks(t *testing.T) {
	testkit.LongHistories(t, slices.Concat(lockTypes, ownerTypes, fencedTypes)...)
}
