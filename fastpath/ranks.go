package fastpath

import (
	"math/bits"
	"slices"
)

// Ranks numbers integers in their order, without gaps.
type Ranks struct {
	least int32
	words []uint64 // a bit for each integer from the least on
	below []int32  // by word: how many integers come before it
	far   []int32  // the integers in order, if they are far apart
	n     int32
}

// closeGap is up to how far apart integers are, on average, so that a bit for each one between them takes less time than a sort.
const closeGap = 64

// near reports whether that many integers between two are close to each other.
func near(least, greatest int32, n int) bool { return int64(greatest)-int64(least) < closeGap*int64(n) }

// RanksOf returns the ranks of at least one integer.
func RanksOf(all ...[]int32) (r Ranks) {
	n, greatest := 0, all[0][0]
	r.least = greatest
	for _, some := range all {
		n += len(some)
		for _, x := range some {
			r.least, greatest = min(r.least, x), max(greatest, x)
		}
	}
	if !near(r.least, greatest, n) {
		r.far = slices.Concat(all...)
		slices.Sort(r.far)
		r.far = slices.Compact(r.far)
		r.n = int32(len(r.far))
		return r
	}
	r.words = make([]uint64, (greatest-r.least)/64+1)
	for _, some := range all {
		for _, x := range some {
			r.words[(x-r.least)/64] |= 1 << ((x - r.least) % 64)
		}
	}
	r.below = make([]int32, len(r.words))
	for i, word := range r.words {
		r.below[i] = r.n
		r.n += int32(bits.OnesCount64(word))
	}
	return r
}

// Len returns how many different integers there are.
func (r *Ranks) Len() int32 { return r.n }

// Of returns how many integers are less than one of them.
func (r *Ranks) Of(x int32) int32 {
	if r.far != nil {
		k, _ := slices.BinarySearch(r.far, x)
		return int32(k)
	}
	i := uint32(x - r.least)
	return r.below[i/64] + int32(bits.OnesCount64(r.words[i/64]&(1<<(i%64)-1)))
}
