// Package jsonops reads and writes ops in JSON.
//
// Histories in JSON have the form that elle-cli reads: an array of objects, or objects one after
// another. Everything that EDN can express has one form in JSON, and is read back unchanged:
//
//	EDN                                   JSON
//	nil, true, false                      null, true, false
//	integers of 64 bits, finite floats    numbers, with all their digits
//	"a"                                   "a"
//	[1 2]                                 [1, 2]
//	{:a 1}                                {"a": 1}
//	every other value                     {"edn": "TEXT"}: :a, (1 2), #{1}, 1N, {1 2}, {:edn "a"}
//
// A few places hold keywords, and a string there is a keyword's name. These are
// the keys of an object, an op's "type", "f" and "process", and the heads of
// micro-ops: the first elements of the elements of a "txn"'s value, or of an op without "f". A string in
// such a place that cannot be a keyword's name ("a b") remains a string.
//
// The ops of a history are nearly all alike, and are read quickly (quick.go). Any
// other op is first checked by encoding/json, then written as EDN (edn.go), and
// then read like an op map. The quick way must give the same result. Ops on lines of their
// own are read many at once, and ahead by other goroutines (rows.go), as op maps are.
package jsonops
