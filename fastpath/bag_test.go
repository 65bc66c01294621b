package fastpath

import (
	"slices"
	"strings"
	"testing"

	"clew/models"
)

// bagType has values 0 up to values; known says that crashed dequeues may have
// a value.
func bagType(name string, values int32, empties, known bool, init ...int32) *sweepType {
	k := &sweepType{
		name:   name,
		decide: func(c *models.Columns, want Want) Decision { return UnorderedQueue(c, init, want) },
		next:   nextBag,
		says:   func(op models.Op) bool { return op.Kind != models.DequeueEmpty },
		core:   coreOfBag,
	}
	for v := range values {
		k.completed = append(k.completed, ops([]models.Kind{models.Enqueue, models.Dequeue}, v)...)
		k.crashed = append(k.crashed, models.Op{Kind: models.Enqueue, A: v})
		if known {
			k.crashed = append(k.crashed, models.Op{Kind: models.Dequeue, A: v})
		}
	}
	k.crashed = append(k.crashed, models.Op{Kind: models.DequeueAny})
	if empties {
		k.completed = append(k.completed, models.Op{Kind: models.DequeueEmpty})
	}
	for _, v := range init {
		k.init = withLetter(k.init, v)
	}
	k.opened = func(c *models.Columns, op models.Op) models.Op {
		for i, kind := range c.Kind {
			if op.Kind == models.Dequeue && kind == models.DequeueEmpty && c.Res[i] != models.Open {
				return models.Op{Kind: models.DequeueAny}
			}
		}
		return op
	}
	k.like = func(op models.Op) (list []models.Op) {
		if op.Kind == models.Dequeue {
			list = slices.DeleteFunc(slices.Clone(k.completed), func(o models.Op) bool { return o.Kind == models.Enqueue })
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
func coreOfBag(k *sweepType, c *models.Columns, d Decision) string {
	cut, rows := k.cut(c, d.Fail)
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
	fail := int32(slices.Index(c.Res, d.Fail))
	for mask := whole; mask > 0 && k.init == ""; {
		mask = (mask - 1) & whole
		if slices.Contains(choice(mask), fail) && !k.linearizable(rowsOf(cut, rows, choice(mask))) {
			return "not minimal"
		}
	}
	return ""
}

var bagTypes = []*sweepType{
	bagType("bag", 3, false, true),
	bagType("bag with empties", 2, true, false),
	bagType("bag with empties, many values", 9, true, false),
	bagType("bag with empties, crashed dequeues of values", 3, true, true),
	bagType("bag with empties, crashed dequeues of many values", 9, true, true),
	bagType("bag that holds 0, 0 and 1", 3, true, false, 0, 0, 1),
}

func TestEverySmallHistoryOfBags(t *testing.T) {
	size := 3
	if long {
		size = 4
	}
	for _, k := range []*sweepType{bagType("bag", 2, false, true), bagType("bag with empties", 2, true, true), bagType("bag that holds 0", 1, true, true, 0)} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for n := range size + 1 {
				everySweep(t, k, n, k.alphabet)
			}
		})
	}
}

func TestRandomBags(t *testing.T) { randomSweep(t, bagTypes...) }
