package fastpath

import "clew/internal/hugepages"

// Groups holds operations, or other numbers from 0 on, by keys.
type Groups struct {
	from []int32 // by key, and one more: where its group begins in all
	all  []int32
}

// GroupBy groups the numbers below n by keys from 0 to top, in linear time. The key -1 means none.
func GroupBy(n int, top int32, key func(i int32) int32) Groups {
	return GroupIn(hugepages.Make[int32](top+3), n, key)
}

// GroupIn is GroupBy with at least top+3 zeros, which the groups keep. Once all numbers are
// sorted, their slice no longer needs them.
func GroupIn(zeros []int32, n int, key func(i int32) int32) Groups {
	g := Groups{zeros, hugepages.Make[int32](n)}
	for i := range int32(n) {
		g.from[key(i)+2]++
	}
	for k := range len(zeros) - 1 {
		g.from[k+1] += g.from[k]
	}
	for i := range int32(n) {
		k := key(i) + 1
		g.all[g.from[k]] = i
		g.from[k]++
	}
	return g
}

// Of returns the numbers of a key, ascending.
func (g Groups) Of(key int32) []int32 { return g.all[g.from[key]:g.from[key+1]] }

// Sorted returns all numbers that have a key, by key.
func (g Groups) Sorted() []int32 { return g.all[g.from[0]:] }
