package jsonops

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"clew/edn"
	"clew/jepsen/forms/internal/scan"
)

// translator writes checked values in JSON as EDN.
type translator struct {
	scan.Scratch
	op    []byte
	at    int // how much of it has been read
	out   []byte
	wrong string // why it has no EDN
}

// translate returns an op as EDN, or what is wrong with it.
func (r *translator) translate(op []byte) (text []byte, wrong string) {
	as := opRole
	if isTxn(op) {
		as = txnRole
	}
	r.op, r.at, r.out, r.wrong = op, 0, r.out[:0], ""
	r.value(as)
	return r.out, r.wrong
}

// role says what a value stands for, which determines how strings in it are read.
type role int

const (
	plainRole role = iota
	nameRole       // a keyword's name
	opRole
	txnRole   // an op whose :f is :txn, or missing
	stepsRole // its value
	stepRole  // an element of that value
)

// of returns the role of the value under a key or at an index. The index is -1 if there is a key.
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

// isTxn reports whether an op's "f" is "txn", or missing or null, as in transactions that Elle takes.
func isTxn(op []byte) bool {
	f := textOf(op, "f")
	return f == nil || bytes.Equal(f, txn) || f[0] == 'n'
}

// textOf returns the last value of a key as it is spelled in an object, nil if there is none.
func textOf(object []byte, key string) (value []byte) {
	for f := (field{end: 1}); f.next(object); {
		if string(unquoted(object[f.key:f.keyEnd])) == key {
			value = object[f.value:f.end]
		}
	}
	return value
}

var txn = []byte(`"txn"`)

// field says where a key of an object and its value stand. end is 1 before the first field.
type field struct{ key, keyEnd, value, end int }

func (f *field) next(object []byte) bool {
	f.key = blank(object, f.end)
	if object[f.key] == '}' {
		return false
	}
	f.keyEnd = Literal(object, f.key)
	f.value = blank(object, f.keyEnd)
	f.end = valueEnd(object, f.value)
	return true
}

// valueEnd returns the end of the value at i.
func valueEnd(text []byte, i int) int {
	switch text[i] {
	case '"':
		return Literal(text, i)
	case '{', '[':
		b := bracket{at: 1, depth: 1}
		b.find(text[i:])
		return i + b.at
	}
	for i < len(text) && !structural(text[i]) {
		i++
	}
	return i
}

// structural says whether a byte ends a number or a word.
func structural(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// blank skips white space, commas and colons at i.
func blank(text []byte, i int) int {
	for {
		switch text[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
}

func (r *translator) blank() byte {
	r.at = blank(r.op, r.at)
	return r.op[r.at]
}

// value appends the value that comes next.
func (r *translator) value(as role) {
	c, begin := r.blank(), r.at
	switch c {
	case '{':
		r.fields(as)
		return
	case '[':
		r.elements(as)
		return
	case '"':
		r.at = Literal(r.op, begin)
		r.text(r.op[begin:r.at], as == nameRole)
		return
	}
	r.at = valueEnd(r.op, begin)
	if word := r.op[begin:r.at]; string(word) == "null" {
		r.out = append(r.out, "nil"...)
	} else {
		r.out = append(r.out, word...) // a number or a boolean, with the same spelling in EDN
	}
}

// Literal returns the end of the string that begins at i.
func Literal(text []byte, i int) int {
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

// text appends a string, or the keyword that it names. A string in JSON is also a
// string in EDN, with the same spelling.
func (r *translator) text(quoted []byte, named bool) {
	if name := unquoted(quoted); named && utf8.Valid(name) && r.IsName(name) {
		r.out = append(append(r.out, ':'), name...)
		return
	}
	r.out = append(r.out, quoted...)
}

func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return edn.Unquote(quoted)
}

// fields appends an object as a map, or as the value whose EDN it holds.
func (r *translator) fields(as role) {
	begin, n := len(r.out), 0
	r.at++
	r.out = append(r.out, '{')
	for r.blank() != '}' {
		if n++; n > 1 {
			r.out = append(r.out, ", "...)
		}
		quoted := r.op[r.at:Literal(r.op, r.at)]
		r.at += len(quoted)
		key := unquoted(quoted)
		r.text(quoted, true)
		r.out = append(r.out, ' ')
		isText := r.blank() == '"'
		from := r.at
		r.value(as.of(string(key), -1))
		if isText && n == 1 && string(key) == "edn" && r.blank() == '}' {
			r.out = r.out[:begin]
			r.at++
			r.embedded(unquoted(r.op[from:Literal(r.op, from)]))
			return
		}
	}
	r.at++
	r.out = append(r.out, '}')
}

// embedded appends a value that is given as EDN.
func (r *translator) embedded(text []byte) {
	v := r.Values()
	id, err := v.ParseLenient(text)
	if err != nil && r.wrong == "" {
		var syntax *edn.Error
		errors.As(err, &syntax)
		r.wrong = fmt.Sprintf("the op's {\"edn\": %s} does not hold an EDN value: %s", scan.Clip(strconv.AppendQuote(nil, string(text))), syntax.Msg)
	}
	r.out = v.AppendText(r.out, id)
}

// elements appends an array as a vector.
func (r *translator) elements(as role) {
	r.at++
	r.out = append(r.out, '[')
	for n := 0; r.blank() != ']'; n++ {
		if n > 0 {
			r.out = append(r.out, ' ')
		}
		r.value(as.of("", n))
	}
	r.at++
	r.out = append(r.out, ']')
}
