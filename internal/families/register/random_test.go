package register

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

// simulation runs processes on a real register. Each operation takes effect
// at a random instant between its invocation and its completion.
type simulation struct {
	ops, processes int
	values         int32   // written values; 0: every write has its own value
	reads, cas     float64 // shares of the operations; the others are writes
	crash          float64 // share of writes and cas that never return
	staleCAS       bool    // a cas expects what the register held when it was invoked
}

// run returns the history. The initial value is 0. Failed cas and crashed
// reads are not in it, but still take events.
func (s simulation) run(rng *rand.Rand) *models.Columns {
	type process struct {
		op      int32 // the open one; -1: a cas that failed, or a crashed read
		applied bool
		crashes bool
	}
	c := &models.Columns{}
	procs := make([]process, s.processes)
	busy := make([]bool, s.processes)
	state, fresh := int32(0), int32(0)
	value := func() int32 {
		fresh++
		if s.values > 0 {
			return rng.Int32N(s.values)
		}
		return fresh
	}
	drop := map[int32]bool{} // cas that turned out to fail
	for started := 0; ; {
		k := rng.IntN(s.processes)
		p := &procs[k]
		switch {
		case !busy[k] && started == s.ops:
			if !contains(busy) {
				return without(c, drop)
			}
		case !busy[k]:
			started++
			busy[k] = true
			*p = process{op: int32(c.Len())}
			op := models.Op{Kind: models.Write}
			switch x := rng.Float64(); {
			case x < s.reads:
				op.Kind = models.Read
			case x < s.reads+s.cas:
				op = models.Op{Kind: models.CAS, A: state, B: value()}
			default:
				op.A = value()
			}
			p.crashes = op.Kind != models.Read && rng.Float64() < s.crash
			c.Append(c.Events, models.Open, op)
			c.Events++
		case !p.applied:
			p.applied = true
			if p.crashes && rng.IntN(2) == 0 {
				break // it never takes effect
			}
			switch i := p.op; c.Kind[i] {
			case models.Read:
				c.A[i] = state
			case models.Write:
				state = c.A[i]
			case models.CAS:
				if !s.staleCAS {
					c.A[i] = state
				}
				if c.A[i] == state {
					state = c.B[i]
				} else if !p.crashes {
					drop[i] = true
				}
			}
		default:
			busy[k] = false
			if !p.crashes {
				c.Res[p.op] = c.Events
			}
			c.Events++
		}
	}
}

func contains(busy []bool) bool {
	for _, b := range busy {
		if b {
			return true
		}
	}
	return false
}

func without(c *models.Columns, drop map[int32]bool) *models.Columns {
	if len(drop) == 0 {
		return c
	}
	out := &models.Columns{Events: c.Events}
	for i := range int32(c.Len()) {
		if !drop[i] {
			out.Append(c.Inv[i], c.Res[i], c.Op(i))
		}
	}
	return out
}

// small makes a random history of 2 to 13 operations. Half of these are runs
// of a register, some with one operation spoiled. The others are arbitrary.
func small(rng *rand.Rand, cas bool) *models.Columns {
	s := simulation{ops: 2 + rng.IntN(12), processes: 1 + rng.IntN(6), reads: 0.2 + 0.6*rng.Float64(),
		crash: max(0, 0.8*rng.Float64()-0.2), staleCAS: rng.IntN(2) == 0}
	if rng.IntN(3) > 0 {
		s.values = 2 + rng.Int32N(int32(s.ops)+3)
	}
	if cas {
		s.cas = rng.Float64() * (1 - s.reads)
	}
	c := s.run(rng)
	top := max(s.values, int32(s.ops)) + 1
	anything := rng.IntN(2) == 0
	for i := range c.Inv {
		if !anything && (i > 0 || rng.IntN(2) == 0) {
			break
		}
		k := i
		if !anything {
			k = rng.IntN(c.Len())
		}
		other := c.Op(rng.Int32N(int32(c.Len())))
		v := other.A
		switch {
		case rng.IntN(20) == 0:
			v = rng.Int32N(top)
		case other.Kind == models.CAS && rng.IntN(2) == 0:
			v = other.B
		}
		switch {
		case anything && rng.IntN(3) == 0:
		case c.Kind[k] == models.CAS && rng.IntN(2) == 0:
			c.B[k] = v
		case c.Kind[k] != models.Write || s.values > 0:
			c.A[k] = v
		}
	}
	return c
}

func TestRandomHistories(t *testing.T) {
	for _, test := range []struct {
		name string
		k    *testkit.Type
		cas  bool
	}{
		{"register", asRegister, false},
		{"cas-register", asCASRegister, true},
		{"register, decided as cas-register", asCASRegister, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			make := func(rng *rand.Rand) *models.Columns { return small(rng, test.cas) }
			test.k.Random(t, testkit.Sample{Make: make, Seed: 1, Full: 7000, Long: 1_000_000, Prefixes: 4})
		})
	}
}

// TestThePruneRulesOutAmbiguityOnly compares decisions with and without the prune.
func TestThePruneRulesOutAmbiguityOnly(t *testing.T) {
	defer func() { prune = true }()
	rng := rand.New(rand.NewPCG(3, 4))
	with, without := 0, 0
	for range 10_000 {
		c := small(rng, true)
		prune = true
		d := decideAsCASRegister(c, 0, fastpath.WantWitness)
		prune = false
		e := decideAsCASRegister(c, 0, fastpath.WantWitness)
		if e.Verdict != jepsen.Unknown && e.Verdict != d.Verdict {
			t.Fatalf("%v with the prune, %v without\n%s", d.Verdict, e.Verdict, asCASRegister.Show(c))
		}
		if d.Verdict == jepsen.Unknown {
			with++
		}
		if e.Verdict == jepsen.Unknown {
			without++
		}
	}
	if with >= without {
		t.Errorf("%d histories are ambiguous with the prune, %d without", with, without)
	}
	t.Logf("ambiguous of 10000: %d with the prune, %d without", with, without)
}

// TestAmbiguousHistoriesAreFew reports how many histories of a working
// register with few values are left to the general search.
func TestAmbiguousHistoriesAreFew(t *testing.T) {
	defer func() { prune = true }()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, values := range []int32{5, 50, 500, 5000, 0} {
		for _, processes := range []int{2, 10, 100} {
			for _, cas := range []float64{0, 0.3} {
				s := simulation{ops: 100, processes: processes, values: values, reads: 0.4, cas: cas, crash: 0.05}
				var rate [2]float64
				for range 200 {
					c := s.run(rng)
					for k := range rate {
						prune = k == 0
						d := decideAsCASRegister(c, 0, fastpath.WantWitness)
						if d.Verdict == jepsen.Unknown {
							rate[k] += 0.5
						} else if d.Verdict == jepsen.Invalid || asCASRegister.Shows(c, d.Witness) != nil {
							t.Fatalf("%v\n%s", d.Verdict, asCASRegister.Show(c))
						}
					}
				}
				if values == 0 && rate[0] > 0 {
					t.Errorf("ambiguous though all values differ")
				}
				t.Logf("100 operations, %4d values, %3d processes, %2.0f%% cas: %5.1f%% ambiguous, %5.1f%% without the prune",
					values, processes, 100*cas, rate[0], rate[1])
			}
		}
	}
}

// TestNumberingDoesNotMatter stretches events and ids until they are sparse, and makes ids descend.
func TestNumberingDoesNotMatter(t *testing.T) {
	const far = 1_000_000
	asCASRegister.NumbersDoNotMatter(t, testkit.Spread{
		Type: &testkit.Type{Decide: func(c *models.Columns, want fastpath.Want) fastpath.Decision {
			return decideAsCASRegister(c, far, want)
		}},
		Make: func(rng *rand.Rand) *models.Columns { return small(rng, true) }, Seed: 7, N: 3000,
		Want: fastpath.WantWitness | fastpath.WantFailure, Factor: 1000, Shift: 5,
		Op: func(op models.Op) models.Op {
			op.A = far - op.A*1000
			if op.Kind == models.CAS {
				op.B = far - op.B*1000
			}
			return op
		},
	})
}

// TestLongHistories checks the evidence for long histories. It spoils one
// read of each, so that none is linearizable.
func TestLongHistories(t *testing.T) {
	for _, test := range []struct {
		name string
		k    *testkit.Type
		s    simulation
	}{
		{"register", asRegister, simulation{ops: 20_000, processes: 40, reads: 0.6, crash: 0.01}},
		{"register, 2000 processes", asRegister, simulation{ops: 20_000, processes: 2000, reads: 0.6, crash: 0.01}},
		{"cas-register", asCASRegister, simulation{ops: 20_000, processes: 40, reads: 0.4, cas: 0.3, crash: 0.01}},
		{"cas-register, cas that fail", asCASRegister, simulation{ops: 20_000, processes: 10, reads: 0.4, cas: 0.4, crash: 0.01, staleCAS: true}},
		{"cas-register, chains only", asCASRegister, simulation{ops: 20_000, processes: 40, reads: 0.3, cas: 0.699, crash: 0.01}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c *models.Columns
			spoiled := true
			verdicts := testkit.Marathon{Seed: 9, Full: 8, Long: 8, Decided: true, Make: func(rng *rand.Rand) (*testkit.Type, *models.Columns, bool) {
				if spoiled = !spoiled; !spoiled {
					c = test.s.run(rng)
				} else {
					spoilRead(c, rng)
				}
				return test.k, c, spoiled
			}}.Run(t)
			if verdicts[jepsen.Invalid] != 4 {
				t.Errorf("%d of 4 spoiled histories are invalid", verdicts[jepsen.Invalid])
			}
		})
	}
}

// spoilRead makes a late read return what an early one returned.
func spoilRead(c *models.Columns, rng *rand.Rand) {
	late := c.Len()/2 + rng.IntN(c.Len()/2)
	for c.Kind[late] != models.Read {
		late--
	}
	early := rng.IntN(c.Len() / 3)
	for c.Kind[early] != models.Read {
		early++
	}
	c.A[late] = c.A[early]
}

// TestNoAllocationPerOperation counts allocations of histories of two sizes.
func TestNoAllocationPerOperation(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector allocates, too
	for _, test := range []struct {
		name   string
		decide decider
		cas    float64
	}{{"register", decideAsRegister, 0}, {"cas-register", decideAsCASRegister, 0.3}} {
		var allocs [2]float64
		for k, ops := range []int{1000, 30_000} {
			c := simulation{ops: ops, processes: 10, reads: 0.4, cas: test.cas, crash: 0.01}.run(rand.New(rand.NewPCG(1, 1)))
			allocs[k] = testing.AllocsPerRun(3, func() { test.decide(c, 0, fastpath.WantWitness) })
		}
		if allocs[0] != allocs[1] || allocs[0] > 10 {
			t.Errorf("%s: %v allocations", test.name, allocs)
		}
	}
}

// TestHalvingTheBoundFindsTheSame compares the two ways to find the first failing completion.
func TestHalvingTheBoundFindsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 5000 {
		c := small(rng, true)
		want := decideAsCASRegister(c, 0, fastpath.WantFailure)
		halving := *casRegister
		halving.FewerDescents = fastpath.MaxDescents - rng.IntN(3)
		got := halving.Run(fastpath.NewInput(t.Context(), c, 0), fastpath.WantFailure)
		if got.FailEvent != want.FailEvent {
			t.Fatalf("%d and %d\n%s", got.FailEvent, want.FailEvent, asCASRegister.Show(c))
		}
	}
}

// TestManyViolations: the evidence is always the latest of many violations.
func TestManyViolations(t *testing.T) {
	const n = 20_000
	c := &models.Columns{Events: 2 * n}
	for i := range int32(n) {
		c.Append(2*i, 2*i+1, models.Op{Kind: models.Read, A: n - i})
	}
	for _, decide := range []decider{decideAsRegister, decideAsCASRegister} {
		if d := decide(c, 0, fastpath.WantFailure); d.FailEvent != 1 {
			t.Errorf("%+v", d)
		}
	}
}
