package home

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPerValueIsAMap sets numbers of values that are small, large, and small after many
// steps.
func TestPerValueIsAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var p PerValue
		want := map[int32]int32{}
		span := 1 + rng.Int32N(2000)
		for range 1 + rng.IntN(400) {
			x, n := rng.Int32N(span), rng.Int32N(3)
			if rng.IntN(2) == 0 {
				p.Set(x, n)
			} else if n += want[x] - 1; p.Add(x, n-want[x]) != n {
				t.Fatalf("the sum of %d is not %d", x, n)
			}
			if want[x] = n; n == 0 {
				delete(want, x)
			}
			if y := rng.Int32N(span); p.Of(y) != want[y] || p.Of(x) != n {
				t.Fatalf("%d has %d, not %d; %d has %d, not %d", y, p.Of(y), want[y], x, p.Of(x), n)
			}
		}
		if got := slices.Sorted(slices.Values(p.Values())); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("there are %v, not %v", got, want)
		}
		if valuesForAStep*p.steps < len(p.near)/4 && len(p.near) > 64 {
			t.Fatalf("%d numbers for %d steps", len(p.near), p.steps)
		}
	}
}
