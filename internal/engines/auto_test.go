package engines

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"clew/edn"
	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func TestAnUnknownAnswerSaysHowFarTheSearchGot(t *testing.T) {
	// The search gets quickly to the tenth return, and then nowhere.
	ops := &models.Operations{Model: testops.Counter{}}
	for i := range int32(10) {
		ops.Append(2*i, 2*i+1, models.Op{A: i})
	}
	for i := range int32(20) {
		ops.Append(20+i, 41+i, models.Op{A: i})
	}
	ops.Append(40, 61, models.Op{Kind: 1})
	ops.Events = 62
	for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, porcupine.Engine{}, easyFirst{}, Race{configs.Frontier{}, configs.Window{}}} {
		a := e.Decide(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(1 << 20)})
		if a.Cause != jepsen.OutOfMemory || a.Passed < 10 || a.Held < 100 {
			t.Errorf("%s: %s after %d returns with %d configurations, want out-of-memory after 10 or more with some hundreds", e.Name(), a.Cause, a.Passed, a.Held)
		}
	}
}

func TestASearchTellsHowFarItIs(t *testing.T) {
	ops := testops.Simulated(50, 3, 3, 0, 1)
	for _, r := range rivals {
		if !r.suits(ops.Model) {
			continue
		}
		passed := new(atomic.Int64)
		if a := r.engine.Decide(context.Background(), ops, fallback.Limits{Passed: passed}); a.Verdict != jepsen.Valid || passed.Load() != 50 {
			t.Errorf("%s: %s, %d completions passed, want all 50", r.name, a.Verdict, passed.Load())
		}
	}
}

func TestWhatCannotFitIsRefusedBeforeItIsLaidOut(t *testing.T) {
	budget := models.NewMemory(10 << 20)
	ops := testops.Endless(3000, testops.Counter{}) // 4.5 million open rows at all returns
	for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, easyFirst{}} {
		if a := e.Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
			t.Errorf("%s: %s, want unknown for the memory", e.Name(), a.Cause)
		}
	}
	if left := budget.Left(); left != 10<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
}

func TestTheHistorySaysWhichEnginesTakeTurns(t *testing.T) {
	for _, c := range []struct {
		model                         string
		length, crashed, open, values int
		want                          string
	}{
		{"register", 100, 0, 1, manyValues + 1, "window matching frontier"},
		{"register", shortRows, 0, 1, manyValues + 1, "window matching frontier"},
		{"register", shortRows + 1, 0, 1, manyValues, "window matching frontier"},
		{"register", shortRows + 1, 0, 1, manyValues + 1, "matching window frontier"},
		{"register", 100, 0, fewOpen, manyValues, "window matching frontier"},
		{"register", 100, 0, fewOpen + 1, fewValues, "window matching frontier"},
		{"register", 100, 0, fewOpen + 1, fewValues + 1, "matching window frontier"},
		{"register", 100, 0, someOpen, fewValues, "window matching frontier"},
		{"register", 100, 0, someOpen + 1, 1, "matching window frontier"},
		{"register", 100, fewCrashed, 1, 1, "window matching frontier staged"},
		{"register", 100, fewCrashed, someOpen + 1, 1, "matching window frontier staged"},
		{"register", 100, fewCrashed + 1, someOpen + 1, 1, "staged window matching frontier"},
		{"bank", porcupineRows + 1, 0, 1, 1, "window loosener frontier"},
		{"stack", 100, fewCrashed, 1, 1, "languages window porcupine"},
		{"stack", porcupineRows + 1, fewCrashed + 1, 1, 1, "languages window refuter"},
		{"fifo-queue", 100, fewCrashed, 1, 1, "lockstep window"},
		{"fifo-queue", porcupineRows + 1, fewCrashed, 1, 1, "lockstep window"},
		{"fifo-queue", 100, fewCrashed + 1, 1, 1, "lockstep window"},
		{"fifo-queue", porcupineRows + 1, fewCrashed + 1, 1, 1, "lockstep window"},
	} {
		m, err := models.Spec{Name: c.model}.Model(edn.NewValues())
		if err != nil {
			t.Fatal(err)
		}
		ops := &models.Operations{Model: m}
		for i := range int32(c.crashed) {
			ops.Append(i, models.Open, models.Op{})
		}
		crashed, open := int32(c.crashed), int32(c.open)
		for i := range int32(c.length) - crashed {
			ops.Append(crashed+2*open*(i/open)+i%open, crashed+2*open*(i/open)+open+i%open, models.Op{A: i % int32(c.values)})
		}
		ops.Events = crashed + 2*(int32(c.length)+open)
		var names []string
		for _, e := range suited(ops) {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s, %d operations, %d crashed, %d open: %s, want %s", c.model, c.length, c.crashed, c.open, got, c.want)
		}
	}
}
