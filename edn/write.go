package edn

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clew/internal/radix"
)

// Text returns the EDN text of a form, on one line. See AppendText.
func (v *Values) Text(id ID) string { return string(v.AppendText(nil, id)) }

// AppendText appends the EDN text of a form, on one line. It prints as Clojure's pr
// does, but in a stable order. Map keys and set elements are sorted: integers first, by
// value, then the others by kind and text. Numbers and characters keep the spelling that
// they were read with. Reading the text gives an equal value, unless it holds a NaN.
func (v *Values) AppendText(dst []byte, id ID) []byte {
	f := &v.forms[id]
	switch f.kind {
	case KindInt:
		if f.n == 0 {
			return strconv.AppendInt(dst, f.at, 10)
		}
		return append(dst, v.texts[f.n]...)
	case KindString:
		return AppendString(dst, v.texts[f.n])
	case KindKeyword:
		dst = append(dst, ':')
		return append(dst, v.texts[f.n]...)
	case KindVector:
		return v.appendItems(dst, '[', v.items(id), ']')
	case KindList:
		return v.appendItems(dst, '(', v.items(id), ')')
	case KindSet, KindMap:
		return v.appendSorted(dst, f.kind, v.items(id))
	case KindTagged:
		dst = append(dst, '#')
		dst = append(dst, v.Str(id)...)
		form := v.items(id)[1]
		if v.forms[form].kind != KindMap {
			dst = append(dst, ' ')
		}
		return v.AppendText(dst, form)
	}
	return append(dst, v.texts[f.n]...)
}

// AppendMap appends the keys and values of a map in the given order, as Jepsen prints an op.
func (v *Values) AppendMap(dst []byte, kvs []ID) []byte {
	dst = append(dst, '{')
	for i := 0; i < len(kvs); i += 2 {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = v.AppendText(dst, kvs[i])
		dst = append(dst, ' ')
		dst = v.AppendText(dst, kvs[i+1])
	}
	return append(dst, '}')
}

func (v *Values) appendItems(dst []byte, open byte, items []ID, closing byte) []byte {
	dst = append(dst, open)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = v.AppendText(dst, item)
	}
	return append(dst, closing)
}

// entry is an element or key to be sorted. Its text is nil for a plain integer.
type entry struct {
	id, value ID
	text      []byte
}

func (v *Values) entry(id, value ID) entry {
	e := entry{id: id, value: value}
	if f := &v.forms[id]; f.kind != KindInt || !f.fits || f.n != 0 {
		e.text = v.AppendText(nil, id)
	}
	return e
}

// appendSorted prints each key once, both to compare it and to output it. Otherwise
// nested keys would be printed once per level. It compares plain integers as numbers.
func (v *Values) appendSorted(dst []byte, kind Kind, items []ID) []byte {
	step := kind.stride()
	entries := make([]entry, 0, len(items)/step)
	for i := 0; i < len(items); i += step {
		entries = append(entries, v.entry(items[i], items[i+step-1]))
	}
	entries = v.sorted(entries)
	if kind == KindSet {
		dst = append(dst, '#')
	}
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 && kind == KindMap {
			dst = append(dst, ',')
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		if e.text == nil {
			dst = v.AppendText(dst, e.id)
		} else {
			dst = append(dst, e.text...)
		}
		if kind == KindMap {
			dst = append(dst, ' ')
			dst = v.AppendText(dst, e.value)
		}
	}
	return append(dst, '}')
}

// sorted returns the entries in order. It takes linear time if all are plain integers.
func (v *Values) sorted(entries []entry) []entry {
	if slices.ContainsFunc(entries, func(e entry) bool { return e.text != nil }) {
		slices.SortFunc(entries, v.compareEntries)
		return entries
	}
	if slices.IsSortedFunc(entries, func(a, b entry) int { return cmp.Compare(v.forms[a.id].at, v.forms[b.id].at) }) {
		return entries
	}
	keyed := make([]radix.Keyed, len(entries))
	for i, e := range entries {
		keyed[i] = radix.Keyed{Key: radix.Of(v.forms[e.id].at), Number: int32(i)}
	}
	list := make([]entry, len(entries))
	for i, k := range radix.Sort(keyed) {
		list[i] = entries[k.Number]
	}
	return list
}

func (v *Values) compareEntries(a, b entry) int {
	x, y := &v.forms[a.id], &v.forms[b.id]
	xInt, yInt := x.kind == KindInt, y.kind == KindInt
	switch {
	case xInt && yInt && x.fits && y.fits:
		return cmp.Or(cmp.Compare(x.at, y.at), bytes.Compare(a.text, b.text))
	case xInt && yInt:
		return cmp.Or(v.big(a.id).Cmp(v.big(b.id)), bytes.Compare(a.text, b.text))
	case xInt:
		return -1
	case yInt:
		return 1
	}
	return cmp.Or(cmp.Compare(x.kind, y.kind), bytes.Compare(a.text, b.text))
}

func (v *Values) big(id ID) *big.Int {
	if n, ok := v.Int(id); ok {
		return big.NewInt(n)
	}
	t, _ := readNumber(v.Str(id))
	n, _ := new(big.Int).SetString(strings.TrimSuffix(t.canonical, "N"), 10)
	return n
}

// Sorted returns the indices of the given forms, in the order in which
// AppendText prints the forms as keys of a map.
func (v *Values) Sorted(ids []ID) []int {
	entries := make([]entry, len(ids))
	for i, id := range ids {
		entries[i] = v.entry(id, ID(i))
	}
	entries = v.sorted(entries)
	order := make([]int, len(ids))
	for i, e := range entries {
		order[i] = int(e.value)
	}
	return order
}

// AppendFloat appends a float as EDN text.
func AppendFloat(dst []byte, f float64) []byte { return append(dst, floatText(f)...) }

// AppendString appends a string as EDN text.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case 0xed:
			if unit, ok := loneSurrogate(s[i:]); ok {
				dst = fmt.Appendf(dst, `\u%04x`, unit)
				i += 2
				continue
			}
			dst = append(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// loneSurrogate returns the half of a UTF-16 pair that a text begins with,
// if any. It returns false for a first half that a second half follows,
// because the reader would join the escapes of both into a pair.
func loneSurrogate(s string) (unit rune, ok bool) {
	unit, size := DecodeRune(s)
	next, _ := DecodeRune(s[size:])
	return unit, isSurrogate(unit) && (unit >= 0xdc00 || next < 0xdc00 || !isSurrogate(next))
}

func isSurrogate(r rune) bool { return r >= 0xd800 && r < 0xe000 }

// DecodeRune does what utf8.DecodeRuneInString does, and also decodes half of a UTF-16 pair.
// A string contains such a half if it was written as an escape; the half takes three bytes.
func DecodeRune(s string) (r rune, size int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1]&0xc0 == 0x80 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}
