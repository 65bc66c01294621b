// Package bank is the home of bank: accounts with transfers between them.
//
// home.go lists the types, bank.go says what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package bank
