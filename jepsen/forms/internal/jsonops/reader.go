package jsonops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/scan"
)

const maxOp = 64 << 20

// Reader reads ops in JSON.
type Reader struct {
	warn   func(format string, args ...any)
	warned map[string]bool // names of fields

	asEDN translator
	blocks.Blocks
	file   string
	here   scan.Place // of the byte at mark
	mark   int64
	opened scan.Place // of the bracket that opens the array
	array  bool
	comma  bool // of an array: the one after the last op has been read
	ops    int
	begins scan.Place // where the current op begins

	lines   *opmap.Lines // finds rows, unless nil
	quick   quickReader
	general generalOp
}

// Options say how ops are read.
type Options struct {
	File   string
	Values *edn.Values // of the events
	Eager  bool        // ops are needed as soon as their text is there
	Exact  bool        // op maps need the keys of all maps in the order of the text
	Warn   func(format string, args ...any)
}

// NewReader returns a reader of a history in JSON.
func NewReader(in io.Reader, o Options) *Reader {
	r := &Reader{file: o.File, warn: o.Warn, here: scan.Place{Line: 1, Col: 1}, Blocks: blocks.Blocks{In: in, Eager: o.Eager}}
	r.quick.V, r.quick.exact = o.Values, o.Exact
	r.quick.holes, r.quick.shown = opHoles, func(keys []string) []string { return keys }
	r.general.reader = opmap.NewReader(&r.general, o.File, o.Values)
	r.general.reader.Eager()
	return r
}

// From says that the text begins in a line after an op, which may be in an array. It must be called before Next.
func (r *Reader) From(line int, inArray bool) {
	r.here.Line = line
	r.ops, r.array, r.opened = 1, inArray, r.here
}

// InArray says whether the ops are in an array.
func (r *Reader) InArray() bool { return r.array }

// Fail returns an error about the current op.
func (r *Reader) Fail(format string, args ...any) error { return r.fail(r.begins, format, args...) }

func (r *Reader) fail(at scan.Place, format string, args ...any) error {
	return edn.Pos{File: r.file, Line: at.Line, Col: at.Col}.Errorf(format, args...)
}

// place returns the place of data[i]. i must not decrease.
func (r *Reader) place(i int) scan.Place {
	r.here = r.here.Past(r.Data[r.mark-r.Offset : i])
	r.mark = r.Offset + int64(i)
	return r.here
}

// more reads more of the text, and keeps the text from i, which becomes index 0.
// It returns io.EOF at the end of the text.
func (r *Reader) more(i int) error {
	r.place(i)
	err := r.Blocks.More(i)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", r.file, err)
	}
	return err
}

// token goes past the next byte that is not white space, and returns where that byte stands.
func (r *Reader) token() (c byte, at scan.Place, err error) {
	for {
		for ; r.At < len(r.Data); r.At++ {
			if c = r.Data[r.At]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
				if c == byteOrderMark[0] && r.mark == 0 && r.begun() {
					continue
				}
				at = r.place(r.At)
				r.At++
				return c, at, nil
			}
		}
		if err := r.more(r.At); err != nil {
			return 0, r.here, err
		}
	}
}

const byteOrderMark = "\ufeff"

// begun skips a byte order mark except its last byte. It says whether there is one.
func (r *Reader) begun() bool {
	for r.Offset == 0 && r.At == 0 && len(r.Data) < len(byteOrderMark) && r.more(0) == nil {
	}
	if r.Offset > 0 || r.At > 0 || !bytes.HasPrefix(r.Data, []byte(byteOrderMark)) {
		return false
	}
	r.At = len(byteOrderMark) - 1
	r.mark = int64(len(byteOrderMark))
	return true
}

// scan goes to the next op. The op's brace is the byte before the next one.
func (r *Reader) scan() error {
	c, at, err := r.token()
	if err == nil && c == '[' && r.ops == 0 && !r.array {
		r.array, r.opened = true, at
		c, at, err = r.token()
	} else if err == nil && r.array && r.ops > 0 && (c == ',' || r.comma) {
		if !r.comma {
			c, at, err = r.token()
		}
		if err == nil && c == ']' {
			return r.fail(at, "expected an op after the comma, found ]")
		}
	} else if err == nil && r.array && c != ']' {
		return r.fail(at, "expected , or ] after an op, found %s", r.found(c))
	}
	switch {
	case err == io.EOF && r.array:
		return r.fail(at, "expected ] to close [ opened at %d:%d, found end of input", r.opened.Line, r.opened.Col)
	case err != nil:
		return err
	case r.array && c == ']':
		if c, at, err = r.token(); err == nil {
			err = r.fail(at, "expected end of input, found %s", r.found(c))
		}
		return err
	case c != '{':
		return r.fail(at, "expected an op as a JSON object, found %s", r.found(c))
	}
	r.ops++
	r.begins, r.comma = at, false
	return nil
}

// found names what a byte begins.
func (r *Reader) found(c byte) string {
	switch {
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	case c < utf8.RuneSelf:
		return string(rune(c))
	}
	return "something else"
}

// Next reads the next op into e. It returns io.EOF at the end, and an *edn.Error
// if the text is not a history in JSON. An error of the underlying reader gets the
// name of the file. Linear time.
func (r *Reader) Next(e *opmap.Event) error {
	err := r.each(func(i int) int { return r.quick.op(r.Data, i, e) }, func(op []byte) error { return r.any(op, e) })
	e.Line, e.Col, e.End = r.begins.Line, r.begins.Col, r.Offset+int64(r.At)
	return err
}

// NextObject returns the text of the next object, which is valid until the next call. It returns io.EOF at the end.
func (r *Reader) NextObject() ([]byte, error) {
	if err := r.scan(); err != nil {
		return nil, err
	}
	object, _, err := r.object()
	if err == nil {
		err = r.check(object)
	}
	r.At += len(object) - 1
	return object, err
}

// each reads the next object: with quick, which returns its end or -1, or else as
// a whole with general.
func (r *Reader) each(quick func(i int) (end int), general func(object []byte) error) error {
	if err := r.scan(); err != nil {
		return err
	}
	end := quick(r.At - 1)
	if end < 0 {
		op, grown, err := r.object()
		if err != nil {
			return err
		}
		if grown {
			end = quick(r.At - 1)
		}
		if end < 0 {
			end = r.At - 1 + len(op)
			if err := r.check(op); err != nil {
				return err
			}
			if err := general(op); err != nil {
				return err
			}
			r.quick.learn(op)
		}
	}
	r.At = end
	return nil
}

// bracket is the state of the search for the bracket that closes an op.
type bracket struct {
	at              int // from the opening bracket
	depth           int
	quoted, escaped bool
}

// find continues the search. It says whether the bracket has been found, which is
// then the byte before at.
func (b *bracket) find(op []byte) bool {
	for ; b.at < len(op) && b.depth > 0; b.at++ {
		switch c := op[b.at]; {
		case b.quoted:
			b.quoted = b.escaped || c != '"'
			b.escaped = !b.escaped && c == '\\'
		case c == '"':
			b.quoted = true
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
	return b.depth == 0
}

// object returns the text of the op whose brace is before the next byte, up to the
// bracket that closes it. It says whether it has read more of the text.
func (r *Reader) object() (op []byte, grown bool, err error) {
	end := bracket{at: 1, depth: 1}
	for !end.find(r.Data[r.At-1:]) {
		if end.at > maxOp {
			break
		}
		if err := r.more(r.At - 1); err == io.EOF {
			at := r.place(len(r.Data))
			return nil, grown, &edn.Error{Pos: edn.Pos{File: r.file, Line: at.Line, Col: at.Col}, Err: edn.ErrUnfinished,
				Msg: fmt.Sprintf("expected } to close { opened at %d:%d, found end of input", r.begins.Line, r.begins.Col)}
		} else if err != nil {
			return nil, grown, err
		}
		grown = true
	}
	if end.at > maxOp {
		return nil, grown, r.fail(r.begins, "op longer than 64 MB")
	}
	return r.Data[r.At-1:][:end.at], grown, nil
}

func (r *Reader) check(op []byte) error {
	if !json.Valid(op) {
		var syntax *json.SyntaxError
		err := json.Unmarshal(op, new(json.RawMessage))
		at := r.begins
		if errors.As(err, &syntax) {
			at = at.Past(op[:max(syntax.Offset-1, 0)])
			if strings.HasSuffix(syntax.Error(), "exceeded max depth") { // Go's limit, which is above ours
				return r.fail(at, "expected at most %d levels of nesting, found more", edn.MaxDepth)
			}
		}
		return r.fail(at, "the JSON is malformed: %v%s", err, instead(op, syntax))
	}
	if !utf8.Valid(op) {
		return r.fail(r.begins, "the op is not UTF-8, as JSON must be")
	}
	return nil
}

// foreignWords are words that other languages print for values which JSON spells
// differently or lacks, and what JSON has instead.
var foreignWords = []struct{ word, instead string }{
	{"NaN", `{"edn": "##NaN"}`}, {"Infinity", `{"edn": "##Inf"}`}, {"True", "true"}, {"False", "false"}, {"None", "null"}, {"nil", "null"}, {"undefined", "null"},
}

// instead says what JSON has in place of the wrong text, or returns "" if that is not known.
func instead(op []byte, wrong *json.SyntaxError) string {
	if wrong == nil || wrong.Offset < 1 || wrong.Offset > int64(len(op)) {
		return ""
	}
	before, at := bytes.TrimRight(op[:wrong.Offset-1], " \t\r\n"), op[wrong.Offset-1:]
	if (at[0] == '}' || at[0] == ']') && bytes.HasSuffix(before, []byte(",")) {
		return "; JSON has no comma before a closing bracket"
	}
	for _, s := range foreignWords {
		if bytes.HasPrefix(at, []byte(s.word)) || len(before) > 0 && bytes.HasSuffix(before, []byte(s.word[:1])) && bytes.HasPrefix(at, []byte(s.word[1:])) {
			return "; JSON has no " + s.word + ", but " + s.instead
		}
	}
	return ""
}

// any reads an op of any kind as EDN. The op has been checked.
func (r *Reader) any(op []byte, e *opmap.Event) error {
	text, wrong := r.asEDN.translate(op)
	if wrong == "" && text[0] != '{' {
		wrong = fmt.Sprintf("expected an op map, found %.*s", scan.MaxFound, text)
	}
	if wrong != "" {
		return r.Fail("%s", wrong)
	}
	return r.opMap(text, e)
}

// opMap reads an op map that stands for the current op.
func (r *Reader) opMap(text []byte, e *opmap.Event) error {
	err := r.general.read(text, e)
	var located *edn.Error
	if errors.As(err, &located) {
		return r.Fail("%s", located.Msg)
	}
	return err
}

type generalOp struct {
	reader *opmap.Reader
	line   []byte
	rest   []byte // the unread part of line
}

func (g *generalOp) read(op []byte, e *opmap.Event) error {
	g.line = append(append(g.line[:0], op...), '\n')
	g.rest = g.line
	return g.reader.Next(e)
}

// Read returns the op map, and nothing after it.
func (g *generalOp) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Begins returns where the current op begins.
func (r *Reader) Begins() scan.Place { return r.begins }
