package radix

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 19))
	for _, n := range []int{0, 1, 2, 100, digits, 10_000} {
		for _, spread := range []int{1, 8, 20, 41, 64} {
			list := make([]Keyed, n)
			for i := range list {
				list[i] = Keyed{r.Uint64() >> (64 - spread) << r.IntN(65-spread), int32(i)}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b Keyed) int { return cmp.Compare(a.Key, b.Key) })
			got := Sort(list)
			if !slices.Equal(got, want) {
				t.Errorf("%d keys of %d bits are not in order", n, spread)
			}
			if !slices.Equal(Sort(slices.Clone(want)), want) {
				t.Errorf("%d keys of %d bits were in order", n, spread)
			}
		}
	}
}

func TestKeysAscend(t *testing.T) {
	integers := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 40, -1, 0, 1, 1 << 40, math.MaxInt64}
	for i := range integers[1:] {
		if Of(integers[i]) >= Of(integers[i+1]) {
			t.Errorf("%d and %d", integers[i], integers[i+1])
		}
	}
	floats := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, 1.5, math.MaxFloat64, math.Inf(1)}
	for i := range floats[1:] {
		if OfFloat(floats[i]) >= OfFloat(floats[i+1]) {
			t.Errorf("%g and %g", floats[i], floats[i+1])
		}
	}
	if OfFloat(math.Copysign(0, -1)) != OfFloat(0) {
		t.Error("-0.0 is not 0.0")
	}
}
