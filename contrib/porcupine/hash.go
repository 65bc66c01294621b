package porcupine

import (
	"hash/maphash"
	"math"
	"reflect"
)

// # Numbers for states that have no Hash
//
// A model that has an Equal need not have a Hash. Then its states go into
// buckets by their contents: the contents of strings, slices, maps and structs,
// and of what pointers lead to. Equal still says whether two states of a bucket are equal, so
// states that differ never have one number.
//
// Equal may call states equal that have different contents, such as lists that stand for sets,
// or a cache that does not matter. They may get different numbers. This costs time, but
// never a verdict: a search that takes equal states for different ones only does more than
// it must. So numbered.number looks for such states among the first ones and now and then later. If it
// finds some, slices count as sets (numbered.sets). If that is not it, porcupine's search compares
// states by Equal where porcupine does (numbered.coarse).

// maxNodes bounds how much of a state is examined, in values. A state may be cyclic.
const maxNodes = 1 << 14

// seed is the seed of all hashes of contents.
var seed = maphash.MakeSeed()

// contents returns a hash of what a state holds. The order of a set of states,
// as NondeterministicModel.ToModel makes them, does not matter. If all slices are
// sets, no order matters. all says that it has looked at everything that could change.
func contents(state any, sets bool) (hash uint64, all bool) {
	h := hasher{sets: sets, left: maxNodes}
	if set, ok := state.([]any); ok && !sets {
		hash = uint64(len(set))
		for _, s := range set {
			hash += mix(h.hash(reflect.ValueOf(s)), 0)
		}
		return hash, !h.missed
	}
	hash = h.hash(reflect.ValueOf(state))
	return hash, !h.missed
}

// hashOfComparable returns a hash of a state that == compares, and 0 for others,
// at which == panics.
func hashOfComparable(state any) uint64 {
	switch x := state.(type) {
	case string:
		return maphash.String(seed, x)
	case int:
		return mix(uint64(x), 0)
	}
	if !isComparable(state) {
		return 0
	}
	return maphash.Comparable(seed, state)
}

// mix combines two hashes.
func mix(a, b uint64) uint64 {
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return h ^ h>>29
}

// hasher hashes values.
type hasher struct {
	sets   bool // the order of slices does not matter
	left   int  // how many more values it looks at
	missed bool // it has not looked at something
}

func (x *hasher) hash(v reflect.Value) uint64 {
	h := uint64(v.Kind())
	if x.left--; x.left < 0 {
		x.missed = true
		return h
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			h = mix(h, 1)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h = mix(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		h = mix(h, v.Uint())
	case reflect.Float32, reflect.Float64:
		h = mix(h, math.Float64bits(v.Float()+0)) // -0 is 0
	case reflect.Complex64, reflect.Complex128:
		h = mix(mix(h, math.Float64bits(real(v.Complex())+0)), math.Float64bits(imag(v.Complex())+0))
	case reflect.String:
		h = mix(h, maphash.String(seed, v.String()))
	case reflect.Slice, reflect.Array:
		sum := uint64(0)
		for i := range v.Len() {
			if one := x.hash(v.Index(i)); x.sets {
				sum += mix(one, 1)
			} else {
				h = mix(h, one)
			}
		}
		h = mix(h, sum)
	case reflect.Struct:
		for i := range v.NumField() {
			h = mix(h, x.hash(v.Field(i)))
		}
	case reflect.Map:
		h = mix(h, x.entries(v))
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			h = mix(h, x.hash(v.Elem()))
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		x.missed = x.missed || !v.IsNil()
	}
	return h
}

// asStrings returns what most models of maps have as states: package reflect takes several times as long for it.
func asStrings(v reflect.Value) (m map[string]string, ok bool) {
	if v.CanInterface() && v.Type() == reflect.TypeFor[map[string]string]() {
		m, ok = v.Interface().(map[string]string)
	}
	return m, ok
}

// entries hashes a map. Each entry has its share of what is looked at, since their order changes.
func (x *hasher) entries(v reflect.Value) uint64 {
	n := v.Len()
	sum := uint64(n)
	if n == 0 {
		return sum
	}
	if strings, ok := asStrings(v); ok && 2*n <= x.left {
		for key, value := range strings {
			sum += mix(maphash.String(seed, key), maphash.String(seed, value))
		}
		x.left -= 2 * n
		return sum
	}
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	each := hasher{sets: x.sets}
	for all := v.MapRange(); all.Next(); {
		if v.CanInterface() {
			key.SetIterKey(all)
			value.SetIterValue(all)
		} else { // of an unexported field
			key, value = all.Key(), all.Value()
		}
		each.left = x.left / n
		sum += mix(each.hash(key), each.hash(value))
	}
	x.left -= n
	x.missed = x.missed || each.missed
	return sum
}
