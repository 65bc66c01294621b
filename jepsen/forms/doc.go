// Package forms reads and writes histories as text.
//
// Histories come in several forms, of which EDN is one; Form lists them. Read and
// ReadFile tell the form by the content, plain or compressed, and make a
// jepsen.History of it. JSON and the forms of other monitors are translated into
// EDN on the way, an op a line, so that there is one reader of ops. Convert goes
// from each form to each.
//
//	h, err := forms.ReadFile("history.json", jepsen.Options{})
//
// Adding a form takes a file here that turns its text into ops of EDN, a line in
// All and one in what tells forms apart.
//
// The package does not look for histories in folders and archives, which package
// store does, and does not pair events, which jepsen.Builder does.
package forms
