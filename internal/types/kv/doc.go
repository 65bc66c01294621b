// Package kv is the home of kv: a map whose keys are put, got, appended to and compared.
//
// home.go lists the types, keys.go, kv.go, map.go, text.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package kv
