package set

import (
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

func TestSetCases(t *testing.T) {
	const open = models.Open
	lookups := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, models.LookupSetShape{}, c, want)
	}
	sets := func(c *models.Columns, want fastpath.Want) fastpath.Decision {
		return testkit.Decide(Path, models.GrowSetShape{Sets: subsetsOf3()}, c, want)
	}
	for _, test := range []struct {
		name    string
		decide  func(c *models.Columns, want fastpath.Want) fastpath.Decision
		rows    []testkit.Row
		verdict jepsen.Verdict
		fail    int32
		core    []int32
		why     *fastpath.Finding
	}{
		{"an insert that fails, and a contains that says true, while nothing was inserted", lookups,
			[]testkit.Row{testkit.At(models.InsertPresent, 5, 0, 0, 3), testkit.At(models.Has, 5, 0, 1, 2)},
			jepsen.Invalid, 2, []int32{1}, Unchanged.Of(1, fastpath.Initial)},
		{"the last two operations are enough, and what made the first possible", lookups,
			[]testkit.Row{testkit.At(models.Insert, 5, 0, 0, 1), testkit.At(models.Remove, 5, 0, 2, 3), testkit.At(models.Insert, 6, 0, 4, 5), testkit.At(models.Insert, 5, 0, 6, 7), testkit.At(models.Has, 5, 0, 8, 9), testkit.At(models.HasNot, 5, 0, 10, 11)},
			jepsen.Invalid, 11, []int32{3, 4, 5}, Unchanged.Of(5, 4)},
		{"reads of {0} and {1}", sets,
			[]testkit.Row{testkit.At(models.Add, 0, 0, 0, 10), testkit.At(models.Add, 1, 0, 1, 11), testkit.At(models.ReadSet, 1, 0, 2, 4), testkit.At(models.ReadSet, 2, 0, 3, 5)},
			jepsen.Invalid, 5, []int32{0, 1, 2, 3}, Incomparable.Of(2, 3)},
		{"a value that was read before, and not later", sets,
			[]testkit.Row{testkit.At(models.Add, 0, 0, 0, 10), testkit.At(models.ReadSet, 1, 0, 2, 4), testkit.At(models.ReadSet, 0, 0, 5, 6)},
			jepsen.Invalid, 6, []int32{0, 1, 2}, NotRead.Of(1, 2).About(0)},
		{"a value that was read before it was added", sets,
			[]testkit.Row{testkit.At(models.ReadSet, 1, 0, 0, 1), testkit.At(models.Add, 0, 0, 2, 3)},
			jepsen.Invalid, 1, []int32{0}, fastpath.NeverAdded.Of(0, 1).About(0)},
		{"two values that were read, of which nothing ever adds the second", sets,
			[]testkit.Row{testkit.At(models.ReadSet, 3, 0, 0, 1), testkit.At(models.Add, 0, 0, 2, 3)},
			jepsen.Invalid, 1, []int32{0}, fastpath.NeverAdded.Of(0, fastpath.Missing).About(0, 1)},
		{"two values that were read, of which nothing ever adds the first", sets,
			[]testkit.Row{testkit.At(models.ReadSet, 3, 0, 0, 1), testkit.At(models.Add, 1, 0, 2, 3)},
			jepsen.Invalid, 1, []int32{0}, fastpath.NeverAdded.Of(0, fastpath.Missing).About(0, 1)},
		{"a read of the later of two adds only", sets,
			[]testkit.Row{testkit.At(models.ReadSet, 2, 0, 0, 5), testkit.At(models.Add, 0, 0, 1, 2), testkit.At(models.Add, 1, 0, 3, open)},
			jepsen.Invalid, 5, []int32{0, 1, 2}, AddedBefore.Of(1, 2, 0).About(0)},
		{"a read of what is not a set", sets,
			[]testkit.Row{testkit.At(models.ReadNoSet, 9, 0, 0, 1)}, jepsen.Invalid, 1, []int32{0}, NotASet.Of(0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := test.decide(testkit.Columns(test.rows...), fastpath.WantWitness|fastpath.WantFailure)
			testkit.Expect(t, d, test.verdict, test.fail, test.core, test.why)
		})
	}
}

func TestGapsBetweenEventsDoNotMatter(t *testing.T) {
	testkit.GapsDoNotMatter(t, append(growSetTypes[:1:1], lookupSetTypes...)...)
}

func TestLongSets(t *testing.T) {
	testkit.LongHistories(t, slices.Concat(lookupSetTypes, growSetTypes)...)
}
