package languages

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// coverDepth is how far down the stacks two languages may differ so that it finds out
// that one covers the other.
const coverDepth = 100

// drop drops those of the next sets that others cover, by size: it is the smaller ones
// that do.
func (s *search) drop() {
	if len(s.counts) > 0 {
		s.thrift()
	}
	if !s.covering() {
		return
	}
	slices.SortStableFunc(s.next, func(a, b int32) int { return cmp.Compare(s.size[a], s.size[b]) })
	s.peers.reset(len(s.next))
	kept := s.next[:0]
	for _, i := range s.next {
		if s.Cause == "" && !s.isCovered(i) {
			kept = append(kept, i)
		}
	}
	s.next = kept
}

// thrift drops sets that use many more crashed operations than others. If that was
// wrong, the search begins anew with more slack.
func (s *search) thrift() {
	if s.slack == none {
		return
	}
	least := int32(math.MaxInt32)
	for _, i := range s.next {
		least = min(least, s.spent(i))
	}
	kept := s.next[:0]
	for _, i := range s.next {
		if s.spent(i) <= least+s.slack {
			kept = append(kept, i)
		} else {
			s.dropped = true
		}
	}
	s.next = kept
}

// spent is how many crashed operations a set uses.
func (s *search) spent(i int32) int32 {
	n := s.size[i]
	for _, w := range s.set(i)[:s.Words] {
		n -= int32(bits.OnesCount64(w))
	}
	return n
}

// covering says whether sets cover others: if there are crashed operations, and their
// counts are one word.
func (s *search) covering() bool {
	return len(s.counts) > 0 && s.width == s.Words+1 && !s.rules.NoDomination
}

// isCovered says whether a set is covered by one of its peers, which have the same
// operations but for crashed ones. If not, it becomes one of them.
func (s *search) isCovered(i int32) bool {
	set := s.set(i)
	at := s.peers.find(&s.sets, set, s.Words)
	first := s.peers.slots[at] - 1
	used := set[s.Words]
	for j := first; j >= 0; j = s.peer[j] {
		less := s.set(j)[s.Words]
		if !s.uses(used, less) {
			continue
		}
		if s.covers(s.stack[j], s.stack[i], used-less, 0) {
			return true
		}
	}
	s.peer[i] = first
	if first >= 0 {
		s.peers.slots[at] = i + 1
	} else {
		s.peers.put(&s.sets, at, i, s.Words)
	}
	return false
}

// uses says whether all counts are at least as great as others.
func (s *search) uses(counts, others uint64) bool {
	for i := range s.counts {
		c := &s.counts[i]
		if counts>>c.shift&c.mask < others>>c.shift&c.mask {
			return false
		}
	}
	return true
}

// counted is how many of a class are counted.
func (s *search) counted(counts uint64, class int32) uint64 {
	if class == none {
		return 0
	}
	return counts >> s.counts[class].shift & s.counts[class].mask
}

// covers says whether every word of part comes from one of whole by crashed
// operations: pushes put values into it, at any place, and pops take some out of it.
// It may say no though they do.
func (s *search) covers(whole, part int32, counts uint64, depth int) bool {
	switch {
	case part == whole:
		return true
	case whole == nothing || depth > coverDepth || !s.step():
		return false
	}
	in, known := s.covered.get(whole, part, counts)
	if !known {
		in = s.coversEach(whole, part, counts, depth) || counts != 0 && s.coversBelow(whole, part, counts, depth)
		s.covered.put(whole, part, counts, in)
	}
	return in
}

// coversEach says whether each word of part is covered, if no crashed operation pops
// what is on top.
func (s *search) coversEach(whole, part int32, counts uint64, depth int) bool {
	if s.a.ends[part] && !s.a.ends[whole] {
		return false
	}
	for at := s.a.first[part]; at < s.a.first[part+1]; at++ {
		value, below := s.a.value[at], s.a.to[at]
		if s.covers(s.a.pop(value, whole), below, counts, depth+1) {
			continue
		}
		class := s.crashedPush[value]
		if s.counted(counts, class) == 0 || !s.covers(whole, below, counts-1<<s.counts[class].shift, depth+1) {
			return false
		}
	}
	return true
}

// coversBelow says whether part is covered if a crashed operation pops what is on top.
func (s *search) coversBelow(whole, part int32, counts uint64, depth int) bool {
	for at := s.a.first[whole]; at < s.a.first[whole+1]; at++ {
		value, below := s.a.value[at], s.a.to[at]
		for _, class := range [...]int32{s.crashedPop[value], s.crashedAny} {
			if s.counted(counts, class) > 0 && s.covers(below, part, counts-1<<s.counts[class].shift, depth+1) {
				return true
			}
		}
	}
	return false
}

// memo remembers what covers what.
type memo struct {
	keys []uint64 // for each, two languages, and the counts with known and yes
	n    int
}

// The counts leave some bits free.
const (
	known uint64 = 1 << iota
	yes
)

func (m *memo) find(pair, counts uint64) int {
	last := len(m.keys)/2 - 1
	h := (pair ^ counts*0xff51afd7ed558ccd) * 0x9e3779b97f4a7c15
	at := int(h>>32) & last
	for m.keys[2*at+1] != 0 && (m.keys[2*at] != pair || m.keys[2*at+1]&^yes != counts|known) {
		at = (at + 1) & last
	}
	return 2 * at
}

func (m *memo) get(whole, part int32, counts uint64) (in, isKnown bool) {
	if m.n == 0 {
		return false, false
	}
	at := m.find(uint64(whole)<<32|uint64(part), counts)
	return m.keys[at+1]&yes != 0, m.keys[at+1] != 0
}

func (m *memo) put(whole, part int32, counts uint64, in bool) {
	if 4*m.n >= len(m.keys) {
		m.grow()
	}
	pair := uint64(whole)<<32 | uint64(part)
	at := m.find(pair, counts)
	if m.keys[at+1] == 0 {
		m.n++
	}
	m.keys[at], m.keys[at+1] = pair, counts|known
	if in {
		m.keys[at+1] |= yes
	}
}

func (m *memo) grow() {
	old := m.keys
	m.keys = make([]uint64, max(256, 2*len(old)))
	for i := 0; i < len(old); i += 2 {
		if old[i+1] != 0 {
			at := m.find(old[i], old[i+1]&^(known|yes))
			m.keys[at], m.keys[at+1] = old[i], old[i+1]
		}
	}
}

// empty forgets everything.
func (m *memo) empty() {
	clear(m.keys)
	m.n = 0
}

func (m *memo) bytes() int64 { return 8 * int64(len(m.keys)) }
