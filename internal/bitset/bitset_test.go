package bitset

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBitsetFindsTheLast(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		n := 1 + rng.Int32N(10_000)
		s, naive := New(n), make([]bool, n)
		for range rng.IntN(40) {
			i := rng.Int32N(n)
			s.Add(i)
			naive[i] = true
		}
		last := int32(-1)
		for i := range n {
			if naive[i] {
				last = i
			}
			if s.Last(i) != last || s.Has(i) != naive[i] {
				t.Fatalf("last up to %d of %d is %d, not %d", i, n, s.Last(i), last)
			}
		}
	}
}

func TestBitsetTakesInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n := 1 + rng.Int32N(1<<rng.IntN(20))
		s := New(n)
		var naive []int32
		for range 1 + rng.IntN(200) {
			if len(naive) == 0 || rng.IntN(3) > 0 {
				i := rng.Int32N(n)
				if k, found := slices.BinarySearch(naive, i); !found {
					s.Add(i)
					naive = slices.Insert(naive, k, i)
				}
				continue
			}
			below := rng.Int32N(naive[0]+1) - 1
			if got := s.TakeFirst(max(0, below)); got != naive[0] {
				t.Fatalf("took %d of %d, not %d", got, n, naive[0])
			}
			naive = naive[1:]
		}
	}
}

func TestBitsetKnowsItsNeighbors(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(1<<r.IntN(20))
		s, in := New(int32(n-1)), make([]bool, n)
		for range 50 {
			if i := r.IntN(n); r.IntN(3) > 0 {
				s.Add(int32(i))
				in[i] = true
			} else {
				s.Remove(int32(i))
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
			if a, c := s.Next(int32(i+1)), s.Last(int32(i-1)); a != int32(after) || c != int32(before) {
				t.Fatalf("seed %d, %d of %d: after it %d, before it %d, want %d and %d", seed, i, n, a, c, after, before)
			}
		}
	}
}
