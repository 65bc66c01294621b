// Package lockstep decides first-in-first-out queues in which values repeat. It has one Engine of the general search, see
// package fallback.
//
// lockstep.go says why two orders decide, and answers. problem.go lays out a history, sizes.go says what the
// answers of :size ask of what comes later, search.go goes through both orders,
// visited.go remembers configurations, and witness.go merges the orders.
package lockstep
