package fressian

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"math"

	"clew/edn"
)

// Reader reads the objects of a text. Once something is wrong with the text, everything
// that is read is nil, and Err says what was wrong.
type Reader struct {
	data  []byte
	at    int // where reading goes on
	start edn.Pos
	v     *edn.Values
	err   *edn.Error

	begun    int // where the text since the last footer begins
	emptied  int // how often the caches have been emptied
	priority []shared
	structs  []structure
	stack    []edn.ID // the elements of the collections that are being read
	text     []byte   // a string or bytes that came in chunks
	names    map[name]edn.ID
	keywords []edn.ID // by name, of keywords without a namespace

	deepest int // the deepest level reached, of the current object or one in it
	again   int // bytes that the cached objects in it take where they first stand
	copied  int // the same, without those of at most shortCopy bytes
}

// shared is an object in the cache: how many bytes it would take without the cache, and how
// many levels are in it.
type shared struct {
	id           edn.ID
	size, levels int
}

// maxCopied bounds the cached objects inside an object. If each object holds the one before
// it twice, each is twice as long when it is printed. Objects of at most shortCopy bytes,
// such as names, are not counted, since there are not many more of them than bytes.
const (
	maxCopied = 1 << 23
	shortCopy = 64
)

const unfinished edn.ID = -1

// NewReader returns a reader of the objects in data, whose values it interns. The data
// begins at start; errors use its file and offset.
func NewReader(data []byte, start edn.Pos, v *edn.Values) *Reader {
	return &Reader{data: data, start: start, v: v, names: map[name]edn.ID{}}
}

// Err returns what is wrong with the text, nil if nothing is so far. It is an *edn.Error
// with the offset.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Offset returns where reading goes on, counted as errors count.
func (r *Reader) Offset() int64 { return r.start.Offset + int64(r.at) }

// At returns an error about the object at an offset.
func At(p edn.Pos, format string, args ...any) *edn.Error {
	return p.Errorf("offset %d: %s", p.Offset, fmt.Sprintf(format, args...))
}

// fail makes an error about the object at i, unless there is one already.
func (r *Reader) fail(i int, format string, args ...any) {
	if r.err == nil {
		at := r.start
		at.Offset += int64(i)
		r.err = At(at, format, args...)
	}
	r.at = len(r.data)
}

func (r *Reader) unexpected(i int, expected string) {
	switch {
	case i >= len(r.data):
		r.fail(i, "expected %s, found the end of the data", expected)
	case naming(r.data[i]) == "":
		r.fail(i, "expected %s, found the code 0x%02x", expected, r.data[i])
	default:
		r.fail(i, "expected %s, found %s", expected, naming(r.data[i]))
	}
}

// More says whether there is another object.
func (r *Reader) More() bool {
	r.between()
	return r.err == nil && r.at < len(r.data)
}

// between skips resets and footers before an object, and empties the caches.
func (r *Reader) between() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case resetCaches:
			r.at++
		case footer:
			r.foot()
		default:
			return
		}
		r.priority, r.structs = r.priority[:0], r.structs[:0]
		r.emptied++
	}
}

// foot reads a footer: four equal bytes, the length of the text before it, and an Adler-32.
// The Adler-32 covers that text and the footer up to it.
func (r *Reader) foot() {
	i := r.at
	f := r.bytes(12, "a footer")
	if f == nil {
		return
	}
	if binary.BigEndian.Uint32(f) != 0xcfcfcfcf || binary.BigEndian.Uint32(f[4:]) != uint32(i-r.begun) ||
		binary.BigEndian.Uint32(f[8:]) != adler32.Checksum(r.data[r.begun:i+8]) {
		r.fail(i, "the footer does not match the data before it: the data is damaged")
		return
	}
	r.begun = r.at
}

func (r *Reader) bytes(n int, of string) []byte {
	if n < 0 || n > len(r.data)-r.at {
		r.fail(r.at, "expected %d bytes of %s, found %d", n, of, len(r.data)-r.at)
		return nil
	}
	b := r.data[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

// code reads the code of the next object, which then begins at r.at-1.
func (r *Reader) code(expected string) byte {
	if r.at < len(r.data) {
		if code := r.data[r.at]; code != footer && code != resetCaches {
			r.at++
			return code
		}
	}
	if r.between(); r.at >= len(r.data) {
		r.unexpected(r.at, expected)
		return nullCode
	}
	r.at++
	return r.data[r.at-1]
}

// Int reads an integer.
func (r *Reader) Int() int64 {
	code := r.code("an integer")
	i := r.at - 1
	if n, ok := r.packed(code); ok || r.err != nil {
		return n
	}
	if code >= priorityCache && code < structCache {
		if n, ok := r.v.Int(r.cached(i, int64(code-priorityCache), 0)); ok {
			return n
		}
	}
	r.unexpected(i, "an integer")
	return 0
}

// PlainInt reads an integer if the next object is one.
func (r *Reader) PlainInt() (n int64, ok bool) {
	if r.at < len(r.data) {
		if code := r.data[r.at]; code < priorityCache || code == minusOne || code == intCode {
			r.at++
			return r.packed(code)
		}
	}
	return 0, false
}

// packed returns the integer that begins with a code.
func (r *Reader) packed(code byte) (n int64, ok bool) {
	if code < intPacked1 {
		return int64(code), true
	}
	p := packings[code]
	switch {
	case p.more == 0:
		return -1, code == minusOne
	case r.at+8 > len(r.data):
		n = p.upper
		for _, b := range r.bytes(int(p.more), "an integer") {
			n = n<<8 | int64(b)
		}
		return n, r.err == nil
	}
	more := binary.BigEndian.Uint64(r.data[r.at:])
	r.at += int(p.more)
	return p.upper<<(8*p.more) | int64(more>>(64-8*p.more)), true
}

// packing is how a code packs an integer: it holds the upper bits, and more further bytes
// hold the others.
type packing struct {
	upper int64
	more  uint8
}

// packings are the packings by code. Codes that do not stand for such an integer need no
// more bytes.
var packings = func() (all [256]packing) {
	for _, p := range []struct {
		from, to, zero int
		more           uint8
	}{
		{intPacked1, intPacked2, 0x50, 1}, {intPacked2, intPacked3, 0x68, 2}, {intPacked3, intPacked4, 0x72, 3}, {intPacked4, intPacked5, 0x76, 4},
		{intPacked5, intPacked6, 0x7a, 5}, {intPacked6, intPacked7, 0x7e, 6}, {intCode, intCode + 1, intCode, 8},
	} {
		for code := p.from; code < p.to; code++ {
			all[code] = packing{int64(code - p.zero), p.more}
		}
	}
	return all
}()

// count reads a number of things that take at least a byte each.
func (r *Reader) count(of string) int {
	i := r.at
	n := r.Int()
	if r.err == nil && (n < 0 || n > int64(len(r.data)-r.at)) {
		r.fail(i, "expected a length of at most %d %s, found %d", len(r.data)-r.at, of, n)
		return 0
	}
	return int(n)
}

// Value reads an object.
func (r *Reader) Value() edn.ID {
	if r.at < len(r.data) {
		place := int(r.data[r.at]) - priorityCache
		if place >= 0 && place < min(len(r.priority), structCache-priorityCache) && r.priority[place].id != unfinished {
			r.at++
			return r.priority[place].id
		}
	}
	r.deepest, r.again, r.copied = 0, 0, 0
	return r.value(0)
}

// nests fails if the object at i is nested too deep.
func (r *Reader) nests(depth, i int) {
	if r.deepest = max(r.deepest, depth); depth > edn.MaxDepth {
		r.fail(i, "expected at most %d levels of nesting, found more", edn.MaxDepth)
	}
}

// value is Value for an object that is nested depth levels deep.
func (r *Reader) value(depth int) edn.ID {
	if r.nests(depth, r.at); r.err != nil {
		return edn.Nil
	}
	code := r.code("an object")
	i := r.at - 1
	switch {
	case code < priorityCache:
		n, _ := r.packed(code)
		return r.v.InternInt(n)
	case code < structCache:
		return r.cached(i, int64(code-priorityCache), depth)
	case code < longArray:
		s, ok := r.known(i, int64(code-structCache))
		return r.structure(i, depth, s, ok)
	case tagOf[code] != nil:
		return r.tagged(tagOf[code], i, depth)
	case code >= stringPacked && code <= stringCode:
		return r.v.InternStringBytes(r.str(code))
	case code >= listPacked && code <= openList:
		r.nests(depth+1, i)
		return r.gathered(func() { r.elements(code, depth) }, r.v.InternVector)
	case code >= bytesPacked && code <= bytesCode:
		r.nests(depth+2, i) // #bytes [..]
		return r.array("bytes", r.signed(r.byteArray(code)))
	}
	switch code {
	case nullCode:
		return edn.Nil
	case trueCode:
		return edn.True
	case falseCode:
		return edn.False
	case intCode, minusOne:
		n, _ := r.packed(code)
		return r.v.InternInt(n)
	case floatCode, doubleCode, double0, double1:
		return r.float(code)
	case putPriority:
		place := len(r.priority)
		r.priority = append(r.priority, shared{id: unfinished})
		begun, again, deepest := r.at, r.again, r.deepest
		r.deepest = depth + 1
		id := r.value(depth + 1)
		if place < len(r.priority) { // unless the caches have been emptied
			r.priority[place] = shared{id, r.at - begun + r.again - again, r.deepest - depth - 1}
		}
		r.deepest = max(r.deepest, deepest)
		return id
	case getPriority:
		return r.cached(i, r.Int(), depth)
	case structType:
		s, ok := r.define(i, depth)
		return r.structure(i, depth, s, ok)
	case structCode:
		s, ok := r.known(i, r.Int())
		return r.structure(i, depth, s, ok)
	}
	r.unexpected(i, "an object")
	return edn.Nil
}

// cached returns an object that has been read before.
func (r *Reader) cached(i int, place int64, depth int) edn.ID {
	if place < 0 || place >= int64(len(r.priority)) {
		r.fail(i, "expected one of the %d cached objects, found number %d", len(r.priority), place)
		return edn.Nil
	}
	x := r.priority[place]
	if x.id == unfinished {
		r.fail(i, "the cached object %d contains itself", place)
		return edn.Nil
	}
	r.nests(depth+x.levels, i)
	r.again += x.size
	if x.size > shortCopy {
		r.copied += x.size
	}
	if r.copied > maxCopied {
		r.fail(i, "expected an object with at most %d bytes of cached objects, found more", maxCopied)
	}
	return x.id
}

// float returns the floating point number that begins with a code. A float gets the value
// that it prints.
func (r *Reader) float(code byte) edn.ID {
	switch code {
	case double0:
		return r.v.InternFloat(0)
	case double1:
		return r.v.InternFloat(1)
	case floatCode:
		if b := r.bytes(4, "a float"); b != nil {
			return r.v.InternFloat(printed(math.Float32frombits(binary.BigEndian.Uint32(b))))
		}
		return edn.Nil
	}
	if b := r.bytes(8, "a double"); b != nil {
		return r.v.InternFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
	}
	return edn.Nil
}

// elements pushes the elements of the list that begins with a code.
func (r *Reader) elements(code byte, depth int) {
	for l := r.list(code); r.Next(&l); {
		r.stack = append(r.stack, r.value(depth+1))
	}
}

// Elements is the rest of a list that is being read.
type Elements struct {
	n         int // how many there are, -1 if only its end shows
	endOfData bool
}

// List goes on to the elements of a list, or of a vector as old files have it.
func (r *Reader) List() Elements {
	r.is(vecTag)
	if code := r.code("a list"); code >= listPacked && code <= openList {
		return r.list(code)
	}
	r.unexpected(r.at-1, "a list")
	return Elements{}
}

// Next says whether the list has another element. If so, that is the next object.
func (r *Reader) Next(l *Elements) bool {
	if l.n >= 0 {
		l.n--
		return l.n >= 0 && r.err == nil
	}
	if r.between(); r.at >= len(r.data) && l.endOfData || r.err != nil {
		return false
	}
	if r.at < len(r.data) && r.data[r.at] == endCollection {
		r.at++
		return false
	}
	return true
}

// list returns the elements of the list that begins with a code. The list has a count of
// its elements or a mark behind the last one. An open list may also end with the data.
func (r *Reader) list(code byte) Elements {
	switch {
	case code < listCode:
		return Elements{n: int(code - listPacked)}
	case code == listCode:
		return Elements{n: r.count("elements")}
	}
	return Elements{n: -1, endOfData: code == openList}
}

func (r *Reader) items(depth int) {
	i := r.at
	code := r.code("a list")
	switch {
	case code == nullCode:
	case code >= listPacked && code <= openList:
		r.elements(code, depth)
	default:
		r.at = i
		id := r.value(depth + 1)
		if r.err == nil && r.v.Kind(id) != edn.KindVector {
			r.unexpected(i, "a list")
			return
		}
		r.stack = append(r.stack, r.v.Items(id)...)
	}
}

// pairs is items for keys and values in turn.
func (r *Reader) pairs(depth int) {
	i, base := r.at, len(r.stack)
	if r.items(depth); r.err == nil && (len(r.stack)-base)%2 != 0 {
		r.fail(i, "expected keys and values in turn, found %d objects", len(r.stack)-base)
	}
}

// Op says whether the next object is one of Jepsen's ops. If it is, Op goes on to the first
// of its seven fields. They are :index and :time, both integers, :type, :process, :f,
// :value, and a map of other keys.
func (r *Reader) Op() bool {
	if r.at < len(r.data) { // nearly always
		if place := int(r.data[r.at]) - structCache; place >= 0 && place < min(len(r.structs), longArray-structCache) && r.structs[place].tag == opTag {
			r.at++
			return true
		}
	}
	return r.is(opTag)
}

// is says whether the next object has a tag. If so, it goes on to its first field.
func (r *Reader) is(t *tag) bool {
	if !r.More() {
		return false
	}
	at, structs, priority := r.at, len(r.structs), len(r.priority)
	s, ok := structure{}, false
	switch code := r.code("an object"); {
	case code >= structCache && code < longArray:
		s, ok = r.known(r.at-1, int64(code-structCache))
	case code == structType:
		s, ok = r.define(r.at-1, 0)
	case code == structCode:
		s, ok = r.known(r.at-1, r.Int())
	}
	if ok && s.tag == t {
		return true
	}
	if r.err == nil {
		r.at, r.structs, r.priority = at, r.structs[:structs], r.priority[:priority]
	}
	return false
}

// Caches says how often the caches have been emptied, and how much has been put into them.
// While both are the same, the same bytes are the same object.
func (r *Reader) Caches() (emptied, put int) { return r.emptied, len(r.priority) + len(r.structs) }

// Rest returns the bytes that have not been read.
func (r *Reader) Rest() []byte { return r.data[r.at:] }

// Skip skips the next n bytes, which must exist.
func (r *Reader) Skip(n int) { r.at += n }

// Entries reads a map without interning it, and adds its keys and values in turn to dst. A
// nil has none. If the next object is not a map, ok is false, and the object has not been
// read.
func (r *Reader) Entries(dst []edn.ID) (entries []edn.ID, ok bool) {
	if !r.More() {
		return dst, false
	}
	switch r.data[r.at] {
	case nullCode:
		r.at++
		return dst, true
	case mapCode:
		r.at++
		base := len(r.stack)
		r.pairs(0)
		dst = append(dst, r.stack[base:]...)
		r.stack = r.stack[:base]
		return dst, r.err == nil
	}
	return dst, false
}
