package forget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Spans have what was added, and no two of them touch.
func TestSpansHaveWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var s spans
		in := map[int64]bool{}
		number := func() int64 {
			return [...]int64{0, math.MinInt64, math.MaxInt64 - 19}[r.IntN(3)] + int64(r.IntN(20))
		}
		for range 1 + r.IntN(5) {
			var more []int64
			for range r.IntN(8) {
				n := number()
				in[n] = true
				more = append(more, n)
			}
			slices.Sort(more)
			s = s.with(more)
		}
		if s.size() != len(in) {
			t.Fatalf("%v have %d integers, want %d", s, s.size(), len(in))
		}
		for i, x := range s {
			if x.First > x.Last || i > 0 && x.First-1 <= s[i-1].Last {
				t.Fatalf("%v are not in order", s)
			}
		}
		for range 20 {
			if n := number(); s.has(n) != in[n] {
				t.Fatalf("%v have %d: %t", s, n, s.has(n))
			}
		}
	}
}
