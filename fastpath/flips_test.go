package fastpath

import (
	"slices"
	"strings"
	"testing"

	"clew/models"
)

// lookupSetType has init as its initial elements.
func lookupSetType(name string, init ...int32) *sweepType {
	k := &sweepType{
		name:      name,
		decide:    func(c *models.Columns, want Want) Decision { return LookupSet(c, init, want) },
		next:      nextLookupSet,
		completed: ops([]models.Kind{models.Insert, models.InsertPresent, models.Remove, models.RemoveAbsent, models.Has, models.HasNot}, 0, 1),
		crashed:   ops([]models.Kind{models.Insert, models.InsertAny, models.Remove, models.RemoveAny}, 0, 1),
		says:      func(op models.Op) bool { return setFlips[op.Kind] <= up },
		core:      coreOfLookupSet,
	}
	for _, v := range init {
		k.init += string(rune('a' + v))
	}
	k.like = func(op models.Op) []models.Op {
		var list []models.Op
		for _, o := range k.completed {
			if o.A == op.A {
				list = append(list, o)
			}
		}
		return list
	}
	return k
}

// nextLookupSet is the step of a lookup-set; a state holds a letter for each
// element.
func nextLookupSet(dst []string, op models.Op, s string) []string {
	e := string(rune('a' + op.A))
	in := strings.Contains(s, e)
	with, without := s, strings.ReplaceAll(s, e, "")
	if !in {
		with = string(slices.Sorted(slices.Values([]rune(s + e)))[:])
	}
	switch op.Kind {
	case models.Insert, models.RemoveAbsent, models.HasNot:
		if in {
			return dst
		}
	case models.InsertPresent, models.Remove, models.Has:
		if !in {
			return dst
		}
	}
	switch op.Kind {
	case models.Insert, models.InsertAny:
		s = with
	case models.Remove, models.RemoveAny:
		s = without
	}
	return append(dst, s)
}

// coreOfLookupSet looks for the moment that the core belongs to, from which on
// the element fails whatever its state, but not one operation later.
func coreOfLookupSet(k *sweepType, c *models.Columns, d Decision) string {
	element := c.A[d.Core[0]]
	flips := func(i int32) bool { return setFlips[c.Kind[i]] <= up }
	choice := func(moment int32) (core []int32, fails bool) {
		from := &models.Columns{Events: c.Events}
		must := uint32(0)
		for i := range int32(c.Len()) {
			if c.A[i] != element || c.Inv[i] > d.Fail || c.Res[i] < moment || (c.Inv[i] < moment || c.Res[i] > d.Fail) && !flips(i) {
				continue
			}
			core = append(core, i)
			res := c.Res[i]
			if c.Inv[i] < moment || res > d.Fail {
				res = models.Open
			} else {
				must |= 1 << from.Len()
			}
			from.Append(c.Inv[i], res, c.Op(i))
		}
		fails = must != 0
		for _, state := range []string{"", string(rune('a' + element))} {
			o := &oracle{from, state, k.next, map[position]bool{}}
			fails = fails && !o.linearizable(c.Events, all(from))
		}
		return core, fails
	}
	later := false // whether it fails one operation later
	for moment := d.Fail; moment >= 0; moment-- {
		i := slices.Index(c.Inv, moment)
		if i < 0 || c.A[i] != element {
			continue
		}
		core, fails := choice(moment)
		if slices.Equal(core, d.Core) && fails && !later {
			return ""
		}
		later = fails
	}
	core, _ := choice(0)
	if slices.Equal(core, d.Core) && !later {
		return ""
	}
	return "not that of a moment"
}

// lockType is a lock without owners; permits is 0 for a mutex.
func lockType(name string, held, permits int32) *sweepType {
	k := &sweepType{
		name: name,
		init: strings.Repeat("x", int(held)),
		next: func(dst []string, op models.Op, s string) []string {
			switch {
			case op.Kind == models.Acquire && len(s) < int(max(permits, 1)):
				dst = append(dst, s+"x")
			case op.Kind == models.Release && len(s) > 0:
				dst = append(dst, s[1:])
			}
			return dst
		},
		completed: []models.Op{{Kind: models.Acquire, B: min(permits, 1)}, {Kind: models.Release, B: min(permits, 1)}},
		says:      func(models.Op) bool { return true },
		core:      wholeHistory,
	}
	k.decide = func(c *models.Columns, want Want) Decision {
		if permits == 0 {
			return Mutex(c, held, want)
		}
		return Semaphore(c, held, permits, want)
	}
	k.crashed = k.completed
	k.like = func(op models.Op) []models.Op { return k.completed }
	return k
}

var flipTypes = []*sweepType{
	lookupSetType("lookup-set"), lookupSetType("lookup-set that holds 1", 1), lookupSetType("lookup-set that holds 0 and 1", 0, 1),
	lockType("mutex", 0, 0), lockType("mutex held", 1, 0), lockType("semaphore of 2", 0, 2), lockType("semaphore of 3, 2 held", 2, 3),
}

func TestEverySmallHistoryOfFlips(t *testing.T) {
	setSize, lockSize := 3, 4
	if long {
		setSize, lockSize = 4, 5
	}
	for _, k := range flipTypes {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			if k.completed[0].Kind == models.Acquire && k.next != nil && !strings.HasPrefix(k.name, "lookup") {
				for n := range lockSize + 1 {
					everySweep(t, k, n, k.alphabet)
				}
				return
			}
			for n := range setSize + 1 {
				everySweep(t, k, n, func(open bool) []models.Op { // of one element; they are independent
					return slices.DeleteFunc(slices.Clone(k.alphabet(open)), func(op models.Op) bool { return op.A == 1 })
				})
			}
			everySweep(t, k, 2, k.alphabet)
		})
	}
}

func TestRandomFlips(t *testing.T) { randomSweep(t, flipTypes...) }
