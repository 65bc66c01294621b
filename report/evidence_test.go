package report_test

import (
	"context"
	"testing"

	"clew/fallback"
	"clew/fallback/auto"
	"clew/internal/limits"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func TestAFailureShowsSeveralConfigurations(t *testing.T) {
	// Two writes at the same time, and then a read of neither value.
	ops := rows.Simulated(200, 5, 2, 0, 3)
	n := ops.Events
	ops.Append(n, n+2, models.Op{Kind: models.Write, A: 0})
	ops.Append(n+1, n+3, models.Op{Kind: models.Write, A: 1})
	ops.Append(n+4, n+5, models.Op{Kind: models.Read, A: 2})
	ops.Events = n + 6
	numbered(ops)
	for _, e := range []fallback.Engine{fallback.Window{}, fallback.Frontier{}, auto.Engine("auto", 0)} {
		a := e.Decide(context.Background(), ops, limits.Limits{})
		if a.Verdict != jepsen.Invalid || a.FailEvent != n+5 {
			t.Fatalf("%s: %+v", e.Name(), a)
		}
		configs, _ := report.Explain(ops, jepsen.Event(a.FailEvent), a.Order, a.Others)
		t.Logf("%s: %d", e.Name(), len(configs))
		if len(configs) < 2 || len(configs) > report.MaxConfigs {
			t.Errorf("%s: %d configurations, want 2 or more", e.Name(), len(configs))
		}
	}
}

func TestAPathEndsInTheFailingOperation(t *testing.T) {
	ops := rows.Endless(4, rows.Counter{})
	numbered(ops)
	a := fallback.Porcupine{}.Decide(context.Background(), ops, limits.Limits{})
	configs, paths := report.Explain(ops, jepsen.Event(a.FailEvent), a.Order, a.Others)
	if len(configs[0].Pending) != 1 || configs[0].Pending[0] != 4 || len(paths) != 1 || paths[0][len(paths[0])-1].Why != "never" {
		t.Errorf("%+v, %+v", configs, paths)
	}
}

// numbered makes every row the operation of its number.
func numbered(ops *models.Operations) {
	for row := range jepsen.Operation(ops.Len()) {
		ops.Of = append(ops.Of, row)
	}
}
