// Package forms reads histories, follows those that are still being written, and converts them
// from one form into another.
//
// Histories come in several forms; Readable lists them, and All those that are also written.
// Read and ReadFile recognize the form by the content, plain or compressed, and make a
// jepsen.History of it. The reader of each form makes events directly, not by way of EDN.
//
//	h, err := forms.ReadFile("history.json", jepsen.Options{})
//
// # The files
//
// forms.go has the table of forms. Each row says how a form is detected, read and written, and
// is in a file with its reader and its writer: jepsen.go (for EDN, and for the file of a test, which
// is only read), json.go (for an array and for lines), log.go (on logline.go, which says what is in
// a line) and intervals.go. limo.go and timed.go (fastlin and fptlin) are forms for the objects of other
// monitors: objects.go has what they share, and both read their usual lines several bytes
// at a time.
//
// Everything else walks the table. read.go opens a text, detects its form and calls the form's
// reader, which passes events on to a jepsen.Builder through package feed. convert.go puts a
// converter in the Builder's place, which writes each event, or pairs the events first and then
// writes operations. follow.go gives the readers a text that goes on for as long as its writer
// writes, and checks that what has been read does not change.
//
// # Adding a form
//
// Write a file with the name of the form, its row, its reader, and a writer unless the form is
// only read. Then add the row to the table. Readers and writers share what is in internal/scan
// (lines, keywords, order of time) and internal/jsonops (JSON).
//
// The package does not look for histories in folders and archives (package store
// does), and does not pair events (jepsen.Builder does).
package forms
