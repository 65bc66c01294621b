package forms

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"clew/edn"
	"clew/edn/opmap"
	"clew/jepsen/forms/internal/scan"
)

// The .log form is what Jepsen prints while a test runs, one event a line, its
// fields parted by tabs or spaces, the value last. What stands behind the value,
// such as an error, is free text:
//
//	INFO  jepsen.util - 0	:invoke	:read	nil
//	INFO [2019-04-01 11:25:23,719] jepsen worker 8 - jepsen.util 8	:invoke	:write	1
//	2022-11-11 15:14:13,020{GMT}	INFO	[jepsen worker 12] jepsen.util: 12	:invoke	:write	[9 3]
//	8	:fail	:read	nil	Carmine connection error
//
// The last line is how history.txt has it. Messages of a logger that are no events
// ("INFO  jepsen.core - Run complete") are passed over, and so are the lines that
// such a message goes on with; but not one that looks like an operation, which is
// an event or an error.

// logReader reads a history of that form, a line after the other.
type logReader struct {
	in     *input
	lines  scan.Lines
	events int
	// message says that the last line was a logger's, or goes on with one.
	message bool
	passed  []byte // the beginning of the first line that was passed over, nil if none was
	at      edn.Pos

	keywords scan.Keywords
	e        opmap.Event
	items    []edn.ID

	before []byte // what stood before the last event that was read quickly; nil if none was
	logged bool   // and whether that was a logger's
	col    int    // where the event began
}

// log reads a history of that form.
func (in *input) log(r io.Reader) error {
	l := logReader{in: in, lines: scan.Lines{Blocks: scan.Blocks{In: r, Eager: in.eager}}, keywords: scan.Keywords{V: in.values}}
	pos := edn.Pos{File: in.file, Col: 1}
	for {
		if err := l.quickLines(); err != nil {
			return err
		}
		pos.Line, pos.Offset = l.lines.N, l.lines.Offset+int64(l.lines.At)
		line, err := l.lines.Next()
		if err == io.EOF {
			break
		} else if err == scan.ErrTooLong {
			return in.at(pos.Line+1, 1).Errorf("%v", err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", in.file, err)
		}
		pos.Line++
		if err := l.line(line, pos); err != nil {
			return err
		}
	}
	if l.events == 0 && l.passed != nil {
		return l.at.Errorf("no line of the log is an operation; expected lines such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", scan.Clip(l.passed))
	}
	// Unlike an op map, a line that was cut off may still be an event, but with
	// another value.
	if l.lines.Cut {
		in.b.Warn("line %d: the last line does not end in a newline; if the file was cut off, its value may be too", pos.Line)
	}
	return nil
}

func (l *logReader) line(line []byte, pos edn.Pos) error {
	body, _ := scan.Trim(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(body) == 0 || body[0] == ';' {
		return nil
	}
	text, logged := message(body)
	switch c := body[0]; {
	case startsLikeEvent(text):
	case looksLikeOperation(body):
		return l.in.at(pos.Line, 1).Errorf("the line looks like an operation; expected one such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", scan.Clip(body))
	case logged || l.message:
		l.message = true
		if l.passed == nil {
			l.passed, l.at = bytes.Clone(body), l.in.at(pos.Line, 1)
		}
		return nil
	case isLetter(c):
		return l.in.at(pos.Line, 1).Errorf("expected an op map, or a log line such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s%s", scan.Clip(body), noTable(body))
	}
	l.message = logged
	// Columns count characters; text stands at the end of the line but for blanks.
	trimmed, left := scan.Trim(line)
	before := line[:left+len(trimmed)-len(text)]
	pos.Col += utf8.RuneCount(before)
	pos.Offset += int64(len(before))
	if e := &l.e; l.quick(text) {
		l.before, l.logged, l.col = append(append(l.before[:0], before...), 0)[:len(before)], logged, pos.Col // never nil
		e.Line, e.Col, e.End = pos.Line, pos.Col, l.lines.Offset+int64(l.lines.At)
		l.events++
		return l.in.take(e)
	}
	return l.event(text, pos)
}

// quickLines reads lines as long as each has the same before its event as the last one
// that was read quickly, and an event that can be read quickly. What stands before it
// ends where the process begins, so it means the same whatever follows.
func (l *logReader) quickLines() error {
	for l.before != nil {
		text, begin := l.lines.Data, l.lines.At
		i := begin + len(l.before)
		if i > len(text) || string(text[begin:i]) != string(l.before) {
			return nil
		}
		process, i := printedInt(text, i)
		typ, i := word(text, i)
		f, i := word(text, i)
		if i = past(text, i); i < 0 || len(typ) < 2 || typ[0] != ':' || len(f) < 2 || f[0] != ':' {
			return nil
		}
		n, end := printedInt(text, i)
		isInt, next := end >= 0, -1
		if isInt {
			next = lineEnd(text, end)
		}
		if next < 0 {
			line := bytes.IndexByte(text[i:], '\n')
			if line < 0 {
				return nil
			}
			end, next, isInt = i+line, i+line+1, false
			if value, _ := scan.Trim(text[i:end]); l.isSimple(value) {
				end = i + len(value)
			} else {
				return nil
			}
		}
		e := &l.e
		*e = opmap.Event{Process: l.in.values.InternInt(process), Has: opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue}
		var ok bool
		if e.Type, ok = l.keywords.Named(typ[1:]); !ok {
			return nil
		}
		if e.F, ok = l.keywords.Named(f[1:]); !ok {
			return nil
		}
		if isInt {
			e.Value = l.in.values.InternInt(n)
		} else {
			e.Value = l.value(text[i:end])
		}
		l.lines.N, l.lines.At = l.lines.N+1, next
		l.message = l.logged
		l.events++
		e.Line, e.Col, e.End = l.lines.N, l.col, l.lines.Offset+int64(next)
		if err := l.in.take(e); err != nil {
			return err
		}
	}
	return nil
}

// quick reads an event of nothing but a short integer, two keywords and a simple
// value, as most are.
func (l *logReader) quick(text []byte) bool {
	process, rest := scan.Word(text)
	typ, rest := scan.Word(rest)
	f, value := scan.Word(rest)
	n, ok := integerAsPrinted(process)
	if !ok || len(typ) == 0 || typ[0] != ':' || len(f) == 0 || f[0] != ':' || !l.isSimple(value) {
		return false
	}
	e := &l.e
	*e = opmap.Event{Process: l.in.values.InternInt(n), Has: opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue}
	if e.Type, ok = l.keywords.Named(typ[1:]); ok {
		e.F, ok = l.keywords.Named(f[1:])
	}
	if ok {
		e.Value = l.value(value)
	}
	return ok
}

// integerAsPrinted reads an integer of at most 18 digits.
func integerAsPrinted(text []byte) (n int64, ok bool) {
	if n, ok = scan.Int(text); ok && len(text) > 1 {
		ok = text[0] != '0' && (text[0] != '-' || text[1] != '0')
	}
	return n, ok
}

// isSimple says whether a value is nil, a boolean, a short integer, or a vector of such
// with single blanks between them.
func (l *logReader) isSimple(text []byte) bool {
	if n := len(text); n > 1 && text[0] == '[' && text[n-1] == ']' {
		for items, more := text[1:n-1], n > 2; more; {
			var item []byte
			if item, items, more = bytes.Cut(items, []byte{' '}); !isScalar(item) {
				return false
			}
		}
		return true
	}
	return isScalar(text)
}

func isScalar(text []byte) bool {
	switch string(text) {
	case "nil", "true", "false":
		return true
	}
	_, ok := integerAsPrinted(text)
	return ok
}

// value is a simple value.
func (l *logReader) value(text []byte) edn.ID {
	switch text[0] {
	case 'n':
		return edn.Nil
	case 't':
		return edn.True
	case 'f':
		return edn.False
	case '[':
		l.items = l.items[:0]
		for items, more := text[1:len(text)-1], len(text) > 2; more; {
			var item []byte
			item, items, more = bytes.Cut(items, []byte{' '})
			l.items = append(l.items, l.value(item))
		}
		return l.in.values.InternVector(l.items)
	}
	n, _ := scan.Int(text)
	return l.in.values.InternInt(n)
}

// event takes an event: PROCESS :TYPE :F VALUE, and free text.
func (l *logReader) event(text []byte, pos edn.Pos) error {
	v := l.in.values
	fields, read, err := v.ParseFirst(text, pos, 4)
	if err == nil && read < len(text) && strings.IndexByte(blanks, text[read]) < 0 {
		_, err = v.ParseAll(text, pos) // something is glued to the value
	}
	if err != nil {
		return err
	}
	if len(fields) < 3 {
		return l.in.at(pos.Line, pos.Col).Errorf("expected PROCESS :TYPE :F VALUE, found %s%s", scan.Clip(text), noTable(text))
	}
	e := opmap.Event{Process: fields[0], Type: fields[1], F: fields[2],
		Has: opmap.HasProcess | opmap.HasType | opmap.HasF, Line: pos.Line, Col: pos.Col}
	if len(fields) > 3 {
		e.Value, e.Has = fields[3], e.Has|opmap.HasValue
	}
	if rest := bytes.TrimLeft(text[read:], blanks); len(rest) > 0 {
		failure, err := v.Parse(rest, pos)
		if err != nil { // it is no EDN
			failure = v.InternString(strings.ToValidUTF8(string(rest), "\ufffd"))
		}
		e.Text = v.AppendMap(nil, []edn.ID{v.InternKeyword("process"), e.Process, v.InternKeyword("type"), e.Type,
			v.InternKeyword("f"), e.F, v.InternKeyword("value"), e.Value, v.InternKeyword("error"), failure})
	} else if !isCommon(v, e.Process) || v.Same(e.F) != e.F {
		kvs := []edn.ID{v.InternKeyword("process"), e.Process, v.InternKeyword("type"), e.Type, v.InternKeyword("f"), e.F}
		if e.Has&opmap.HasValue != 0 {
			kvs = append(kvs, v.InternKeyword("value"), e.Value)
		}
		e.Text = v.AppendMap(nil, kvs)
	}
	l.events++
	return l.in.take(&e)
}

// isCommon says whether a history prints a process as it is spelled here, even if only
// its class is known: 7, not 007 or 7N.
func isCommon(v *edn.Values, process edn.ID) bool {
	if n, isInt := v.Int(process); isInt {
		return v.InternInt(n) == process
	}
	return v.Same(process) == process
}

// message is what a logger says in a line, without what it puts in front, and
// whether the line is a logger's at all. They are parted by ": ", or by " - ", and
// then the logger's name may follow.
func message(line []byte) (text []byte, logged bool) {
	c := line[0]
	stamped := isLevel(line) || isTimestamp(line)
	if !stamped && !isLetter(c) {
		return line, false
	}
	dash, colon := bytes.Index(line, []byte(" - ")), bytes.Index(line, []byte(": "))
	switch {
	case stamped && colon >= 0 && (dash < 0 || colon < dash):
		return bytes.TrimLeft(line[colon+2:], blanks), true
	case dash < 0:
		return line, stamped
	}
	after := line[dash+3:]
	if n := loggerName(after); n > 0 {
		after = bytes.TrimLeft(after[n:], blanks)
	}
	return after, true
}

// isTimestamp says whether a line begins with a day and an hour.
func isTimestamp(line []byte) bool {
	const pattern = "0000-00-00T00:"
	if len(line) < len(pattern) {
		return false
	}
	for i, c := range line[:len(pattern)] {
		switch p := pattern[i]; {
		case p == '0':
			if c < '0' || c > '9' {
				return false
			}
		case p == 'T':
			if c != 'T' && c != ' ' && c != '\t' {
				return false
			}
		case p != c:
			return false
		}
	}
	return true
}

// loggerName is the length of the name of a logger with which a text begins, and of
// the blank after it, 0 if there is none: words with points between them.
func loggerName(text []byte) int {
	if len(text) == 0 || !isLetter(text[0]) {
		return 0
	}
	points, word := 0, 0
	for i, c := range text {
		switch {
		case isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-':
			word++
		case word == 0:
			return 0
		case c == '.':
			points, word = points+1, 0
		case points > 0 && (c == ' ' || c == '\t'):
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// blanks may stand around a line.
const blanks = " \t\r"

// isLevel says whether a line begins with a logging level.
func isLevel(line []byte) bool {
	level, _ := scan.Word(line)
	if len(level) == len(line) {
		return false
	}
	switch string(level) {
	case "INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL":
		return true
	}
	return false
}

// startsLikeEvent says whether a log message begins with a process and a
// keyword: other messages are not events.
func startsLikeEvent(text []byte) bool {
	first, rest := field(text)
	second, _ := field(rest)
	if len(second) == 0 || second[0] != ':' {
		return false
	}
	c := first[0]
	return c == ':' || c == '-' || c >= '0' && c <= '9'
}

// noTable says of a line that looks like one of a table that no such form is read.
func noTable(line []byte) string {
	if bytes.ContainsAny(line, "{:") || bytes.Count(line, []byte(",")) < 2 && bytes.Count(line, []byte("\t")) < 2 {
		return ""
	}
	return "; clew reads no CSV: interval records in JSON lines are as easily written (docs/own-system.md)"
}

// field is the first field of a text, as bytes.Fields has it, and the rest.
func field(text []byte) (first, rest []byte) {
	isSpace := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	begin := 0
	for begin < len(text) && isSpace(text[begin]) {
		begin++
	}
	end := begin
	for end < len(text) && !isSpace(text[end]) && text[end] < utf8.RuneSelf {
		end++
	}
	if end == len(text) || text[end] < utf8.RuneSelf {
		return text[begin:end], text[end:]
	}
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	if end := bytes.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, nil
}

// looksLikeOperation says whether the type of an event stands between blanks.
func looksLikeOperation(line []byte) bool {
	fields := bytes.Fields(line)
	for i := 1; i < len(fields)-1; i++ {
		switch string(fields[i]) {
		case ":invoke", ":ok", ":fail", ":info":
			return true
		}
	}
	return false
}
