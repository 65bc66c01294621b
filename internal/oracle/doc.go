// Package oracle decides small histories by trying everything, for tests only.
//
// It is the search of Wing & Gong (1993) as they wrote it. Pick any operation
// that no other one had to precede, run it, and go on. Back up if that leads
// nowhere. It shares no code with the engines in fallback, with models.Replay or
// with Operations.Prefix. It uses only the Step of a model, and the columns of
// operations. If a wrong Step is to show, a test passes its own Spec in place of
// a model. The number of orders grows with the factorial of the number of
// operations, so ten are a lot.
//
// Naive goes further. It reads the text of a history with its own pairing and its
// own sequential specifications, so that a wrong reading in jepsen or models
// shows too.
package oracle
