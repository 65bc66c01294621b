// Package sequence decides objects in near-linear time whose answers are numbers that order
// what happened. Path chooses among them: counter.go, ids.go with generators of ids, and log.go,
// whose failures are found in logfailure.go. Their sweeps hold open operations in due.go, by
// the event at which they return; in heap.go, by number; or in waiting.go, by the number that
// they wait for.
package sequence
