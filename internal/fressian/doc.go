// Package fressian reads Fressian, the binary form of Clojure's data in which Jepsen stores
// its tests.
//
// A Reader turns the objects of a text, one after another, into values of a table. They are
// equal to the values that package edn would read from what Clojure's pr prints of them.
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
// Vectors, lists and sequences are vectors, since the writer does not distinguish them. A
// record is a tagged map, as it prints. An unknown tag is a tag with a vector of its
// fields. Objects that print with their address, or not as EDN, have tags of our own:
// #atom, #uri, #multiset (with how often it has each element), #ints and other arrays, #keyword
// and #symbol for names that EDN cannot spell. A throwable is an #error.
//
// The package knows the codes, the caches and the tags of Fressian, of data.fressian and of
// Jepsen (https://github.com/Datomic/fressian/wiki, jepsen/store/fressian.clj). Files and
// histories are the business of package testfile.
//
// codes.go lists the codes and tags. reader.go reads an object by its code and has the caches,
// tags.go makes a value of a tagged object, and text.go reads strings, bytes and numbers of any size.
//
// # Limits
//
// Nothing is allocated for a length before that many bytes have been seen. Objects nest at
// most edn.MaxDepth levels deep, and numbers have at most edn.MaxNumber digits. The cached
// objects inside an object take at most 8 MB where they first stand, not counting names and
// other short objects.
package fressian
