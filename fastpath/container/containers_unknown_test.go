package container

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/fastpath/internal/testkit"
	"clew/models"
)

// manyUnknown makes a small random history in which many removes crashed and
// their values are not known.
func manyUnknown(k *kind, rng *rand.Rand) *models.Columns {
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

// returning is a history in which operation o returns directly after its
// invocation.
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
	histories := 10_000
	if testkit.Long {
		histories = 400_000
	}
	for _, k := range allKinds {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 12))
			var n testkit.Counts
			unknown := 0
			for range histories {
				c := manyUnknown(k, rng)
				if slices.Contains(c.Kind, models.DequeueAny) {
					unknown++
				}
				k.check(t, &n, c)
				if rng.IntN(4) == 0 {
					k.checkPrefixes(t, c)
				}
			}
			t.Log(&n, "; with unknown removes:", unknown)
		})
	}
}

// TestMatchingAgreesWithTheSearch decides queues without the shortcut.
func TestMatchingAgreesWithTheSearch(t *testing.T) {
	searched := (&container{plain: decideQueue, why: whyQueue}).algorithm()
	rng := rand.New(rand.NewPCG(13, 14))
	for range 10_000 {
		c := manyUnknown(queueKind, rng)
		got, want := queueKind.decide(c, fastpath.WantFailure), searched.Run(t.Context(), c, 0, fastpath.WantFailure)
		if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, showContainer(c))
		}
	}
}

// TestBranchingIsCutOff: with few tries the answer is the same, or none.
func TestBranchingIsCutOff(t *testing.T) {
	defer func(n int) { maxTries = n }(maxTries)
	rng := rand.New(rand.NewPCG(15, 16))
	cut := 0
	for range 6_000 {
		k := allKinds[rng.IntN(len(allKinds))]
		c := manyUnknown(k, rng)
		maxTries = 300
		want := k.decide(c, fastpath.WantFailure)
		maxTries = 1
		got := k.decide(c, fastpath.WantFailure)
		branching, ok := got.Reason.(*Branching)
		switch {
		case ok:
			cut++
			if c.Kind[branching.Remove] != models.DequeueAny {
				t.Fatalf("%+v", got)
			}
		case got.Verdict != want.Verdict || got.FailEvent != want.FailEvent && want.FailEvent >= 0:
			t.Fatalf("%+v\nnot %+v\n%s", got, want, showContainer(c))
		}
	}
	if cut == 0 {
		t.Error("never cut off")
	}
}

// TestContainersDoNotDependOnNumbers stretches events, values and priorities
// until they are sparse.
func TestContainersDoNotDependOnNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 6_000 {
		k := allKinds[rng.IntN(len(allKinds))]
		c := smallContainer(k, rng)
		far := &models.Columns{Events: c.Events*1000 + 7}
		for i := range int32(c.Len()) {
			op, res := c.Op(i), c.Res[i]
			if res != models.Open {
				res = res*1000 + 5
			}
			far.Append(c.Inv[i]*1000+3, res, models.Op{Kind: op.Kind, A: 1_000_000 + op.A*1000, B: op.B * 77_777})
		}
		got, want := k.decide(far, fastpath.WantFailure), k.decide(c, fastpath.WantFailure)
		for _, t := range []*int32{&want.FailEvent, &want.BoundEvent} {
			if *t >= 0 {
				*t = *t*1000 + 5
			}
		}
		got.Before, want.Before = nil, nil // which order is found depends on events at which nothing happens
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, showContainer(c))
		}
	}
}

// TestContainersAllocateNothingPerOperation counts allocations of histories of
// two sizes; the levels of a tree are few.
func TestContainersAllocateNothingPerOperation(t *testing.T) {
	for _, k := range allKinds {
		var allocs [2]float64
		for i, ops := range []int{1000, 30_000} {
			c := containerRun{ops: ops, processes: 10, adds: 0.55, priorities: 100}.run(k, rand.New(rand.NewPCG(1, 1)))
			allocs[i] = testing.AllocsPerRun(3, func() { k.decide(c, fastpath.WantWitness) })
		}
		if allocs[1] > allocs[0]+60 || allocs[0] > 120 {
			t.Errorf("%s: %v allocations", k.name, allocs)
		}
	}
}
