package transaction

import (
	"clew/fastpath"
	"clew/models"
)

// versions says which versions the transactions of a history left and read.
//
// The initial version of a slot has the number of the slot. The others follow, one for each key that a transaction leaves
// with a value.
type versions struct {
	slots  int32
	wFrom  []int32      // by row, and one more: where its writes begin
	slot   []int32      // by write: its slot
	owners []models.Row // by write: who made it

	rFrom []int32 // by row, and one more: where its reads begin
	reads []read

	findings  map[models.Row]*fastpath.Finding // by row: what is wrong with it by itself
	ambiguous *fastpath.Finding
}

// read is a read of a version with a value: who left it, Initial, or Missing if nothing has, and the version by which the
// reader itself overwrites it, or -1.
type read struct{ version, owner, over, value int32 }

func (v *versions) readsOf(row models.Row) []read { return v.reads[v.rFrom[row]:v.rFrom[row+1]] }

// ownerOf returns who left a version.
func (v *versions) ownerOf(version int32) models.Row {
	if version < v.slots {
		return fastpath.Initial
	}
	return v.owners[version-v.slots]
}

func (v *versions) slotOf(version int32) int32 {
	if version < v.slots {
		return version
	}
	return v.slot[version-v.slots]
}

// reading is what is known of a history while its versions are read.
type reading struct {
	*versions
	in     fastpath.Input
	shape  *models.TxnRegistersShape
	number func(slot int32) int32 // the slots without gaps
	at     map[uint64]int32       // by slot and value: the version, or -2 less the row that overwrote it itself
	twice  map[uint64][2]models.Row

	// By slot.
	own   []int32 // the value that the latest row wrote last so far
	saw   []int32 // that it saw, from outside
	over  []int32 // the version that it leaves
	stamp []struct{ own, saw, over models.Row }
}

func cell(slot, value int32) uint64 { return uint64(slot)<<32 | uint64(uint32(value)) }

func versionsOf(in fastpath.Input, shape *models.TxnRegistersShape) versions {
	n := in.Len()
	v := versions{wFrom: make([]int32, n+1), rFrom: make([]int32, n+1), findings: map[models.Row]*fastpath.Finding{}}
	x := &reading{versions: &v, in: in, shape: shape, twice: map[uint64][2]models.Row{}}
	x.numberSlots()
	x.own, x.saw, x.over = make([]int32, v.slots), make([]int32, v.slots), make([]int32, v.slots)
	x.stamp = make([]struct{ own, saw, over models.Row }, v.slots)
	for row := range models.Row(n) {
		x.writes(row)
	}
	for row := range models.Row(n) {
		x.readings(row)
	}
	return v
}

// numberSlots numbers the slots, and finds their initial values.
func (x *reading) numberSlots() {
	top, steps := int32(-1), 0
	for _, txn := range x.in.A {
		for _, s := range x.shape.Of(txn) {
			top = max(top, s.Slot)
			steps++
		}
	}
	x.at = make(map[uint64]int32, steps)
	x.number, x.slots = func(slot int32) int32 { return slot }, top+1
	if !fastpath.Sparse(int64(top)+1, int64(steps)) {
		for slot := range x.slots {
			x.at[cell(slot, x.shape.Init(slot))] = slot
		}
		return
	}
	numbers := map[int32]int32{}
	x.number = func(slot int32) int32 { return numbers[slot] }
	for _, txn := range x.in.A {
		for _, s := range x.shape.Of(txn) {
			if _, known := numbers[s.Slot]; !known {
				slot := int32(len(numbers))
				numbers[s.Slot] = slot
				x.at[cell(slot, x.shape.Init(s.Slot))] = slot
			}
		}
	}
	x.slots = int32(len(numbers))
}

// writes notes what a row writes.
func (x *reading) writes(row models.Row) {
	for _, s := range x.shape.Of(x.in.A[row]) {
		if !s.Write {
			continue
		}
		slot := x.number(s.Slot)
		place := -2 - row
		if s.Outer {
			place = x.slots + int32(len(x.owners))
			x.owners, x.slot = append(x.owners, row), append(x.slot, slot)
		}
		at := cell(slot, s.Value)
		if before, known := x.at[at]; known {
			if other := x.madeBy(before); other != row {
				x.twice[at] = [2]models.Row{other, row}
			}
		}
		x.at[at] = place
	}
	x.wFrom[row+1] = int32(len(x.owners))
}

// madeBy returns who made a version or value.
func (x *reading) madeBy(place int32) models.Row {
	if place <= -2 {
		return -2 - place
	}
	return x.ownerOf(place)
}

// readings notes what a row reads.
func (x *reading) readings(row models.Row) {
	now := row + 1
	for e := x.wFrom[row]; e < x.wFrom[row+1]; e++ {
		x.over[x.slot[e]], x.stamp[x.slot[e]].over = x.slots+e, now
	}
	for _, s := range x.shape.Of(x.in.A[row]) {
		slot := x.number(s.Slot)
		stamp := &x.stamp[slot]
		switch {
		case s.Write:
			x.own[slot], stamp.own = s.Value, now
		case stamp.own == now:
			if x.own[slot] != s.Value {
				x.wrong(row, notLeft.Of(row).About(s.Value))
			}
		case stamp.saw == now && x.saw[slot] == s.Value:
		default:
			if stamp.saw == now { // it saw another one before
				x.wrong(row, notLeft.Of(row).About(s.Value))
			}
			x.saw[slot], stamp.saw = s.Value, now
			r := x.find(row, slot, s.Value)
			if r.over = -1; stamp.over == now {
				r.over = x.over[slot]
			}
			x.reads = append(x.reads, r)
		}
	}
	x.rFrom[row+1] = int32(len(x.reads))
}

func (x *reading) wrong(row models.Row, why *fastpath.Finding) {
	if x.findings[row] == nil {
		x.findings[row] = why
	}
}

// find finds the version that a row read.
func (x *reading) find(row models.Row, slot, value int32) (r read) {
	at := cell(slot, value)
	if two, is := x.twice[at]; is && x.ambiguous == nil {
		x.ambiguous = again.Of(row, two[0], two[1]).About(value)
	}
	place, known := x.at[at]
	if !known {
		x.wrong(row, unwritten.Of(row, fastpath.Missing).About(value))
		return read{version: -1, owner: fastpath.Missing}
	}
	r.version, r.owner, r.value = place, x.madeBy(place), value
	switch {
	case r.owner == row:
		x.wrong(row, notLeft.Of(row).About(value))
	case place < 0:
		x.wrong(row, passing.Of(row, r.owner).About(value))
	}
	return r
}
