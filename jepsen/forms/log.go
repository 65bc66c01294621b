package forms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/files"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/forms/internal/scan"
	"clew/jepsen/internal/feed"
)

// Log is what Jepsen prints while a test runs: one event per line, in fields separated
// by tabs or spaces. The value is last, and anything after it, such as an error, is free text:
//
//	INFO  jepsen.util - 0	:invoke	:read	nil
//	INFO [2019-04-01 11:25:23,719] jepsen worker 8 - jepsen.util 8	:invoke	:write	1
//	2022-11-11 15:14:13,020{GMT}	INFO	[jepsen worker 12] jepsen.util: 12	:invoke	:write	[9 3]
//	8	:fail	:read	nil	Carmine connection error
//
// The last line has the form of history.txt. The others have a level or a time in front. If
// the first line of a log has one, only such lines can be events. Test maps, results and
// stack traces have continuation lines without one. A value that is incomplete on its line
// continues on the lines up to the next event. Other lines are skipped, and a warning counts
// those that look like an event. A line that seems to be a damaged event is an error.
const Log Form = "log"

var logForm = form{name: Log, read: readLog, write: writing{event: (*converter).log}, detect: func(b beginning) bool {
	c := b.text[0]
	return c == ':' || c == '-' || c == '\x1b' || c >= '0' && c <= '9' || isLetter(c)
}}

type logReader struct {
	in     *input
	lines  scan.Lines
	events int
	begun  bool // there was a line that is neither blank nor a comment
	// stamped says that events have a level or a time in front, because the first line has.
	stamped bool
	// goesOn says that lines which are not events may belong to the line before. That
	// line comes from a logger, or has free text.
	goesOn    bool
	valueless int    // :ok events of clients that have no value
	open      []byte // an event whose value is still incomplete, or nil
	openAt    edn.Pos
	skipped   []byte // the beginning of the first logger's line that is not an event, or nil
	at        edn.Pos
	logger    string // the logger of the last event, "" for jepsen.util
	alike     int    // lines that look like events but do not count
	alikeAt   int    // the line of the first of them
	indented  bool   // the line begins with a blank
	nested    int    // how many brackets the skipped lines up to nestedAt left open
	nestedAt  int

	keywords scan.Keywords
	e        opmap.Event
	items    []edn.ID

	before []before // what may come before an event that is read quickly; the last one to be found is the first
	padded []byte   // an event, and enough behind it to read several bytes at once
}

// before is what comes before an event.
type before struct {
	scan.Prefix
	logger string // that printed it, unless it is that of events
	logged bool   // whether a logger printed it
	col    int    // where the event begins
}

// mostBefore is how many texts may come before an event: times are equally long, but not the numbers of workers.
const mostBefore = 4

func readLog(in *input, text source) error {
	in.to.Expect(files.Size(text.file))
	l := logReader{in: in, lines: scan.Lines{Blocks: blocks.Blocks{In: text, Eager: in.eager}}, keywords: scan.Keywords{V: in.values}}
	if in.from != nil {
		l.lines.N, l.begun, l.stamped, l.goesOn = in.from.Line-1, true, in.from.Stamped, true
	}
	in.mark = func(at *Place) { at.Stamped = l.stamped }
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
	return l.end()
}

// end reports what concerns the log as a whole.
func (l *logReader) end() error {
	if err := l.close(); err != nil {
		return err
	}
	if l.events == 0 && l.skipped != nil {
		hint := ""
		if l.alike > 0 {
			hint = fmt.Sprintf("; line %d looks like one, but lacks the level or time that the first line begins with", l.alikeAt)
		}
		return l.at.Errorf("no line of the log is an operation; expected lines such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s%s", scan.Clip(l.skipped), hint)
	}
	if l.alike == 1 {
		l.in.to.Warn("line %d looks like an event, but is not one: it lacks the level or time that events begin with, or is part of another message", l.alikeAt)
	} else if l.alike > 1 {
		l.in.to.Warn("%d lines look like events, but are not: they lack the level or time that events begin with, or are parts of other messages; the first is line %d", l.alike, l.alikeAt)
	}
	l.in.lastLine(&l.lines)
	return nil
}

// lastLine warns of a last line that may have been cut off. Unlike an op map, such
// a line may still be an event, but with another value.
func (in *input) lastLine(lines *scan.Lines) {
	if lines.Cut {
		in.to.Warn("line %d: the last line does not end in a newline; if the file was cut off, its value may be too", lines.N)
	}
}

func (l *logReader) line(raw []byte, pos edn.Pos) error {
	line := withoutColors(raw)
	body, blank := scan.Trim(bytes.TrimPrefix(line, []byte("\ufeff")))
	l.indented = blank > 0
	m := messageIn(body)
	isEvent := (m.stamped || !l.stamped) && len(m.text) > 0 && m.isEvent()
	if l.open != nil {
		if !m.stamped && !isEvent && len(l.open)+len(line) < scan.MaxLine {
			l.open = append(append(l.open, '\n'), line...)
			return nil
		}
		if err := l.close(); err != nil {
			return err
		}
	}
	if len(body) == 0 {
		return nil
	}
	first := !l.begun
	if first && body[0] != ';' {
		l.begun, l.stamped = true, m.stamped
	}
	switch {
	case isEvent:
	case m.stamped || m.logged && !l.stamped:
		return l.message(m, pos)
	case l.stamped || body[0] == ';':
		return l.unstamped(body, pos)
	case lostItsProcess(body):
		return l.damaged(body, pos)
	case seemsEvent(body):
	case l.goesOn && !first:
		l.skip(body, pos)
		return nil
	case looksLikeEvent(body):
		return l.damaged(body, pos)
	case isLetter(body[0]):
		return l.in.at(pos.Line, 1).Errorf("expected an op map, or a log line such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s%s", scan.Clip(body), noTable(body))
	}
	// Columns count characters. The text is at the end of the line, except for blanks.
	trimmed, left := scan.Trim(line)
	before := line[:left+len(trimmed)-len(m.text)]
	pos.Col += utf8.RuneCount(before)
	pos.Offset += int64(len(before))
	if l.goesOn = m.logged || line[len(line)-1] == '\t'; m.logged && string(m.logger) != eventLogger && string(m.logger) != l.logger {
		l.logger = string(m.logger)
	}
	l.padded = append(append(l.padded[:0], m.text...), "\n                        "...)
	if e := &l.e; l.plain(l.padded, 0) >= 0 {
		if len(line) == len(raw) {
			l.cameAfter(before, &m, pos.Col)
		}
		e.Line, e.Col, e.End = pos.Line, pos.Col, l.lines.Offset+int64(l.lines.At)
		l.events++
		return l.in.to.Add(e, feed.ByProcess)
	}
	err := l.event(m.text, pos)
	if errors.Is(err, edn.ErrUnfinished) {
		l.open, l.openAt = append(make([]byte, 0, 2*len(m.text)), m.text...), pos
		return nil
	}
	return err
}

// close takes the event whose value is still incomplete.
func (l *logReader) close() error {
	if l.open == nil {
		return nil
	}
	text := l.open
	l.open = nil
	return l.event(text, l.openAt)
}

// message skips a logger's message, unless it seems to be a damaged event.
func (l *logReader) message(m message, pos edn.Pos) error {
	l.goesOn = true
	if l.skipped == nil {
		l.skipped, l.at = bytes.Clone(m.line), l.in.at(pos.Line, 1)
	}
	if l.ofEvents(&m) && (looksLikeEvent(m.line) || seemsEvent(m.text)) || string(m.logger) == eventLogger && isInteger(m.text) { // cut off behind its process
		return l.damaged(m.line, pos)
	}
	l.skip(m.line, pos)
	return nil
}

// ofEvents says whether a message may come from a logger that prints events.
// Either its name is known to be that of such a logger, or the name is uncertain
// because, for example, Jepsen's stands in another place.
func (l *logReader) ofEvents(m *message) bool {
	name := string(m.logger)
	return name == eventLogger || name == "" || name == l.logger || bytes.Contains(m.line, []byte(eventLogger))
}

// unstamped skips a comment, or a line without a level or time in a log whose
// events have one. It does not skip a line that seems to be a damaged event.
func (l *logReader) unstamped(line []byte, pos edn.Pos) error {
	if line[0] == ';' && !l.stamped {
		if text, _ := scan.Trim(line[1:]); seemsEvent(text) && text[0] == ':' {
			return l.damaged(line, pos) // the process has become a semicolon
		}
		return nil
	}
	if looksLikeEvent(line) && bytes.Contains(line, []byte(eventLogger)) || lostItsProcess(line) {
		return l.damaged(line, pos)
	}
	l.skip(line, pos)
	return nil
}

// skip counts a line that is not an event but looks like one. An op map looks like one, unless it is
// indented in a value that the lines before began, such as printed results.
func (l *logReader) skip(line []byte, pos edn.Pos) {
	if pos.Line != l.nestedAt+1 {
		l.nested = 0
	}
	l.nestedAt = pos.Line
	switch {
	case (l.nested == 0 || !l.indented) && beginsOpMap(line):
		l.count(pos)
	case len(line) > 1: // a bracket alone on its line may hold a history; values are not printed like that
		l.nested = max(0, l.nested+opened(line))
		l.note(line, pos)
	}
}

// note counts a text that is not an event but looks like one.
func (l *logReader) note(text []byte, pos edn.Pos) {
	if looksLikeEvent(text) || hasOpMap(text) {
		l.count(pos)
	}
}

func (l *logReader) count(pos edn.Pos) {
	if l.alike++; l.alike == 1 {
		l.alikeAt = pos.Line
	}
}

func (l *logReader) damaged(line []byte, pos edn.Pos) error {
	return l.in.at(pos.Line, 1).Errorf("the line looks like an operation; expected one such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", scan.Clip(line))
}

// cameAfter notes what came before an event. A time and the number of a worker may be others in the next line: digits do not
// say what a line is if its logger is that of events, whose name has none.
func (l *logReader) cameAfter(text []byte, m *message, col int) {
	b := before{logged: m.logged, col: col}
	isOfEvents := string(m.logger) == eventLogger
	if m.logged && !isOfEvents {
		b.logger = string(m.logger)
	}
	b.Prefix = scan.NewPrefix(text, isOfEvents)
	if slices.ContainsFunc(l.before, func(other before) bool { return other.Equal(b.Prefix) }) {
		return
	}
	if len(l.before) == mostBefore {
		l.before = l.before[:mostBefore-1]
	}
	l.before = slices.Insert(l.before, 0, b)
}

// quickLines reads lines as long as what comes before their events is known. The event itself must also be one that can be read
// quickly. The text before an event ends where the process begins, so its meaning does not depend on what follows.
func (l *logReader) quickLines() error {
	for l.open == nil {
		text, i, k := l.lines.Data, -1, 0
		for ; k < len(l.before) && i < 0; k++ {
			i = l.before[k].At(text, l.lines.At)
		}
		if i < 0 {
			return nil
		}
		next := l.plain(text, i)
		if next < 0 {
			return nil
		}
		if k--; k > 0 {
			l.before[0], l.before[k] = l.before[k], l.before[0]
		}
		e, b := &l.e, &l.before[0]
		if b.logger != "" {
			if !isName([]byte(l.in.values.Text(e.F))) {
				return nil // isEvent asks for such a name
			}
			l.logger = b.logger
		}
		l.lines.N, l.lines.At = l.lines.N+1, next
		l.goesOn = b.logged || text[next-2] == '\t'
		l.events++
		e.Line, e.Col, e.End = l.lines.N, b.col, l.lines.Offset+int64(next)
		if err := l.in.to.Add(e, feed.ByProcess); err != nil {
			return err
		}
	}
	return nil
}

// plain reads the event at i if it consists only of a short integer, two keywords and a
// simple value, as most do. It returns where the next line begins, or else -1.
func (l *logReader) plain(text []byte, i int) (next int) {
	process, i := scan.PrintedInt(text, i)
	typ, i := scan.WordAt(text, i)
	f, i := scan.WordAt(text, i)
	if i = scan.Past(text, i); i < 0 || len(f) < 2 || f[0] != ':' || !isType(typ) {
		return -1
	}
	n, end := scan.PrintedInt(text, i)
	isInt := end >= 0
	if next = -1; isInt {
		next = scan.LineEnd(text, end)
	}
	if next < 0 {
		line := bytes.IndexByte(text[i:], '\n')
		if line < 0 {
			return -1
		}
		next, isInt = i+line+1, false
		value, _ := scan.Trim(text[i : i+line])
		if !l.isSimple(value) {
			return -1
		}
		end = i + len(value)
	}
	e, ok := &l.e, false
	*e = opmap.Event{Process: l.in.values.InternInt(process), Has: opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue}
	if e.Type, ok = l.keywords.Named(typ[1:]); !ok {
		return -1
	}
	if e.F, ok = l.keywords.Named(f[1:]); !ok {
		return -1
	}
	if isInt {
		e.Value = l.in.values.InternInt(n)
	} else {
		e.Value = l.value(text[i:end])
	}
	return next
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
	_, ok := scan.Int(text)
	return ok && (len(text) == 1 || text[0] != '0' && (text[0] != '-' || text[1] != '0'))
}

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
	if err == nil && read < len(text) && strings.IndexByte(blanks+"\n", text[read]) < 0 {
		_, err = v.ParseAll(text, pos) // something follows the value without a blank
	}
	if err != nil {
		return err
	}
	if len(fields) < 3 {
		return l.in.at(pos.Line, pos.Col).Errorf("expected PROCESS :TYPE :F VALUE, found %s%s", scan.Clip(text), noTable(text))
	}
	e := opmap.Event{Process: fields[0], Type: fields[1], F: fields[2],
		Has: opmap.HasProcess | opmap.HasType | opmap.HasF, Line: pos.Line, Col: pos.Col}
	switch {
	case len(fields) > 3:
		e.Value, e.Has = fields[3], e.Has|opmap.HasValue
	case v.Kind(e.Process) == edn.KindInt && v.Text(e.Type) == ":ok":
		if l.valueless++; l.valueless == 1 {
			l.in.to.Warn("line %d: %s has no value, not even nil; nil is assumed, so a value that was cut off is lost", pos.Line, scan.Clip(bytes.TrimSpace(text)))
		}
	}
	if rest := bytes.TrimLeft(text[read:], blanks+"\n"); len(rest) > 0 {
		if l.goesOn = true; looksLikeEvent(rest) && bytes.Contains(rest, []byte(eventLogger)) {
			return l.in.at(pos.Line, pos.Col).Errorf("expected a line for each event, found another event after the value of this one: %s", scan.Clip(rest))
		}
		l.note(rest, pos)
		failure, err := v.Parse(rest, pos)
		if err != nil { // it is not EDN
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
	return l.in.to.Add(&e, feed.ByProcess)
}

// isCommon says whether a history prints a process with its present spelling, even
// if only its class is known: 7, but not 007 or 7N.
func isCommon(v *edn.Values, process edn.ID) bool {
	if n, isInt := v.Int(process); isInt {
		return v.InternInt(n) == process
	}
	return v.Same(process) == process
}

// log writes an event as a line of a log. It reads the line again first, since
// only the values of its fields separate them.
func (c *converter) log(e *opmap.Event, _ int32) error {
	if c.plainOp(e) {
		var is bool
		if c.line, is = c.plainLog(c.line[:0]); is {
			return c.put(c.line)
		}
	}
	if err := c.drop(e, ":process", ":type", ":f", ":value", ":error"); err != nil {
		return err
	}
	v := c.table
	switch k := v.Kind(e.Process); {
	case k != edn.KindInt && k != edn.KindKeyword:
		return c.refuse(e, "a process is an integer or a keyword there")
	case !isType([]byte(v.Text(e.Type))):
		return c.refuse(e, "a type is :invoke, :ok, :fail or :info there")
	}
	fields := []string{v.Text(e.Process), v.Text(e.Type), v.Text(e.F)}
	failure, hasFailure, err := c.failure(e)
	if err != nil {
		return err
	}
	if hasFailure || e.Has&opmap.HasValue != 0 {
		fields = append(fields, v.Text(e.Value))
	}
	if hasFailure {
		fields = append(fields, failure)
	}
	m := messageIn([]byte("INFO  jepsen.util - " + strings.Join(fields, "\t")))
	scratch := c.scratch.Values()
	ids, err := scratch.ParseAll(m.text, edn.Pos{})
	same := err == nil && len(ids) == len(fields) && m.isEvent()
	for i := 0; same && i < len(ids); i++ {
		same = scratch.Text(ids[i]) == fields[i]
	}
	if !same {
		return c.refuse(e, "it has a value that is not EDN")
	}
	return c.put(m.line)
}

// failure returns the :error of an op.
func (c *converter) failure(e *opmap.Event) (text string, ok bool, err error) {
	v, kvs, err := c.op(e)
	for i := 0; err == nil && i < len(kvs); i += 2 {
		if jsonops.IsKeyword(v, kvs[i], "error") {
			return v.Text(kvs[i+1]), true, nil
		}
	}
	return "", false, err
}
