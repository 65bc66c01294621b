// Package jepsen is Jepsen's world: histories as Jepsen writes them, the
// directories and files that hold them, and result maps as Knossos prints
// them.
//
// Histories come in several forms, of which EDN is one. JSON and the forms of
// other monitors are translated into it, an op a line. Convert goes from each form
// to each.
//
// A History is read once (Read, ReadFile) and never changed: its client events
// are columns, and the operations are paired over them. A Result says what a
// checker found about a History and renders it as EDN, as JSON and as text.
//
// The package knows nothing of models or of how a verdict is reached.
package jepsen
