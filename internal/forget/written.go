package forget

import (
	"math"
	"math/bits"

	"clew/edn"
)

// Written remembers which values were written, and in which order, after the operations were forgotten. So an answer
// that nothing held explains is known to be old, and how old. It takes at most about 10 MB.
//
// The zero Written remembers nothing yet.
type Written struct {
	Ring   []write
	At     []uint64 // by the hash of value and key, in buckets: a place in ring plus 1, and above it some of the hash, or 0
	Number int64    // of writes so far
	Ranges map[uint32]spans
	Spans  int
	Lost   bool // a value that is not an integer in a span was forgotten
}

// write is a write that returned.
type write struct {
	Began, Ended int64  // when it was invoked, and when it was first known to have happened
	At           int64  // the :time of the latter in nanoseconds, or NoTime
	By           uint64 // the client that wrote it, or 0
	Value        uint64
	Key          uint32
	Again        bool // the value was written before
	Open         bool // it has been seen, and has not returned
}

// NoTime is the :time of an event that has none.
const NoTime = math.MinInt64

// At most mostWrites are remembered in order, and mostSpans spans of integers.
const (
	mostWrites = 1 << 16
	mostSpans  = 1 << 16
)

// Value stands for a value of some key, whose text may be forgotten.
type Value struct {
	Hash   uint64
	Key    uint32
	N      int64
	IsInt  bool
	Varies bool // its text may be another one once it was forgotten, and so its hash
}

// Key stands for a key.
type Key uint32

// KeyOf returns what stands for a key.
func KeyOf(text string) Key { return Key(hash(text)) }

// hash returns the hash of a text: that of FNV-1a, mixed. It is the same in each process, since it is stored.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mixed(h)
}

// mixed spreads what differs over all bits.
func mixed(h uint64) uint64 {
	hi, lo := bits.Mul64(h, 0xa0761d6478bd642f)
	return hi ^ lo
}

// ValueOf returns what stands for a value of a key.
func ValueOf(k Key, v *edn.Values, value edn.ID) Value {
	x := Value{Key: uint32(k)}
	if x.N, x.IsInt = v.Int(value); x.IsInt {
		x.Hash = uint64(x.N) // so that those that are written one after another stand side by side
	} else {
		x.Hash, x.Varies = hashOf(v, value)
	}
	x.Hash ^= uint64(k) * 0xe7037ed1a0b428db
	return x
}

// hashOf returns the hash of a value that is not an integer. Printing each value of a map, [key integer], would take long.
func hashOf(v *edn.Values, value edn.ID) (h uint64, varies bool) {
	if kind := v.Kind(value); kind == edn.KindVector || kind == edn.KindList {
		if items := v.Items(value); len(items) == 2 {
			key, isInt := v.Int(items[0])
			if n, also := v.Int(items[1]); isInt && also {
				return uint64(n) ^ mixed(uint64(key)^0x9e3779b97f4a7c15), false // so that [k n] is not n
			}
		}
	}
	return hash(v.Text(value)), !HasOneSpelling(v, value)
}

// Write is a write whose value is certainly there.
type Write struct {
	Began, Ended int64  // the places of its invocation, and of the first event that shows it; Began is -1 if it is not known
	At           int64  // the :time of the latter in nanoseconds, or NoTime
	By           uint64 // the client; 0 if it is not known
	Returned     bool
	Again        bool // the value was there from the beginning
}

// Note remembers a write of a value that has returned, or been seen. The writes of a key come in the order in which
// they ended.
func (w *Written) Note(v Value, x Write) {
	if v.Varies {
		w.Lost = true
		return
	}
	number, known := w.last(v.Hash)
	if known && w.Ring[number%mostWrites].Open && x.Returned {
		old := &w.Ring[number%mostWrites]
		old.Began, old.By, old.Open = x.Began, x.By, false
		return
	}
	w.add(write{Began: x.Began, Ended: x.Ended, At: x.At, By: x.By, Key: v.Key, Value: v.Hash, Again: known || x.Again, Open: !x.Returned}, v)
}

func (w *Written) add(x write, v Value) {
	if w.Ranges == nil {
		w.Ranges = map[uint32]spans{}
	}
	if room := len(w.At) / (ways * sparse); int(w.Number) >= room && len(w.At) < mostWrites*ways {
		w.grow(max(64, 4*room) * ways * sparse)
	}
	if v.IsInt {
		w.span(v.Key, v.N)
	} else {
		w.Lost = w.Lost || w.Number >= mostWrites
	}
	if len(w.Ring) < mostWrites {
		w.Ring = append(w.Ring, x)
	} else {
		w.Ring[w.Number%mostWrites] = x
	}
	w.enter(w.Number, v.Hash, v.IsInt)
	w.Number++
}

// Each value has a bucket, which has room for the last writes of a few values. So a few are forgotten early. There are as many
// buckets as writes are remembered, and before that at least sparse for each write, so that none is forgotten.
const (
	ways   = 4
	sparse = 16
)

// grow makes the table longer. The ring has not come round yet.
func (w *Written) grow(slots int) {
	w.At = make([]uint64, min(slots, mostWrites*ways))
	for i, x := range w.Ring {
		w.enter(int64(i), x.Value, false)
	}
}

func (w *Written) bucket(hash uint64) []uint64 {
	buckets := uint64(len(w.At) / ways)
	b := (hash ^ hash>>16 ^ hash>>32 ^ hash>>48) % buckets * ways
	return w.At[b : b+ways]
}

// enter notes the place of a write, which is the last one of its value.
func (w *Written) enter(of int64, hash uint64, isInt bool) {
	bucket := w.bucket(hash)
	oldest, least := 0, int64(math.MaxInt64)
	for i, slot := range bucket {
		number := int64(-1)
		if w.holds(slot, hash) {
			oldest, least = i, -1 // nothing is lost
			break
		} else if slot > 0 {
			number = w.numberOf(slot)
		}
		if number < least {
			oldest, least = i, number
		}
	}
	w.Lost = w.Lost || least >= 0 && !isInt
	bucket[oldest] = uint64(of%mostWrites) + 1 | (hash^hash<<32)&^placeMask
}

// placeMask has the bits of a place.
const placeMask = 1<<32 - 1

// holds says whether a slot of a bucket has a value. It looks into the ring, which is large, only if that is likely.
func (w *Written) holds(slot, hash uint64) bool {
	return slot > 0 && (slot^hash^hash<<32)&^placeMask == 0 && w.Ring[slot&placeMask-1].Value == hash
}

// numberOf returns the number of the write at the place of a slot.
func (w *Written) numberOf(slot uint64) int64 {
	at := int64(slot&placeMask) - 1
	return w.Number - 1 - (w.Number-1-at)%mostWrites
}

// last returns the last write of a value that is remembered.
func (w *Written) last(hash uint64) (number int64, known bool) {
	if w.At == nil {
		return 0, false
	}
	for _, slot := range w.bucket(hash) {
		if w.holds(slot, hash) {
			return w.numberOf(slot), true
		}
	}
	return 0, false
}

// span adds an integer to those that were written.
func (w *Written) span(key uint32, n int64) {
	all := w.Ranges[key]
	i := all.at(n - 1) // the first that n may extend
	switch {
	case i < len(all) && all[i].First <= n && n <= all[i].Last:
		return
	case i < len(all) && all[i].Last == n-1:
		all[i].Last = n
		if i+1 == len(all) || all[i+1].First != n+1 {
			return
		}
		all[i].Last = all[i+1].Last
		all = append(all[:i+1], all[i+2:]...)
		w.Spans--
	case i < len(all) && all[i].First == n+1:
		all[i].First = n
		return
	case w.Spans == mostSpans:
		w.Lost = true
		return
	default:
		all = append(all, span{})
		copy(all[i+1:], all[i:])
		all[i] = span{n, n}
		w.Spans++
	}
	w.Ranges[key] = all
}

// Was says whether a value was written. certain is false if it may have been, too long ago to be remembered.
func (w *Written) Was(v Value) (was, certain bool) {
	if v.IsInt {
		if w.Ranges[v.Key].has(v.N) {
			return true, true
		}
	}
	_, was = w.last(v.Hash)
	return was, was || !w.Lost
}

// of returns the last write of a value, or nil if none is remembered. It is valid until the next one is noted.
func (w *Written) of(hash uint64) *write {
	if number, known := w.last(hash); known {
		return &w.Ring[number%mostWrites]
	}
	return nil
}

// Behind returns how many writes of the same key began after the one of a value had ended, and ended before some place, and
// the :time at which the first of them had ended, or NoTime. It returns false if that is not remembered, or if the value was
// written several times. If it is the initial value, which was not written, all writes are newer.
func (w *Written) Behind(v Value, before int64, initial bool) (versions int, since int64, known bool) {
	since = NoTime
	number, known := w.last(v.Hash)
	old := int64(-1)
	switch {
	case known && w.Ring[number%mostWrites].Again:
		return 0, since, false
	case known:
		old = w.Ring[number%mostWrites].Ended
	case initial && w.Number <= mostWrites:
		number = -1
	default:
		return 0, since, false
	}
	for n := number + 1; n < w.Number; n++ {
		x := &w.Ring[n%mostWrites]
		if x.Key != v.Key {
			continue
		}
		if x.Ended >= before {
			break
		}
		if x.Began > old || number < 0 {
			if versions++; versions == 1 {
				since = x.At
			}
		}
	}
	return versions, since, true
}
