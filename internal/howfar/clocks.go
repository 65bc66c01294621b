package howfar

import (
	"context"
	"math"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// # The least clock error
//
// With a clock error of e, each operation may have been called e earlier and have returned e later. So one comes before
// another iff it returned more than 2e before that was called; those whose times touch are concurrent. This is what
// jepsen.Options.ClockError does to interval records. A greater error only takes away what is known of the order, so what
// is linearizable stays so, and bisection finds the least error.
//
// Cost: two sorts, then about 70 decisions and linear passes at most.

// Error is a clock error, in the unit of the times.
type Error struct {
	Least int64 // what is less is not enough
	// Most is enough. It is -1 if none is known. If it equals Least, the error is exact.
	Most int64
	// Never says that no error is enough.
	Never bool
	// Timeless says that some operation has no usable time. Then nothing else is known.
	Timeless bool
}

// maxTime bounds times and errors, so that sums of a few do not overflow.
const maxTime = math.MaxInt64 / 8

// Clocks returns the least clock error with which operations are linearizable. If the context ends early, little is known.
func Clocks(ctx context.Context, part *models.Operations, decide Decide) Error {
	var w widened
	ok := false
	if !until(func() { w, ok = newWidened(&watch{ctx: ctx}, part) }) {
		return Error{Most: -1}
	}
	if !ok {
		return Error{Timeless: true, Most: -1}
	}
	span := int64(0)
	if n := len(w.returns); n > 0 {
		span = max(0, w.calls[len(w.calls)-1].time-w.returns[0].time) / 2
	}
	e := Error{Most: -1}
	switch decide(w.by(span + 1)) {
	case jepsen.Invalid:
		return Error{Least: span + 1, Most: -1, Never: true}
	case jepsen.Valid:
		e.Most = span + 1
	}
	try := func(slack int64) bool {
		switch decide(w.by(slack)) {
		case jepsen.Valid:
			e.Most = slack
		case jepsen.Invalid:
			e.Least = slack + 1
		default:
			return false
		}
		return true
	}
	// Small errors come first: they leave more of the order, and are decided sooner.
	for slack := int64(0); e.Most < 0 || slack < e.Most; slack = max(firstError, errorGrowth*slack) {
		if slack > span || !try(slack) || e.Most == slack {
			break
		}
	}
	for e.Most > e.Least && try(e.Least+(e.Most-e.Least)/2) {
	}
	return e
}

// The first errors that are tried are 0, firstError, and errorGrowth times as much each time.
const (
	firstError  = 1 << 10
	errorGrowth = 8
)

// widened are operations whose intervals can be widened.
type widened struct {
	of      *models.Operations // in order of their calls
	calls   []timed            // in order of time
	returns []timed
}

// timed is when a row was called or returned.
type timed struct {
	time int64
	row  models.Row
}

// newWidened finds the times of operations. It returns false if one has none.
func newWidened(watch *watch, part *models.Operations) (w widened, ok bool) {
	calls, returns := part.History.Times(), part.History.Times() // each is fast for events in order
	usable := func(x timed, found bool) bool {
		watch.poll()
		return found && -maxTime < x.time && x.time < maxTime
	}
	for row, inv := range part.Inv {
		time, found := calls(jepsen.Event(inv))
		call := timed{time, models.Row(row)}
		if !usable(call, found) {
			return w, false
		}
		w.calls = append(w.calls, call)
	}
	byTime := func(x, y timed) int {
		switch {
		case x.time < y.time:
			return -1
		case x.time > y.time:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(w.calls, byTime)
	w.of = &models.Operations{Model: part.Model, History: part.History}
	for i := range w.calls {
		call := &w.calls[i]
		if res := part.Res[call.row]; res != models.Open {
			time, found := returns(jepsen.Event(res))
			end := timed{time, models.Row(i)}
			if !usable(end, found) || end.time < call.time {
				return w, false
			}
			w.returns = append(w.returns, end)
		}
		w.of.Append(0, models.Open, part.Op(call.row))
		w.of.Of = append(w.of.Of, part.Of[call.row])
		call.row = models.Row(i)
	}
	slices.SortStableFunc(w.returns, byTime)
	w.of.Events = int32(len(w.calls) + len(w.returns))
	return w, true
}

// by returns the operations with a clock error: an operation that returns up to twice as much before another one is called
// does not come before it.
func (w *widened) by(slack int64) *models.Operations {
	ops := *w.of
	ops.Inv, ops.Res = make([]int32, len(w.calls)), slices.Clone(w.of.Res)
	event, returns := int32(0), w.returns
	for i, call := range w.calls {
		for ; len(returns) > 0 && call.time-returns[0].time > 2*slack; event++ {
			ops.Res[returns[0].row] = event
			returns = returns[1:]
		}
		ops.Inv[i] = event
		event++
	}
	for ; len(returns) > 0; event++ {
		ops.Res[returns[0].row] = event
		returns = returns[1:]
	}
	return &ops
}
