// Package log is the home of log: a list that grows at its end and is read by offsets.
//
// home.go lists the types, log.go says what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package log
