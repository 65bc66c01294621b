package matching

import (
	"math/rand/v2"
	"testing"
)

func TestABitmapKnowsItsNeighbors(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(1<<r.IntN(20))
		b, in := newBitmap(n), make([]bool, n)
		for range 50 {
			if i := r.IntN(n); r.IntN(3) > 0 {
				b.add(int32(i))
				in[i] = true
			} else {
				b.remove(int32(i))
				in[i] = false
			}
		}
		for range 20 {
			i := r.IntN(n)
			after, before := i+1, i-1
			for after < n && !in[after] {
				after++
			}
			if after == n {
				after = -1
			}
			for before >= 0 && !in[before] {
				before--
			}
			if a, c := b.after(int32(i)), b.before(int32(i)); a != int32(after) || c != int32(before) {
				t.Fatalf("seed %d, %d of %d: after it %d, before it %d, want %d and %d", seed, i, n, a, c, after, before)
			}
		}
	}
}
