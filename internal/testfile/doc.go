// Package testfile reads test.jepsen, the file in which Jepsen keeps a test while it runs.
// It holds the test itself, its history, and the results of its checkers.
//
//	f, err := testfile.Open(ctx, file, size, "test.jepsen", 0)
//	..
//	err = f.Events(values, func(e *opmap.Event) error { .. })
//	results, ok, err := f.Results(values)
//
// The file is a header and blocks, each with its length, a CRC-32 and a type. An index
// gives the offset of each current block, and says which of them is the test, a map. Its
// :history and :results are references to other blocks. The history is in chunks of 16,384
// operations. They are decoded side by side and returned in order. After each chunk Jepsen
// writes a new index to the end of the file, and makes the header point to it.
// (jepsen/store/format.clj describes this.)
//
// A file may be cut, or come from a test that was killed or still runs. It has all of its
// whole chunks: Events returns them, and Warnings says that more is missing. A block whose
// CRC does not match is an error.
//
// blocks.go opens a file and finds its blocks, history.go the test and the chunks of its history in
// them. decode.go decodes chunks side by side, and merge.go puts them together. length.go says how
// long a history is without reading it.
//
// The package does not make histories: package forms feeds the events to a jepsen.Builder.
// Values are those of package fressian.
package testfile
