package forget

import (
	"hash/maphash"
	"math"

	"clew/edn"
)

// Written remembers which values were written, and in which order, after the operations were forgotten. So an answer
// that nothing held explains is known to be old, and how old. It takes at most about 10 MB.
//
// The zero Written remembers nothing yet.
type Written struct {
	ring   []write
	at     []int32 // by the hash of value and key, in buckets: a place in ring plus 1, or 0
	number int64   // of writes so far
	ranges map[uint32]spans
	spans  int
	lost   bool // a value that is not an integer in a span was forgotten
}

// write is a write that returned.
type write struct {
	began, ended int64 // when it was invoked, and when it was first known to have happened
	value        uint64
	key          uint32
	again        bool // the value was written before
	open         bool // it has been seen, and has not returned
}

// At most mostWrites are remembered in order, and mostSpans spans of integers.
const (
	mostWrites = 1 << 16
	mostSpans  = 1 << 16
)

// Value stands for a value of some key, whose text may be forgotten.
type Value struct {
	hash  uint64
	key   uint32
	n     int64
	isInt bool
}

// Key stands for a key.
type Key uint32

// seed is the same for all: texts are compared by their hashes.
var seed = maphash.MakeSeed()

// KeyOf returns what stands for a key.
func KeyOf(text string) Key { return Key(maphash.String(seed, text)) }

// ValueOf returns what stands for a value of a key.
func ValueOf(k Key, v *edn.Values, value edn.ID) Value {
	x := Value{key: uint32(k)}
	if x.n, x.isInt = v.Int(value); x.isInt {
		x.hash = uint64(x.n) // so that those that are written one after another stand side by side
	} else {
		x.hash = maphash.String(seed, v.Text(value))
	}
	x.hash ^= uint64(k) * 0xe7037ed1a0b428db
	return x
}

// Note remembers a write of a value by the times of its events. Writes come in the order in which they ended.
func (w *Written) Note(began, ended int64, v Value) {
	number, again := w.last(v.hash)
	if again && w.ring[number%mostWrites].open {
		x := &w.ring[number%mostWrites]
		x.began, x.open = began, false
		return
	}
	w.add(write{began: began, ended: ended, key: v.key, value: v.hash, again: again}, v)
}

// Saw remembers that a value was seen whose write has not returned.
func (w *Written) Saw(ended int64, v Value) {
	if _, known := w.last(v.hash); !known {
		w.add(write{began: -1, ended: ended, key: v.key, value: v.hash, open: true}, v)
	}
}

func (w *Written) add(x write, v Value) {
	if w.at == nil {
		w.at, w.ranges = make([]int32, buckets*ways), map[uint32]spans{}
	}
	if v.isInt {
		w.span(v.key, v.n)
	} else {
		w.lost = w.lost || w.number >= mostWrites
	}
	if len(w.ring) < mostWrites {
		w.ring = append(w.ring, x)
	} else {
		w.ring[w.number%mostWrites] = x
	}
	w.enter(v)
	w.number++
}

// Each value has a bucket, which has room for the last writes of a few values. So a few are forgotten early.
const (
	buckets = mostWrites
	ways    = 4
)

func (w *Written) bucket(hash uint64) []int32 {
	b := (hash ^ hash>>16 ^ hash>>32 ^ hash>>48) % buckets * ways
	return w.at[b : b+ways]
}

// enter notes the place of the write that comes now.
func (w *Written) enter(v Value) {
	bucket := w.bucket(v.hash)
	oldest, least := 0, int64(math.MaxInt64)
	for i, place := range bucket {
		number := int64(-1)
		if place > 0 && w.ring[place-1].value == v.hash {
			oldest = i
			break
		} else if place > 0 {
			number = w.numberOf(place)
		}
		if number < least {
			oldest, least = i, number
		}
	}
	w.lost = w.lost || least >= 0 && least != math.MaxInt64 && !v.isInt
	bucket[oldest] = int32(w.number%mostWrites) + 1
}

// numberOf returns the number of the write at a place of the ring.
func (w *Written) numberOf(place int32) int64 {
	at := int64(place - 1)
	return w.number - 1 - (w.number-1-at)%mostWrites
}

// last returns the last write of a value that is remembered.
func (w *Written) last(hash uint64) (number int64, known bool) {
	if w.at == nil {
		return 0, false
	}
	for _, place := range w.bucket(hash) {
		if place > 0 && w.ring[place-1].value == hash {
			return w.numberOf(place), true
		}
	}
	return 0, false
}

// span adds an integer to those that were written.
func (w *Written) span(key uint32, n int64) {
	all := w.ranges[key]
	i := all.at(n - 1) // the first that n may extend
	switch {
	case i < len(all) && all[i].First <= n && n <= all[i].Last:
		return
	case i < len(all) && all[i].Last == n-1:
		all[i].Last = n
		if i+1 < len(all) && all[i+1].First == n+1 {
			all[i].Last = all[i+1].Last
			all = append(all[:i+1], all[i+2:]...)
			w.spans--
		}
	case i < len(all) && all[i].First == n+1:
		all[i].First = n
	case w.spans == mostSpans:
		w.lost = true
		return
	default:
		all = append(all, span{})
		copy(all[i+1:], all[i:])
		all[i] = span{n, n}
		w.spans++
	}
	w.ranges[key] = all
}

// Was says whether a value was written. certain is false if it may have been, too long ago to be remembered.
func (w *Written) Was(v Value) (was, certain bool) {
	if v.isInt {
		if w.ranges[v.key].has(v.n) {
			return true, true
		}
	}
	_, was = w.last(v.hash)
	return was, was || !w.lost
}

// When returns the times of the events of the write of a value. It returns false if that is not remembered, or if the
// value was written several times.
func (w *Written) When(v Value) (began, ended int64, known bool) {
	number, known := w.last(v.hash)
	if !known {
		return 0, 0, false
	}
	x := &w.ring[number%mostWrites]
	return x.began, x.ended, !x.again
}

// Behind returns how many writes of the same key began after the one of a value had ended, and ended before some time. It
// returns false if that is not remembered, or if the value was written several times.
func (w *Written) Behind(v Value, before int64) (versions int, known bool) {
	number, known := w.last(v.hash)
	if !known || w.ring[number%mostWrites].again {
		return 0, false
	}
	old := w.ring[number%mostWrites].ended
	for n := number + 1; n < w.number; n++ {
		x := &w.ring[n%mostWrites]
		if x.ended >= before {
			break
		}
		if x.key == v.key && x.began > old {
			versions++
		}
	}
	return versions, true
}
