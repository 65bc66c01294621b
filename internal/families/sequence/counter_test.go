package sequence

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// someTotals holds the totals of small counters.
var someTotals = []int64{-3, -2, -1, 0, 1, 2, 3, 4, 5, 6}

// counterType returns a counter with these amounts. Operations of some kinds tell totals.
func counterType(name string, init int64, kinds []models.Kind, crashed []int32, amounts ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.CounterShape{Init: init, Totals: someTotals}, c, want)
		},
		Spec: oracle.Spec{Init: strconv.FormatInt(init, 10), Step: func(dst []string, op models.Op, s string) []string {
			now, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				panic(err)
			}
			if op.Kind != models.Total {
				now += int64(op.A)
			}
			if op.Kind != models.Plus && now != someTotals[op.B] {
				return dst
			}
			return append(dst, strconv.FormatInt(now, 10))
		}},
		Says:  func(op models.Op) bool { return op.Kind != models.Total },
		Kinds: []string{"plus", "total", "plus-total"},
		Closed: func(c *models.Columns, d fastpath.Decision) func(oracle.Set) bool {
			var adds []models.Row
			var totals []oracle.Set
			for i, kind := range c.Kind {
				switch row := models.Row(i); {
				case kind == models.Total:
					totals = append(totals, oracle.SetOf([]models.Row{row}))
				case c.Inv[i] < d.FailEvent:
					adds = append(adds, row)
				}
			}
			return oracle.Unions(oracle.SetOf(adds), totals)
		},
	}
	for _, n := range crashed {
		k.Crashed = append(k.Crashed, models.Op{Kind: models.Plus, A: n})
	}
	for _, kind := range kinds {
		for at := range int32(len(someTotals)) {
			switch kind {
			case models.Total:
				k.Completed = append(k.Completed, models.Op{Kind: kind, B: at})
			default:
				for _, n := range amounts {
					op := models.Op{Kind: kind, A: n, B: at}
					if kind == models.Plus {
						op.B = 0
					}
					k.Completed = append(k.Completed, op)
				}
			}
		}
	}
	k.Like = func(op models.Op) []models.Op {
		if op.Kind == models.Plus {
			return nil
		}
		var list []models.Op
		for _, o := range k.Completed {
			if o.Kind == op.Kind && o.A == op.A {
				list = append(list, o)
			}
		}
		return list
	}
	return k
}

var counterTypes = []*testkit.Type{
	counterType("adds of 1", 0, []models.Kind{models.Plus, models.Total}, []int32{1}, 1),
	counterType("adds of -2", 3, []models.Kind{models.Plus, models.Total}, []int32{-2}, -2),
	counterType("increments that tell", -1, []models.Kind{models.PlusTotal, models.Total}, []int32{1}, 1),
	counterType("decrements that tell", 4, []models.Kind{models.PlusTotal, models.Total}, []int32{-1}, -1),
	counterType("adds that tell", 0, []models.Kind{models.PlusTotal, models.Total}, []int32{1, 2}, 1, 2, 3),
	counterType("adds of all kinds", 0, []models.Kind{models.Plus, models.PlusTotal, models.Total}, []int32{1, 2, -1}, 1, 2, -1),
}

func TestEverySmallCounter(t *testing.T) {
	ops := func(k *testkit.Type, c *models.Columns, open bool) []models.Op {
		return slices.CompactFunc(slices.DeleteFunc(slices.Clone(k.Alphabet(c, open)), func(op models.Op) bool { // fewer totals
			return op.Kind != models.Plus && (someTotals[op.B] < -1 || someTotals[op.B] > 3)
		}), func(a, b models.Op) bool { return a == b })
	}
	testkit.EverySmall(t, 3, 4, ops, counterTypes[:5]...)
}

func TestRandomCounters(t *testing.T) { testkit.RandomHistories(t, counterTypes...) }

func TestGapsInCountersDoNotMatter(t *testing.T) { testkit.GapsDoNotMatter(t, counterTypes...) }

func TestATotalFarAwayIsOutOfReach(t *testing.T) {
	for _, add := range []int32{1, -1} {
		shape := models.CounterShape{Init: int64(-add) << 61, Totals: []int64{math.MaxInt64, math.MinInt64}}
		for total := range int32(2) {
			d := testkit.Decide(Path, shape, testkit.Columns(
				testkit.At(models.Plus, add, 0, 0, models.Open),
				testkit.At(models.Total, 0, total, 1, 2)), fastpath.WantFailure)
			if d.Verdict != jepsen.Invalid || d.FailEvent != 2 {
				t.Errorf("%d from %d by %d: %+v", shape.Totals[total], shape.Init, add, d)
			}
		}
	}
}

// Here more adds wait for the sum that they tell than in any small history.
func TestManyAddsThatWait(t *testing.T) {
	for n := int32(1); n < 3000; n += 1 + n/3 {
		for _, wrong := range []bool{false, true} {
			shape, c := models.CounterShape{}, &models.Columns{Events: 2 * n}
			for row := range n {
				shape.Totals = append(shape.Totals, int64(n-row)) // the last must be first
				c.Append(row, n+row, models.Op{Kind: models.PlusTotal, A: 1, B: row})
			}
			if wrong {
				shape.Totals[0]++ // nothing leads there
			}
			d := testkit.Decide(Path, shape, c, fastpath.WantWitness|fastpath.WantFailure)
			if want := map[bool]jepsen.Verdict{false: jepsen.Valid, true: jepsen.Invalid}[wrong]; d.Verdict != want || wrong && d.FailEvent != n {
				t.Errorf("%d adds, the last wrong %t: %v at %d", n, wrong, d.Verdict, d.FailEvent)
			}
		}
	}
}

// Two reads force the counter to 1 and 2 before the adds that tell these totals
// begin. So both crashed adds are used by then, and none is left to reach 3.
// Without either read, an add that tells its total may take that step.
func TestACoreOfACounterMayNeedSeveralReads(t *testing.T) {
	const open = models.Open
	shape := models.CounterShape{Totals: []int64{1, 2, 3}}
	d := testkit.Decide(Path, shape, testkit.Columns(
		testkit.At(models.Plus, 1, 0, 0, open),
		testkit.At(models.Plus, 1, 0, 1, open),
		testkit.At(models.Total, 0, 0, 2, 3),
		testkit.At(models.PlusTotal, 1, 0, 4, 10),
		testkit.At(models.Total, 0, 1, 5, 6),
		testkit.At(models.PlusTotal, 1, 1, 7, 11),
		testkit.At(models.Total, 0, 2, 8, 9),
	), fastpath.WantFailure)
	testkit.Expect(t, d, jepsen.Invalid, 9, []int32{0, 1, 2, 3, 4, 5, 6}, OutOfReach.Of(6))
}
