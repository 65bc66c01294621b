package container

import (
	"math/rand/v2"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families/testkit"
	"clew/models"
)

// manyUnknown makes a small random history in which many removes crashed with unknown values.
func manyUnknown(k *testkit.Type, rng *rand.Rand) *models.Columns {
	s := containerRun{ops: 4 + rng.IntN(9), processes: 1 + rng.IntN(4), adds: 0.4 + 0.3*rng.Float64(),
		peeks: 0.2 * float64(rng.IntN(2)), crash: 0.2 + 0.4*rng.Float64(), unknown: 1, priorities: 1 + rng.Int32N(5)}
	c := s.run(k, rng)
	for i, kind := range c.Kind { // adds mostly return
		if kind == models.Enqueue && c.Res[i] == models.Open && rng.IntN(4) > 0 {
			c = returning(c, int32(i))
		}
	}
	switch rng.IntN(3) {
	case 0:
		c = scramble(c, rng, s.priorities)
	case 1:
		i, j := rng.IntN(c.Len()), rng.IntN(c.Len())
		if hasValue(c.Kind[i]) && c.Kind[i] == c.Kind[j] {
			c.A[i], c.A[j], c.B[i], c.B[j] = c.A[j], c.A[i], c.B[j], c.B[i]
		}
	}
	if k != heapKind {
		clear(c.B)
	}
	return c
}

// returning returns the history with operation o returning directly after its invocation.
func returning(c *models.Columns, o int32) *models.Columns {
	at := c.Inv[o]
	out := &models.Columns{Events: c.Events + 1}
	later := func(t int32) int32 {
		if t > at && t != models.Open {
			t++
		}
		return t
	}
	for i := range int32(c.Len()) {
		res := later(c.Res[i])
		if i == o {
			res = at + 1
		}
		out.Append(later(c.Inv[i]), res, c.Op(i))
	}
	return out
}

func TestUnknownRemoves(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			randomContainers(t, k, testkit.Sample{Seed: 11, Full: 3500, Long: 400_000, Prefixes: 4,
				Make: func(rng *rand.Rand) *models.Columns { return manyUnknown(k, rng) }})
		})
	}
}

// TestMatchingAgreesWithTheSearch decides queues without the shortcut.
func TestMatchingAgreesWithTheSearch(t *testing.T) {
	searched := (&container{plain: decideQueue, why: whyQueue}).algorithm()
	rng := rand.New(rand.NewPCG(13, 14))
	for range effort.Histories(10_000, 10_000) {
		c := manyUnknown(queueKind, rng)
		got, want := queueKind.Decide(c, fastpath.WantFailure), searched.Run(fastpath.NewInput(t.Context(), c, 0), fastpath.WantFailure)
		if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, queueKind.Show(c))
		}
	}
}

// TestBranchingIsCutOff: with few tries the answer is the same, or Unknown.
func TestBranchingIsCutOff(t *testing.T) {
	defer func(n int) { maxTries = n }(maxTries)
	rng := rand.New(rand.NewPCG(15, 16))
	cut := 0
	for range effort.Histories(6000, 6000) {
		k := allKinds[rng.IntN(len(allKinds))]
		c := manyUnknown(k, rng)
		maxTries = 300
		want := k.Decide(c, fastpath.WantFailure)
		maxTries = 1
		got := k.Decide(c, fastpath.WantFailure)
		switch {
		case got.Reason.Is(Branching):
			cut++
			if c.Kind[got.Reason.Rows[0]] != models.DequeueAny {
				t.Fatalf("%+v", got)
			}
		case got.Verdict != want.Verdict || got.FailEvent != want.FailEvent && want.FailEvent >= 0:
			t.Fatalf("%+v\nnot %+v\n%s", got, want, queueKind.Show(c))
		}
	}
	if cut == 0 {
		t.Error("never cut off")
	}
}

// TestContainersDoNotDependOnNumbers stretches events, values and priorities
// until they are sparse.
func TestContainersDoNotDependOnNumbers(t *testing.T) {
	for i, k := range allKinds {
		k.NumbersDoNotMatter(t, testkit.Spread{
			Make: func(rng *rand.Rand) *models.Columns { return smallContainer(k, rng) }, Seed: 17 + 2*uint64(i), N: 2000,
			Want: fastpath.WantFailure, Factor: 1000, Shift: 5, AnyOrder: true,
			Op: func(op models.Op) models.Op {
				return models.Op{Kind: op.Kind, A: 1_000_000 + op.A*1000, B: op.B * 77_777}
			},
		})
	}
}

// TestContainersAllocateNothingPerOperation counts allocations of histories of
// two sizes; the levels of a tree are few.
func TestContainersAllocateNothingPerOperation(t *testing.T) {
	for _, k := range allKinds {
		var allocs [2]float64
		for i, ops := range []int{1000, 30_000} {
			c := containerRun{ops: ops, processes: 10, adds: 0.55, priorities: 100}.run(k, rand.New(rand.NewPCG(1, 1)))
			allocs[i] = testing.AllocsPerRun(3, func() { k.Decide(c, fastpath.WantWitness) })
		}
		if allocs[1] > allocs[0]+60 || allocs[0] > 120 {
			t.Errorf("%s: %v allocations", k.Name, allocs)
		}
	}
}

// TestWhatWasTakenAgreesWithTheSearch decides priority queues without the shortcut, which finds out nearly always what was taken.
func TestWhatWasTakenAgreesWithTheSearch(t *testing.T) {
	searched := (&container{plain: decidePriority, why: whyPriority}).algorithm()
	rng := rand.New(rand.NewPCG(19, 20))
	unknown := 0
	for range effort.Histories(10_000, 10_000) {
		c := manyUnknown(heapKind, rng)
		got, want := heapKind.Decide(c, fastpath.WantFailure), searched.Run(fastpath.NewInput(t.Context(), c, 0), fastpath.WantFailure)
		if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, heapKind.Show(c))
		}
		if all, _ := prepare(fastpath.NewInput(t.Context(), c, 0)); all != nil {
			if _, ok := matchPriority(all); !ok {
				unknown++
			}
		}
	}
	if unknown > 0 {
		t.Errorf("the shortcut does not decide %d histories", unknown)
	}
}
