// Package opmap reads the op maps of Jepsen histories that are written as EDN.
//
// A [Reader] streams them, whether they stand one after another or in one vector or list.
// It takes the few keys that a checker needs (:type, :process, :f, :value, :index and
// :key). It skips the rest leniently, because Jepsen prints things in :error and :exception
// that no EDN reader accepts. [Texts] keeps the spelling of the op maps in little memory.
//
//	values := edn.NewValues()
//	r := opmap.NewReader(file, "history.edn", values)
//	var ev opmap.Event
//	for {
//		err := r.Next(&ev)
//		if err == io.EOF {
//			break
//		}
//		...
//	}
//
// [Reader.ReadAhead] makes several goroutines scan a long history, block by
// block. The events stay the same and arrive in order.
//
// # The files
//
// reader.go reads any op map, key by key. layout.go reads those that are like others: it learns
// how a history's op maps are printed, and compares. ahead.go lets other goroutines do that for
// later blocks. rows.go is for the most common op maps: it scans those on lines of their own in a
// loop without calls, and returns many at once. lines.go does that for ops in another
// syntax, such as JSON. lay.go lays out events that were not read from text.
// texts.go keeps op maps for as long as the history exists, and print.go prints them. misnamed.go
// finds keys that may stand for others, and check.go says what a map without the keys of an op is
// instead.
//
// # Terminology
//
// An op map is a map such as {:type :invoke, :process 0, :f :write, :value 1}: Jepsen calls
// it an op. An [Event] is an op map that has been read. It says that a process has invoked
// something, or how that ended. An operation is an invocation together with its completion.
// Package jepsen says which events belong together and which keys an event must have; here
// any map is an op map, even {}. Forms, values, IDs and classes are those of package edn.
package opmap
