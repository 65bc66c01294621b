// Package batch checks many histories: several at once, each within its limits of time and memory, with the answers in order.
//
// Bounds has the limits, and ends what hangs. A Checker reads and decides one Job after the other; it does not know how a history is
// decided, so that package clew can be built on it. Find makes the jobs of the histories below some paths, in order, and a Shard has
// some of them. InOrder runs jobs side by side. Folders get a core or a page for each.
package batch
