package fallback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"clew/edn"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// stagedConfigs are the stages as they are, with each exchange off, and with the
// later stages forced.
var stagedConfigs = map[string]StagedRules{
	"as it is":              {},
	"no twins":              {NoTwins: true},
	"no rule G":             {NoRuleG: true},
	"no balance":            {NoBalance: true},
	"forced restarts":       {FirstBudget: 5, BoundsOnly: true},
	"later stages":          {FirstBudget: 1},
	"prices only as bounds": {FirstBudget: 40, BoundsOnly: true},
}

func long() bool { return os.Getenv("CLEW_LONG") == "1" }

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
func agree(t *testing.T, r *rand.Rand, ops *models.Operations, name string, judges ...Engine) (verdict Verdict, compared int) {
	t.Helper()
	decide := func(e Engine, limit time.Duration) Answer {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return e.Decide(ctx, ops, Limits{Memory: NewBudget(1 << 30)})
	}
	var known []Answer
	for _, judge := range judges {
		if b := decide(judge, 2*time.Second); b.Verdict != Unknown {
			known = append(known, b)
		}
	}
	for config, rules := range stagedConfigs {
		if config != "as it is" && r.IntN(3) > 0 {
			continue
		}
		a := decide(Staged{StagedRules: rules}, 20*time.Second)
		if a.Verdict == Unknown {
			t.Logf("%s, %s: undecided for %s", name, config, a.Cause)
			continue
		}
		if err := shows(ops, a); err != nil {
			t.Fatalf("%s: %v\n%s", config, err, rowsText(ops))
		}
		for _, b := range known {
			if compared++; a.Verdict != b.Verdict || a.Fail != b.Fail {
				t.Fatalf("%s, %s: %d (event %d), a judge says %d (event %d) of\n%s", name, config, a.Verdict, a.Fail, b.Verdict, b.Fail, rowsText(ops))
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
			if valid, invalid, ok := boundary(r, ops); ok {
				both = []*models.Operations{valid, invalid}
				edges++
			}
		}
		for _, ops := range both {
			judges := []Engine{Window{MaxSteps: 300_000}, Frontier{}}
			if seed%50 == 0 {
				judges = append(judges, Porcupine{})
			}
			v, compared := agree(t, r, ops, fmt.Sprintf("seed %d", seed), judges...)
			verdicts[v]++
			pairs += compared
			if compared == 0 {
				unknown++
			}
		}
	}
	t.Logf("%d histories, %d of them bisected: %d comparisons, %d valid, %d invalid, %d without a judge", n, edges, pairs, verdicts[Valid], verdicts[Invalid], unknown)
	if verdicts[Valid] == 0 || verdicts[Invalid] == 0 || edges == 0 {
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
		for name, rules := range stagedConfigs {
			if name != "as it is" && r.IntN(3) > 0 {
				continue
			}
			a := Staged{StagedRules: rules}.Decide(context.Background(), ops, Limits{})
			if (a.Verdict == Valid) != want.Linearizable || a.Verdict == Invalid && a.Fail != want.Fail || a.Verdict == Unknown {
				t.Fatalf("seed %d, %s: %+v, the oracle says %+v of\n%s", seed, name, a, want, rowsText(ops))
			}
			if err := shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, rowsText(ops))
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
			ops, text := generated(t, spec, gen.Options{ObserveFailedCAS: spec.ObserveFailedCAS, NilReadsExact: spec.NilReadsExact}, seed)
			for name, rules := range stagedConfigs {
				compare(t, ops, text, spec.Name+", "+name, Staged{StagedRules: rules}, Frontier{})
			}
		}
	}
}

// A crashed class that never ends explains all that the real one explains.
func TestTheRelaxationRefutesOnlyWhatFails(t *testing.T) {
	n := uint64(300)
	if long() {
		n = 10_000
	}
	for _, spec := range generatedModels() {
		model := spec.Name
		refuted, invalid := 0, 0
		for seed := range n {
			ops, text := generated(t, spec, gen.Options{Operations: 14, Crashes: 0.4}, seed)
			want := Frontier{}.Decide(context.Background(), ops, Limits{})
			a := refute(context.Background(), Window{}, ops, Limits{})
			if want.Verdict == Invalid {
				invalid++
			}
			switch {
			case a.Verdict != Invalid:
				continue
			case want.Verdict != Invalid || want.Fail != a.Fail && !ops.ReadsOpenOtherwise():
				t.Fatalf("%s: refuted at %d, but it is %d (event %d):\n%s", model, a.Fail, want.Verdict, want.Fail, text)
			}
			if err := shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", model, err, text)
			}
			refuted++
		}
		t.Logf("%s: %d of %d refuted", model, refuted, invalid)
		if refuted == 0 {
			t.Errorf("%s: nothing was refuted", model)
		}
	}
}
