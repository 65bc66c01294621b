package edn

import (
	"encoding/binary"
	"math/bits"

	"clew/internal/digits"
)

// The methods called Quick read the most common kinds of values, several bytes at a
// time. They may be called without Open, wherever a value of the map that Next has
// found is expected. They return -1 for anything unusual. The caller must then read
// the map again, from Open on, with the other methods, which give the same values.

// QuickValue reads the value at i. It reports whether the value is simple
// and so contains no line end.
func (m *Maps) QuickValue(i int) (id ID, end int, simple bool) {
	if !m.roomy(i) {
		return Nil, -1, false
	}
	if raw, end := m.quickForm(i, 0); end >= 0 {
		return m.internScalar(raw, nil), end, true
	}
	if !begins(m.s.data[i:]) {
		return Nil, -1, false
	}
	m.Open(m.at)
	id, end = m.s.form(i)
	return id, end, false
}

// QuickScan does what QuickValue does, but does not intern the value.
func (m *Maps) QuickScan(i int) (raw Raw, end int, simple bool) {
	if !m.roomy(i) {
		return 0, -1, false
	}
	if raw, end = m.quickForm(i, 0); end >= 0 {
		return raw, end, true
	}
	if !begins(m.s.data[i:]) {
		return 0, -1, false
	}
	m.Open(m.at)
	end = m.s.skip(i, "a value")
	return rawSpan(rawText, i, max(end, 0)), end, false
}

// QuickSkip skips the value at i. It reports whether the value is simple
// and so contains no line end.
func (m *Maps) QuickSkip(i int) (end int, simple bool) {
	data := m.s.data
	for end = i; end+8 <= len(data); {
		n := digits.Leading(binary.LittleEndian.Uint64(data[end:]))
		if end += n; n == 8 {
			continue
		}
		if end == i || bytesOf[data[end]]&delimByte == 0 {
			break
		}
		return end, true
	}
	if !m.roomy(i) || !begins(data[i:]) {
		return -1, false
	}
	m.Open(m.at)
	return m.s.skip(i, "a value"), false
}

// QuickInt reads the integer at i, if it has at most 18 digits and is
// spelled as Clojure prints it. It does not intern the integer.
func (m *Maps) QuickInt(i int) (n int64, end int) { return m.s.quickInt(i) }

// QuickLineEnd skips the line end at i, after the current map, if there is one,
// so that Next need not count lines. There must not be a line end inside the map.
func (m *Maps) QuickLineEnd(i int) int {
	if s := &m.s; i < len(s.data) && s.data[i] == '\n' {
		return m.LineEnd(i)
	}
	return i
}

// LineEnd skips a line end that is known to be at i.
func (m *Maps) LineEnd(i int) int {
	s := &m.s
	s.start.Line, s.start.Col, s.mark = s.start.Line+1, 1, i+1
	return i + 1
}

// roomy reports whether at least 8 bytes follow i.
func (m *Maps) roomy(i int) bool { return i+8 < len(m.s.data) }

// begins reports whether a form begins here, and not something that stands between forms.
func begins(text []byte) bool {
	switch c := text[0]; c {
	case ')', ']', '}', ';':
		return false
	case '#':
		return text[1] != '_'
	default:
		return bytesOf[c]&blankByte == 0
	}
}

// quickScalar reads nil, true, false, a short integer or a keyword at i. At
// least 8 bytes must follow i.
func (m *Maps) quickScalar(i int) (Raw, int) {
	s := &m.s
	switch c := s.data[i]; {
	case bytesOf[c]&numericByte != 0 || c == '-':
		n, end := s.quickInt(i)
		return Raw(n) << rawBits, end
	case c == ':':
		id, end := m.QuickKeyword(i)
		return Raw(id)<<rawBits | rawForm, end
	case c == 'n' || c == 't' || c == 'f':
		w := binary.LittleEndian.Uint64(s.data[i:])
		switch {
		case w&(1<<24-1) == nilWord && bytesOf[byte(w>>24)]&delimByte != 0:
			return Raw(Nil)<<rawBits | rawForm, i + 3
		case w&(1<<32-1) == trueWord && bytesOf[byte(w>>32)]&delimByte != 0:
			return Raw(True)<<rawBits | rawForm, i + 4
		case w&(1<<40-1) == falseWord && bytesOf[byte(w>>40)]&delimByte != 0:
			return Raw(False)<<rawBits | rawForm, i + 5
		}
	}
	return 0, -1
}

const (
	nilWord   = 'n' | 'i'<<8 | 'l'<<16
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// quickDepth is how deep the collections are nested that quickForm reads, such as transactions with lists. quickKeys is
// how many keys their maps have.
const (
	quickDepth = 4
	quickKeys  = 16
)

// quickForm reads such a scalar, or a vector or a map of what it reads, at i. Depth is that of the collection around it.
// Unless m scans for another Maps, it interns collections and what they hold, in the order of the text.
func (m *Maps) quickForm(i, depth int) (raw Raw, end int) {
	switch c := m.s.data[i]; {
	case c != '[' && c != '{':
		if raw, end = m.quickScalar(i); m.raws == nil && depth > 0 && end >= 0 {
			raw = Raw(m.internScalar(raw, nil))<<rawBits | rawForm
		}
		return raw, end
	case depth == quickDepth:
		return 0, -1
	case c == '[':
		return m.quickVector(i, depth+1)
	}
	return m.quickMap(i, depth+1)
}

// quickVector reads the vector at i, with single spaces between its items.
func (m *Maps) quickVector(i, depth int) (Raw, int) {
	data, base := m.s.data, len(m.open)
	for at := i + 1; at+8 < len(data); at++ {
		if at == i+1 && data[at] == ']' {
			return m.collected(rawVector, base), at + 1
		}
		raw, end := m.quickForm(at, depth)
		if end < 0 || end == len(data) {
			break
		}
		m.open = append(m.open, raw)
		if at = end; data[at] == ']' {
			return m.collected(rawVector, base), at + 1
		} else if data[at] != ' ' {
			break
		}
	}
	m.open = m.open[:base]
	return 0, -1
}

// quickMap reads the map at i as Clojure prints it. No key may be there twice, nor be a collection.
func (m *Maps) quickMap(i, depth int) (Raw, int) {
	data, base := m.s.data, len(m.open)
	if data[i+1] == '}' {
		return m.collected(rawMap, base), i + 2
	}
	for at := i + 1; at+8 < len(data) && len(m.open) < base+2*quickKeys; at += 2 {
		key, end := m.quickForm(at, quickDepth)
		if end < 0 || end+9 >= len(data) || data[end] != ' ' || m.hasKey(base, key) {
			break
		}
		m.open = append(m.open, key)
		value, end := m.quickForm(end+1, depth)
		if end < 0 || end+1 >= len(data) {
			break
		}
		m.open = append(m.open, value)
		if at = end; data[at] == '}' {
			return m.collected(rawMap, base), at + 1
		} else if data[at] != ',' || data[at+1] != ' ' {
			break
		}
	}
	m.open = m.open[:base]
	return 0, -1
}

// hasKey reports whether the open map from base on has a key.
func (m *Maps) hasKey(base int, key Raw) bool {
	for i := base; i < len(m.open); i += 2 {
		if m.open[i] == key {
			return true
		}
	}
	return false
}

// collected ends the collection whose items are those of the open collections from base on.
func (m *Maps) collected(kind Raw, base int) Raw {
	items := m.open[base:]
	m.open = m.open[:base]
	if m.raws == nil {
		return Raw(m.internItems(kind, items, nil))<<rawBits | rawForm
	}
	return m.rawItems(kind, items)
}

// quickInt reads an integer of at most 15 digits, 8 at a time, and leaves
// everything else to shortInt.
func (s *scanner) quickInt(i int) (int64, int) {
	if i+8 >= len(s.data) {
		return s.slowInt(i)
	}
	w := binary.LittleEndian.Uint64(s.data[i:])
	n := digits.Leading(w)
	if n == 0 || n > 1 && byte(w) == '0' {
		return s.slowInt(i)
	}
	if n == 8 {
		return s.longInt(i, w)
	}
	if bytesOf[s.data[i+n]]&delimByte == 0 {
		return s.slowInt(i)
	}
	return int64(digits.Value(w, n)), i + n
}

// longInt reads an integer at i whose first 8 digits are w.
func (s *scanner) longInt(i int, w uint64) (int64, int) {
	if i+16 >= len(s.data) {
		return s.slowInt(i)
	}
	rest := binary.LittleEndian.Uint64(s.data[i+8:])
	n := digits.Leading(rest)
	if n == 8 || bytesOf[s.data[i+8+n]]&delimByte == 0 {
		return s.slowInt(i)
	}
	high := int64(digits.Value(w, 8))
	if n == 0 {
		return high, i + 8
	}
	return high*digits.Powers[n] + int64(digits.Value(rest, n)), i + 8 + n
}

func (s *scanner) slowInt(i int) (int64, int) {
	if i < len(s.data) {
		if n, end := s.shortInt(i); end > i {
			return n, end
		}
	}
	return 0, -1
}

// word is a keyword of fewer than 16 bytes, shifted to the high end.
type word struct {
	text [2]uint64
	n    int
	id   ID
}

// glance is a keyword of fewer than 8 bytes, padded to 8 with the bytes after it. In a history
// these are nearly always the same, so that the end of the keyword need not be searched.
type glance struct {
	text uint64
	n    int32
	id   ID
}

// Glance returns the keyword of fewer than 8 bytes that begins, after its colon, with the bytes of
// text in little-endian order, and its length. The length is 0 if it is another one, or has not been
// read before.
func (m *Maps) Glance(text uint64) (id ID, n int) {
	if slot := &m.glances[(text*0x9e3779b97f4a7c15)>>56]; slot.text == text {
		return slot.id, int(slot.n)
	}
	return Nil, 0
}

// Note makes Glance return a keyword of n bytes, fewer than 8, for that text.
func (m *Maps) Note(text uint64, id ID, n int) {
	m.glances[(text*0x9e3779b97f4a7c15)>>56] = glance{text, int32(n), id}
}

// QuickKeyword reads the keyword at i.
func (m *Maps) QuickKeyword(i int) (ID, int) {
	data := m.s.data
	if i+9 > len(data) || data[i] != ':' {
		return m.keyword(i)
	}
	i++
	text := binary.LittleEndian.Uint64(data[i:])
	slot := &m.glances[(text*0x9e3779b97f4a7c15)>>56]
	if slot.text == text && slot.n > 0 {
		return slot.id, i + int(slot.n)
	}
	id, end := m.keyword(i - 1)
	if end-i < 8 && end >= 0 {
		*slot = glance{text, int32(end - i), id}
	}
	return id, end
}

func (m *Maps) keyword(i int) (ID, int) {
	s := &m.s
	data := s.data
	if i >= len(data) || data[i] != ':' {
		return Nil, -1
	}
	i++
	if i+16 > len(data) {
		return m.newKeyword(i)
	}
	// Nearly all keywords end in a blank, a comma or a brace and have been seen
	// before. Then what stands before the end is a token.
	var text [2]uint64
	text[0] = binary.LittleEndian.Uint64(data[i:])
	n := untilEnd(text[0])
	if n < 8 {
		text[0] <<= 64 - 8*n
	} else {
		text[1] = binary.LittleEndian.Uint64(data[i+8:])
		more := untilEnd(text[1])
		text[1] <<= 64 - 8*more
		n += more
	}
	slot := &m.words[((text[0]^text[1])*0x9e3779b97f4a7c15)>>58]
	if slot.n == n && slot.text == text && n > 0 && n < 16 { // An empty slot has n 0.
		return slot.id, i + n
	}
	id, end := m.newKeyword(i)
	if end == i+n {
		*slot = word{text, n, id}
	}
	return id, end
}

// untilEnd returns how many characters stand before the first space, comma or } in w.
func untilEnd(w uint64) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	space, comma, brace := w^' '*low, w^','*low, w^'}'*low
	found := ((space-low)&^space | (comma-low)&^comma | (brace-low)&^brace) & high
	return bits.TrailingZeros64(found) / 8
}

// newKeyword reads the keyword whose name begins at i.
func (m *Maps) newKeyword(i int) (ID, int) {
	s := &m.s
	end := s.token(i)
	s.more = false
	if end <= i {
		return Nil, -1
	}
	name := s.data[i:end]
	if id, ok := s.v.keywords[string(name)]; ok {
		return id, end
	}
	if !isName(name) {
		return Nil, -1
	}
	return s.v.InternKeyword(string(name)), end
}
