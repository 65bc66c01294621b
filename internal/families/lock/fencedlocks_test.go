package lock

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families/testkit"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// fencedType returns a fenced lock that may be held that many times, with fences up to a number.
func fencedType(name string, holds, fences int32) *testkit.Type {
	k := &testkit.Type{
		Name: name,
		Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return testkit.Decide(Path, models.FencedLockShape{Holds: holds}, c, want)
		},
		Spec:  oracle.Spec{Init: oracle.State(0, 0, 0, 0), Step: stepOfFenced(holds)},
		Owned: true,
		Why:   fencesHold,
		Like: func(op models.Op) (ways []models.Op) {
			if op.Kind == models.Acquire {
				for op.B = range int32(10) {
					ways = append(ways, op)
				}
			}
			return ways
		},
	}
	k.Completed = []models.Op{{Kind: models.Release}}
	for fence := range fences + 1 {
		k.Completed = append(k.Completed, models.Op{Kind: models.Acquire, B: fence})
	}
	k.Crashed = k.Completed
	return k
}

// stepOfFenced returns the step of a fenced lock. A state says how often it
// is held, with which fence, the greatest fence, and the owner.
func stepOfFenced(holds int32) func(dst []string, op models.Op, s string) []string {
	return func(dst []string, op models.Op, s string) []string {
		held, fence, greatest, owner := oracle.Number(s, 0), oracle.Number(s, 1), oracle.Number(s, 2), oracle.Number(s, 3)
		mine := held > 0 && owner == op.A
		if op.Kind == models.Release {
			if !mine {
				return dst
			}
			if held--; held == 0 {
				fence, owner = 0, 0
			}
		} else {
			if held > 0 && !mine || held == holds {
				return dst
			}
			if op.B != 0 && fence != 0 && op.B != fence || op.B != 0 && fence == 0 && op.B <= greatest {
				return dst
			}
			held, owner = held+1, op.A
			if op.B != 0 {
				fence, greatest = op.B, max(greatest, op.B)
			}
		}
		return append(dst, oracle.State(held, fence, greatest, owner))
	}
}

// fencesHold checks what the explanation says about fences.
func fencesHold(c *models.Columns, d fastpath.Decision) bool {
	switch v := d.Why.Rows; d.Why.Pattern {
	case FenceTooLow:
		acquire, earlier := v[0], v[1]
		return c.Res[acquire] == d.FailEvent && c.B[acquire] <= c.B[earlier] && c.Res[earlier] <= d.FailEvent && c.B[acquire] != 0
	case FenceDiffers:
		acquire, held := v[0], v[1]
		return c.Res[acquire] == d.FailEvent && c.B[acquire] != c.B[held] && c.Res[held] <= d.FailEvent && c.A[acquire] == c.A[held] && c.B[held] != 0
	}
	return true
}

var fencedTypes = []*testkit.Type{
	fencedType("fenced-mutex", 1, 3),
	fencedType("reentrant-fenced-mutex", 2, 3),
	fencedType("reentrant-fenced-mutex held three times", 3, 2),
}

func TestEverySmallHistoryOfFencedLocks(t *testing.T) {
	types := []*testkit.Type{fencedType("fenced-mutex", 1, 2), fencedType("reentrant-fenced-mutex", 2, 2)}
	testkit.EverySmall(t, 3, 4, byTwo, types...)
	for _, k := range types {
		if !testkit.Long {
			break
		}
		some := ofOwners(k.Completed[:3], 2)
		t.Run(k.Name+", of one fence and none", func(t *testing.T) {
			t.Parallel()
			k.Every(t, 5, 1, func(_ *models.Columns, open bool) []models.Op {
				if open {
					return ofOwners(k.Completed[:2], 2)
				}
				return some[:5] // acquires with a fence by one owner only
			})
		})
	}
}

// byTwo returns the operations of two owners.
func byTwo(k *testkit.Type, _ *models.Columns, _ bool) []models.Op { return ofOwners(k.Completed, 2) }

// ofOwners returns each operation once for each owner.
func ofOwners(ops []models.Op, owners int32) []models.Op {
	var all []models.Op
	for a := range owners {
		for _, op := range ops {
			op.A = a
			all = append(all, op)
		}
	}
	return all
}

func TestRandomFencedLocks(t *testing.T) { testkit.RandomHistories(t, fencedTypes...) }

// TestLemmaAcquiresStandInTheOrderOfTheirReturns checks all linearizations of random histories.
func TestLemmaAcquiresStandInTheOrderOfTheirReturns(t *testing.T) {
	histories := effort.Histories(300, 20_000)
	for _, k := range fencedTypes {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, 4))
			orders := 0
			for range histories {
				c := k.Run(rng, 2+rng.IntN(6), 1+rng.IntN(4), 0.2)
				if k.Decide(c, fastpath.WantVerdict).Verdict != jepsen.Valid {
					continue // an owner may have continued after a crash
				}
				k.History(c).Orders(func(order []int32) {
					orders++
					latest := int32(-1)
					for _, i := range order {
						if c.Kind[i] == models.Acquire && c.Res[i] != models.Open {
							if c.Res[i] < latest {
								t.Fatalf("%v\n%s", order, k.Show(c))
							}
							latest = c.Res[i]
						}
					}
				})
			}
			t.Logf("%d linearizations", orders)
			if orders < int(histories)/2 {
				t.Error("too few")
			}
		})
	}
}

func TestFencedLockCases(t *testing.T) {
	const open = models.Open
	acquire := func(owner, fence, inv, res int32) testkit.Row {
		return testkit.At(models.Acquire, owner, fence, inv, res)
	}
	release := func(owner, inv, res int32) testkit.Row { return testkit.At(models.Release, owner, 0, inv, res) }
	for _, test := range []struct {
		name    string
		holds   int32
		rows    []testkit.Row
		verdict jepsen.Verdict
		fail    int32
		why     *fastpath.Finding
	}{
		{"fences grow", 1, []testkit.Row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(1, 2, 4, 5)}, jepsen.Valid, -1, nil},
		{"a fence shrinks", 1, []testkit.Row{acquire(0, 2, 0, 1), release(0, 2, 3), acquire(1, 1, 4, 5)},
			jepsen.Invalid, 5, FenceTooLow.Of(2, 0)},
		{"a fence stays", 1, []testkit.Row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(1, 1, 4, 5)},
			jepsen.Invalid, 5, FenceTooLow.Of(2, 0)},
		{"an acquire without a fence hides none", 1,
			[]testkit.Row{acquire(0, 2, 0, 1), release(0, 2, 3), acquire(1, 0, 4, 5), release(1, 6, 7), acquire(0, 1, 8, 9)},
			jepsen.Invalid, 9, FenceTooLow.Of(4, 0)},
		{"a crashed acquire of a greater fence is left out", 1,
			[]testkit.Row{acquire(2, 9, 0, open), acquire(0, 1, 1, 2)}, jepsen.Valid, -1, nil},
		{"after a crashed release", 1, []testkit.Row{acquire(0, 2, 0, 1), release(0, 2, open), acquire(1, 1, 4, 5)},
			jepsen.Invalid, 5, FenceTooLow.Of(2, 0)},
		{"held by another", 1, []testkit.Row{acquire(0, 1, 0, 1), acquire(1, 2, 2, 3)},
			jepsen.Invalid, 3, heldByOwner.Of(0, 1)},
		{"again with the same fence", 2, []testkit.Row{acquire(0, 1, 0, 1), acquire(0, 1, 2, 3)}, jepsen.Valid, -1, nil},
		{"again with another", 2, []testkit.Row{acquire(0, 1, 0, 1), acquire(0, 2, 2, 3)},
			jepsen.Invalid, 3, FenceDiffers.Of(1, 0)},
		{"again with the same fence after it was free", 2,
			[]testkit.Row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(0, 1, 4, 5)},
			jepsen.Invalid, 5, FenceTooLow.Of(2, 0)},
		{"the inner acquire brings the fence", 2,
			[]testkit.Row{acquire(0, 0, 0, 1), acquire(0, 7, 2, 3), release(0, 4, 5), acquire(0, 7, 6, 7)}, jepsen.Valid, -1, nil},
		{"an owner that goes on after a crash", 2, []testkit.Row{acquire(0, 1, 0, open), acquire(0, 1, 2, 3)}, jepsen.Unknown, -1, nil},
		{"a kind that locks do not know", 2, []testkit.Row{testkit.At(models.Release+1, 0, 0, 0, 1)}, jepsen.Unknown, -1, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := testkit.Decide(Path, models.FencedLockShape{Holds: test.holds}, testkit.Columns(test.rows...), fastpath.WantWitness|fastpath.WantFailure)
			if d.Verdict != test.verdict || d.FailEvent != test.fail || !reflect.DeepEqual(d.Why, test.why) {
				t.Errorf("%+v: %T%+v", d, d.Why, d.Why)
			}
			if d.Verdict == jepsen.Unknown && d.Reason == nil {
				t.Error("no reason")
			}
		})
	}
}
