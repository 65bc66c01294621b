// Package bank is the home of bank: accounts with transfers between them.
//
// home.go lists the types, bank.go says what they mean. small.go and long.go have what the
// generators of random histories need, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package bank
