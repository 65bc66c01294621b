package isolation

import (
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/internal/testops"
	"clew/models"
)

// BenchmarkLevels decides each level of 200,000 transactions of 20 processes, and finds the cycles.
func BenchmarkLevels(b *testing.B) {
	for _, kind := range []gen.LongKind{gen.Linearizable, gen.StaleRead, gen.TornRead} {
		b.Run(kind.String(), func(b *testing.B) {
			var text strings.Builder
			if _, err := gen.Long(&text, gen.LongOptions{Model: "list-append", Kind: kind, Operations: 200_000, Processes: 20, Keys: 10, At: 0.5}); err != nil {
				b.Fatal(err)
			}
			ops := testops.Read(b, listAppend, text.String())
			b.ResetTimer()
			for range b.N {
				l, _, _ := ReadLists(ops)
				for _, level := range models.AllLevels() { // each by itself
					l.At(level)
				}
				l.Cycles()
			}
		})
	}
}
