// Package forms reads histories and writes them as text.
//
// Histories come in several forms; EDN is one, and All lists them. Read and ReadFile recognize
// the form by the content, plain or compressed, and make a jepsen.History of it. The reader of
// each form makes events directly, not by way of EDN. Convert translates any form into any other.
//
//	h, err := forms.ReadFile("history.json", jepsen.Options{})
//
// A test.jepsen is binary, and can only be read: package testfile makes its events.
//
// To add a form, write a file that makes events from its text and text from
// events. Then name the form in All, in detect, which recognizes it, and in the
// switches that choose its reader and its writer.
//
// The package does not look for histories in folders and archives (package store
// does), and does not pair events (jepsen.Builder does).
package forms
