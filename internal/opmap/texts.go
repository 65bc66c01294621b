package opmap

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/digits"
	"clew/internal/hugepages"
)

// Texts keeps the texts of the op maps of a history, numbered from 0 in the order
// of adding. Of op maps that are printed alike it keeps only the values that an
// Event does not hold. These are about 10 bytes each, or 4 with everything if there is only a :time.
// If no text is added, all are empty.
type Texts struct {
	chunks  [][]byte
	layouts []*step
	none    int // how many empty texts come first; they take no memory
	n       int
	last    int     // where the last text begins in its chunk
	marks   []place // of every marked-th text

	number, before int64 // the last number, and the one before the last text
}

// place is where a text begins, and the last number before it.
type place struct {
	chunk, at int
	number    int64
}

// Texts are kept as bytes in chunks. The first chunk is small because many
// histories are. Each is twice as long as the one before, up to the full length. A
// longer text gets a chunk of its own. Finding a text skips at most marked others.
const (
	firstChunk = 4 << 10
	fullChunk  = 4 << 20
	marked     = 64
)

// A text begins with a byte that has its kind and the number of its layout, or mostInHead and then a byte with the number. If
// the op map has one other value, and that is an integer such as a :time, its difference to the last such integer follows, or
// the integer itself. Otherwise the length of the text follows, and then the text.
const (
	otherText = iota
	near      // a difference from 0 on in 3 bytes
	far       // one in 4 bytes
	number    // the integer in 8 bytes
	kinds

	mostInHead = 256/kinds - 1
	mostHead   = 2
)

// head appends the beginning of a text.
func head(b []byte, kind, layout int) []byte {
	if layout < mostInHead {
		return append(b, byte(kinds*layout+kind))
	}
	return append(b, byte(kinds*mostInHead+kind), byte(layout))
}

// Add keeps the text of an event. The text is nil if the event was not read from an op map.
func (t *Texts) Add(ev *Event) {
	layout, text := 0, ev.Text
	if t.n == 0 && ev.layout == nil && len(text) == 0 {
		t.none++
		return
	}
	if ev.layout != nil {
		layout, text = t.layout(ev.layout), ev.others
		if n, is := ev.number(); is {
			t.addNumber(layout, n)
			return
		}
	}
	chunk := t.begin(mostHead + binary.MaxVarintLen64 + len(text))
	b := binary.AppendUvarint(head(*chunk, otherText, layout), uint64(len(text)))
	*chunk = append(b, text...)
}

// AddRows keeps the texts of the first n rows.
func (t *Texts) AddRows(rows *Rows, n int) {
	var last *step
	layout, isNumber := 0, false
	for i := range rows.All[:n] {
		row := &rows.All[i]
		if own := rows.steps[row.layout]; own != last {
			last, layout, isNumber = own, t.layout(own), own.About.others == 1
		}
		switch {
		case row.size > 0:
			t.Add(&Event{layout: last, others: rows.others[row.other:][:row.size]})
		case isNumber:
			t.addNumber(layout, row.other)
		default:
			t.Add(&Event{layout: last})
		}
	}
}

// addNumber keeps an integer as the only other value of an op map.
func (t *Texts) addNumber(layout int, n int64) {
	chunk := t.begin(mostHead + 8)
	b, more := *chunk, n-t.number
	switch {
	case uint64(more) < 1<<24 && layout < mostInHead:
		*chunk = binary.LittleEndian.AppendUint32(b, uint32(more)<<8|uint32(kinds*layout+near))
	case more == int64(int32(more)):
		*chunk = binary.LittleEndian.AppendUint32(head(b, far, layout), uint32(more))
	default:
		*chunk = binary.LittleEndian.AppendUint64(head(b, number, layout), uint64(n))
	}
	t.number = n
}

// begin returns the chunk for the next text, with room for that many bytes.
func (t *Texts) begin(need int) (chunk *[]byte) {
	n := len(t.chunks)
	if n == 0 || cap(t.chunks[n-1])-len(t.chunks[n-1]) < need {
		size := min(firstChunk<<min(n, 20), fullChunk)
		t.chunks = append(t.chunks, hugepages.Make[byte](max(size, need))[:0])
		n++
	}
	chunk = &t.chunks[n-1]
	t.last, t.before = len(*chunk), t.number
	if t.n%marked == 0 {
		t.marks = hugepages.Append(t.marks, place{n - 1, t.last, t.number})
	}
	t.n++
	return chunk
}

// number returns the value of the event's other key, if it has only one and that is a plain integer.
func (ev *Event) number() (n int64, is bool) {
	text := ev.others
	if ev.layout.About.others != 1 {
		return 0, false
	}
	if len(text) == 0 {
		return ev.other, true
	}
	text = text[:len(text)-1] // without the newline
	if len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	return digits.Number(text)
}

// layout returns the number of a layout, from 1.
func (t *Texts) layout(l *step) int {
	for i, old := range t.layouts {
		if old == l {
			return i + 1
		}
	}
	t.layouts = append(t.layouts, l)
	return len(t.layouts)
}

// AddText keeps a text that Text has returned.
func (t *Texts) AddText(text []byte) { t.Add(&Event{Text: text}) }

// DropLast forgets the text added last. It may be called once after each Add.
func (t *Texts) DropLast() {
	if t.n == 0 {
		t.none--
		return
	}
	t.n--
	t.number = t.before
	t.marks = t.marks[:(t.n+marked-1)/marked]
	chunk := &t.chunks[len(t.chunks)-1]
	*chunk = (*chunk)[:t.last]
}

// Select returns the texts of the given numbers, which ascend, numbered from 0 on.
func (t *Texts) Select(numbers []int) (selected Texts) {
	var at cursor
	for _, i := range numbers {
		selected.add(t, i, &at)
	}
	return selected
}

// AddFrom adds the texts of others from a number on, until there are n of them.
func (t *Texts) AddFrom(others *Texts, from, n int) {
	var at cursor
	for i := from; i < n; i++ {
		t.add(others, i, &at)
	}
}

// add adds the i-th of other texts.
func (t *Texts) add(others *Texts, i int, at *cursor) {
	var ev Event
	if layout, text := others.find(i, at); layout > 0 {
		ev.layout, ev.others = others.layouts[layout-1], text
	} else {
		ev.Text = text
	}
	t.Add(&ev)
}

// Text returns the i-th text, from 0, or one that prints the same once it
// is read. The event must have the same values as the one whose text was
// added. It returns nil for a text that was not added.
func (t *Texts) Text(i int, v *edn.Values, ev *Event) []byte {
	layout, text := t.find(i, new(cursor))
	return t.rebuild(layout, text, v, ev)
}

func (t *Texts) rebuild(layout int, text []byte, v *edn.Values, ev *Event) []byte {
	if layout == 0 {
		return text
	}
	return rebuild(t.layouts[layout-1], nil, text, v, ev)
}

// Finder finds the values of one other key, which an Event does not hold, in the texts of op maps. Texts are asked for
// mostly in order.
type Finder struct {
	t     *Texts
	key   string // with its colon
	at    cursor
	place []int // by layout: which of the other values is the key's plus 1, 0 if it has none
}

// Finder returns the Finder of a key, with its colon.
func (t *Texts) Finder(key string) *Finder { return &Finder{t: t, key: key} }

// Value returns the text of the key's value in the i-th text, or nil if it has none. If only the whole text is kept,
// it returns that.
func (f *Finder) Value(i int) (value, whole []byte) {
	layout, text := f.t.find(i, &f.at)
	if layout == 0 {
		return nil, text
	}
	n := f.placeIn(layout)
	if n == 0 {
		return nil, nil
	}
	for ; n > 1; n-- {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	value, _, _ = bytes.Cut(text, []byte{'\n'})
	return value, nil
}

// Number returns the key's value in the i-th text if it is kept as an integer, which takes a few moves.
func (f *Finder) Number(i int) (n int64, is bool) {
	layout, _, n, is := f.t.locate(i, &f.at)
	return n, is && f.placeIn(layout) == 1
}

// placeIn returns which of the other values of a layout is the key's, from 1, or 0.
func (f *Finder) placeIn(layout int) int {
	for len(f.place) < len(f.t.layouts) {
		f.place = append(f.place, f.find(f.t.layouts[len(f.place)]))
	}
	return f.place[layout-1]
}

// find returns which of the other values of a layout is the key's, from 1, or 0.
func (f *Finder) find(last *step) int {
	n := 0
	for _, s := range stepsTo(last) {
		if s.About.has == 0 && !s.About.end {
			if n++; strings.Trim(s.Text, "{ ,") == f.key {
				return n
			}
		}
	}
	return 0
}

// cursor is where a text begins. Later texts can be found from there. The
// zero cursor is at the first text.
type cursor struct {
	i int
	place
	text []byte // of a number
}

// find returns what is kept of the i-th text, if anything, and leaves the cursor there. It is valid
// until the cursor is used again.
func (t *Texts) find(i int, at *cursor) (layout int, text []byte) {
	layout, text, n, is := t.locate(i, at)
	if is {
		at.text = append(strconv.AppendInt(at.text[:0], n, 10), '\n')
		text = at.text
	}
	return layout, text
}

// locate does what find does. If an integer is kept instead of a text, it returns that.
func (t *Texts) locate(i int, at *cursor) (layout int, text []byte, n int64, is bool) {
	if i -= t.none; i < 0 || i >= t.n {
		return 0, nil, 0, false
	}
	if i < at.i || i-at.i > i%marked {
		at.i, at.place = i-i%marked, t.marks[i/marked]
	}
	for ; ; at.i++ {
		for at.at == len(t.chunks[at.chunk]) {
			at.chunk, at.at = at.chunk+1, 0
		}
		b := t.chunks[at.chunk][at.at:]
		kind, end := b[0]%kinds, 1
		if layout, text, n = int(b[0]/kinds), nil, at.number; layout == mostInHead {
			layout, end = int(b[1]), 2
		}
		switch kind {
		case near:
			n += int64(binary.LittleEndian.Uint32(b) >> 8)
			end += 3
		case far:
			n += int64(int32(binary.LittleEndian.Uint32(b[end:])))
			end += 4
		case number:
			n = int64(binary.LittleEndian.Uint64(b[end:]))
			end += 8
		default:
			length, size := binary.Uvarint(b[end:])
			text, end = b[end+size:][:length], end+size+int(length)
		}
		if at.i == i {
			return layout, text, n, kind != otherText
		}
		at.at += end
		at.number = n
	}
}

// rebuild appends the op map whose layout ends with the given step. The
// lines of others hold the values that an Event does not hold.
func rebuild(last *step, b, others []byte, v *edn.Values, ev *Event) []byte {
	for _, s := range stepsTo(last) {
		b = append(b, s.Text...)
		if s.About.has == 0 && !s.About.end {
			if len(others) == 0 {
				b = strconv.AppendInt(b, ev.other, 10)
			}
			other, rest, _ := bytes.Cut(others, []byte{'\n'})
			b, others = append(b, other...), rest
		}
		b = appendField(b, s.About.has, v, ev)
	}
	return b
}

func appendField(dst []byte, has Fields, v *edn.Values, ev *Event) []byte {
	switch has {
	case HasType:
		return v.AppendText(dst, ev.Type)
	case HasF:
		return v.AppendText(dst, ev.F)
	case HasProcess:
		return appendProcess(dst, v, ev)
	case HasValue:
		return v.AppendText(dst, ev.Value)
	case HasKey:
		return v.AppendText(dst, ev.Key)
	case HasIndex, HasIndex | hasOtherIndex:
		return strconv.AppendInt(dst, ev.Index, 10)
	}
	return dst
}

// appendProcess appends an event's process. The form that stands for an
// integer's class may have another spelling.
func appendProcess(dst []byte, v *edn.Values, ev *Event) []byte {
	if n, ok := v.Int(ev.Process); ok {
		return strconv.AppendInt(dst, n, 10)
	}
	return v.AppendText(dst, ev.Process)
}
