package transaction

import (
	"clew/fastpath"
	"clew/internal/hugepages"
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
	at     places                 // the versions, or -2 less the rows that overwrote them themselves
	twice  map[uint64][2]models.Row

	// By slot.
	own   []int32 // the value that the latest row wrote last so far
	saw   []int32 // that it saw, from outside
	over  []int32 // the version that it leaves
	stamp []struct{ own, saw, over models.Row }
}

// places are numbers by slot and value. A value is mostly written to one slot.
type places struct {
	first []place // by value: the first slot that had a place for it
	more  map[uint64]int32
}

// place is a slot, plus 1, and its number.
type place struct{ slot, number int32 }

// get returns the number for a slot and a value, if there is one.
func (p *places) get(slot, value int32) (number int32, known bool) {
	if uint32(value) < uint32(len(p.first)) {
		if first := p.first[value]; first.slot == 0 || first.slot == slot+1 {
			return first.number, first.slot != 0
		}
	}
	number, known = p.more[cell(slot, value)]
	return number, known
}

func (p *places) set(slot, value, number int32) {
	if uint32(value) < uint32(len(p.first)) {
		if first := &p.first[value]; first.slot == 0 || first.slot == slot+1 {
			*first = place{slot + 1, number}
			return
		}
	}
	p.more[cell(slot, value)] = number
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
	top, highest, steps, writes := int32(-1), int32(-1), 0, 0
	for _, txn := range x.in.A {
		for _, s := range x.shape.Of(txn) {
			top, highest = max(top, s.Slot), max(highest, s.Value)
			if steps++; s.Write {
				writes++
			}
		}
	}
	x.owners, x.slot, x.reads = hugepages.Grow(x.owners, writes), hugepages.Grow(x.slot, writes), hugepages.Grow(x.reads, steps-writes)
	x.at = places{more: map[uint64]int32{}}
	if !fastpath.Sparse(int64(highest)+1, int64(steps)) {
		x.at.first = hugepages.Make[place](int(highest) + 1)
	}
	x.number, x.slots = func(slot int32) int32 { return slot }, top+1
	if !fastpath.Sparse(int64(top)+1, int64(steps)) {
		for slot := range x.slots {
			x.at.set(slot, x.shape.Init(slot), slot)
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
				x.at.set(slot, x.shape.Init(s.Slot), slot)
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
		if before, known := x.at.get(slot, s.Value); known {
			if other := x.madeBy(before); other != row {
				x.twice[cell(slot, s.Value)] = [2]models.Row{other, row}
			}
		}
		x.at.set(slot, s.Value, place)
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
	if two, is := x.twice[cell(slot, value)]; is && x.ambiguous == nil {
		x.ambiguous = again.Of(row, two[0], two[1]).About(value)
	}
	place, known := x.at.get(slot, value)
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
