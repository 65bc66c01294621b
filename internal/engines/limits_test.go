package engines

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// bag returns enqueues one after the other, crashed operations of a kind, and a
// dequeue of a value that was never there.
func bag(t *testing.T, enqueues, crashed int32, kind models.Kind) *models.Operations {
	t.Helper()
	m, err := models.Spec{Name: "unordered-queue"}.Model(edn.NewValues())
	if err != nil {
		t.Fatal(err)
	}
	ops := &models.Operations{Model: m}
	for i := range enqueues {
		ops.Append(2*i, 2*i+1, models.Op{Kind: models.Enqueue, A: i})
	}
	at := 2 * enqueues
	for range crashed {
		ops.Append(at, models.Open, models.Op{Kind: kind})
		at++
	}
	ops.Append(at, at+1, models.Op{Kind: models.Dequeue, A: enqueues})
	ops.Events = at + 2
	return ops
}

// Steps of a bag have endlessly many outcomes, so limits apply within them too.
func TestLimitsReachIntoASingleStep(t *testing.T) {
	const (
		limit   = 30 * time.Millisecond // the step would never end without it
		memory  = 8 << 20
		garbage = 8 // what is allocated is given back and taken again
	)
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the heap is measured
	for name, ops := range map[string]*models.Operations{
		"crashed dequeues": bag(t, 30, 9, models.DequeueAny),
		"a crashed drain":  bag(t, 30, 1, models.DrainAny),
	} {
		for _, engine := range []string{"auto", "window", "frontier", "porcupine", "hitting", "competition"} {
			t.Run(fmt.Sprintf("%s, %s, time", name, engine), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				defer cancel()
				a := New(engine, 0).Decide(ctx, ops, fallback.Limits{Memory: models.NewMemory(1 << 30)})
				if a.Verdict == jepsen.Valid || a.Verdict == jepsen.Unknown && a.Cause != jepsen.Timeout && a.Cause != jepsen.DepthExhausted {
					t.Errorf("%+v", a)
				}
			})
			t.Run(fmt.Sprintf("%s, %s, memory", name, engine), func(t *testing.T) {
				ctx := context.Background()
				if engine == "hitting" { // it needs little memory, for a long time
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
				}
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				budget := models.NewMemory(memory)
				a := New(engine, 0).Decide(ctx, ops, fallback.Limits{Memory: budget})
				runtime.ReadMemStats(&after)
				if a.Verdict == jepsen.Valid || a.Cause == jepsen.Timeout && engine != "hitting" {
					t.Errorf("%+v", a)
				}
				if held := int64(after.HeapSys - before.HeapSys); held > garbage*memory {
					t.Errorf("the heap grew by %d MB for a budget of %d MB", held>>20, memory>>20)
				}
				if left := budget.Left(); left != memory {
					t.Errorf("%d bytes of the budget are left, want all", left)
				}
			})
		}
	}
}
