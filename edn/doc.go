// Package edn reads and writes EDN, the notation of Clojure's data.
//
// It is the lowest layer: it turns text into values and positions, and values
// into text. It knows nothing of histories: package opmap, beside it, reads
// their op maps. Nor is it a general codec: it does not map EDN to Go structs.
//
//	values := edn.NewValues()
//	id, err := values.Parse([]byte("[1 (2N)]"), edn.Pos{File: "-"})
//	...
//	fmt.Println(values.Text(id)) // [1 (2N)]
//
// # Terminology
//
// A form is a piece of EDN as it is written: 1, 1N, [1 2] and (1 2) are four
// forms. A value is what a form stands for, in the sense of Clojure's =: 1 and
// 1N are one value, and so are [1 2] and (1 2).
//
// [Values] is a table of all forms met. Each is interned: it is held once, and
// known by an [ID], a small integer. A class is all forms of a table that are
// one value; [Values.Same] names it by the ID of its first member. So values are
// compared as integers, and never as text, once they have been read. IDs and
// classes of different tables have nothing to do with each other.
//
// A [Value] is an ID together with its table, for programs that would rather
// not carry both. [Values.From] makes one from plain Go, and [Value.Go] turns
// it back.
//
// [Values.Parse] reads a text that is in memory as a whole. [Maps] streams a
// longer one, and several of them can share the work: see [Maps.ReadAhead].
//
// # Errors
//
// A text that cannot be read gives an [Error], which says where it went wrong
// and what would have been right. It is the project's only error type with a
// place. Match it with [errors.As].
//
// # Limits
//
// Nesting is bounded by [MaxDepth], a number's text by [MaxNumber], and a form
// of a stream by [MaxForm]. A text that exceeds one of them gives an Error.
//
// # How it reads
//
// It gives positions, bounds the nesting and allocates nothing for forms seen before.
// It reads what clojure.edn reads, and as that does: #inst is an instant in milliseconds,
// #uuid a UUID, #:ns{:a 1} the map {:ns/a 1}. Where they are not that, it is an error. A
// map with a key twice is an error only if the two values differ. What Clojure does not
// read and what cannot be misunderstood is read, too: unknown tags, #"regex", ::k, @x.
package edn
