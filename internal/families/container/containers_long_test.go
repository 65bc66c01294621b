package container

import (
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

// spoil changes one operation of a history, which may or may not stay linearizable.
func spoil(c *models.Columns, rng *rand.Rand) {
	i := rng.IntN(c.Len())
	for !hasValue(c.Kind[i]) || c.Kind[i] == models.Enqueue || c.Res[i] == models.Open {
		i = rng.IntN(c.Len())
	}
	switch rng.IntN(4) {
	case 0: // found it empty
		c.Kind[i], c.A[i], c.B[i] = models.DequeueEmpty, 0, 0
	case 1: // only saw it
		c.Kind[i] = models.Peek
	default: // exchanged what they saw
		for k := i + 1; k < c.Len(); k++ {
			if c.Kind[k] == c.Kind[i] && c.Res[k] != models.Open && rng.IntN(30) == 0 {
				c.A[i], c.A[k] = c.A[k], c.A[i]
				c.B[i], c.B[k] = c.B[k], c.B[i]
				return
			}
		}
	}
}

// TestLongContainers checks the evidence for long histories, half of them spoiled.
func TestLongContainers(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			testkit.Marathon{Seed: 3, Full: 150, Long: 3000, Decided: true, Make: func(rng *rand.Rand) (*testkit.Type, *models.Columns, bool) {
				s := containerRun{ops: 1000 + rng.IntN(2000), processes: 1 << rng.IntN(9), adds: 0.4 + 0.2*rng.Float64(),
					crash: 0.02 * rng.Float64(), priorities: 1 + rng.Int32N(300), unknown: float64(rng.IntN(2)), capUnknown: 3}
				if rng.IntN(2) == 0 {
					s.peeks = 0.3 * rng.Float64()
				}
				c := s.run(k, rng)
				spoiled := rng.IntN(2) == 0
				if spoiled {
					spoil(c, rng)
				}
				return k, c, spoiled
			}}.Run(t)
		})
	}
}

// Values of short histories enter the witness while others are taken away, too.
func init() { atOnce = 3 }

// TestStackByWatchingAndByTree compares the two ways to take values away:
// they must leave the same values.
func TestStackByWatchingAndByTree(t *testing.T) {
	histories := effort.Histories(100, 5000)
	rng := rand.New(rand.NewPCG(5, 6))
	invalid := 0
	for n := range histories {
		s := containerRun{ops: 1000 + rng.IntN(9000), processes: 1 << rng.IntN(10), adds: 0.4 + 0.2*rng.Float64(),
			peeks: 0.3 * float64(rng.IntN(2)) * rng.Float64(), crash: 0.02 * rng.Float64()}
		if n%2 == 0 {
			s.ops = 20 + rng.IntN(100)
		}
		run := s.run(stackKind, rng)
		for range rng.IntN(3) {
			spoil(run, rng)
		}
		c, _ := prepare(fastpath.NewInput(t.Context(), run, 0))
		if c == nil {
			continue
		}
		c.empties = nil
		a, b := newStackZones(c), newStackZones(c)
		a.safe, b.safe = make([]int32, run.Len()), make([]int32, run.Len())
		x, done := a.byWatching(nil)
		y := b.byTree()
		if !done {
			t.Errorf("gave up at %d operations", run.Len())
			continue
		}
		for k, order := range [][]int32{x, y} {
			if len(order) < len(a.zones) {
				continue
			}
			s := []*stackZones{a, b}[k]
			list := s.newList(nil, s.byEvent(s.Events+2))
			s.enterAll(list, order)
			w := c.untilLastReturn(s.witness(list))
			c.Columns = withoutEmpties(c.Columns)
			if err := stackKind.Shows(c.Columns, w); err != nil {
				t.Fatal(k, err)
			}
		}
		if len(x) < len(a.zones) {
			invalid++
		}
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			t.Fatalf("%d and %d of %d zones taken away", len(x), len(y), len(a.zones))
		}
	}
	t.Logf("%d of %d invalid", invalid, histories)
}

// withoutEmpties returns a history whose empty answers crashed.
func withoutEmpties(c *models.Columns) *models.Columns {
	d := *c
	d.Res = slices.Clone(c.Res)
	for i, kind := range c.Kind {
		if kind == models.DequeueEmpty {
			d.Res[i] = models.Open
		}
	}
	return &d
}

// TestGivingUpWatchingChangesNothing lets the tree decide what watching gave up.
func TestGivingUpWatchingChangesNothing(t *testing.T) {
	defer func(n int) { maxWatches = n }(maxWatches)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4000 {
		c := smallContainer(stackKind, rng)
		clear(c.B)
		maxWatches = 64
		want := stackKind.Decide(c, fastpath.WantFailure)
		maxWatches = -1
		got := stackKind.Decide(c, fastpath.WantFailure|fastpath.WantWitness)
		if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent || !slices.Equal(got.Core, want.Core) {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, queueKind.Show(c))
		}
		if got.Verdict == jepsen.Valid {
			if err := stackKind.Shows(c, got.Witness); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The numbers of priorities exceed one digit, or two, of the sort.
func TestManyPriorities(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{10, 2047, 2048, 2049, 5000, 70_000} {
		order := rng.Perm(n)
		for _, wrong := range []bool{false, true} {
			c := &models.Columns{Events: int32(4 * n)}
			for i, rank := range order {
				c.Append(int32(2*i), int32(2*i+1), models.Op{Kind: models.Enqueue, A: int32(rank), B: int32(rank)})
			}
			for i := range n {
				rank := n - 1 - i // the highest first
				if wrong && i/2 == n/4 {
					rank = n - 1 - i ^ 1 // these two in the other order
				}
				at := 2*n + 2*i
				c.Append(int32(at), int32(at+1), models.Op{Kind: models.Dequeue, A: int32(rank), B: int32(rank)})
			}
			d := testkit.Decide(Path, models.PriorityShape{}, c, fastpath.WantWitness|fastpath.WantFailure)
			if (d.Verdict == jepsen.Valid) == wrong || d.Verdict == jepsen.Unknown {
				t.Errorf("%d priorities, wrong %t: %v, %v", n, wrong, d.Verdict, d.Reason)
			}
		}
	}
}
