// Package counter is the home of counter, a number that is added to, and of
// counting-semaphore, which is counted up and down to 0.
//
// home.go lists the types, counter.go and countingsemaphore.go say what they mean, and opening.go
// what a history shows of the number that a counter begins with. gen.go has the objects of
// generated histories, and second.go is a second reading of the types for the oracle, which
// shares nothing with the first.
package counter
