package languages

import (
	"math/bits"
	"slices"

	"clew/fallback"
	"clew/models"
)

// moment is what a search knows about a return before it passes it.
type moment struct {
	open   []models.Row // the returning one first, the others by return
	twin   []int32      // by place in open: the place of the last one before it with the same meaning, or none
	pushes []int32      // places
	pops   []int32      // places
	looks  []look       // operations that only look, by what they saw
	takers []uint64     // the slots of operations that pop or look
}

// look holds the open operations that saw a value on top, or none if they found
// the stack empty.
type look struct {
	value int32
	slots []uint64
}

// count says where the used operations of a crash class are counted.
type count struct {
	kind      models.Kind
	value     int32
	rows      []models.Row // by invocation
	available uint64       // how many of them have been invoked
	word      int
	shift     uint
	mask      uint64
}

// number gives values small numbers, in order of appearance.
func (s *search) number(values []int32) {
	numbers := fallback.Numbering{}
	s.value = make([]int32, s.Ops.Len())
	for row, kind := range s.Ops.Kind {
		if s.value[row] = none; kind != models.PopEmpty && kind != models.PopAny {
			s.value[row] = numbers.Of(s.Ops.A[row])
		}
	}
	for _, value := range values {
		s.initial = append(s.initial, numbers.Of(value))
	}
	s.crashedPush, s.crashedPop = slices.Repeat([]int32{none}, len(numbers)), slices.Repeat([]int32{none}, len(numbers))
	s.crashedAny = none
}

// phaseBits is how many bits of the word behind the mask hold the phase.
const phaseBits = 2

// countCrashed finds room for the counts.
func (s *search) countCrashed() {
	word, shift := s.Words, uint(phaseBits)
	for _, c := range s.Crashed {
		kind, value := s.Ops.Kind[c.Rows[0]], s.value[c.Rows[0]]
		n := int32(len(s.counts))
		switch kind {
		case models.Push:
			s.crashedPush[value] = n
		case models.Pop:
			s.crashedPop[value] = n
		case models.PopAny:
			s.crashedAny = n
		default:
			continue // it says nothing
		}
		width := uint(bits.Len(uint(len(c.Rows))))
		if shift+width > 64 {
			word, shift = word+1, 0
		}
		s.counts = append(s.counts, count{kind: kind, value: value, rows: c.Rows, word: word, shift: shift, mask: 1<<width - 1})
		shift += width
	}
	s.sets.width = word + 1
}

// unused returns the next crashed operation of a class that a set can use, or none.
func (s *search) unused(set []uint64, class int32) models.Row {
	if class == none {
		return none
	}
	c := &s.counts[class]
	if used := set[c.word] >> c.shift & c.mask; used < c.available {
		return c.rows[used]
	}
	return none
}

// use counts a crashed operation.
func (s *search) use(set []uint64, class int32) {
	c := &s.counts[class]
	set[c.word] += 1 << c.shift
}

// survey finds what may happen before the k-th return.
func (s *search) survey(k int32) {
	for i := range s.counts {
		c := &s.counts[i]
		for c.available < uint64(len(c.rows)) && s.Ops.Inv[c.rows[c.available]] < s.Ends[k] {
			c.available++
		}
	}
	m := &s.moment
	m.open = s.OpenRows(k)
	m.twin, m.pushes, m.pops, m.looks = m.twin[:0], m.pushes[:0], m.pops[:0], m.looks[:0]
	clear(m.takers)
	s.Work += len(m.open)
	for place, row := range m.open {
		m.twin = append(m.twin, s.last[s.Class[row]])
		s.last[s.Class[row]] = int32(place)
		switch s.Ops.Kind[row] {
		case models.Push:
			m.pushes = append(m.pushes, int32(place))
			continue
		case models.Pop:
			m.pops = append(m.pops, int32(place))
		default:
			s.addLook(row)
		}
		fallback.SetBit(m.takers, s.Slot[row])
	}
	for _, row := range m.open {
		s.last[s.Class[row]] = none
	}
}

func (s *search) addLook(row models.Row) {
	m := &s.moment
	i := 0
	for i < len(m.looks) && m.looks[i].value != s.value[row] {
		i++
	}
	if i == len(m.looks) {
		if i < cap(m.looks) {
			m.looks = m.looks[:i+1]
			clear(m.looks[i].slots)
		} else {
			m.looks = append(m.looks, look{})
		}
		if m.looks[i].value = s.value[row]; m.looks[i].slots == nil {
			m.looks[i].slots = make([]uint64, s.Words)
		}
	}
	fallback.SetBit(m.looks[i].slots, s.Slot[row])
}

// linearized says whether the operation at a place is in a set.
func (s *search) linearized(set []uint64, place int32) bool {
	return fallback.HasBit(set, s.Slot[s.moment.open[place]])
}

// turns says whether the operation at a place is the next of its meaning: it is not
// in a set, but those that return before it are.
func (s *search) turns(set []uint64, place int32) bool {
	if s.linearized(set, place) {
		return false
	}
	for place = s.moment.twin[place]; place != none && !s.rules.NoCanonicalOrder; place = s.moment.twin[place] {
		if !s.linearized(set, place) {
			return false
		}
	}
	return true
}

// first returns the first of some places whose operation has a value and is not in a
// set, or none.
func (s *search) first(set []uint64, places []int32, value int32) int32 {
	for _, place := range places {
		if s.value[s.moment.open[place]] == value && !s.linearized(set, place) {
			return place
		}
	}
	return none
}
