package forms

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"clew/internal/files"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// Passing says how Pass reads a history.
type Passing struct {
	// Each is called after events, as soon as they have come, and at the end. It says how many more may come before it is called
	// again; if that is less than 1, it is called after the next one. It may look at what the builder has so far, and make it
	// forget what need not be kept. If it returns an error, Pass ends with that.
	Each func(b *jepsen.Builder, events int, ended bool) (most int, err error)
	// Marked asks for places.
	Marked bool
	// From is where to go on, with the builder of what came before; nil: at the beginning.
	From    *Place
	Builder *jepsen.Builder

	in   *input
	most int
}

// Place is a place in a text after an event, from which Pass can go on later. The fields are exported so that it can be
// stored.
type Place struct {
	Offset  int64  // in the text, which is not compressed
	Line    int    // at the offset, from 1
	Form    Form   // of the text
	Opened  byte   // the bracket around the op maps, which is open; 0 if there is none
	Stamped bool   // events in a log have a level or a time in front
	Head    []byte // the beginning of the text
	Before  []byte // what comes just before the place

	sought bool // the text begins at the place
}

// ErrNoPlace is the error of a form from whose middle Pass cannot go on.
var ErrNoPlace = errors.New("expected op maps, JSON or a log, in which reading can go on later")

// HasPlaces says whether the form of the text has places from which reading can go on. Each may call it.
func (p *Passing) HasPlaces() bool { return p.in.mark != nil }

// Place returns the place after the last event. It may be called by Each, and by a Read of the text. It returns nil if
// the place is not known there, and ErrNoPlace if the form has no places from which reading can go on.
func (p *Passing) Place() (*Place, error) {
	switch in := p.in; {
	case in == nil || in.form == nil:
		return nil, nil
	case in.mark == nil || in.marks == nil:
		return nil, ErrNoPlace
	default:
		at := in.marks.place(in.form)
		if at != nil {
			in.mark(at)
		}
		return at, nil
	}
}

// Pass reads a history as Read does, and calls p.Each after every event. Interval records and other forms that must be
// sorted come all at once.
func Pass(ctx context.Context, r io.Reader, name string, opts jepsen.Options, p *Passing) error {
	if r == nil || p == nil || p.Each == nil {
		return fmt.Errorf("%s: expected a reader and a function that looks, found nil", name)
	}
	opts.File = name
	b := p.Builder
	if b == nil {
		b = jepsen.NewBuilder(opts)
	}
	p.in = newInput(ctx, passing{feed.Of(b), p, b}, name, opts)
	p.in.eager, p.in.from = true, p.From
	if p.Marked || p.From != nil {
		p.in.marks = &marks{line: 1}
	}
	if err := p.in.read(r, nil); err != nil {
		return err
	}
	if _, err := p.Each(b, 0, true); err != nil {
		return err
	}
	_, err := b.History()
	return err
}

// passing is a feed that calls Each.
type passing struct {
	feed.Feed
	p *Passing
	b *jepsen.Builder
}

func (f passing) Add(e *opmap.Event, op int32) error {
	if err := f.Feed.Add(e, op); err != nil {
		return err
	}
	return f.came(1, e.End)
}

// AddRows implements feed.Rows.
func (f passing) AddRows(rows *opmap.Rows) (n int, err error) {
	if n, err = f.Feed.(feed.Rows).AddRows(rows.First(max(1, f.p.most))); n > 0 {
		err = f.came(n, rows.End(n))
	}
	return n, err
}

// came says that events have come, which end at an offset; 0: that is not known.
func (f passing) came(events int, end int64) (err error) {
	if m := f.p.in.marks; m != nil {
		m.pass(end)
	}
	f.p.most, err = f.p.Each(f.b, events, false)
	return err
}

// Seek goes to the place in a file that is not compressed. Of another text, Pass reads what comes before the place.
func (p *Place) Seek(r io.Reader) error {
	file, is := r.(io.ReadSeeker)
	if !is {
		return nil
	}
	begin, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil // a pipe
	}
	var magic [4]byte
	if n, _ := io.ReadFull(file, magic[:]); files.IsPacked(magic[:n]) {
		_, err = file.Seek(begin, io.SeekStart)
		return err
	}
	if _, err = file.Seek(begin, io.SeekStart); err == nil {
		err = p.goTo(file, func(bytes int64) error { _, err := file.Seek(bytes, io.SeekCurrent); return err })
	}
	p.sought = err == nil
	return err
}

// ErrOther is the error of a text that does not go on from a place.
var ErrOther = errors.New("it does not begin like the text that was read before")

// goTo goes from the beginning of a text to the place.
func (p *Place) goTo(text io.Reader, skip func(bytes int64) error) error {
	same := func(expected []byte) error {
		found := make([]byte, len(expected))
		_, err := io.ReadFull(text, found)
		if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && !bytes.Equal(found, expected) {
			return ErrOther
		}
		return err
	}
	if err := same(p.Head); err != nil {
		return err
	}
	if err := skip(p.Offset - int64(len(p.Head)+len(p.Before))); err == io.EOF {
		return ErrOther
	} else if err != nil {
		return err
	}
	return same(p.Before)
}

// marks is a text that remembers where the last event ended.
type marks struct {
	io.Reader
	begin int64 // where it begins in the whole text

	head   []byte // the beginning of the whole text
	recent []byte // what has been read lately
	offset int64  // of recent[0] in the whole text
	last   int    // the last event ended at recent[last]
	line   int    // there
	known  bool   // all that was read up to there belongs to events that have come
}

// A place has the first headBytes of the text, and the last beforeBytes before it, to recognize it.
const (
	headBytes   = 4096
	beforeBytes = 256
	mostRecent  = 1 << 16 // before some of it is forgotten
)

// Read implements io.Reader.
func (m *marks) Read(p []byte) (int, error) {
	if drop := m.last - beforeBytes; drop > mostRecent {
		m.recent = append(m.recent[:0], m.recent[drop:]...)
		m.offset, m.last = m.offset+int64(drop), beforeBytes
	}
	n, err := m.Reader.Read(p)
	if rest := headBytes - len(m.head); rest > 0 && int64(len(m.head)) == m.offset+int64(len(m.recent)) {
		m.head = append(m.head, p[:min(n, rest)]...)
	}
	m.recent = append(m.recent, p[:n]...)
	return n, err
}

// pass notes that an event has come, and where it ended; 0: that is not known.
func (m *marks) pass(end int64) {
	at := int(m.begin + end - m.offset)
	if m.known = end > 0 && m.last <= at && at <= len(m.recent); m.known {
		m.line += bytes.Count(m.recent[m.last:at], []byte("\n"))
		m.last = at
	}
}

// marked reads the events of a text, and remembers where they end.
func (in *input) marked(text *bufio.Reader, file io.Reader, packed bool) error {
	m := in.marks
	m.Reader = text
	var form *form
	if from := in.from; from != nil {
		if !from.sought {
			if err := from.goTo(text, func(n int64) error { _, err := io.CopyN(io.Discard, text, n); return err }); err != nil {
				return fmt.Errorf("%s: %w", in.file, err)
			}
		}
		if form = from.Form.row(); form == nil {
			return fmt.Errorf("%s: %w", in.file, ErrNoPlace)
		}
		m.head, m.recent, m.line = bytes.Clone(from.Head), bytes.Clone(from.Before), from.Line
		m.offset, m.last = from.Offset-int64(len(from.Before)), len(from.Before)
		m.begin = from.Offset
		if int64(len(m.head)) == m.offset { // it goes on growing
			m.head = append(m.head, from.Before...)
		}
	}
	plain, _ := files.PackedName(in.file)
	return in.text(source{bufio.NewReaderSize(m, 1<<16), file, packed}, plain, form)
}

// place returns the place after the last event, nil if it is not known.
func (m *marks) place(f *form) *Place {
	if !m.known {
		return nil
	}
	before := m.recent[max(0, m.last-beforeBytes):m.last]
	offset := m.offset + int64(m.last)
	head := m.head[:min(int64(len(m.head)), offset-int64(len(before)))]
	return &Place{Offset: offset, Line: m.line, Form: f.name, Head: bytes.Clone(head), Before: bytes.Clone(before)}
}
