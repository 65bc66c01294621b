package fastpath

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/models"
)

// fencedType is a fenced lock that may be held so many times, with fences up to
// a number.
func fencedType(name string, holds, fences int32) *sweepType {
	k := &sweepType{
		name:   name,
		decide: func(c *models.Columns, want Want) Decision { return FencedLock(c, holds, want) },
		init:   string([]byte{0, 0, 0, 0}),
		says:   func(models.Op) bool { return true },
		owned:  true,
		core:   fencedCore,
		// How often it is held, with which fence, the greatest fence, the owner.
		next: func(dst []string, op models.Op, s string) []string {
			held, fence, greatest, owner := int32(s[0]), int32(s[1]), int32(s[2]), int32(s[3])
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
			return append(dst, string([]byte{byte(held), byte(fence), byte(greatest), byte(owner)}))
		},
		like: func(op models.Op) (ways []models.Op) {
			if op.Kind == models.Acquire {
				for op.B = range int32(10) {
					ways = append(ways, op)
				}
			}
			return ways
		},
	}
	k.completed = []models.Op{{Kind: models.Release}}
	for fence := range fences + 1 {
		k.completed = append(k.completed, models.Op{Kind: models.Acquire, B: fence})
	}
	k.crashed = k.completed
	return k
}

// fencedCore also checks what the explanation says of fences.
func fencedCore(k *sweepType, c *models.Columns, d Decision) string {
	ops := d.Why.Ops
	switch d.Why.Pattern {
	case FenceTooLow:
		if c.Res[ops[0]] != d.Fail || c.B[ops[0]] > c.B[ops[1]] || c.Res[ops[1]] > d.Fail || c.B[ops[0]] == 0 {
			return "not of a low fence"
		}
	case FenceDiffers:
		if c.Res[ops[0]] != d.Fail || c.B[ops[0]] == c.B[ops[1]] || c.Res[ops[1]] > d.Fail || c.A[ops[0]] != c.A[ops[1]] || c.B[ops[1]] == 0 {
			return "not of another fence"
		}
	}
	return wholeHistory(k, c, d)
}

var fencedTypes = []*sweepType{
	fencedType("fenced-mutex", 1, 3),
	fencedType("reentrant-fenced-mutex", 2, 3),
	fencedType("reentrant-fenced-mutex held three times", 3, 2),
}

func TestEverySmallHistoryOfFencedLocks(t *testing.T) {
	size := 3
	if long {
		size = 4
	}
	for _, k := range []*sweepType{fencedType("fenced-mutex", 1, 2), fencedType("reentrant-fenced-mutex", 2, 2)} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for n := range size + 1 {
				everySweep(t, k, n, func(bool) []models.Op { return ofOwners(k.completed, 2) })
			}
			if long { // of one fence and none
				some := ofOwners(k.completed[:3], 2)
				everySweep(t, k, 5, func(open bool) []models.Op {
					if open {
						return ofOwners(k.completed[:2], 2)
					}
					return some[:5] // acquires with a fence by one owner only
				})
			}
		})
	}
}

// ofOwners is operations, by each of some owners.
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

func TestRandomFencedLocks(t *testing.T) { randomSweep(t, fencedTypes...) }

// TestLemmaAcquiresStandInTheOrderOfTheirReturns looks at all linearizations of
// random histories.
func TestLemmaAcquiresStandInTheOrderOfTheirReturns(t *testing.T) {
	histories := 300
	if long {
		histories = 20_000
	}
	for _, k := range fencedTypes {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, 4))
			orders := 0
			for range histories {
				c := k.run(rng, 2+rng.IntN(6), 1+rng.IntN(4), 0.2)
				if k.decide(c, WantVerdict).Verdict != Valid {
					continue // perhaps an owner went on after a crash
				}
				everyOrder(k, c, func(order []int32) {
					orders++
					latest := int32(-1)
					for _, i := range order {
						if c.Kind[i] == models.Acquire && c.Res[i] != models.Open {
							if c.Res[i] < latest {
								t.Fatalf("%v\n%s", order, showSweep(c))
							}
							latest = c.Res[i]
						}
					}
				})
			}
			t.Logf("%d linearizations", orders)
			if orders < histories/2 {
				t.Error("too few")
			}
		})
	}
}

// everyOrder calls f with every linearization, crashed operations in it or not.
func everyOrder(k *sweepType, c *models.Columns, f func(order []int32)) {
	var order []int32
	var try func(done uint32, state string)
	try = func(done uint32, state string) {
		due := int32(models.Open)
		for i, res := range c.Res {
			if done>>i&1 == 0 {
				due = min(due, res)
			}
		}
		if due == models.Open {
			f(order)
		}
		for i := range int32(c.Len()) {
			if done>>i&1 != 0 || c.Inv[i] > due {
				continue
			}
			for _, next := range k.next(nil, c.Op(i), state) {
				order = append(order, i)
				try(done|1<<i, next)
				order = order[:len(order)-1]
			}
		}
	}
	try(0, k.init)
}

func TestFencedLockCases(t *testing.T) {
	acquire := func(owner, fence, inv, res int32) row { return row{models.Acquire, owner, fence, inv, res} }
	release := func(owner, inv, res int32) row { return row{models.Release, owner, 0, inv, res} }
	for _, test := range []struct {
		name    string
		holds   int32
		rows    []row
		verdict Verdict
		fail    int32
		why     Explanation
	}{
		{"fences grow", 1, []row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(1, 2, 4, 5)}, Valid, -1, Explanation{}},
		{"a fence shrinks", 1, []row{acquire(0, 2, 0, 1), release(0, 2, 3), acquire(1, 1, 4, 5)},
			Invalid, 5, Explanation{FenceTooLow, []int32{2, 0}}},
		{"a fence stays", 1, []row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(1, 1, 4, 5)},
			Invalid, 5, Explanation{FenceTooLow, []int32{2, 0}}},
		{"an acquire without a fence hides none", 1,
			[]row{acquire(0, 2, 0, 1), release(0, 2, 3), acquire(1, 0, 4, 5), release(1, 6, 7), acquire(0, 1, 8, 9)},
			Invalid, 9, Explanation{FenceTooLow, []int32{4, 0}}},
		{"a crashed acquire of a greater fence is left out", 1,
			[]row{acquire(2, 9, 0, open), acquire(0, 1, 1, 2)}, Valid, -1, Explanation{}},
		{"after a crashed release", 1, []row{acquire(0, 2, 0, 1), release(0, 2, open), acquire(1, 1, 4, 5)},
			Invalid, 5, Explanation{FenceTooLow, []int32{2, 0}}},
		{"held by another", 1, []row{acquire(0, 1, 0, 1), acquire(1, 2, 2, 3)},
			Invalid, 3, Explanation{HeldAlready, []int32{1, 0}}},
		{"again with the same fence", 2, []row{acquire(0, 1, 0, 1), acquire(0, 1, 2, 3)}, Valid, -1, Explanation{}},
		{"again with another", 2, []row{acquire(0, 1, 0, 1), acquire(0, 2, 2, 3)},
			Invalid, 3, Explanation{FenceDiffers, []int32{1, 0}}},
		{"again with the same fence after it was free", 2,
			[]row{acquire(0, 1, 0, 1), release(0, 2, 3), acquire(0, 1, 4, 5)},
			Invalid, 5, Explanation{FenceTooLow, []int32{2, 0}}},
		{"the inner acquire brings the fence", 2,
			[]row{acquire(0, 0, 0, 1), acquire(0, 7, 2, 3), release(0, 4, 5), acquire(0, 7, 6, 7)}, Valid, -1, Explanation{}},
		{"an owner that goes on after a crash", 2, []row{acquire(0, 1, 0, open), acquire(0, 1, 2, 3)}, Ambiguous, -1, Explanation{}},
		{"a kind that locks do not know", 2, []row{{models.Release + 1, 0, 0, 0, 1}}, Ambiguous, -1, Explanation{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := FencedLock(columnsOf(test.rows...), test.holds, WantWitness|WantFailure)
			if fmt.Sprint(d.Verdict, d.Fail, d.Why) != fmt.Sprint(test.verdict, test.fail, test.why) {
				t.Errorf("%+v", d)
			}
			if d.Verdict == Ambiguous && d.Reason.Cause == NotAmbiguous {
				t.Error("no reason")
			}
		})
	}
}
