package fastpath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"clew/models"
)

// row is an operation for cases: kind, A, B, invocation and return.
type row struct {
	kind     models.Kind
	a, b     int32
	inv, res int32
}

func columnsOf(rows ...row) *models.Columns {
	c := &models.Columns{}
	for _, r := range rows {
		c.Append(r.inv, r.res, models.Op{Kind: r.kind, A: r.a, B: r.b})
		c.Events = max(c.Events, r.inv+1)
		if r.res != models.Open {
			c.Events = max(c.Events, r.res+1)
		}
	}
	return c
}

const open = models.Open

func TestSweepCases(t *testing.T) {
	mutex := func(c *models.Columns, want Want) Decision { return Mutex(c, 0, want) }
	semaphore := func(c *models.Columns, want Want) Decision { return Semaphore(c, 0, 2, want) }
	lookups := func(c *models.Columns, want Want) Decision { return LookupSet(c, nil, want) }
	ownerMutex := func(c *models.Columns, want Want) Decision { return OwnerLock(c, Owned{Holds: 1}, want) }
	bags := func(c *models.Columns, want Want) Decision { return UnorderedQueue(c, nil, want) }
	sets := func(c *models.Columns, want Want) Decision { return GrowSet(c, nil, subsetsOf3(), want) }
	for _, test := range []struct {
		name    string
		decide  func(c *models.Columns, want Want) Decision
		rows    []row
		verdict Verdict
		fail    int32
		core    []int32
		why     Explanation
	}{
		{"an empty history", lookups, nil, Valid, -1, nil, Explanation{}},
		{"a mutex acquired twice", mutex,
			[]row{{models.Acquire, 0, 0, 0, 1}, {models.Acquire, 0, 0, 2, 3}},
			Invalid, 3, []int32{0, 1}, Explanation{HeldAlready, []int32{1, 0}}},
		{"a mutex acquired twice, while a release crashed", mutex,
			[]row{{models.Acquire, 0, 0, 0, 1}, {models.Release, 0, 0, 2, open}, {models.Acquire, 0, 0, 3, 4}},
			Valid, -1, nil, Explanation{}},
		{"a mutex released before it was held", mutex,
			[]row{{models.Release, 0, 0, 0, 1}, {models.Acquire, 0, 0, 2, 3}},
			Invalid, 1, []int32{0}, Explanation{NotHeld, []int32{0, Missing}}},
		{"a semaphore of 2 acquired three times", semaphore,
			[]row{{models.Acquire, 0, 1, 0, 1}, {models.Acquire, 0, 1, 2, 3}, {models.Acquire, 0, 1, 4, 5}},
			Invalid, 5, []int32{0, 1, 2}, Explanation{HeldAlready, []int32{2, 0, 1}}},
		{"a semaphore whose permits go two at a time", semaphore,
			[]row{{models.Acquire, 0, 2, 0, 1}}, Ambiguous, -1, nil, Explanation{}},
		{"a release by another", ownerMutex,
			[]row{{models.Acquire, 1, 1, 0, 1}, {models.Release, 2, 1, 2, 3}},
			Invalid, 3, []int32{0, 1}, Explanation{NotHeld, []int32{1, Missing}}},
		{"an owner that goes on after a crash", ownerMutex,
			[]row{{models.Acquire, 1, 1, 0, open}, {models.Release, 1, 1, 2, 3}}, Ambiguous, -1, nil, Explanation{}},
		{"an owner that goes on after a crash, once it has failed", ownerMutex,
			[]row{{models.Release, 1, 1, 0, 1}, {models.Acquire, 1, 1, 2, open}, {models.Release, 1, 1, 4, 5}},
			Invalid, 1, []int32{0}, Explanation{NotHeld, []int32{0, Missing}}},
		{"an insert that fails, and a contains that says true, while nothing was inserted", lookups,
			[]row{{models.InsertPresent, 5, 0, 0, 3}, {models.Has, 5, 0, 1, 2}},
			Invalid, 2, []int32{1}, Explanation{Unchanged, []int32{1, Initial}}},
		{"the last two operations are enough", lookups,
			[]row{{models.Insert, 5, 0, 0, 1}, {models.Remove, 5, 0, 2, 3}, {models.Insert, 6, 0, 4, 5}, {models.Insert, 5, 0, 6, 7}, {models.Has, 5, 0, 8, 9}, {models.HasNot, 5, 0, 10, 11}},
			Invalid, 11, []int32{4, 5}, Explanation{Unchanged, []int32{5, 4}}},
		{"a value taken twice", bags,
			[]row{{models.Enqueue, 5, 0, 0, 1}, {models.Dequeue, 5, 0, 2, 4}, {models.Dequeue, 5, 0, 3, 5}},
			Invalid, 5, []int32{0, 1, 2}, Explanation{TakenTooOften, []int32{2, 1}}},
		{"an empty answer last", bags,
			[]row{{models.Enqueue, 1, 0, 1, 2}, {models.DequeueEmpty, 0, 0, 10, 11}},
			Invalid, 11, []int32{0, 1}, Explanation{NeverEmpty, []int32{1, 0}}},
		{"an empty answer after a crashed dequeue", bags,
			[]row{{models.Enqueue, 1, 0, 1, 2}, {models.DequeueAny, 0, 0, 3, open}, {models.DequeueEmpty, 0, 0, 10, 11}},
			Valid, -1, nil, Explanation{}},
		{"an open dequeue may take what an empty answer wants gone, until it returns", bags,
			[]row{{models.Enqueue, 1, 0, 0, 1}, {models.Enqueue, 2, 0, 2, 9}, {models.Dequeue, 2, 0, 3, 8}, {models.DequeueEmpty, 0, 0, 4, 5}},
			Invalid, 8, []int32{0, 1, 2, 3}, Explanation{NeverEmpty, []int32{3, 0}}},
		{"a drain", bags, []row{{models.Drain, 0, 0, 0, 1}}, Ambiguous, -1, nil, Explanation{}},
		{"reads of {0} and {1}", sets,
			[]row{{models.Add, 0, 0, 0, 10}, {models.Add, 1, 0, 1, 11}, {models.ReadSet, 1, 0, 2, 4}, {models.ReadSet, 2, 0, 3, 5}},
			Invalid, 5, []int32{0, 1, 2, 3}, Explanation{Incomparable, []int32{2, 3}}},
		{"a value that was read before, and not later", sets,
			[]row{{models.Add, 0, 0, 0, 10}, {models.ReadSet, 1, 0, 2, 4}, {models.ReadSet, 0, 0, 5, 6}},
			Invalid, 6, []int32{0, 1, 2}, Explanation{NotRead, []int32{1, 2}}},
		{"a value that was read before it was added", sets,
			[]row{{models.ReadSet, 1, 0, 0, 1}, {models.Add, 0, 0, 2, 3}},
			Invalid, 1, []int32{0}, Explanation{NeverAdded, []int32{0, 1}}},
		{"a read of the later of two adds only", sets,
			[]row{{models.ReadSet, 2, 0, 0, 5}, {models.Add, 0, 0, 1, 2}, {models.Add, 1, 0, 3, open}},
			Invalid, 5, []int32{0, 1, 2}, Explanation{AddedBefore, []int32{1, 2, 0}}},
		{"a read of what is no set", sets,
			[]row{{models.ReadNoSet, 9, 0, 0, 1}}, Invalid, 1, []int32{0}, Explanation{NotASet, []int32{0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := test.decide(columnsOf(test.rows...), WantWitness|WantFailure)
			if d.Verdict != test.verdict || d.Fail != test.fail || !slices.Equal(d.Core, test.core) ||
				d.Why.Pattern != test.why.Pattern || !slices.Equal(d.Why.Ops, test.why.Ops) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// sparse is a history with gaps between its events.
func sparse(c *models.Columns, factor int32) *models.Columns {
	wide := &models.Columns{Events: c.Events * factor}
	for i := range int32(c.Len()) {
		res := c.Res[i]
		if res != models.Open {
			res *= factor
		}
		wide.Append(c.Inv[i]*factor, res, c.Op(i))
	}
	return wide
}

// TestGapsBetweenEventsDoNotMatter decides histories whose events, and for
// containers values, are sparse.
func TestGapsBetweenEventsDoNotMatter(t *testing.T) {
	const factor, step = 1000, 1_000_003
	for _, k := range slices.Concat(flipTypes, bagTypes[:3], growSetTypes[:1], ownerTypes, fencedTypes, versionedTypes) {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for range 2000 {
				c := k.random(rng)
				d := k.decide(c, WantWitness|WantFailure)
				wide := sparse(c, factor)
				if k.name == "lookup-set" || k.name[0] == 'b' || k.owned {
					for i := range wide.A {
						if wide.Kind[i] != models.DequeueAny && wide.Kind[i] != models.DequeueEmpty || k.name[0] != 'b' {
							wide.A[i] = wide.A[i]*step + 5
						}
					}
				}
				w := k.decide(wide, WantWitness|WantFailure)
				if w.Fail >= 0 {
					w.Fail /= factor
				}
				if w.Verdict != d.Verdict || w.Fail != d.Fail || !slices.Equal(w.Witness, d.Witness) || !slices.Equal(w.Core, d.Core) {
					t.Fatalf("%+v, sparse %+v\n%s", d, w, showSweep(c))
				}
			}
		})
	}
}

// TestLongSweeps checks the evidence for long histories, half of them spoiled: a
// witness replays, and the history just before the first failing completion has
// one. There is no oracle for them.
func TestLongSweeps(t *testing.T) {
	histories := 30
	if long {
		histories = 1000
	}
	bag := bagType("bag with empties, 300 values", 300, true, false)
	for _, k := range slices.Concat(flipTypes, bagTypes[:1], []*sweepType{bag}, growSetTypes, ownerTypes, fencedTypes) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 8))
			valid, invalid := 0, 0
			for range histories {
				c := k.run(rng, 200+rng.IntN(1000), 1<<rng.IntN(6), 0)
				if rng.IntN(2) == 0 {
					k.spoil(c, rng)
				}
				d := k.decide(c, WantWitness|WantFailure)
				switch {
				case d.Verdict == Valid:
					valid++
				case d.Verdict == Invalid && d.Fail >= 0:
					invalid++
					if core, rows := k.cut(c, d.Fail); k.decide(rowsOf(core, rows, d.Core), WantVerdict).Verdict == Valid {
						t.Fatalf("core %v is linearizable\n%s", d.Core, showSweep(c))
					}
					c, _ = k.cut(c, d.Fail-1)
					if d = k.decide(c, WantWitness); d.Verdict != Valid {
						t.Fatalf("%v just before the first failing completion", d.Verdict)
					}
				default:
					continue
				}
				if err := k.replay(c, d.Witness); err != nil && !slices.Contains(c.Kind, models.DequeueAny) {
					t.Fatal(err)
				}
			}
			t.Logf("%d valid, %d invalid", valid, invalid)
		})
	}
}
