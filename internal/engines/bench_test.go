package engines_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// BenchmarkEngines compares the engines on ambiguous histories in one run.
// Entries over a limit of 10 s or 4 GB say so instead of a time.
func BenchmarkEngines(b *testing.B) {
	for _, c := range []struct {
		n, processes int
		crash        float64
	}{{1000, 10, 0}, {10_000, 10, 0}, {10_000, 20, 0}, {100_000, 10, 0}, {100_000, 20, 0}, {1_000_000, 10, 0}, {1000, 10, 0.01}, {10_000, 10, 0.001}} {
		ops := testops.Simulated(c.n, c.processes, 5, c.crash, 1)
		for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, engines.Race{configs.Window{}, configs.Frontier{}}, porcupine.Engine{}} {
			b.Run(fmt.Sprintf("%s/%d-operations/%d-processes/%g-crashed", e.Name(), c.n, c.processes, c.crash*float64(c.n)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					a := e.Decide(ctx, ops, fallback.Limits{Memory: models.NewMemory(4 << 30)})
					cancel()
					if a.Verdict != jepsen.Valid {
						b.Skipf("undecided: %s", a.Cause)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/operation")
			})
		}
	}
}
