package verdicts_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"clew"
	"clew/internal/archive"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// BenchmarkRedisStore checks real histories with unique values, after reading them.
func BenchmarkRedisStore(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(archive.Path(b, "redis-store"), "*", "*", "history.edn"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		h, err := clew.ReadFile(file, jepsen.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, algorithm := range []string{"fast", "porcupine"} {
			b.Run(filepath.Base(filepath.Dir(filepath.Dir(file)))+"/"+algorithm, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Algorithm: algorithm}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(h.Operations()), "operations")
			})
		}
	}
}

// BenchmarkCrashed checks long histories with crashed operations, linearizable and not.
func BenchmarkCrashed(b *testing.B) {
	for _, test := range []struct {
		name    string
		options gen.Options
	}{
		{"kv", gen.Options{Model: "kv", Operations: 10_000, Processes: 10, Values: 5, Crashes: 0.02}},
		{"bank", gen.Options{Model: "bank", Operations: 2500, Processes: 10, Crashes: 0.004, Init: true}},
		{"counter", gen.Options{Model: "counter", Operations: 10_000, Processes: 10, Crashes: 0.002}},
	} {
		for _, verdict := range []jepsen.Verdict{jepsen.Valid, jepsen.Invalid} {
			h, spec := historyOf(b, test.options, verdict)
			for _, algorithm := range []string{"auto", "porcupine"} {
				b.Run(test.name+"/"+verdict.String()+"/"+algorithm, func(b *testing.B) {
					b.ReportAllocs()
					undecided := 0.0
					for b.Loop() {
						r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: algorithm, TimeLimit: 10 * time.Second})
						if err != nil {
							b.Fatal(err)
						}
						if r.Verdict != verdict {
							undecided = 1
						}
					}
					b.ReportMetric(undecided, "undecided")
					b.ReportMetric(float64(h.Operations()), "operations")
					b.ReportMetric(float64(h.CrashedCount()), "crashed")
				})
			}
		}
	}
}

// historyOf returns the first random history with a verdict.
func historyOf(b *testing.B, o gen.Options, verdict jepsen.Verdict) (*jepsen.History, models.Spec) {
	for seed := range uint64(1000) {
		g := gen.New(gen.Rand(seed), o)
		if o.Init && g.Init == "" || (g.Way == gen.Run) != (verdict == jepsen.Valid) || g.Way == gen.Guess {
			continue
		}
		spec := models.Spec{Name: o.Model, Init: g.Init}
		h, _, err := campaign.ReadText(spec, g.Text)
		if err != nil {
			b.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, spec, clew.Options{TimeLimit: 10 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		if r.Verdict == verdict {
			return h, spec
		}
	}
	b.Skipf("no history of %s is %v", o.Model, verdict)
	return nil, models.Spec{}
}
