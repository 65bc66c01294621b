package scan

import "slices"

// ByTime puts operations in the order of their times, and keeps the order of those
// whose times are equal. Most histories are nearly in order, and the times of others
// have few digits that differ: linear time.
func ByTime(ops []int32, times []int64) {
	if len(ops) == 0 {
		return
	}
	least, inOrder := times[ops[0]], true
	for i, op := range ops[1:] {
		least = min(least, times[op])
		inOrder = inOrder && times[ops[i]] <= times[op]
	}
	if inOrder {
		return
	}
	// A radix sort, which leaves out the bytes in which no times differ.
	var all uint64
	for _, op := range ops {
		all |= uint64(times[op]) - uint64(least)
	}
	from, to := ops, slices.Clone(ops)
	for shift := 0; all>>shift > 0; shift += 8 {
		if all>>shift&0xff == 0 {
			continue
		}
		var begin [256]int
		for _, op := range from {
			begin[(uint64(times[op])-uint64(least))>>shift&0xff]++
		}
		sum := 0
		for b, n := range begin {
			begin[b] = sum
			sum += n
		}
		for _, op := range from {
			b := &begin[(uint64(times[op])-uint64(least))>>shift&0xff]
			to[*b] = op
			*b++
		}
		from, to = to, from
	}
	copy(ops, from)
}
