package fallback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"clew/edn"
	"clew/internal/gen"
	"clew/models"
)

// simulated is a run of processes on a real cas-register with a few values: an
// operation takes effect at some instant between its invocation and its return.
func simulated(n, processes, values int, crash float64, seed uint64) *models.Operations {
	r := rand.New(rand.NewPCG(seed, 1))
	type op struct {
		inv, res int32
		op       models.Op
		took     bool
	}
	var all []*op
	var busy, idle []*op
	for range processes {
		idle = append(idle, nil)
	}
	state, event := int32(0), int32(0)
	for len(all) < n || len(busy) > 0 {
		if len(all) < n && len(idle) > 0 && (len(busy) == 0 || r.IntN(2) == 0) {
			o := &op{inv: event, res: models.Open}
			switch o.op.A, o.op.B = int32(r.IntN(values)), int32(r.IntN(values)); r.IntN(3) {
			case 0:
				o.op = models.Op{Kind: models.Read}
			case 1:
				o.op = models.Op{Kind: models.Write, A: o.op.A}
			default:
				o.op.Kind = models.CAS
			}
			event++
			all, busy, idle = append(all, o), append(busy, o), idle[1:]
			continue
		}
		i := r.IntN(len(busy))
		o := busy[i]
		if !o.took {
			o.took = true
			switch o.op.Kind {
			case models.Read:
				o.op.A = state
			case models.Write:
				state = o.op.A
			default:
				o.op.A = state // it succeeds
				state = o.op.B
			}
			continue
		}
		if r.Float64() >= crash {
			o.res = event
			event++
		}
		busy, idle = append(busy[:i], busy[i+1:]...), append(idle, nil)
	}
	d, err := models.Spec{Name: "cas-register", Init: "nil"}.Model(edn.NewValues())
	if err != nil {
		panic(err)
	}
	ops := &models.Operations{Model: d}
	ops.Events = event
	for _, o := range all {
		if o.res != models.Open || o.op.Kind != models.Read {
			ops.Append(o.inv, o.res, o.op)
		}
	}
	return ops
}

// BenchmarkEngines compares the engines on ambiguous histories in one run.
// Entries over a limit of 10 s or 4 GB say so instead of a time.
func BenchmarkEngines(b *testing.B) {
	for _, c := range []struct {
		n, processes int
		crash        float64
	}{{1000, 10, 0}, {10_000, 10, 0}, {10_000, 20, 0}, {100_000, 10, 0}, {100_000, 20, 0}, {1_000_000, 10, 0}, {1000, 10, 0.01}, {10_000, 10, 0.001}} {
		ops := simulated(c.n, c.processes, 5, c.crash, 1)
		for _, e := range []Engine{Window{}, Frontier{}, Race{Window{}, Frontier{}}, Porcupine{}} {
			b.Run(fmt.Sprintf("%s/%d-operations/%d-processes/%g-crashed", e.Name(), c.n, c.processes, c.crash*float64(c.n)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					a := e.Decide(ctx, ops, Limits{Memory: NewBudget(4 << 30)})
					cancel()
					if a.Verdict != Valid {
						b.Skipf("undecided: %s", a.Cause)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/operation")
			})
		}
	}
}

// BenchmarkHitting makes schedules of depth 5, and forgets them.
func BenchmarkHitting(b *testing.B) {
	r := gen.Rand(1)
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d operations", n), func(b *testing.B) {
			f := newFamily(&models.Operations{Columns: *randomPoset(r, n, 7)}, 5, func() bool { return true })
			b.ReportAllocs()
			schedules := 0
			for b.Loop() {
				clear(f.seen)
				f.each(5, func([]int32) bool { schedules++; return schedules%1000 != 0 })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(schedules), "ns/schedule")
		})
	}
}
