package jsonops

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"clew/edn"
	"clew/jepsen/forms/internal/scan"
)

// Writer writes op maps as JSON objects.
type Writer struct {
	scan.Scratch
	NilOutput bool // an "output" of nil is written as {"edn":"nil"}, since null may stand for the value
	out       []byte
	bad       string // why the op cannot be written
}

// Op returns an op map as JSON, which is valid until the next call, or the reason
// why it cannot be written as JSON.
func (w *Writer) Op(v *edn.Values, kvs []edn.ID) (text []byte, bad string) {
	w.out, w.bad = w.out[:0], ""
	as := txnRole // also without an :f
	for i := 0; i < len(kvs); i += 2 {
		if IsKeyword(v, kvs[i], "f") && kvs[i+1] != edn.Nil && !IsKeyword(v, kvs[i+1], "txn") {
			as = opRole
		}
	}
	if !w.fields(v, kvs, as) {
		w.embedded(string(v.AppendMap(nil, kvs)))
	}
	return w.out, w.bad
}

// IsKeyword says whether a value is the keyword of that name.
func IsKeyword(v *edn.Values, id edn.ID, name string) bool {
	return v.Kind(id) == edn.KindKeyword && v.Str(id) == name
}

// fields appends a map as an object, unless JSON cannot have such keys.
func (w *Writer) fields(v *edn.Values, kvs []edn.ID, as role) bool {
	if len(kvs) == 2 && IsKeyword(v, kvs[0], "edn") {
		return false
	}
	for i := 0; i < len(kvs); i += 2 {
		if !w.isNamed(v, kvs[i]) {
			return false
		}
	}
	w.out = append(w.out, '{')
	for i := 0; i < len(kvs); i += 2 {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		key := v.Str(kvs[i])
		w.text(key)
		w.out = append(w.out, ':')
		if w.NilOutput && as != plainRole && key == "output" {
			w.embedded("nil")
			continue
		}
		w.value(v, kvs[i+1], as.of(key, -1))
	}
	w.out = append(w.out, '}')
	return true
}

// isNamed says whether a string in the place of a keyword would stand for the value.
func (w *Writer) isNamed(v *edn.Values, id edn.ID) bool {
	switch v.Kind(id) {
	case edn.KindKeyword:
		return true
	case edn.KindString:
		return !w.IsName([]byte(v.Str(id)))
	}
	return false
}

func (w *Writer) value(v *edn.Values, id edn.ID, as role) {
	switch kind := v.Kind(id); kind {
	case edn.KindNil:
		w.out = append(w.out, "null"...)
		return
	case edn.KindBool:
		w.out = v.AppendText(w.out, id)
		return
	case edn.KindKeyword, edn.KindString:
		if as == nameRole && w.isNamed(v, id) || as != nameRole && kind == edn.KindString {
			w.text(v.Str(id))
			return
		}
	case edn.KindInt, edn.KindFloat:
		if text := v.Text(id); isJSONNumber(v, id, text) {
			w.out = append(w.out, text...)
			return
		}
	case edn.KindVector:
		w.out = append(w.out, '[')
		for i, item := range v.Items(id) {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(v, item, as.of("", i))
		}
		w.out = append(w.out, ']')
		return
	case edn.KindMap:
		if w.fields(v, v.Items(id), plainRole) {
			return
		}
	}
	w.embedded(v.Text(id))
}

// isJSONNumber says whether a number has the spelling of JSON, and other readers
// of JSON read the same number.
func isJSONNumber(v *edn.Values, id edn.ID, text string) bool {
	if v.Kind(id) == edn.KindInt {
		if _, fits := v.Int(id); !fits {
			return false
		}
	} else if _, err := strconv.ParseFloat(text, 64); err != nil {
		return false
	}
	return json.Valid([]byte(text))
}

func (w *Writer) embedded(text string) {
	if !w.ReadsBack(text) {
		w.bad = "has a value that is not EDN"
	}
	w.out = append(w.out, `{"edn":`...)
	w.text(text)
	w.out = append(w.out, '}')
}

func (w *Writer) text(s string) {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			w.escaped(s)
			return
		}
	}
	w.out = append(append(append(w.out, '"'), s...), '"')
}

func (w *Writer) escaped(s string) {
	if !utf8.ValidString(s) {
		w.bad = "has text that is not UTF-8"
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // it is a string
	}
	// The encoder leaves one control character unchanged, which would look like binary data.
	quoted := bytes.ReplaceAll(b.Bytes(), []byte{0x7f}, []byte(`\u007f`))
	w.out = append(w.out, bytes.TrimSuffix(quoted, []byte("\n"))...)
}
