package set

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/models"
)

func lookupSetRun(rng *rand.Rand, ops, processes int, values int32) *models.Columns {
	in := make([]bool, values)
	return testkit.SweepRun{Ops: ops, Processes: processes, Begin: func(int32) models.Op { return models.Op{Kind: models.Kind(rng.IntN(3)), A: rng.Int32N(values)} }, Happen: func(op models.Op) (models.Op, bool) {
		was := in[op.A]
		kinds := [3][2]models.Kind{{models.Insert, models.InsertPresent}, {models.RemoveAbsent, models.Remove}, {models.HasNot, models.Has}}[op.Kind]
		if op.Kind < 2 {
			in[op.A] = op.Kind == 0
		}
		op.Kind = kinds[0]
		if was {
			op.Kind = kinds[1]
		}
		return op, true
	}}.Run(rng)
}

func BenchmarkLookupSet(b *testing.B) {
	for _, test := range []struct {
		name           string
		ops, processes int
		values         int32
	}{
		{"1000 values", testkit.BenchOps, 40, 1000},
		{"100000 values", testkit.BenchOps, 40, 100_000},
		{"one value", testkit.BenchOps, 40, 1},
		{"5000 processes on one value", testkit.BenchOps, 5000, 1},
		{"24 values, 4 processes, 280000 operations", 280_000, 4, 24},
	} {
		b.Run(test.name, func(b *testing.B) {
			c := lookupSetRun(rand.New(rand.NewPCG(1, 2)), test.ops, test.processes, test.values)
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, models.LookupSetShape{}, c, want)
			})
		})
	}
}

func BenchmarkGrowSet(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sets [][]int32
	var now []int32
	fresh := int32(0)
	c := testkit.SweepRun{Ops: testkit.BenchOps, Processes: 40, Begin: func(int32) models.Op {
		if rng.IntN(100_000) == 0 {
			return models.Op{Kind: models.ReadSet}
		}
		fresh++
		return models.Op{Kind: models.Add, A: rng.Int32N(fresh)}
	}, Happen: func(op models.Op) (models.Op, bool) {
		if op.Kind == models.ReadSet {
			op.A = int32(len(sets))
			set := append([]int32{}, now...)
			sets = append(sets, sorted(set))
		} else {
			now = append(now, op.A)
		}
		return op, true
	}}.Run(rng)
	elements := 0
	for _, s := range sets {
		elements += len(s)
	}
	b.Run(fmt.Sprintf("%d reads of %d values", len(sets), elements), func(b *testing.B) {
		testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.GrowSetShape{Sets: sets}, c, want)
		})
	})
}
