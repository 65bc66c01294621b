package porcupine

import (
	"hash/maphash"
	"math"
	"reflect"
)

// A model that has an Equal need not have a Hash. Then its states go into
// buckets by their contents: the contents of strings, slices, maps and structs,
// and of what pointers lead to. Equal still says whether two states are equal.
// An Equal may call states equal that have different contents. This is found out
// as long as there are few states (see numbered.bucket). If it is found out too
// late, it costs time, but never a verdict: a search that takes equal states for
// different ones only does more than it must.

// maxDepth bounds how deep a state is examined. A state may be cyclic.
const maxDepth = 8

// seed is the seed of all hashes of contents.
var seed = maphash.MakeSeed()

// contents returns a hash of what a state holds. The order of a set of states,
// as NondeterministicModel.ToModel makes them, does not matter.
func contents(state any) uint64 {
	set, ok := state.([]any)
	if !ok {
		return hashOf(reflect.ValueOf(state), 0)
	}
	h := uint64(len(set))
	for _, s := range set {
		h += mix(hashOf(reflect.ValueOf(s), 1), 0)
	}
	return h
}

// hashOfComparable returns a hash of a state that == compares, and 0 for others,
// at which == panics.
func hashOfComparable(state any) uint64 {
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

func hashOf(v reflect.Value, depth int) uint64 {
	h := uint64(v.Kind())
	if depth > maxDepth {
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
	case reflect.String:
		h = mix(h, maphash.String(seed, v.String()))
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			h = mix(h, hashOf(v.Index(i), depth+1))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			h = mix(h, hashOf(v.Field(i), depth+1))
		}
	case reflect.Map:
		sum := uint64(v.Len())
		for entries := v.MapRange(); entries.Next(); {
			sum += mix(hashOf(entries.Key(), depth+1), hashOf(entries.Value(), depth+1))
		}
		h = mix(h, sum)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			h = mix(h, hashOf(v.Elem(), depth+1))
		}
	}
	return h
}
