// Package jsonops reads and writes ops in JSON.
//
// Histories in JSON are what elle-cli reads: an array of objects, or objects one
// after another. Whatever EDN can say has one form in JSON, and comes back as it
// was:
//
//	EDN                                   JSON
//	nil, true, false                      null, true, false
//	integers of 64 bits, finite floats    numbers, with all their digits
//	"a"                                   "a"
//	[1 2]                                 [1, 2]
//	{:a 1}                                {"a": 1}
//	every other value                     {"edn": "TEXT"}: :a, (1 2), #{1}, 1N, {1 2}, {:edn "a"}
//
// A few places hold keywords, and there a string is a keyword's name: the keys
// of an object, an op's "type", "f" and "process", and the heads of micro-ops,
// which are the first elements of the elements of a "txn"'s value. A string in
// such a place that cannot be a keyword's name ("a b") is a string.
//
// The ops of a history are nearly all alike, and are read quickly (quick.go).
// Any other op is first checked by encoding/json, then written as EDN
// (edn.go), and then read like an op map, which is what the quick way must
// come to.
package jsonops
