// Package fressian reads Fressian, the binary form of Clojure's data in which
// Jepsen stores its tests.
//
// A Reader turns the objects of a text, one after another, into values of a
// table, so that they are equal to what Clojure's pr would have printed of them
// and package edn would have read.
//
//	r := fressian.NewReader(data, edn.Pos{File: "test.jepsen"}, values)
//	for r.More() {
//		id := r.Value()
//		..
//	}
//	if err := r.Err(); err != nil {
//		..
//	}
//
// Vectors, lists and sequences are vectors, since the writer does not tell them
// apart. A record is a tagged map, as it prints, and so is a tag that the package
// does not know: a tag with a vector of its fields. What prints with the address
// of an object, or as no EDN, has a tag of our own: #atom, #uri, #multiset (with
// how often each element is there), #ints and other arrays, #keyword and #symbol
// for names that EDN cannot spell. A throwable is an #error.
//
// The package knows the codes, the caches and the tags of Fressian, of
// data.fressian and of Jepsen (https://github.com/Datomic/fressian/wiki,
// jepsen/store/fressian.clj). It knows nothing of files and of histories:
// package testfile does.
//
// # Limits
//
// Nothing is allocated for a length before as many bytes have been seen. Objects
// nest at most edn.MaxDepth levels deep, numbers have at most edn.MaxNumber digits,
// and what an object holds by way of the cache takes at most 8 MB where it stands
// first, names and other short objects not counted.
package fressian
