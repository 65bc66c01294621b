package lock

import (
	"math/rand/v2"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/models"
)

// lockRun makes each process acquire and release in turn.
func lockRun(rng *rand.Rand, ops, processes, permits int, owned bool) *models.Columns {
	holds := make([]bool, processes)
	free := permits
	return testkit.SweepRun{Ops: ops, Processes: processes, Begin: func(p int32) models.Op {
		op := models.Op{Kind: models.Acquire, B: 1}
		if holds[p] {
			op.Kind = models.Release
		}
		holds[p] = !holds[p]
		if owned {
			op.A = p
		}
		return op
	}, Happen: func(op models.Op) (models.Op, bool) {
		if op.Kind == models.Release {
			free++
			return op, true
		}
		if free == 0 {
			return op, false
		}
		free--
		return op, true
	}}.Run(rng)
}

func BenchmarkLocks(b *testing.B) {
	for _, test := range []struct {
		name    string
		permits int
		owned   bool
		decide  func(c *models.Columns, want fastpath.Want) fastpath.Decision
	}{
		{"mutex", 1, false, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.SemaphoreShape{Permits: 1}, c, want)
		}},
		{"semaphore of 10", 10, false, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.SemaphoreShape{Permits: 10, Counted: true}, c, want)
		}},
		{"owner-mutex", 1, true, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.OwnerLockShape{Holds: 1}, c, want)
		}},
		{"reentrant-fenced-mutex", 1, true, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.FencedLockShape{Holds: 2}, c, want)
		}},
		{"semaphore of 10 with owners", 10, true, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.OwnerLockShape{Permits: 10}, c, want)
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			c := lockRun(rand.New(rand.NewPCG(1, 2)), testkit.BenchOps, 40, test.permits, test.owned)
			if strings.Contains(test.name, "fenced") {
				showFences(c)
			}
			testkit.BenchSweep(b, c, test.decide)
		})
	}
}

// BenchmarkLockShapes measures mutex histories that are harder, easier or
// longer than what processes produce.
func BenchmarkLockShapes(b *testing.B) {
	at := func(n int, op func(i int) (kind int, inv, res int32)) *models.Columns {
		c := &models.Columns{Events: 2 * int32(n)}
		for i := range n {
			kind, inv, res := op(i)
			c.Append(inv, res, models.Op{Kind: models.Kind(kind), B: 1})
		}
		return c
	}
	late := rand.New(rand.NewPCG(1, 2)).Perm(testkit.BenchOps)
	const half = testkit.BenchOps / 2
	for _, test := range []struct {
		name string
		make func() *models.Columns
	}{
		{"one process", func() *models.Columns {
			return at(testkit.BenchOps, func(i int) (int, int32, int32) { return i % 2, 2 * int32(i), 2*int32(i) + 1 })
		}},
		{"everything concurrent", func() *models.Columns {
			return at(testkit.BenchOps, func(i int) (int, int32, int32) { return i % 2, int32(i), testkit.BenchOps + int32(late[i]) })
		}},
		// The releases are open for most of the time, and each is needed early.
		{"releases return much later", func() *models.Columns {
			return at(testkit.BenchOps, func(i int) (int, int32, int32) {
				if i < half {
					return 1, int32(i), 2*testkit.BenchOps - 1 - int32(i)
				}
				inv := half + 2*int32(i-half)
				return 0, inv, inv + 1
			})
		}},
		{"5000 processes", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), testkit.BenchOps, 5000, 1, false)
		}},
		{"10000 operations", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), 10_000, 40, 1, false)
		}},
		{"4000000 operations", func() *models.Columns {
			return lockRun(rand.New(rand.NewPCG(1, 2)), 4_000_000, 40, 1, false)
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			testkit.BenchSweep(b, test.make(), func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, models.SemaphoreShape{Permits: 1}, c, want)
			})
		})
	}
}

// showFences gives acquires fences, in the order of their returns.
func showFences(c *models.Columns) {
	returns := make([]int32, c.Events)
	for i, res := range c.Res {
		c.B[i] = 0
		if c.Kind[i] == models.Acquire && res != models.Open {
			returns[res] = int32(i) + 1
		}
	}
	fence := int32(0)
	for _, i := range returns {
		if i > 0 {
			fence++
			c.B[i-1] = fence
		}
	}
}
