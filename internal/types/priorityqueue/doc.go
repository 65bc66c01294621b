// Package priorityqueue is the home of priority-queue: the greatest, or the least, comes out
// first.
//
// home.go lists the types, compare.go, course.go, order.go, priorityqueue.go say what they mean. second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package priorityqueue
