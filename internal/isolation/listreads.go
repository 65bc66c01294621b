package isolation

import (
	"slices"

	"clew/models"
)

// ownReads is what one transaction did so far, by key.
type ownReads struct {
	reads    [][]int32 // its reads, as steps
	appended [][]int32 // what it appended
	since    []int32   // how much of that was appended when it read last
}

// reads looks at all reads.
func (l *Lists) reads() {
	slots := l.shape.Slots
	l.own = ownReads{make([][]int32, slots), make([][]int32, slots), make([]int32, slots)}
	l.findBad()
	for txn, res := range l.Res {
		if res == models.Open {
			continue
		}
		steps := l.steps(int32(txn))
		for _, s := range steps {
			l.own.reads[s.Slot], l.own.appended[s.Slot], l.own.since[s.Slot] = l.own.reads[s.Slot][:0], l.own.appended[s.Slot][:0], 0
		}
		for i, s := range steps {
			if s.Append {
				l.appends(int32(txn), steps, s)
				l.own.appended[s.Slot] = append(l.own.appended[s.Slot], s.Value)
				continue
			}
			l.at = int32(i)
			l.read(int32(txn), steps, s)
			l.own.reads[s.Slot], l.own.since[s.Slot] = append(l.own.reads[s.Slot], int32(i)), int32(len(l.own.appended[s.Slot]))
		}
	}
}

// read looks at one read.
func (l *Lists) read(txn int32, steps []models.ListStep, s models.ListStep) {
	list := l.shape.List(s)
	l.fromInside(txn, steps, s, list)
	outside := l.outside(txn, list)
	if init := l.first(int(s.Slot)); outside < len(init) || s.Value < 0 && !slices.Equal(list[:len(init)], init) {
		l.found(Incompatible, txn, -1, s.Slot, -1)
	}
	if outside == 0 {
		l.Reads = append(l.Reads, Read{Txn: txn, Key: s.Slot})
	} else {
		last := list[outside-1]
		if by := l.owner[last]; by >= 0 && l.replaced[last] {
			l.found(HalfRead, txn, by, s.Slot, last)
		}
		if at := l.position[last]; at > 0 {
			order := l.order[s.Slot]
			apart := s.Value < 0 || s.Value > l.agreed[s.Slot]
			apart = apart && (int(at) != outside || outside > len(order) || !slices.Equal(order[:outside], list[:outside]))
			l.Reads = append(l.Reads, Read{txn, s.Slot, at, apart})
		}
	}
	if s.Value < 0 || s.Value > l.bad[s.Slot] {
		l.fromOutside(txn, s, list)
		l.bad[s.Slot] = max(l.bad[s.Slot], s.Value)
	}
}

// outside returns how much of a list that a transaction read is not what it had itself appended at the end.
func (l *Lists) outside(txn int32, list []int32) int {
	n := len(list)
	for n > 0 && l.owner[list[n-1]] == txn {
		n--
	}
	return n
}

// findBad finds how much of the longest list of each key that the model has seen is the order of versions, with elements that
// transactions appended that did not fail. What is wrong behind that is found in the first transaction that reads it.
func (l *Lists) findBad() {
	l.place = positions(l.shape.Longest, l.shape.Elements)
	l.bad = make([]int32, l.shape.Slots)
	for k, list := range l.shape.Longest {
		order, n := l.order[k], 0
		for n < len(list) && l.owner[list[n]] >= initialOwner && l.place[list[n]] == int32(n)+1 && (n >= len(order) || order[n] == list[n]) {
			n++
		}
		l.bad[k] = int32(n)
	}
	l.agreed = slices.Clone(l.bad)
}

// fromOutside looks at the elements of a read.
func (l *Lists) fromOutside(txn int32, s models.ListStep, list []int32) {
	order := l.order[s.Slot]
	for i, e := range list {
		if i < len(order) && e != order[i] {
			l.found(Incompatible, txn, l.Shower[s.Slot], s.Slot, e)
			break
		}
	}
	for _, e := range list {
		switch by := l.owner[e]; {
		case by == noOwner:
			l.found(Garbage, txn, -1, s.Slot, e)
		case by <= failedOwner:
			l.found(AbortedRead, txn, by, s.Slot, e)
		}
	}
	sorted := slices.Sorted(slices.Values(list))
	for i, e := range sorted[:max(0, len(sorted)-1)] {
		if e == sorted[i+1] && (i == 0 || sorted[i-1] != e) {
			l.found(Duplicates, txn, l.owner[e], s.Slot, e)
		}
	}
}

// fromInside compares a read with what the transaction itself had read and appended before.
func (l *Lists) fromInside(txn int32, steps []models.ListStep, s models.ListStep, list []int32) {
	appended := l.own.appended[s.Slot]
	if before := l.own.reads[s.Slot]; len(before) > 0 {
		appended = appended[l.own.since[s.Slot]:]
		known := steps[before[len(before)-1]]
		same := len(l.shape.List(known))+len(appended) == len(list)
		if same && (known.Value < 0 || s.Value < 0) {
			same = slices.Equal(l.shape.List(known), list[:len(list)-len(appended)])
		}
		if !same {
			l.found(Internal, txn, -1, s.Slot, -1)
			return
		}
	}
	if begin := len(list) - len(appended); begin < 0 || !slices.Equal(list[begin:], appended) {
		l.found(Internal, txn, -1, s.Slot, -1)
	}
}

// appends looks at an append: an earlier read must not show it.
func (l *Lists) appends(txn int32, steps []models.ListStep, s models.ListStep) {
	for _, i := range l.own.reads[s.Slot] {
		read := steps[i]
		if read.Value >= 0 && 0 < l.place[s.Value] && l.place[s.Value] <= read.Value || read.Value < 0 && slices.Contains(l.shape.List(read), s.Value) {
			l.at = i
			l.found(FutureRead, txn, -1, s.Slot, s.Value)
			return
		}
	}
}
