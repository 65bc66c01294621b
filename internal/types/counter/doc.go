// Package counter is the home of counter, a number that is added to, and of
// counting-semaphore, which is counted up and down to 0.
//
// home.go lists the types, counter.go, countingsemaphore.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package counter
