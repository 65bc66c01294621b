package scan

import (
	"slices"

	"clew/internal/hugepages"
)

// InTime returns the events of operations in order of time: 2*i is the call of operation
// i, and 2*i+1 is its return, if i is in returned; nil stands for all. At one time all
// returns come first, or all calls. Both are in the order of the operations. No time may
// be math.MinInt64. Linear time, unless the times of very many operations are in disorder.
func InTime(calls, returns []int64, returned []int32, callsFirst bool) []int32 {
	if len(calls) == 0 {
		return nil
	}
	all := returned == nil
	events := len(calls) + len(returned)
	least, most := slices.Min(calls), slices.Max(calls)
	if all {
		events += len(returns)
		least, most = min(least, slices.Min(returns)), max(most, slices.Max(returns))
	}
	for _, i := range returned {
		least, most = min(least, returns[i]), max(most, returns[i])
	}
	if uint64(most)-uint64(least) < 4*uint64(events) {
		return counted(calls, returns, returned, callsFirst, least, most)
	}
	starts := hugepages.Make[int32](len(calls))
	for i := range starts {
		starts[i] = int32(i)
	}
	ends := returned
	if all {
		ends = slices.Clone(starts)
	}
	ByTime(starts, calls)
	ByTime(ends, returns)
	earlier := int64(0) // how much earlier than a call a return must be to come before it
	if callsFirst {
		earlier = 1
	}
	order := hugepages.Make[int32](events)
	for e := range order {
		// At math.MaxInt64 nothing is earlier.
		if len(starts) == 0 || len(ends) > 0 && returns[ends[0]] <= calls[starts[0]]-earlier {
			order[e], ends = 2*ends[0]+1, ends[1:]
		} else {
			order[e], starts = 2*starts[0], starts[1:]
		}
	}
	return order
}

// counted does the same as InTime if there are not many more times than events. It
// counts the events at each time, which determines the place of every event.
func counted(calls, returns []int64, returned []int32, callsFirst bool, least, most int64) []int32 {
	at := hugepages.Make[int32](int(most-least) + 2) // by time: where its events begin
	for _, t := range calls {
		at[t-least+1]++
	}
	events := len(calls)
	if returned == nil {
		for _, t := range returns {
			at[t-least+1]++
		}
		events += len(returns)
	}
	for _, i := range returned {
		at[returns[i]-least+1]++
		events++
	}
	sum := int32(0)
	for t, n := range at {
		sum += n
		at[t] = sum
	}
	order := hugepages.Make[int32](events)
	if callsFirst {
		placeCalls(order, at, calls, least)
	}
	if returned == nil {
		for i, t := range returns {
			place := &at[t-least]
			order[*place] = int32(2*i + 1)
			*place++
		}
	}
	for _, i := range returned {
		place := &at[returns[i]-least]
		order[*place] = 2*i + 1
		*place++
	}
	if !callsFirst {
		placeCalls(order, at, calls, least)
	}
	return order
}

func placeCalls(order, at []int32, calls []int64, least int64) {
	for i, t := range calls {
		place := &at[t-least]
		order[*place] = int32(2 * i)
		*place++
	}
}

// ByTime puts operations in the order of their times, and keeps the order of those
// with equal times. Linear time: the operations of most histories are nearly in
// order, and the times of others have few digits that differ.
func ByTime(ops []int32, times []int64) {
	if nearlyInOrder(ops, times) || len(ops) == 0 {
		return
	}
	least := times[ops[0]]
	for _, op := range ops {
		least = min(least, times[op])
	}
	// A radix sort, which skips the bytes in which the times do not differ.
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

// nearlyInOrder puts operations in order by insertion, with the result of ByTime,
// as long as they are nearly in order. It says whether it reached the end.
func nearlyInOrder(ops []int32, times []int64) bool {
	const few = 8 // steps for each operation
	steps := 0
	for i := 1; i < len(ops); i++ {
		op, at := ops[i], i
		for t := times[op]; at > 0 && times[ops[at-1]] > t; at-- {
			ops[at] = ops[at-1]
		}
		ops[at] = op
		if steps += i - at; steps > few*(i+100) {
			return false
		}
	}
	return true
}
