package edn

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a text that holds exactly one form. Places in errors count from at.
func (v *Values) Parse(text []byte, at Pos) (ID, error) {
	return newScanner(v, text, at).only()
}

// ParseLenient does what Parse does, but keeps a form that is not a value,
// such as 1x3 or {:a}, as opaque text. Brackets must still match.
func (v *Values) ParseLenient(text []byte) (ID, error) {
	s := newScanner(v, text, Pos{})
	s.lenient = true
	return s.only()
}

// only reads the single form of a text.
func (s *scanner) only() (ID, error) {
	i := s.required(0, "a value")
	if i < 0 {
		return Nil, s.err
	}
	id, i := s.value(i)
	if i < 0 {
		return Nil, s.err
	}
	if i = s.rest(i); i < len(s.data) {
		s.fail(i, "expected end of input, found "+s.found(i))
	}
	if s.err != nil {
		return Nil, s.err
	}
	return id, nil
}

// ParseAll reads all forms of a text, such as those on a line of a log.
func (v *Values) ParseAll(text []byte, at Pos) ([]ID, error) {
	ids, _, err := v.ParseFirst(text, at, len(text))
	return ids, err
}

// ParseFirst reads at most n forms from the beginning of a text. It returns
// how many bytes they take as read; anything may follow the n-th form.
func (v *Values) ParseFirst(text []byte, at Pos, n int) (ids []ID, read int, err error) {
	s := newScanner(v, text, at)
	for i := 0; len(ids) < n; {
		if i = s.rest(i); s.err != nil {
			return nil, 0, s.err
		}
		if i == len(text) {
			return ids, i, nil
		}
		if isCloser(text[i]) {
			s.fail(i, "expected a value, found "+string(text[i]))
			return nil, 0, s.err
		}
		var id ID
		if id, i = s.value(i); i < 0 {
			return nil, 0, s.err
		}
		ids, read = append(ids, id), i
	}
	return ids, read, nil
}

func newScanner(v *Values, text []byte, at Pos) *scanner {
	at.Line, at.Col = max(at.Line, 1), max(at.Col, 1)
	return &scanner{data: text, final: true, v: v, start: at}
}

// rest skips white space, comments and discarded forms. It stops at the
// next form or at the end of a complete text.
func (s *scanner) rest(i int) int {
	for {
		i = s.blank(i)
		if i+1 >= len(s.data) || s.data[i] != '#' || s.data[i+1] != '_' {
			return i
		}
		if i = s.skip(i+2, "a value after #_"); i < 0 {
			return len(s.data)
		}
	}
}

// required does what next does, but treats a closing bracket as an error.
func (s *scanner) required(i int, expected string) int {
	i = s.next(i, expected)
	if i >= 0 && isCloser(s.data[i]) {
		return s.fail(i, "expected "+expected+", found "+string(s.data[i]))
	}
	return i
}

// value reads the form that begins at i.
func (s *scanner) value(i int) (ID, int) {
	if !s.lenient {
		return s.form(i)
	}
	open, tags, items := len(s.open), s.tags, len(s.items)
	id, end := s.form(i)
	if end >= 0 || !s.illegal {
		return id, end
	}
	err := s.err
	s.err, s.illegal = nil, false
	s.open, s.tags, s.items = s.open[:open], tags, s.items[:items]
	if end = s.skip(i, "a value"); end < 0 {
		if !s.more {
			s.err = err
		}
		return Nil, -1
	}
	if s.forgiven == nil {
		s.forgiven = err
	}
	return s.opaque(strings.Join(strings.Fields(string(s.data[i:end])), " ")), end
}

// noValue does what fail does, for a form that can be skipped although it is not a value.
func (s *scanner) noValue(i int, msg string) int {
	s.illegal = true
	return s.fail(i, msg)
}

// form reads the form at i, which must be a value.
func (s *scanner) form(i int) (ID, int) {
	switch s.data[i] {
	case ':':
		return s.keyword(i)
	case '"':
		return s.str(i)
	case '[':
		return s.collection(KindVector, i)
	case '(':
		return s.collection(KindList, i)
	case '{':
		return s.collection(KindMap, i)
	case '\\':
		return s.character(i)
	case '#', '^':
		if i = s.meta(i); i < 0 {
			return Nil, -1
		}
		if s.data[i] == '#' {
			return s.dispatch(i)
		}
		return s.value(i)
	}
	if n, end := s.quickInt(i); end > i {
		return s.v.InternInt(n), end
	}
	return s.number(i)
}

// shortInt reads the usual kind of number: up to 18 digits, with an optional minus. For
// everything else, and for a number that may go on after the end of data, it returns end 0.
func (s *scanner) shortInt(i int) (n int64, end int) {
	j := i
	if s.data[i] == '-' {
		j++
	}
	first := j
	for ; j < len(s.data) && bytesOf[s.data[j]]&numericByte != 0; j++ {
		n = 10*n + int64(s.data[j]-'0') // This may overflow, but then there are too many digits.
	}
	digits := j - first
	if digits == 0 || digits > 18 || s.data[first] == '0' && j-i > 1 {
		return 0, 0
	}
	if j == len(s.data) && !s.final || j < len(s.data) && bytesOf[s.data[j]]&delimByte == 0 {
		return 0, 0
	}
	if first > i {
		n = -n
	}
	return n, j
}

// meta skips metadata, ^x or #^x, and returns where the annotated form begins.
func (s *scanner) meta(i int) int {
	for {
		switch {
		case s.data[i] == '^':
			i++
		case s.data[i] == '#' && i+1 < len(s.data) && s.data[i+1] == '^':
			i += 2
		default:
			return i
		}
		if i = s.skip(i, "metadata after ^"); i < 0 {
			return -1
		}
		if i = s.required(i, "a value after metadata"); i < 0 {
			return -1
		}
	}
}

func (s *scanner) keyword(i int) (ID, int) {
	end := s.token(i)
	if end < 0 {
		return Nil, -1
	}
	if end == i+1 {
		return Nil, s.noValue(i, "expected a keyword, found :")
	}
	name := s.data[i+1 : end]
	if id, ok := s.v.keywords[string(name)]; ok {
		return id, end
	}
	if !isName(name) {
		return Nil, s.noValue(i, "expected a keyword, found "+clip(s.data[i:end]))
	}
	return s.v.InternKeyword(string(name)), end
}

// isName reports whether Clojure also reads this as one token: there ^ and
// Unicode's white space end a token.
func isName(token []byte) bool { return bytes.IndexByte(token, '^') < 0 && !hasSpace(string(token)) }

// hasSpace reports whether a token contains non-ASCII white space as Java defines it.
func hasSpace(token string) bool {
	return strings.ContainsFunc(token, func(r rune) bool {
		return r > unicode.MaxLatin1 && r != '\u2007' && r != '\u202f' && unicode.Is(unicode.Z, r)
	})
}

// number reads a number, or passes the token to symbol.
func (s *scanner) number(i int) (ID, int) {
	end := s.token(i)
	if end < 0 {
		return Nil, -1
	}
	text := s.data[i:end]
	if !startsNumber(text) {
		return s.symbol(i, end)
	}
	if n, ok := plainInt(text); ok {
		return s.v.InternInt(n), end
	}
	if id, ok := s.v.tokens[string(text)]; ok && s.v.forms[id].kind != KindOpaque {
		return id, end
	}
	t, ok := readNumber(string(text))
	if !ok {
		expected := "a number"
		if len(text) > MaxNumber {
			expected += " of at most " + strconv.Itoa(MaxNumber) + " characters"
		}
		return Nil, s.noValue(i, "expected "+expected+", found "+clip(text))
	}
	return s.v.addToken(string(text), t), end
}

func startsNumber(text []byte) bool {
	if len(text) > 1 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return len(text) > 0 && bytesOf[text[0]]&numericByte != 0
}

// symbol reads nil, true, false or any other token. It returns reader
// macros such as @x or 'x as symbols of that spelling.
func (s *scanner) symbol(i, end int) (ID, int) {
	text := s.data[i:end]
	if id, ok := s.v.symbols[string(text)]; ok {
		return id, end
	}
	if bytesOf[text[0]]&plainByte == 0 && !hasName(text) || !isName(text) {
		return Nil, s.noValue(i, "expected a value, found "+clip(text))
	}
	return s.v.InternSymbol(string(text)), end
}

// hasName reports whether a token is more than the beginning of a form.
// After its reader macros must come a name, not a blank, a bracket, # or ^.
func hasName(token []byte) bool {
	name := bytes.TrimLeft(token, "'@`~")
	return len(name) > 0 && (len(name) == len(token) || name[0] != '#' && name[0] != '^')
}

// collection reads the collection whose opening bracket is at i.
func (s *scanner) collection(kind Kind, i int) (ID, int) {
	if !s.push(i) {
		return Nil, -1
	}
	base, at := len(s.items), i+1
	for {
		if at = s.next(at, ""); at < 0 {
			return Nil, -1
		}
		if isCloser(s.data[at]) {
			break
		}
		var id ID
		if id, at = s.value(at); at < 0 {
			return Nil, -1
		}
		s.items = append(s.items, id)
	}
	if !s.pop(at) {
		return Nil, -1
	}
	id, ok := s.collect(kind, s.items[base:], i+1, at)
	if !ok {
		return Nil, -1
	}
	s.items = s.items[:base]
	return id, at + 1
}

// collect interns a collection whose items stand from begin to end. It rejects an illegal map or set.
func (s *scanner) collect(kind Kind, items []ID, begin, end int) (ID, bool) {
	if kind == KindMap && len(items)%2 == 1 {
		s.noValue(end, "expected a value for "+s.v.brief(items[len(items)-1])+", found }")
		return Nil, false
	}
	id, hash := s.v.find(kind, items)
	if id != Nil {
		return id, true
	}
	if d := s.v.duplicate(kind, items); d >= 0 {
		if kind == KindMap && s.v.agree(items) {
			return s.v.InternMap(items), true
		}
		what := "duplicate element "
		if kind == KindMap {
			what = "duplicate key "
		}
		at := s.next(begin, "")
		for k := 0; k < d && at < end; k++ {
			at = s.next(s.skip(at, ""), "")
		}
		s.noValue(at, what+s.v.brief(items[d]))
		return Nil, false
	}
	return s.v.addItems(kind, items, hash), true
}

func (v *Values) brief(id ID) string { return clip(v.AppendText(nil, id)) }

// dispatch reads the form whose # is at i. The form must not be a discard.
func (s *scanner) dispatch(i int) (ID, int) {
	if i+1 == len(s.data) {
		return Nil, s.unfinished("a tag after #")
	}
	switch s.data[i+1] {
	case '{':
		return s.collection(KindSet, i+1)
	case '"':
		return s.regex(i)
	case '#':
		return s.symbolic(i)
	case '\'':
		return s.varQuote(i)
	case ':':
		return s.namespaced(i)
	case '<':
		end := s.angle(i + 1)
		if end == 0 {
			end = s.fail(i, "expected > to close #< on its line, found none")
		}
		if end < 0 {
			return Nil, -1
		}
		return s.opaque(string(s.data[i:end])), end
	}
	return s.tagged(i)
}

func (s *scanner) symbolic(i int) (ID, int) {
	end := s.token(i)
	if end < 0 {
		return Nil, -1
	}
	switch text := string(s.data[i:end]); text {
	case "##Inf", "##-Inf", "##NaN":
		return s.v.InternFloat(goFloat(text)), end
	}
	return Nil, s.noValue(i, "expected ##Inf, ##-Inf or ##NaN, found "+clip(s.data[i:end]))
}

func (s *scanner) varQuote(i int) (ID, int) {
	end := s.token(i)
	if end < 0 {
		return Nil, -1
	}
	if !hasName(s.data[i+1 : end]) {
		return Nil, s.noValue(i, "expected a name after #'")
	}
	return s.v.InternSymbol(string(s.data[i:end])), end
}

// regex keeps #"re" as its text. It spells line ends as \n and \r, which
// mean the same in a regex, so that every form prints on one line.
func (s *scanner) regex(i int) (ID, int) {
	end, _ := s.quoted(i + 1)
	if end < 0 {
		return Nil, -1
	}
	var text []byte
	for j := i; j < end; j++ {
		c := s.data[j]
		if c == '\\' {
			j++
			c = s.data[j]
			if c != '\n' && c != '\r' {
				text = append(text, '\\')
			}
		}
		switch c {
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		default:
			text = append(text, c)
		}
	}
	return s.opaque(string(text)), end
}

func (s *scanner) opaque(text string) ID {
	if id, ok := s.v.tokens[text]; ok {
		return id
	}
	return s.v.addToken(text, token{kind: KindOpaque, canonical: text})
}

func (s *scanner) character(i int) (ID, int) {
	end := s.char(i)
	if end < 0 {
		return Nil, -1
	}
	text := string(s.data[i:end])
	if id, ok := s.v.tokens[text]; ok && s.v.forms[id].kind != KindOpaque {
		return id, end
	}
	r, ok := readRune(text)
	canonical := text
	if r >= 0 {
		canonical = charText(r)
	}
	if !ok {
		return Nil, s.noValue(i, "expected a character, found "+clip(s.data[i:end]))
	}
	if bytesOf[text[1]]&blankByte != 0 && text != `\,` {
		text = canonical // A backslash followed by a line end must print on one line.
		if id, ok := s.v.tokens[text]; ok {
			return id, end
		}
	}
	return s.v.addToken(text, token{kind: KindChar, canonical: canonical}), end
}

// charNames are the characters with names.
var charNames = map[rune]string{'\n': "newline", '\r': "return", ' ': "space", '\t': "tab", '\f': "formfeed", '\b': "backspace"}

// Rune returns a character. It returns false for a byte that is not UTF-8 and for every other form.
func (v *Values) Rune(id ID) (rune, bool) {
	if v.Kind(id) != KindChar {
		return 0, false
	}
	r, ok := readRune(v.Str(id))
	return r, ok && r >= 0
}

// readRune reads a character. It returns a negative rune for a byte that is
// not UTF-8; such a byte equals only itself.
func readRune(text string) (rune, bool) {
	name := text[1:]
	if r, size := utf8.DecodeRuneInString(name); size == len(name) {
		if r == utf8.RuneError && size == 1 {
			return -1, true
		}
		return r, true
	}
	for r, own := range charNames {
		if own == name {
			return r, true
		}
	}
	if name[0] == 'o' {
		n, err := strconv.ParseUint(name[1:], 8, 8)
		return rune(n), err == nil && len(name) <= 4
	}
	r, ok := hex4([]byte(name))
	return r, ok && len(name) == 5 // Half of a UTF-16 pair is a character in Java, though Clojure does not read it.
}

// charText spells a character as Clojure does, and control characters as \u.
func charText(r rune) string {
	if name, named := charNames[r]; named {
		return `\` + name
	}
	if r < ' ' || r == 0x7f || r >= 0xd800 && r < 0xe000 {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return `\` + string(r)
}

func (s *scanner) str(i int) (ID, int) {
	end, escapes := s.quoted(i)
	if end < 0 {
		return Nil, -1
	}
	if !escapes {
		return s.v.InternStringBytes(s.data[i+1 : end-1]), end
	}
	if !s.unescape(i+1, end-1) {
		return Nil, -1
	}
	return s.v.InternStringBytes(s.buf), end
}

// Unquote returns the text of a string literal without its quotes and escapes. Half of a
// UTF-16 pair takes three bytes, as DecodeRune reads it.
func Unquote(literal []byte) []byte {
	s := scanner{data: literal}
	s.unescape(1, len(literal)-1)
	return s.buf
}

// unescape decodes data[i:end], the contents of a string, into buf. It keeps
// bytes that are not UTF-8 unchanged, so that different strings remain different.
func (s *scanner) unescape(i, end int) bool {
	s.buf = s.buf[:0]
	for i < end {
		c := s.data[i]
		if c != '\\' {
			s.buf = append(s.buf, c)
			i++
			continue
		}
		n := s.escape(s.data[i+1 : end])
		if n == 0 {
			_, size := utf8.DecodeRune(s.data[i+1 : end])
			s.noValue(i, "expected an escape such as \\n or \\u0041, found "+string(s.data[i:i+1+size]))
			return false
		}
		i += 1 + n
	}
	return true
}

// escape decodes what follows a backslash into buf and returns its length, or 0.
func (s *scanner) escape(text []byte) int {
	if i := strings.IndexByte(`tnrbf"\/`, text[0]); i >= 0 {
		s.buf = append(s.buf, "\t\n\r\b\f\"\\/"[i])
		return 1
	}
	if text[0] == 'u' {
		return s.unicodeEscape(text)
	}
	return s.octalEscape(text)
}

// unicodeEscape decodes \u0041, or two such escapes that form a surrogate pair. It
// turns a lone surrogate into three bytes that are not UTF-8 and equal no other string.
func (s *scanner) unicodeEscape(text []byte) int {
	r, ok := hex4(text)
	if !ok {
		return 0
	}
	if r >= 0xd800 && r < 0xdc00 && len(text) >= 11 && text[5] == '\\' {
		if low, ok := hex4(text[6:]); ok && low >= 0xdc00 && low < 0xe000 {
			s.buf = utf8.AppendRune(s.buf, 0x10000+(r-0xd800)<<10+(low-0xdc00))
			return 11
		}
	}
	if r >= 0xd800 && r < 0xe000 {
		s.buf = append(s.buf, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		return 5
	}
	s.buf = utf8.AppendRune(s.buf, r)
	return 5
}

// hex4 reads u and four hexadecimal digits.
func hex4(text []byte) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[1:5]), 16, 32)
	return rune(n), err == nil
}

func (s *scanner) octalEscape(text []byte) int {
	n, i := 0, 0
	for i < len(text) && i < 3 && text[i] >= '0' && text[i] <= '7' {
		n = 8*n + int(text[i]-'0')
		i++
	}
	if n > 0377 || i < 3 && i < len(text) && bytesOf[text[i]]&delimByte == 0 && text[i] != '#' && text[i] != '^' {
		return 0 // In Clojure only what ends a token ends the escape.
	}
	s.buf = utf8.AppendRune(s.buf, rune(n))
	return i
}
