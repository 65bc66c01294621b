package matching

import "clew/internal/bitset"

// zones holds the zones of all chains by when they start, at most one at each
// time. The zones that it holds do not clash.
type zones struct {
	owner             []int32 // by time: the root of the chain whose zone starts there
	forward, backward bitset.Set
}

func newZones(times int) *zones {
	return &zones{make([]int32, times+1), bitset.New(int32(times)), bitset.New(int32(times))}
}

// set enters the zone of a chain: its first return, and its last invocation. The
// initial value begins at time -1.
func (z *zones) set(root, first, last int32) {
	if first < last {
		z.owner[first+1] = root
		z.forward.Add(first + 1)
	} else {
		z.owner[last+1] = root
		z.backward.Add(last + 1)
	}
}

func (z *zones) remove(first, last int32) {
	if first < last {
		z.forward.Remove(first + 1)
	} else {
		z.backward.Remove(last + 1)
	}
}

func (z *zones) bytes() int64 { return 4*int64(len(z.owner)) + z.forward.Bytes() + z.backward.Bytes() }
