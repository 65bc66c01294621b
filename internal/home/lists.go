package home

import (
	"math/bits"
	"slices"
)

// Lists are lists of numbers that share their beginnings. A list is a number, and the empty one is 0. Longer lists are made
// of shorter ones in constant time, so a step that appends takes constant time however long the lists are. The zero Lists
// has the empty list alone.
type Lists struct {
	nodes  []listNode
	others []int32 // those that are not the first of the list before: open addressing, by that list and the value; 0 is free
	count  int     // of others
}

// listNode is a list: its last value, and the list before it. jump is a shorter one, so that any beginning is few steps
// away (Myers, "An applicative random-access stack", 1983). first is the first list with one more value, 0 if there is none:
// most lists have no other.
type listNode struct{ before, jump, value, length, first int32 }

// With returns a list with one more value.
func (l *Lists) With(list, value int32) int32 {
	if l.nodes == nil {
		l.Reserve(0)
	}
	before, slot := &l.nodes[list], 0
	if before.first != 0 {
		if l.nodes[before.first].value == value {
			return before.first
		}
		if slot = l.slot(list, value); l.others[slot] != 0 {
			return l.others[slot]
		}
	}
	n := int32(len(l.nodes))
	jump, beyond := list, l.nodes[before.jump]
	if before.length-beyond.length == beyond.length-l.nodes[beyond.jump].length {
		jump = beyond.jump
	}
	first := before.first == 0
	if first {
		before.first = n
	}
	l.nodes = append(l.nodes, listNode{list, jump, value, before.length + 1, 0})
	if first {
		return n
	}
	l.others[slot] = n
	if l.count++; 4*l.count > 3*len(l.others) {
		l.rehash(2 * len(l.others))
	}
	return n
}

// Reserve makes room for n more lists.
func (l *Lists) Reserve(n int) {
	if l.nodes == nil {
		l.nodes, l.others = make([]listNode, 1, n+1), make([]int32, 64)
	}
	l.nodes = slices.Grow(l.nodes, n)
}

func (l *Lists) rehash(size int) {
	l.others = make([]int32, size)
	for i, x := range l.nodes[1:] {
		if n := int32(i) + 1; l.nodes[x.before].first != n {
			l.others[l.slot(x.before, x.value)] = n
		}
	}
}

// slot returns where the others have a list, or have room for it.
func (l *Lists) slot(list, value int32) int {
	hi, lo := bits.Mul64(uint64(uint32(list))<<32|uint64(uint32(value))^0x9e3779b97f4a7c15, 0xa0761d6478bd642f)
	mask := len(l.others) - 1
	slot := int(hi^lo) & mask
	for n := l.others[slot]; n != 0 && (l.nodes[n].before != list || l.nodes[n].value != value); n = l.others[slot] {
		slot = (slot + 1) & mask
	}
	return slot
}

// Follow returns a list with more values.
func (l *Lists) Follow(list int32, values []int32) int32 {
	for _, value := range values {
		list = l.With(list, value)
	}
	return list
}

// Len returns the length of a list.
func (l *Lists) Len(list int32) int32 {
	if list == 0 {
		return 0
	}
	return l.nodes[list].length
}

// Last returns the last value of a list that is not empty.
func (l *Lists) Last(list int32) int32 { return l.nodes[list].value }

// Beginning returns the list of the first values of a list, or the list if it is shorter.
func (l *Lists) Beginning(list, length int32) int32 {
	for l.Len(list) > length {
		if jump := l.nodes[list].jump; l.nodes[jump].length >= length {
			list = jump
		} else {
			list = l.nodes[list].before
		}
	}
	return list
}

// Values returns the values of a list.
func (l *Lists) Values(list int32) []int32 {
	values := make([]int32, l.Len(list))
	for ; list != 0; list = l.nodes[list].before {
		values[l.nodes[list].length-1] = l.nodes[list].value
	}
	return values
}
