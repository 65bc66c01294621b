package set

import (
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/models"
)

// subsetsOf3 returns every set of 0, 1 and 2.
func subsetsOf3() (sets [][]int32) {
	for mask := range 8 {
		var s []int32
		for v := range int32(3) {
			if mask>>v&1 != 0 {
				s = append(s, v)
			}
		}
		sets = append(sets, s)
	}
	return sets
}

// growSetType returns a grow-only set with values 0, 1 and 2.
func growSetType(name string, init ...int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.GrowSetShape{Init: init, Sets: subsetsOf3()}, c, want)
		},
		Says: func(op models.Op) bool { return op.Kind == models.Add },
		Core: coreOfGrowSet,
	}
	k.Init = "0"
	for _, v := range init {
		k.Init = string(rune(k.Init[0]) | 1<<v)
	}
	k.Step = func(dst []string, op models.Op, s string) []string {
		mask := int32(s[0] - '0')
		switch {
		case op.Kind == models.Add:
			return append(dst, string(rune('0'+mask|1<<op.A)))
		case op.Kind == models.ReadSet && op.A == mask:
			return append(dst, s)
		}
		return dst
	}
	k.Crashed = testkit.Ops([]models.Kind{models.Add}, 0, 1, 2)
	k.Completed = append(slices.Clone(k.Crashed), testkit.Ops([]models.Kind{models.ReadSet}, 0, 1, 2, 3, 4, 5, 6, 7)...)
	k.Like = func(op models.Op) []models.Op {
		if op.Kind == models.Add {
			return nil
		}
		return k.Completed[3:]
	}
	return k
}

// coreOfGrowSet finds the values that the core is about, and checks that no smaller choice fails.
func coreOfGrowSet(k *testkit.Type, c *models.Columns, d fastpath.Decision) string {
	if wrong := elementsAreRight(k, c, d.Why); wrong != "" {
		return wrong
	}
	if k.Init != "0" {
		return "" // the initial values also have operations, which are not in it
	}
	cut, rows := k.Cut(c, d.FailEvent)
	fail := int32(slices.Index(c.Res, d.FailEvent))
	// choice returns the adds of some values and some reads, of which only these values count.
	choice := func(values, reads uint32) (ops []int32, fails bool) {
		p := &models.Columns{Events: cut.Events}
		for at, i := range rows {
			op := cut.Op(int32(at))
			switch {
			case op.Kind == models.Add && values>>op.A&1 != 0:
			case op.Kind == models.ReadSet && reads>>i&1 != 0:
				op.A &= int32(values)
			default:
				continue
			}
			p.Append(cut.Inv[at], cut.Res[at], op)
			ops = append(ops, i)
		}
		return ops, !k.Linearizable(p)
	}
	reads := uint32(0)
	for _, i := range d.Core {
		if c.Kind[i] != models.Add {
			reads |= 1 << i
		}
	}
	for values := uint32(1); values < 8; values++ {
		ops, fails := choice(values, reads)
		others := func(i int32) bool { return c.Kind[i] == models.Add && values>>c.A[i]&1 == 0 }
		if !fails || !slices.Equal(ops, slices.DeleteFunc(slices.Clone(d.Core), others)) || k.Needless(c, d, others) != "" {
			continue
		}
		minimal := true
		for v := values; ; v = (v - 1) & values {
			for r := reads; r > 0; r = (r - 1) & reads {
				if _, fails := choice(v, r); fails && r>>fail&1 != 0 && (v != values || r != reads) {
					minimal = false
				}
			}
			if v == 0 {
				break
			}
		}
		if minimal {
			return ""
		}
	}
	return "not a minimal choice"
}

// elementsAreRight says what is wrong with the elements that a violation names.
func elementsAreRight(k *testkit.Type, c *models.Columns, why *fastpath.Finding) string {
	if none := len(why.Values) == 0; none != why.Is(Incomparable) {
		return "elements are missing, or there are some"
	}
	for _, v := range why.Values {
		first, last := why.Rows[0], why.Rows[len(why.Rows)-1]
		if why.Is(fastpath.NeverAdded) {
			for i := range c.Kind {
				if c.Kind[i] == models.Add && c.A[i] == v && c.Inv[i] < c.Res[first] {
					return "it had been added"
				}
			}
			if c.A[first]>>v&1 == 0 || int32(k.Init[0]-'0')>>v&1 != 0 {
				return "it was not read, or there initially"
			}
			continue
		}
		there := first == fastpath.Initial && int32(k.Init[0]-'0')>>v&1 != 0 ||
			first >= 0 && (c.Kind[first] == models.Add && c.A[first] == v || c.Kind[first] == models.ReadSet && c.A[first]>>v&1 != 0)
		if !there || c.A[last]>>v&1 != 0 {
			return "it was not there before, or is not missing"
		}
	}
	return ""
}

var growSetTypes = []*testkit.Type{growSetType("set"), growSetType("set that holds 1", 1)}

func TestEverySmallHistoryOfGrowSets(t *testing.T) {
	testkit.EverySmall(t, 3, 4, (*testkit.Type).Alphabet, growSetTypes...)
}

func TestRandomGrowSets(t *testing.T) { testkit.RandomHistories(t, growSetTypes...) }

func sorted(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}
