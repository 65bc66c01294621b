// Package etcd is the home of etcd: a map of keys with revisions, leases and transactions, and watches of it.
//
// etcd.go is the model, read.go reads operations, words.go their maps. state.go is a state under way, and step.go what
// operations do to it and which answers they have. positions.go says what answers tell about the order, and watch.go what
// watches show. judge.go holds watches and reads of old revisions against the order that was decided, and timeline.go
// replays it.
package etcd
