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
// history.go has the columns of a History, and op.go shows operations in plain Go and as op maps.
// builder.go takes events, checks them, and appends them to the columns (columns.go); pairing.go
// pairs them. Events that are not a client's go to skipped.go, which says what they did;
// misread.go notes values that may stand under other keys. intervals.go and timedops.go make
// histories of operations with times. independent.go splits a history by keys, and pack.go sends
// the parts to other machines. verdict.go says what a checker may find.
//
// The package does not open files or read the text of histories. It knows nothing of models
// or of how a verdict is reached; it only defines what a Verdict is.
package jepsen
