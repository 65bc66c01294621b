// Package idgenerator is the home of id-generator: ids that are handed out once.
//
// home.go lists the types, idgenerator.go says what they mean. small.go and long.go have what the
// generators of random histories need, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package idgenerator
