package staged_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/engines/staged"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// variants are the stages as they are, with each exchange switched off, and with
// the later stages forced.
var variants = map[string]staged.Rules{
	"as it is":              {},
	"no twins":              {NoTwins: true},
	"no rule G":             {NoRuleG: true},
	"forced restarts":       {FirstBudget: 5, BoundsOnly: true},
	"later stages":          {FirstBudget: 1},
	"prices only as bounds": {FirstBudget: 40, BoundsOnly: true},
}

func long() bool { return effort.Long() }

// judge decides the boundaries.
func judge(ops *models.Operations) jepsen.Verdict {
	return enginetest.Within(engines.New("auto", 0), ops, enginetest.WorkPerSecond/5).Verdict
}

// agree compares every configuration, or some of them, with what the judges
// say. They do not always know.
func agree(t *testing.T, r *rand.Rand, ops *models.Operations, name string, judges ...fallback.Engine) (verdict jepsen.Verdict, compared int) {
	t.Helper()
	var known []fallback.Answer
	for _, judge := range judges {
		if b := enginetest.Within(judge, ops, 2*enginetest.WorkPerSecond); b.Verdict != jepsen.Unknown {
			known = append(known, b)
		}
	}
	for config, rules := range variants {
		if config != "as it is" && r.IntN(3) > 0 {
			continue
		}
		a := enginetest.Within(staged.Engine{Rules: rules}, ops, 20*enginetest.WorkPerSecond)
		if a.Verdict == jepsen.Unknown {
			t.Logf("%s, %s: undecided for %s", name, config, a.Cause)
			continue
		}
		if err := enginetest.Shows(ops, a); err != nil {
			t.Fatalf("%s: %v\n%s", config, err, testops.Text(ops))
		}
		for _, b := range known {
			if compared++; a.Verdict != b.Verdict || a.FailEvent != b.FailEvent {
				t.Fatalf("%s, %s: %d (event %d), a judge says %d (event %d) of\n%s", name, config, a.Verdict, a.FailEvent, b.Verdict, b.FailEvent, testops.Text(ops))
			}
		}
		verdict = a.Verdict
	}
	return verdict, compared
}

// TestMediumHistoriesAtTheBoundary is the test that finds mistakes: small
// histories alone missed an unsound rule.
func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	n := uint64(300)
	if long() {
		n = 100_000
	}
	verdicts, edges, pairs, unknown := [3]int{}, 0, 0, 0
	for seed := range n {
		r := gen.Rand(seed)
		s := testops.DrawRegisters(r, 20, 220, 14)
		ops := s.Run(r)
		if r.IntN(4) > 0 {
			testops.Disturb(r, ops, s.Values)
		}
		both := []*models.Operations{ops}
		if seed%2 == 0 {
			if valid, invalid, ok := testops.Boundary(r, ops, judge); ok {
				both = []*models.Operations{valid, invalid}
				edges++
			}
		}
		for _, ops := range both {
			judges := []fallback.Engine{configs.Window{MaxSteps: 300_000}, configs.Frontier{}}
			if seed%50 == 0 {
				judges = append(judges, porcupine.Engine{})
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
		s := testops.DrawRegisters(r, 2, 9, 6)
		s.Processes, s.Values = 1+r.IntN(5), 1+r.IntN(4)
		ops := s.Run(r)
		if r.IntN(3) > 0 {
			testops.Disturb(r, ops, s.Values)
		}
		want := oracle.Decide(ops, oracle.Options{})
		for name, rules := range variants {
			if name != "as it is" && r.IntN(3) > 0 {
				continue
			}
			a := staged.Engine{Rules: rules}.Decide(context.Background(), ops, fallback.Limits{})
			if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
				t.Fatalf("seed %d, %s: %+v, the oracle says %+v of\n%s", seed, name, a, want, testops.Text(ops))
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, testops.Text(ops))
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

// Jepsen's histories are read as text, with everything that they can contain.
func TestStagedAgreesOnHistoriesAsTheyAreRead(t *testing.T) {
	n := uint64(500)
	if long() {
		n = 50_000
	}
	for _, spec := range []models.Spec{{Name: "register"}, {Name: "cas-register"}, {Name: "cas-register", ObserveFailedCAS: true, NilReadsExact: true}} {
		for seed := range n {
			ops, text := testops.Generated(t, spec, gen.Options{ObserveFailedCAS: spec.ObserveFailedCAS, NilReadsExact: spec.NilReadsExact}, seed)
			for name, rules := range variants {
				enginetest.Compare(t, ops, text, spec.Name+", "+name, staged.Engine{Rules: rules}, configs.Frontier{})
			}
		}
	}
}

func TestStagedStopsAtItsLimits(t *testing.T) {
	s := testops.Registers{N: 4000, Processes: 12, Values: 6, Crashes: 300, Reads: 4, Writes: 1}
	r := gen.Rand(1)
	ops := s.Run(r)
	testops.Disturb(r, ops, s.Values)
	rules := staged.Rules{BoundsOnly: true, FirstBudget: 10} // it would take long to decide
	for _, work := range []int64{0, enginetest.WorkPerSecond / 1000, enginetest.WorkPerSecond / 50} {
		budget := models.NewMemory(1 << 30)
		a := enginetest.Expires(staged.Engine{Rules: rules}, ops, fallback.Limits{Memory: budget}, work)
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := models.NewMemory(2 << 20)
	if a := (staged.Engine{Rules: rules}).Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%d %q, want unknown for the memory", a.Verdict, a.Cause)
	}
	if left := budget.Left(); left != 2<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (staged.Engine{}).Decide(context.Background(), testops.Endless(3, testops.Counter{}), fallback.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}
