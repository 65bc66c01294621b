package forms

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/hugepages"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/forms/internal/scan"
)

// Intervals are records in JSON, an object for each operation. The times of its call
// and of its return come from one clock, as integers in any unit:
//
//	{"process":1,"f":"put","key":"x","value":3,"output":null,"call":1200,"return":1900}
//
// "value" is the argument of the call, and "output" is what it returned. If the output
// is missing or null, it is the value, which is right for a write. {"edn":"nil"} is always
// nil; where that can be an answer, null beside a value is an error. An operation without a "return" has crashed. Other keys are only shown. Records may come in
// any order. Operations whose times touch are concurrent, even those of one process.
const Intervals Form = "intervals"

var intervalsForm = form{name: Intervals, wholeOps: true, times: true, read: readIntervals, write: writing{(*converter).interval, (*converter).records},
	detect: func(b beginning) bool {
		first := firstObject(b.text)
		return first != nil && isInterval(first)
	}}

type intervals struct {
	ops        []intervalOp
	calls      []int64 // when each operation was called
	returns    []int64 // when each returned, if it did
	returned   []int32 // the operations that returned
	others     []byte
	odd        []opmap.Event // the events of operations without a layout
	layouts    []*opmap.Layout
	invoke, ok edn.ID
	info       edn.ID
	e          opmap.Event
}

type intervalOp struct {
	process, f, value, output, key edn.ID
	line, col                      int32
	layout                         int32 // inOdd if its events are there, starting at index at, or bare if it has nothing else
	size                           int32 // of its other values in others
	at                             int64 // where they begin
	has                            opmap.Fields
	crashed, null                  bool // null: its output was null
}

// Operations without a layout.
const (
	inOdd int32 = -1 - iota
	bare
)

// readIntervals makes events of the records, in order of time.
func readIntervals(in *input, text source) error {
	v, length := in.values, files.Size(text.file)
	t := newIntervals(v)
	j := in.json(settled{text})
	var rec jsonops.Record
	for {
		if err := j.NextRecord(&rec); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if len(t.ops) == math.MaxInt32/2 {
			return j.Fail("more operations than clew can number (2^30)")
		}
		if len(t.ops) == cap(t.ops) {
			more := hugepages.More(len(t.ops), j.Offset+int64(j.At), length)
			t.ops, t.calls, t.returns, t.returned = hugepages.Grow(t.ops, more), hugepages.Grow(t.calls, more), hugepages.Grow(t.returns, more), hugepages.Grow(t.returned, more)
		}
		t.add(&rec)
	}
	return t.events(in, t.inTime(in.clockError))
}

func newIntervals(v *edn.Values) *intervals {
	return &intervals{invoke: v.InternKeyword(jepsen.Invoke.Name()), ok: v.InternKeyword(jepsen.OK.Name()), info: v.InternKeyword(jepsen.Info.Name())}
}

func (t *intervals) add(r *jsonops.Record) {
	op := intervalOp{process: r.Process, f: r.F, value: r.Value, output: r.Output, key: r.Key, has: r.Has, crashed: r.Crashed,
		null: r.NullOutput, line: int32(r.Line), col: int32(r.Col), layout: inOdd, at: int64(len(t.others))}
	if !r.HasOutput {
		op.output = r.Value
	}
	if r.Layout == nil {
		op.at = int64(len(t.odd))
		t.odd = append(t.odd, r.Events...)
	} else {
		op.layout, op.size = t.layout(r.Layout), int32(len(r.Others))
		t.others = append(t.others, r.Others...)
	}
	if !r.Crashed {
		t.returned = append(t.returned, int32(len(t.ops)))
	}
	t.calls, t.returns, t.ops = append(t.calls, r.Call), append(t.returns, r.Return), append(t.ops, op)
}

// inTime returns the calls and returns in order, calls first, if the clocks were
// wrong by at most slack. See scan.InTime.
func (t *intervals) inTime(slack int64) []int32 {
	calls, returns, returned := t.calls, t.returns, t.returned
	if slack != 0 {
		calls, returns = slices.Clone(calls), slices.Clone(returns)
		for i := range calls {
			calls[i], returns[i] = less(calls[i], slack), -less(-returns[i], slack)
		}
	}
	switch len(returned) {
	case len(calls):
		returned = nil
	case 0:
		returned = []int32{} // nil stands for all
	}
	return scan.InTime(calls, returns, returned, true)
}

// layout returns the number of a layout. There are few layouts.
func (t *intervals) layout(l *opmap.Layout) int32 {
	for i, old := range t.layouts {
		if old == l {
			return int32(i)
		}
	}
	t.layouts = append(t.layouts, l)
	return int32(len(t.layouts) - 1)
}

func (t *intervals) events(in *input, order []int32) error {
	in.to.Expect(int64(2 * len(t.ops))) // in events
	var scratch []byte
	for n, event := range order {
		if n%4096 == 0 && in.ctx.Err() != nil {
			return fmt.Errorf("%s: %w", in.file, context.Cause(in.ctx))
		}
		op, returns := event>>1, event&1 == 1
		var err error
		if scratch, err = t.event(in, op, returns, n, scratch); err == nil && !returns && t.ops[op].crashed {
			scratch, err = t.event(in, op, true, n, scratch) // its process may continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// event makes the event with which an operation begins or ends.
func (t *intervals) event(in *input, number int32, ends bool, n int, scratch []byte) ([]byte, error) {
	op, e := &t.ops[number], &t.e
	*e = opmap.Event{Process: op.process, Type: t.invoke, F: op.f, Value: op.value, Key: op.key, Has: op.has}
	time := t.calls[number]
	switch {
	case ends && op.crashed:
		e.Type = t.info
	case ends:
		e.Type, e.Value, time = t.ok, op.output, t.returns[number]
	}
	if op.layout >= 0 {
		scratch = append(strconv.AppendInt(append(scratch[:0], t.others[op.at:][:op.size]...), time, 10), '\n')
		e.Lay(t.layouts[op.layout], scratch, in.values)
	} else if op.layout == inOdd {
		at := op.at
		if ends {
			at++
		}
		*e = t.odd[at]
	}
	e.Line, e.Col, e.End, e.NullOutput = int(op.line), int(op.col), int64(n), ends && op.null
	return scratch, in.to.Add(e, number)
}

// less returns a time earlier by slack, or the earliest possible one.
func less(time, slack int64) int64 {
	if time < math.MinInt64+1+slack {
		return math.MinInt64 + 1
	}
	return time - slack
}

// isInterval says whether the object that begins a text in JSON is an interval
// record, as far as the text shows it.
func isInterval(text []byte) bool {
	keys := keysOf(text)
	return !slices.Contains(keys, "type") && (slices.Contains(keys, "call") || slices.Contains(keys, "return"))
}

// keysOf returns the keys of the object that begins a text in JSON, as far as the text shows them.
func keysOf(text []byte) (keys []string) {
	text = text[1:]
	depth := 1
	for i := 0; i < len(text) && depth > 0; i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := min(jsonops.Literal(text, i), len(text))
			rest := bytes.TrimLeft(text[end:], " \t\r\n")
			if depth == 1 && len(rest) > 0 && rest[0] == ':' {
				keys = append(keys, string(text[i+1:end-1]))
			}
			i = end - 1
		}
	}
	return keys
}

// interval takes an event that will be part of a record.
func (c *converter) interval(e *opmap.Event, op int32) error {
	if err := opmap.Check(c.file, e); err != nil {
		return err
	}
	if jsonops.IsKeyword(c.table, e.Process, "nemesis") {
		return c.refuse(e, "it has no place for processes that are not clients")
	}
	if err := c.note(e, []string{":process", ":type", ":f", ":value", ":key"}); err != nil {
		return err
	}
	return c.Feed.Add(e, op)
}

// WriteRecords writes operations of a history as interval records, in which operations
// of one process may be open at the same time. Errors name the event that has no place.
func WriteRecords(w io.Writer, h *jepsen.History, ops []jepsen.Operation) error {
	c := &converter{table: h.Values, to: &intervalsForm, w: bufio.NewWriter(w)}
	for _, op := range ops {
		if err := c.record(h, op); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// records writes the history as interval records.
func (c *converter) records() error {
	h, err := c.b.History()
	if err != nil {
		return err
	}
	for op := range jepsen.Operation(h.Operations()) {
		if err := c.record(h, op); err != nil {
			return err
		}
	}
	return nil
}

// record writes an operation as an interval record. The times of events are their positions.
func (c *converter) record(h *jepsen.History, op jepsen.Operation) error {
	v, inv, end, status := h.Values, h.Invocation[op], h.Completion[op], h.Status[op]
	if status == jepsen.Failed {
		return c.refuseOp(h, end, "it has no operations that failed")
	}
	var kvs []edn.ID
	field := func(key string, id edn.ID) { kvs = append(kvs, v.InternKeyword(key), id) }
	field("process", h.Processes[h.Process[inv]])
	field("f", h.F[inv])
	if key := h.Key(inv); key != edn.Nil {
		field("key", key)
	}
	field("value", h.Value[inv])
	_, isNull := slices.BinarySearch(h.NullOutputs(), end)
	c.jsonOps.NilOutput = false
	switch {
	case status == jepsen.Succeeded && isNull:
		field("output", edn.Nil)
	case status == jepsen.Succeeded && v.Same(h.Value[end]) != v.Same(h.Value[inv]):
		field("output", h.Value[end])
		c.jsonOps.NilOutput = h.Value[end] == edn.Nil
	}
	field("call", v.InternInt(int64(inv)))
	if status == jepsen.Succeeded {
		field("return", v.InternInt(int64(end)))
	}
	text, bad := c.jsonOps.Op(v, kvs)
	if bad != "" {
		return c.refuseOp(h, inv, "it %s", bad)
	}
	return c.put(text)
}
