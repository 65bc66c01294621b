// Package lock is the home of locks and semaphores, with and without owners and fences.
//
// home.go lists the types. mutex.go, owners.go, ownermutex.go and values.go say what they mean, and
// refused.go warns of attempts that may have been refused. gen.go has the object of generated
// histories, and second.go is a second reading of the types for the oracle, which shares nothing
// with the first.
package lock
