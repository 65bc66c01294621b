package porcupine_test

import (
	"context"
	"runtime"
	"testing"

	"clew/fallback"
	"clew/internal/engines/porcupine"
	"clew/internal/enginetest"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func TestATimeLimitStopsTheSearchAndLeavesNothingRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	a, _ := enginetest.StoppedSoon(porcupine.Engine{}, context.DeadlineExceeded)
	if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
		t.Errorf("%+v, want unknown for the time", a)
	}
	enginetest.Settles(t, before)
}

func TestACancelledContextInterruptsTheSearch(t *testing.T) {
	before := runtime.NumGoroutine()
	a, ctx := enginetest.StoppedSoon(porcupine.Engine{}, context.Canceled)
	if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Interrupted {
		t.Errorf("%+v, want unknown for the interruption", a)
	}
	if a := (porcupine.Engine{}).Decide(ctx, testops.Endless(2, testops.Counter{}), fallback.Limits{}); a.Cause != jepsen.Interrupted {
		t.Errorf("%+v: it began although the context was done", a)
	}
	enginetest.Settles(t, before)
}

func TestAMemoryLimitStopsTheSearchAndIsGivenBack(t *testing.T) {
	budget := models.NewMemory(1 << 20)
	if a := (porcupine.Engine{}).Decide(context.Background(), testops.Endless(14, testops.Counter{}), fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%+v, want unknown for the memory", a)
	}
	if left := budget.Left(); left != 1<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
}

func TestAPanicInAModelReachesTheCaller(t *testing.T) {
	before := runtime.NumGoroutine()
	defer func() {
		if p := recover(); p != "the model is broken" {
			t.Errorf("recovered %v", p)
		}
		enginetest.Settles(t, before)
	}()
	porcupine.Engine{}.Decide(context.Background(), testops.Endless(3, testops.Counter{Panics: true}), fallback.Limits{})
	t.Error("no panic")
}

func TestWithoutAnyCompletionEverythingIsLinearizable(t *testing.T) {
	ops := &models.Operations{Model: testops.Counter{}}
	for i := range int32(30) { // all their states would not fit
		ops.Append(i, models.Open, models.Op{A: i})
	}
	ops.Events = 30
	if a := (porcupine.Engine{}).Decide(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(1 << 20)}); a.Verdict != jepsen.Valid || len(a.Order) != 0 {
		t.Errorf("%+v", a)
	}
}

// shuffled is a model whose steps lead from every state to all of 400.
type shuffled struct{ testops.Counter }

func (shuffled) Outcomes(_ models.State, _ models.Op, yield func(models.State) bool) {
	for n := int32(0); n < 400 && yield(models.State{n}); n++ {
	}
}

func TestStatesThatSeveralLeadToAreHeldOnce(t *testing.T) {
	ops := &models.Operations{Model: shuffled{}}
	ops.Append(0, 1, models.Op{})
	ops.Append(2, 3, models.Op{}) // 400 states lead to 400 each
	ops.Events = 4
	budget := models.NewMemory(2 << 20) // half of what they would take
	if a := (porcupine.Engine{}).Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Valid || budget.Left() != 2<<20 {
		t.Errorf("%+v with %d bytes left", a, budget.Left())
	}
}

func TestTheFirstFailingCompletionIsTheFurthestReached(t *testing.T) {
	ops := testops.Endless(4, testops.Counter{})
	ops.Append(ops.Events, ops.Events+1, models.Op{A: 9}) // after the failure
	ops.Events += 2
	a := porcupine.Engine{}.Decide(context.Background(), ops, fallback.Limits{})
	if a.Verdict != jepsen.Invalid || a.FailEvent != 9 {
		t.Errorf("%+v, want a failure at event 9", a)
	}
	if core := fallback.Core(context.Background(), porcupine.Engine{}, ops, a.FailEvent, fallback.Limits{}); len(core) != 5 {
		t.Errorf("core %v: the model allows nothing to be left out", core)
	}
}
