package forms

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"clew/edn/opmap"

	"clew/edn"
)

// The .log form is what Jepsen prints while a test runs, one event a line, with
// its fields separated by tabs or spaces, the value and an optional :error
// last:
//
//	INFO  jepsen.util - 0	:invoke	:read	nil
//	0	:invoke	:read	nil
//
// The second line is in the form of history.txt. Lines of a logger that are not
// events ("INFO  jepsen.core - Run complete") are passed over.

// maxLine bounds a line of the .log form.
const maxLine = 64 << 20

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
	pos := edn.Pos{File: in.file, Col: 1}
	for lines.Scan() {
		pos.Line++
		line := bytes.Clone(lines.Bytes())
		if err := in.logLine(line, pos); err != nil {
			return err
		}
		pos.Offset += int64(len(line)) + 1
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return in.at(pos.Line+1, 1).Errorf("line longer than 64 MB")
	} else if err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	if cut {
		in.b.Warn("line %d: the last line does not end in a newline; if the file was cut off, its value may be too", pos.Line)
	}
	return nil
}

// separator stands between a log line's logger and its message.
var separator = []byte(" - ")

func (in *input) logLine(line []byte, pos edn.Pos) error {
	body := bytes.Trim(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), blanks)
	if len(body) == 0 || body[0] == ';' {
		return nil
	}
	text, logged := body, false
	if c := body[0]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		_, after, found := bytes.Cut(body, separator)
		if !found {
			if isLevel(body) {
				return nil
			}
			return in.at(pos.Line, 1).Errorf("expected an op map, or a log line such as \"INFO  jepsen.util - 0 :invoke :read nil\", found %s", clip(body))
		}
		text, logged = after, true
	}
	if logged && !startsLikeEvent(text) {
		return nil
	}
	// Columns count characters; text stands at the end of the line, except for
	// blanks.
	before := line[:len(bytes.TrimRight(line, blanks))-len(text)]
	pos.Col += utf8.RuneCount(before)
	pos.Offset += int64(len(before))
	fields, err := in.values.ParseAll(text, pos)
	if err != nil {
		return err
	}
	if len(fields) < 3 || len(fields) > 5 {
		return in.at(pos.Line, pos.Col).Errorf("expected PROCESS :TYPE :F VALUE, found %s", clip(text))
	}
	e := opmap.Event{Process: fields[0], Type: fields[1], F: fields[2],
		Has: opmap.HasProcess | opmap.HasType | opmap.HasF, Line: pos.Line, Col: pos.Col}
	if len(fields) > 3 {
		e.Value, e.Has = fields[3], e.Has|opmap.HasValue
	}
	if len(fields) > 4 {
		v := in.values
		e.Text = v.AppendMap(nil, []edn.ID{v.InternKeyword("process"), e.Process, v.InternKeyword("type"), e.Type,
			v.InternKeyword("f"), e.F, v.InternKeyword("value"), e.Value, v.InternKeyword("error"), fields[4]})
	}
	return in.take(&e)
}

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
