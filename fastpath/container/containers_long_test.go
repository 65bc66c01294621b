package container

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fastpath"
	"clew/fastpath/internal/testkit"
	"clew/jepsen"
	"clew/models"
)

// spoil changes one operation of a history, so that it may or may not be
// linearizable.
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

// TestLongContainers checks the evidence for long histories, half of them
// spoiled: a witness replays, just before the first failing completion the
// history is linearizable, and a core is not, by itself.
func TestLongContainers(t *testing.T) {
	histories := 150
	if testkit.Long {
		histories = 3000
	}
	for _, k := range allKinds {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			valid, cores := 0, 0
			for range histories {
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
				d := k.decide(c, fastpath.WantWitness|fastpath.WantFailure)
				switch {
				case d.Verdict == jepsen.Valid:
					valid++
					if err := k.replayLong(c, d.Witness); err != nil {
						t.Fatal(err)
					}
					continue
				case d.Verdict != jepsen.Invalid || !spoiled || d.FailEvent < 0:
					t.Fatalf("%+v", d)
				}
				cores += len(d.Core)
				if before := k.decide(testkit.Cut(c, d.FailEvent-1), fastpath.WantWitness); before.Verdict != jepsen.Valid {
					t.Fatalf("before %d: %v", d.FailEvent, before.Verdict)
				} else if err := k.replayLong(testkit.Cut(c, d.FailEvent-1), before.Witness); err != nil {
					t.Fatal(err)
				} else if err := k.replayLong(testkit.Cut(c, d.FailEvent-1), d.Before); err != nil {
					t.Fatal(err)
				}
				if core := k.oracle(fastpath.Input{Columns: c}.Cut(d.FailEvent).Pick(d.Core).Columns); len(d.Core) < 20 && core.Linearizable(d.FailEvent, testkit.All(core.C)) {
					t.Fatalf("core %v is linearizable", d.Core)
				}
			}
			t.Logf("%d of %d valid, cores of %.1f operations", valid, histories, float64(cores)/float64(max(1, histories-valid)))
		})
	}
}

// replayLong is replay for histories with more values than a state of the
// oracle can hold: it runs them on a real container.
func (k *kind) replayLong(c *models.Columns, witness []int32) error {
	r := newReal(k)
	in := make([]bool, c.Len())
	latest := int32(-1)
	for n, i := range witness {
		if in[i] || c.Res[i] < latest {
			return errorAt(n, i)
		}
		in[i] = true
		latest = max(latest, c.Inv[i])
		v, pri, ok := r.front()
		switch kind := c.Kind[i]; {
		case kind == models.Enqueue:
			r.add(c.A[i], c.B[i])
		case kind == models.DequeueEmpty:
			if ok {
				return errorAt(n, i)
			}
		case !ok:
			return errorAt(n, i)
		case kind == models.DequeueAny:
			if k == heapKind {
				return nil // which of several equal ones it took is not said
			}
			r.remove()
		case v != c.A[i]:
			if k != heapKind || pri != c.B[i] || !r.bring(c.A[i]) {
				return errorAt(n, i)
			}
			fallthrough
		default:
			if kind == models.Dequeue {
				r.remove()
			}
		}
	}
	for i := range in {
		if !in[i] && c.Res[i] != models.Open {
			return errorAt(-1, int32(i))
		}
	}
	return nil
}

// bring exchanges a value of a heap with the one at its top, which has the same
// priority.
func (r *real) bring(v int32) bool {
	i := slices.IndexFunc(r.list, func(x [2]int32) bool { return x[0] == v })
	if i < 0 || r.list[i][1] != r.list[0][1] {
		return false
	}
	r.list[0], r.list[i] = r.list[i], r.list[0]
	return true
}

func errorAt(position int, op int32) error {
	return fmt.Errorf("position %d: operation %d cannot stand there, or is missing", position, op)
}

// TestStackByWatchingAndByTree compares the two ways to take values away: they
// leave the same ones.
func TestStackByWatchingAndByTree(t *testing.T) {
	histories := 300
	if testkit.Long {
		histories = 5000
	}
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
		x, done := a.byWatching()
		y := b.byTree()
		if !done {
			t.Errorf("gave up at %d operations", run.Len())
			continue
		}
		for k, order := range [][]int32{x, y} {
			if len(order) < len(a.zones) {
				continue
			}
			w := c.untilLastReturn([]*stackZones{a, b}[k].witness(order, nil))
			c.Columns = withoutEmpties(c.Columns)
			if err := stackKind.replayLong(c.Columns, w); err != nil {
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

// withoutEmpties is a history whose empty answers crashed.
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

// TestGivingUpWatchingChangesNothing has the tree decide what was given up.
func TestGivingUpWatchingChangesNothing(t *testing.T) {
	defer func(n int) { maxWatches = n }(maxWatches)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4000 {
		c := smallContainer(stackKind, rng)
		clear(c.B)
		maxWatches = 64
		want := stackKind.decide(c, fastpath.WantFailure)
		maxWatches = -1
		got := stackKind.decide(c, fastpath.WantFailure|fastpath.WantWitness)
		if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent || !slices.Equal(got.Core, want.Core) {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, showContainer(c))
		}
		if got.Verdict == jepsen.Valid {
			if err := stackKind.replay(c, got.Witness); err != nil {
				t.Fatal(err)
			}
		}
	}
}
