package edn

import (
	"bytes"
	"cmp"
	"strconv"
	"unicode/utf8"
)

// scanner finds forms in a text that may be the start of a longer one. Its methods take
// the index where they begin and return the index after what they read, or -1. After
// -1, either more is set because the form goes on after the end of the text, or err is.
type scanner struct {
	data  []byte
	final bool  // nothing follows data
	more  bool  // the last call ran into the end of data
	err   error // the last call found a syntax error

	v     *Values
	open  []int // the brackets that enclose what is being read
	tags  int   // how many tags enclose it; they nest like brackets
	items []ID  // the items of the collections being read
	buf   []byte

	lenient  bool  // keep forms that are not values, as text
	illegal  bool  // err is about such a form, and brackets match up to there
	forgiven error // what was wrong with the first of them

	start Pos // of data[0]; its line and column hold for data[mark] instead
	mark  int
}

// onto goes on to another text, or to another part of the same one, with the mark at an index. Only here does data change. What
// counts from the beginning of data, such as the places of open brackets, means nothing in what follows, and is cleared.
func (s *scanner) onto(data []byte, mark int) {
	s.begin()
	s.data, s.mark = data, mark
}

// begin clears what an unfinished reading has left behind.
func (s *scanner) begin() {
	s.more = false
	s.open = s.open[:0]
	s.items = s.items[:0]
	s.tags = 0
	if s.err != nil {
		s.err, s.illegal = nil, false
	}
}

const (
	blankByte   = 1 << iota // white space, which includes the comma
	delimByte               // ends a token
	numericByte             // a digit
	plainByte               // begins a token that is a whole form
)

var bytesOf = func() (t [256]uint8) {
	for _, c := range "\t\n\v\f\r\x1c\x1d\x1e\x1f ," {
		t[c] |= blankByte | delimByte
	}
	for _, c := range "\"\\;()[]{}" {
		t[c] |= delimByte
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= numericByte | plainByte
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= plainByte
	}
	t[':'] |= plainByte
	t['-'] |= plainByte
	return t
}()

// advance moves the mark to i. Lines and columns count from the mark.
func (s *scanner) advance(i int) {
	if i > s.mark {
		s.start.Line, s.start.Col = s.lineCol(i)
		s.mark = i
	}
}

// pos returns the place of data[i], which must not lie before the mark.
func (s *scanner) pos(i int) Pos {
	p := s.start
	p.Line, p.Col = s.lineCol(i)
	p.Offset += int64(i)
	return p
}

func (s *scanner) lineCol(i int) (line, col int) {
	text := s.data[s.mark:i]
	last := bytes.LastIndexByte(text, '\n')
	if last < 0 {
		return s.start.Line, s.start.Col + utf8.RuneCount(text)
	}
	return s.start.Line + bytes.Count(text, newline), 1 + utf8.RuneCount(text[last+1:])
}

var newline = []byte{'\n'}

func (s *scanner) fail(i int, msg string) int {
	s.err = &Error{Pos: s.pos(i), Msg: msg + s.nul(i)}
	return -1
}

// nul says where there is a NUL byte between the innermost open bracket and the end of the token at i. It belongs to a
// token, and does not show.
func (s *scanner) nul(i int) string {
	from := i
	if len(s.open) > 0 {
		from = s.open[len(s.open)-1]
	}
	at := from + bytes.IndexByte(s.data[from:s.end(i)], 0)
	if at < from || at == i {
		return ""
	}
	return "; there is a NUL byte at " + s.pos(at).lineCol()
}

// end returns where the token at i ends, even if more data may follow.
func (s *scanner) end(i int) int {
	for i < len(s.data) && bytesOf[s.data[i]]&delimByte == 0 {
		i++
	}
	return i
}

// unfinished reports that a form needs bytes after the end of data.
func (s *scanner) unfinished(expected string) int {
	if !s.final {
		s.more = true
		return -1
	}
	return s.failAtEnd("expected " + s.closing(expected) + ", found end of input")
}

// failAtEnd fails at the end of data, for a form that goes on there.
func (s *scanner) failAtEnd(msg string) int {
	s.err = &Error{Pos: s.pos(len(s.data)), Msg: msg, Err: ErrUnfinished}
	return -1
}

// closing names what is missing: the bracket that closes the innermost open
// one, or else what the caller expects.
func (s *scanner) closing(expected string) string {
	if len(s.open) == 0 {
		return expected
	}
	at := s.open[len(s.open)-1]
	return closes(s.data[at], s.pos(at))
}

func closes(bracket byte, at Pos) string {
	return string(closer(bracket)) + " to close " + string(bracket) + " opened at " + at.lineCol()
}

func closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

func isCloser(c byte) bool { return c == ')' || c == ']' || c == '}' }

func (s *scanner) push(i int) bool {
	if s.tooDeep(i) {
		return false
	}
	s.open = append(s.open, i)
	return true
}

func (s *scanner) tooDeep(i int) bool {
	if len(s.open)+s.tags < MaxDepth {
		return false
	}
	s.fail(i, nestedTooDeep)
	return true
}

var nestedTooDeep = "expected at most " + strconv.Itoa(MaxDepth) + " levels of nesting, found more"

// pop checks that the bracket at i closes the innermost open one.
func (s *scanner) pop(i int) bool {
	last := len(s.open) - 1
	if closer(s.data[s.open[last]]) != s.data[i] {
		s.fail(i, "expected "+s.closing("")+", found "+string(s.data[i]))
		return false
	}
	s.open = s.open[:last]
	return true
}

// blank skips white space and comments. It never fails. It stops at a
// comment whose end is not in data.
func (s *scanner) blank(i int) int {
	for i < len(s.data) {
		c := s.data[i]
		if bytesOf[c]&blankByte != 0 {
			i++
			continue
		}
		if c != ';' {
			return i
		}
		end := bytes.IndexAny(s.data[i:], "\n\r")
		if end < 0 && s.final {
			return len(s.data)
		}
		if end < 0 {
			return i
		}
		i += end
	}
	return i
}

// atEnd reports whether blank stopped because data ends.
func (s *scanner) atEnd(i int) bool { return i >= len(s.data) || s.data[i] == ';' }

// next skips white space, comments and discarded forms up to the next form.
func (s *scanner) next(i int, expected string) int {
	for i < len(s.data) && bytesOf[s.data[i]]&blankByte != 0 {
		i++ // Nearly always there is nothing else to skip.
	}
	if i < len(s.data) && s.data[i] != ';' && s.data[i] != '#' {
		return i
	}
	for {
		i = s.blank(i)
		if s.atEnd(i) {
			return s.unfinished(expected)
		}
		if s.data[i] != '#' {
			return i
		}
		if i+1 == len(s.data) && !s.final {
			return s.unfinished(expected)
		}
		if i+1 == len(s.data) || s.data[i+1] != '_' {
			return i
		}
		if i = s.skip(i+2, "a value after #_"); i < 0 {
			return -1
		}
	}
}

// token returns the end of the token around i.
func (s *scanner) token(i int) int {
	data := s.data
	for i < len(data) && bytesOf[data[i]]&delimByte == 0 {
		i++
	}
	if i == len(data) && !s.final {
		s.more = true
		return -1
	}
	return i
}

// char returns the end of the character whose backslash is at i. Whatever
// follows the backslash belongs to the character, even a bracket.
func (s *scanner) char(i int) int {
	if i+1 >= len(s.data) {
		return s.unfinished("a character after \\")
	}
	return s.token(i + 2)
}

// quoted returns the end of the string or regex whose opening quote is at
// i, and whether it contains escapes.
func (s *scanner) quoted(i int) (end int, escapes bool) {
	data := s.data
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '"':
			return j + 1, escapes
		case '\\':
			escapes = true
			j++
		}
	}
	if !s.final {
		s.more = true
		return -1, false
	}
	return s.failAtEnd("expected \" to close the string opened at " + s.pos(i).lineCol() + ", found end of input"), false
}

// angle returns the end of #<Foo bar>, as old versions of Clojure printed
// objects. The < is at i. It returns 0 if the form does not end on its line.
func (s *scanner) angle(i int) int {
	depth := 0
	for j := i; j < len(s.data); j++ {
		switch s.data[j] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return j + 1
			}
		case '\n', '\r':
			return 0
		}
	}
	if !s.final {
		s.more = true
		return -1
	}
	return 0
}

// skip skips one form and the discards before it, whatever it holds, as
// long as brackets match and strings end. It does not recurse.
func (s *scanner) skip(i int, expected string) int {
	if i < len(s.data) && bytesOf[s.data[i]]&plainByte != 0 {
		return s.token(i)
	}
	outer := len(s.open)
	for need := 1; need > 0; {
		if i = s.blank(i); s.atEnd(i) {
			return s.unfinished(expected)
		}
		inside := len(s.open) > outer
		c := s.data[i]
		end, whole := i, true
		switch {
		case c == '(' || c == '[' || c == '{':
			if !s.push(i) {
				return -1
			}
			i++
			continue
		case isCloser(c) && !inside:
			return s.fail(i, "expected "+expected+", found "+string(c))
		case isCloser(c):
			if !s.pop(i) {
				return -1
			}
			end = i + 1
		case c == '"':
			end, _ = s.quoted(i)
		case c == '\\':
			end = s.char(i)
		default:
			var forms int
			end, forms = s.skipToken(i)
			whole = false
			if !inside {
				if need += forms; need > MaxDepth {
					return s.fail(i, nestedTooDeep)
				}
			}
		}
		if end < 0 {
			return -1
		}
		if i = end; whole && len(s.open) == outer {
			need--
		}
	}
	return i
}

// skipToken skips a token or a prefix such as #tag. The second result is
// how many more forms it needs: -1 for a token that is a form.
func (s *scanner) skipToken(i int) (end, forms int) {
	switch s.data[i] {
	case '#':
		return s.skipDispatch(i)
	case '^':
		return i + 1, 1
	case '\'', '@', '`', '~':
		return i + 1, 0
	}
	return s.token(i), -1
}

func (s *scanner) skipDispatch(i int) (end, forms int) {
	if i+1 == len(s.data) {
		return s.unfinished("a tag after #"), 0
	}
	switch s.data[i+1] {
	case '_', '^':
		return i + 2, 1
	case '"':
		end, _ := s.quoted(i + 1)
		return end, -1
	case '#':
		return s.token(i), -1
	case '\'':
		return i + 2, 0
	case '<':
		if end := s.angle(i + 1); end != 0 {
			return end, -1
		}
	}
	return s.token(i + 1), 0
}

// found describes what begins at i, for a message.
func (s *scanner) found(i int) string {
	c := s.data[i]
	if what := beginnings[c]; what != "" {
		return what
	}
	switch {
	case isCloser(c), c == '#' && i+1 == len(s.data):
		return string(c)
	case c == '#':
		return cmp.Or(dispatches[s.data[i+1]], "a tagged value")
	}
	switch text := s.data[i:s.end(i)]; {
	case c == 0:
		return "a NUL byte"
	case startsNumber(text):
		return "a number"
	case string(text) == "nil" || string(text) == "true" || string(text) == "false":
		return string(text)
	}
	return "a symbol"
}

// beginnings and dispatches name what a byte begins, alone and after #.
var (
	beginnings = map[byte]string{'(': "a list", '[': "a vector", '{': "a map", '"': "a string", '\\': "a character", ':': "a keyword"}
	dispatches = map[byte]string{'{': "a set", '"': "a regex", '#': "a number", ':': "a map with a namespace", '\'': "a symbol", '<': "an object"}
)

// clip shortens a token for a message.
func clip(token []byte) string {
	if len(token) <= maxClip {
		return string(token)
	}
	return string(token[:maxClip]) + ".."
}
