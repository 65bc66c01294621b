package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"clew/edn"
	"clew/edn/opmap"
)

// Form is a text form of histories.
type Form string

// The forms. FormJSON is one array of ops and FormJSONL an op a line; what reads
// one reads the other.
const (
	FormEDN     Form = "edn"
	FormJSONL   Form = "jsonl"
	FormJSON    Form = "json"
	FormLog     Form = "log"
	FormFastlin Form = "fastlin"
	FormFptlin  Form = "fptlin"
	FormLiMo    Form = "limo"
)

// Forms are all forms.
var Forms = []Form{FormEDN, FormJSONL, FormJSON, FormLog, FormFastlin, FormFptlin, FormLiMo}

// FormNames lists the forms, for messages.
func FormNames() string {
	var names []string
	for _, f := range Forms {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// FormOf is the form of that name.
func FormOf(name string) (Form, error) {
	if !slices.Contains(Forms, Form(name)) {
		return "", fmt.Errorf("expected one of %s, not %q", FormNames(), name)
	}
	return Form(name), nil
}

var (
	limoEvent   = regexp.MustCompile(`^\[[0-9]+\][ \t]*(call|return)\b`)
	fptlinLine  = regexp.MustCompile(`^[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Za-z]`)
	fastlinLine = regexp.MustCompile(`^[A-Za-z]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*(\n|$)`)
)

// detect tells a history's form by its beginning. What is none of the others is
// EDN, whose reader says what is wrong with it.
func detect(head []byte) Form {
	text := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n\v\f,\x1c\x1d\x1e\x1f")
	if len(text) == 0 {
		return FormEDN
	}
	switch c := text[0]; {
	case c == '{' && isJSONObject(text):
		return FormJSON
	case c == '[' && isJSONObject(bytes.TrimLeft(text[1:], " \t\r\n")):
		return FormJSON
	case c == '[' && limoEvent.Match(text):
		return FormLiMo
	case c == '#' && len(text) > 1 && strings.IndexByte(" \t\r\n@", text[1]) >= 0:
		return detectText(text)
	case fptlinLine.Match(text):
		return FormFptlin
	case fastlinLine.Match(text):
		return FormFastlin
	case c == ':' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return FormLog
	}
	return FormEDN
}

// isJSONObject says whether a text begins with a brace, a string and a colon. In
// EDN the colon would begin a keyword, but ops have no strings for keys.
func isJSONObject(text []byte) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	end := literal(text, 0)
	rest := bytes.TrimLeft(text[min(end, len(text)):], " \t\r\n")
	return len(rest) == 0 || rest[0] == ':'
}

// detectText tells apart the forms whose comments begin with #, by the heading
// and the first line that is no comment.
func detectText(text []byte) Form {
	headed := false
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(line)
		switch {
		case len(rest) == 0:
		case rest[0] == '#':
			headed = headed || heading(string(rest)) != ""
		case limoEvent.Match(rest) || headed && rest[0] == '[':
			return FormLiMo
		case fptlinLine.Match(rest) || headed && rest[0] >= '0' && rest[0] <= '9':
			return FormFptlin
		case fastlinLine.Match(rest) || headed:
			return FormFastlin
		default:
			return FormEDN
		}
	}
	if headed {
		return FormFastlin
	}
	return FormEDN
}

// readEvents reads the events of a history, compressed or not, in a form, or in
// the one that its content tells if form is "". Each is given to take, and valid
// until take returns.
func (b *builder) readEvents(r io.Reader, form Form, take func(*opmap.Event) error) error {
	buffered := bufio.NewReaderSize(r, 1<<16)
	in, err := decompress(buffered)
	if err != nil {
		return fmt.Errorf("%s: %w", b.h.File, err)
	}
	defer in.Close()
	if _, packed := in.(compressed); packed {
		buffered = bufio.NewReaderSize(in, 1<<16)
	}
	if what := foreign(buffered); what != "" {
		return &Error{b.h.File, 1, 1, "expected EDN or log lines, found " + what}
	}
	if form == "" {
		head, err := buffered.Peek(buffered.Size())
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", b.h.File, err)
		}
		form = detect(head)
	}
	switch form {
	case FormJSON, FormJSONL:
		return b.readTranslated(newJSONReader(buffered, b.h.File).next, take)
	case FormFastlin, FormFptlin, FormLiMo:
		return b.readTranslated(newTextReader(buffered, form, b.h).next, take)
	case FormLog:
		return readLog(buffered, b, take)
	}
	b.bytes = size(r, in)
	return readEDN(buffered, b, take)
}

// translation is the text of another form as EDN, an op map a line: the EDN
// reader remains the only one that makes events. It holds the places of the ops
// that the reader has not returned yet, a block's worth at most.
type translation struct {
	next   func() (op []byte, at place, err error) // io.EOF at the end
	line   []byte                                  // the last op, with its newline
	rest   []byte                                  // what of it has not been read
	places []place
	first  int // the line of places[0]
	err    error
}

// place is where an op stands in its own text.
type place struct{ line, col int }

// Read gives out the translation.
func (t *translation) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(t.rest) == 0 {
			var op []byte
			var at place
			if t.err == nil {
				op, at, t.err = t.next()
			}
			if t.err != nil {
				break
			}
			t.places = append(t.places, at)
			t.line = append(append(t.line[:0], op...), '\n')
			t.rest = t.line
		}
		k := copy(p[n:], t.rest)
		n, t.rest = n+k, t.rest[k:]
	}
	if n == 0 {
		return 0, t.err
	}
	return n, nil
}

// at is the place of the op on a line of the translation. Lines must not descend.
func (t *translation) at(line int) place {
	t.places, t.first = t.places[line-t.first:], line
	return t.places[0]
}

func (b *builder) readTranslated(next func() ([]byte, place, error), take func(*opmap.Event) error) error {
	t := &translation{next: next, first: 1}
	reader := opmap.NewReader(t, b.h.File, b.h.Values)
	var e opmap.Event
	for {
		err := reader.Next(&e)
		if err == io.EOF {
			return nil
		}
		var own *Error
		if errors.As(err, &own) {
			return own
		}
		var syntax *edn.Error
		if errors.As(err, &syntax) {
			at := t.at(syntax.Line)
			return &Error{b.h.File, at.line, at.col, syntax.Msg}
		}
		if err != nil {
			return err
		}
		at := t.at(e.Line)
		e.Line, e.Col = at.line, at.col
		if err := take(&e); err != nil {
			return err
		}
	}
}

// scratch is a table of values that are needed for a moment only.
type scratch struct {
	v     *edn.Values
	names map[string]bool
}

// values is the table. It is replaced by a new one before it grows large, so an
// ID is good until the next call only.
func (s *scratch) values() *edn.Values {
	const large = 1 << 15
	if s.v == nil || s.v.Len() > large {
		s.v = edn.NewValues()
	}
	return s.v
}

// isName says whether a text is the name of a keyword.
func (s *scratch) isName(text []byte) bool {
	const large = 1 << 12
	is, known := s.names[string(text)]
	if known {
		return is
	}
	if s.names == nil || len(s.names) > large {
		s.names = map[string]bool{}
	}
	v := s.values()
	id, err := v.Parse(append([]byte{':'}, text...), edn.Pos{})
	is = err == nil && v.Kind(id) == edn.KindKeyword && v.Str(id) == string(text)
	s.names[string(text)] = is
	return is
}
