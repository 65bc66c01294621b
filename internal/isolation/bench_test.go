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

// BenchmarkLevelsOfRegisters does so for 100,000 transactions that write registers, as clew does for a history that is not valid.
func BenchmarkLevelsOfRegisters(b *testing.B) {
	for _, kind := range []gen.LongKind{gen.Linearizable, gen.StaleRead, gen.LostWrite, gen.TornRead} {
		b.Run(kind.String(), func(b *testing.B) {
			var text strings.Builder
			if _, err := gen.Long(&text, gen.LongOptions{Model: "multi-register", Kind: kind, Operations: 100_000, Processes: 20, Keys: 10, Steps: 4, At: 0.8}); err != nil {
				b.Fatal(err)
			}
			ops := testops.Read(b, models.Spec{Name: "multi-register", Init: "{}", NilReadsExact: true}, text.String())
			b.ResetTimer()
			for range b.N {
				r, _ := ReadRegisters(b.Context(), ops)
				r.Levels()
				r.Cycles()
			}
		})
	}
}
