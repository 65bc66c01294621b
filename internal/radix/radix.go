// Package radix sorts by integers, and by values that can become integers, in linear time.
package radix

import (
	"cmp"
	"math"
	"slices"

	"clew/internal/hugepages"
)

// Keyed is something that a number identifies, with its key.
type Keyed struct {
	Key    uint64
	Number int32
}

// Of returns a key for an integer.
func Of(n int64) uint64 { return uint64(n) ^ 1<<63 }

// OfFloat returns a key for a floating point number that is not NaN. Both zeros
// have the same key. The bits of a positive number grow with it, and those of a
// negative one shrink.
func OfFloat(f float64) uint64 {
	switch bits := math.Float64bits(f); {
	case f < 0:
		return ^bits
	case f == 0:
		return 1 << 63
	default:
		return bits | 1<<63
	}
}

const (
	bits   = 11
	digits = 1 << bits
)

// Sort sorts by key. Elements with the same key keep their order. It may return
// another slice than it was given. Only the digits in which keys differ cost
// time.
func Sort(list []Keyed) []Keyed {
	if len(list) < digits {
		slices.SortStableFunc(list, func(a, b Keyed) int { return cmp.Compare(a.Key, b.Key) })
		return list
	}
	differ, ascend := uint64(0), true
	for i := range list {
		differ |= list[i].Key ^ list[0].Key
		ascend = ascend && (i == 0 || list[i-1].Key <= list[i].Key)
	}
	if ascend {
		return list
	}
	other := hugepages.Make[Keyed](len(list))
	for shift := 0; shift < 64; shift += bits {
		if differ>>shift%digits == 0 {
			continue
		}
		var from [digits + 1]int32
		for i := range list {
			from[list[i].Key>>shift%digits+1]++
		}
		for d := range digits {
			from[d+1] += from[d]
		}
		for i := range list {
			d := list[i].Key >> shift % digits
			other[from[d]] = list[i]
			from[d]++
		}
		list, other = other, list
	}
	return list
}
