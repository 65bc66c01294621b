package sequence

import (
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/models"
)

// counterRun returns a run of a counter from 0 with Totals numbered in order of appearance.
func counterRun(rng *rand.Rand, ops, processes int, begin func() models.Op) (*models.Columns, models.CounterShape) {
	shape := models.CounterShape{}
	numbers := map[int64]int32{}
	now := int64(0)
	c := testkit.SweepRun{Ops: ops, Processes: processes, Begin: func(int32) models.Op { return begin() }, Happen: func(op models.Op) (models.Op, bool) {
		if op.Kind != models.Total {
			now += int64(op.A)
		}
		if op.Kind != models.Plus {
			n, ok := numbers[now]
			if !ok {
				n = int32(len(shape.Totals))
				numbers[now] = n
				shape.Totals = append(shape.Totals, now)
			}
			op.B = n
		}
		return op, true
	}}.Run(rng)
	return c, shape
}

func BenchmarkCounter(b *testing.B) {
	for _, test := range []struct {
		name           string
		ops, processes int
		kinds          []models.Kind
		most           int32
	}{
		{"adds and reads", testkit.BenchOps, 40, []models.Kind{models.Plus, models.Total}, 1},
		{"adds and reads, a tenth", testkit.BenchOps / 10, 40, []models.Kind{models.Plus, models.Total}, 1},
		{"adds and reads, 5000 processes", testkit.BenchOps, 5000, []models.Kind{models.Plus, models.Total}, 1},
		{"increments that tell", testkit.BenchOps, 40, []models.Kind{models.PlusTotal}, 1},
		{"adds that tell, and reads", testkit.BenchOps, 40, []models.Kind{models.PlusTotal, models.Total}, 1000},
	} {
		b.Run(test.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			c, shape := counterRun(rng, test.ops, test.processes, func() models.Op {
				return models.Op{Kind: test.kinds[rng.IntN(len(test.kinds))], A: 1 + rng.Int32N(test.most)}
			})
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, shape, c, want)
			})
		})
	}
}

func BenchmarkIDs(b *testing.B) {
	for _, grow := range []bool{false, true} {
		b.Run(map[bool]string{false: "distinct", true: "growing"}[grow], func(b *testing.B) {
			shape := models.IDsShape{Growing: grow}
			c := testkit.SweepRun{Ops: testkit.BenchOps, Processes: 40, Begin: func(int32) models.Op { return models.Op{} }, Happen: func(op models.Op) (models.Op, bool) {
				op.A, op.B = int32(len(shape.Numbers)), int32(len(shape.Numbers))
				shape.Numbers = append(shape.Numbers, 3*int64(len(shape.Numbers)))
				return op, true
			}}.Run(rand.New(rand.NewPCG(1, 2)))
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, shape, c, want)
			})
		})
	}
}

func BenchmarkLog(b *testing.B) {
	for _, test := range []struct {
		name  string
		ops   int
		tells bool
		kinds []models.Kind
	}{
		{"appends that tell, and reads", testkit.BenchOps, true, []models.Kind{models.AppendTo, models.ReadAt, models.Tail}},
		{"appends that tell, and reads, a tenth", testkit.BenchOps / 10, true, []models.Kind{models.AppendTo, models.ReadAt, models.Tail}},
		{"appends and reads", testkit.BenchOps, false, []models.Kind{models.AppendTo, models.ReadAt, models.Tail}},
	} {
		b.Run(test.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			values, list := int32(0), []int32(nil)
			c := testkit.SweepRun{Ops: test.ops, Processes: 40, Begin: func(int32) models.Op {
				op := models.Op{Kind: test.kinds[rng.IntN(len(test.kinds))]}
				if op.Kind == models.AppendTo {
					values++
					op.A = values
				}
				return op
			}, Happen: func(op models.Op) (models.Op, bool) {
				switch {
				case op.Kind == models.AppendTo:
					list = append(list, op.A)
					if test.tells {
						op.B = int32(len(list))
					}
				case op.Kind == models.Tail:
					op.B = int32(len(list))
				case len(list) == 0:
					op.Kind = models.ReadNothing
				default:
					op.B = rng.Int32N(int32(len(list)))
					op.A = list[op.B]
				}
				return op, true
			}}.Run(rng)
			testkit.BenchSweep(b, c, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return testkit.Decide(Path, models.LogShape{}, c, want)
			})
		})
	}
}
