// Package stack is the home of stack: last in, first out.
//
// home.go lists the types, stack.go says what they mean, and second.go is a second reading of the
// types for the oracle, which shares nothing with the first.
package stack
