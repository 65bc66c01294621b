package fallback

import "clew/internal/hugepages"

// Overlap says which operations are open at which return, and gives each a bit that
// is free while it is open. Begin and End tell it of them in the order of time.
type Overlap struct {
	Slot  []int32 // by operation that returns: its bit in a mask while it is open
	Slots int32   // how many there are

	res  []int32 // by operation: when it returns
	open []int32 // by return: what is open there, the returning one first, the others by return ..
	from []int   // .. from here, to the next return's

	now  []int32 // what is open, by return
	free []int32 // bits
}

// NewOverlap returns an Overlap of operations that return at the times res. open is
// how many are open at each return, summed over all returns, if that is known.
func NewOverlap(res []int32, open int) Overlap {
	return Overlap{res: res, Slot: hugepages.Make[int32](len(res)), open: hugepages.Make[int32](open)[:0], from: hugepages.Make[int](len(res) + 1)[:1]}
}

// Begin says that an operation begins.
func (o *Overlap) Begin(op int32) {
	if n := len(o.free); n > 0 {
		o.Slot[op], o.free = o.free[n-1], o.free[:n-1]
	} else {
		o.Slot[op] = o.Slots
		o.Slots++
	}
	o.now = append(o.now, op)
	i := len(o.now) - 1
	for ; i > 0 && o.res[o.now[i-1]] > o.res[op]; i-- {
		o.now[i] = o.now[i-1]
	}
	o.now[i] = op
}

// End says that the operation returns that was to return next.
func (o *Overlap) End(op int32) {
	o.open = append(o.open, o.now...)
	o.from = append(o.from, len(o.open))
	o.now = append(o.now[:0], o.now[1:]...)
	o.free = append(o.free, o.Slot[op])
}

// OpenRows returns what is open at the k-th return. The first one is what returns.
func (o *Overlap) OpenRows(k int32) []int32 { return o.open[o.from[k]:o.from[k+1]] }

// Sum returns how many operations are open at each return, summed over all returns.
func (o *Overlap) Sum() int { return len(o.open) }
