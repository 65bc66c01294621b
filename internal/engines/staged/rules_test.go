package staged

import (
	"context"
	"slices"
	"testing"

	"clew/edn"
	"clew/fallback"
	"clew/internal/enginetest"
	"clew/jepsen"
	"clew/models"
)

// rowOf is a row of columns: its invocation and return (0: it crashed), its
// kind, and its values. The register starts with 0.
type rowOf struct {
	inv, res int32
	kind     models.Kind
	a, b     int32
}

func registerOf(rows ...rowOf) *models.Operations {
	m, err := models.Spec{Name: "cas-register", ObserveFailedCAS: true}.Model(edn.NewValues())
	if err != nil {
		panic(err)
	}
	ops := &models.Operations{Model: m}
	for i, r := range rows {
		res := r.res
		if res == 0 {
			res = models.Open
		}
		ops.Append(r.inv, res, models.Op{Kind: r.kind, A: r.a, B: r.b})
		ops.Of = append(ops.Of, jepsen.Operation(i))
		ops.Events = max(ops.Events, r.inv+1, r.res+1)
	}
	return ops
}

const (
	read, write, cas, failedCAS = models.Read, models.Write, models.CAS, models.FailedCAS
)

// TestTheExchangesOfStaged has a history for each rule of space.go. The verdict
// is what it would be without the rule, and the linearization is the one to
// which the rule leads.
func TestTheExchangesOfStaged(t *testing.T) {
	for _, c := range []struct {
		name          string
		rows          []rowOf
		fail          int32 // -1: it is linearizable
		first, second int32 // rows that stand in this order
		rules         Rules
	}{
		{"rule G: a crashed cas serves a step before a crashed write",
			// The second read of 1 needs the write, since nothing leads there from 2.
			[]rowOf{{0, 0, write, 1, 0}, {1, 0, cas, 0, 1}, {2, 3, read, 1, 0}, {4, 5, write, 2, 0}, {6, 7, read, 1, 0}},
			-1, 1, 0, Rules{NoRuleG: true}},
		{"rule G: the write serves it where no cas is left",
			[]rowOf{{0, 0, write, 1, 0}, {1, 0, cas, 0, 1}, {2, 3, read, 1, 0}, {4, 5, write, 0, 0}, {6, 7, read, 1, 0}, {8, 9, write, 0, 0}, {10, 11, read, 1, 0}},
			11, 1, 0, Rules{NoRuleG: true}},
		{"an open operation goes before a crashed one of equal meaning",
			[]rowOf{{0, 0, write, 1, 0}, {1, 8, write, 1, 0}, {2, 3, read, 1, 0}, {4, 5, write, 2, 0}, {6, 7, read, 1, 0}},
			-1, 1, 0, Rules{NoTwins: true}},
		{"of open operations of equal meaning the one that returns first goes first",
			[]rowOf{{0, 9, write, 1, 0}, {1, 6, write, 1, 0}, {2, 3, read, 1, 0}, {4, 5, write, 2, 0}, {7, 8, read, 1, 0}},
			-1, 1, 0, Rules{NoTwins: true}},
		{"an open cas goes before an open write of the same value that returns later",
			[]rowOf{{0, 7, write, 1, 0}, {1, 6, cas, 0, 1}, {2, 3, read, 1, 0}, {4, 5, read, 1, 0}},
			-1, 1, 0, Rules{NoTwins: true}},
		{"where a write stands in for a cas, that the cas is used counts",
			// The first read of 1 tries the shorter run, with the cas from 0, which the
			// second needs so that the third has the write.
			[]rowOf{{0, 0, cas, 4, 0}, {1, 0, cas, 0, 1}, {2, 0, cas, 4, 6}, {3, 0, cas, 6, 7}, {4, 0, cas, 7, 1}, {5, 0, write, 1, 0},
				{6, 7, write, 4, 0}, {8, 9, read, 1, 0}, {10, 11, write, 0, 0}, {12, 13, read, 1, 0},
				{14, 0, cas, 0, 8}, {15, 0, cas, 8, 1}, {16, 17, write, 3, 0}, {18, 19, read, 1, 0}},
			-1, 4, 1, Rules{NoRuleG: true}},
		{"a run begins with a write",
			[]rowOf{{0, 0, cas, 1, 2}, {1, 0, write, 1, 0}, {2, 3, read, 2, 0}},
			-1, 1, 0, Rules{}},
		{"a run up to a cas",
			[]rowOf{{0, 0, write, 3, 0}, {1, 2, cas, 3, 4}, {3, 4, read, 4, 0}},
			-1, 0, 1, Rules{}},
		{"a run for a cas that failed leads to any other value",
			[]rowOf{{0, 0, write, 3, 0}, {1, 2, failedCAS, 0, 0}, {3, 4, read, 3, 0}},
			-1, 0, 1, Rules{}},
		{"a class that is not invoked yet counts as exhausted",
			[]rowOf{{0, 1, read, 1, 0}, {2, 0, write, 1, 0}, {3, 4, read, 1, 0}},
			1, -1, -1, Rules{}},
		{"supply counts up to where it is used",
			[]rowOf{{0, 0, write, 1, 0}, {1, 2, read, 1, 0}, {3, 4, write, 2, 0}, {5, 6, read, 1, 0}, {7, 0, write, 1, 0}},
			6, 0, 1, Rules{}},
		{"what is linearized is no twin of a crashed operation any more, so runs cost something else",
			[]rowOf{{0, 0, cas, 0, 2}, {1, 9, cas, 2, 3}, {2, 7, cas, 2, 0}, {3, 8, cas, 0, 2}, {4, 0, write, 3, 0}, {5, 6, read, 3, 0}},
			-1, -1, -1, Rules{}},
	} {
		ops := registerOf(c.rows...)
		for _, rules := range []Rules{{}, {FirstBudget: 1}, {FirstBudget: 1, BoundsOnly: true}, c.rules} {
			a := Engine{Rules: rules}.Decide(context.Background(), ops, fallback.Limits{})
			if (a.Verdict == jepsen.Valid) != (c.fail < 0) || a.Verdict == jepsen.Invalid && a.FailEvent != c.fail {
				t.Errorf("%s, %+v: %+v, want a failure at %d", c.name, rules, a, c.fail)
				continue
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Errorf("%s, %+v: %v", c.name, rules, err)
			}
			first, second := slices.Index(a.Order, c.first), slices.Index(a.Order, c.second)
			if rules == (Rules{}) && c.first >= 0 && (first < 0 || second >= 0 && second < first) {
				t.Errorf("%s: %v, want %d before %d", c.name, a.Order, c.first, c.second)
			}
		}
	}
}

// searchOf returns a search over operations, before it begins.
func searchOf(ops *models.Operations) *registerSearch {
	return newRegisterSearch(newRegisterSpace(fallback.NewLayout(context.Background(), ops, fallback.Limits{}), Rules{}))
}

func TestARunVisitsAValueOnce(t *testing.T) {
	x := searchOf(registerOf(rowOf{0, 0, cas, 0, 1}, rowOf{1, 0, cas, 1, 0}, rowOf{2, 0, cas, 0, 2}, rowOf{3, 0, cas, 1, 2}, rowOf{4, 0, cas, 2, 1}, rowOf{5, 6, read, 2, 0}))
	f := &frame{node: x.start()}
	x.beginRuns(f, x.values[2])
	var all []int
	for f.longer {
		f.length++
		f.runs, f.longer = x.runs(f, x.values[2])
		for _, run := range f.runs {
			all = append(all, len(run))
		}
	}
	if !slices.Equal(all, []int{1, 2}) {
		t.Errorf("runs of %v steps, want one of 1 and one of 2", all)
	}
}

// From 0 a cas leads to 1, and from there one leads to 2, the target. Another way from 1
// goes through 3, if that cas had not been used. So a configuration that has it left may
// get to 2 that way.
func TestARunThatFailsNeedsWhatWouldLeaveItsWay(t *testing.T) {
	both := [][2]int32{{0, 1}, {1, 2}, {1, 3}, {3, 2}}
	for _, c := range []struct {
		cas, used, want [][2]int32
	}{
		{both, nil, nil},
		{both, [][2]int32{{1, 3}}, [][2]int32{{1, 3}}},
		{both, [][2]int32{{3, 2}}, [][2]int32{{3, 2}}},         // into the values that lead to 2
		{both, [][2]int32{{1, 3}, {3, 2}}, [][2]int32{{3, 2}}}, // 3 leads nowhere, so the last step is enough
		{both, [][2]int32{{0, 1}}, [][2]int32{{0, 1}}},         // the only one from 0
		{both, [][2]int32{{0, 1}, {1, 3}}, [][2]int32{{0, 1}}}, // 1 is not reached
		{both, [][2]int32{{1, 2}, {1, 3}}, [][2]int32{{1, 2}, {1, 3}}},
		{[][2]int32{{0, 1}, {1, 3}, {3, 2}, {3, 1}}, [][2]int32{{0, 1}, {3, 1}}, [][2]int32{{0, 1}}}, // 3 is not reached either, though it leads to 2
	} {
		var rows []rowOf
		for i, x := range c.cas {
			rows = append(rows, rowOf{int32(i), 0, cas, x[0], x[1]})
		}
		x := searchOf(registerOf(append(rows, rowOf{4, 5, read, 2, 0})...))
		class := func(step [2]int32) int32 {
			for _, t := range x.from[x.values[step[0]]] {
				if t.value == x.values[step[1]] {
					return t.class
				}
			}
			t.Fatalf("no cas from %d to %d", step[0], step[1])
			return -1
		}
		for _, step := range c.used {
			x.used[class(step)] = 1
		}
		var want []need
		for _, step := range c.want {
			want = append(want, need{class(step), 1})
		}
		f := &frame{node: x.start()}
		x.beginRuns(f, x.values[2])
		slices.SortFunc(f.needs, func(a, b need) int { return int(a.class - b.class) })
		slices.SortFunc(want, func(a, b need) int { return int(a.class - b.class) })
		if !slices.Equal(f.needs, want) {
			t.Errorf("%v, used %v: needs %v, want %v", c.cas, c.used, f.needs, want)
		}
	}
}

func TestARunReachesValuesInTheOrderOfTheirDistance(t *testing.T) {
	x := searchOf(registerOf(rowOf{0, 0, cas, 0, 1}, rowOf{1, 0, cas, 1, 2}, rowOf{2, 0, cas, 2, 3}, rowOf{3, 0, cas, 1, 3}, rowOf{4, 5, read, 3, 0}))
	var hops []int32
	for _, y := range x.reach(x.start()) {
		hops = append(hops, x.hops[y])
	}
	if !slices.Equal(hops, []int32{1, 2, 2}) {
		t.Errorf("values %v steps away, want one of 1 and two of 2", hops)
	}
}

func TestWhatDoesNotGetFarMayGetLessFar(t *testing.T) {
	x := searchOf(registerOf(rowOf{0, 0, write, 1, 0}, rowOf{1, 2, read, 1, 0}))
	x.goal = 5
	x.learn(x.start(), nil)
	for goal, want := range map[int32]bool{4: false, 5: true, 6: true} {
		x.goal = goal
		if _, fails := x.refuted(x.start()); fails != want {
			t.Errorf("learned for return 5, at %d: %v", goal, fails)
		}
	}
}

// The prices of a supply that does not suffice refute a history without any search.
func TestPricesRefuteWhatNeedsMoreThanThereIs(t *testing.T) {
	for seen := range int32(2) { // 0 is the initial value
		rows := []rowOf{{0, 0, write, seen, 0}, {1, 0, write, seen, 0}}
		for e := int32(2); e < 14; e += 4 {
			rows = append(rows, rowOf{e, e + 1, write, 2, 0}, rowOf{e + 2, e + 3, read, seen, 0})
		}
		x := searchOf(registerOf(rows...)) // three reads, each after a write of 2
		n := int32(len(x.Ends))
		if !x.graph(n) || x.depthOf[x.start()] != n {
			t.Fatal("without counts it is linearizable")
		}
		for goal, want := range map[int32]jepsen.Verdict{n: jepsen.Invalid, n - 1: jepsen.Valid} {
			if v, _ := x.bid(goal, bidEffort{windows: 8, rounds: 60}); v != want {
				t.Errorf("reads of %d up to %d of %d returns: %d, want %d", seen, goal, n, v, want)
			}
		}
	}
}
