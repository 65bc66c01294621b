package scan

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEventsComeInOrderOfTime(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		calls, returns := make([]int64, r.IntN(50)), []int64(nil)
		far := []int64{1, 1, 1000, 1 << 40}[r.IntN(4)]
		at := []int64{0, -20, math.MinInt64 + 1, math.MaxInt64 - 60*far}[r.IntN(4)]
		if far > 1000 && at > 0 {
			at = 0
		}
		for i := range calls {
			calls[i] = at + r.Int64N(20)*far
			returns = append(returns, calls[i]+r.Int64N(30)*far)
			at += r.Int64N(2) * far
		}
		if r.IntN(3) == 0 {
			r.Shuffle(len(calls), func(i, j int) {
				calls[i], calls[j], returns[i], returns[j] = calls[j], calls[i], returns[j], returns[i]
			})
		}
		var returned []int32
		if r.IntN(2) == 0 {
			returned = []int32{}
			for i := range calls {
				if r.IntN(4) > 0 {
					returned = append(returned, int32(i))
				}
			}
		}
		callsFirst := r.IntN(2) == 0
		var want []int32
		for i := range int32(len(calls)) {
			if want = append(want, 2*i); returned == nil || slices.Contains(returned, i) {
				want = append(want, 2*i+1)
			}
		}
		time := func(e int32) int64 {
			if e%2 == 1 {
				return returns[e/2]
			}
			return calls[e/2]
		}
		slices.SortFunc(want, func(a, b int32) int {
			kinds := cmp.Compare(b%2, a%2)
			if callsFirst {
				kinds = -kinds
			}
			return cmp.Or(cmp.Compare(time(a), time(b)), kinds, cmp.Compare(a, b))
		})
		if got := InTime(calls, returns, returned, callsFirst); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v, of %v and %v", seed, got, want, calls, returns)
		}
	}
}

func TestOperationsInGreatDisorderComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, far := range []int64{10, 100_000, math.MaxInt64} {
		times, ops := make([]int64, 5000), make([]int32, 5000)
		for i := range times {
			times[i], ops[i] = r.Int64N(far)-far/2, int32(i)
		}
		want := slices.Clone(ops)
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(times[a], times[b]) })
		if ByTime(ops, times); !slices.Equal(ops, want) {
			t.Errorf("times up to %d: out of order", far)
		}
	}
}
