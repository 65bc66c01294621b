// Package feed is the way from the readers of histories into a jepsen.Builder. Package jepsen
// sets [Of], and package forms calls it. Programs outside call the Builder's own methods.
package feed

import (
	"context"

	"clew/edn"
	"clew/internal/opmap"
)

// Of returns the feed of a *jepsen.Builder, which must not be nil or zero.
var Of func(builder any) Feed

// Feed takes the events of a text.
type Feed interface {
	// Values returns the table that holds the history's values.
	Values() *edn.Values
	// Add takes the next event, which is valid until Add returns. op numbers the operation
	// from 0 on, if the text distinguishes operations by number because a process may have
	// several at once; otherwise it is ByProcess. If something is wrong with the event, Add
	// returns an error at once, and so does History later.
	Add(e *opmap.Event, op int32) error
	// AddTimedOps adds operations that are the whole history. It takes only a few moves for
	// each operation, since it does not look at events one by one. It adds nothing, and
	// returns false, if a process begins an operation while it has another one open. The
	// error is that of History, or the cause with which the context was done.
	AddTimedOps(context.Context, *TimedOps) (added bool, err error)
	// Expect says how long the text of the events is, so that there is room for all of them.
	Expect(bytes int64)
	// NoLines says that the events have no lines, since the file is not text. Messages cite
	// them by their index alone.
	NoLines()
	// SetObject sets History.Object, the kind of object that the text names.
	SetObject(word string)
	// SetInit sets the Init of History.Record, the initial value that the text names.
	SetInit(value string)
	// Warn adds to the history's warnings, up to a bound.
	Warn(format string, args ...any)
	// Warnings returns the warnings so far.
	Warnings() []string
}

// Rows is a Feed that takes several events at once.
type Rows interface {
	// AddRows takes events that are paired by process, and returns how many it took. If the error is nil, something
	// is unusual about the next one, which must be added by itself.
	AddRows(*opmap.Rows) (int, error)
}

// ByProcess stands for the number of an operation if events are paired by process. Otherwise
// the events of an operation are an :invoke, and an :ok, :fail or :info after it, and every
// process but :nemesis is a client.
const ByProcess = -1

// TimedOps are operations that have all succeeded, and that a text gives by the times of
// their calls and returns. They are columns: an operation is a row, in the order of the
// text.
type TimedOps struct {
	// Order holds all events in order of time: 2*i is the call of row i, and 2*i+1, later,
	// its return.
	Order   []int32
	Process []edn.ID // integers; nil: each row has a process of its own, numbered from 0 on
	Method  []int32  // rows of Methods
	Methods []TimedMethod
	Value   []edn.ID // of the return
	Called  []edn.ID // the value of the call; nil: as the methods say
	Line    []int32  // where the operation stands, from 1
	Col     []int32  // by row: its column; nil: all stand at the beginning of their lines
}

// TimedMethod is the method that an operation calls.
type TimedMethod struct {
	F     edn.ID
	Takes bool // its return's value is also its call's value; otherwise the call has none
}
