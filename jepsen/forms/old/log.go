package old

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"clew/edn"
	"clew/edn/opmap"
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

// maxLine bounds a line of the .log form.
const maxLine = 64 << 20

// logReader reads a history of that form, a line after the other.
type logReader struct {
	in     *input
	events int
	// message says that the last line was a logger's, or goes on with one.
	message bool
	passed  []byte // the beginning of the first line that was passed over, nil if none was
	at      edn.Pos
}

// log reads a history of that form.
func (in *input) log(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	// Unlike an op map, a line that was cut off may still be an event, but with
	// another value.
	cut := false
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		if n > 0 {
			cut = data[n-1] != '\n'
		}
		return n, line, err
	})
	l := logReader{in: in}
	pos := edn.Pos{File: in.file, Col: 1}
	for lines.Scan() {
		pos.Line++
		line := bytes.Clone(lines.Bytes())
		if err := l.line(line, pos); err != nil {
			return err
		}
		pos.Offset += int64(len(line)) + 1
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return in.at(pos.Line+1, 1).Errorf("line longer than 64 MB")
	} else if err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	if l.events == 0 && l.passed != nil {
		return l.at.Errorf("no line of the log is an operation; expected lines such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", clip(l.passed))
	}
	if cut {
		in.b.Warn("line %d: the last line does not end in a newline; if the file was cut off, its value may be too", pos.Line)
	}
	return nil
}

func (l *logReader) line(line []byte, pos edn.Pos) error {
	body := bytes.Trim(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), blanks)
	if len(body) == 0 || body[0] == ';' {
		return nil
	}
	text, logged := message(body)
	switch c := body[0]; {
	case startsLikeEvent(text):
	case looksLikeOperation(body):
		return l.in.at(pos.Line, 1).Errorf("the line looks like an operation; expected one such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", clip(body))
	case logged || l.message:
		l.message = true
		if l.passed == nil {
			l.passed, l.at = bytes.Clone(body), l.in.at(pos.Line, 1)
		}
		return nil
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return l.in.at(pos.Line, 1).Errorf("expected an op map, or a log line such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", clip(body))
	}
	l.message = logged
	// Columns count characters; text stands at the end of the line but for blanks.
	before := line[:len(bytes.TrimRight(line, blanks))-len(text)]
	pos.Col += utf8.RuneCount(before)
	pos.Offset += int64(len(before))
	return l.event(text, pos)
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
		return l.in.at(pos.Line, pos.Col).Errorf("expected PROCESS :TYPE :F VALUE, found %s", clip(text))
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
	}
	l.events++
	return l.in.take(&e)
}

// message is what a logger says in a line, without what it puts in front, and
// whether the line is a logger's at all. They are parted by ": ", or by " - ", and
// then the logger's name may follow.
func message(line []byte) (text []byte, logged bool) {
	c := line[0]
	stamped := isLevel(line) || timestamp.Match(line)
	if !stamped && (c < 'A' || c > 'Z' && c < 'a' || c > 'z') {
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
	if name := loggerName.Find(after); name != nil {
		after = bytes.TrimLeft(after[len(name):], blanks)
	}
	return after, true
}

var (
	timestamp  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T \t][0-9]{2}:`)
	loggerName = regexp.MustCompile(`^[A-Za-z][\w-]*(\.[\w-]+)+[ \t]`)
)

// blanks may stand around a line.
const blanks = " \t\r"

// maxFound bounds what a message shows of a line, in characters.
const maxFound = 60

// clip is the beginning of a text, for a message.
func clip(text []byte) string {
	if utf8.RuneCount(text) <= maxFound {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	return string([]rune(string(text))[:maxFound-1]) + "…"
}

// isLevel says whether a line begins with a logging level.
func isLevel(line []byte) bool {
	end := bytes.IndexAny(line, blanks)
	switch string(line[:max(end, 0)]) {
	case "INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL":
		return true
	}
	return false
}

// startsLikeEvent says whether a log message begins with a process and a
// keyword: other messages are not events.
func startsLikeEvent(text []byte) bool {
	fields := bytes.Fields(text)
	if len(fields) < 2 || fields[1][0] != ':' {
		return false
	}
	c := fields[0][0]
	return c == ':' || c == '-' || c >= '0' && c <= '9'
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
