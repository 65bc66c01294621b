// Package edn reads Jepsen histories and other EDN text, and writes EDN.
//
// It is the lowest layer: text becomes positions, values and events here, and
// values become text again. Nothing above this package touches bytes.
//
// A [Reader] streams the op maps of a history, whether they stand one after
// another or in one vector or list. It reads the few keys that a checker needs
// and skips the rest leniently, since Jepsen prints things in :error and
// :exception that no EDN reader accepts. [Values] is the table of all values
// met: each is interned once, as a small integer, and two values are equal in
// the sense of Clojure's = if and only if [Values.Same] says so. [Texts] keeps
// how the op maps were written.
//
//	vals := edn.NewValues()
//	r := edn.NewReader(file, "history.edn", vals)
//	var ev edn.Event
//	for {
//		err := r.Next(&ev)
//		if err == io.EOF {
//			break
//		}
//		...
//	}
//
// The scanner, the collections and the common scalars are ours: they give
// positions, bound the nesting and allocate nothing for values seen before.
// Characters, big integers and instants are decoded by olympos.io/encoding/edn,
// which sees single tokens only, because it overflows the stack on deep nesting.
//
// The package is no general codec: it does not map EDN to Go structs.
package edn
