package jepsen

import (
	"context"
	"errors"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/jepsen/internal/feed"
)

var errNotAlone = errors.New("timed operations came after other events; expected them to be the whole history")

// AddTimedOps implements feed.Feed.
func (f feeder) AddTimedOps(ctx context.Context, t *feed.TimedOps) (added bool, err error) {
	b := f.Builder
	switch {
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
		h.Process, h.Processes = hugepages.Make[int32](len(h.OpOf)), hugepages.Make[edn.ID](len(h.Invocation))
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
func (b *Builder) number(t *feed.TimedOps) bool {
	h, wrong := b.h, int32(0)
	h.Process = hugepages.Make[int32](len(t.Order))
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
func (h *History) addTimed(ctx context.Context, t *feed.TimedOps) error {
	n := len(t.Value)
	h.Type, h.F, h.Value, h.OpOf = hugepages.Make[Type](2*n), hugepages.Make[edn.ID](2*n), hugepages.Make[edn.ID](2*n), hugepages.Make[Operation](2*n)
	h.Invocation, h.Completion, h.Status = hugepages.Make[Event](n+1), hugepages.Make[Event](n), hugepages.Make[Status](n)
	h.lines = hugepages.Make[int32](n)
	if t.Col != nil {
		h.cols = hugepages.Make[int32](n)
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
	op := Operation(0)                 // the next
	of := hugepages.Make[Operation](n) // by row
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
