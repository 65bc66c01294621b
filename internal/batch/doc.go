// Package batch checks many histories: several at once, each within its limits of time and memory, with the answers in order.
//
// Bounds has the limits, and ends what hangs. A Checker reads and decides one Job after the other; it does not know how a history is
// decided, so that package clew can be built on it. InOrder runs jobs side by side. A Shard has some of the jobs, and a Folder gets a
// file for each.
package batch
