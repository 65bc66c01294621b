package old

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"clew/edn"
	"clew/edn/opmap"
	"clew/jepsen"
)

// Interval records are JSON, an object for each operation, with the times of its
// call and of its return from one clock, as integers in any unit:
//
//	{"process":1,"f":"put","key":"x","value":3,"output":null,"call":1200,"return":1900}
//
// "value" is what it was called with, and "output" what it returned; null or
// nothing stands for the value, which is right for a write. Without a "return"
// it has crashed. Other keys are only shown. Records come in any order.
// Operations whose times touch are concurrent, one process's too.

// intervals reads interval records.
type intervals struct {
	json *jsonReader
	ends []intervalEnd
}

// intervalEnd is a call or a return.
type intervalEnd struct {
	time int64
	kind int // 0: a call, 1: a return
	op   int32
	text []byte // as EDN
	at   place
}

// intervals makes events of the records, in order of time. slack is how much earlier a
// call may have been, and how much later a return.
func (in *input) intervals(r *bufio.Reader, slack int64) error {
	t := &intervals{json: newJSONReader(r, in.file)}
	if err := t.all(slack); err != nil {
		return err
	}
	at := -1
	next := func() ([]byte, place, error) {
		if at++; at == len(t.ends) {
			return nil, place{}, io.EOF
		}
		return t.ends[at].text, t.ends[at].at, nil
	}
	given, take := -1, in.take
	in.take = func(e *opmap.Event) error {
		given++
		return in.timed(e, t.ends[given].op)
	}
	defer func() { in.take = take }()
	return in.translated(next)
}

// all reads the records.
func (t *intervals) all(slack int64) error {
	for op := int32(0); ; op++ {
		at, err := t.json.scan()
		switch {
		case err == io.EOF:
			slices.SortStableFunc(t.ends, func(a, b intervalEnd) int {
				return cmp.Or(cmp.Compare(a.time, b.time), a.kind-b.kind)
			})
			return nil
		case err != nil:
			return err
		}
		if err := t.record(op, at, slack); err != nil {
			return err
		}
	}
}

// record adds the ends of a record.
func (t *intervals) record(op int32, at place, slack int64) error {
	fields, others, err := t.fields(at)
	if err != nil {
		return err
	}
	for _, key := range []string{"process", "f", "call"} {
		if !given(fields[key]) {
			return t.json.fail(at, `the record has no "%s"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`, key)
		}
	}
	if fields["f"][0] != ':' {
		return t.json.fail(at, `expected the name of a function for "f", such as "read", found %s`, clip(fields["f"]))
	}
	call, err := t.time(at, fields, "call")
	if err != nil {
		return err
	}
	event := func(kind, value string, time int64) []byte {
		var line bytes.Buffer
		line.WriteString("{:process " + string(fields["process"]) + ", :type " + kind + ", :f " + string(fields["f"]) + ", :value " + value)
		if key := fields["key"]; key != nil {
			line.WriteString(", :key " + string(key))
		}
		line.Write(others)
		line.WriteString(", :time " + strconv.FormatInt(time, 10) + "}")
		return line.Bytes()
	}
	value := cmp.Or(string(fields["value"]), "nil")
	t.ends = append(t.ends, intervalEnd{less(call, slack), 0, op, event(":invoke", value, call), at})
	if !given(fields["return"]) {
		if given(fields["output"]) {
			return t.json.fail(at, `the record has an "output" and no "return"; expected the time at which it returned`)
		}
		// Its process may go on.
		t.ends = append(t.ends, intervalEnd{less(call, slack), 0, op, event(":info", value, call), at})
		return nil
	}
	back, err := t.time(at, fields, "return")
	if err != nil {
		return err
	}
	if back < call {
		return t.json.fail(at, "the record returns at %d, before its call at %d", back, call)
	}
	if given(fields["output"]) {
		value = string(fields["output"])
	}
	t.ends = append(t.ends, intervalEnd{-less(-back, slack), 1, op, event(":ok", value, back), at})
	return nil
}

// less is a time earlier by slack, or the earliest there is.
func less(time, slack int64) int64 {
	if time < math.MinInt64+1+slack {
		return math.MinInt64 + 1
	}
	return time - slack
}

// given says whether a field is there, and not nil.
func given(text []byte) bool { return text != nil && string(text) != "nil" }

// time is a field that is a time.
func (t *intervals) time(at place, fields map[string][]byte, key string) (int64, error) {
	n, err := strconv.ParseInt(string(fields[key]), 10, 64)
	if err != nil || n == math.MinInt64 {
		return 0, t.json.fail(at, `expected an integer for "%s", such as nanoseconds of a clock, found %s`, key, clip(fields[key]))
	}
	return n, nil
}

// fields is the values of the record's own fields, as EDN, and the text of the
// others.
func (t *intervals) fields(at place) (fields map[string][]byte, others []byte, err error) {
	r := t.json
	fields = map[string][]byte{}
	as := opRole
	if r.isTxn() {
		as = txnRole
	}
	r.at, r.out = 1, r.out[:0]
	for r.blank() != '}' {
		quoted := r.op[r.at:literal(r.op, r.at)]
		r.at += len(quoted)
		key := string(unquoted(quoted))
		role := as.of(key, -1)
		if key == "output" {
			role = as.of("value", -1)
		}
		begin := len(r.out)
		r.text(quoted, true)
		name := string(r.out[begin:])
		r.out = r.out[:begin]
		if err := r.value(role); err != nil {
			return nil, nil, err
		}
		value := bytes.Clone(r.out[begin:])
		r.out = r.out[:begin]
		if _, twice := fields[key]; twice {
			return nil, nil, r.fail(at, "the record has two fields %q", key)
		}
		switch key {
		case "process", "f", "key", "value", "output", "call", "return":
		case "type":
			return nil, nil, r.fail(at, `the record has a "type", which events have; expected an operation with a "call" and a "return"`)
		case "index", "time":
		default:
			others = append(append(append(append(others, ", "...), name...), ' '), value...)
		}
		fields[key] = value
	}
	return fields, others, nil
}

// isInterval says whether the first object of a text in JSON is an interval
// record, as far as the text goes.
func isInterval(text []byte) bool {
	text = text[bytes.IndexByte(text, '{')+1:]
	depth, found := 1, false
	for i := 0; i < len(text) && depth > 0; i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := min(literal(text, i), len(text))
			rest := bytes.TrimLeft(text[end:], " \t\r\n")
			if key := string(text[i:end]); depth == 1 && len(rest) > 0 && rest[0] == ':' {
				if key == `"type"` {
					return false
				}
				found = found || key == `"call"` || key == `"return"`
			}
			i = end - 1
		}
	}
	return found
}

// onlyOne passes on the events of operations with times to a form in which a
// process has one operation at a time.
func (c *converter) onlyOne(take func(*opmap.Event) error) func(*opmap.Event, int32) error {
	open := map[edn.ID]bool{}
	return func(e *opmap.Event, _ int32) error {
		process := edn.ID(c.table.Same(e.Process))
		begins := isKeyword(c.table, e.Type, "invoke")
		if begins && open[process] {
			return c.refuse(e, "its process has another operation open")
		}
		open[process] = begins
		return take(e)
	}
}

// interval takes an event to be written as part of a record.
func (c *converter) interval(e *opmap.Event, add func(*opmap.Event) error) error {
	if err := jepsen.CheckOp(c.file, e); err != nil {
		return err
	}
	if isKeyword(c.table, e.Process, "nemesis") {
		return c.refuse(e, "it has no place for processes that are no clients")
	}
	v, kvs, err := c.op(e)
	if err != nil {
		return err
	}
	for i := 0; i < len(kvs); i += 2 {
		switch key := v.Text(kvs[i]); key {
		case ":process", ":type", ":f", ":value", ":key":
		default:
			c.dropped[key] = true
		}
	}
	return add(e)
}

// records writes a history as interval records. The times of events are their
// positions.
func (c *converter) records(h *jepsen.History) error {
	v := h.Values
	field := func(kvs *[]edn.ID, key string, id edn.ID) { *kvs = append(*kvs, v.InternKeyword(key), id) }
	for op, inv := range h.Invocation {
		end, status := h.Completion[op], h.Status[op]
		if status == jepsen.Failed {
			return c.refuseOp(h, end, "it has no operations that failed")
		}
		var kvs []edn.ID
		field(&kvs, "process", h.Processes[h.Process[inv]])
		field(&kvs, "f", h.F[inv])
		if key := h.Key(inv); key != edn.Nil {
			field(&kvs, "key", key)
		}
		field(&kvs, "value", h.Value[inv])
		if status == jepsen.Succeeded && v.Same(h.Value[end]) != v.Same(h.Value[inv]) {
			if h.Value[end] == edn.Nil {
				return c.refuseOp(h, end, "it takes an output of nil for the invocation's value")
			}
			field(&kvs, "output", h.Value[end])
		}
		field(&kvs, "call", v.InternInt(int64(inv)))
		if status == jepsen.Succeeded {
			field(&kvs, "return", v.InternInt(int64(end)))
		}
		text, bad := c.jsonOps.op(v, kvs)
		if bad != "" {
			return c.refuseOp(h, inv, "it %s", bad)
		}
		c.put(text)
	}
	return nil
}
