package jepsen

import (
	"context"
	"errors"

	"clew/edn"
	"clew/internal/huge"
)

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

var errNotAlone = errors.New("timed operations came after other events; expected them to be the whole history")

// AddTimedOps adds operations that are the whole history. It takes only a few moves for
// each operation, since it does not look at events one by one. It adds nothing, and returns
// false, if a process begins an operation while it has another one open. The error is that
// of History, or the cause with which the context was done.
func (b *Builder) AddTimedOps(ctx context.Context, t *TimedOps) (added bool, err error) {
	switch {
	case b == nil || b.h == nil:
		return false, ErrNoBuilder
	case b.done:
		return false, errDone
	case b.h.Events > 0:
		return false, errNotAlone
	}
	h := b.h
	if t.Process != nil && !b.number(t) {
		h.Process, h.Processes, b.dense, b.open, b.last = nil, nil, nil, nil, nil
		return false, nil
	}
	if err := h.addTimed(ctx, t); err != nil {
		return false, err
	}
	if t.Process == nil {
		h.Values.ReserveInts(len(h.Invocation))
		h.Process, h.Processes = huge.Make[int32](len(h.OpOf)), huge.Make[edn.ID](len(h.Invocation))
		for e, op := range h.OpOf {
			h.Process[e] = int32(op)
		}
		for op, inv := range h.Invocation {
			h.Processes[op] = h.Values.InternInt(int64(t.Order[inv] >> 1))
		}
	}
	h.Events = len(h.Type)
	b.noIndex = int64(h.Events)
	_, err = b.History()
	return true, err
}

// number numbers the processes of operations as the events come. It says whether each
// process has at most one operation open at a time.
func (b *Builder) number(t *TimedOps) bool {
	h, wrong := b.h, int32(0)
	h.Process = huge.Make[int32](len(t.Order))
	var open []int32 // by process: how many operations it has open
	for e, event := range t.Order {
		p, returns := b.process(h.Values.Same(t.Process[event>>1])), event&1
		if int(p) == len(open) {
			open = append(open, 0)
		}
		wrong |= open[p] - returns
		open[p] = 1 - returns
		h.Process[e] = p
	}
	return wrong == 0
}

// addTimed makes the columns of operations, except for their processes. It writes more than
// it has to, so that it need not ask which events are calls: the processor could not
// predict those branches.
func (h *History) addTimed(ctx context.Context, t *TimedOps) error {
	n := len(t.Value)
	h.Type, h.F, h.Value, h.OpOf = huge.Make[Type](2*n), huge.Make[edn.ID](2*n), huge.Make[edn.ID](2*n), huge.Make[Operation](2*n)
	h.Invocation, h.Completion, h.Status = huge.Make[Event](n+1), huge.Make[Event](n), huge.Make[Status](n)
	h.lines = huge.Make[int32](n)
	if t.Col != nil {
		h.cols = huge.Make[int32](n)
	}
	fs, taken := make([]edn.ID, len(t.Methods)), make([]edn.ID, 2*len(t.Methods)) // masks: all bits or none
	for m, method := range t.Methods {
		fs[m], taken[2*m+1] = method.F, -1
		if method.Takes || t.Called != nil {
			taken[2*m] = -1
		}
	}
	values := [2][]edn.ID{t.Called, t.Value}
	if t.Called == nil {
		values[0] = t.Value
	}
	op := Operation(0)            // the next
	of := huge.Make[Operation](n) // by row
	for e, event := range t.Order {
		const often = 1 << 16
		if e%often == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, returns := event>>1, event&1
		method := t.Method[row]
		own := of[row]
		own ^= (own ^ op) & Operation(returns-1) // the next, if it is a call
		of[row] = own
		h.Type[e] = Type(returns) // Invoke or OK
		h.F[e] = fs[method]
		h.Value[e] = values[returns][row] & taken[2*method+returns]
		h.OpOf[e] = own
		h.Invocation[op] = Event(e) // if it is a call; otherwise the next call replaces it
		h.Completion[own] = Event(e)
		h.lines[own] = t.Line[row]
		op += Operation(1 - returns)
	}
	h.Invocation = h.Invocation[:n]
	for row, col := range t.Col {
		h.cols[of[row]] = col
	}
	h.places = places{runs: []run{{}}, n: Event(2 * n)}
	return nil
}
