package forms

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"clew/jepsen/forms/internal/scan"
)

// message holds the content of a line of a log.
type message struct {
	line []byte
	text []byte // without what a logger puts in front
	// stamped says that the line begins with a level or a time. logged says that it
	// seems to come from a logger: it is stamped, or has a form such as "main - text".
	stamped, logged bool
	logger          []byte // its name, if there is one
}

// eventLogger is the logger that prints a test's events.
const eventLogger = "jepsen.util"

// messageIn returns the content of a line. The logger's part ends with ": ", or with " - ";
// in the latter case the logger's name may follow. A whole number in brackets is a time.
func messageIn(line []byte) message {
	m := message{line: line, text: line}
	if len(line) == 0 {
		return m
	}
	m.stamped = isLevel(line) || isTimestamp(line)
	if m.logged = m.stamped; !m.stamped && !isLetter(line[0]) {
		return m
	}
	dash, colon := bytes.Index(line, []byte(" - ")), bytes.Index(line, []byte(": "))
	switch {
	case m.stamped && colon >= 0 && (dash < 0 || colon < dash):
		m.logger, m.text = lastWord(line[:colon]), bytes.TrimLeft(line[colon+2:], blanks)
	case dash >= 0:
		m.logged, m.logger, m.text = true, lastWord(line[:dash]), line[dash+3:]
		if n := loggerName(m.text); n > 0 {
			m.logger, m.text = m.text[:n-1], bytes.TrimLeft(m.text[n:], blanks)
		}
	}
	m.text = behindTime(m.text)
	return m
}

// behindTime returns a text without a time of the form [ 1350999542 ] in front.
func behindTime(text []byte) []byte {
	if len(text) == 0 || text[0] != '[' {
		return text
	}
	number, rest, ok := bytes.Cut(text[1:], []byte("]"))
	if !ok || !isInteger(number) {
		return text
	}
	return bytes.TrimLeft(rest, blanks)
}

func lastWord(text []byte) []byte { return text[bytes.LastIndexAny(text, blanks)+1:] }

// isEvent says whether the message is an event: a process, and then its type.
// There are other reasons for a keyword in front of a type, or for a number in the
// messages of other loggers. In these cases no :f follows.
func (m *message) isEvent() bool {
	first, rest := field(m.text)
	second, rest := field(rest)
	if !isType(second) {
		return false
	}
	switch c := first[0]; {
	case c == '-' || c >= '0' && c <= '9':
		if !m.stamped || string(m.logger) == eventLogger {
			return true
		}
	case c != ':':
		return false
	}
	third, _ := field(rest)
	return isName(third)
}

// seemsEvent says whether a text begins like an event that may have been damaged. It
// begins with an integer before a tab or a keyword, or with anything before a type.
func seemsEvent(text []byte) bool {
	first, rest := field(text)
	second, afterwards := field(rest)
	third, _ := field(afterwards)
	if isType(first) && isName(second) || isType(second) && isName(third) {
		return true
	}
	digits := bytes.TrimLeft(bytes.TrimPrefix(text, []byte{'-'}), "0123456789")
	if len(digits) == len(text) || len(digits) == 0 {
		return false
	}
	behind := bytes.TrimLeft(digits, blanks+",")
	return digits[0] == '\t' || len(behind) < len(digits) && len(behind) > 0 && behind[0] == ':' ||
		len(second) > 0 && digits[0] == ' ' && isName(third)
}

// isInteger says whether a text is a short integer, and blanks.
func isInteger(text []byte) bool {
	text, _ = scan.Trim(text)
	_, isInt := scan.Int(text)
	return isInt
}

// lostItsProcess says whether a text is an event from its type on, with tabs between its fields as Jepsen prints them.
func lostItsProcess(text []byte) bool {
	typ, rest := field(text)
	f, _ := field(rest)
	return isType(typ) && isName(f) && rest[0] == '\t'
}

// looksLikeEvent says whether there is an event somewhere in a text. The process
// and the type of the event may have become one word.
func looksLikeEvent(text []byte) bool {
	if bytes.IndexByte(text, ':') < 0 {
		return false
	}
	process, rest := field(text)
	typ, rest := field(rest)
	for len(typ) > 0 {
		f, more := field(rest)
		switch {
		case isType(typ) && endsInDigit(process) && isName(f), endsInType(process) && isName(typ):
			return true
		}
		process, typ, rest = typ, f, more
	}
	return false
}

// hasOpMap reports whether the logger of events printed an op map, which is not how it prints events. Knossos's reporter
// prints op maps, too.
func hasOpMap(text []byte) bool {
	_, message, ok := bytes.Cut(text, []byte(eventLogger))
	return ok && bytes.Contains(message, []byte("{:")) && bytes.Contains(message, []byte(":process ")) && bytes.Contains(message, []byte(":type :")) && bytes.HasSuffix(message, []byte("}"))
}

// beginsOpMap reports whether a line begins with the op map of a client, in EDN or JSON, perhaps the first in a vector
// or list. If the map goes on in the next line, its process, its index or its type suffices.
func beginsOpMap(line []byte) bool {
	if len(line) == 0 || strings.IndexByte("{[(#,", line[0]) < 0 {
		return false
	}
	text := bytes.TrimLeft(line, "[(, \t")
	brace := bytes.IndexByte(text, '{')
	if brace < 0 || brace > 0 && text[0] != '#' {
		return false
	}
	text = text[brace:]
	hasProcess, hasType, isInfo, hasIndex := false, false, false, false
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			i++
			continue
		case c == '"':
			inString = !inString
		case inString:
			continue
		}
		if !inString {
			depth += nesting(c)
		}
		switch {
		case depth == 0:
			return hasProcess && hasType
		case depth > 1 || c != ':' && c != '"':
		default:
			switch key, value := keyAndValue(text[i+1:]); string(key) {
			case "process":
				hasProcess = hasProcess || len(value) > 0 && !slices.Contains([]string{"nemesis", "nil", "null"}, string(value))
			case "index":
				hasIndex = true
			case "type":
				hasType = hasType || isType(append([]byte{':'}, value...))
				isInfo = isInfo || string(value) == "info"
			}
		}
	}
	return hasProcess || hasIndex || hasType && !isInfo
}

// keyAndValue returns the first two words of a text, which may have quotes or colons around them.
func keyAndValue(text []byte) (key, value []byte) {
	word := func() (word []byte) {
		end := bytes.IndexAny(text, "\": ,\t{}[]()")
		if end < 0 {
			end = len(text)
		}
		word, text = text[:end], bytes.TrimLeft(text[end:], "\": ,\t")
		return word
	}
	key = word()
	return key, word()
}

// nesting returns 1 if a bracket opens, -1 if one closes, and otherwise 0.
func nesting(c byte) int {
	switch c {
	case '{', '[', '(':
		return 1
	case '}', ']', ')':
		return -1
	}
	return 0
}

// opened returns how many more brackets a text opens than it closes.
func opened(text []byte) (n int) {
	for _, c := range text {
		n += nesting(c)
	}
	return n
}

func isType(word []byte) bool {
	switch string(word) {
	case ":invoke", ":ok", ":fail", ":info":
		return true
	}
	return false
}

// endsInType says whether a word begins with a digit and ends with a type.
func endsInType(word []byte) bool {
	colon := bytes.LastIndexByte(word, ':')
	return colon > 0 && word[0] >= '0' && word[0] <= '9' && isType(word[colon:])
}

func endsInDigit(word []byte) bool {
	return len(word) > 0 && word[len(word)-1] >= '0' && word[len(word)-1] <= '9'
}

// isName says whether a word is a keyword that may be an :f.
func isName(word []byte) bool {
	return len(word) > 1 && word[0] == ':' && !bytes.ContainsAny(word[1:], "(){}[],;:\"")
}

// withoutColors returns a line without the sequences that color it on a terminal:
// ESC, [, parameters and a letter.
func withoutColors(line []byte) []byte {
	if bytes.IndexByte(line, '\x1b') < 0 {
		return line
	}
	var plain []byte
	for len(line) > 0 {
		n := 0
		if bytes.HasPrefix(line, []byte("\x1b[")) {
			for n = 2; n < len(line) && line[n] >= 0x20 && line[n] < 0x40; n++ {
			}
			n = min(n+1, len(line))
		}
		if n == 0 {
			plain = append(plain, line[0])
			n = 1
		}
		line = line[n:]
	}
	return plain
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

// loggerName returns the length of a logger's name that begins a text, together
// with the blank after it. It returns 0 if there is none. A logger's name consists
// of words with points between them.
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

// blanks may surround a line.
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

// noTable says that clew does not read tables, if a line looks like one of a table.
func noTable(line []byte) string {
	if bytes.ContainsAny(line, "{:") || bytes.Count(line, []byte(",")) < 2 && bytes.Count(line, []byte("\t")) < 2 {
		return ""
	}
	return "; clew does not read CSV: interval records in JSON lines are as easy to write, {\"process\": 0, \"f\": \"write\", \"value\": 1, \"call\": 0, \"return\": 2} (docs/own-system.md)"
}

// field returns the first field of a text, as separated by bytes.Fields, and the rest.
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
