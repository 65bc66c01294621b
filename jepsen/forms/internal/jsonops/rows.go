package jsonops

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/scan"
)

// Most ops that stand on lines of their own are read in rows, as op maps are: see opmap.Lines. Next reads the others.

// ReadAhead makes Rows find rows, and that many goroutines run ahead of the reader; see opmap.Reader. It must be
// called before Next, and Close after the last read.
func (r *Reader) ReadAhead(scouts int, ready bool) {
	r.lines = opmap.NewLines(r.In, r.quick.V, scouts, ready, func(v *edn.Values) opmap.Syntax {
		s := &scanner{txn: v.InternKeyword("txn"), array: r.array}
		s.V = v
		return s
	})
	r.Blocks.Ahead = r.lines
}

// Close ends the reading.
func (r *Reader) Close() {
	if r.lines != nil {
		r.lines.Close()
	}
}

// Rows returns the next ops, as long as they can be rows. Those taken by Take are read then.
func (r *Reader) Rows() *opmap.Rows {
	rest := r.Data[r.At:]
	switch {
	case r.ops == 0 || r.Blocks.Ahead == nil:
		return &none
	case r.array && !r.comma && bytes.HasPrefix(rest, []byte(",\n{")):
		r.At, r.comma = r.At+2, true
	case r.array && !r.comma:
		if r.ops == 1 { // the ops do not stand on lines of their own
			r.Alone()
		}
		return &none
	case !r.array && bytes.HasPrefix(rest, []byte("\n")):
		r.At++
	}
	if r.At >= len(r.Data) || r.Data[r.At] != '{' {
		return &none
	}
	at := r.place(r.At)
	if at.Col != 1 {
		return &none
	}
	return r.lines.Rows(r.Data, r.At, edn.Pos{Line: at.Line, Col: 1, Offset: r.Offset + int64(r.At)})
}

var none opmap.Rows

// Take says that the first n rows have been read.
func (r *Reader) Take(n int) {
	if r.lines == nil {
		return
	}
	if end := r.lines.Take(n); n > 0 {
		r.At, r.ops = end, r.ops+n
		r.here, r.mark = scan.Place{Line: r.here.Line + n, Col: 1}, r.Offset+int64(end)
	}
}

// scanner scans ops for opmap.Lines. Strings that are not names, and whatever else is unusual, it leaves to Next.
type scanner struct {
	quickReader
	txn   edn.ID
	array bool      // a comma follows each op
	raws  []edn.Raw // of the vectors that are being read
}

// Parts implements opmap.Syntax.
func (s *scanner) Parts(op []byte) (texts, keys []string) {
	op = bytes.TrimRight(op, " \t\r")
	object := op
	if s.array {
		object = bytes.TrimSuffix(op, []byte(","))
	}
	if len(object) == 0 || object[0] != '{' || object[len(object)-1] != '}' || s.array == (len(object) == len(op)) || !json.Valid(object) || !utf8.Valid(object) {
		return nil, nil
	}
	return s.parts(op)
}

// Word implements opmap.Syntax.
func (s *scanner) Word(text []byte, i int) (edn.ID, int) {
	if s.data = text; i >= len(text) || text[i] != '"' {
		return edn.Nil, -1
	}
	end := s.plain(i)
	if end < 0 {
		return edn.Nil, -1
	}
	id, is := s.Named(text[i+1 : end-1])
	if !is {
		return edn.Nil, -1
	}
	return id, end
}

// Int implements opmap.Syntax.
func (s *scanner) Int(text []byte, i int) (int64, int) {
	s.data = text
	return s.int(i)
}

// Other implements opmap.Syntax.
func (s *scanner) Other(dst, text []byte, i int) ([]byte, int) {
	s.data, s.others = text, dst
	end := s.other(i)
	return s.others, end
}

// Value implements opmap.Syntax.
func (s *scanner) Value(maps *edn.Maps, i int, f edn.ID) (edn.Raw, int) {
	s.data = maps.Data()
	as := plainRole // if the op is a transaction after all, the heads of its micro-ops are strings, which are not scanned
	if f == s.txn {
		as = stepsRole
	}
	raw, end := s.raw(maps, i, as, 0)
	s.raws = s.raws[:0]
	return raw, end
}

// scannedDepth is how deep the vectors are nested that are scanned.
const scannedDepth = 4

func (s *scanner) raw(maps *edn.Maps, i int, as role, depth int) (edn.Raw, int) {
	data := s.data
	if i >= len(data) {
		return 0, -1
	}
	switch c := data[i]; {
	case c == '"' && as == nameRole:
		id, end := s.Word(data, i)
		return edn.RawForm(id), end
	case c == '"' && depth == 0:
		end := s.plain(i)
		return edn.RawText(i, max(end, 0)), end
	case c == '[' && depth < scannedDepth:
		base := len(s.raws)
		at, more := s.item(i+1, true, ']')
		for n := 0; more; n++ {
			raw, end := s.raw(maps, at, as.of("", n), depth+1)
			if end < 0 {
				return 0, -1
			}
			s.raws = append(s.raws, raw)
			at, more = s.item(end, false, ']')
		}
		if at < 0 {
			return 0, -1
		}
		raw := maps.RawVector(s.raws[base:])
		s.raws = s.raws[:base]
		return raw, at
	case c == '-' || c-'0' < 10:
		n, end := s.int(i)
		return edn.RawInt(n), end
	}
	for _, w := range literals {
		if end := i + len(w.text); end < len(data) && string(data[i:end]) == w.text && structural(data[end]) {
			return edn.RawForm(w.id), end
		}
	}
	return 0, -1
}
