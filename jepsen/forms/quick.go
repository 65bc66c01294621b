package forms

import (
	"encoding/binary"
	"math/bits"

	"clew/edn"
	"clew/internal/digits"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/scan"
	"clew/jepsen/internal/feed"
)

// Nearly all lines of fastlin, fptlin and LiMo consist only of a known method,
// short integers, and blanks. This file reads them one after another, eight bytes
// at once. The general readers read all other lines, including wrong ones.

// known holds the methods that have been seen, by their names.
type known struct {
	slots [64]knownMethod
}

type knownMethod struct {
	word   string
	method int32
}

// slot returns the slot for a method whose name begins with the bytes of w and has n bytes.
func (k *known) slot(w uint64, n int) *knownMethod {
	if n < 8 {
		w &= 1<<(8*n) - 1
	}
	return &k.slots[(w+uint64(n))*0x9e3779b97f4a7c15>>58]
}

func (k *known) add(word []byte, method int32) {
	var first [8]byte
	copy(first[:], word)
	*k.slot(binary.LittleEndian.Uint64(first[:]), len(word)) = knownMethod{string(word), method}
}

// at returns the known method whose name is at i, and where the name ends, or -1
// if there is none.
func (k *known) at(text []byte, i int) (method int32, end int) {
	if end = nameEnd(text, i); end < 0 {
		return 0, -1
	}
	first := binary.LittleEndian.Uint64(text[i:])
	if slot := k.slot(first, end-i); slot.word == string(text[i:end]) && end > i {
		return slot.method, end
	}
	return 0, -1
}

// nameEnd returns where the name at i ends, or -1 if the text ends first.
func nameEnd(text []byte, i int) int {
	for i+8 <= len(text) {
		n := nameBytes(binary.LittleEndian.Uint64(text[i:]))
		if i += n; n < 8 {
			return i
		}
	}
	return -1
}

// nameBytes returns how many bytes of w, from the lowest, come before the first
// blank, lower byte or opening parenthesis. These are not part of a name.
func nameBytes(w uint64) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	paren := w ^ '('*low
	return bits.TrailingZeros64(((w-(' '+1)*low)&^w|(paren-low)&^paren)&high) / 8
}

// shortInt returns the integer at i, which has at most 16 digits, and where it
// ends, or -1 if there is none.
func shortInt(text []byte, i int) (n int64, end int) {
	if i+24 > len(text) {
		return 0, -1
	}
	sign := int64(0)
	if text[i] == '-' {
		i, sign = i+1, -1
	}
	w := binary.LittleEndian.Uint64(text[i:])
	k := digits.Leading(w)
	if k == 0 {
		return 0, -1
	}
	n, i = int64(digits.Value(w, k)), i+k
	if k == 8 {
		w = binary.LittleEndian.Uint64(text[i:])
		if k = digits.Leading(w); k > 0 {
			n, i = n*digits.Powers[k]+int64(digits.Value(w, k)), i+k
		}
	}
	return n ^ sign - sign, i
}

// printedInt does the same as shortInt, but rejects leading zeros.
func printedInt(text []byte, i int) (n int64, end int) {
	if n, end = shortInt(text, i); end > i+1 && (text[i] == '0' || text[i] == '-' && text[i+1] == '0') {
		return 0, -1
	}
	return n, end
}

// past returns where the blanks at i end, or -1 if there are none.
func past(text []byte, i int) int {
	if i < 0 {
		return -1
	}
	if i+1 < len(text) && text[i] == ' ' && text[i+1] > ' ' {
		return i + 1
	}
	begin := i
	for i < len(text) && scan.IsBlank(text[i]) {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}

// word returns the text between the blanks at i and the next blank, and where it
// ends, or -1 if it is empty.
func word(text []byte, i int) (word []byte, end int) {
	if i = past(text, i); i < 0 {
		return nil, -1
	}
	if end = nameEnd(text, i); end <= i {
		return nil, -1
	}
	return text[i:end], end
}

// plainLine is a line of fastlin or fptlin.
type plainLine struct {
	process, value, start, end int64
	method                     int32
}

// fastlin reads the line at i. It returns where the next one begins, or -1 if the
// line is not plain.
func (l *plainLine) fastlin(k *known, text []byte, i int) int {
	if l.method, i = k.at(text, i); i < 0 {
		return -1
	}
	if i = ints(text, i, &l.value, &l.start, &l.end); i < 0 {
		return -1
	}
	return lineEnd(text, i)
}

// fptlin reads the line at i up to its value. It returns where the value ends, or
// -1 if the line is not plain.
func (l *plainLine) fptlin(k *known, text []byte, i int) int {
	if l.process, i = shortInt(text, i); i < 0 || l.process < 0 {
		return -1
	}
	if i = past(text, ints(text, i, &l.start, &l.end)); i < 0 {
		return -1
	}
	if l.method, i = k.at(text, i); i < 0 {
		return -1
	}
	return ints(text, i, &l.value)
}

// ints reads integers with blanks before them, and returns where the last ends, or -1.
func ints(text []byte, i int, into ...*int64) int {
	for _, n := range into {
		if i = past(text, i); i < 0 {
			return -1
		}
		if *n, i = shortInt(text, i); i < 0 {
			return -1
		}
	}
	return i
}

// lineEnd returns where the next line begins if only blanks are left of this one,
// and -1 otherwise.
func lineEnd(text []byte, i int) int {
	for i < len(text) && scan.IsBlank(text[i]) {
		i++
	}
	if i < len(text) && text[i] == '\n' {
		return i + 1
	}
	return -1
}

// quick reads lines as long as they are plain.
func (r *textReader) quick(all *timedOps) {
	var l plainLine
	v := r.in.values
	processes := r.dialect.processes
	for text := r.lines.Data; len(all.value) < maxTimed; {
		next, value, answer := -1, edn.Nil, edn.Nil
		if !processes {
			next = l.fastlin(&r.known, text, r.lines.At)
		} else if next = l.fptlin(&r.known, text, r.lines.At); next >= 0 {
			next, value, answer = r.rest(&l, text, next)
		}
		if next < 0 || l.end <= l.start {
			return
		}
		if value == edn.Nil {
			value = v.InternInt(l.value)
		}
		r.lines.At, r.lines.N = next, r.lines.N+1
		all.reserve(r)
		if processes {
			all.process = append(all.process, v.InternInt(l.process))
			all.answered(answer)
		}
		all.start, all.end, all.method = append(all.start, l.start), append(all.end, l.end), append(all.method, l.method)
		all.value, all.line = append(all.value, value), append(all.line, int32(r.lines.N))
		all.empty = all.empty || l.value == empty
	}
}

// rest reads what follows the first value of a line of fptlin. value is Nil if the
// operation's value is only that integer.
func (r *textReader) rest(l *plainLine, text []byte, i int) (next int, value, answered edn.ID) {
	v, end := r.in.values, i
	second := past(text, i)
	var to int64
	if second >= 0 && second < len(text) && text[second] != '\n' {
		to, end = shortInt(text, second)
	}
	if end < 0 {
		return -1, edn.Nil, edn.Nil
	}
	if next = lineEnd(text, end); next < 0 || l.end <= l.start {
		return -1, edn.Nil, edn.Nil
	}
	only, ok := end == i, true
	switch method := &r.methods[l.method]; {
	case method.f == ":cas" && !only:
		value = v.InternVector([]edn.ID{v.InternInt(l.value), v.InternInt(to)})
	case method.f == ":cas":
		return -1, edn.Nil, edn.Nil
	case r.isCounted(method):
		value, ok = answer(text[i-1 : i])
		ok = ok && only && text[i-2] <= ' '
	case !only:
		answered, ok = answer(text[second:end])
	}
	if !ok {
		return -1, edn.Nil, edn.Nil
	}
	return next, value, answered
}

// quickCalls reads lines of LiMo as long as they are plain.
func (r *textReader) quickCalls(calls *limoCalls) error {
	for text := r.lines.Data; ; {
		begin := r.lines.At
		if begin+32 > len(text) || text[begin] != '[' {
			return nil
		}
		thread, i := shortInt(text, begin+1)
		if i < 0 || thread < 0 || text[i] != ']' || text[i+1] != ' ' {
			return nil
		}
		call := calls.of(thread, r.lines.N+1)
		var e *opmap.Event
		switch verb := binary.LittleEndian.Uint64(text[i:]) >> 16; {
		case verb&(1<<40-1) == callWord && !call.isOpen:
			e = r.plainCall(thread, call, text, i+7)
		case verb == returnWord && call.isOpen:
			e = r.plainReturn(thread, call, text, i+8)
		}
		if e == nil {
			return nil
		}
		if err := r.in.to.Add(e, feed.ByProcess); err != nil {
			return err
		}
	}
}

const (
	callWord   = 'c' | 'a'<<8 | 'l'<<16 | 'l'<<24 | ' '<<32
	returnWord = 'r' | 'e'<<8 | 't'<<16 | 'u'<<24 | 'r'<<32 | 'n'<<40
	emptyWord  = 'e' | 'm'<<8 | 'p'<<16 | 't'<<24 | 'y'<<32
)

// plainCall reads METHOD(VALUE) or METHOD() at i, and goes to the next line. It
// returns nil if there is anything else.
func (r *textReader) plainCall(thread int64, call *limoCall, text []byte, i int) *opmap.Event {
	method, i := r.known.at(text, i)
	if i < 0 || i+1 >= len(text) || text[i] != '(' {
		return nil
	}
	begin, n := i+1, int64(0)
	if i = begin; text[i] != ')' {
		if n, i = shortInt(text, i); i < 0 || text[i] != ')' {
			return nil
		}
	}
	next := lineEnd(text, i+1)
	if next < 0 {
		return nil
	}
	r.lines.N, r.lines.At = r.lines.N+1, next
	*call = limoCall{method: method, line: int32(r.lines.N), isOpen: true}
	e := r.event(r.in.values.InternInt(thread), method, false, call.line, 1)
	if i > begin {
		call.value = r.in.values.InternInt(n)
	}
	if r.methods[method].adds {
		e.Value = call.value
	}
	return e
}

// plainReturn reads the value that is returned, or none, and goes to the next
// line. It returns nil if there is anything else.
func (r *textReader) plainReturn(thread int64, call *limoCall, text []byte, i int) *opmap.Event {
	var n int64
	begin, isEmpty := i, false
	if at := past(text, i); at >= 0 && at+8 <= len(text) && text[i] == ' ' && text[at] != '\n' {
		if isEmpty = binary.LittleEndian.Uint64(text[at:])&(1<<40-1) == emptyWord; isEmpty {
			i = at + len("empty")
		} else if n, i = shortInt(text, at); i < 0 {
			return nil
		}
	}
	next := lineEnd(text, i)
	if next < 0 {
		return nil
	}
	r.lines.N, r.lines.At = r.lines.N+1, next
	call.isOpen = false
	e := r.event(r.in.values.InternInt(thread), call.method, true, int32(r.lines.N), 1)
	switch {
	case i == begin:
		e.Value = call.value
	case !isEmpty:
		e.Value = r.in.values.InternInt(n)
	}
	return e
}
