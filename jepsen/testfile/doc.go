// Package testfile reads test.jepsen, the file in which Jepsen keeps a test while
// it runs: what the test is, its history, and what its checkers said.
//
//	f, err := testfile.Open(ctx, file, size, "test.jepsen", 0)
//	..
//	err = f.Events(values, func(e *opmap.Event) error { .. })
//	results, ok, err := f.Results(values)
//
// The file is a header and blocks, each with its length, a CRC-32 and a type. An
// index says at which offset each block stands that counts, and which of them is
// the test, a map. Its :history and :results are references to other blocks. The
// history is in chunks of 16,384 operations, which are decoded side by side and
// given out in order. After each chunk Jepsen writes a new index to the end of the
// file, and has the header lead to it. (jepsen/store/format.clj describes this.)
//
// So a file that was cut, or that a test left that was killed or still runs, has
// all of its whole chunks: Events gives them out, and Warnings says that more is
// missing. A block whose CRC does not match is an error.
//
// The package makes no histories: package forms feeds the events to a
// jepsen.Builder. Values are those of package fressian.
package testfile
