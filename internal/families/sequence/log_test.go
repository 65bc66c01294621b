package sequence

import (
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// logType returns a list that initially holds some values, and appends values
// from 1 on. tells: completed appends tell their places; mixed: some do.
func logType(name, init string, tells, mixed bool) *testkit.Type {
	const values = 7
	shape := models.LogShape{Init: classesOf(init)}
	lists := []string{init}
	for at := 0; at < len(lists); at++ { // with up to 3 more values
		for v := '1'; len(lists[at]) < len(init)+3 && v < '1'+values; v++ {
			if !strings.ContainsRune(lists[at], v) {
				lists = append(lists, lists[at]+string(v))
			}
		}
	}
	lists = append(lists, "9", "24")
	for _, list := range lists {
		shape.Lists = append(shape.Lists, classesOf(list))
	}
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, shape, c, want)
		},
		Spec: oracle.Spec{Init: init, Step: func(dst []string, op models.Op, s string) []string {
			ok, value := false, string(rune('0'+op.A))
			switch op.Kind {
			case models.AppendTo:
				if op.B == 0 || int(op.B) == len(s)+1 {
					return append(dst, s+value)
				}
			case models.ReadAt:
				ok = int(op.B) < len(s) && s[op.B:op.B+1] == value
			case models.ReadNothing:
				ok = int(op.B) >= len(s)
			case models.Tail:
				ok = int(op.B) == len(s)
			case models.ReadLog:
				ok = s == lists[op.A]
			}
			if ok {
				dst = append(dst, s)
			}
			return dst
		}},
		Says:        func(op models.Op) bool { return op.Kind == models.AppendTo },
		Unexplained: true,
		Kinds:       []string{"append", "append-never", "read-at", "read-nothing", "tail", "read"},
		Closed: func(c *models.Columns, d fastpath.Decision) func(oracle.Set) bool {
			var appends []models.Row
			var others []oracle.Set
			for i, kind := range c.Kind {
				switch row := models.Row(i); {
				case kind != models.AppendTo:
					others = append(others, oracle.SetOf([]models.Row{row}))
				case c.Inv[i] < d.FailEvent:
					appends = append(appends, row)
				}
			}
			return oracle.Unions(oracle.SetOf(appends), others)
		},
	}
	add := func(kind models.Kind, a, b int32) {
		k.Completed = append(k.Completed, models.Op{Kind: kind, A: a, B: b})
	}
	for v := range int32(values) {
		if mixed || !tells {
			add(models.AppendTo, v+1, 0)
		}
		for at := range int32(4) {
			if mixed || tells {
				add(models.AppendTo, v+1, at+1)
			}
			add(models.ReadAt, v+1, at)
		}
		k.Crashed = append(k.Crashed, models.Op{Kind: models.AppendTo, A: v + 1})
	}
	for n := range int32(5) {
		add(models.Tail, 0, n)
		add(models.ReadNothing, 0, n)
	}
	for n, list := range lists {
		if n%15 < 4 || len(list) < len(init)+2 {
			add(models.ReadLog, int32(n), 0)
		}
	}
	if tells {
		add(models.AppendNever, 1, 1)
		k.Crashed = append(k.Crashed, models.Op{Kind: models.AppendTo, A: 2, B: 2}, models.Op{Kind: models.AppendTo, A: 5, B: 1})
	}
	k.Like = func(op models.Op) []models.Op {
		if op.Kind == models.AppendTo && op.B == 0 {
			return nil
		}
		var list []models.Op
		if op.Kind == models.ReadLog {
			for n := range lists {
				list = append(list, models.Op{Kind: models.ReadLog, A: int32(n)})
			}
			return list
		}
		for _, o := range k.Completed {
			if o.Kind == op.Kind && (op.Kind != models.AppendTo || o.A == op.A && o.B != 0) {
				list = append(list, o)
			}
		}
		return list
	}
	return k
}

// classesOf returns a list whose values are digits.
func classesOf(list string) []int32 {
	var classes []int32
	for _, v := range list {
		classes = append(classes, v-'0')
	}
	return classes
}

var logTypes = []*testkit.Type{
	logType("log", "", false, false),
	logType("log that tells", "", true, false),
	logType("log that holds 2 and 3", "23", false, false),
	logType("log that holds 4 and tells", "4", true, false),
	logType("log that tells some", "", true, true),
}

func TestEverySmallLog(t *testing.T) {
	ops := func(k *testkit.Type, c *models.Columns, open bool) []models.Op { // fewer values and places
		return slices.DeleteFunc(slices.Clone(k.Alphabet(c, open)), func(op models.Op) bool {
			return op.A > 2 && (op.A != 4 || k.Init != "23") || op.B > 2 && (op.B > 3 || k.Init != "23")
		})
	}
	testkit.EverySmall(t, 3, 4, ops, logTypes[:4]...)
}

func TestRandomLogs(t *testing.T) { testkit.RandomHistories(t, logTypes...) }

func TestGapsInLogsDoNotMatter(t *testing.T) { testkit.GapsDoNotMatter(t, logTypes...) }

// The model's own words make clear what a returning append cannot have told.
func TestAnAppendThatCannotBeIsNotExplained(t *testing.T) {
	for name, never := range map[string]testkit.Row{
		"a place of the first list": testkit.At(models.AppendTo, 2, 1, 2, 3),
		"two places":                testkit.At(models.AppendNever, 2, 1, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			d := testkit.Decide(Path, models.LogShape{Init: []int32{4}}, testkit.Columns(testkit.At(models.AppendTo, 1, 2, 0, 1), never), fastpath.WantFailure)
			if d.Verdict != jepsen.Invalid || d.FailEvent != 3 || d.Why != nil {
				t.Errorf("%+v: %T%+v", d, d.Why, d.Why)
			}
		})
	}
}

// At the first place the append that returned has to stand, not the one that would tell
// it. At the second place it is the other way round. So no order of preference fits both.
func TestMixedAppendsThatNeitherOrderFitsAreNotDecided(t *testing.T) {
	const open = models.Open
	d := testkit.Decide(Path, models.LogShape{}, testkit.Columns(
		testkit.At(models.AppendTo, 1, 1, 0, open), // it would tell the first place
		testkit.At(models.AppendTo, 2, 0, 1, 4),
		testkit.At(models.Tail, 0, 1, 2, 3),
		testkit.At(models.Tail, 0, 1, 5, 6),
		testkit.At(models.AppendTo, 3, 2, 7, open), // it would tell the second place
		testkit.At(models.AppendTo, 4, 0, 8, 13),
		testkit.At(models.Tail, 0, 2, 9, 10),
		testkit.At(models.Tail, 0, 3, 11, 12),
	), fastpath.WantFailure)
	testkit.Expect(t, d, jepsen.Unknown, -1, nil, nil)
	if !d.Reason.Is(Mixed) {
		t.Errorf("%v", d.Reason)
	}
}

// Here more appends without places than in any small history are followed
// by an operation that sees how many there are.
func TestLongLogsThatTellNothing(t *testing.T) {
	for n := int32(1); n < 300; n += 1 + n/7 {
		for open := int32(1); open <= 5; open += 2 { // this many appends at a time
			for tail := n - 1; tail <= n+1; tail++ {
				c := &models.Columns{}
				event, want := int32(0), jepsen.Invalid
				for row := range n {
					c.Append(event, models.Open, models.Op{Kind: models.AppendTo, A: 1 + row})
					if event++; row+1 >= open {
						c.Res[row+1-open] = event
						event++
					}
				}
				c.Append(event, event+1, models.Op{Kind: models.Tail, B: tail})
				if c.Events = event + 2; tail <= n && tail > n-open {
					want = jepsen.Valid
				}
				d := testkit.Decide(Path, models.LogShape{}, c, fastpath.WantWitness|fastpath.WantFailure)
				if d.Verdict != want || d.Verdict == jepsen.Invalid && d.FailEvent != event+1 {
					t.Errorf("%d appends, %d open at a time, tail %d: %v at %d, want %v at %d", n, open, tail, d.Verdict, d.FailEvent, want, event+1)
				}
			}
		}
	}
}
