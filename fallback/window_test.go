package fallback

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// switches are the rules of the searches with each of them off, and with all.
var switches = map[string]Rules{
	"every rule on":      {},
	"no eager reads":     {NoEagerReads: true},
	"no canonical order": {NoCanonicalOrder: true},
	"no domination":      {NoDomination: true},
	"no covering":        {NoCovering: true},
	"no local proof":     {NoLocalProof: true},
	"no quiescence":      {NoQuiescence: true},
	"no rule on":         {NoEagerReads: true, NoCanonicalOrder: true, NoDomination: true, NoCovering: true, NoLocalProof: true, NoQuiescence: true},
}

func generated(t *testing.T, spec models.Spec, o gen.Options, seed uint64) (*models.Operations, string) {
	t.Helper()
	o.Model, o.Permits, o.MaxHolds = spec.Name, spec.Permits, models.DefaultMaxHolds
	text := gen.New(gen.Rand(seed), o).Text
	return readText(t, spec, text), text
}

func readText(t *testing.T, spec models.Spec, text string) *models.Operations {
	t.Helper()
	h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := spec.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

// compare decides operations by two engines: they agree on the verdict and on
// the first failing completion, and each one's linearization replays.
func compare(t *testing.T, ops *models.Operations, text, name string, one, other Engine) Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a, b := one.Decide(ctx, ops, Limits{}), other.Decide(ctx, ops, Limits{})
	if a.Verdict == Unknown || b.Verdict == Unknown {
		return Unknown
	}
	if a.Verdict != b.Verdict || a.Verdict == Invalid && a.Fail != b.Fail {
		t.Fatalf("%s: %s says %d (event %d), %s %d (event %d) of\n%s", name, one.Name(), a.Verdict, a.Fail, other.Name(), b.Verdict, b.Fail, text)
	}
	for _, x := range []Answer{a, b} {
		if _, err := models.Replay(ops.Model, &ops.Columns, x.Order); err != nil {
			t.Fatalf("%s: an order does not replay: %v in\n%s", name, err, text)
		}
	}
	return a.Verdict
}

// generatedModels is every model.
func generatedModels() []models.Spec {
	var specs []models.Spec
	for _, about := range models.All() {
		spec := models.Spec{Name: about.Name}
		if strings.HasSuffix(spec.Name, "semaphore") {
			spec.Permits = 3
		}
		specs = append(specs, spec)
	}
	return specs
}

func TestNoRuleChangesAnAnswer(t *testing.T) {
	n := uint64(300)
	if os.Getenv("CLEW_LONG") == "1" {
		n = 20_000
	}
	for _, spec := range generatedModels() {
		model := spec.Name
		valid, invalid := 0, 0
		for seed := range n {
			ops, text := generated(t, spec, gen.Options{}, seed)
			for name, rules := range switches {
				compare(t, ops, text, model+", "+name, Frontier{rules}, Porcupine{})
				switch compare(t, ops, text, model+", "+name, Window{Rules: rules}, Porcupine{}) {
				case Valid:
					valid++
				case Invalid:
					invalid++
				}
			}
		}
		if valid == 0 || invalid == 0 {
			t.Errorf("%s: %d valid, %d invalid: one verdict is missing", model, valid, invalid)
		}
	}
}

func TestEnginesAgreeOnLongerHistories(t *testing.T) {
	n := uint64(60)
	if os.Getenv("CLEW_LONG") == "1" {
		n = 2000
	}
	for _, spec := range generatedModels() {
		model := spec.Name
		valid, invalid, unknown := 0, 0, 0
		for seed := range n {
			ops, text := generated(t, spec, gen.Options{Operations: 40}, 1_000_000+seed)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			undecided := Porcupine{}.Decide(ctx, ops, Limits{Memory: NewBudget(200 << 20)}).Verdict == Unknown
			cancel()
			if undecided {
				unknown++
				continue
			}
			compare(t, ops, text, model, Frontier{}, Porcupine{})
			switch compare(t, ops, text, model, Window{}, Porcupine{}) {
			case Valid:
				valid++
			case Invalid:
				invalid++
			}
		}
		t.Logf("%s: %d valid, %d invalid, %d not decided by porcupine", model, valid, invalid, unknown)
		if valid == 0 || invalid == 0 {
			t.Errorf("%s: one verdict is missing", model)
		}
	}
}

func TestSearchesStopAtTheirLimits(t *testing.T) {
	for _, e := range []Engine{Window{}, Frontier{}, Race{Window{}, Frontier{}}} {
		t.Run(e.Name(), func(t *testing.T) { stopsAtItsLimits(t, e) })
	}
}

func stopsAtItsLimits(t *testing.T, e Engine) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if a := e.Decide(ctx, endless(20, counter{}), Limits{}); a.Verdict != Unknown || a.Cause != Timeout {
		t.Errorf("%+v, want unknown for the time", a)
	}
	t.Logf("stopped %v after the limit", time.Since(start)-50*time.Millisecond)
	budget := NewBudget(1 << 20)
	if a := e.Decide(context.Background(), endless(20, counter{}), Limits{Memory: budget}); a.Verdict != Unknown || a.Cause != OutOfMemory {
		t.Errorf("%+v, want unknown for the memory", a)
	}
	if left := budget.left.Load(); left != 1<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	settles(t, before)
}

func TestWhatCannotFitIsRefusedBeforeItIsLaidOut(t *testing.T) {
	budget := NewBudget(10 << 20)
	ops := endless(3000, counter{}) // 4.5 million open rows at all returns
	for _, e := range []Engine{Window{}, Frontier{}, Auto{}} {
		if a := e.Decide(context.Background(), ops, Limits{Memory: budget}); a.Verdict != Unknown || a.Cause != OutOfMemory {
			t.Errorf("%s: %s, want unknown for the memory", e.Name(), a.Cause)
		}
	}
	if left := budget.left.Load(); left != 10<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
}

func TestARaceTakesTheFirstVerdictAndStopsTheOthers(t *testing.T) {
	before := runtime.NumGoroutine()
	ops, text := generated(t, models.Spec{Name: "register"}, gen.Options{}, 7)
	want := Window{}.Decide(context.Background(), ops, Limits{})
	a := Race{forever{}, Window{}}.Decide(context.Background(), ops, Limits{})
	if a.Verdict != want.Verdict || a.By != "window" {
		t.Errorf("%+v, want %+v, of\n%s", a, want, text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if a := (Race{forever{}, forever{}}).Decide(ctx, ops, Limits{}); a.Verdict != Unknown || a.Cause != Timeout {
		t.Errorf("%+v, want unknown for the time", a)
	}
	settles(t, before)
}

// forever is an engine that never decides.
type forever struct{}

func (forever) Name() string { return "forever" }
func (forever) Decide(ctx context.Context, _ *models.Operations, _ Limits) Answer {
	<-ctx.Done()
	return Answer{Cause: Stopped(ctx)}
}

func TestWhoRacesDependsOnLengthAndCrashes(t *testing.T) {
	for _, c := range []struct {
		model           string
		length, crashed int
		want            string
	}{
		{"register", 100, 0, "window frontier porcupine"},
		{"register", porcupineRows + 1, 0, "window frontier"},
		{"register", 100, fewCrashed + 1, "window frontier staged"},
		{"fifo-queue", 100, fewCrashed, "window frontier porcupine"},
		{"fifo-queue", 100, fewCrashed + 1, "window frontier"},
	} {
		m, err := models.Spec{Name: c.model}.Model(edn.NewValues())
		if err != nil {
			t.Fatal(err)
		}
		ops := &models.Operations{Model: m}
		for i := range int32(c.length) {
			res := 2*i + 1
			if int(i) < c.crashed {
				res = models.Open
			}
			ops.Append(2*i, res, models.Op{})
		}
		var names []string
		for _, e := range racers(ops) {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s, %d operations, %d crashed: %s, want %s", c.model, c.length, c.crashed, got, c.want)
		}
	}
}
