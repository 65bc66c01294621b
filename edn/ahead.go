package edn

import (
	"bytes"
	"io"
)

// A text can be read ahead. While one Maps returns the maps of a block, others scan later
// blocks, wherever those begin, and note what they find. The first one still finds each map on
// its own. It uses a note only for a map that begins at the same place. What stands at
// a place does not depend on how the reader got there. So the notes affect only the time.

// ReadAhead makes a supply the blocks, starting with the third; for a shorter text this is not worth the
// effort. Its Next returns rest, of which it keeps nothing, followed by the next block, and the error that ends the
// input there. If the text is nil, the rest is read from Left. It must be called before Next.
func (m *Maps) ReadAhead(a interface {
	Next(rest []byte) (text []byte, err error)
	Left() io.Reader
}) {
	m.text.Ahead = a
}

// Stand makes m, whose text another reader reads, stand at data[i], at a place in the whole text, where a map begins.
func (m *Maps) Stand(data []byte, i int, at Pos) {
	s := &m.s
	at.File, at.Offset = s.start.File, at.Offset-int64(i)
	s.onto(data, i)
	s.start, m.at, m.end = at, i, i
}

// Scan makes m scan a part of a text for another Maps, from an index at
// which maps may begin. Next then ends with an error as soon as it meets
// something that is not a map. Only keywords are interned.
func (m *Maps) Scan(text []byte, from int, raws *Raws) {
	s := &m.s
	s.onto(text, from)
	s.final, s.start = false, Pos{Line: 1, Col: 1}
	if from == 0 {
		m.raws, m.items = raws, raws.items[:0]
	}
	m.err, m.text.Err, m.at, m.end = nil, io.ErrUnexpectedEOF, from, from
	m.started, m.wrapper, m.closed, m.pending = false, 0, false, ""
}

// Resume returns an index at which maps may begin again after Next has
// failed, or -1. It also returns about how many bytes were read in vain.
func (m *Maps) Resume() (from, cost int) {
	s := &m.s
	read := len(s.data)
	if at, is := m.err.(*Error); is {
		read = int(at.Offset)
	}
	line := bytes.IndexByte(s.data[m.at:], '\n')
	if line < 0 {
		return -1, 0
	}
	return m.at + line + 1, max(read-m.at, line)
}

// Raw is a value that has been scanned but not interned. Its low bits tell what the others mean.
type Raw int64

const (
	rawInt    Raw = iota // the integer, of at most 18 digits; no bit is set
	rawForm              // the ID of nil, true, false or a keyword in the scanner's own table
	rawText              // where it begins and ends in the text
	rawVector            // where its items begin and end among those of Raws
	rawMap               // the same, keys and values in turn
)

const (
	rawBits  = 3
	spanBits = 30 // the longest text that can be scanned at once is 1<<spanBits bytes
)

// RawInt returns an integer of at most 18 digits.
func RawInt(n int64) Raw { return Raw(n) << rawBits }

// RawForm returns nil, true, false or a keyword in the scanner's own table.
func RawForm(id ID) Raw { return Raw(id)<<rawBits | rawForm }

// RawText returns a form by where it begins and ends in the text.
func RawText(from, to int) Raw { return rawSpan(rawText, from, to) }

// RawVector returns a vector of values other than texts.
func (m *Maps) RawVector(items []Raw) Raw { return m.rawItems(rawVector, items) }

func (m *Maps) rawItems(kind Raw, items []Raw) Raw {
	from := len(m.items)
	m.items = append(m.items, items...)
	return rawSpan(kind, from, len(m.items))
}

// Int returns the integer that has been scanned, if it is one.
func (r Raw) Int() (n int64, is bool) { return int64(r >> rawBits), r.kind() == rawInt }

func (r Raw) kind() Raw { return r & (1<<rawBits - 1) }

func rawSpan(kind Raw, from, to int) Raw {
	return Raw(from)<<(rawBits+spanBits) | Raw(to)<<rawBits | kind
}

func (r Raw) span() (from, to int) {
	return int(r >> (rawBits + spanBits)), int(r >> rawBits & (1<<spanBits - 1))
}

// Raws holds what the values scanned by a Maps have in common.
type Raws struct {
	items []Raw
	words *Words
	names []string // the names of those words that occur in the values
}

// Words holds the keywords that a Maps has seen while scanning for others,
// and their IDs in the table of the Maps for which it scanned.
type Words struct {
	names  []string // by ID in the table of the scanning Maps
	ids    []ID     // by such an ID: the ID in the other table, Nil if not known yet
	forgot int      // how often the other table had forgotten values when the IDs were noted
}

// In says that values are interned in a table, which may have forgotten some since the last call.
func (r *Raws) In(v *Values) {
	if w := r.words; w.forgot != v.forgot {
		w.forgot = v.forgot
		clear(w.ids)
	}
}

// Reset prepares for the values of another block.
func (r *Raws) Reset(w *Words) { r.words = w }

// Scanned ends a block. What its values need no longer depends on what m does later.
func (m *Maps) Scanned() {
	v, r := m.s.v, m.raws
	for id := len(r.words.names); id < len(v.forms); id++ {
		r.words.names = append(r.words.names, v.Str(ID(id)))
	}
	r.items, r.names = m.items, r.words.names
}

// Intern interns a value that was scanned in a text that begins at Data[base].
// If it returns false, the caller must read the map again, starting with Open.
func (m *Maps) Intern(raw Raw, of *Raws, base int) (ID, bool) {
	switch raw.kind() {
	case rawText:
		from, to := raw.span()
		m.Open(m.at)
		id, end := m.s.form(base + from)
		return id, end == base+to
	case rawVector, rawMap:
		from, to := raw.span()
		return m.internItems(raw.kind(), of.items[from:to], of), true
	}
	return m.internScalar(raw, of), true
}

// internItems interns a scanned vector or map, after its items.
func (m *Maps) internItems(kind Raw, raws []Raw, of *Raws) ID {
	base := len(m.s.items)
	for _, raw := range raws {
		id := Nil
		if k := raw.kind(); k == rawVector || k == rawMap {
			from, to := raw.span()
			id = m.internItems(k, of.items[from:to], of)
		} else {
			id = m.internScalar(raw, of)
		}
		m.s.items = append(m.s.items, id)
	}
	collection := KindVector
	if kind == rawMap {
		collection = KindMap
	}
	id, _ := m.s.collect(collection, m.s.items[base:], 0, 0) // no key is there twice
	m.s.items = m.s.items[:base]
	return id
}

// internScalar interns a scanned integer, nil, true, false or keyword.
func (m *Maps) internScalar(raw Raw, of *Raws) ID {
	n := int64(raw >> rawBits)
	if raw.kind() == rawInt {
		return m.s.v.InternInt(n)
	}
	return m.Word(ID(n), of)
}

// Known returns the ID of a scanned keyword, or Nil if it has not been interned.
func (r *Raws) Known(id ID) ID {
	if ids := r.words.ids; int(id) < len(ids) {
		return ids[id]
	}
	return Nil
}

// Word returns the ID of a scanned keyword, and interns it if necessary.
func (m *Maps) Word(id ID, of *Raws) ID {
	if of == nil || id <= True {
		return id
	}
	if known := of.Known(id); known != Nil {
		return known
	}
	return m.newWord(id, of)
}

// Find makes the ID of a scanned keyword known if it has been interned by other means.
func (m *Maps) Find(id ID, of *Raws) {
	if of.Known(id) == Nil {
		if _, is := m.s.v.keywords[of.names[id]]; is {
			m.newWord(id, of)
		}
	}
}

func (m *Maps) newWord(id ID, of *Raws) ID {
	w := of.words
	if int(id) >= len(w.ids) {
		w.ids = append(w.ids, make([]ID, len(of.names)-len(w.ids))...)
	}
	w.ids[id] = m.s.v.InternKeyword(of.names[id])
	return w.ids[id]
}
