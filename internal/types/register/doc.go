// Package register is the home of registers: register, cas-register and versioned-register.
//
// home.go lists the types, register.go, versioned.go say what they mean. small.go and long.go have what the
// generators of random histories need, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package register
