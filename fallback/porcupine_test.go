package fallback

import (
	"context"
	"runtime"
	"testing"
	"time"

	"clew/edn"
	"clew/models"
)

// counter is a model without end: every operation may happen in every state,
// and no two orders lead to the same state.
type counter struct{ panics bool }

func (c counter) Init() models.State { return models.State{0} }
func (c counter) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if c.panics {
		panic("the model is broken")
	}
	if op.Kind == 1 {
		return dst // the operation that never fits
	}
	return append(dst, models.State{s[0]*31 + op.A})
}
func (c counter) Mutates(models.Op) bool             { return true }
func (c counter) Why(models.State, models.Op) string { return "never" }
func (c counter) Record(models.State) edn.ID         { return edn.Nil }

// endless is n concurrent operations and one that never fits: n! orders.
func endless(n int32, m models.Model) *models.Operations {
	ops := &models.Operations{Model: m}
	for i := range n {
		ops.Append(i, n+1+i, models.Op{A: i})
	}
	ops.Append(n, 2*n+1, models.Op{Kind: 1})
	ops.Events = 2*n + 2
	return ops
}

// settles waits for goroutines that are about to end.
func settles(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestATimeLimitStopsTheSearchAndLeavesNothingRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	a := Porcupine{}.Decide(ctx, endless(14, counter{}), Limits{})
	if a.Verdict != Unknown || a.Cause != Timeout {
		t.Errorf("%+v, want unknown for the time", a)
	}
	t.Logf("stopped %v after the limit", time.Since(start)-50*time.Millisecond)
	settles(t, before)
}

func TestACancelledContextInterruptsTheSearch(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if a := (Porcupine{}).Decide(ctx, endless(14, counter{}), Limits{}); a.Verdict != Unknown || a.Cause != Interrupted {
		t.Errorf("%+v, want unknown for the interruption", a)
	}
	if a := (Porcupine{}).Decide(ctx, endless(2, counter{}), Limits{}); a.Cause != Interrupted {
		t.Errorf("%+v: it began although the context was done", a)
	}
	settles(t, before)
}

func TestAMemoryLimitStopsTheSearchAndIsGivenBack(t *testing.T) {
	budget := NewBudget(1 << 20)
	if a := (Porcupine{}).Decide(context.Background(), endless(14, counter{}), Limits{Memory: budget}); a.Verdict != Unknown || a.Cause != OutOfMemory {
		t.Errorf("%+v, want unknown for the memory", a)
	}
	if left := budget.left.Load(); left != 1<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
}

func TestTheSearchDoesNotAllocateFarPastItsBudget(t *testing.T) {
	const limit = 64 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := &porcupineSearch{ctx: context.Background(), ops: endless(14, counter{}), limits: Limits{Memory: NewBudget(limit)}, entry: 14/8 + entryBytes}
	s.run() // what it remembers is garbage after it, so look at what it allocated
	runtime.ReadMemStats(&after)
	allocated := int64(after.TotalAlloc - before.TotalAlloc)
	if s.cause != OutOfMemory || allocated > 4*limit {
		t.Errorf("%d bytes allocated for a budget of %d (%s)", allocated, limit, s.cause)
	}
}

func TestAPanicInAModelReachesTheCaller(t *testing.T) {
	before := runtime.NumGoroutine()
	defer func() {
		if p := recover(); p != "the model is broken" {
			t.Errorf("recovered %v", p)
		}
		settles(t, before)
	}()
	Porcupine{}.Decide(context.Background(), endless(3, counter{panics: true}), Limits{})
	t.Error("no panic")
}

func TestWithoutAnyCompletionEverythingIsLinearizable(t *testing.T) {
	ops := &models.Operations{Model: counter{}}
	ops.Append(0, models.Open, models.Op{Kind: 1})
	ops.Events = 1
	if a := Check(context.Background(), Porcupine{}, ops, Limits{}); a.Verdict != Valid || len(a.Order) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestTheFirstFailingCompletionIsTheFurthestReached(t *testing.T) {
	ops := endless(4, counter{})
	ops.Append(ops.Events, ops.Events+1, models.Op{A: 9}) // after the failure
	ops.Events += 2
	a := Check(context.Background(), Porcupine{}, ops, Limits{})
	if a.Verdict != Invalid || a.Fail != 9 {
		t.Errorf("%+v, want a failure at event 9", a)
	}
	configs, paths := Explain(ops, a)
	if len(configs[0].Pending) != 1 || configs[0].Pending[0] != 4 || len(paths) != 1 || paths[0][len(paths[0])-1].Why != "never" {
		t.Errorf("%+v, %+v", configs, paths)
	}
	if core := Core(context.Background(), Porcupine{}, ops, a, Limits{}); len(core) != 5 {
		t.Errorf("core %v: the model allows nothing to be left out", core)
	}
}
