package edn

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The op maps of a history are nearly all printed alike: the same keys in the
// same order, with the same text between the values. A Reader learns how from
// those that it has read in the general way, entry by entry, and reads the next
// ones by comparing what stands between the values with what it has learned. It
// gives up on whatever is unusual, and the op map is read in the general way
// from its start; so both give the same events and errors, which FuzzQuick tests.

// step is what has been met before a value, or at the end, of op maps that are
// alike up to there: the steps of a Reader are a tree.
type step struct {
	text   string    // white space, a keyword that is a key, white space; or what closes
	words  [2]uint64 // the same in little-endian order, where it is short
	masks  [2]uint64
	has    Fields // of the key, 0 if no checker needs it
	end    bool   // it closes the op map
	parent *step
	next   []*step
}

// maxSteps bounds the tree. A history with more ways to print an op map is read
// in the general way.
const maxSteps = 64

// extent is where the general way has found a key and its value.
type extent struct {
	key, keyEnd, value, valueEnd int
	has                          Fields
}

// learn adds the op map from i to closing, which has been read, to the tree, if
// its keys are keywords with nothing but spaces and commas around.
func (r *Reader) learn(i, closing int) {
	data := r.s.data
	at, from := &r.steps, i // from is where the text of the next step begins
	for n, e := range r.entries {
		blank := from
		if n == 0 {
			blank++
		}
		if data[e.key] != ':' || !isSpace(data[blank:e.key]) ||
			e.keyEnd == e.value || !isSpace(data[e.keyEnd:e.value]) {
			return
		}
		if at = r.grow(at, step{text: string(data[from:e.value]), has: e.has}); at == nil {
			return
		}
		from = e.valueEnd
	}
	if len(r.entries) > 0 && isSpace(data[from:closing]) {
		r.grow(at, step{text: string(data[from : closing+1]), end: true})
	}
}

func isSpace(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != ',' {
			return false
		}
	}
	return true
}

// grow returns the step after another one, nil if there are too many.
func (r *Reader) grow(parent *step, next step) *step {
	for _, old := range parent.next {
		if old.text == next.text {
			return old
		}
	}
	if r.known == maxSteps {
		return nil
	}
	r.known++
	next.parent = parent
	if len(next.text) <= 16 {
		var text, mask [16]byte
		for i := range copy(text[:], next.text) {
			mask[i] = 0xff
		}
		for i := range next.words {
			next.words[i] = binary.LittleEndian.Uint64(text[8*i:])
			next.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
		}
	}
	parent.next = append(parent.next, &next)
	return &next
}

// at says whether the step's text stands at i.
func (p *step) at(data []byte, i int) bool {
	if d := data[i:]; p.masks[0] != 0 && len(d) >= 16 {
		return binary.LittleEndian.Uint64(d)&p.masks[0] == p.words[0] && binary.LittleEndian.Uint64(d[8:])&p.masks[1] == p.words[1]
	} else {
		return len(d) >= len(p.text) && string(d[:len(p.text)]) == p.text
	}
}

// quick reads the op map at i, if it is like others. Else it returns -1: the
// scanner wants more, or the op map must be read in the general way.
func (r *Reader) quick(i int, ev *Event) int {
	s := &r.s
	*ev = Event{Line: s.start.Line, Col: s.start.Col}
	s.open = append(s.open, i)
	r.others = r.others[:0]
	lines := false
	at, step := i, &r.steps
	for {
		if next := step.next; len(next) > 0 && next[0].at(s.data, at) {
			step = next[0]
		} else if step = step.after(s.data, at); step == nil {
			break
		}
		at += len(step.text)
		if step.end {
			s.open = s.open[:0]
			ev.Text = s.data[i:at:at]
			if !lines {
				ev.layout, ev.others = step, r.others
				if at < len(s.data) && s.data[at] == '\n' {
					// The next op map begins a line: no need to count.
					at++
					s.start.Line, s.start.Col, s.mark = s.start.Line+1, 1, at
				}
			}
			return at
		}
		begin := at
		simple := false
		if at, simple = r.hole(step.has, at, ev); at < 0 {
			break
		}
		if !simple {
			lines = lines || bytes.IndexByte(s.data[begin:at], '\n') >= 0
		}
		if step.has == 0 {
			r.others = append(append(r.others, s.data[begin:at]...), '\n')
		}
		ev.Has |= step.has &^ hasOtherIndex
	}
	// The general way starts afresh.
	s.open, s.items, s.spots, s.tags = s.open[:0], s.items[:0], s.spots[:0], 0
	s.err, s.illegal = nil, false
	return -1
}

// after is the step that goes on at i, or nil. It comes first from now on.
func (p *step) after(data []byte, i int) *step {
	for k, next := range p.next {
		if next.at(data, i) {
			p.next[0], p.next[k] = next, p.next[0]
			return next
		}
	}
	return nil
}

// hole reads the value at i of a key. It says whether the value is simple, and
// hence has no line end in it.
func (r *Reader) hole(has Fields, i int, ev *Event) (end int, simple bool) {
	s := &r.s
	if i+8 >= len(s.data) {
		return -1, false
	}
	switch has {
	case HasType:
		ev.Type, end = r.quickKeyword(i)
		return end, true
	case HasF:
		ev.F, end = r.quickKeyword(i)
		return end, true
	case HasProcess:
		var n int64
		if n, end = s.quickInt(i); end >= 0 {
			ev.Process = s.v.InternInt(n)
		}
		return end, true
	case HasIndex | hasOtherIndex:
		ev.Index, end = s.quickInt(i)
		return end, true
	case HasValue:
		ev.Value, end, simple = r.quickValue(i)
		return end, simple
	case HasKey:
		ev.Key, end, simple = r.quickValue(i)
		return end, simple
	}
	if end = s.quickDigits(i); end >= 0 {
		return end, true
	}
	if !begins(s.data[i:]) {
		return -1, false
	}
	return s.skip(i, "a value"), false
}

// quickValue reads the value at i, where at least 8 bytes follow.
func (r *Reader) quickValue(i int) (id ID, end int, simple bool) {
	s := &r.s
	if s.data[i] == '[' {
		id, end = r.quickVector(i)
	} else {
		id, end = r.quickScalar(i)
	}
	if end >= 0 {
		return id, end, true
	}
	if !begins(s.data[i:]) {
		return Nil, -1, false
	}
	id, end = s.form(i)
	return id, end, false
}

// begins says whether a form begins here, and nothing that stands between forms.
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

// quickScalar reads nil, true, false, a short integer or a keyword at i, where at
// least 8 bytes follow.
func (r *Reader) quickScalar(i int) (ID, int) {
	s := &r.s
	switch c := s.data[i]; {
	case bytesOf[c]&numericByte != 0:
		n, end := s.quickInt(i)
		if end < 0 {
			return Nil, -1
		}
		return s.v.InternInt(n), end
	case c == ':':
		return r.quickKeyword(i)
	case c == 'n' || c == 't' || c == 'f':
		w := binary.LittleEndian.Uint64(s.data[i:])
		switch {
		case w&(1<<24-1) == nilWord && bytesOf[byte(w>>24)]&delimByte != 0:
			return Nil, i + 3
		case w&(1<<32-1) == trueWord && bytesOf[byte(w>>32)]&delimByte != 0:
			return True, i + 4
		case w&(1<<40-1) == falseWord && bytesOf[byte(w>>40)]&delimByte != 0:
			return False, i + 5
		}
	}
	return Nil, -1
}

const (
	nilWord   = 'n' | 'i'<<8 | 'l'<<16
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// quickVector reads the vector at i of such scalars, with single spaces between.
func (r *Reader) quickVector(i int) (ID, int) {
	s := &r.s
	items := s.items[:0]
	for at := i + 1; at+8 < len(s.data); at++ {
		id, end := r.quickScalar(at)
		if end < 0 {
			break
		}
		items = append(items, id)
		if at = end; at == len(s.data) {
			break
		}
		switch s.data[at] {
		case ' ':
			continue
		case ']':
			s.items = items[:0]
			id, _ := s.collect(KindVector, items, nil, at)
			return id, at + 1
		}
		break
	}
	s.items = items[:0]
	return Nil, -1
}

// quickInt reads an integer of at most 7 digits, or whatever shortInt does, at i,
// where at least 8 bytes follow.
func (s *scanner) quickInt(i int) (int64, int) {
	w := binary.LittleEndian.Uint64(s.data[i:])
	n := leadingDigits(w)
	if n == 0 || n == 8 || n > 1 && byte(w) == '0' || bytesOf[s.data[i+n]]&delimByte == 0 {
		if n, end := s.shortInt(i); end > i {
			return n, end
		}
		return 0, -1
	}
	// The digits go to the end of the word, zeros before, and are then added up
	// in pairs, fours and eights.
	w = (w ^ zeros) << (64 - 8*n)
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	w = (w*10000 + w>>32) & 0xffffffff
	return int64(w), i + n
}

// zeros is eight times the character 0.
const zeros = 0x3030303030303030

// leadingDigits is how many characters of w, from the lowest byte on, are digits.
func leadingDigits(w uint64) int {
	x := w ^ zeros
	others := (x + 0x7676767676767676 | x) & 0x8080808080808080 // Carries go up only.
	return bits.TrailingZeros64(others) / 8
}

// quickDigits returns the end of the token of digits at i, or -1.
func (s *scanner) quickDigits(i int) int {
	for i+8 <= len(s.data) {
		n := leadingDigits(binary.LittleEndian.Uint64(s.data[i:]))
		if i += n; n == 8 {
			continue
		}
		if bytesOf[s.data[i]]&delimByte == 0 || bytesOf[s.data[i-1]]&numericByte == 0 {
			return -1
		}
		return i
	}
	return -1
}

// word is a keyword of less than 16 bytes, which have been shifted to the end.
type word struct {
	text [2]uint64
	n    int
	id   ID
}

// quickKeyword reads the keyword at i.
func (r *Reader) quickKeyword(i int) (ID, int) {
	s := &r.s
	data := s.data
	if data[i] != ':' {
		return Nil, -1
	}
	i++
	if i+16 > len(data) {
		return r.newKeyword(i)
	}
	// Nearly all keywords end in a blank, a comma or a brace, and have been seen:
	// then what stands before is a token.
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
	slot := &r.words[((text[0]^text[1])*0x9e3779b97f4a7c15)>>58]
	if slot.n == n && slot.text == text && n > 0 && n < 16 { // An empty slot has n 0.
		return slot.id, i + n
	}
	id, end := r.newKeyword(i)
	if end == i+n {
		*slot = word{text, n, id}
	}
	return id, end
}

// untilEnd is how many characters stand before the first space, comma or } in w.
func untilEnd(w uint64) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	space, comma, brace := w^' '*low, w^','*low, w^'}'*low
	found := ((space-low)&^space | (comma-low)&^comma | (brace-low)&^brace) & high
	return bits.TrailingZeros64(found) / 8
}

// newKeyword reads the keyword whose name begins at i.
func (r *Reader) newKeyword(i int) (ID, int) {
	s := &r.s
	end := s.token(i)
	s.more = false
	if end <= i {
		return Nil, -1
	}
	return s.v.internKeyword(s.data[i:end]), end
}
