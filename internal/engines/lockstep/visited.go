package lockstep

import (
	"slices"

	"clew/fallback"
)

// visited holds the configurations that the search has visited, in a hash table of
// flat records. It finds those that need not be looked at, because the search has
// visited the same one, or one that had used no more of any class of crashed
// operations, or one that gets no further for reasons that hold here, too.
type visited struct {
	*problem
	Rules
	sizes  *sizes
	heads  []uint64   // by hash: the hash, and the first record of those that differ only in counts, plus 1, in half a word each
	chunks [][]uint64 // of records: the places, the mode and what it owes, the bits, the counts, and the next record, plus 1, if they are linked
	n      uint32
	lists  uint32 // how many heads there are
	work   int64  // how many records it looked at
}

const (
	chunkBits = 10
	places    = 2 // the words before the bits

	odd, mixer = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9 // of hashes
)

// stride returns how many words a record has.
func (v *visited) stride() int {
	n := places + v.words + v.counts.Words()
	if v.linked() {
		n++
	}
	return n
}

// linked says whether configurations may differ only in counts or in what they owe.
func (v *visited) linked() bool { return v.counts.Words() > 0 || v.problem.sizes }

func (v *visited) record(i uint32) []uint64 {
	n := v.stride()
	at := int(i&(1<<chunkBits-1)) * n
	return v.chunks[i>>chunkBits][at : at+n]
}

// bytes returns how much memory the table holds.
func (v *visited) bytes() int64 {
	return 8*int64(len(v.heads)) + int64(len(v.chunks))*8*int64(v.stride())<<chunkBits
}

// hash returns a hash of what must be equal.
func (v *visited) hash(place, mode uint64, bits []uint64) uint32 {
	h := (place*odd ^ mode) * mixer
	for _, b := range bits {
		h = (h ^ h>>29 ^ b) * mixer
	}
	return uint32(h ^ h>>32)
}

// same says whether a record has the configuration, ignoring its counts.
func same(r []uint64, place, mode uint64, bits []uint64) bool {
	return r[0] == place && uint64(uint32(r[1])) == mode && slices.Equal(r[places:places+len(bits)], bits)
}

// add adds a configuration, and returns its record. It returns false if the configuration
// need not be looked at, and the record that says so.
func (v *visited) add(f *frame, w []uint64) (record int32, ok bool) {
	if v.NoMemo {
		return none, true
	}
	if 2*int(v.lists) >= len(v.heads) {
		v.heads = fallback.Doubled(v.heads)
	}
	place, mode := uint64(uint32(f.in))<<32|uint64(uint32(f.out)), uint64(f.mode)
	bits, counts := w[:v.words], w[v.words:v.words+v.counts.Words()]
	at, hash := v.find(place, mode, bits)
	head := uint32(v.heads[at])
	if head == 0 {
		v.lists++
	}
	for i := head; i != 0; {
		v.work++
		r := v.record(i - 1)
		if !v.linked() {
			return int32(i - 1), false
		}
		held := r[places+v.words : len(r)-1]
		owes, adds := ofRecord(r)
		switch {
		case v.covers(held, counts) && v.sizes.includes(f.owes, owes, f.adds, adds):
			return int32(i - 1), false
		case owes == 0 && f.owes == 0 && v.covers(counts, held):
			copy(held, counts)
			r[len(r)-1] = uint64(f.adds)<<32 | uint64(uint32(r[len(r)-1]))
			return int32(i - 1), true
		}
		i = uint32(r[len(r)-1])
	}
	if int(v.n)>>chunkBits == len(v.chunks) {
		v.chunks = append(v.chunks, make([]uint64, v.stride()<<chunkBits))
	}
	r := v.record(v.n)
	v.n++
	r[0], r[1] = place, uint64(f.owes)<<32|mode
	copy(r[places:], bits)
	copy(r[places+v.words:], counts)
	if v.linked() {
		r[len(r)-1] = uint64(f.adds)<<32 | uint64(head)
	}
	v.heads[at] = uint64(hash)<<32 | uint64(v.n)
	return int32(v.n - 1), true
}

// owes returns the number of the list that a record says is why its configuration gets no
// further, and how many enqueues are behind that configuration.
func (v *visited) owes(record int32) (list, adds int32) { return ofRecord(v.record(uint32(record))) }

func ofRecord(r []uint64) (list, adds int32) { return int32(r[1] >> 32), int32(r[len(r)-1] >> 32) }

// setOwes sets that list.
func (v *visited) setOwes(record, owes int32) {
	r := v.record(uint32(record))
	r[1] = uint64(owes)<<32 | uint64(uint32(r[1]))
}

// covers says whether a uses no class more often than b does.
func (v *visited) covers(a, b []uint64) bool {
	if v.NoDomination {
		return slices.Equal(a, b)
	}
	return v.counts.NoMore(a, b)
}

// find returns the place of a configuration among the heads, or the free one
// where it belongs, and its hash.
func (v *visited) find(place, mode uint64, bits []uint64) (at, hash uint32) {
	mask := uint32(len(v.heads) - 1)
	hash = v.hash(place, mode, bits)
	at = hash & mask
	for v.heads[at] != 0 && (uint32(v.heads[at]>>32) != hash || !same(v.record(uint32(v.heads[at])-1), place, mode, bits)) {
		at = (at + 1) & mask
	}
	return at, hash
}
