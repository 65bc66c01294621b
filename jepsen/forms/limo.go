package forms

import (
	"bytes"
	"io"
	"regexp"

	"clew/edn"
	"clew/jepsen/forms/internal/scan"
)

// limoCall is a call that has not returned.
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

// limo reads LiMo, event by event.
func (r *textReader) limo() error {
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

// laterEvent matches an event within a line.
var laterEvent = regexp.MustCompile(anEvent)

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
	if bytes.IndexByte(rest, '[') >= 0 && laterEvent.Match(rest) {
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
		return r.in.take(e)
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
	return r.in.take(e)
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
