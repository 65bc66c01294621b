// Package queue is the home of fifo-queue and unordered-queue, and has what other containers
// whose elements are handed out share with them.
//
// home.go lists the types. queue.go, ordered.go, unordered.go and bagrun.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package queue
