package sequence

import (
	"math/bits"

	"clew/models"
)

// due holds the operations that have begun, will return and are not linearized yet.
// When operations return, a sweep asks only for these, and most are linearized by
// then. So due has a bit for each event, and a sweep looks at 64 events at once.
type due struct {
	returns []uint64 // a bit for each event
	row     []int32  // by event: the row that returns, if it was added
	word    uint32   // there are none in earlier words
}

func newDue(events int32) due {
	return due{returns: make([]uint64, events/64+1), row: make([]int32, events)}
}

// add adds a row that returns at an event.
func (d *due) add(row models.Row, res int32) {
	d.returns[uint32(res)/64] |= 1 << (uint32(res) % 64)
	d.row[res] = row
}

// drop removes the operation that returns at an event, if it is there.
func (d *due) drop(res int32) { d.returns[uint32(res)/64] &^= 1 << (uint32(res) % 64) }

// has reports whether the operation that returns at an event is there.
func (d *due) has(res int32) bool { return d.returns[uint32(res)/64]>>(uint32(res)%64)&1 != 0 }

// before reports whether an operation that is due returns before an event.
// The events in successive calls must ascend.
func (d *due) before(end int32) bool {
	for d.word < uint32(end)/64 {
		if d.returns[d.word] != 0 {
			return true
		}
		d.word++
	}
	return d.returns[d.word]&(1<<(uint32(end)%64)-1) != 0
}

// first returns the row that returns first. before must have found that there is one.
func (d *due) first() models.Row {
	return d.row[d.word*64+uint32(bits.TrailingZeros64(d.returns[d.word]))]
}
