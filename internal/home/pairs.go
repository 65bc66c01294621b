package home

import (
	"slices"

	"clew/models"
)

// A state of many registers is pairs of a key and a value, sorted by key. It leaves out a
// key that has some default value, such as the initial one.

// Forgotten is a value that nothing sees: it is not known what it was. never is a value that is
// never there.
const (
	Forgotten int32 = -2 - iota
	Never
)

// Find1 returns the index where a key stands, or would stand, in a state of keys and values
// that is sorted by key.
func Find1(s models.State, key int32) (i int, found bool) {
	for most := len(s); most-i > fewPairs; { // it stands from i on, and not behind most
		if middle := (i + most) / 4 * 2; s[middle] < key {
			i = middle + 2
		} else {
			most = middle
		}
	}
	for i < len(s) && s[i] < key {
		i += 2
	}
	return i, i < len(s) && s[i] == key
}

// fewPairs is the length of a state, or of a part of it, that is searched from its beginning on.
const fewPairs = 32

// Set1 returns s with another value at a key.
func Set1(s models.State, key, value int32) models.State { return Change1(slices.Clone(s), key, value) }

// Change1 returns s with another value at a key. It may change s.
func Change1(s models.State, key, value int32) models.State {
	i, found := Find1(s, key)
	if found {
		s[i+1] = value
		return s
	}
	return slices.Insert(s, i, key, value)
}

// At1 returns the value at a key, or other if the key is left out.
func At1(s models.State, key, other int32) int32 {
	if i, found := Find1(s, key); found {
		return s[i+1]
	}
	return other
}

// Put1 returns s with another value at a key, and leaves the key out if the value is other.
func Put1(s models.State, key, value, other int32) models.State {
	if value != other {
		return Set1(s, key, value)
	}
	if i, found := Find1(s, key); found {
		return slices.Delete(slices.Clone(s), i, i+2)
	}
	return s
}

// Forget1 returns s with every value that is not seen replaced by Forgotten.
func Forget1(s models.State, seen func(models.Cell) bool) models.State {
	var next models.State
	for i := 0; i < len(s); i += 2 {
		if s[i+1] == Forgotten || seen(models.Cell{Place: s[i], Value: s[i+1]}) {
			continue
		}
		if next == nil {
			next = slices.Clone(s)
		}
		next[i+1] = Forgotten
	}
	if next == nil {
		return s
	}
	return next
}
