package report_test

import (
	"context"
	"testing"

	"clew/fallback"
	"clew/internal/countdown"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func TestAFailureShowsSeveralConfigurations(t *testing.T) {
	// Two writes at the same time, and then a read of neither value.
	ops := testops.Simulated(200, 5, 2, 0, 3)
	n := ops.Events
	ops.Append(n, n+2, models.Op{Kind: models.Write, A: 0})
	ops.Append(n+1, n+3, models.Op{Kind: models.Write, A: 1})
	ops.Append(n+4, n+5, models.Op{Kind: models.Read, A: 2})
	ops.Events = n + 6
	numbered(ops)
	for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, engines.New("auto", 0)} {
		a := e.Decide(context.Background(), ops, fallback.Limits{})
		if a.Verdict != jepsen.Invalid || a.FailEvent != n+5 {
			t.Fatalf("%s: %+v", e.Name(), a)
		}
		configs, _, _ := report.Explain(t.Context(), ops, jepsen.Event(a.FailEvent), a.Order, a.Others)
		t.Logf("%s: %d", e.Name(), len(configs))
		if len(configs) < 2 || len(configs) > report.MaxConfigs {
			t.Errorf("%s: %d configurations, want 2 or more", e.Name(), len(configs))
		}
	}
}

func TestAPathEndsInTheFailingOperation(t *testing.T) {
	ops := testops.Endless(4, testops.Counter{})
	numbered(ops)
	a := porcupine.Engine{}.Decide(context.Background(), ops, fallback.Limits{})
	configs, paths, _ := report.Explain(t.Context(), ops, jepsen.Event(a.FailEvent), a.Order, a.Others)
	if len(configs[0].Pending) != 1 || configs[0].Pending[0] != 4 || len(paths) == 0 {
		t.Errorf("%+v, %+v", configs, paths)
	}
	for _, path := range paths {
		if end := path[len(path)-1]; end.Why != "never" || end.Operation != 4 {
			t.Errorf("%+v", path)
		}
	}
}

// numbered assigns to every row the operation with its number.
func numbered(ops *models.Operations) {
	for row := range jepsen.Operation(ops.Len()) {
		ops.Of = append(ops.Of, row)
	}
}

func TestAnExplanationEndsWithItsContext(t *testing.T) {
	// A long history, and then many writes at once and a read of none of them.
	ops := testops.Simulated(2000, 5, 2, 0, 3)
	n := ops.Events
	for i := range int32(40) {
		ops.Append(n+i, models.Open, models.Op{Kind: models.Write, A: i % 2})
	}
	ops.Append(n+40, n+41, models.Op{Kind: models.Read, A: 2})
	ops.Events = n + 42
	numbered(ops)
	a := configs.Window{}.Decide(t.Context(), ops, fallback.Limits{})
	if a.Verdict != jepsen.Invalid {
		t.Fatalf("%+v", a)
	}
	found := [3]int{} // nothing, a configuration, paths too
	for looks := 0; ; looks++ {
		ctx := &countdown.Context{Context: t.Context(), Looks: looks}
		configs, paths, err := report.Explain(ctx, ops, jepsen.Event(a.FailEvent), a.Order, a.Others)
		if err == nil {
			break
		}
		if err != context.Canceled || ctx.After > 2 {
			t.Fatalf("%v, after it had been said %d times to end", err, ctx.After)
		}
		found[min(len(configs), 1)+min(len(paths), 1)]++
	}
	if found[0] == 0 || found[1] == 0 {
		t.Errorf("it never ended within the replay, or within the paths: %v", found)
	}
}
