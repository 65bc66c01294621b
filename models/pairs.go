package models

import "slices"

// A state of many registers is pairs of a key and a value, sorted by key. It leaves out a
// key that has some default value, such as the initial one.

// forgotten is a value that nothing sees: it is not known what it was. never is a value that is
// never there.
const (
	forgotten int32 = -2 - iota
	never
)

// find1 returns the index where a key stands, or would stand, in a state of keys and values
// that is sorted by key.
func find1(s State, key int32) (i int, found bool) {
	for i < len(s) && s[i] < key {
		i += 2
	}
	return i, i < len(s) && s[i] == key
}

// set1 returns s with another value at a key.
func set1(s State, key, value int32) State {
	i, found := find1(s, key)
	next := slices.Clone(s)
	if found {
		next[i+1] = value
		return next
	}
	return slices.Insert(next, i, key, value)
}

// at1 returns the value at a key, or other if the key is left out.
func at1(s State, key, other int32) int32 {
	if i, found := find1(s, key); found {
		return s[i+1]
	}
	return other
}

// put1 returns s with another value at a key, and leaves the key out if the value is other.
func put1(s State, key, value, other int32) State {
	if value != other {
		return set1(s, key, value)
	}
	if i, found := find1(s, key); found {
		return slices.Delete(slices.Clone(s), i, i+2)
	}
	return s
}

// forget1 returns s with every value that is not seen replaced by forgotten.
func forget1(s State, seen func(Cell) bool) State {
	var next State
	for i := 0; i < len(s); i += 2 {
		if s[i+1] == forgotten || seen(Cell{s[i], s[i+1]}) {
			continue
		}
		if next == nil {
			next = slices.Clone(s)
		}
		next[i+1] = forgotten
	}
	if next == nil {
		return s
	}
	return next
}
