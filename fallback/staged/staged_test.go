package staged_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/fallback/auto"
	"clew/fallback/staged"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/oracle"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
)

// stagedConfigs are the stages as they are, with each exchange off, and with the
// later stages forced.
var configs = map[string]staged.Rules{
	"as it is":              {},
	"no twins":              {NoTwins: true},
	"no rule G":             {NoRuleG: true},
	"no balance":            {NoBalance: true},
	"forced restarts":       {FirstBudget: 5, BoundsOnly: true},
	"later stages":          {FirstBudget: 1},
	"prices only as bounds": {FirstBudget: 40, BoundsOnly: true},
}

func long() bool { return os.Getenv("CLEW_LONG") == "1" }

// judge decides the boundaries.
func judge(ops *models.Operations) jepsen.Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return auto.Engine("auto", 0).Decide(ctx, ops, limits.Limits{Memory: limits.NewBudget(64 << 20)}).Verdict
}

// shape says what random operations on a register are like.
type shape struct {
	n, processes, values, crashes int
	reads, writes                 int  // of 10 operations, the others are cas
	failedCAS                     bool // some are cas that failed and are observed
}

func drawShape(r *rand.Rand, least, most, crashes int) shape {
	return shape{
		n: least + r.IntN(most-least+1), processes: 2 + r.IntN(7), values: 2 + r.IntN(5), crashes: r.IntN(crashes + 1),
		reads: 1 + r.IntN(6), writes: r.IntN(4), failedCAS: r.IntN(5) == 0,
	}
}

// crashing is a run on a real register with that many crashed operations, of
// which some took effect, at some time.
func crashing(r *rand.Rand, s shape) *models.Operations {
	type op struct {
		inv, res int32
		op       models.Op
		took     bool
		crash    bool
	}
	var all, busy, ghosts []*op
	crashAt := map[int]bool{}
	for len(crashAt) < min(s.crashes, s.n/2) {
		crashAt[r.IntN(s.n)] = true
	}
	state, event, running := int32(0), int32(0), 0
	value := func() int32 { return int32(r.IntN(s.values)) }
	take := func(o *op) {
		o.took = true
		switch {
		case o.op.Kind == models.Read:
			o.op.A = state
		case o.op.Kind == models.Write:
			state = o.op.A
		case o.crash || s.failedCAS && r.IntN(3) == 0:
			if o.op.A == state {
				state = o.op.B
			} else if !o.crash {
				o.op.Kind, o.op.B = models.FailedCAS, 0
			}
		default:
			o.op.A = state // it succeeds
			state = o.op.B
		}
	}
	for len(all) < s.n || len(busy) > 0 {
		if len(ghosts) > 0 && r.IntN(10) == 0 {
			i := r.IntN(len(ghosts))
			take(ghosts[i])
			ghosts = append(ghosts[:i], ghosts[i+1:]...)
		}
		if len(all) < s.n && running < s.processes && (len(busy) == 0 || r.IntN(2) == 0) {
			o := &op{inv: event, res: models.Open, crash: crashAt[len(all)]}
			k := r.IntN(10)
			switch {
			case k < s.reads && !o.crash:
				o.op = models.Op{Kind: models.Read}
			case k < s.reads+s.writes:
				o.op = models.Op{Kind: models.Write, A: value()}
			default:
				o.op = models.Op{Kind: models.CAS, A: value(), B: value()}
			}
			event++
			all = append(all, o)
			if o.crash {
				ghosts = append(ghosts, o)
				continue
			}
			busy, running = append(busy, o), running+1
			continue
		}
		i := r.IntN(len(busy))
		o := busy[i]
		if !o.took {
			take(o)
			continue
		}
		o.res = event
		event++
		busy, running = append(busy[:i], busy[i+1:]...), running-1
	}
	// The model's numbers are values of a table; these stand for themselves.
	d, err := models.Spec{Name: "cas-register", Init: "nil", ObserveFailedCAS: true}.Model(edn.NewValues())
	if err != nil {
		panic(err)
	}
	ops := &models.Operations{Model: d}
	ops.Events = event
	for i, o := range all {
		ops.Append(o.inv, o.res, o.op)
		ops.Of = append(ops.Of, jepsen.Operation(i))
	}
	return ops
}

// disturb gives some completed reads and cas another value.
func disturb(r *rand.Rand, ops *models.Operations, values int) {
	for range 1 + r.IntN(3) {
		if i := r.IntN(ops.Len()); ops.Res[i] != models.Open && ops.Kind[i] != models.Write {
			ops.A[i] = int32(r.IntN(values))
		}
	}
}

// agree compares every configuration, or some of them, with what the judges
// say, who do not always know.
func agree(t *testing.T, r *rand.Rand, ops *models.Operations, name string, judges ...fallback.Engine) (verdict jepsen.Verdict, compared int) {
	t.Helper()
	decide := func(e fallback.Engine, limit time.Duration) fallback.Answer {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return e.Decide(ctx, ops, limits.Limits{Memory: limits.NewBudget(1 << 30)})
	}
	var known []fallback.Answer
	for _, judge := range judges {
		if b := decide(judge, 2*time.Second); b.Verdict != jepsen.Unknown {
			known = append(known, b)
		}
	}
	for config, rules := range configs {
		if config != "as it is" && r.IntN(3) > 0 {
			continue
		}
		a := decide(staged.Engine{Rules: rules}, 20*time.Second)
		if a.Verdict == jepsen.Unknown {
			t.Logf("%s, %s: undecided for %s", name, config, a.Cause)
			continue
		}
		if err := enginetest.Shows(ops, a); err != nil {
			t.Fatalf("%s: %v\n%s", config, err, rows.Text(ops))
		}
		for _, b := range known {
			if compared++; a.Verdict != b.Verdict || a.FailEvent != b.FailEvent {
				t.Fatalf("%s, %s: %d (event %d), a judge says %d (event %d) of\n%s", name, config, a.Verdict, a.FailEvent, b.Verdict, b.FailEvent, rows.Text(ops))
			}
		}
		verdict = a.Verdict
	}
	return verdict, compared
}

// TestMediumHistoriesAtTheBoundary is the one that finds mistakes: small
// histories alone missed an unsound rule.
func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	n := uint64(300)
	if long() {
		n = 100_000
	}
	verdicts, edges, pairs, unknown := [3]int{}, 0, 0, 0
	for seed := range n {
		r := gen.Rand(seed)
		s := drawShape(r, 20, 220, 14)
		ops := crashing(r, s)
		if r.IntN(4) > 0 {
			disturb(r, ops, s.values)
		}
		both := []*models.Operations{ops}
		if seed%2 == 0 {
			if valid, invalid, ok := rows.Boundary(r, ops, judge); ok {
				both = []*models.Operations{valid, invalid}
				edges++
			}
		}
		for _, ops := range both {
			judges := []fallback.Engine{fallback.Window{MaxSteps: 300_000}, fallback.Frontier{}}
			if seed%50 == 0 {
				judges = append(judges, fallback.Porcupine{})
			}
			v, compared := agree(t, r, ops, fmt.Sprintf("seed %d", seed), judges...)
			verdicts[v]++
			pairs += compared
			if compared == 0 {
				unknown++
			}
		}
	}
	t.Logf("%d histories, %d of them bisected: %d comparisons, %d valid, %d invalid, %d without a judge", n, edges, pairs, verdicts[jepsen.Valid], verdicts[jepsen.Invalid], unknown)
	if verdicts[jepsen.Valid] == 0 || verdicts[jepsen.Invalid] == 0 || edges == 0 {
		t.Error("one kind is missing")
	}
}

func TestSmallHistoriesWithManyCrashesAgreeWithTheOracle(t *testing.T) {
	n := uint64(3000)
	if long() {
		n = 1_000_000
	}
	verdicts := [2]int{}
	for seed := range n {
		r := gen.Rand(seed)
		s := drawShape(r, 2, 9, 6)
		s.processes, s.values = 1+r.IntN(5), 1+r.IntN(4)
		ops := crashing(r, s)
		if r.IntN(3) > 0 {
			disturb(r, ops, s.values)
		}
		want := oracle.Decide(ops, oracle.Options{})
		for name, rules := range configs {
			if name != "as it is" && r.IntN(3) > 0 {
				continue
			}
			a := staged.Engine{Rules: rules}.Decide(context.Background(), ops, limits.Limits{})
			if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
				t.Fatalf("seed %d, %s: %+v, the oracle says %+v of\n%s", seed, name, a, want, rows.Text(ops))
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, rows.Text(ops))
			}
		}
		if want.Linearizable {
			verdicts[0]++
		} else {
			verdicts[1]++
		}
	}
	t.Logf("%d valid, %d invalid", verdicts[0], verdicts[1])
	if 10*verdicts[0] < int(n) || 10*verdicts[1] < int(n) {
		t.Error("one verdict is rare")
	}
}

// Jepsen's histories as text, with all that goes with them.
func TestStagedAgreesOnHistoriesAsTheyAreRead(t *testing.T) {
	n := uint64(500)
	if long() {
		n = 50_000
	}
	for _, spec := range []models.Spec{{Name: "register"}, {Name: "cas-register"}, {Name: "cas-register", ObserveFailedCAS: true, NilReadsExact: true}} {
		for seed := range n {
			ops, text := rows.Generated(t, spec, gen.Options{ObserveFailedCAS: spec.ObserveFailedCAS, NilReadsExact: spec.NilReadsExact}, seed)
			for name, rules := range configs {
				enginetest.Compare(t, ops, text, spec.Name+", "+name, staged.Engine{Rules: rules}, fallback.Frontier{})
			}
		}
	}
}

func TestStagedStopsAtItsLimits(t *testing.T) {
	s := shape{n: 4000, processes: 12, values: 6, crashes: 300, reads: 4, writes: 1}
	r := gen.Rand(1)
	ops := crashing(r, s)
	disturb(r, ops, s.values)
	rules := staged.Rules{BoundsOnly: true, FirstBudget: 10} // it would take long
	for _, limit := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		budget := limits.NewBudget(1 << 30)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		a := staged.Engine{Rules: rules}.Decide(ctx, ops, limits.Limits{Memory: budget})
		t.Logf("stopped %v after the limit", time.Since(start)-limit)
		cancel()
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := limits.NewBudget(2 << 20)
	if a := (staged.Engine{Rules: rules}).Decide(context.Background(), ops, limits.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%d %q, want unknown for the memory", a.Verdict, a.Cause)
	}
	if left := budget.Left(); left != 2<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (staged.Engine{MaxNodes: 100, Rules: rules}).Decide(context.Background(), ops, limits.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q, want that it gives up", a.Verdict, a.Cause)
	}
	if a := (staged.Engine{}).Decide(context.Background(), rows.Endless(3, rows.Counter{}), limits.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}
