package container

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/models"
)

// bagRun enqueues and dequeues, with empty answers from a bag that is kept nearly empty.
func bagRun(rng *rand.Rand, ops, processes int, empties bool) *models.Columns {
	var in []int32
	fresh, wanted := int32(0), int32(0)
	return testkit.SweepRun{Ops: ops, Processes: processes, Begin: func(int32) models.Op {
		if rng.IntN(2) == 0 || wanted >= fresh && !empties { // else all might wait
			fresh++
			return models.Op{Kind: models.Enqueue, A: fresh}
		}
		wanted++
		return models.Op{Kind: models.Dequeue}
	}, Happen: func(op models.Op) (models.Op, bool) {
		switch {
		case op.Kind == models.Enqueue:
			in = append(in, op.A)
			return op, true
		case len(in) > 0:
			k := rng.IntN(len(in))
			op.A = in[k]
			in[k] = in[len(in)-1]
			in = in[:len(in)-1]
			return op, true
		}
		if empties {
			op.Kind = models.DequeueEmpty
		}
		return op, empties
	}}.Run(rng)
}

func BenchmarkUnorderedQueue(b *testing.B) {
	for _, test := range []struct {
		ops, processes int
		empties        bool
	}{
		{testkit.BenchOps, 40, false}, {testkit.BenchOps, 40, true},
		{testkit.BenchOps, 1, true}, {testkit.BenchOps, 5000, true}, {testkit.BenchOps, testkit.BenchOps, true},
		{10_000, 40, true}, {4_000_000, 40, true},
	} {
		b.Run(fmt.Sprintf("%d processes, %d operations, empties=%v", test.processes, test.ops, test.empties), func(b *testing.B) {
			c := bagRun(rand.New(rand.NewPCG(1, 2)), test.ops, test.processes, test.empties)
			for i := range c.Kind { // dequeues that still wait at the end
				if c.Res[i] == models.Open && c.Kind[i] == models.Dequeue {
					c.Kind[i] = models.DequeueAny
				}
			}
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, models.BagShape{}, c, want)
			})
		})
	}
}
