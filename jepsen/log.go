package jepsen

import (
	"bufio"
	"bytes"
	"io"

	"clew/edn"
)

// The .log form is what Jepsen prints while a test runs, one event a line, its
// fields parted by tabs or spaces, the value and an optional :error last:
//
//	INFO  jepsen.util - 0	:invoke	:read	nil
//	0	:invoke	:read	nil
//
// The second line is how history.txt has it. Lines of a logger that are no
// events ("INFO  jepsen.core - Run complete") are passed over.

// maxLine bounds a line of the .log form.
const maxLine = 64 << 20

func readLog(r io.Reader, b *builder) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	pos := edn.Pos{File: b.h.File, Col: 1}
	for lines.Scan() {
		pos.Line++
		line := bytes.Clone(lines.Bytes())
		if err := logLine(line, pos, b); err != nil {
			return err
		}
		pos.Offset += int64(len(line)) + 1
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return &Error{b.h.File, pos.Line + 1, 1, "line longer than 64 MB"}
	} else if err != nil {
		return err
	}
	return nil
}

// separator stands between a log line's logger and its message.
var separator = []byte(" - ")

func logLine(line []byte, pos edn.Pos, b *builder) error {
	body := bytes.TrimRight(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), " \t\r")
	if len(bytes.TrimSpace(body)) == 0 || body[0] == ';' {
		return nil
	}
	text, logged := body, false
	if c := body[0]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		_, after, found := bytes.Cut(body, separator)
		if !found {
			if isLevel(body) {
				return nil
			}
			return &Error{pos.File, pos.Line, 1, "expected an op map, or a log line such as \"INFO  jepsen.util - 0 :invoke :read nil\""}
		}
		text, logged = after, true
	}
	if logged && !startsLikeEvent(text) {
		return nil
	}
	pos.Col += len(body) - len(text)
	pos.Offset += int64(len(body) - len(text))
	fields, err := b.h.Values.ParseAll(text, pos)
	if err != nil {
		return err
	}
	if len(fields) < 3 || len(fields) > 5 {
		return &Error{pos.File, pos.Line, pos.Col, "expected PROCESS :TYPE :F VALUE, found " + string(text)}
	}
	e := edn.Event{Process: fields[0], Type: fields[1], F: fields[2],
		Has: edn.HasProcess | edn.HasType | edn.HasF, Line: pos.Line, Col: pos.Col}
	if len(fields) > 3 {
		e.Value, e.Has = fields[3], e.Has|edn.HasValue
	}
	return b.add(&e)
}

// isLevel says whether a line begins with a logging level.
func isLevel(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
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
