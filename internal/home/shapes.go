package home

import (
	"clew/edn"
	"clew/models"
)

// Shapes counts values by what they look like. nil looks like nothing.
type Shapes struct {
	Scalars     int
	Collections int
	Lists       int // vectors and lists among the collections
	Maps        int // likewise
}

func (s *Shapes) add(kind edn.Kind) {
	switch kind {
	case edn.KindNil:
		return
	case edn.KindVector, edn.KindList:
		s.Lists++
	case edn.KindMap:
		s.Maps++
	case edn.KindSet:
	default:
		s.Scalars++
		return
	}
	s.Collections++
}

// Returned returns the shapes of what a history's :f, given as ":read", has returned.
func Returned(s *models.Seen, f string) (all Shapes) {
	for kind := range s.Returned(f) {
		all.add(kind)
	}
	return all
}

// Written returns the shapes of the values of a history's :write, and of what its :cas [old new] names.
func Written(s *models.Seen) (all Shapes) {
	for v, value := range s.Values(":write") {
		all.add(v.Kind(value))
	}
	for v, pair := range s.Values(":cas") {
		for _, value := range v.Items(pair) {
			all.add(v.Kind(value))
		}
	}
	return all
}

// HasSteps says whether some value of an :f, given as ":read", is a vector of steps of a transaction, such as [[:r k nil]].
func HasSteps(s *models.Seen, fs ...string) bool {
	for _, f := range fs {
		for v, value := range s.Values(f) {
			if isSteps(v, value) {
				return true
			}
		}
	}
	return false
}

func isSteps(v *edn.Values, value edn.ID) bool {
	if v.Kind(value) != edn.KindVector || len(v.Items(value)) == 0 {
		return false
	}
	for _, step := range v.Items(value) {
		parts := v.Items(step)
		if v.Kind(step) != edn.KindVector || len(parts) != 3 || v.Kind(parts[0]) != edn.KindKeyword && v.Kind(parts[0]) != edn.KindString {
			return false
		}
		switch v.Str(parts[0]) {
		case "r", "w", "read", "write":
		default:
			return false
		}
	}
	return true
}
