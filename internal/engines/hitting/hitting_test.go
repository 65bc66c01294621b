package hitting

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// randomPoset returns n operations of at most the given number of processes,
// some crashed.
func randomPoset(r *rand.Rand, n, processes int) *models.Columns {
	c := &models.Columns{}
	crashes := r.Float64() * float64(r.IntN(2))
	var open []int32
	for event := int32(0); c.Len() < n || len(open) > 0; event++ {
		if c.Len() < n && len(open) < processes && (len(open) == 0 || r.IntN(2) == 0) {
			open = append(open, int32(c.Len()))
			c.Append(event, models.Open, models.Op{})
			continue
		}
		if len(open) == 0 {
			break
		}
		i := r.IntN(len(open))
		if r.Float64() >= crashes {
			c.Res[open[i]] = event
		}
		open = slices.Delete(open, i, i+1)
		c.Events = event + 1
	}
	return c
}

// precedes says whether a comes before b in the poset.
func precedes(c *models.Columns, a, b int32) bool { return c.Res[a] < c.Inv[b] }

// stronglyHits is the paper's definition. In the schedule, everything from an
// operation of the tuple on is, or comes after, an operation at its place in
// the tuple or later.
func stronglyHits(c *models.Columns, schedule, tuple []int32) bool {
	for i, x := range tuple {
		at := slices.Index(schedule, x)
		if at < 0 {
			return false
		}
		for _, y := range schedule[at:] {
			if !slices.ContainsFunc(tuple[i:], func(z int32) bool { return z == y || precedes(c, z, y) }) {
				return false
			}
		}
	}
	return true
}

// eachTuple calls f with every tuple of different operations that can run in
// this order.
func eachTuple(c *models.Columns, d int, tuple []int32, f func([]int32)) {
	if len(tuple) == d {
		f(tuple)
		return
	}
	for x := range int32(c.Len()) {
		if !slices.ContainsFunc(tuple, func(y int32) bool { return x == y || precedes(c, x, y) }) {
			eachTuple(c, d, append(slices.Clone(tuple), x), f)
		}
	}
}

func always() bool { return true }

// checkFamily says what is wrong with the families of a poset.
func checkFamily(t *testing.T, c *models.Columns, depth int) (tuples, schedules int) {
	t.Helper()
	f := newFamily(&models.Operations{Columns: *c}, depth, always)
	for d := 1; d <= depth; d++ {
		// What was yielded at a lower depth is not yielded twice.
		clear(f.seen)
		var family [][]int32
		f.each(d, func(s []int32) bool {
			family = append(family, slices.Clone(s))
			return true
		})
		if bound := familyBound(len(f.chains), c.Len(), d); float64(len(family)) > bound {
			t.Fatalf("depth %d: %d schedules, more than %.0f, of %+v", d, len(family), bound, c)
		}
		for i, s := range family {
			checkSchedule(t, c, s)
			if slices.ContainsFunc(family[:i], func(other []int32) bool { return slices.Equal(s, other) }) {
				t.Fatalf("depth %d: %v twice, of %+v", d, s, c)
			}
		}
		eachTuple(c, d, nil, func(tuple []int32) {
			tuples++
			if !slices.ContainsFunc(family, func(s []int32) bool { return stronglyHits(c, s, tuple) }) {
				t.Fatalf("no schedule of %v strongly hits %v of %+v", family, tuple, c)
			}
		})
		schedules += len(family)
	}
	return tuples, schedules
}

// checkSchedule fails the test if a schedule is not a linear extension that
// holds all operations that have returned.
func checkSchedule(t *testing.T, c *models.Columns, schedule []int32) {
	t.Helper()
	for i, y := range schedule {
		for _, x := range schedule[i:] {
			if precedes(c, x, y) || x == y && slices.Contains(schedule[i+1:], y) {
				t.Fatalf("%v is no schedule of %+v", schedule, c)
			}
		}
	}
	for i := range int32(c.Len()) {
		if c.Res[i] != models.Open && !slices.Contains(schedule, i) {
			t.Fatalf("%d is missing in %v of %+v", i, schedule, c)
		}
	}
}

// TestFamiliesStronglyHitEveryTuple checks the paper's theorem on posets of up
// to 8 operations and every tuple of up to 3.
func TestFamiliesStronglyHitEveryTuple(t *testing.T) {
	n := 4000
	if effort.Few() {
		n = 400
	}
	r := gen.Rand(1)
	tuples, schedules, crashed := 0, 0, 0
	for range n {
		c := randomPoset(r, 1+r.IntN(8), 1+r.IntN(5))
		a, b := checkFamily(t, c, 3)
		tuples, schedules = tuples+a, schedules+b
		if slices.Contains(c.Res, models.Open) {
			crashed++
		}
	}
	t.Logf("%d tuples of %d posets, %d with a crash, are hit by %d schedules", tuples, n, crashed, schedules)
	if crashed < n/10 || n-crashed < n/10 {
		t.Errorf("%d of %d posets have a crashed operation", crashed, n)
	}
}

// TestChainsAreChains: every operation is in one of them, and each returns
// before the next begins. There are as few chains as operations are open at
// once.
func TestChainsAreChains(t *testing.T) {
	r := gen.Rand(2)
	for range 500 {
		processes := 1 + r.IntN(6)
		c := randomPoset(r, r.IntN(40), processes)
		f := newFamily(&models.Operations{Columns: *c}, 1, always)
		rows, crashed := 0, 0
		for _, chain := range f.chains {
			rows += len(chain)
			for i := 1; i < len(chain); i++ {
				if !precedes(c, chain[i-1], chain[i]) {
					t.Fatalf("%v is no chain of %+v", chain, c)
				}
			}
		}
		for _, res := range c.Res {
			if res == models.Open {
				crashed++
			}
		}
		if rows != c.Len() || len(f.chains) > processes+crashed {
			t.Fatalf("%v of %d processes, %d crashed: %+v", f.chains, processes, crashed, c)
		}
	}
}

// TestHittingFindsWitnessesOnly: what it calls valid is valid, its
// linearization replays, and it finds every linearizable history of at most
// Depth operations.
func TestHittingFindsWitnessesOnly(t *testing.T) {
	const depth = 4
	n := 250
	if effort.Few() {
		n = 50
	}
	for _, about := range models.All() {
		t.Run(about.Name, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: about.Name}
			if about.Name == "semaphore" || about.Name == "owner-semaphore" {
				spec.Permits = 2
			}
			found, missed, invalid := 0, 0, 0
			for seed := range uint64(n) {
				ops, text := testops.Generated(t, spec, gen.Options{Operations: 7, Permits: 2, MaxHolds: models.DefaultMaxHolds}, 500+seed)
				want := oracle.Decide(ops, oracle.Options{})
				a := Engine{depth}.Decide(context.Background(), ops, fallback.Limits{})
				switch {
				case a.Verdict == jepsen.Valid:
					found++
					checkSchedule(t, &ops.Columns, a.Order)
					if _, err := models.Replay(ops.Model, &ops.Columns, a.Order); err != nil || !want.Linearizable || a.Depth < 1 || a.Depth > depth {
						t.Fatalf("%+v, %v; linearizable: %t\n%s", a, err, want.Linearizable, text)
					}
				case a.Verdict != jepsen.Unknown || a.Cause != jepsen.DepthExhausted || a.Schedules == 0:
					t.Fatalf("%+v\n%s", a, text)
				case want.Linearizable && ops.Len() <= depth:
					t.Fatalf("no witness of %d operations at depth %d\n%s", ops.Len(), depth, text)
				case want.Linearizable:
					missed++
				default:
					invalid++
				}
			}
			t.Logf("%d witnesses, %d histories without one at depth %d, %d that are not linearizable", found, missed, depth, invalid)
			if found < n/10 || invalid < n/50 {
				t.Errorf("%d witnesses, %d histories that are not linearizable", found, invalid)
			}
		})
	}
}

// TestMostHistoriesOfAJavaQueueHaveAWitnessOfLittleDepth: the paper's histories
// have one, and so have these, in which threads overlap as in stress tests
// (docs/hitting.md).
func TestMostHistoriesOfAJavaQueueHaveAWitnessOfLittleDepth(t *testing.T) {
	const n = 40
	found := [6]int{}
	for seed := range uint64(n) {
		text := gen.Threads(seed, "java-queue", 7, 2, 0.9).Text
		ops := testops.Read(t, models.Spec{Name: "java-queue"}, text)
		if a := (Engine{5}).Decide(context.Background(), ops, fallback.Limits{}); a.Verdict == jepsen.Valid {
			found[a.Depth]++
			if _, err := models.Replay(ops.Model, &ops.Columns, a.Order); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	}
	t.Logf("witnessed by depth: %v of %d", found[1:], n)
	if found[1]+found[2] < n*2/3 {
		t.Errorf("only %d of %d up to depth 2", found[1]+found[2], n)
	}
}

func TestHittingEndsWhenItIsToldTo(t *testing.T) {
	ops := testops.Simulated(3000, 10, 3, 0.05, 1)
	for why, cause := range map[error]jepsen.Cause{context.Canceled: jepsen.Interrupted, context.DeadlineExceeded: jepsen.Timeout} {
		if a, _ := enginetest.StoppedSoon(Engine{5}, why); a.Verdict != jepsen.Unknown || a.Cause != cause {
			t.Errorf("%+v", a)
		}
	}
	for _, bytes := range []int64{0, 1000, familyBytes(ops.Len(), 5) + 10} {
		b := models.NewMemory(bytes)
		if a := (Engine{5}).Decide(context.Background(), ops, fallback.Limits{Memory: b}); a.Cause != jepsen.OutOfMemory {
			t.Errorf("with %d bytes: %+v", bytes, a)
		}
		if left := b.Left(); left != bytes {
			t.Errorf("%d of %d bytes come back", left, bytes)
		}
	}
}
