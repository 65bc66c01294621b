package hitting

import (
	"fmt"
	"testing"

	"clew/internal/gen"
	"clew/models"
)

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
