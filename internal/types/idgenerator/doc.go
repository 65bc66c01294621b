// Package idgenerator is the home of id-generator: ids that are handed out once.
//
// home.go lists the types, idgenerator.go says what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package idgenerator
