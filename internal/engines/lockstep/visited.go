package lockstep

import "slices"

// visited holds the configurations that the search has visited, in a hash table of
// flat records. It finds those that need not be looked at, because the search has
// visited the same one, or one that had used no more of any class of crashed
// operations.
type visited struct {
	*problem
	Rules
	heads  []uint32   // by hash: the first record of those that differ only in counts, plus 1
	chunks [][]uint64 // of records: the places, the mode, the bits, the counts, and the next record, plus 1, if there are counts
	n      uint32
	lists  uint32 // how many heads there are
}

const (
	chunkBits = 10
	minHeads  = 1 << 10
	places    = 2 // the words before the bits
)

// stride returns how many words a record has.
func (v *visited) stride() int {
	n := places + v.words + v.counts.Words()
	if v.counts.Words() > 0 {
		n++
	}
	return n
}

func (v *visited) record(i uint32) []uint64 {
	n := v.stride()
	at := int(i&(1<<chunkBits-1)) * n
	return v.chunks[i>>chunkBits][at : at+n]
}

// bytes returns how much memory the table holds.
func (v *visited) bytes() int64 {
	return 4*int64(len(v.heads)) + int64(len(v.chunks))*8*int64(v.stride())<<chunkBits
}

// hash returns a hash of what must be equal.
func (v *visited) hash(place, mode uint64, bits []uint64) uint64 {
	const odd, mixer = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	h := (place*odd ^ mode) * mixer
	for _, b := range bits {
		h = (h ^ h>>29 ^ b) * mixer
	}
	return h ^ h>>32
}

// same says whether a record has the configuration, ignoring its counts.
func same(r []uint64, place, mode uint64, bits []uint64) bool {
	return r[0] == place && r[1] == mode && slices.Equal(r[places:places+len(bits)], bits)
}

// add adds a configuration. It returns false if it need not be looked at.
func (v *visited) add(f *frame, w []uint64) bool {
	if v.NoMemo {
		return true
	}
	if 2*int(v.lists) >= len(v.heads) {
		v.grow()
	}
	place, mode := uint64(uint32(f.in))<<32|uint64(uint32(f.out)), uint64(f.owes)<<32|uint64(f.mode)
	bits, counts := w[:v.words], w[v.words:v.words+v.counts.Words()]
	at := v.find(place, mode, bits)
	head := v.heads[at]
	if head == 0 {
		v.lists++
	}
	for i := head; i != 0; {
		r := v.record(i - 1)
		if len(counts) == 0 {
			return false
		}
		held := r[places+v.words : len(r)-1]
		switch {
		case v.covers(held, counts):
			return false
		case v.covers(counts, held):
			copy(held, counts)
			return true
		}
		i = uint32(r[len(r)-1])
	}
	if int(v.n)>>chunkBits == len(v.chunks) {
		v.chunks = append(v.chunks, make([]uint64, v.stride()<<chunkBits))
	}
	r := v.record(v.n)
	v.n++
	r[0], r[1] = place, mode
	copy(r[places:], bits)
	copy(r[places+v.words:], counts)
	if len(counts) > 0 {
		r[len(r)-1] = uint64(head)
	}
	v.heads[at] = v.n
	return true
}

// covers says whether a uses no class more often than b does.
func (v *visited) covers(a, b []uint64) bool {
	if v.NoDomination {
		return slices.Equal(a, b)
	}
	return v.counts.NoMore(a, b)
}

// find returns the place of a configuration among the heads, or the free one
// where it belongs.
func (v *visited) find(place, mode uint64, bits []uint64) uint64 {
	mask := uint64(len(v.heads) - 1)
	at := v.hash(place, mode, bits) & mask
	for v.heads[at] != 0 && !same(v.record(v.heads[at]-1), place, mode, bits) {
		at = (at + 1) & mask
	}
	return at
}

func (v *visited) grow() {
	old := v.heads
	v.heads = make([]uint32, max(minHeads, 2*len(old)))
	for _, head := range old {
		if head != 0 {
			r := v.record(head - 1)
			v.heads[v.find(r[0], r[1], r[places:places+v.words])] = head
		}
	}
}
