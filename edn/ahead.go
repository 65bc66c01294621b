package edn

import (
	"bytes"
	"io"
)

// A text can be read ahead: while one Maps gives out the maps of a block, others
// scan the blocks behind it, wherever those begin, and note what they find. The
// one that gives out still finds each map by itself. It takes a note only if the
// note is about a map that begins at the same place, since what stands at a place
// does not depend on how one has come there. So nothing that the others do makes a
// difference, except for the time.

// Ahead gives a Maps its text in blocks, from the third on, and learns where they
// are.
type Ahead interface {
	// Next returns rest, of which it keeps nothing, with the next block behind it,
	// and the error with which the input ends there. They are valid until the next
	// call. If it returns nil, the Maps is to read by itself what Left gives.
	Next(rest []byte) (text []byte, err error)
	Left() io.Reader
}

// ReadAhead has blocks given by a, from the third on: a short text is not worth it.
// It must be called before Next.
func (m *Maps) ReadAhead(a Ahead) { m.ahead = a }

// fromAhead takes the next block, and says whether there is one.
func (m *Maps) fromAhead(rest []byte) bool {
	text, err := m.ahead.Next(rest)
	if text == nil {
		m.in, m.ahead = m.ahead.Left(), nil
		return false
	}
	s := &m.s
	s.start.Offset += int64(m.at)
	s.data, s.mark, m.at, m.end = text, 0, 0, 0
	s.more = false
	m.inErr, s.final = err, err == io.EOF
	return true
}

// Scan has m scan a part of a text for another Maps, from an index on at which
// maps may begin. Next then ends with an error as soon as there is anything that is
// no map. Only keywords are interned.
func (m *Maps) Scan(text []byte, from int, raws *Raws) {
	s := &m.s
	s.begin()
	s.data, s.final = text, false
	s.start, s.mark = Pos{Line: 1, Col: 1}, from
	if from == 0 {
		m.raws, m.items = raws, raws.items[:0]
	}
	m.err, m.inErr, m.at, m.end = nil, io.ErrUnexpectedEOF, from, from
	m.started, m.wrapper, m.closed, m.pending = false, 0, false, ""
}

// Resume is an index at which maps may begin again after those that Next has ended
// with, -1 if there is none. Cost is about how many bytes were read in vain.
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

// Raw is a value that has been scanned but not interned. Its low bits say what the
// others are.
type Raw int64

const (
	rawInt    Raw = iota // the integer, of at most 18 digits; no bit is set
	rawForm              // the ID of nil, true, false or a keyword in the table of who scanned
	rawText              // where it begins and ends in the text
	rawVector            // where its items begin and end among those of Raws
)

const (
	rawBits  = 2
	spanBits = 30 // so much of a text can be scanned at once
)

func (r Raw) kind() Raw { return r & (1<<rawBits - 1) }

func rawSpan(kind Raw, from, to int) Raw {
	return Raw(from)<<(rawBits+spanBits) | Raw(to)<<rawBits | kind
}

func (r Raw) span() (from, to int) {
	return int(r >> (rawBits + spanBits)), int(r >> rawBits & (1<<spanBits - 1))
}

// Raws are what the values that a Maps has scanned have in common.
type Raws struct {
	items []Raw
	words *Words
	names []string // those of words that the values have
}

// Words are the keywords that a Maps has seen while it scanned for others, and what
// they are in the table of the one for which it scanned.
type Words struct {
	names []string // by ID in the table of the one that scans
	ids   []ID     // by such an ID: that in the other table, Nil if not known yet
}

// Reset prepares for the values of another block.
func (r *Raws) Reset(w *Words) { r.words = w }

// Scanned ends a block: what its values need does not depend on what m does later.
func (m *Maps) Scanned() {
	v, r := m.s.v, m.raws
	for id := len(r.words.names); id < len(v.forms); id++ {
		r.words.names = append(r.words.names, v.Str(ID(id)))
	}
	r.items, r.names = m.items, r.words.names
}

// Intern interns a value that was scanned in a text that begins at Data[base]. It
// says whether it could: if not, the map must be read again, from Open on.
func (m *Maps) Intern(raw Raw, of *Raws, base int) (ID, bool) {
	switch raw.kind() {
	case rawText:
		from, to := raw.span()
		m.Open(m.at)
		id, end := m.s.form(base + from)
		return id, end == base+to
	case rawVector:
		from, to := raw.span()
		return m.internVector(of.items[from:to], of), true
	}
	return m.internScalar(raw, of), true
}

func (m *Maps) internVector(raws []Raw, of *Raws) ID {
	items := m.s.items[:0]
	for _, raw := range raws {
		items = append(items, m.internScalar(raw, of))
	}
	m.s.items = items[:0]
	id, _ := m.s.collect(KindVector, items, nil, 0)
	return id
}

// internScalar interns an integer, nil, true, false or a keyword that was scanned.
func (m *Maps) internScalar(raw Raw, of *Raws) ID {
	n := int64(raw >> rawBits)
	if raw.kind() == rawInt {
		return m.s.v.InternInt(n)
	}
	return m.Word(ID(n), of)
}

// Known says whether a keyword that was scanned has been interned.
func (r *Raws) Known(id ID) bool { return int(id) < len(r.words.ids) && r.words.ids[id] != Nil }

// Word is a keyword that was scanned.
func (m *Maps) Word(id ID, of *Raws) ID {
	if of == nil || id <= True {
		return id
	}
	if of.Known(id) {
		return of.words.ids[id]
	}
	return m.newWord(id, of)
}

func (m *Maps) newWord(id ID, of *Raws) ID {
	w := of.words
	if int(id) >= len(w.ids) {
		w.ids = append(w.ids, make([]ID, len(of.names)-len(w.ids))...)
	}
	w.ids[id] = m.s.v.InternKeyword(of.names[id])
	return w.ids[id]
}
