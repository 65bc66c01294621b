package jepsen

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/internal/opmap"
)

// Interval is an operation given by the times of its call and return, as tracers and other
// checkers record it. All times are from one clock, in any unit.
type Interval struct {
	Process int
	F       string // "read" or ":read"
	Input   any    // the value that it was called with, in plain Go as edn.Values.From takes it
	// Output is the value that it returned. Nil means the same as Input, which is right for a write; an Output of a
	// write would be the value written. edn.Value{} means that it returned nil.
	Output any
	Key    any // the :key, for a model that reads one
	Call   int64
	Return int64  // ignored if it crashed
	Status Status // Succeeded if it is not given
	// Indices, unless it is nil, are the :index of its call and that of its return. Otherwise they are their places in order.
	Indices *[2]int64
}

// FromIntervals returns the history of operations with times, in any order. Operations
// whose times touch are concurrent: if several things happen at one time, calls come first.
// A process may have several operations at once, which the text of a history cannot say.
// The operations are numbered in order of their calls, and in the given order if they are
// called at one time. So if ops is sorted by Call, Operation(i) is ops[i]. O(n log n) time.
func FromIntervals(ops []Interval) (*History, error) {
	if len(ops) >= math.MaxInt32/2 {
		return nil, fmt.Errorf("%d intervals are more than clew can number (2^30)", len(ops))
	}
	b := NewBuilder(Options{})
	b.h.built = true
	ends, err := b.ends(ops)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ends, end.compare)
	row := make([]Operation, len(ops)) // by interval
	for position, e := range ends {
		e.event.Line = position + 1
		b.h.Events++
		index := int64(position)
		if own := ops[e.interval].Indices; own != nil {
			index = own[min(e.kind, OK)]
		}
		ev := b.push(e.kind, &e.event, index, false)
		if e.kind == Invoke {
			row[e.interval] = b.h.begin(ev)
		} else {
			b.h.end(row[e.interval], ev)
		}
	}
	return b.History()
}

type end struct {
	time     int64
	kind     Type
	interval int
	event    opmap.Event
}

// compare puts ends in order of time, calls first.
func (e end) compare(o end) int {
	return cmp.Or(cmp.Compare(e.time, o.time), cmp.Compare(min(e.kind, OK), min(o.kind, OK)), cmp.Compare(e.interval, o.interval))
}

func (b *Builder) ends(ops []Interval) ([]end, error) {
	ends := make([]end, 0, 2*len(ops))
	for i, o := range ops {
		wrong := func(what any) error { return fmt.Errorf("interval %d (process %d's %s): %v", i, o.Process, o.F, what) }
		if o.Status > Crashed {
			return nil, wrong("expected the status Succeeded, Failed or Crashed")
		}
		if o.Status != Crashed && o.Return < o.Call {
			return nil, wrong(fmt.Sprintf("it returns at %d, before its call at %d", o.Return, o.Call))
		}
		var with []Extra
		if o.Key != nil {
			with = append(with, With("key", o.Key))
		}
		call, err := b.plain(o.Process, o.F, o.Input, with)
		if err != nil {
			return nil, wrong(err)
		}
		ends = append(ends, end{o.Call, Invoke, i, *call})
		if o.Status == Crashed {
			continue
		}
		if o.Output != nil && o.Status == Succeeded {
			x, err := b.h.Values.From(o.Output)
			if err != nil {
				return nil, wrong(err)
			}
			call.Value = x.ID()
		}
		ends = append(ends, end{o.Return, map[Status]Type{Succeeded: OK, Failed: Fail}[o.Status], i, *call})
	}
	return ends, nil
}

// pairTimed finds the operation that event ev begins or ends, by its number.
func (b *Builder) pairTimed(ev Event, op int32, e *opmap.Event) {
	h := b.h
	for int(op) >= len(b.timed) {
		b.timed = hugepages.Append(b.timed, None)
	}
	if h.Type[ev] != Invoke {
		h.end(b.timed[op], ev)
		if e.NullOutput && h.Type[ev] == OK && h.Value[ev] != edn.Nil {
			h.nulls = append(h.nulls, ev)
		}
		return
	}
	b.timed[op] = h.begin(ev)
	if len(h.lines) == cap(h.lines) {
		h.lines = hugepages.Grow(h.lines, cap(h.Invocation)-len(h.lines))
	}
	if e.Col != 1 || h.cols != nil {
		for len(h.cols) < len(h.lines) {
			h.cols = append(h.cols, 1)
		}
		h.cols = append(h.cols, int32(e.Col))
	}
	h.lines = append(h.lines, int32(e.Line))
}

// NullOutputs returns the completions of interval records with a value and with null for their output, in order. They
// have the value, since a record of a write may say either; a model may refuse them (models.Definition.NilOutputs).
func (h *History) NullOutputs() []Event { return h.nulls }
