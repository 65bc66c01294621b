// Package lock decides locks and semaphores in near-linear time. Path chooses among them:
// locks.go has mutexes and semaphores, which any process may release; ownerlocks.go has locks
// that only their owner may release; fencedlocks.go adds fences to those.
//
// A caller can distinguish the violations and ambiguities that the package exports with a type
// switch.
package lock
