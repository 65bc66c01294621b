package forms

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms/internal/scan"
	"clew/jepsen/internal/feed"
)

// LiMo has calls and returns in order. objects.go describes it.
const LiMo Form = "limo"

var limoForm = form{name: LiMo, read: readLiMo, write: writing{(*converter).objectEvent, writeObject(&limo)}, detect: func(b beginning) bool {
	line, headed := firstLine(b.text)
	return begins(line, '[', '[') && (headed || limoLine().Match(line))
}}

var limo = dialect{function: limoFunction, others: []string{"# @object register"}, objects: "queues and stacks", noPeek: true, empty: "empty", isWord: isWord, write: (*converter).calls,
	heading: func(o object) string {
		if o.limo == "" {
			return ""
		}
		return "# @object " + o.limo
	}}

type limoCall struct {
	value        edn.ID
	method, line int32
	isOpen       bool
}

// limoCalls holds the open calls by thread. The dense part is for threads numbered
// from 0 or 1; there are few others.
type limoCalls struct {
	dense  []limoCall
	sparse map[int64]*limoCall
}

// of returns the open call of a thread. lines says how many lines there have been.
func (c *limoCalls) of(thread int64, lines int) *limoCall {
	if thread < int64(4*lines+256) {
		for thread >= int64(len(c.dense)) {
			c.dense = append(c.dense, limoCall{})
		}
		if old := c.sparse[thread]; old != nil {
			c.dense[thread] = *old
			delete(c.sparse, thread)
		}
		return &c.dense[thread]
	}
	if c.sparse == nil {
		c.sparse = map[int64]*limoCall{}
	}
	if c.sparse[thread] == nil {
		c.sparse[thread] = new(limoCall)
	}
	return c.sparse[thread]
}

// readLiMo reads event by event.
func readLiMo(in *input, text source) error {
	r := newTextReader(in, &limo, text)
	in.to.Expect(r.length)
	var calls limoCalls
	for {
		if err := r.quickCalls(&calls); err != nil {
			return err
		}
		if err := r.more(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := r.limoEvent(&calls); err != nil {
			return err
		}
	}
}

const anEvent = `\[[0-9]+\][ \t]*(call|return)\b`

var (
	limoLine   = text.Pattern("^" + anEvent)
	laterEvent = text.Pattern(anEvent) // within a line
)

func (r *textReader) limoEvent(calls *limoCalls) error {
	number, rest, _ := bytes.Cut(bytes.TrimPrefix(r.line, []byte("[")), []byte("]"))
	thread, ok := integer(number)
	if !ok || r.line[0] != '[' || thread < 0 {
		return r.fail("expected [THREAD] call METHOD(VALUE) or [THREAD] return VALUE, found %s", scan.Clip(r.line))
	}
	if at := bytes.IndexByte(rest, '#'); at >= 0 {
		if at > 0 && rest[at-1] != ')' && !scan.IsBlank(rest[at-1]) {
			return r.fail("expected a blank before #, which begins a comment, found %s", scan.Clip(r.line))
		}
		r.comment(rest[at:])
		rest = rest[:at]
	}
	if bytes.IndexByte(rest, '[') >= 0 && laterEvent().Match(rest) {
		return r.fail("expected one event on a line, found %s", scan.Clip(r.line))
	}
	verb, rest, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	rest = bytes.TrimSpace(rest)
	call := calls.of(thread, r.lines.N)
	switch {
	case string(verb) == "call" && call.isOpen:
		return r.fail("thread %d calls while its call on line %d has not returned", thread, call.line)
	case string(verb) == "call":
		return r.limoCall(thread, call, rest)
	case string(verb) == "return" && call.isOpen:
		call.isOpen = false
		e := r.event(r.in.values.InternInt(thread), call.method, true, int32(r.lines.N), int32(r.col))
		if e.Value = call.value; len(rest) > 0 {
			e.Value = r.limoValue(rest)
		}
		return r.in.to.Add(e, feed.ByProcess)
	case string(verb) == "return":
		return r.fail("thread %d returns, but has not called", thread)
	}
	return r.fail("expected call or return, found %s", scan.Clip(verb))
}

// limoCall reads the method and the value of a call.
func (r *textReader) limoCall(thread int64, call *limoCall, text []byte) error {
	cut := bytes.IndexAny(text, "( ")
	if cut < 0 {
		cut = len(text)
	}
	m := r.method(text[:cut])
	if m < 0 {
		return r.fail("expected a method such as push(1) after call, found %s", scan.Clip(text))
	}
	*call = limoCall{method: m, line: int32(r.lines.N), isOpen: true}
	e := r.event(r.in.values.InternInt(thread), m, false, int32(r.lines.N), int32(r.col))
	call.value = r.limoValue(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimLeft(text[cut:], "( "), []byte(")"))))
	if r.methods[m].adds {
		e.Value = call.value
	}
	return r.in.to.Add(e, feed.ByProcess)
}

// limoValue returns a value: an integer, nil, or else a string.
func (r *textReader) limoValue(s []byte) edn.ID {
	if len(s) == 0 || string(s) == "empty" || string(s) == "Empty" {
		return edn.Nil
	}
	if n, ok := integer(s); ok {
		return r.in.values.InternInt(n)
	}
	return r.in.values.InternStringBytes(s)
}

// containers are the :f's of a container's methods by their names in LiMo's
// generated histories, and in those of violin, where the form comes from.
var containers = map[string][2]string{"queue": {":enqueue", ":dequeue"}, "stack": {":push", ":pop"}}

// limoFunction returns the :f of a method. A container's methods may have other names than in the other forms.
func limoFunction(object, method string) string {
	if fs, known := containers[object]; known {
		switch method {
		case "add", "put":
			return fs[0]
		case "remove", "rem", "rmv", "get":
			return fs[1]
		}
	}
	return function(object, method)
}

// isWord says whether LiMo's form has a text for a value that is not an integer.
func isWord(s string) bool {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil || s == "" || s == "empty" || s == "Empty" {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("()#\ufeff", c) })
}

// calls writes the events of a history as LiMo's calls and returns.
func (c *converter) calls(h *jepsen.History) error {
	ended := map[int32]jepsen.Event{} // the crashed operations, by process
	for e, op := range h.OpOf {
		ev := jepsen.Event(e)
		process, err := c.process(h, ev)
		if err != nil {
			return err
		}
		method, err := c.method(h, h.Invocation[op])
		if err != nil {
			return err
		}
		if h.Status[op] == jepsen.Failed {
			return c.refuseOp(h, h.Completion[op], "it has no operations that failed")
		}
		value, _, err := c.value(h, op, method)
		isCall := ev == h.Invocation[op]
		crashed := h.Status[op] == jepsen.Crashed
		if before, dead := ended[h.Process[ev]]; isCall && dead {
			return c.refuseOp(h, ev, "a process whose operation has crashed (%s) cannot begin another there", h.Where(before))
		}
		switch {
		case crashed && !isCall:
			continue
		case err != nil:
			return err
		case crashed && !adds(function("", method)) && value != c.dialect.empty:
			return c.refuseOp(h, ev, "a crashed call has no value there, and this one has %s", value)
		case crashed:
			ended[h.Process[ev]] = ev
		}
		switch {
		case isCall && adds(function("", method)):
			c.put(fmt.Appendf(nil, "[%d] call %s(%s)", process, method, value))
		case isCall:
			c.put(fmt.Appendf(nil, "[%d] call %s()", process, method))
		case adds(function("", method)):
			c.put(fmt.Appendf(nil, "[%d] return", process))
		default:
			c.put(fmt.Appendf(nil, "[%d] return %s", process, value))
		}
	}
	return nil
}

// quickCalls reads lines of LiMo as long as they are plain.
func (r *textReader) quickCalls(calls *limoCalls) error {
	for text := r.lines.Data; ; {
		begin := r.lines.At
		if begin+32 > len(text) || text[begin] != '[' {
			return nil
		}
		thread, i := scan.ShortInt(text, begin+1)
		if i < 0 || thread < 0 || text[i] != ']' || text[i+1] != ' ' {
			return nil
		}
		call := calls.of(thread, r.lines.N+1)
		var e *opmap.Event
		switch verb := binary.LittleEndian.Uint64(text[i:]) >> 16; {
		case verb&(1<<40-1) == callWord && !call.isOpen:
			e = r.plainCall(thread, call, text, i+7)
		case verb == returnWord && call.isOpen:
			e = r.plainReturn(thread, call, text, i+8)
		}
		if e == nil {
			return nil
		}
		if err := r.in.to.Add(e, feed.ByProcess); err != nil {
			return err
		}
	}
}

const (
	callWord   = 'c' | 'a'<<8 | 'l'<<16 | 'l'<<24 | ' '<<32
	returnWord = 'r' | 'e'<<8 | 't'<<16 | 'u'<<24 | 'r'<<32 | 'n'<<40
	emptyWord  = 'e' | 'm'<<8 | 'p'<<16 | 't'<<24 | 'y'<<32
)

// plainCall reads METHOD(VALUE) or METHOD() at i, and goes to the next line. It
// returns nil if there is anything else.
func (r *textReader) plainCall(thread int64, call *limoCall, text []byte, i int) *opmap.Event {
	method, i := r.known.At(text, i)
	if i < 0 || i+1 >= len(text) || text[i] != '(' {
		return nil
	}
	begin, n := i+1, int64(0)
	if i = begin; text[i] != ')' {
		if n, i = scan.ShortInt(text, i); i < 0 || text[i] != ')' {
			return nil
		}
	}
	next := scan.LineEnd(text, i+1)
	if next < 0 {
		return nil
	}
	r.lines.N, r.lines.At = r.lines.N+1, next
	*call = limoCall{method: method, line: int32(r.lines.N), isOpen: true}
	e := r.event(r.in.values.InternInt(thread), method, false, call.line, 1)
	if i > begin {
		call.value = r.in.values.InternInt(n)
	}
	if r.methods[method].adds {
		e.Value = call.value
	}
	return e
}

// plainReturn reads the value that is returned, or none, and goes to the next
// line. It returns nil if there is anything else.
func (r *textReader) plainReturn(thread int64, call *limoCall, text []byte, i int) *opmap.Event {
	var n int64
	begin, isEmpty := i, false
	if at := scan.Past(text, i); at >= 0 && at+8 <= len(text) && text[i] == ' ' && text[at] != '\n' {
		if isEmpty = binary.LittleEndian.Uint64(text[at:])&(1<<40-1) == emptyWord; isEmpty {
			i = at + len("empty")
		} else if n, i = scan.ShortInt(text, at); i < 0 {
			return nil
		}
	}
	next := scan.LineEnd(text, i)
	if next < 0 {
		return nil
	}
	r.lines.N, r.lines.At = r.lines.N+1, next
	call.isOpen = false
	e := r.event(r.in.values.InternInt(thread), call.method, true, int32(r.lines.N), 1)
	switch {
	case i == begin:
		e.Value = call.value
	case !isEmpty:
		e.Value = r.in.values.InternInt(n)
	}
	return e
}
