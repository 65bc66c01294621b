package position_test

import (
	"bytes"
	"testing"

	"clew/fastpath"
	"clew/internal/families"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// BenchmarkPositions decides maps of three keys whose updates say their revision.
func BenchmarkPositions(b *testing.B) {
	for _, x := range []struct {
		name    string
		crashes float64
		sparse  bool
	}{{"dense-2%", 0.02, false}, {"dense-30%", 0.3, false}, {"sparse-30%", 0.3, true}} {
		b.Run(x.name, func(b *testing.B) {
			o := gen.LongOptions{Model: "kv", Operations: 100_000, Processes: 8, Crashes: x.crashes, Position: "revision", Sparse: x.sparse, Seed: 1}
			var text bytes.Buffer
			if _, err := gen.Long(&text, o); err != nil {
				b.Fatal(err)
			}
			h, err := forms.Read(&text, "long", jepsen.Options{})
			if err != nil {
				b.Fatal(err)
			}
			ops, err := models.Spec{Name: "kv", Position: "revision", SparsePositions: x.sparse}.Read(h)
			if err != nil {
				b.Fatal(err)
			}
			path, _ := families.Of(ops.Model)
			b.ResetTimer()
			b.ReportAllocs()
			for b.Loop() {
				if d := path.Decide(b.Context(), &ops.Columns, fastpath.WantWitness); d.Verdict != jepsen.Valid {
					b.Fatal(d.Verdict, d.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ops.Len()), "ns/operation")
		})
	}
}
