package fallback

// Memo is a table from a state and a class of operations to a number that says
// where a step leads. It is a hash table in two arrays: searches ask it for
// millions of pairs, and most answers are one number.
type Memo struct {
	keys []uint64 // state<<32 | class, plus 1; 0 is free
	to   []int32
	n    int
}

// minMemo is the first size of a table, a power of two.
const minMemo = 64

// memoBytes is about how much memory a pair takes.
const memoBytes = 24

func memoKey(state, class int32) uint64 { return uint64(uint32(state))<<32 | uint64(uint32(class)) + 1 }

// at returns the place of a key, or the free place where it belongs.
func (m *Memo) at(key uint64) int {
	h := key * 0x9e3779b97f4a7c15
	i := int(h>>32) & (len(m.keys) - 1)
	for m.keys[i] != key && m.keys[i] != 0 {
		i = (i + 1) & (len(m.keys) - 1)
	}
	return i
}

// Get returns the number of a pair, if there is one.
func (m *Memo) Get(state, class int32) (to int32, known bool) {
	if m.n == 0 {
		return 0, false
	}
	i := m.at(memoKey(state, class))
	return m.to[i], m.keys[i] != 0
}

// Put gives a pair its number.
func (m *Memo) Put(state, class, to int32) {
	if 2*m.n >= len(m.keys) {
		m.grow()
	}
	key := memoKey(state, class)
	i := m.at(key)
	if m.keys[i] == 0 {
		m.n++
	}
	m.keys[i], m.to[i] = key, to
}

func (m *Memo) grow() {
	old := *m
	size := max(minMemo, 2*len(old.keys))
	m.keys, m.to = make([]uint64, size), make([]int32, size)
	for i, key := range old.keys {
		if key != 0 {
			at := m.at(key)
			m.keys[at], m.to[at] = key, old.to[i]
		}
	}
}

// Doubled returns a hash table with open addressing, with twice the places, which are a power of two. Each of its words
// begins with a hash of 32 bits, which says where the word belongs; 0 is free. The table may be nil.
func Doubled(table []uint64) []uint64 {
	next := make([]uint64, max(minMemo, 2*len(table)))
	mask := uint32(len(next) - 1)
	for _, x := range table {
		if x != 0 {
			at := uint32(x>>32) & mask
			for next[at] != 0 {
				at = (at + 1) & mask
			}
			next[at] = x
		}
	}
	return next
}
