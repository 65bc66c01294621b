// Package jepsen holds a history as Jepsen understands it: events of processes, paired into
// operations.
//
// A History is made once and never changed. It consists of columns. There is one row for
// every event of a client: an Event, whose number is also the time. There is one row for
// every operation, an Operation, in order of invocation. Values are numbers in the
// history's table of values; History.Op shows an operation in plain Go instead.
//
// There are three ways to make one. A Builder takes events one by one, in the order in
// which they happened, and pairs them by process. FromIntervals takes operations with the
// times of their call and return. Package forms reads the text of a history in any of
// several forms and feeds its events to a Builder.
//
//	b := jepsen.NewBuilder(jepsen.Options{})
//	b.Invoke(0, "write", 1)
//	b.OK(0, "write", 1)
//	h, err := b.History()
//
// History.Independent splits a history by the keys of its values.
//
// The package does not open files or read the text of histories. It knows nothing of models
// or of how a verdict is reached; it only defines what a Verdict is.
package jepsen
