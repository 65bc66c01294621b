package languages

import (
	"math/bits"
	"slices"
)

// sets holds the sets of operations of a search, each with the stacks to which these
// can have led. A set takes some words: a bit for each slot whose operation is
// linearized, then the phase of a return. After that come the counts of used crashed
// operations by class.
type sets struct {
	width int
	words []uint64 // width words for each
	stack []int32  // its stacks, as a language read from the top
	size  []int32  // how many operations it has: those of slots, and crashed ones
	at    []int32  // the return that it is about to pass
	way   []int32  // the last of the ways to it, or none
	peer  []int32  // see left
	ways  []way
}

// way says how a set was reached from another one, and which way to it was found before.
type way struct {
	from, row, before int32
	kind              wayKind
}

// wayKind says what lies between two sets.
type wayKind int8

const (
	passes wayKind = iota // nothing: the returning operation was linearized
	takes                 // the row
	sees                  // operations that only look: the slots that are new
	meets                 // the row, which pushes, operations that only look, and the returning operation, which pops
)

const none int32 = -1

func (s *sets) set(i int32) []uint64 { return s.words[int(i)*s.width : (int(i)+1)*s.width] }

// add adds a set.
func (s *sets) add(set []uint64, stack, size, at int32) int32 {
	s.words = append(s.words, set...)
	s.stack, s.size = append(s.stack, stack), append(s.size, size)
	s.at, s.way, s.peer = append(s.at, at), append(s.way, none), append(s.peer, none)
	return int32(len(s.stack) - 1)
}

// reach adds a way to a set.
func (s *sets) reach(i int32, w way) {
	w.before = s.way[i]
	s.way[i] = int32(len(s.ways))
	s.ways = append(s.ways, w)
}

// keep forgets all sets except some, and how these were reached.
func (s *sets) keep(some []int32) {
	kept := &sets{width: s.width}
	for _, i := range some {
		kept.add(s.set(i), s.stack[i], s.size[i], s.at[i])
	}
	s.words = append(s.words[:0], kept.words...)
	s.stack, s.size = append(s.stack[:0], kept.stack...), append(s.size[:0], kept.size...)
	s.at, s.way, s.peer = append(s.at[:0], kept.at...), append(s.way[:0], kept.way...), append(s.peer[:0], kept.peer...)
	s.ways = s.ways[:0]
}

func (s *sets) bytes() int64 {
	return 8*int64(cap(s.words)) + 4*int64(cap(s.stack)+cap(s.size)+cap(s.at)+cap(s.way)+cap(s.peer)) + 16*int64(cap(s.ways))
}

// table finds some of the sets by their words.
type table struct {
	slots []int32 // sets plus 1; 0 is free
	n     int
}

// reset empties the table, and makes it large enough for about n sets.
func (t *table) reset(n int) {
	size := 64
	for size < 2*n {
		size *= 2
	}
	if size > len(t.slots) || 8*size < len(t.slots) {
		t.slots = make([]int32, size)
	} else {
		clear(t.slots)
	}
	t.n = 0
}

// find returns the place of a set, or the free place where it belongs. Sets are
// equal here if their first n words are.
func (t *table) find(s *sets, set []uint64, n int) int {
	h := uint64(0)
	for _, w := range set[:n] {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 31
	}
	last := len(t.slots) - 1
	at := int((h*0x9e3779b97f4a7c15)>>32) & last
	for t.slots[at] != 0 && !slices.Equal(s.set(t.slots[at] - 1)[:n], set[:n]) {
		at = (at + 1) & last
	}
	return at
}

// put puts a set at its place.
func (t *table) put(s *sets, at int, i int32, n int) {
	t.slots[at] = i + 1
	if t.n++; 2*t.n > len(t.slots) {
		old := t.slots
		t.slots = make([]int32, 2*len(old))
		for _, j := range old {
			if j != 0 {
				t.slots[t.find(s, s.set(j-1), n)] = j
			}
		}
	}
}

// lacks says whether some bits of a mask are not set in a set.
func lacks(set, mask []uint64) bool {
	for i, m := range mask {
		if m&^set[i] != 0 {
			return true
		}
	}
	return false
}

// join sets the bits of a mask, and returns how many were not set.
func join(set, mask []uint64) (more int32) {
	for i, m := range mask {
		more += int32(bits.OnesCount64(m &^ set[i]))
		set[i] |= m
	}
	return more
}
