package home

import (
	"math/bits"
	"slices"
)

// Lists are lists of numbers that share their beginnings. A list is a number, and the empty one is 0. Longer lists are made
// of shorter ones in constant time, so a step that appends takes constant time however long the lists are. The zero Lists
// has the empty list alone.
type Lists struct {
	nodes    []listNode
	children []int32 // open addressing over nodes, by the node before and the value; 0 is free
}

// listNode is a list: its last value, and the list before it. jump is a shorter one, so that any beginning is few steps
// away (Myers, "An applicative random-access stack", 1983).
type listNode struct{ before, jump, value, length int32 }

// With returns a list with one more value.
func (l *Lists) With(list, value int32) int32 {
	if l.nodes == nil {
		l.Reserve(0)
	}
	slot := l.slot(list, value)
	if l.children[slot] != 0 {
		return l.children[slot]
	}
	n := int32(len(l.nodes))
	before := l.nodes[list]
	jump, beyond := list, l.nodes[before.jump]
	if before.length-beyond.length == beyond.length-l.nodes[beyond.jump].length {
		jump = beyond.jump
	}
	l.nodes = append(l.nodes, listNode{list, jump, value, before.length + 1})
	l.children[slot] = n
	if 4*len(l.nodes) > 3*len(l.children) {
		l.rehash(2 * len(l.children))
	}
	return n
}

// Reserve makes room for n more lists.
func (l *Lists) Reserve(n int) {
	if l.nodes == nil {
		l.nodes, l.children = make([]listNode, 1, n+1), make([]int32, 64)
	}
	l.nodes = slices.Grow(l.nodes, n)
	size := len(l.children)
	for 4*(len(l.nodes)+n) > 3*size {
		size *= 2
	}
	if size > len(l.children) {
		l.rehash(size)
	}
}

func (l *Lists) rehash(size int) {
	l.children = make([]int32, size)
	for n, x := range l.nodes[1:] {
		l.children[l.slot(x.before, x.value)] = int32(n) + 1
	}
}

// slot returns where the children have a list, or have room for it.
func (l *Lists) slot(list, value int32) int {
	hi, lo := bits.Mul64(uint64(uint32(list))<<32|uint64(uint32(value))^0x9e3779b97f4a7c15, 0xa0761d6478bd642f)
	mask := len(l.children) - 1
	slot := int(hi^lo) & mask
	for n := l.children[slot]; n != 0 && (l.nodes[n].before != list || l.nodes[n].value != value); n = l.children[slot] {
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
