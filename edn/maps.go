package edn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"clew/internal/blocks"
)

// Maps streams the maps of a text: bare maps one after another, or the maps in one
// vector or list. Tags, metadata, comments and discarded forms may stand between
// them. Maps keeps one block of the text in memory, or the current map if that is
// longer. It is meant for readers that look at only some of a map's keys, such as
// package opmap. [Values.Parse] reads a text that is completely in memory.
//
// Next finds a map, and the caller reads it key by key, by indices in Data:
//
//	for {
//		i, err := maps.Next()
//		if err != nil {
//			return err // io.EOF at the end
//		}
//		at := maps.Open(i)
//		for at >= 0 {
//			key, end := maps.Key(at)
//			if key == end {
//				at = maps.Close(key)
//				break
//			}
//			at = maps.Skip(maps.Item(key, end))
//		}
//		if !maps.Done(at) {
//			continue // Next gives the map again with more of it, or the error.
//		}
//		...
//	}
//
// A method that reads returns the index after what it has read, or -1;
// given -1, it returns -1. If a map is not done, the caller must discard
// whatever it has read of it. Values interned in the meantime may stay.
type Maps struct {
	s     scanner // whose data is that of text
	text  blocks.Blocks
	err   error  // the error that ended Next
	what  string // what messages call the maps
	raws  *Raws  // unless nil, m scans for another Maps
	items []Raw  // of the scanned collections
	open  []Raw  // those so far of the collections that are being read

	at      int  // start, in the scanner's data, of what was read last or must be read again
	end     int  // its end; -1 if it could not be read
	started bool // a map or a wrapper has been met
	wrapper byte // the bracket around all maps, or 0
	wrapPos Pos
	closed  bool   // the wrapper has been closed
	pending string // a tag or metadata still waiting for its map

	brackets brackets // of a long form that is not whole

	words   [64]word    // recent keywords, by hash
	glances [256]glance // recent keywords, by their first bytes
	forgot  int         // how often the values had been forgotten when these were noted
}

// NewMaps returns the maps in r and interns their values in v. In error
// messages, file names the text, and what names a map, such as "an op map".
func NewMaps(r io.Reader, file, what string, v *Values) *Maps {
	m := &Maps{text: blocks.Blocks{In: r, Longest: MaxForm}, what: what}
	m.s.v = v
	m.s.start = Pos{File: file, Line: 1, Col: 1}
	return m
}

// Blocks sets how many bytes of the text are read at first, and how many
// later, instead of 64 KiB and 256 KiB. It must be called before Next.
func (m *Maps) Blocks(first, later int) { m.text.First, m.text.Later = first, later }

// First sets how many bytes are read at first, for a text known to be
// short. It must be called before Next.
func (m *Maps) First(bytes int) { m.text.First = bytes }

// Eager makes Next return maps as soon as their text arrives: every call of
// Read gives a block, however short. It must be called before Next.
func (m *Maps) Eager() { m.text.Eager = true }

// From says that the text begins in a line after a map, and within a bracket unless that is 0. It must be called before
// Next.
func (m *Maps) From(line int, opened byte) {
	m.s.start.Line = line
	m.started, m.wrapper, m.wrapPos = true, opened, m.s.start
}

// Opened returns the bracket around all maps, 0 if there is none.
func (m *Maps) Opened() byte { return m.wrapper }

// Next returns the index in Data at which the next map begins. Its error is io.EOF at the
// end and an *Error if the text is not a sequence of maps. It returns an error of the
// underlying reader with the name of the file. Calls after an error return the same error.
func (m *Maps) Next() (int, error) {
	s := &m.s
	if m.forgot != s.v.forgot {
		m.forgot = s.v.forgot
		clear(m.words[:])
		clear(m.glances[:])
	}
	for m.err == nil {
		if m.end < 0 {
			m.err = m.again()
			continue
		}
		if i := m.end; i < len(s.data) && s.data[i] == '{' && m.Found(i) {
			return i, nil
		}
		m.at = s.blank(m.end)
		if s.atEnd(m.at) {
			m.err = m.refillOrFinish()
			continue
		}
		s.advance(m.at)
		if s.data[m.at] == '{' && !m.closed {
			m.started, m.pending = true, ""
			return m.at, nil
		}
		m.end = m.element(m.at)
	}
	return -1, m.err
}

// Found replaces Next for a caller that knows that a map begins at i. It reports
// whether the last map ended there, so that Next would find this one too.
func (m *Maps) Found(i int) bool {
	if i != m.end || i != m.s.mark || m.closed || m.pending != "" {
		return false
	}
	m.at, m.started = i, true
	return true
}

// Done ends the reading of a map; end is what the last method returned. It reports whether the map
// has been read. If not, Next returns the map again with more of its text, or returns the error.
func (m *Maps) Done(end int) bool {
	m.end = end
	return end >= 0
}

// Passed says that a map stands on each of the next lines, which end before i, and has been read.
func (m *Maps) Passed(i, lines int) {
	m.end, m.s.mark = i, i
	m.s.start.Line += lines
}

// again prepares another attempt at a map that could not be read. It reads
// more of the text or returns the error.
func (m *Maps) again() error {
	if m.s.more {
		return m.refill()
	}
	return m.s.err
}

// More reports whether the last -1 means that the map goes on after the end of Data.
func (m *Maps) More() bool { return m.s.more }

// Data returns the part of the text that is in memory. It is valid until the next call of Next.
func (m *Maps) Data() []byte { return m.s.data }

// End returns where the last map ended.
func (m *Maps) End() int { return m.end }

// Place returns the line and the column, from 1, of the map that Next has found.
func (m *Maps) Place() (line, col int) { return m.s.start.Line, m.s.start.Col }

// Offset returns the offset of Data[i] in the text, from 0.
func (m *Maps) Offset(i int) int64 { return m.s.start.Offset + int64(i) }

// Open begins, or begins again, to read the map whose brace is at i.
func (m *Maps) Open(i int) int {
	s := &m.s
	s.begin()
	s.open = append(s.open, i)
	return i + 1
}

// Key returns the start and the end of the next key; at the end of the map,
// both are the index of its closing bracket.
func (m *Maps) Key(i int) (key, end int) {
	if i < 0 {
		return -1, -1
	}
	s := &m.s
	switch key = s.next(i, ""); {
	case key < 0:
		return -1, -1
	case isCloser(s.data[key]):
		return key, key
	case s.data[key] == ':':
		end = s.token(key)
	default:
		end = s.skip(key, "a key")
	}
	return key, end
}

// Item returns the start of the value that belongs to the key found by Key.
func (m *Maps) Item(key, end int) int {
	if end < 0 {
		return -1
	}
	s := &m.s
	at := s.next(end, "")
	if at >= 0 && isCloser(s.data[at]) {
		return s.fail(at, "expected a value for "+clip(s.data[key:end])+", found "+string(s.data[at]))
	}
	return at
}

// Close ends the map whose closing bracket is at i.
func (m *Maps) Close(i int) int {
	if i < 0 || !m.s.pop(i) {
		return -1
	}
	return i + 1
}

// Value reads and interns the value that begins at i.
func (m *Maps) Value(i int) (ID, int) {
	if i < 0 {
		return Nil, -1
	}
	return m.s.value(i)
}

// Lenient does what Value does, but keeps a form that is not a value, such as 10.0.0.1
// or {:a}, as opaque text. It also returns the first error that Value would have met.
func (m *Maps) Lenient(i int) (id ID, end int, forgiven error) {
	s := &m.s
	s.lenient, s.forgiven = true, nil
	id, end = m.Value(i)
	s.lenient = false
	return id, end, s.forgiven
}

// Skip skips the value that begins at i, whatever it holds, as long as
// brackets match and strings end.
func (m *Maps) Skip(i int) int {
	if i < 0 {
		return -1
	}
	return m.s.skip(i, "a value")
}

// Fail records a syntax error at i in the current map and returns -1.
func (m *Maps) Fail(i int, msg string) int { return m.s.fail(i, msg) }

// Refuse records err, which already has a place, as the error of the current map and returns -1.
func (m *Maps) Refuse(err error) int {
	m.s.err = err
	return -1
}

func (m *Maps) refillOrFinish() error {
	if !m.s.final {
		return m.refill()
	}
	m.s.begin() // a map that was read quickly in the end may have left brackets open before
	if m.pending != "" || m.wrapper != 0 && !m.closed {
		m.unexpected(m.at, "end of input")
		return m.s.err
	}
	return io.EOF
}

// expected returns what may come next.
func (m *Maps) expected() string {
	switch {
	case m.pending != "":
		return m.what + " after " + m.pending
	case m.closed:
		return "end of input"
	}
	return m.what
}

// unexpected fails because of the form found at i.
func (m *Maps) unexpected(i int, found string) int {
	expected := m.expected()
	if m.wrapper != 0 && !m.closed && m.pending == "" && found == "end of input" {
		expected = closes(m.wrapper, m.wrapPos)
	}
	return m.s.fail(i, "expected "+expected+", found "+found)
}

// element reads what begins at i between maps: a bracket of the wrapper, a
// discarded form, a tag or metadata.
func (m *Maps) element(i int) int {
	s := &m.s
	s.begin()
	c := s.data[i]
	switch {
	case m.closed:
		return m.noMap(i)
	case (c == '[' || c == '(') && !m.started:
		m.started, m.pending = true, ""
		m.wrapper, m.wrapPos = c, s.pos(i)
		return i + 1
	case isCloser(c):
		return m.unwrap(i)
	case c == '^':
		return m.meta(i + 1)
	case c == '#':
		return m.dispatch(i)
	}
	return m.noMap(i)
}

// noMap fails because the form at i is not a map. It first makes sure that
// enough of the form has been read to name it, and to find a NUL byte in its token.
func (m *Maps) noMap(i int) int {
	s := &m.s
	if bytesOf[s.data[i]]&delimByte == 0 && s.token(i) < 0 {
		return -1
	}
	return m.unexpected(i, s.found(i))
}

// unwrap reads the closing bracket at i, which should be the wrapper's.
func (m *Maps) unwrap(i int) int {
	c := m.s.data[i]
	switch {
	case m.wrapper == 0 || m.pending != "":
		return m.unexpected(i, string(c))
	case closer(m.wrapper) != c:
		return m.s.fail(i, "expected "+closes(m.wrapper, m.wrapPos)+", found "+string(c))
	}
	m.closed = true
	return i + 1
}

func (m *Maps) meta(i int) int {
	end := m.s.skip(i, "metadata after ^")
	if end >= 0 {
		m.pending = "metadata"
	}
	return end
}

func (m *Maps) dispatch(i int) int {
	s := &m.s
	if i+1 == len(s.data) {
		return s.unfinished("a tag after #")
	}
	switch s.data[i+1] {
	case '_':
		return s.skip(i+2, "a value after #_")
	case '^':
		return m.meta(i + 2)
	case '{', '"', '#', '\'', '<', ':':
		return m.noMap(i)
	}
	end := s.token(i + 1)
	if end < 0 {
		return -1
	}
	if end == i+1 {
		return s.fail(i, "expected a tag after #")
	}
	m.pending = clip(s.data[i:end])
	return end
}

// longRest is how long the beginning of a form must be so that more of it is read before the form is tried again.
const longRest = 1 << 16

// brackets looks for the end of a form in its text, which it goes through once, while more and more of it comes.
type brackets struct {
	from  int64 // where the form begins in the text
	seen  int   // how much of it has been looked at
	depth int
	in    byte // a string, a comment or a character, by what it begins with; 0: none
}

// close reports whether a bracket in what is new of the text may close the form. Texts in which quotes stand where EDN has
// none, such as #<a "b>, may mislead it; their end is found later.
func (b *brackets) close(text []byte) (may bool) {
	for ; b.seen < len(text); b.seen++ {
		c := text[b.seen]
		switch {
		case b.in == '\\': // the first byte of a character is never a delimiter
			b.in = 0
		case b.in == '"' && c == '\\':
			b.in = '&' // an escape
		case b.in == '&':
			b.in = '"'
		case b.in == '"':
			if c == '"' {
				b.in = 0
			}
		case b.in == ';':
			if c == '\n' || c == '\r' {
				b.in = 0
			}
		case c == '"' || c == ';' || c == '\\':
			b.in = c
		case c == '{' || c == '[' || c == '(':
			b.depth++
		case c == '}' || c == ']' || c == ')':
			b.depth--
			may = may || b.depth <= 0
		}
	}
	return may
}

// refill moves the unread text to the start of a block and fills the block.
func (m *Maps) refill() error {
	if m.text.Err != nil {
		return m.inputError()
	}
	s := &m.s
	s.advance(m.at)
	rest := s.data[m.at:]
	if longest := m.text.Longest; len(rest) >= longest {
		s.begin() // the brackets within the form do not enclose it
		s.fail(m.at, "expected a form of at most "+strconv.Itoa(longest)+" bytes, found a longer one")
		return s.err
	}
	s.start.Offset += int64(m.at)
	first, long := s.data == nil, m.text.Eager && len(rest) >= longRest
	m.text.More(m.at) // its error, which ends the input, is used once the text before it has been read
	for first && m.text.Err == nil && len(m.text.Data) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, m.text.Data) {
		m.text.More(0)
	}
	if m.brackets.from != s.start.Offset {
		m.brackets = brackets{from: s.start.Offset}
	}
	for enough := 2 * len(rest); long && len(m.text.Data) < enough && !m.brackets.close(m.text.Data) && m.text.Err == nil; {
		m.text.More(0) // a form that is read again after every short block would take quadratic time
	}
	s.onto(m.text.Data, 0)
	m.at, m.end = 0, 0
	s.final = m.text.Err == io.EOF
	if first && bytes.HasPrefix(s.data, byteOrderMark) {
		s.mark, m.end = len(byteOrderMark), len(byteOrderMark)
	}
	return nil
}

// Release ends the reading. Data, and everything that refers to it, is no longer valid.
func (m *Maps) Release() {
	m.text.Release()
	m.s.onto(nil, 0)
	m.at, m.end, m.err = 0, 0, cmp.Or(m.err, errReleased)
}

var errReleased = errors.New("no more is read")

var byteOrderMark = []byte("\xef\xbb\xbf")

// inputError returns the error of the input. It is called once everything
// that was read has been used up.
func (m *Maps) inputError() error {
	if m.s.start.File == "" {
		return m.text.Err
	}
	return fmt.Errorf("%s: %w", m.s.start.File, m.text.Err)
}
