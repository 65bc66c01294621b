package fastpath

import "math/bits"

// bitset is a set of small numbers that finds the last one up to a number, and
// takes them in order: a bit for each, then a bit for each word that is not
// empty, and so on.
type bitset [][]uint64

func newBitset(n int32) bitset {
	var s bitset
	for {
		n = n/64 + 1
		s = append(s, make([]uint64, n))
		if n == 1 {
			return s
		}
	}
}

func (s bitset) has(i int32) bool { return s[0][i/64]>>(i%64)&1 != 0 }

func (s bitset) add(i int32) {
	for _, level := range s {
		old := level[i/64]
		level[i/64] = old | 1<<(i%64)
		if old != 0 {
			return
		}
		i /= 64
	}
}

// last is the greatest number up to i, or -1.
func (s bitset) last(i int32) int32 {
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

// takeFirst removes the least number and returns it, or -1. All are above i.
func (s bitset) takeFirst(i int32) int32 {
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
