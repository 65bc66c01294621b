// Package edn reads and writes EDN, the notation of Clojure's data.
//
// It is the lowest layer: it turns text into values and positions, and values into
// text. It does not know about histories; package internal/opmap reads their
// op maps. It is not a general codec either: it does not map EDN to Go structs.
//
//	values := edn.NewValues()
//	id, err := values.Parse([]byte("[1 (2N)]"), edn.Pos{File: "-"})
//	...
//	fmt.Println(values.Text(id)) // [1 (2N)]
//
// # Terminology
//
// A form is a piece of EDN as it is written: 1, 1N, [1 2] and (1 2) are
// four forms. A value is what a form stands for in the sense of Clojure's
// =. 1 and 1N are one value, and so are [1 2] and (1 2).
//
// [Values] is a table of all forms read so far. Each is interned: the table holds it once
// and names it by an [ID], a small integer. A class is the set of forms in a table that are
// one value; [Values.Same] names it by the ID of its first member. Once read, values are
// compared as integers, never as text. IDs and classes of different tables are unrelated.
//
// A [Value] is an ID together with its table, for programs that do not want to
// carry both. [Values.From] makes one from plain Go, and [Value.Go] turns it back.
//
// [Values.Parse] reads a text that is completely in memory. [Maps] streams
// a longer one, and several Maps can share the work: see [Maps.ReadAhead].
//
// # Errors
//
// A text that cannot be read gives an [Error], which says where reading failed and what was
// expected. It is the project's only error type with a place. Match it with [errors.As].
//
// # Limits
//
// Nesting is bounded by [MaxDepth], a number's text by [MaxNumber], and a form
// of a stream by [MaxForm]. A text that exceeds one of them gives an Error.
//
// # How it reads
//
// The reader gives positions, bounds the nesting and does not allocate for forms seen
// before. It reads what clojure.edn reads, and in the same way: #inst is an instant in
// milliseconds, #uuid a UUID, #:ns{:a 1} the map {:ns/a 1}. Malformed ones are errors.
// A map with a duplicate key is an error only if the two values differ. The reader
// also accepts unambiguous text that Clojure rejects: unknown tags, #"regex", ::k, @x.
//
// # The files
//
// scan.go finds where forms end; parse.go makes values of them, number.go and tagged.go those that
// need care. values.go is the table of values, write.go prints them, and value.go is for programs
// that use plain Go. maps.go streams maps, quick.go reads the most common values in them several
// bytes at a time, and ahead.go shares the work. copy.go and pack.go take values to other tables.
package edn
