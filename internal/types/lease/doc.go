// Package lease is the home of lease: a lock that is claimed with growing epochs.
//
// home.go lists the types, lease.go says what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package lease
