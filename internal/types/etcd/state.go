package etcd

import (
	"slices"

	"clew/models"
)

// A state is the revision, the compact revision, how many leases there are, the leases, and the keys in order, each
// with its fields.
const (
	atRevision = iota
	atCompacted
	atLeases
	header
)

// field is a field of a key.
type field uint8

const (
	value field = iota
	modified
	version
	created
	lease
	fieldCount
)

// entry is what a key has.
type entry [fieldCount]int32

// wide is how many numbers of a state a key takes.
const wide = 1 + int(fieldCount)

// now is a state under way. It copies the state that it began with before it changes it, unless the state is its own.
type now struct {
	s     models.State
	own   bool
	undo  []change    // what the operation has changed
	wrong wrong       // why an operation cannot happen
	event func(event) // unless nil, is called for every key that is put or deleted
}

// change is what a key was before it changed.
type change struct {
	key   int32
	was   entry
	there bool
}

func (x *now) revision() int32  { return x.s[atRevision] }
func (x *now) compacted() int32 { return x.s[atCompacted] }

// base returns where the keys begin.
func (x *now) base() int { return header + int(x.s[atLeases]) }

// leases returns the classes of the leases, in order.
func (x *now) leases() []int32 { return x.s[header:x.base()] }

func (x *now) has(lease int32) bool {
	_, found := slices.BinarySearch(x.leases(), lease)
	return found
}

// find returns where a key stands or would stand.
func (x *now) find(key int32) (at int, found bool) {
	base := x.base()
	lo, hi := 0, (len(x.s)-base)/wide
	for lo < hi {
		mid := (lo + hi) / 2
		if x.s[base+mid*wide] < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	at = base + lo*wide
	return at, at < len(x.s) && x.s[at] == key
}

// get returns what a key has, absent as its value and 0 for all else if it is not there.
func (x *now) get(key int32) (e entry, found bool) {
	at, found := x.find(key)
	if !found {
		e[value] = absent
		return e, false
	}
	return entry(x.s[at+1 : at+wide]), true
}

// change makes the state the walk's own.
func (x *now) change() {
	if !x.own {
		x.s, x.own = slices.Clone(x.s), true
	}
}

// put sets what a key has.
func (x *now) put(key int32, e entry) {
	x.change()
	at, found := x.find(key)
	if !found {
		x.s = slices.Insert(x.s, at, key, 0, 0, 0, 0, 0)
	}
	was := entry(x.s[at+1 : at+wide])
	copy(x.s[at+1:at+wide], e[:])
	x.undo = append(x.undo, change{key, was, found})
}

// remove deletes the key that stands somewhere.
func (x *now) remove(at int) {
	x.change()
	x.undo = append(x.undo, change{x.s[at], entry(x.s[at+1 : at+wide]), true})
	x.s = slices.Delete(x.s, at, at+wide)
}

// back undoes what has changed since the operation began.
func (x *now) back() {
	for _, c := range slices.Backward(x.undo) {
		switch at, found := x.find(c.key); {
		case !c.there:
			x.s = slices.Delete(x.s, at, at+wide)
		case found:
			copy(x.s[at+1:at+wide], c.was[:])
		default:
			x.s = slices.Insert(x.s, at, append([]int32{c.key}, c.was[:]...)...)
		}
	}
}

// let makes a lease exist, or not.
func (x *now) let(lease int32, exist bool) {
	at, found := slices.BinarySearch(x.leases(), lease)
	if found == exist {
		return
	}
	x.change()
	if exist {
		x.s = slices.Insert(x.s, header+at, lease)
		x.s[atLeases]++
	} else {
		x.s = slices.Delete(x.s, header+at, header+at+1)
		x.s[atLeases]--
	}
}
