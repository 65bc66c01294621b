package edn

import (
	"bytes"
	"fmt"
	"io"
)

// Fields is a set of the keys of an op map.
type Fields uint8

// The keys that a Reader takes from an op map.
const (
	HasType Fields = 1 << iota
	HasProcess
	HasF
	HasValue
	HasIndex // an integer that fits an int64
	HasKey
	hasOtherIndex // an :index that is none
)

// Event is one op map of a history.
type Event struct {
	Type, Process, F, Value, Key ID     // Nil where absent
	Index                        int64  // not interned: all are different
	Has                          Fields // which keys are present
	Text                         []byte // the op map as it stands in the input, until the next one is read
	Line, Col                    int    // of its opening brace, from 1
	End                          int64  // the offset of what follows it

	layout *step  // how it is printed, if that is known
	others []byte // the values of other keys then, each with a newline
}

// The input is read in blocks. The first is small, since many histories are.
const (
	firstBlock = 64 << 10
	fullBlock  = 256 << 10
)

// Reader reads the op maps of a history: bare ones one after another, or those
// in one vector or list. It streams: what it keeps of the input is one block, or
// the op map at hand if that is longer.
type Reader struct {
	s     scanner
	in    io.Reader
	inErr error // what the input ended with
	err   error // what Next ended with
	first int
	block int

	at      int  // where in the scanner's data to go on
	started bool // an op map or a wrapper has been met
	wrapper byte // the bracket around all op maps, or 0
	wrapPos Pos
	closed  bool   // the wrapper has been closed
	pending string // a tag or metadata that awaits its op map

	steps   step // the root of what has been learned
	known   int  // how many steps there are
	entries []extent
	others  []byte
	words   [64]word // keywords seen lately, by hash
}

// NewReader returns a reader of the history in r. The file is for messages. The
// values of the events are interned in v.
func NewReader(r io.Reader, file string, v *Values) *Reader {
	rd := &Reader{in: r, first: firstBlock, block: fullBlock}
	rd.s.v = v
	rd.s.start = Pos{File: file, Line: 1, Col: 1}
	return rd
}

// Next reads the next op map into ev. It returns io.EOF at the end, an *Error if
// the input is no history, or an error of the underlying reader with the name of
// the file; and the same again if it is called after that.
func (r *Reader) Next(ev *Event) error {
	for r.err == nil {
		r.at = r.s.blank(r.at)
		if r.s.atEnd(r.at) {
			r.err = r.refillOrFinish()
			continue
		}
		r.s.advance(r.at)
		end, isOp := r.element(r.at, ev)
		switch {
		case end >= 0:
			r.at = end
			if isOp {
				ev.End = r.s.start.Offset + int64(end)
				return nil
			}
		case r.s.more:
			r.err = r.refill()
		default:
			r.err = r.s.err
		}
	}
	return r.err
}

func (r *Reader) refillOrFinish() error {
	if !r.s.final {
		return r.refill()
	}
	if r.pending != "" || r.wrapper != 0 && !r.closed {
		return r.failure(r.at, r.expected(), "end of input")
	}
	return io.EOF
}

// expected says what may come next.
func (r *Reader) expected() string {
	switch {
	case r.pending != "":
		return "an op map after " + r.pending
	case r.closed:
		return "end of input"
	}
	return "an op map"
}

func (r *Reader) failure(i int, expected, found string) error {
	if r.wrapper != 0 && !r.closed && r.pending == "" && found == "end of input" {
		expected = closes(r.wrapper, r.wrapPos)
	}
	r.s.fail(i, "expected "+expected+", found "+found)
	return r.s.err
}

// element reads what begins at i, between op maps: an op map, a bracket of the
// wrapper, a discarded form, a tag or metadata.
func (r *Reader) element(i int, ev *Event) (end int, isOp bool) {
	s := &r.s
	s.more, s.open, s.items, s.spots, s.tags = false, s.open[:0], s.items[:0], s.spots[:0], 0
	c := s.data[i]
	switch {
	case r.closed:
		return r.unexpected(i), false
	case c == '{':
		r.started, r.pending = true, ""
		return r.op(i, ev), true
	case (c == '[' || c == '(') && !r.started:
		r.started, r.pending = true, ""
		r.wrapper, r.wrapPos = c, s.pos(i)
		return i + 1, false
	case isCloser(c):
		return r.close(i), false
	case c == '^':
		return r.meta(i, i+1), false
	case c == '#':
		return r.dispatch(i), false
	}
	return r.unexpected(i), false
}

// unexpected fails with what begins at i, once enough of it is there to name it.
func (r *Reader) unexpected(i int) int {
	if c := r.s.data[i]; c == '#' && i+1 == len(r.s.data) && !r.s.final {
		r.s.more = true
		return -1
	} else if bytesOf[c]&delimByte == 0 && c != '#' && r.s.token(i) < 0 {
		return -1
	}
	r.failure(i, r.expected(), r.s.found(i))
	return -1
}

func (r *Reader) close(i int) int {
	c := r.s.data[i]
	switch {
	case r.wrapper == 0 || r.pending != "":
		r.failure(i, r.expected(), string(c))
		return -1
	case closer(r.wrapper) != c:
		r.failure(i, closes(r.wrapper, r.wrapPos), string(c))
		return -1
	}
	r.closed = true
	return i + 1
}

func (r *Reader) meta(i, at int) int {
	end := r.s.skip(at, "metadata after ^")
	if end >= 0 {
		r.pending = "metadata"
	}
	return end
}

func (r *Reader) dispatch(i int) int {
	s := &r.s
	if i+1 == len(s.data) {
		return s.unfinished("a tag after #")
	}
	switch s.data[i+1] {
	case '_':
		return s.skip(i+2, "a value after #_")
	case '^':
		return r.meta(i, i+2)
	case '{', '"', '#', '\'', '<':
		return r.unexpected(i)
	}
	end := s.token(i + 1)
	if end < 0 {
		return -1
	}
	if end == i+1 {
		s.fail(i, "expected a tag after #")
		return -1
	}
	r.pending = clip(s.data[i:end])
	return end
}

// op reads the op map at i.
func (r *Reader) op(i int, ev *Event) int {
	s := &r.s
	if len(r.steps.next) > 0 {
		if end := r.quick(i, ev); end >= 0 || s.more {
			return end
		}
	}
	r.entries = r.entries[:0]
	*ev = Event{Line: s.start.Line, Col: s.start.Col}
	s.forgiven = nil
	if !s.push(i) {
		return -1
	}
	at := i + 1
	for {
		if at = s.next(at, ""); at < 0 {
			return -1
		}
		if isCloser(s.data[at]) {
			break
		}
		if at = r.entry(at, ev); at < 0 {
			return -1
		}
	}
	if !s.pop(at) {
		return -1
	}
	if isClient := ev.Has&HasProcess == 0 || s.v.Kind(ev.Process) == KindInt; isClient && s.forgiven != nil {
		s.err = s.forgiven
		return -1
	}
	if s.forgiven == nil && r.known < maxSteps {
		r.learn(i, at)
	}
	at++
	ev.Text = s.data[i:at:at]
	return at
}

// entry reads one key of an op map and its value.
func (r *Reader) entry(key int, ev *Event) int {
	s := &r.s
	var dst *ID
	var has Fields
	var end int
	if s.data[key] == ':' {
		if end = s.token(key); end >= 0 {
			dst, has = ev.field(s.data[key+1 : end])
		}
	} else {
		end = s.skip(key, "a key")
	}
	if end < 0 {
		return -1
	}
	if ev.Has&has != 0 {
		return s.fail(key, "duplicate key "+string(s.data[key:end]))
	}
	at := s.next(end, "")
	if at < 0 {
		return -1
	}
	if isCloser(s.data[at]) {
		return s.fail(at, "expected a value for "+clip(s.data[key:end])+", found "+string(s.data[at]))
	}
	begin := at
	switch has {
	case 0:
		at = s.skip(at, "a value")
	case HasIndex | hasOtherIndex:
		at = r.index(at, ev)
	default:
		// What the nemesis did may be no value, and does not matter.
		s.lenient = has == HasValue
		*dst, at = s.value(at)
		s.lenient = false
		ev.Has |= has
	}
	r.entries = append(r.entries, extent{key, end, begin, at, has})
	return at
}

// index reads the :index at i.
func (r *Reader) index(i int, ev *Event) int {
	if n, end := r.s.shortInt(i); end > i {
		ev.Index, ev.Has = n, ev.Has|HasIndex
		return end
	}
	id, end := r.s.value(i)
	if end < 0 {
		return -1
	}
	if n, ok := r.s.v.Int(id); ok {
		ev.Index, ev.Has = n, ev.Has|HasIndex
	} else {
		ev.Has |= hasOtherIndex
	}
	return end
}

func (ev *Event) field(name []byte) (*ID, Fields) {
	switch string(name) {
	case "type":
		return &ev.Type, HasType
	case "process":
		return &ev.Process, HasProcess
	case "f":
		return &ev.F, HasF
	case "value":
		return &ev.Value, HasValue
	case "index":
		return nil, HasIndex | hasOtherIndex
	case "key":
		return &ev.Key, HasKey
	}
	return nil, 0
}

// refill moves what is not read yet to the start of a block and fills it. A block
// is at least twice as long as what is moved, so that a long op map is scanned
// again only a few times.
func (r *Reader) refill() error {
	if r.inErr != nil {
		return r.inputError()
	}
	s := &r.s
	size := r.block
	if s.data == nil {
		size = r.first
	}
	rest := s.data[r.at:]
	s.advance(r.at)
	block := s.data[:cap(s.data)]
	if size = max(size, 2*len(rest)); len(block) < size {
		block = make([]byte, size)
	}
	n := copy(block, rest)
	s.start.Offset += int64(r.at)
	n = r.fill(block, n)
	first := s.data == nil
	s.data, s.mark, r.at = block[:n], 0, 0
	s.final = r.inErr == io.EOF
	if first && bytes.HasPrefix(s.data, byteOrderMark) {
		s.mark, r.at = len(byteOrderMark), len(byteOrderMark)
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// fill reads until the block is full or the input ends.
func (r *Reader) fill(block []byte, n int) int {
	for empty := 0; n < len(block) && r.inErr == nil; {
		k, err := r.in.Read(block[n:])
		n += k
		r.inErr = err
		if empty++; k > 0 {
			empty = 0
		}
		if err == nil && empty == 100 {
			r.inErr = io.ErrNoProgress
		}
	}
	return n
}

// inputError is reached with all that was read used up.
func (r *Reader) inputError() error {
	if r.s.start.File == "" {
		return r.inErr
	}
	return fmt.Errorf("%s: %w", r.s.start.File, r.inErr)
}
