package languages_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/edn"
	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/languages"
	"clew/internal/engines/porcupine"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// variants are the engine as it is, and with each of its techniques switched off.
var variants = enginetest.Configure(func(r languages.Rules) fallback.Engine { return languages.Engine{Rules: r} }, map[string]languages.Rules{
	"as it is":           {},
	"no transients":      {NoTransients: true},
	"no eager looks":     {NoEagerLooks: true},
	"no canonical order": {NoCanonicalOrder: true},
	"no delay":           {NoDelay: true},
	"no demand":          {NoDemand: true},
	"no domination":      {NoDomination: true},
	"no thrift":          {NoThrift: true},
	"no forgetting":      {NoForgetting: true},
	"always forgetting":  {AlwaysForgetting: true},
	"nothing":            {NoTransients: true, NoEagerLooks: true, NoCanonicalOrder: true, NoDelay: true, NoDemand: true, NoDomination: true, NoThrift: true, NoForgetting: true},
})

// judges are engines that may give up.
var judges = []fallback.Engine{configs.Window{MaxSteps: 300_000}, configs.Frontier{}, porcupine.Engine{}}

// Jepsen's histories are read as text, with everything that they can contain.
func TestHistoriesAsTheyAreReadAgreeWithTheOracle(t *testing.T) {
	for _, spec := range []models.Spec{{Name: "stack"}, {Name: "stack", Knossos: true}} {
		variants.Small(t, effort.Histories(600, 1_000_000), func(r *rand.Rand) *models.Operations {
			o := gen.Options{Model: spec.Name, Operations: 2 + r.IntN(8), Processes: 1 + r.IntN(5), Values: 1 + r.IntN(4), Init: true, Knossos: spec.Knossos}
			if r.IntN(2) == 0 {
				o.Crashes = 0.6 * r.Float64()
			}
			h := gen.New(r, o)
			spec.Init = h.Init
			return testops.Read(t, spec, h.Text)
		})
	}
}

func TestSmallHistoriesWithManyCrashesAgreeWithTheOracle(t *testing.T) {
	variants.Small(t, effort.Histories(600, 1_000_000), func(r *rand.Rand) *models.Operations {
		return testops.DrawStacks(r, 2, 10, 6).Run(r)
	})
}

func TestEverySmallHistory(t *testing.T) {
	kinds := []models.Op{{Kind: models.Push, A: 0}, {Kind: models.Push, A: 1}, {Kind: models.Pop, A: 0}, {Kind: models.Pop, A: 1}, {Kind: models.PopAny}, {Kind: models.PopEmpty}, {Kind: models.Peek, A: 0}}
	m, err := models.Spec{Name: "stack"}.Model(edn.NewValues())
	if err != nil {
		t.Fatal(err)
	}
	variants.Every(t, m, kinds, func(op models.Op) (returns, crashes bool) {
		return op.Kind != models.PopAny, op.Kind == models.Push || op.Kind == models.Pop || op.Kind == models.PopAny
	})
}

func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	m := enginetest.Meeting{Configs: variants, Judges: judges, Patience: 2 * enginetest.WorkPerSecond, Others: 2 * enginetest.WorkPerSecond}
	m.AtTheBoundary(t, effort.Histories(30, 20_000), func(r *rand.Rand, most int) *models.Operations {
		s := testops.DrawStacks(r, 20, min(most, 500), 4+r.IntN(most/4))
		s.Processes = 2 + r.IntN(1+min(most/4, 6))
		if r.IntN(3) == 0 {
			s.Values = s.N // few of them repeat
		}
		return s.Run(r)
	})
}

// A core is not linearizable, and on its own it fails where the history does.
func TestCoresAreProofsByThemselves(t *testing.T) {
	m := enginetest.Meeting{Configs: variants, Judges: judges}
	cores, size := 0, 0
	for seed := range effort.Histories(40, 20_000) {
		r := gen.Rand(seed)
		s := testops.DrawStacks(r, 5, 60, 6)
		s.Wrong++
		ops := s.Run(r)
		a := enginetest.Within(languages.Engine{}, ops, 2*enginetest.WorkPerSecond)
		if a.Verdict != jepsen.Invalid {
			continue
		}
		cores++
		size += m.Core(t, ops, a)
	}
	t.Logf("%d cores of %d operations", cores, size)
	if cores == 0 {
		t.Error("none")
	}
}

// hard returns a history for which the engine takes long.
func hard() *models.Operations {
	r := gen.Rand(1)
	return testops.Stacks{N: 3000, Processes: 40, Values: 30, Pops: 10}.Run(r)
}

func TestItStopsAtItsLimits(t *testing.T) {
	ops := hard()
	for _, work := range []int64{0, enginetest.WorkPerSecond / 1000, enginetest.WorkPerSecond / 50} {
		budget := models.NewMemory(1 << 30)
		a := enginetest.Expires(languages.Engine{}, ops, fallback.Limits{Memory: budget}, work)
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := models.NewMemory(2 << 20)
	if a := (languages.Engine{}).Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%d %q, want unknown for the memory", a.Verdict, a.Cause)
	}
	if left := budget.Left(); left != 2<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (languages.Engine{}).Decide(context.Background(), testops.Endless(3, testops.Counter{}), fallback.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}

func TestItTakesTurns(t *testing.T) {
	r := gen.Rand(1)
	ops := testops.Stacks{N: 3000, Processes: 8, Values: 3, Pops: 10}.Run(r)
	relay := engines.Turns{Engines: []fallback.Engine{languages.Engine{}, configs.Window{MaxSteps: 10}}, First: 1000, Turn: 1000, Apart: 1 << 40}
	alone := languages.Engine{}.Decide(context.Background(), ops, fallback.Limits{})
	if a := relay.Decide(context.Background(), ops, fallback.Limits{}); a.Verdict != jepsen.Valid || a.By != "languages" || a.Work < alone.Work || alone.Work < 1000 {
		t.Errorf("%d by %s with work %d; alone %d with %d", a.Verdict, a.By, a.Work, alone.Verdict, alone.Work)
	}
}

// Histories that the engine once decided wrongly. An operation is its invocation, its
// return, its kind and its value.
func TestHistoriesThatWereDecidedWrongly(t *testing.T) {
	const open = models.Open
	for name, ops := range map[string][][4]int32{
		"a set may be covered by one that was reached from another": {
			{3, 12, int32(models.Pop), 4}, {4, 6, int32(models.Push), 4}, {5, 17, int32(models.Peek), 3}, {7, 15, int32(models.Pop), 4},
			{9, open, int32(models.PopAny), 0}, {10, 11, int32(models.Push), 3},
		},
	} {
		m, err := models.Spec{Name: "stack"}.Model(edn.NewValues())
		if err != nil {
			t.Fatal(err)
		}
		h := &models.Operations{Model: m}
		h.Events = 18
		for i, r := range ops {
			h.Append(r[0], r[1], models.Op{Kind: models.Kind(r[2]), A: r[3]})
			h.Of = append(h.Of, jepsen.Operation(i))
		}
		t.Run(name, func(t *testing.T) {
			for config := range variants {
				variants.Judged(t, config, h, oracle.Decide(h, oracle.Options{}))
			}
		})
	}
}

// TestWhatASetWasReachedWithStays: far down the stacks the search may find once that a
// set covers another, and not find it when it passes the same returns again for the
// linearization. The ways to a set have to be the same both times.
func TestWhatASetWasReachedWithStays(t *testing.T) {
	var deep strings.Builder // so many values lie above those in which the stacks differ
	for range 99 {
		deep.WriteString("{:process 9 :type :invoke :f :push :value 9} {:process 9 :type :ok :f :push :value 9}\n")
	}
	ops := testops.Read(t, models.Spec{Name: "stack", Init: "[2 1 1]"}, `
		{:process 0 :type :invoke :f :pop}
		{:process 1 :type :invoke :f :push :value 2}
		{:process 2 :type :invoke :f :push :value 2}
		`+deep.String()+`
		{:process 3 :type :invoke :f :push :value 1} {:process 3 :type :ok :f :push :value 1}
		{:process 3 :type :invoke :f :push :value 1} {:process 3 :type :ok :f :push :value 1}
		{:process 4 :type :invoke :f :push :value 2} {:process 4 :type :info :f :push :value 2}
		{:process 1 :type :ok :f :push :value 2}
		{:process 0 :type :ok :f :pop :value 2}
		{:process 5 :type :invoke :f :push :value 2} {:process 5 :type :info :f :push :value 2}
		{:process 6 :type :invoke :f :pop}
		{:process 7 :type :invoke :f :pop} {:process 7 :type :ok :f :pop :value 1}
		{:process 6 :type :ok :f :pop :value 2}
		{:process 8 :type :invoke :f :pop}
		{:process 2 :type :ok :f :push :value 2}
		{:process 8 :type :ok :f :pop :value nil}`)
	judge := configs.Window{}.Decide(context.Background(), ops, fallback.Limits{}) // the history is too long for the oracle
	want := oracle.Answer{Linearizable: judge.Verdict == jepsen.Valid, Fail: judge.FailEvent}
	for _, name := range []string{"as it is", "always forgetting"} {
		variants.Judged(t, name, ops, want)
	}
}
