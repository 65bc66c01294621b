// Package lock decides locks and semaphores in near-linear time. Path chooses among them:
// locks.go has mutexes and semaphores, which any process may release; ownerlocks.go has locks
// that only their owner may release; fencedlocks.go adds fences to those.
package lock
