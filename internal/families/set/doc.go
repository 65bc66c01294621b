// Package set decides sets in near-linear time. Path chooses among them: lookupset.go has sets
// that are asked element by element, and growset.go sets that only grow and are read as a whole.
package set
