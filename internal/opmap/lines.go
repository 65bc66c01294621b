package opmap

import (
	"bytes"
	"encoding/binary"
	"io"

	"clew/edn"
	"clew/internal/layouts"
)

// Syntax is how ops are written that are not op maps. It scans ops of a text. A method that scans returns the index
// behind what it has scanned, or -1 if that is unusual or wrong. The ops are then read by other means, which must
// give the same events as the op maps with the same keys.
type Syntax interface {
	// Parts returns the text before each value of an op, and the text at the end, with the keys as they print, such as
	// ":index". It returns nil if the op is wrong or a key is unusual. What a value is ends where the next text begins.
	Parts(op []byte) (texts, keys []string)
	// Word scans the name of a keyword, which has one byte before it and one behind.
	Word(text []byte, i int) (edn.ID, int)
	Int(text []byte, i int) (int64, int)
	// Value scans a value of the op in the Data of maps. f is its :f, or Nil if that comes later.
	Value(maps *edn.Maps, i int, f edn.ID) (edn.Raw, int)
	// Other appends a value as EDN, on one line.
	Other(dst, text []byte, i int) ([]byte, int)
}

// Lines finds the ops of a text that can be rows. They are written in another syntax, each on a line. Another reader
// reads the text, whose blocks come from here, and the other ops.
type Lines struct{ r *Reader }

// NewLines returns the Lines of the text in r. See ReadAhead for the scouts, each of which gets a syntax.
func NewLines(r io.Reader, v *edn.Values, scouts int, ready bool, syntax func(*edn.Values) Syntax) *Lines {
	l := &Lines{NewReader(r, "", v)}
	l.r.ReadAhead(scouts, ready)
	l.r.ahead.syntax = syntax
	return l
}

// Blocks sets how many bytes of the text a scout gets at once, instead of 256 KiB. It must be called before Next.
func (l *Lines) Blocks(bytes int) { l.r.ahead.size = bytes }

// Next implements blocks.Ahead.
func (l *Lines) Next(rest []byte) ([]byte, error) { return l.r.ahead.Next(rest) }

// Left implements blocks.Ahead.
func (l *Lines) Left() io.Reader { return l.r.ahead.Left() }

// Close ends the reading.
func (l *Lines) Close() { l.r.Close() }

// Rows returns the rows from data[i] on, which is at the beginning of a line. They are valid until the next call.
func (l *Lines) Rows(data []byte, i int, at edn.Pos) *Rows {
	r := l.r
	var rec *record
	if r.ahead != nil && r.ahead.now != nil {
		rec = r.recorded(i)
	}
	if rec == nil {
		r.rows.All = r.rows.All[:0]
		return &r.rows
	}
	// The other reader has interned the words of the first op that has them.
	raws := &r.ahead.now.raws
	raws.In(r.values)
	r.maps.Find(edn.ID(rec.typ), raws)
	r.maps.Find(edn.ID(rec.f), raws)
	r.maps.Stand(data, i, at)
	return r.Rows()
}

// Take does what the Reader's Take does. It returns where the rows end in data.
func (l *Lines) Take(n int) (end int) {
	if l.r.ahead == nil {
		return 0
	}
	if l.r.Take(n); n > 0 {
		l.r.ahead.found-- // which recorded has counted
	}
	return l.r.maps.End()
}

func (r *Reader) write(s Syntax) {
	r.syntax, r.opening, r.around, r.like = s, '"', 2, new(layouts.Tree[about])
}

// scanLines scans a block of ops in another syntax.
func (r *Reader) scanLines() {
	b := r.block
	r.maps.Scan(b.text, 0, &b.raws)
	for i := 0; i < len(b.text); {
		i = r.alike(i)
		line := bytes.IndexByte(b.text[i:], '\n')
		if line < 0 {
			return
		}
		if end := r.quick(i, nil); end < 0 && r.learnLine(b.text[i:i+line]) {
			r.quick(i, nil)
		}
		i += line + 1
	}
}

// learnLine learns an op. It says whether others may be like it.
func (r *Reader) learnLine(op []byte) bool {
	if r.like.Known == layouts.Max || r.tree.Known == layouts.Max || len(op) > longestLine {
		return false
	}
	texts, keys := r.syntax.Parts(op)
	if texts == nil {
		return false
	}
	layout := layoutOf(&r.tree, keys)
	if layout.spare {
		return false
	}
	at := &r.like.Root
	for i, text := range texts {
		what := layout.last.About
		if i < len(keys) {
			what = about{has: fieldOf(keys[i])}
			what.hole = what.what()
		}
		if at, _ = r.like.Grow(at, text, what); at == nil {
			return false
		}
	}
	return true
}

// longestLine bounds the lines from which a scout learns.
const longestLine = 1 << 12

// keyword scans the word at i.
func (r *Reader) keyword(i int) (edn.ID, int) {
	if r.syntax == nil {
		return r.maps.QuickKeyword(i)
	}
	data := r.maps.Data()
	id, end := r.syntax.Word(data, i)
	if n := end - i - 2; n > 0 && n < 8 && i+9 <= len(data) {
		r.maps.Note(binary.LittleEndian.Uint64(data[i+1:]), id, n)
	}
	return id, end
}

// scanLine does what scan does in another syntax. It also keeps the values of other keys.
func (r *Reader) scanLine(has Fields, i int) (end int) {
	maps, data, rec := &r.maps, r.maps.Data(), &r.record
	switch has {
	case HasType:
		r.typ, end = r.keyword(i)
	case HasF:
		r.f, end = r.keyword(i)
	case HasProcess:
		rec.process, end = r.syntax.Int(data, i)
	case HasIndex | hasOtherIndex:
		rec.index, end = r.syntax.Int(data, i)
	case HasValue:
		rec.value, end = r.syntax.Value(maps, i, r.f)
	case HasKey:
		r.key, end = r.syntax.Value(maps, i, edn.Nil)
	default:
		r.others, end = r.syntax.Other(r.others, data, i)
	}
	return end
}
