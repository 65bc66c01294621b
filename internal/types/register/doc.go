// Package register is the home of registers: register, cas-register and versioned-register.
//
// home.go lists the types, register.go, versioned.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package register
