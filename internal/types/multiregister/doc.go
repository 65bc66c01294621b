// Package multiregister is the home of multi-register: several registers that transactions
// read and write.
//
// home.go lists the types, multiregister.go, onekey.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package multiregister
