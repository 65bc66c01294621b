package languages

import (
	"cmp"
	"math/bits"
	"slices"
)

// coverDepth is how far down the stacks two languages may differ for uncovered to
// compare them.
const coverDepth = 100

// drop drops those of the next sets that others cover. It goes by size, since smaller
// sets cover larger ones.
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
		if s.stack[i] = s.left(i); s.stack[i] != nothing {
			kept = append(kept, i)
		}
	}
	s.next = kept
}

// thrift drops sets that use many more crashed operations than others. If that was
// wrong, the search starts over with more slack.
func (s *search) thrift() {
	if s.slack == anyNumber {
		return
	}
	kept := s.next[:0]
	for _, i := range s.next {
		if s.spent(i) <= s.least+s.slack {
			kept = append(kept, i)
		} else {
			s.dropped = true
		}
	}
	s.next = kept
}

// isEnough says whether all sets that use this many crashed operations or more would be
// dropped.
func (s *search) isEnough(spent int32) bool {
	if s.slack == anyNumber || spent-s.slack <= s.least {
		return false
	}
	s.dropped = true
	return true
}

// spent returns how many crashed operations a set uses.
func (s *search) spent(i int32) int32 {
	n := s.size[i]
	for _, w := range s.set(i)[:s.Words] {
		n -= int32(bits.OnesCount64(w))
	}
	return n
}

// covering says whether sets cover others. They do if there are crashed operations,
// and their counts fit into one word.
func (s *search) covering() bool {
	return len(s.counts) > 0 && s.width == s.Words+1 && !s.rules.NoDomination
}

// left returns the stacks of a set that its peers do not cover. Peers have the same
// operations except for crashed ones. Unless no stacks are left, the set becomes a peer.
func (s *search) left(i int32) (stack int32) {
	set := s.set(i)
	at := s.peers.find(&s.sets, set, s.Words)
	first := s.peers.slots[at] - 1
	used := set[s.Words]
	stack = s.stack[i]
	for j := first; j >= 0; j = s.peer[j] {
		less := s.set(j)[s.Words]
		if !s.uses(used, less) {
			continue
		}
		if stack = s.uncovered(s.stack[j], stack, used-less, 0); stack == nothing {
			return nothing
		}
	}
	s.peer[i] = first
	if first >= 0 {
		s.peers.slots[at] = i + 1
	} else {
		s.peers.put(&s.sets, at, i, s.Words)
	}
	return stack
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

// counted returns how many operations of a class are counted.
func (s *search) counted(counts uint64, class int32) uint64 {
	if class == none {
		return 0
	}
	return counts >> s.counts[class].shift & s.counts[class].mask
}

// uncovered returns the words of part that do not come from words of whole by
// crashed operations. Pushes put values into a word, at any place, and pops take
// some out of it. The result may also have words that do.
func (s *search) uncovered(whole, part int32, counts uint64, depth int) int32 {
	switch {
	case part == whole || part == nothing:
		return nothing
	case whole == nothing || depth > coverDepth || !s.step():
		return part
	}
	if n, known := s.covered.get(whole, part, counts); known {
		return n
	}
	n := s.notEach(whole, part, counts, depth)
	for at := s.a.first[whole]; counts != 0 && at < s.a.first[whole+1]; at++ {
		value, below := s.a.value[at], s.a.to[at]
		for _, class := range [...]int32{s.crashedPop[value], s.crashedAny} {
			if s.counted(counts, class) > 0 {
				n = s.uncovered(below, n, counts-1<<s.counts[class].shift, depth+1)
			}
		}
	}
	s.covered.put(whole, part, counts, n)
	return n
}

// notEach returns the words of part that are not covered, if no crashed operation pops
// what is on top.
func (s *search) notEach(whole, part int32, counts uint64, depth int) int32 {
	start := len(s.a.value2)
	for at := s.a.first[part]; at < s.a.first[part+1]; at++ {
		value := s.a.value[at]
		n := s.uncovered(s.a.pop(value, whole), s.a.to[at], counts, depth+1)
		if class := s.crashedPush[value]; s.counted(counts, class) > 0 {
			n = s.uncovered(whole, n, counts-1<<s.counts[class].shift, depth+1)
		}
		if n != nothing {
			s.a.edge(value, n)
		}
	}
	return s.a.intern(s.a.ends[part] && !s.a.ends[whole], start)
}

// memo remembers what is not covered.
type memo struct {
	keys []uint64 // for each entry, two languages, and the counts plus 1
	to   []int32
	n    int
}

func (m *memo) find(pair, counts uint64) int {
	last := len(m.to) - 1
	h := (pair ^ counts*0xff51afd7ed558ccd) * 0x9e3779b97f4a7c15
	at := int(h>>32) & last
	for m.keys[2*at+1] != 0 && (m.keys[2*at] != pair || m.keys[2*at+1] != counts+1) {
		at = (at + 1) & last
	}
	return at
}

func (m *memo) get(whole, part int32, counts uint64) (n int32, known bool) {
	if m.n == 0 {
		return 0, false
	}
	at := m.find(uint64(whole)<<32|uint64(part), counts)
	return m.to[at], m.keys[2*at+1] != 0
}

func (m *memo) put(whole, part int32, counts uint64, n int32) {
	if 2*m.n >= len(m.to) {
		m.grow()
	}
	pair := uint64(whole)<<32 | uint64(part)
	at := m.find(pair, counts)
	if m.keys[2*at+1] == 0 {
		m.n++
	}
	m.keys[2*at], m.keys[2*at+1], m.to[at] = pair, counts+1, n
}

func (m *memo) grow() {
	old := *m
	size := max(256, 2*len(old.to))
	m.keys, m.to = make([]uint64, 2*size), make([]int32, size)
	for i, n := range old.to {
		if counts := old.keys[2*i+1]; counts != 0 {
			at := m.find(old.keys[2*i], counts-1)
			m.keys[2*at], m.keys[2*at+1], m.to[at] = old.keys[2*i], counts, n
		}
	}
}

// empty forgets everything.
func (m *memo) empty() {
	clear(m.keys)
	m.n = 0
}

func (m *memo) bytes() int64 { return 20 * int64(len(m.to)) }
