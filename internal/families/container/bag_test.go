package container

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// bagType has values from 0 up to values; known says whether crashed dequeues may have a value.
func bagType(name string, values int32, empties, known bool, init ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.BagShape{Init: init}, c, want)
		},
		Spec: oracle.Spec{Step: stepOfBag},
		Says: func(op models.Op) bool { return op.Kind != models.DequeueEmpty },
	}
	for v := range values {
		k.Completed = append(k.Completed, testkit.Ops([]models.Kind{models.Enqueue, models.Dequeue}, v)...)
		k.Crashed = append(k.Crashed, models.Op{Kind: models.Enqueue, A: v})
		if known {
			k.Crashed = append(k.Crashed, models.Op{Kind: models.Dequeue, A: v})
		}
	}
	k.Crashed = append(k.Crashed, models.Op{Kind: models.DequeueAny})
	if empties {
		k.Completed = append(k.Completed, models.Op{Kind: models.DequeueEmpty})
	}
	if len(init) == 0 {
		k.Numbered = func(op models.Op) bool { return op.Kind != models.DequeueAny && op.Kind != models.DequeueEmpty }
	}
	for _, v := range init {
		k.Init = withLetter(k.Init, v)
	}
	k.Closed = closedBag(k)
	k.Like = func(op models.Op) (list []models.Op) {
		if op.Kind == models.Dequeue {
			list = slices.DeleteFunc(slices.Clone(k.Completed), func(o models.Op) bool { return o.Kind == models.Enqueue })
		}
		return list
	}
	return k
}

func withLetter(s string, v int32) string {
	r := append([]rune(s), 'a'+v)
	slices.Sort(r)
	return string(r)
}

// stepOfBag is the step of a bag. A state holds a letter for each element.
func stepOfBag(dst []string, op models.Op, s string) []string {
	switch op.Kind {
	case models.Enqueue:
		dst = append(dst, withLetter(s, op.A))
	case models.DequeueEmpty:
		if s == "" {
			dst = append(dst, s)
		}
	case models.Dequeue:
		if e := string('a' + op.A); strings.Contains(s, e) {
			dst = append(dst, strings.Replace(s, e, "", 1))
		}
	case models.DequeueAny:
		for i := range s {
			if i == 0 || s[i] != s[i-1] {
				dst = append(dst, s[:i]+s[i+1:])
			}
		}
	}
	return dst
}

// closedBag says which choices are made of all operations of some values, and of
// empty answers with all unknown removes. Among those smaller than the core, only
// those with the failing operation count. None counts if the bag initially holds
// something: the initial elements also have operations, which are not in the core.
func closedBag(k *testkit.Type) func(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool {
	return func(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool {
		core := oracle.SetOf(d.Core)
		empties := slices.ContainsFunc(d.Core, func(i models.Row) bool { return c.Kind[i] == models.DequeueEmpty })
		always, units := oracle.Set(0), map[int32]oracle.Set{} // by value, or less than 0
		for i := range int32(c.Len()) {
			op, open := c.Op(i), c.Res[i] > d.FailEvent
			switch {
			case c.Inv[i] > d.FailEvent || open && !k.Says(op):
			case op.Kind == models.DequeueEmpty:
				units[-2-i] = 1 << i
			case op.Kind == models.DequeueAny:
				if empties {
					always |= 1 << i
				}
			case empties || op.Kind != models.Dequeue || !open:
				units[op.A] |= 1 << i
			}
		}
		fail := models.Row(slices.Index(c.Res, d.FailEvent))
		unions := oracle.Unions(always, slices.Collect(maps.Values(units)))
		return func(ops oracle.Set) bool {
			return unions(ops) && (ops == core || k.Init == "" && ops.Has(fail))
		}
	}
}

var bagTypes = []*testkit.Type{
	bagType("bag", 3, false, true),
	bagType("bag with empties", 2, true, false),
	bagType("bag with empties, many values", 9, true, false),
	bagType("bag with empties, crashed dequeues of values", 3, true, true),
	bagType("bag with empties, crashed dequeues of many values", 9, true, true),
	bagType("bag that holds 0, 0 and 1", 3, true, false, 0, 0, 1),
}

func TestEverySmallHistoryOfBags(t *testing.T) {
	testkit.EverySmall(t, 3, 4, (*testkit.Type).Alphabet,
		bagType("bag", 2, false, true), bagType("bag with empties", 2, true, true), bagType("bag that holds 0", 1, true, true, 0))
}

func TestRandomBags(t *testing.T) { testkit.RandomHistories(t, bagTypes...) }

func TestBagCases(t *testing.T) {
	const open = models.Open
	for _, test := range []struct {
		name    string
		rows    []testkit.Row
		verdict jepsen.Verdict
		fail    int32
		core    []int32
		why     *fastpath.Finding
	}{
		{"a value taken twice",
			[]testkit.Row{testkit.At(models.Enqueue, 5, 0, 0, 1), testkit.At(models.Dequeue, 5, 0, 2, 4), testkit.At(models.Dequeue, 5, 0, 3, 5)},
			jepsen.Invalid, 5, []int32{0, 1, 2}, TakenTooOften.Of(1, 2)},
		{"an empty answer last",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 1, 2), testkit.At(models.DequeueEmpty, 0, 0, 10, 11)},
			jepsen.Invalid, 11, []int32{0, 1}, NeverEmpty.Of(0, 1)},
		{"an empty answer after a crashed dequeue",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 1, 2), testkit.At(models.DequeueAny, 0, 0, 3, open), testkit.At(models.DequeueEmpty, 0, 0, 10, 11)},
			jepsen.Valid, -1, nil, nil},
		{"an open dequeue keeps the value that it will return",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 0, 1), testkit.At(models.Enqueue, 2, 0, 2, 9), testkit.At(models.Dequeue, 2, 0, 3, 8), testkit.At(models.DequeueEmpty, 0, 0, 4, 5)},
			jepsen.Invalid, 5, []int32{0, 3}, NeverEmpty.Of(0, 3)},
		{"a crashed dequeue may have taken what an open one returns, until that returns",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 0, 1), testkit.At(models.DequeueAny, 0, 0, 2, open), testkit.At(models.DequeueEmpty, 0, 0, 3, 4), testkit.At(models.Dequeue, 1, 0, 5, 6)},
			jepsen.Invalid, 6, []int32{0, 1, 2, 3}, NeverEmpty.Of(0, 2)},
		{"an empty answer between an enqueue and a crashed dequeue of its value takes one that crashed",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 0, 1), testkit.At(models.DequeueAny, 0, 0, 2, open), testkit.At(models.DequeueEmpty, 0, 0, 3, 4), testkit.At(models.Dequeue, 1, 0, 5, open),
				testkit.At(models.Enqueue, 2, 0, 6, 7), testkit.At(models.DequeueEmpty, 0, 0, 8, 9)},
			jepsen.Invalid, 9, []int32{0, 1, 2, 3, 4, 5}, NeverEmpty.Of(4, 5)},
		{"an earlier gap may take less",
			[]testkit.Row{testkit.At(models.DequeueEmpty, 0, 0, 0, 5), testkit.At(models.DequeueAny, 0, 0, 1, open), testkit.At(models.Enqueue, 1, 0, 2, 3), testkit.At(models.Dequeue, 1, 0, 6, open),
				testkit.At(models.Enqueue, 2, 0, 7, 8), testkit.At(models.DequeueEmpty, 0, 0, 9, 10)},
			jepsen.Valid, -1, nil, nil},
		{"a drain", []testkit.Row{testkit.At(models.Drain, 0, 0, 0, 1)}, jepsen.Unknown, -1, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := testkit.Decide(Path, models.BagShape{}, testkit.Columns(test.rows...), fastpath.WantWitness|fastpath.WantFailure)
			testkit.Expect(t, d, test.verdict, test.fail, test.core, test.why)
		})
	}
}

func TestGapsBetweenEventsOfBagsDoNotMatter(t *testing.T) {
	testkit.GapsDoNotMatter(t, bagTypes[:3]...)
}

func TestLongBags(t *testing.T) {
	testkit.LongHistories(t, bagTypes[0], bagType("bag with empties, 300 values", 300, true, false))
}
