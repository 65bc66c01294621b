package matching

import "math/bits"

// zones holds the zones of all chains by when they start, at most one at each
// time. The zones that it holds do not clash.
type zones struct {
	owner             []int32 // by time: the root of the chain whose zone starts there
	forward, backward bitmap
}

func newZones(times int) *zones {
	return &zones{make([]int32, times+1), newBitmap(times + 1), newBitmap(times + 1)}
}

// set enters the zone of a chain: its first return, and its last invocation. The
// initial value begins at time -1.
func (z *zones) set(root, first, last int32) {
	if first < last {
		z.owner[first+1] = root
		z.forward.add(first + 1)
	} else {
		z.owner[last+1] = root
		z.backward.add(last + 1)
	}
}

func (z *zones) remove(first, last int32) {
	if first < last {
		z.forward.remove(first + 1)
	} else {
		z.backward.remove(last + 1)
	}
}

// bitmap is a set of small numbers that finds the next number after any number,
// and the last one before it.
type bitmap [3][]uint64

func newBitmap(n int) bitmap {
	var b bitmap
	for i := range b {
		n = n/64 + 1
		b[i] = make([]uint64, n)
	}
	return b
}

func (b *bitmap) add(i int32) {
	for level := range b {
		b[level][i>>6] |= 1 << (i & 63)
		i >>= 6
	}
}

func (b *bitmap) remove(i int32) {
	for level := range b {
		b[level][i>>6] &^= 1 << (i & 63)
		if b[level][i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// after returns the least number in the set that is greater than i, or -1.
func (b *bitmap) after(i int32) int32 {
	for level := range b {
		if w := b[level][i>>6] &^ (2<<(i&63) - 1); w != 0 {
			return b.down(level, i&^63|int32(bits.TrailingZeros64(w)), bits.TrailingZeros64)
		}
		i >>= 6
	}
	for i++; int(i) < len(b[2]); i++ {
		if w := b[2][i]; w != 0 {
			return b.down(2, i<<6|int32(bits.TrailingZeros64(w)), bits.TrailingZeros64)
		}
	}
	return -1
}

// before returns the greatest number in the set that is less than i, or -1.
func (b *bitmap) before(i int32) int32 {
	for level := range b {
		if w := b[level][i>>6] & (1<<(i&63) - 1); w != 0 {
			return b.down(level, i&^63|int32(last(w)), last)
		}
		i >>= 6
	}
	for i--; i >= 0; i-- {
		if w := b[2][i]; w != 0 {
			return b.down(2, i<<6|int32(last(w)), last)
		}
	}
	return -1
}

func last(w uint64) int { return 63 - bits.LeadingZeros64(w) }

// down goes from a bit of a level down to a number.
func (b *bitmap) down(level int, i int32, end func(uint64) int) int32 {
	for level--; level >= 0; level-- {
		i = i<<6 | int32(end(b[level][i]))
	}
	return i
}

func (z *zones) bytes() int64 { return 4*int64(len(z.owner)) + int64(len(z.owner))/3 }
