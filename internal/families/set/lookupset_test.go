package set

import (
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/models"
)

// lookupSetType returns a lookup-set with init as its initial elements.
func lookupSetType(name string, init ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.LookupSetShape{Init: init}, c, want)
		},
		Spec:      oracle.Spec{Step: stepOfLookupSet},
		Completed: testkit.Ops([]models.Kind{models.Insert, models.InsertPresent, models.Remove, models.RemoveAbsent, models.Has, models.HasNot}, 0, 1),
		Crashed:   testkit.Ops([]models.Kind{models.Insert, models.InsertAny, models.Remove, models.RemoveAny}, 0, 1),
		Says:      func(op models.Op) bool { return setFlips[op.Kind] <= up },
		Core:      coreOfLookupSet,
	}
	if len(init) == 0 {
		k.Numbered = func(models.Op) bool { return true }
	}
	for _, v := range init {
		k.Init += string(rune('a' + v))
	}
	k.Like = func(op models.Op) []models.Op {
		var list []models.Op
		for _, o := range k.Completed {
			if o.A == op.A {
				list = append(list, o)
			}
		}
		return list
	}
	return k
}

// stepOfLookupSet is the step of a lookup-set. A state holds a letter for each element.
func stepOfLookupSet(dst []string, op models.Op, s string) []string {
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

// coreOfLookupSet looks for a moment that the core belongs to. From that moment
// on, but not one operation later, the element fails in every state. Before
// that there are only flips, and without any of them it would fail elsewhere.
func coreOfLookupSet(k *testkit.Type, c *models.Columns, d fastpath.Decision) string {
	element := c.A[d.Core[0]]
	flips := func(i int32) bool { return setFlips[c.Kind[i]] <= up }
	choice := func(moment int32) (core []int32, fails bool) {
		from := &models.Columns{Events: c.Events}
		must := false
		for i := range int32(c.Len()) {
			if c.A[i] != element || c.Inv[i] > d.FailEvent || c.Res[i] < moment || (c.Inv[i] < moment || c.Res[i] > d.FailEvent) && !flips(i) {
				continue
			}
			core = append(core, i)
			res := c.Res[i]
			if c.Inv[i] < moment || res > d.FailEvent {
				res = models.Open
			} else {
				must = true
			}
			from.Append(c.Inv[i], res, c.Op(i))
		}
		fails = must
		for _, state := range []string{"", string(rune('a' + element))} {
			h := oracle.New(from, oracle.Spec{Init: state, Step: k.Step})
			fails = fails && !h.Linearizable(c.Events, h.All())
		}
		return core, fails
	}
	later, problem := false, "not that of a moment" // later: it fails one operation later
	for moment := d.FailEvent; moment >= 0; moment-- {
		i := slices.Index(c.Inv, moment)
		if i < 0 || c.A[i] != element {
			continue
		}
		core, fails := choice(moment)
		since := slices.DeleteFunc(slices.Clone(d.Core), func(i int32) bool { return c.Res[i] < moment && flips(i) })
		if slices.Equal(core, since) && fails && !later {
			if problem = k.Needless(c, d, func(i int32) bool { return c.Res[i] < moment }); problem == "" {
				return ""
			}
		}
		later = fails
	}
	core, _ := choice(0)
	if slices.Equal(core, d.Core) && !later {
		return ""
	}
	return problem
}

var lookupSetTypes = []*testkit.Type{
	lookupSetType("lookup-set"), lookupSetType("lookup-set that holds 1", 1), lookupSetType("lookup-set that holds 0 and 1", 0, 1),
}

func TestEverySmallHistoryOfLookupSets(t *testing.T) {
	// One element is enough because elements are independent.
	testkit.EverySmall(t, 3, 4, func(k *testkit.Type, c *models.Columns, open bool) []models.Op {
		return slices.DeleteFunc(slices.Clone(k.Alphabet(c, open)), func(op models.Op) bool { return op.A == 1 })
	}, lookupSetTypes...)
	for _, k := range lookupSetTypes {
		k.Every(t, 2, 1, k.Alphabet)
	}
}

func TestRandomLookupSets(t *testing.T) { testkit.RandomHistories(t, lookupSetTypes...) }
