// Package set is the home of sets: set, which is read as a whole, and lookup-set, which is
// asked element by element.
//
// home.go lists the types, lookup.go, set.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package set
