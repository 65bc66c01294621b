// Package bitset implements sets of small numbers, such as slots and events.
package bitset

import "math/bits"

// Set is a set of small numbers. It finds the last number up to a given one and the next one after
// it, and takes numbers in order. It has a bit for each number, then a bit for each word that is not empty, and so on.
type Set [][]uint64

// New returns an empty set of numbers up to n.
func New(n int32) Set {
	var s Set
	for {
		n = n/64 + 1
		s = append(s, make([]uint64, n))
		if n == 1 {
			return s
		}
	}
}

// Has reports whether a number is in the set.
func (s Set) Has(i int32) bool { return s[0][i/64]>>(i%64)&1 != 0 }

// Add adds a number.
func (s Set) Add(i int32) {
	for _, level := range s {
		old := level[i/64]
		level[i/64] = old | 1<<(i%64)
		if old != 0 {
			return
		}
		i /= 64
	}
}

// Remove removes a number.
func (s Set) Remove(i int32) {
	for _, level := range s {
		level[i/64] &^= 1 << (i % 64)
		if level[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// Bytes returns how much memory the set holds.
func (s Set) Bytes() int64 {
	bytes := int64(0)
	for _, level := range s {
		bytes += 8 * int64(len(level))
	}
	return bytes
}

// Next returns the least number from i on, or -1.
func (s Set) Next(i int32) int32 {
	for k, level := range s {
		if int(i/64) >= len(level) {
			return -1
		}
		if word := level[i/64] >> (i % 64); word != 0 {
			i += int32(bits.TrailingZeros64(word))
			for k--; k >= 0; k-- {
				i = i*64 + int32(bits.TrailingZeros64(s[k][i]))
			}
			return i
		}
		i = i/64 + 1
	}
	return -1
}

// Last returns the greatest number up to i, or -1.
func (s Set) Last(i int32) int32 {
	for k, level := range s {
		if i < 0 {
			return -1
		}
		if word := level[i/64] << (63 - i%64); word != 0 {
			i -= int32(bits.LeadingZeros64(word))
			for k--; k >= 0; k-- {
				i = i*64 + 63 - int32(bits.LeadingZeros64(s[k][i]))
			}
			return i
		}
		i = i/64 - 1
	}
	return -1
}

// TakeFirst removes the least number and returns it, or -1. All numbers in
// the set must be greater than i.
func (s Set) TakeFirst(i int32) int32 {
	if s[len(s)-1][0] == 0 {
		return -1
	}
	k := 0
	for i /= 64; s[k][i] == 0; i /= 64 {
		k++
	}
	for ; k >= 0; k-- {
		i = i*64 + int32(bits.TrailingZeros64(s[k][i]))
	}
	first := i
	for _, level := range s {
		i /= 64
		level[i] &= level[i] - 1
		if level[i] != 0 {
			break
		}
	}
	return first
}
