package register

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"clew/fastpath"
	"clew/fastpath/internal/testkit"
	"clew/jepsen"
	"clew/models"
)

// simulation runs processes on a real register; each operation takes effect at
// a random instant between its invocation and its completion.
type simulation struct {
	ops, processes int
	values         int32   // written values; 0: every write has a value of its own
	reads, cas     float64 // shares of the operations; the others are writes
	crash          float64 // share of writes and cas that never return
	staleCAS       bool    // cas expect what the register held when they were invoked
}

// run returns the history. The initial value is 0. Failed cas, and crashed
// reads, are not in it; they take events nevertheless.
func (s simulation) run(rng *rand.Rand) *models.Columns {
	type process struct {
		op      int32 // that is open; -1: a cas that failed, or a crashed read
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
				break // never takes effect
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

// small makes a random history of 2 to 13 operations: half of them runs of a
// register, some of these with one operation spoiled; half of them anything.
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
	histories := 20_000
	if testkit.Long {
		histories = 1_000_000
	}
	for _, test := range []struct {
		name   string
		decide decider
		cas    bool
	}{
		{"register", decideAsRegister, false},
		{"cas-register", decideAsCASRegister, true},
		{"register, decided as cas-register", decideAsCASRegister, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var n testkit.Counts
			for range histories {
				c := small(rng, test.cas)
				compare(t, &n, test.decide, c, 0)
				if rng.IntN(4) == 0 {
					comparePrefixes(t, test.decide, c, 0)
				}
			}
			t.Log(&n)
		})
	}
}

// comparePrefixes decides every prefix that ends in a completion as a history
// of its own.
func comparePrefixes(t *testing.T, decide decider, c *models.Columns, init int32) {
	t.Helper()
	fail := newOracle(c, init).FirstFailing()
	for _, end := range c.Res {
		if end == models.Open {
			continue
		}
		prefix := &models.Columns{Events: end + 1}
		for i := range int32(c.Len()) {
			if res := c.Res[i]; c.Inv[i] <= end && (res <= end || c.Kind[i] != models.Read) {
				if res > end {
					res = models.Open
				}
				prefix.Append(c.Inv[i], res, c.Op(i))
			}
		}
		d := decide(prefix, init, fastpath.WantWitness)
		if d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Invalid) != (fail >= 0 && fail <= end) {
			t.Fatalf("up to %d: %v, first failing completion is %d\n%s", end, d.Verdict, fail, show(c, init))
		}
		if d.Verdict == jepsen.Valid {
			if err := replay(prefix, init, d.Witness); err != nil {
				t.Fatalf("up to %d: %v\n%s", end, err, show(c, init))
			}
		}
	}
}

// TestThePruneRulesOutAmbiguityOnly compares decisions with and without it.
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
			t.Fatalf("%v with the prune, %v without\n%s", d.Verdict, e.Verdict, show(c, 0))
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
// register, with few values, are left to the general search.
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
						} else if d.Verdict == jepsen.Invalid || replay(c, 0, d.Witness) != nil {
							t.Fatalf("%v\n%s", d.Verdict, show(c, 0))
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

// TestNumberingDoesNotMatter stretches events and ids until they are sparse.
func TestNumberingDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		c := small(rng, true)
		far := &models.Columns{Events: c.Events*1000 + 7}
		for i := range int32(c.Len()) {
			op, res := c.Op(i), c.Res[i]
			if res != models.Open {
				res = res*1000 + 5
			}
			op.A = 1_000_000 - op.A*1000
			if op.Kind == models.CAS {
				op.B = 1_000_000 - op.B*1000
			}
			far.Append(c.Inv[i]*1000+3, res, op)
		}
		want := decideAsCASRegister(c, 0, fastpath.WantWitness|fastpath.WantFailure)
		got := decideAsCASRegister(far, 1_000_000, fastpath.WantWitness|fastpath.WantFailure)
		stretch := func(t *int32) {
			if *t >= 0 {
				*t = *t*1000 + 5
			}
		}
		stretch(&want.FailEvent)
		stretch(&want.BoundEvent)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nnot %+v\n%s", got, want, show(c, 0))
		}
	}
}

// TestLongHistories replays the witnesses of long histories, and spoils one
// read of each.
func TestLongHistories(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, test := range []struct {
		name   string
		decide decider
		s      simulation
	}{
		{"register", decideAsRegister, simulation{ops: 20_000, processes: 40, reads: 0.6, crash: 0.01}},
		{"register, 2000 processes", decideAsRegister, simulation{ops: 20_000, processes: 2000, reads: 0.6, crash: 0.01}},
		{"cas-register", decideAsCASRegister, simulation{ops: 20_000, processes: 40, reads: 0.4, cas: 0.3, crash: 0.01}},
		{"cas-register, cas that fail", decideAsCASRegister, simulation{ops: 20_000, processes: 10, reads: 0.4, cas: 0.4, crash: 0.01, staleCAS: true}},
		{"cas-register, chains only", decideAsCASRegister, simulation{ops: 20_000, processes: 40, reads: 0.3, cas: 0.699, crash: 0.01}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 10 {
				c := test.s.run(rng)
				d := test.decide(c, 0, fastpath.WantWitness)
				if d.Verdict != jepsen.Valid {
					t.Fatalf("%v: %+v", d.Verdict, d.Reason)
				}
				if err := replay(c, 0, d.Witness); err != nil {
					t.Fatal(err)
				}
				spoil := c.Len()/2 + rng.IntN(c.Len()/2)
				for c.Kind[spoil] != models.Read {
					spoil--
				}
				early := rng.IntN(c.Len() / 3)
				for c.Kind[early] != models.Read {
					early++
				}
				c.A[spoil] = c.A[early]
				d = test.decide(c, 0, fastpath.WantFailure)
				if d.Verdict != jepsen.Invalid || d.FailEvent < 0 || d.Why == nil {
					t.Fatalf("%+v", d)
				}
				t.Logf("core of %d operations, %T", len(d.Core), d.Why)
			}
		})
	}
}

// TestNoAllocationPerOperation counts allocations of histories of two sizes.
func TestNoAllocationPerOperation(t *testing.T) {
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

// TestHalvingTheBoundFindsTheSame compares the two ways to the first failing
// completion.
func TestHalvingTheBoundFindsTheSame(t *testing.T) {
	defer func(n int) { fastpath.MaxDescents = n }(fastpath.MaxDescents)
	rng := rand.New(rand.NewPCG(11, 12))
	for range 5000 {
		c := small(rng, true)
		want := decideAsCASRegister(c, 0, fastpath.WantFailure)
		fastpath.MaxDescents = rng.IntN(3)
		got := decideAsCASRegister(c, 0, fastpath.WantFailure)
		fastpath.MaxDescents = 16
		if got.FailEvent != want.FailEvent {
			t.Fatalf("%d and %d\n%s", got.FailEvent, want.FailEvent, show(c, 0))
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
