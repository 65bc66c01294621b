package fressian

import (
	"encoding/hex"
	"fmt"
	"time"

	"clew/edn"
)

// structure is a tag that the text has named, with its number of fields.
type structure struct {
	*tag   // nil: the package does not know it
	name   string
	fields int
}

func (r *Reader) define(i, depth int) (structure, bool) {
	id := r.value(depth + 1)
	if r.err == nil && r.v.Kind(id) != edn.KindString {
		r.unexpected(i+1, "the name of a tag")
	}
	s := structure{name: r.v.Str(id), fields: r.count("fields")}
	if s.tag = tagNamed[s.name]; s.tag != nil && s.fields != s.tag.fields {
		r.fail(i, "expected a %s of %d fields, found %d", s.name, s.tag.fields, s.fields)
	}
	if r.err != nil {
		return structure{}, false
	}
	r.structs = append(r.structs, s)
	return s, true
}

// known returns a tag that has been named before.
func (r *Reader) known(i int, place int64) (structure, bool) {
	if r.err == nil && (place < 0 || place >= int64(len(r.structs))) {
		r.fail(i, "expected one of the %d tags that were named, found number %d", len(r.structs), place)
	}
	if r.err != nil {
		return structure{}, false
	}
	return r.structs[place], true
}

// structure reads the fields of an object whose tag the text names, now or before; ok is
// false if that failed.
func (r *Reader) structure(i, depth int, s structure, ok bool) edn.ID {
	switch {
	case !ok:
		return edn.Nil
	case s.tag != nil:
		return r.tagged(s.tag, i, depth)
	}
	r.nests(depth+tagLevels+1, i)
	fields := r.gathered(func() { r.values(s.fields, depth+tagLevels+1) }, r.v.InternVector) // in a vector
	if r.err != nil {
		return edn.Nil
	}
	return r.withTag(s.name, fields)
}

// values pushes the next n objects.
func (r *Reader) values(n, depth int) {
	for ; n > 0 && r.err == nil; n-- {
		r.stack = append(r.stack, r.value(depth))
	}
}

// gathered interns the objects that push pushes.
func (r *Reader) gathered(push func(), intern func([]edn.ID) edn.ID) edn.ID {
	base, id := len(r.stack), edn.Nil
	if push(); r.err == nil {
		id = intern(r.stack[base:])
	}
	r.stack = r.stack[:base]
	return id
}

// tagLevels is how many levels a tag adds to a form at most.
const tagLevels = 2

// withTag returns a form with a tag. If EDN cannot spell the tag, the result is #fressian
// with the tag and the form.
func (r *Reader) withTag(tag string, form edn.ID) edn.ID {
	x, err := r.v.From(edn.Tagged{Tag: tag, Value: r.v.Value(form)})
	if err != nil {
		return r.v.InternTagged("fressian", r.v.InternVector([]edn.ID{r.v.InternString(tag), form}))
	}
	return x.ID()
}

// tagged reads the fields of an object of a tag that the package knows. The object begins
// at i.
func (r *Reader) tagged(t *tag, i, depth int) edn.ID {
	if depth++; depth > edn.MaxDepth {
		return r.value(depth)
	}
	return t.read(r, i, depth)
}

// wrapped returns what reads an object whose only field gets a tag.
func wrapped(tag string) func(r *Reader, i, depth int) edn.ID {
	return func(r *Reader, _, depth int) edn.ID { return r.v.InternTagged(tag, r.value(depth)) }
}

func (r *Reader) record(_, depth int) edn.ID {
	class := r.ofKind(edn.KindSymbol, "the name of a class", depth)
	return r.withTag(r.v.Str(class), r.ofKind(edn.KindMap, "a map", depth+tagLevels))
}

func (r *Reader) ofKind(kind edn.Kind, expected string, depth int) edn.ID {
	i := r.at
	id := r.value(depth)
	if r.err == nil && r.v.Kind(id) != kind {
		r.unexpected(i, expected)
	}
	return id
}

func (r *Reader) mapOf(_, depth int) edn.ID {
	return r.gathered(func() { r.pairs(depth) }, r.v.InternMap)
}

func (r *Reader) set(_, depth int) edn.ID {
	return r.gathered(func() { r.items(depth) }, r.v.InternSet)
}

func (r *Reader) vec(_, depth int) edn.ID {
	return r.gathered(func() { r.items(depth) }, r.v.InternVector)
}

func (r *Reader) mapEntry(_, depth int) edn.ID {
	return r.gathered(func() { r.values(2, depth) }, r.v.InternVector)
}

// opKeys are the keys of an op, in the order of its fields. The map of its other keys comes
// last.
var opKeys = [...]string{"index", "time", "type", "process", "f", "value"}

// op reads an op as the map that it prints.
func (r *Reader) op(_, depth int) edn.ID {
	return r.gathered(func() {
		for _, key := range opKeys {
			r.stack = append(r.stack, r.v.InternKeyword(key))
			r.stack = append(r.stack, r.value(depth))
		}
		if others := r.value(depth); r.err == nil {
			r.stack = append(r.stack, r.v.Items(others)...)
		}
	}, r.v.InternMap)
}

func (r *Reader) uuid(i, _ int) edn.ID {
	b := r.byteArray(r.code("bytes"))
	if r.err == nil && len(b) != 16 {
		r.fail(i, "expected a UUID of 16 bytes, found %d", len(b))
	}
	if r.err != nil {
		return edn.Nil
	}
	h := hex.EncodeToString(b)
	return r.v.InternTagged("uuid", r.v.InternString(h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:]))
}

// instant returns an instant. EDN spells those of the years 0000 to 9999; any other is #fressian with its text.
func (r *Reader) instant(text string) edn.ID {
	form := r.v.InternString(text)
	id := r.v.InternTagged("inst", form)
	if _, ok := r.v.Instant(id); !ok {
		return r.v.InternTagged("fressian", r.v.InternVector([]edn.ID{r.v.InternString("inst"), form}))
	}
	return id
}

// dateTime reads a time as Joda prints it in its basic form.
func (r *Reader) dateTime(_, depth int) edn.ID {
	text := r.v.Str(r.ofKind(edn.KindString, "a string", depth))
	if at, err := time.Parse("20060102T150405.000Z0700", text); err == nil {
		text = at.Format("2006-01-02T15:04:05.000Z07:00")
	}
	return r.instant(text)
}

// arrayOf returns what reads a Java array: its number of elements, and then the elements.
func arrayOf(tag string) func(r *Reader, i, depth int) edn.ID {
	return func(r *Reader, _, depth int) edn.ID {
		depth++ // #ints [..]
		r.nests(depth, r.at)
		push := func() { r.values(r.count("elements"), depth) }
		return r.gathered(push, func(items []edn.ID) edn.ID { return r.array(tag, items) })
	}
}

func (r *Reader) array(tag string, items []edn.ID) edn.ID {
	return r.v.InternTagged(tag, r.v.InternVector(items))
}

func (r *Reader) signed(b []byte) []edn.ID {
	ids := make([]edn.ID, len(b))
	for i, c := range b {
		ids[i] = r.v.InternInt(int64(int8(c)))
	}
	return ids
}

// name is a name and its namespace, nil if it has none, as values.
type name struct {
	symbol           bool
	namespace, local edn.ID
}

// named returns what reads a keyword or a symbol.
func named(symbol bool) func(r *Reader, i, depth int) edn.ID {
	return func(r *Reader, _, depth int) edn.ID { return r.name(symbol, depth) }
}

func (r *Reader) name(symbol bool, depth int) edn.ID {
	i := r.at
	n := name{symbol: symbol, namespace: r.value(depth)}
	n.local = r.ofKind(edn.KindString, "a name", depth)
	if r.err == nil && n.namespace != edn.Nil && r.v.Kind(n.namespace) != edn.KindString {
		r.unexpected(i, "a namespace")
	}
	if r.err != nil {
		return edn.Nil
	}
	plain := !symbol && n.namespace == edn.Nil
	if plain && int(n.local) < len(r.keywords) && r.keywords[n.local] != edn.Nil {
		return r.keywords[n.local]
	}
	id, known := r.names[n]
	if !known {
		id = r.spelled(n)
		r.names[n] = id
	}
	if plain && n.local < maxKeywords {
		r.keywords = append(r.keywords, make([]edn.ID, max(0, int(n.local)+1-len(r.keywords)))...)
		r.keywords[n.local] = id
	}
	return id
}

// maxKeywords bounds the table that finds keywords by the IDs of their names.
const maxKeywords = 1 << 12

// spelled returns the keyword or symbol of a name. If EDN cannot spell it, the result is
// #keyword or #symbol with its name.
func (r *Reader) spelled(n name) edn.ID {
	full := r.v.Str(n.local)
	if n.namespace != edn.Nil {
		full = r.v.Str(n.namespace) + "/" + full
	}
	var plain any = edn.Keyword(full)
	own := "keyword"
	if n.symbol {
		plain, own = edn.Symbol(full), "symbol"
	}
	if x, err := r.v.From(plain); err == nil {
		return x.ID()
	}
	return r.v.InternTagged(own, r.v.InternString(full))
}

func (r *Reader) regex(_, depth int) edn.ID {
	text := r.v.Str(r.ofKind(edn.KindString, "a string", depth))
	id, err := r.v.ParseLenient([]byte(`#"` + text + `"`))
	if err != nil || r.v.Kind(id) != edn.KindOpaque {
		return r.v.InternTagged("regex", r.v.InternString(text))
	}
	return id
}

// char reads a character, a 16-bit unit as in Java.
func (r *Reader) char(i, _ int) edn.ID {
	n := r.Int()
	if r.err == nil && (n < 0 || n > 0xffff) {
		r.fail(i, "expected a character, found the number %d", n)
	}
	if r.err != nil {
		return edn.Nil
	}
	text := fmt.Sprintf(`\u%04x`, n)
	if n > ' ' && n != 0x7f && (n < 0xd800 || n >= 0xe000) {
		text = `\` + string(rune(n))
	}
	id, err := r.v.Parse([]byte(text), edn.Pos{})
	if err != nil {
		r.fail(i, "expected a character, found the number %d", n)
	}
	return id
}
