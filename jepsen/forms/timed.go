package forms

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms/internal/scan"
	"clew/jepsen/internal/feed"
)

// Fastlin and Fptlin have a line for each operation, with its times. objects.go describes them.
const (
	Fastlin Form = "fastlin"
	Fptlin  Form = "fptlin"
)

var (
	fastlinForm = form{name: Fastlin, wholeOps: true, read: timedReader(&fastlin), write: writing{(*converter).objectEvent, writeObject(&fastlin)}, detect: func(b beginning) bool {
		line, headed := firstLine(b.text)
		return begins(line, 'A', 'z') && fastlinLine().Match(line) || headed
	}}
	fptlinForm = form{name: Fptlin, wholeOps: true, read: timedReader(&fptlin), write: writing{(*converter).objectEvent, writeObject(&fptlin)}, detect: func(b beginning) bool {
		line, headed := firstLine(b.text)
		return begins(line, '0', '9') && (headed || fptlinLine().Match(line))
	}}

	fptlinLine  = text.Pattern(`^[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Za-z]`)
	fastlinLine = text.Pattern(`^[A-Za-z_]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*(\n|$)`)
)

var (
	fastlin = dialect{function: function, heading: headingWithTimes, objects: withTimes, empty: strconv.Itoa(empty), write: (*converter).operations, lacks: []string{"rmw", countingSemaphore}}
	fptlin  = dialect{function: function, heading: headingWithTimes, objects: withTimes, empty: strconv.Itoa(empty), write: (*converter).operations, processes: true}
)

const withTimes = "queues, stacks, priority queues and sets"

func headingWithTimes(o object) string {
	if o.word == "" {
		return ""
	}
	return "# " + o.heads()
}

// timedOps are the operations of a text form with times, in the order of the text.
type timedOps struct {
	start, end []int64
	method     []int32
	value      []edn.ID // of the return; a set's answer is in answer
	process    []edn.ID // in fptlin
	answer     []edn.ID // in fptlin: Nil if an operation has none; shorter if the last ones have none
	line       []int32
	col        []int32 // 1 if shorter
	empty      bool    // some value stands for an empty container
}

// empty is the result of a removal from an empty container in fastlin and fptlin.
const empty = -1

// timedReader returns what reads a form. It reads all operations, and then puts their ends in
// order of time. O(n) time unless the times of very many operations are in disorder.
func timedReader(d *dialect) func(*input, source) error {
	return func(in *input, text source) error { return newTextReader(in, d, text).timed() }
}

func (r *textReader) timed() error {
	var all timedOps
	read := r.fastlin
	if r.dialect.processes {
		read = r.fptlin
	}
	for {
		r.quick(&all)
		if err := r.more(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if err := read(&all); err != nil {
			return err
		}
		if len(all.value) >= maxTimed {
			return r.fail("more operations than clew can number (2^30)")
		}
	}
	ops, err := r.columns(&all)
	if err != nil {
		return err
	}
	added, err := r.in.to.AddTimedOps(r.in.ctx, ops)
	if err != nil && r.in.ctx.Err() != nil {
		err = r.stopped()
	}
	if added || err != nil {
		return err
	}
	return r.events(ops)
}

// maxTimed bounds the number of operations.
const maxTimed = math.MaxInt32 / 2

func (r *textReader) stopped() error { return fmt.Errorf("%s: %w", r.in.file, context.Cause(r.in.ctx)) }

// columns returns the operations in the form from which a history is made. It returns an error if a container other
// than a set was given the value that stands for an empty one.
func (r *textReader) columns(all *timedOps) (*feed.TimedOps, error) {
	ops := &feed.TimedOps{Order: scan.InTime(all.start, all.end, nil, false), Process: all.process, Method: all.method,
		Value: all.value, Line: all.line}
	known := make([]edn.ID, len(r.methods)) // answers
	if !r.dialect.processes {
		r.answers(known)
	}
	answered := len(all.answer) > 0
	for m, method := range r.methods {
		ops.Methods = append(ops.Methods, feed.TimedMethod{F: r.in.values.InternKeyword(method.f[1:]), Takes: method.adds || method.f == ":cas"})
		answered = answered || known[m] != edn.Nil
	}
	if len(all.col) > 0 {
		for ops.Col = all.col; len(ops.Col) < len(ops.Line); {
			ops.Col = append(ops.Col, 1)
		}
	}
	switch {
	case answered:
		all.called(r.in.values, ops, known)
	case all.empty:
		none := r.in.values.InternInt(empty)
		for i, value := range ops.Value {
			switch takes := ops.Methods[ops.Method[i]].Takes; {
			case value != none:
			case !takes:
				ops.Value[i] = edn.Nil
			case r.object != "set":
				col := 1
				if i < len(all.col) {
					col = int(all.col[i])
				}
				return nil, r.in.at(int(all.line[i]), col).Errorf("a value of %d cannot be added, since %[1]d is the answer of an empty container in this form; expected another value", empty)
			}
		}
	}
	return ops, nil
}

// called adds the answers to the operations of a set. Their elements become the
// values of the calls.
func (all *timedOps) called(v *edn.Values, ops *feed.TimedOps, known []edn.ID) {
	ops.Called = hugepages.Make[edn.ID](len(ops.Value))
	none := v.InternInt(empty)
	for i, value := range ops.Value {
		method := ops.Method[i]
		answer := known[method]
		if i < len(all.answer) {
			answer = all.answer[i]
		}
		switch {
		case answer != edn.Nil:
			ops.Called[i], ops.Value[i] = value, v.InternVector([]edn.ID{value, answer})
		case ops.Methods[method].Takes:
			ops.Called[i] = value
		case value == none:
			ops.Value[i] = edn.Nil
		}
	}
}

// events makes an event of every call and return.
func (r *textReader) events(ops *feed.TimedOps) error {
	r.in.to.Expect(int64(len(ops.Order))) // in events
	for n, event := range ops.Order {
		if n%4096 == 0 && r.in.ctx.Err() != nil {
			return r.stopped()
		}
		row, returns := event>>1, event&1 == 1
		process, col := edn.Nil, int32(1)
		if ops.Process != nil {
			process = ops.Process[row]
		} else {
			process = r.in.values.InternInt(int64(row))
		}
		if ops.Col != nil {
			col = ops.Col[row]
		}
		e := r.event(process, ops.Method[row], returns, ops.Line[row], col)
		switch {
		case returns:
			e.Value = ops.Value[row]
		case ops.Called != nil:
			e.Value = ops.Called[row]
		case ops.Methods[ops.Method[row]].Takes:
			e.Value = ops.Value[row]
		}
		e.End = int64(n)
		if err := r.in.to.Add(e, feed.ByProcess); err != nil {
			return err
		}
	}
	return nil
}

func (r *textReader) fastlin(all *timedOps) error {
	words := r.split()
	if len(words) != 4 {
		return r.fail("expected METHOD VALUE START END, found %s", scan.Clip(r.line))
	}
	return r.operation(all, 0, words[0], words[1:2], words[2], words[3])
}

func (r *textReader) fptlin(all *timedOps) error {
	words := r.split()
	if len(words) != 5 && len(words) != 6 {
		return r.fail("expected PROCESS START END METHOD VALUE, found %s", scan.Clip(r.line))
	}
	process, ok := integer(words[0])
	if !ok || process < 0 {
		return r.fail("expected a process such as 0, found %s", scan.Clip(words[0]))
	}
	return r.operation(all, process, words[3], words[4:], words[1], words[2])
}

// integer reads an integer that fits in an int64.
func integer(text []byte) (n int64, ok bool) {
	if n, ok = scan.Int(text); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

func (r *textReader) operation(all *timedOps, process int64, method []byte, values [][]byte, start, end []byte) error {
	from, ok := integer(start)
	if !ok {
		return r.fail("expected a time as an integer, found %s", scan.Clip(start))
	}
	until, ok := integer(end)
	if !ok || until <= from {
		return r.fail("expected a time after %d, found %s", from, scan.Clip(end))
	}
	n, ok := integer(values[0])
	if !ok {
		return r.fail("expected an integer for the value, found %s", scan.Clip(values[0]))
	}
	if !r.dialect.processes && strings.EqualFold(string(method), "contains") {
		return r.fail("expected contains_true or contains_false, found %s, which does not say what it found", scan.Clip(method))
	}
	m := r.method(method)
	if m < 0 {
		return r.fail("expected a method such as enq, found %s", scan.Clip(method))
	}
	v, value, second := r.in.values, edn.Nil, edn.Nil
	switch f := &r.methods[m]; {
	case f.f == ":cas":
		to, ok := integer(values[len(values)-1])
		if !ok || len(values) != 2 {
			return r.fail("expected what %s read and what it wrote, two integers, found %s", scan.Clip(method), scan.Clip(bytes.Join(values, []byte(" "))))
		}
		value = v.InternVector([]edn.ID{v.InternInt(n), v.InternInt(to)})
	case r.isCounted(f):
		if value, ok = answer(values[0]); !ok || len(values) != 1 {
			return r.fail("expected 0 or 1 for the answer, found %s", scan.Clip(bytes.Join(values, []byte(" "))))
		}
	case len(values) == 2:
		if second, ok = answer(values[1]); !ok {
			return r.fail("expected 0 or 1 for the answer, found %s", scan.Clip(values[1]))
		}
	}
	if value == edn.Nil {
		value = v.InternInt(n)
	}
	all.reserve(r)
	if r.dialect.processes {
		all.process = append(all.process, v.InternInt(process))
	}
	if r.col > 1 {
		for len(all.col) < len(all.value) {
			all.col = append(all.col, 1)
		}
		all.col = append(all.col, int32(r.col))
	}
	all.answered(second)
	all.start, all.end, all.method = append(all.start, from), append(all.end, until), append(all.method, m)
	all.value, all.line = append(all.value, value), append(all.line, int32(r.lines.N))
	all.empty = all.empty || n == empty
	return nil
}

// answered notes the answer of the next operation.
func (all *timedOps) answered(answer edn.ID) {
	if answer == edn.Nil {
		return
	}
	if cap(all.answer) <= len(all.value) {
		all.answer = hugepages.Grow(all.answer, cap(all.value)-len(all.answer))
	}
	all.answer = append(all.answer[:len(all.value)], answer) // Nil for those before
}

// reserve makes room for at least one operation.
func (all *timedOps) reserve(r *textReader) {
	if len(all.value) < cap(all.value) {
		return
	}
	more := hugepages.More(len(all.value), r.lines.Offset+int64(r.lines.At), r.length)
	all.start, all.end, all.method = hugepages.Grow(all.start, more), hugepages.Grow(all.end, more), hugepages.Grow(all.method, more)
	all.value, all.line = hugepages.Grow(all.value, more), hugepages.Grow(all.line, more)
	if r.dialect.processes {
		all.process = hugepages.Grow(all.process, more)
	} else if r.length > 0 {
		r.in.values.ReserveInts(len(all.value) + more) // the processes
	}
}

func answer(text []byte) (answer edn.ID, ok bool) {
	switch string(text) {
	case "0":
		return edn.False, true
	case "1":
		return edn.True, true
	}
	return edn.Nil, false
}

// isCounted says whether a method belongs to one of fptlin's semaphores.
func (r *textReader) isCounted(m *method) bool {
	return r.object == countingSemaphore && (m.f == ":incr" || m.f == ":decr")
}

// answers sets the answers that the names of a set's methods imply in fastlin.
func (r *textReader) answers(known []edn.ID) {
	isSet := r.object == "set"
	for m, method := range r.methods {
		switch strings.ToLower(method.word) {
		case "contains_true":
			known[m] = edn.True
		case "contains_false":
			known[m] = edn.False
		}
		isSet = isSet || r.object == "" && known[m] != edn.Nil
	}
	for m, method := range r.methods {
		if isSet && (method.f == ":insert" || method.f == ":remove") {
			known[m] = edn.True
		}
	}
}

func (c *converter) operations(h *jepsen.History) error {
	for op, inv := range h.Invocation {
		line, err := c.operation(h, jepsen.Operation(op), inv)
		if err != nil {
			return err
		}
		c.put(line)
	}
	return nil
}

func (c *converter) operation(h *jepsen.History, op jepsen.Operation, inv jepsen.Event) ([]byte, error) {
	method, err := c.method(h, inv)
	if err != nil {
		return nil, err
	}
	ev := h.Completion[op]
	switch {
	case h.Status[op] == jepsen.Failed:
		return nil, c.refuseOp(h, ev, "it has no operations that failed")
	case h.Status[op] == jepsen.Crashed && ev == jepsen.None:
		return nil, c.refuseOp(h, inv, "it has no crashed operations, and this one never ends")
	case h.Status[op] == jepsen.Crashed:
		return nil, c.refuseOp(h, ev, "it has no crashed operations")
	}
	value, answer, err := c.value(h, op, method)
	if err != nil {
		return nil, err
	}
	if !c.dialect.processes && c.object.word == "set" {
		switch changed := answer == " 1"; {
		case method == "contains":
			method += fmt.Sprintf("_%t", changed)
		case !changed:
			return nil, c.refuseOp(h, ev, "it has no %s that did nothing", method)
		}
	}
	if !c.dialect.processes {
		return fmt.Appendf(nil, "%s %s %d %d", method, value, inv, ev), nil
	}
	process, err := c.process(h, inv)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%d %d %d %s %s%s", process, inv, ev, strings.ToUpper(method), value, answer), nil
}

// Nearly all lines consist only of a known method, short integers, and blanks. What is below
// reads them one after another; what is above reads all others, including wrong ones.

// plainLine is a line of fastlin or fptlin.
type plainLine struct {
	process, value, start, end int64
	method                     int32
}

// fastlin reads the line at i. It returns where the next one begins, or -1 if the
// line is not plain.
func (l *plainLine) fastlin(k *scan.Numbered, text []byte, i int) int {
	if l.method, i = k.At(text, i); i < 0 {
		return -1
	}
	if i = ints(text, i, &l.value, &l.start, &l.end); i < 0 {
		return -1
	}
	return scan.LineEnd(text, i)
}

// fptlin reads the line at i up to its value. It returns where the value ends, or
// -1 if the line is not plain.
func (l *plainLine) fptlin(k *scan.Numbered, text []byte, i int) int {
	if l.process, i = scan.ShortInt(text, i); i < 0 || l.process < 0 {
		return -1
	}
	if i = scan.Past(text, ints(text, i, &l.start, &l.end)); i < 0 {
		return -1
	}
	if l.method, i = k.At(text, i); i < 0 {
		return -1
	}
	return ints(text, i, &l.value)
}

// ints reads integers with blanks before them, and returns where the last ends, or -1.
func ints(text []byte, i int, into ...*int64) int {
	for _, n := range into {
		if i = scan.Past(text, i); i < 0 {
			return -1
		}
		if *n, i = scan.ShortInt(text, i); i < 0 {
			return -1
		}
	}
	return i
}

// quick reads lines as long as they are plain.
func (r *textReader) quick(all *timedOps) {
	var l plainLine
	v := r.in.values
	processes := r.dialect.processes
	for text := r.lines.Data; len(all.value) < maxTimed; {
		next, value, answer := -1, edn.Nil, edn.Nil
		if !processes {
			next = l.fastlin(&r.known, text, r.lines.At)
		} else if next = l.fptlin(&r.known, text, r.lines.At); next >= 0 {
			next, value, answer = r.rest(&l, text, next)
		}
		if next < 0 || l.end <= l.start {
			return
		}
		if value == edn.Nil {
			value = v.InternInt(l.value)
		}
		r.lines.At, r.lines.N = next, r.lines.N+1
		all.reserve(r)
		if processes {
			all.process = append(all.process, v.InternInt(l.process))
			all.answered(answer)
		}
		all.start, all.end, all.method = append(all.start, l.start), append(all.end, l.end), append(all.method, l.method)
		all.value, all.line = append(all.value, value), append(all.line, int32(r.lines.N))
		all.empty = all.empty || l.value == empty
	}
}

// rest reads what follows the first value of a line of fptlin. value is Nil if the
// operation's value is only that integer.
func (r *textReader) rest(l *plainLine, text []byte, i int) (next int, value, answered edn.ID) {
	v, end := r.in.values, i
	second := scan.Past(text, i)
	var to int64
	if second >= 0 && second < len(text) && text[second] != '\n' {
		to, end = scan.ShortInt(text, second)
	}
	if end < 0 {
		return -1, edn.Nil, edn.Nil
	}
	if next = scan.LineEnd(text, end); next < 0 || l.end <= l.start {
		return -1, edn.Nil, edn.Nil
	}
	only, ok := end == i, true
	switch method := &r.methods[l.method]; {
	case method.f == ":cas" && !only:
		value = v.InternVector([]edn.ID{v.InternInt(l.value), v.InternInt(to)})
	case method.f == ":cas":
		return -1, edn.Nil, edn.Nil
	case r.isCounted(method):
		value, ok = answer(text[i-1 : i])
		ok = ok && only && text[i-2] <= ' '
	case !only:
		answered, ok = answer(text[second:end])
	}
	if !ok {
		return -1, edn.Nil, edn.Nil
	}
	return next, value, answered
}
