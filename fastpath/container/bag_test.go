package container

import (
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/fastpath/internal/testkit"
	"clew/jepsen"
	"clew/models"
)

// bagType has values 0 up to values; known says that crashed dequeues may have
// a value.
func bagType(name string, values int32, empties, known bool, init ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.BagShape{Init: init}, c, want)
		},
		Next: nextBag,
		Says: func(op models.Op) bool { return op.Kind != models.DequeueEmpty },
		Core: coreOfBag,
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
	k.Opened = func(c *models.Columns, op models.Op) models.Op {
		for i, kind := range c.Kind {
			if op.Kind == models.Dequeue && kind == models.DequeueEmpty && c.Res[i] != models.Open {
				return models.Op{Kind: models.DequeueAny}
			}
		}
		return op
	}
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

// nextBag is the step of a bag; a state holds a letter for each element.
func nextBag(dst []string, op models.Op, s string) []string {
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

// coreOfBag checks that a core is a choice, and that no smaller one fails.
func coreOfBag(k *testkit.Type, c *models.Columns, d fastpath.Decision) string {
	cut, rows := k.Cut(c, d.FailEvent)
	var keys []int32 // the values, and -2 - row for empty answers
	empties := false
	for at, i := range rows {
		if slices.Contains(d.Core, i) {
			switch cut.Kind[at] {
			case models.DequeueEmpty:
				keys = append(keys, -2-i)
				empties = true
			case models.Enqueue, models.Dequeue:
				keys = append(keys, cut.A[at])
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	choice := func(mask uint32) (ops []int32) {
		for at, i := range rows {
			key, always := cut.A[at], false
			switch cut.Kind[at] {
			case models.DequeueEmpty:
				key = -2 - i
			case models.DequeueAny:
				always = empties
				key = -1
			}
			n := slices.Index(keys, key)
			if (n >= 0 && mask>>n&1 != 0 || always) && (empties || cut.Kind[at] != models.Dequeue || cut.Res[at] != models.Open) {
				ops = append(ops, i)
			}
		}
		return ops
	}
	whole := uint32(1)<<len(keys) - 1
	if !slices.Equal(choice(whole), d.Core) {
		return "not a choice"
	}
	fail := int32(slices.Index(c.Res, d.FailEvent))
	for mask := whole; mask > 0 && k.Init == ""; {
		mask = (mask - 1) & whole
		if slices.Contains(choice(mask), fail) && !k.Linearizable(testkit.RowsOf(cut, rows, choice(mask))) {
			return "not minimal"
		}
	}
	return ""
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
	size := 3
	if testkit.Long {
		size = 4
	}
	for _, k := range []*testkit.Type{bagType("bag", 2, false, true), bagType("bag with empties", 2, true, true), bagType("bag that holds 0", 1, true, true, 0)} {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			for n := range size + 1 {
				k.Every(t, n, k.Alphabet)
			}
		})
	}
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
		why     fastpath.Violation
	}{
		{"a value taken twice",
			[]testkit.Row{testkit.At(models.Enqueue, 5, 0, 0, 1), testkit.At(models.Dequeue, 5, 0, 2, 4), testkit.At(models.Dequeue, 5, 0, 3, 5)},
			jepsen.Invalid, 5, []int32{0, 1, 2}, &TakenTooOften{2, []int32{1}}},
		{"an empty answer last",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 1, 2), testkit.At(models.DequeueEmpty, 0, 0, 10, 11)},
			jepsen.Invalid, 11, []int32{0, 1}, &NeverEmpty{1, []int32{0}}},
		{"an empty answer after a crashed dequeue",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 1, 2), testkit.At(models.DequeueAny, 0, 0, 3, open), testkit.At(models.DequeueEmpty, 0, 0, 10, 11)},
			jepsen.Valid, -1, nil, nil},
		{"an open dequeue may take what an empty answer wants gone, until it returns",
			[]testkit.Row{testkit.At(models.Enqueue, 1, 0, 0, 1), testkit.At(models.Enqueue, 2, 0, 2, 9), testkit.At(models.Dequeue, 2, 0, 3, 8), testkit.At(models.DequeueEmpty, 0, 0, 4, 5)},
			jepsen.Invalid, 8, []int32{0, 1, 2, 3}, &NeverEmpty{3, []int32{0}}},
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
