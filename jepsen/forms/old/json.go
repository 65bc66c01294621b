package old

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"clew/edn"
)

// Histories in JSON are what elle-cli reads: an array of objects, or objects one
// after another. Whatever EDN can say has one form in JSON, and comes back as it
// was:
//
//	EDN                                   JSON
//	nil, true, false                      null, true, false
//	integers of 64 bits, finite floats    numbers, with all their digits
//	"a"                                   "a"
//	[1 2]                                 [1, 2]
//	{:a 1}                                {"a": 1}
//	every other value                     {"edn": "TEXT"}: :a, (1 2), #{1}, 1N, {1 2}, {:edn "a"}
//
// A few places hold keywords, and there a string is a keyword's name: the keys
// of an object, an op's "type", "f" and "process", and the heads of micro-ops,
// which are the first elements of the elements of a "txn"'s value. A string in
// such a place that cannot be a keyword's name ("a b") is a string.

// maxOp bounds the text of an op.
const maxOp = 64 << 20

// jsonReader reads ops in JSON as EDN.
type jsonReader struct {
	scratch
	in     *bufio.Reader
	file   string
	here   place // of the next byte
	opened place // of the array's bracket
	array  bool
	ops    int
	op     []byte // the current op
	begins place  // where it begins
	at     int    // how much of it has been read
	out    []byte // the op as EDN
	skip   json.RawMessage
}

func newJSONReader(in *bufio.Reader, file string) *jsonReader {
	return &jsonReader{in: in, file: file, here: place{1, 1}}
}

func (r *jsonReader) fail(at place, format string, args ...any) error {
	return edn.Pos{File: r.file, Line: at.line, Col: at.col}.Errorf(format, args...)
}

// read takes a byte.
func (r *jsonReader) read() (byte, error) {
	c, err := r.in.ReadByte()
	switch {
	case err == io.EOF:
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%s: %w", r.file, err)
	}
	r.here = r.here.past(c)
	return c, nil
}

// past is the place after a byte. Columns count characters.
func (p place) past(c byte) place {
	switch {
	case c == '\n':
		return place{p.line + 1, 1}
	case utf8.RuneStart(c):
		p.col++
	}
	return p
}

// token takes the first byte that is not white space, and says where it stands.
func (r *jsonReader) token() (c byte, at place, err error) {
	if r.here == (place{1, 1}) {
		if mark, _ := r.in.Peek(3); string(mark) == "\xef\xbb\xbf" {
			r.in.Discard(len(mark))
		}
	}
	for {
		at = r.here
		c, err = r.read()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, at, err
		}
	}
}

// next is the next op as EDN.
func (r *jsonReader) next() ([]byte, place, error) {
	at, err := r.scan()
	if err != nil {
		return nil, at, err
	}
	return r.out, at, r.translate()
}

// scan takes the text of the next op.
func (r *jsonReader) scan() (place, error) {
	c, at, err := r.token()
	if err == nil && c == '[' && r.ops == 0 && !r.array {
		r.array, r.opened = true, at
		c, at, err = r.token()
	} else if err == nil && c == ',' && r.array && r.ops > 0 {
		if c, at, err = r.token(); err == nil && c == ']' {
			return at, r.fail(at, "expected an op, found ]")
		}
	} else if err == nil && r.array && c != ']' {
		return at, r.fail(at, "expected , or ] after an op, found %s", r.found(c))
	}
	switch {
	case err == io.EOF && r.array:
		return at, r.fail(at, "expected ] to close [ opened at %d:%d, found end of input", r.opened.line, r.opened.col)
	case err != nil:
		return at, err
	case r.array && c == ']':
		if c, at, err = r.token(); err == nil {
			err = r.fail(at, "expected end of input, found %s", r.found(c))
		}
		return at, err
	case c != '{':
		return at, r.fail(at, "expected an op as a JSON object, found %s", r.found(c))
	}
	r.ops++
	r.begins = at
	return at, r.object()
}

// found names what begins with a byte.
func (r *jsonReader) found(c byte) string {
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

// object takes the rest of an op, up to the bracket that closes it, and checks
// that it is JSON.
func (r *jsonReader) object() error {
	r.op = append(r.op[:0], '{')
	quoted, escaped := false, false
	for depth := 1; depth > 0; {
		c, err := r.read()
		if err == io.EOF {
			return r.fail(r.here, "expected } to close { opened at %d:%d, found end of input", r.begins.line, r.begins.col)
		}
		if err != nil {
			return err
		}
		if r.op = append(r.op, c); len(r.op) > maxOp {
			return r.fail(r.begins, "op longer than 64 MB")
		}
		switch {
		case quoted:
			quoted = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(r.op, &r.skip); errors.As(err, &syntax) {
		at := r.begins
		for _, c := range r.op[:max(syntax.Offset-1, 0)] {
			at = at.past(c)
		}
		return r.fail(at, "the JSON is malformed: %v", err)
	} else if err != nil {
		return r.fail(r.begins, "the JSON is malformed: %v", err)
	}
	if !utf8.Valid(r.op) {
		return r.fail(r.begins, "the op is not UTF-8, which JSON is")
	}
	return nil
}

// translate makes EDN of the op, which is known to be JSON.
func (r *jsonReader) translate() error {
	role := opRole
	if r.isTxn() {
		role = txnRole
	}
	r.at, r.out = 0, r.out[:0]
	if err := r.value(role); err != nil {
		return err
	}
	if r.out[0] != '{' {
		return r.fail(r.begins, "expected an op map, found %.*s", maxFound, r.out)
	}
	return nil
}

// role is what a value stands for, which determines how strings in it are read.
type role int

const (
	plainRole role = iota
	nameRole       // a keyword's name
	opRole
	txnRole   // an op whose :f is :txn
	stepsRole // its value
	stepRole  // an element of that value
)

// of is the role of the value under a key or at an index. The index is -1 if
// there is a key.
func (r role) of(key string, index int) role {
	switch {
	case (r == opRole || r == txnRole) && (key == "type" || key == "f" || key == "process"), r == stepRole && index == 0:
		return nameRole
	case r == txnRole && key == "value":
		return stepsRole
	case r == stepsRole && index >= 0:
		return stepRole
	}
	return plainRole
}

// isTxn says whether the op's "f" is "txn".
func (r *jsonReader) isTxn() bool {
	if !bytes.Contains(r.op, txn) {
		return false
	}
	var fields map[string]json.RawMessage
	return json.Unmarshal(r.op, &fields) == nil && bytes.Equal(fields["f"], txn)
}

var txn = []byte(`"txn"`)

// blank skips white space, and a comma or colon.
func (r *jsonReader) blank() byte {
	for {
		switch c := r.op[r.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			r.at++
		default:
			return c
		}
	}
}

// value appends the value that comes next.
func (r *jsonReader) value(as role) error {
	switch r.blank() {
	case '{':
		return r.fields(as)
	case '[':
		return r.elements(as)
	case '"':
		begin := r.at
		r.at = literal(r.op, begin)
		r.text(r.op[begin:r.at], as == nameRole)
		return nil
	}
	begin := r.at
	for r.at < len(r.op) && bytes.IndexByte(structure, r.op[r.at]) < 0 {
		r.at++
	}
	if word := r.op[begin:r.at]; string(word) == "null" {
		r.out = append(r.out, "nil"...)
	} else {
		r.out = append(r.out, word...) // a number or a boolean, which EDN spells alike
	}
	return nil
}

// structure ends a number or a word.
var structure = []byte(" \t\r\n,:{}[]\"")

// literal is the end of the string that begins at i.
func literal(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return i
}

// text appends a string, or the keyword that it names. A string in JSON is a
// string in EDN as it stands.
func (r *jsonReader) text(quoted []byte, named bool) {
	if name := unquoted(quoted); named && r.isName(name) {
		r.out = append(append(r.out, ':'), name...)
		return
	}
	r.out = append(r.out, quoted...)
}

// unquoted is what a string of JSON says.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err) // it has been checked
	}
	return []byte(s)
}

// fields appends an object as a map, or as the value whose EDN it holds.
func (r *jsonReader) fields(as role) error {
	begin, n := len(r.out), 0
	var key string
	r.at++
	r.out = append(r.out, '{')
	for r.blank() != '}' {
		if n++; n > 1 {
			r.out = append(r.out, ", "...)
		}
		quoted := r.op[r.at:literal(r.op, r.at)]
		r.at += len(quoted)
		key = string(unquoted(quoted))
		r.text(quoted, true)
		r.out = append(r.out, ' ')
		isText := r.blank() == '"'
		from := r.at
		if err := r.value(as.of(key, -1)); err != nil {
			return err
		}
		if isText && n == 1 && key == "edn" && r.blank() == '}' {
			r.out = r.out[:begin]
			r.at++
			return r.embedded(unquoted(r.op[from:literal(r.op, from)]))
		}
	}
	r.at++
	r.out = append(r.out, '}')
	return nil
}

// embedded appends a value that is given as EDN.
func (r *jsonReader) embedded(text []byte) error {
	v := r.values()
	id, err := v.ParseLenient(text)
	if err != nil {
		var syntax *edn.Error
		errors.As(err, &syntax)
		return r.fail(r.begins, "the op's {\"edn\": %s} holds no EDN value: %s", clip(strconv.AppendQuote(nil, string(text))), syntax.Msg)
	}
	r.out = v.AppendText(r.out, id)
	return nil
}

// elements appends an array as a vector.
func (r *jsonReader) elements(as role) error {
	r.at++
	r.out = append(r.out, '[')
	for n := 0; r.blank() != ']'; n++ {
		if n > 0 {
			r.out = append(r.out, ' ')
		}
		if err := r.value(as.of("", n)); err != nil {
			return err
		}
	}
	r.at++
	r.out = append(r.out, ']')
	return nil
}
