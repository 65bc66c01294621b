package edn

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"clew/internal/hugepages"
)

// ID names a form in a Values table. Nil, False and True have the same IDs in every table.
type ID int32

// The forms that every table holds from the start.
const (
	Nil ID = iota
	False
	True
)

// Kind says what sort of form an ID names.
type Kind uint8

// The kinds of forms. A ratio that is a whole number, such as 4/2, is a KindInt. KindOpaque
// marks text that has no meaning in EDN and is kept as it is: #"regex", #<Foo x>.
const (
	KindNil Kind = iota
	KindBool
	KindInt
	KindRatio
	KindFloat
	KindDecimal
	KindChar
	KindString
	KindKeyword
	KindSymbol
	KindVector
	KindList
	KindSet
	KindMap
	KindTagged
	KindOpaque
)

// form holds what a table knows about one ID. It is small because a long
// text with many different values has millions of them.
type form struct {
	kind Kind
	fits bool  // an integer whose value is at
	nan  bool  // is or holds a NaN, and so equals nothing
	n    int32 // scalars: index in texts, 0 for plain integers; collections: number of items
	at   int64 // integers: the value; collections: where the items are in arena, see chunkBits
}

// slot is an entry of the hash table of collections. It holds the hash because the
// items of a collection lie elsewhere; they are compared only if the hashes are equal.
type slot struct {
	hash uint32
	id   ID // Nil: the slot is free; negative: see joinSet
}

// Values is a table of interned forms. A form is exact: (1) and [1] differ, and so
// do 1 and 1N. Same tells which forms are equal values. Reads may run concurrently.
// Interning and parsing must not run concurrently with anything else.
//
// Every class of equal values has a canonical form, such as 1 for 1N, and the
// vector of the elements' classes for a list. The table interns it together with
// the first member of its class, so that finding a class means looking up a form.
// Sets have none; see joinSet.
type Values struct {
	forms []form
	class []ID // by form: the first member of its class, less the form. Nearly always 0, so that hardly any of it takes memory; see Same
	texts []string
	arena [][]ID // the items of all collections, in a row; one that is full stays where it is
	lists []list // the last long one with each first item, by hash; see share

	dense    []ID // by integer, for small ones; 0 if not seen
	sparse   []ID // the other plain integers, by hash; Nil: the slot is free
	others   int  // how many they are
	strings  map[string]ID
	keywords map[string]ID
	symbols  map[string]ID
	tokens   map[string]ID // by text: numbers other than plain integers, characters, opaque forms
	table    []slot        // open addressing, for collections
	used     int

	scratch []ID
	marks   []uint64 // a bit for each class, all 0 except in duplicate and sameSet
	pairs   [][2]ID

	loose bool // see NewLooseValues

	names, lasting int // how many keywords and symbols there are, and how many forms last; see Settle
	forgot         int // how often forms were forgotten
}

// NewValues returns a table that holds nil, false and true.
func NewValues() *Values {
	v := &Values{
		texts:    []string{""},
		arena:    make([][]ID, 1),
		dense:    make([]ID, 256),
		sparse:   make([]ID, 64),
		strings:  map[string]ID{},
		keywords: map[string]ID{},
		symbols:  map[string]ID{},
		tokens:   map[string]ID{},
		table:    make([]slot, 64),
	}
	for _, s := range []struct {
		kind Kind
		text string
	}{{KindNil, "nil"}, {KindBool, "false"}, {KindBool, "true"}} {
		v.symbols[s.text] = v.addText(s.kind, s.text)
	}
	return v
}

// NewLooseValues returns a table for forms that a Copier takes to another
// table. Each interned collection has an ID and a class of its own, even if
// it equals another one. Duplicate elements of sets and keys of maps stay.
// The other table interns the forms again, and interning once is enough.
func NewLooseValues() *Values {
	v := NewValues()
	v.loose = true
	return v
}

// Len returns the number of forms. IDs run from 0 to Len-1. Some may belong
// to canonical forms that no text has shown.
func (v *Values) Len() int { return len(v.forms) }

// Kind returns the kind of a form.
func (v *Values) Kind(id ID) Kind { return v.forms[id].kind }

// Same returns the representative of the form's class: a and b are equal in the sense of
// Clojure's = if and only if Same(a) == Same(b). NaN is the one exception. Each reading of
// a NaN, alone or in a collection, makes a new class, but an ID counts as equal to itself.
func (v *Values) Same(id ID) ID { return id + v.class[id] }

// Int returns the value of an integer that fits in an int64, however it is spelled.
func (v *Values) Int(id ID) (int64, bool) {
	f := &v.forms[id]
	return f.at, f.fits
}

// Str returns the contents of a string, the name of a keyword (without its colon) or symbol, or
// the tag of a tagged form. For every other scalar it returns the text, and for collections "".
func (v *Values) Str(id ID) string {
	switch f := &v.forms[id]; f.kind {
	case KindVector, KindList, KindSet, KindMap:
		return ""
	case KindTagged:
		return v.Str(v.items(id)[0])
	default:
		if f.n == 0 && f.fits {
			return strconv.FormatInt(f.at, 10)
		}
		return v.texts[f.n]
	}
}

// Items returns the elements of a vector, list or set, or the one form of a tagged
// form. For a map it returns keys and values in turn. It keeps the order of the
// source. The results are forms, not classes. The caller must not modify them.
func (v *Values) Items(id ID) []ID {
	items := v.items(id)
	if v.forms[id].kind == KindTagged {
		return items[1:]
	}
	return items
}

// Leaves calls f with the class of a form, or of each of its innermost parts, without nil and keywords: those are rather the words
// of an operation, such as :r. It looks at a number of forms at most, the collections included, and returns how many were left.
func (v *Values) Leaves(id ID, most int, f func(class ID)) (left int) {
	if most == 0 {
		return 0
	}
	most--
	items := v.Items(id)
	for _, item := range items {
		most = v.Leaves(item, most, f)
	}
	if len(items) == 0 && id != Nil && v.Kind(id) != KindKeyword {
		f(v.Same(id))
	}
	return most
}

// items does what Items does, but for a tagged form it also returns the tag, first.
func (v *Values) items(id ID) []ID {
	f := &v.forms[id]
	if !f.kind.collection() {
		return nil
	}
	return v.itemsAt(f.at, int(f.n))
}

// A place in arena is the number of a chunk and a place in it, which has chunkBits. A new chunk is twice as large as the last, but no
// larger than mostChunk, unless a collection is.
const (
	chunkBits = 32
	mostChunk = 4 << 20
)

func (k Kind) collection() bool { return k >= KindVector && k <= KindTagged }

// Get returns the value under a key of a map. It compares keys by Same.
func (v *Values) Get(id, key ID) (ID, bool) {
	if v.forms[id].kind != KindMap {
		return Nil, false
	}
	kvs := v.items(id)
	for i := 0; i < len(kvs); i += 2 {
		if v.Same(kvs[i]) == v.Same(key) {
			return kvs[i+1], true
		}
	}
	return Nil, false
}

// Put replaces the value of a keyword in the keys and values of a map, or
// adds it, and returns the result.
func (v *Values) Put(kvs []ID, keyword string, value ID) []ID {
	key := v.InternKeyword(keyword)
	for i := 0; i < len(kvs); i += 2 {
		if kvs[i] == key {
			kvs[i+1] = value
			return kvs
		}
	}
	return append(kvs, key, value)
}

// add appends a form with a class of its own.
func (v *Values) add(f form) ID {
	id := ID(len(v.forms))
	if len(v.forms) == cap(v.forms) {
		v.forms = hugepages.Grow(v.forms, len(v.forms))
	}
	if len(v.class) == cap(v.class) {
		v.class = hugepages.Grow(v.class, max(len(v.class), 64))
	}
	v.forms = append(v.forms, f)
	v.class = v.class[:id+1]
	v.setClass(id, id)
	return id
}

func (v *Values) addText(kind Kind, text string) ID {
	v.texts = append(v.texts, text)
	return v.add(form{kind: kind, n: int32(len(v.texts) - 1)})
}

// join puts a new form into the class of its canonical form. If the canonical
// form is new as well, the class is led by the form that stands in a text.
func (v *Values) join(id, canonical ID, fresh bool) {
	if fresh {
		v.setClass(canonical, id)
	}
	v.setClass(id, v.Same(canonical))
}

// setClass says which form is the first member of a form's class. What is right already is not written: a page of zeros
// that was never written takes no memory.
func (v *Values) setClass(id, first ID) {
	if at := &v.class[id]; *at != first-id {
		*at = first - id
	}
}

// InternInt interns an integer.
func (v *Values) InternInt(n int64) ID {
	if uint64(n) < uint64(len(v.dense)) {
		if id := v.dense[n]; id != 0 {
			return id
		}
	}
	id, _ := v.internInt(n)
	return id
}

// internInt interns an integer and reports whether it is new to the table.
func (v *Values) internInt(n int64) (id ID, fresh bool) {
	if n >= 0 && n < int64(len(v.dense)) {
		id = v.dense[n]
	} else {
		id = v.sparse[v.slotOf(n)]
	}
	if id != Nil {
		return id, false
	}
	id = v.add(form{kind: KindInt, fits: true, at: n})
	if n >= int64(len(v.dense)) && n < int64(4*len(v.forms)) {
		v.growDense(n)
	}
	v.enterInt(n, id)
	return id, true
}

// enterInt puts a new integer into its table.
func (v *Values) enterInt(n int64, id ID) {
	if n >= 0 && n < int64(len(v.dense)) {
		v.dense[n] = id
		return
	}
	if 2*v.others >= len(v.sparse) {
		v.rehash(2 * len(v.sparse))
	}
	v.sparse[v.slotOf(n)] = id
	v.others++
}

// slotOf returns the slot of sparse that has an integer, or the free one for it. Integers in a row stand side by side, in
// groups that share a line of a core's cache.
func (v *Values) slotOf(n int64) int {
	mask := len(v.sparse) - 1
	at := v.home(n)
	for v.sparse[at] != Nil && v.forms[v.sparse[at]].at != n {
		at = (at + 1) & mask
	}
	return at
}

// home returns the slot at which the search for an integer begins. Multiples of this number spread the groups evenly (Knuth,
// The Art of Computer Programming, volume 3, section 6.4). The salt is another one in each process, so that a text cannot
// have integers that all begin at one slot.
func (v *Values) home(n int64) int {
	const group = 4 // bits
	return int((uint64(n>>group)^salt)*0x9e3779b97f4a7c15>>bits.LeadingZeros64(uint64(len(v.sparse)-1)))&^(1<<group-1) | int(n)&(1<<group-1)
}

var salt = rand.Uint64()

// rehash gives sparse another size, and enters what it has again, some of it into dense if that has grown.
func (v *Values) rehash(size int) {
	old := v.sparse
	v.sparse, v.others = hugepages.Make[ID](size), 0
	for _, id := range old {
		if id != Nil {
			v.enterInt(v.forms[id].at, id)
		}
	}
}

// growDense extends the dense range to hold n. Its length stays proportional
// to the number of forms, so that counters do not need the other table.
func (v *Values) growDense(n int64) {
	old := int64(len(v.dense))
	if n >= int64(cap(v.dense)) {
		v.dense = hugepages.Grow(v.dense, int(max(old, n+1-old)))
	}
	v.dense = v.dense[:max(min(2*old, int64(cap(v.dense))), n+1)]
	if v.others > 0 {
		v.rehash(len(v.sparse))
	}
}

// Reserve makes room for more forms.
func (v *Values) Reserve(more int) {
	v.forms, v.class, v.dense = hugepages.Grow(v.forms, more), hugepages.Grow(v.class, more), hugepages.Grow(v.dense, more)
}

// ReserveInts makes room for the integers from 0 to n-1, which are all about to be interned.
func (v *Values) ReserveInts(n int) {
	v.Reserve(max(n-len(v.forms), 0))
	if n > len(v.dense) {
		v.growDense(int64(n - 1))
	}
}

// InternString interns a string.
func (v *Values) InternString(s string) ID {
	if id, ok := v.strings[s]; ok {
		return id
	}
	id := v.addText(KindString, s)
	v.strings[s] = id
	return id
}

// InternStringBytes interns a string, and copies s only if it is new.
func (v *Values) InternStringBytes(s []byte) ID {
	if id, ok := v.strings[string(s)]; ok {
		return id
	}
	return v.InternString(string(s))
}

// InternKeyword interns a keyword, given its name without the colon.
func (v *Values) InternKeyword(name string) ID {
	if id, ok := v.keywords[name]; ok {
		return id
	}
	id := v.addText(KindKeyword, name)
	v.keywords[name] = id
	return id
}

// InternSymbol interns a symbol. For the names nil, true and false it returns those values.
func (v *Values) InternSymbol(name string) ID {
	if id, ok := v.symbols[name]; ok {
		return id
	}
	id := v.addText(KindSymbol, name)
	v.symbols[name] = id
	return id
}

// InternFloat interns a floating point number. Every NaN is a new form.
func (v *Values) InternFloat(f float64) ID {
	text := floatText(f)
	if f != f {
		id := v.addText(KindFloat, text)
		v.forms[id].nan = true
		return id
	}
	if id, ok := v.tokens[text]; ok {
		return id
	}
	return v.addToken(text, token{kind: KindFloat, canonical: canonicalFloat(f)})
}

// token is the meaning of a scalar's text if it is neither a plain integer nor
// a string, keyword or symbol. Tokens with the same canonical text are equal.
type token struct {
	kind      Kind
	canonical string
	fits      bool // an integer whose value is n
	n         int64
}

// addToken adds a token that the table does not hold.
func (v *Values) addToken(text string, t token) ID {
	id := v.addText(t.kind, text)
	v.tokens[text] = id
	if t.fits {
		v.forms[id].fits, v.forms[id].at = true, t.n
		plain, fresh := v.internInt(t.n)
		v.join(id, plain, fresh)
		return id
	}
	if t.canonical == text {
		return id
	}
	canonical, ok := v.tokens[t.canonical]
	if !ok {
		canonical = v.addText(t.kind, t.canonical)
		v.tokens[t.canonical] = canonical
	}
	v.join(id, canonical, !ok)
	return id
}

// InternVector interns a vector of the given forms.
func (v *Values) InternVector(items []ID) ID { return v.intern(KindVector, items) }

// InternList interns a list of the given forms.
func (v *Values) InternList(items []ID) ID { return v.intern(KindList, items) }

// InternSet interns a set. Of equal elements it keeps the last, in the place of the first.
func (v *Values) InternSet(items []ID) ID { return v.intern(KindSet, items) }

// InternMap interns a map, given its keys and values in turn. Of equal keys
// it keeps the last with its value, in the place of the first.
func (v *Values) InternMap(kvs []ID) ID { return v.intern(KindMap, kvs[:len(kvs)&^1]) }

// InternTagged interns a tagged form. The tag is given without its #.
func (v *Values) InternTagged(tag string, form ID) ID {
	return v.intern(KindTagged, []ID{v.InternString(tag), form})
}

func (v *Values) intern(kind Kind, items []ID) ID {
	if v.loose {
		return v.store(kind, items)
	}
	id, hash := v.find(kind, items)
	if id != Nil {
		return id
	}
	if v.duplicate(kind, items) >= 0 {
		return v.intern(kind, v.lastWins(kind, items))
	}
	return v.addItems(kind, items, hash)
}

// stride returns the distance between the items of a collection that must
// all differ, or 0 if they need not.
func (k Kind) stride() int {
	switch k {
	case KindSet:
		return 1
	case KindMap:
		return 2
	}
	return 0
}

// duplicate returns the index of the first element or key that equals an
// earlier one, or -1.
func (v *Values) duplicate(kind Kind, items []ID) int {
	step := kind.stride()
	if step == 0 || len(items) <= step {
		return -1
	}
	if len(items) > fewItems {
		marked := v.mark(items, step)
		v.unmark(items[:marked], step)
		if marked < len(items) {
			return marked
		}
		return -1
	}
	for i := step; i < len(items); i += step {
		for k := 0; k < i; k += step {
			if v.Same(items[k]) == v.Same(items[i]) {
				return i
			}
		}
	}
	return -1
}

// fewItems is up to how many items are compared with each other. The classes of more items are marked.
const fewItems = 16

// mark marks the classes of every step-th item, up to the first one that is already marked. It returns the index of
// that one, or the number of items.
func (v *Values) mark(items []ID, step int) int {
	if more := len(v.forms)/64 + 1 - len(v.marks); more > 0 {
		v.marks = append(v.marks, make([]uint64, more)...)
	}
	for i := 0; i < len(items); i += step {
		class := v.Same(items[i])
		word, bit := &v.marks[class/64], uint64(1)<<(class%64)
		if *word&bit != 0 {
			return i
		}
		*word |= bit
	}
	return len(items)
}

// unmark takes the marks of every step-th item away.
func (v *Values) unmark(items []ID, step int) {
	for i := 0; i < len(items); i += step {
		v.marks[v.Same(items[i])/64] = 0
	}
}

// agree reports whether keys that occur several times in a map always have the same value.
func (v *Values) agree(kvs []ID) bool {
	values := map[ID]ID{}
	for i := 0; i < len(kvs); i += 2 {
		value := v.Same(kvs[i+1])
		if old, seen := values[v.Same(kvs[i])]; seen && old != value {
			return false
		}
		values[v.Same(kvs[i])] = value
	}
	return true
}

func (v *Values) lastWins(kind Kind, items []ID) []ID {
	step := kind.stride()
	kept := make([]ID, 0, len(items))
	place := map[ID]int{}
	for i := 0; i < len(items); i += step {
		if at, ok := place[v.Same(items[i])]; ok {
			copy(kept[at:at+step], items[i:])
			continue
		}
		place[v.Same(items[i])] = len(kept)
		kept = append(kept, items[i:i+step]...)
	}
	return kept
}

// find looks up a collection. It returns Nil if there is none, and its hash. It never finds one that holds a NaN.
func (v *Values) find(kind Kind, items []ID) (id ID, hash uint32) {
	hash = hashItems(kind, items)
	for _, s := range v.near(items) {
		if s.id == Nil {
			return Nil, hash
		}
		if s.hash == hash && v.is(s.id, kind, items) {
			return s.id, hash
		}
	}
	mask := uint32(len(v.table) - 1)
	for at := hash & mask; v.table[at].id != Nil; at = (at + 1) & mask {
		if s := v.table[at]; s.hash == hash && v.is(s.id, kind, items) {
			return s.id, hash
		}
	}
	return Nil, hash
}

func (v *Values) is(id ID, kind Kind, items []ID) bool {
	return id > Nil && v.forms[id].kind == kind && slices.Equal(v.items(id), items)
}

// near returns the slots that a collection takes if one of them is free. Others are found by the hash. In a text with
// many collections most are of values that are new, and the numbers of these grow. So their slots are near those that
// were used last, which a core's cache has.
func (v *Values) near(items []ID) []slot {
	at := 0
	if n := len(items); n > 0 {
		at = int(max(items[0], items[n-1])) / valuesNear * slotsNear & (len(v.table) - 1)
	}
	return v.table[at : at+slotsNear]
}

// The collections of valuesNear values share slotsNear slots, as many as a line of a cache has.
const (
	valuesNear = 4
	slotsNear  = 8
)

// addItems adds a collection that the table does not hold, with its class and its hash.
func (v *Values) addItems(kind Kind, items []ID, hash uint32) ID {
	nan, classes := false, true // whether some item is or holds a NaN, and whether all are their classes
	for _, item := range items {
		nan = nan || v.forms[item].nan
		classes = classes && v.Same(item) == item
	}
	id := v.store(kind, items)
	if nan {
		v.forms[id].nan = true
		return id
	}
	v.enter(slot{hash, id})
	switch {
	case kind == KindVector && classes:
		return id // it stands for its class
	case kind == KindSet:
		v.joinSet(id)
		return id
	}
	canonicalKind, canonicalItems := v.canonical(kind, items)
	if canonicalKind == kind && slices.Equal(canonicalItems, items) {
		return id
	}
	canonical, hash := v.find(canonicalKind, canonicalItems)
	fresh := canonical == Nil
	if fresh {
		canonical = v.store(canonicalKind, canonicalItems)
		v.enter(slot{hash, canonical})
	}
	v.join(id, canonical, fresh)
	return id
}

// joinSet puts a new set into its class. A set has no canonical form, which would take as much room as the set itself.
// The hash table has the first set of each class a second time, less than zero, by a hash that does not depend on the order.
func (v *Values) joinSet(id ID) {
	items := v.items(id)
	hash := v.hashSet(items)
	mask := uint32(len(v.table) - 1)
	for at := hash & mask; v.table[at].id != Nil; at = (at + 1) & mask {
		if s := v.table[at]; s.hash == hash && s.id < Nil && v.sameSet(-s.id, items) {
			v.setClass(id, v.Same(-s.id))
			return
		}
	}
	v.enter(slot{hash, -id})
}

// sameSet reports whether a set has the same classes. Neither has a class twice.
func (v *Values) sameSet(id ID, items []ID) bool {
	others := v.items(id)
	if len(others) != len(items) {
		return false
	}
	v.mark(others, 1)
	same := !slices.ContainsFunc(items, func(item ID) bool {
		class := v.Same(item)
		return v.marks[class/64]>>(class%64)&1 == 0
	})
	v.unmark(others, 1)
	return same
}

func (v *Values) store(kind Kind, items []ID) ID {
	at := int64(0)
	if len(items) < longList {
		at = v.room(len(items))
		copy(v.itemsAt(at, len(items)), items)
	} else {
		at = v.share(items)
	}
	return v.add(form{kind: kind, n: int32(len(items)), at: at})
}

// room returns a place for n more items.
func (v *Values) room(n int) (at int64) {
	last := len(v.arena) - 1
	if c := v.arena[last]; cap(c)-len(c) < n {
		v.arena = append(v.arena, hugepages.Grow([]ID(nil), max(n, min(2*cap(c), mostChunk))))
		last++
	}
	c := v.arena[last]
	v.arena[last] = c[:len(c)+n]
	return int64(last)<<chunkBits | int64(len(c))
}

// itemsAt returns the n items at a place.
func (v *Values) itemsAt(at int64, n int) []ID {
	chunk, start := at>>chunkBits, at&(1<<chunkBits-1)
	end := start + int64(n)
	return v.arena[chunk][start:end:end]
}

// list is where a long list is, how long, and for how many items there is room.
type list struct {
	at      int64
	n, room int32
}

// A list has longList items if it is long. Some of all long lists are found again, by listBits of a hash.
const (
	longList = 8
	listBits = 8
)

// share returns a place for the items of a long list. Histories have many states of a list that grows, each of which begins with the one
// before: these share a place, which has room for as many items again.
func (v *Values) share(items []ID) (at int64) {
	if v.lists == nil {
		v.lists = make([]list, 1<<listBits)
	}
	l, n := &v.lists[uint32(items[0])*0x9e3779b1>>(32-listBits)], int32(len(items))
	old := v.itemsAt(l.at, int(l.n))
	switch both := min(n, l.n); {
	case both == 0 || !slices.Equal(old[:both], items[:both]):
		*l = list{v.room(len(items)), n, n}
	case n <= l.n:
		return l.at
	case n > l.room:
		*l = list{v.room(2 * len(items)), n, 2 * n}
	default:
		copy(v.itemsAt(l.at, len(items))[l.n:], items[l.n:])
		l.n = n
		return l.at
	}
	copy(v.itemsAt(l.at, len(items)), items)
	return l.at
}

// enter puts a stored collection into the hash table.
func (v *Values) enter(s slot) {
	if 4*(v.used+1) > 3*len(v.table) {
		old := v.table
		v.table = hugepages.Grow([]slot(nil), 2*len(old))[:2*len(old)]
		for _, s := range old {
			if s.id != Nil {
				v.place(s)
			}
		}
	}
	v.place(s)
	v.used++
}

func (v *Values) place(s slot) {
	if s.id > Nil {
		near := v.near(v.items(s.id))
		for i := range near {
			if near[i].id == Nil {
				near[i] = s
				return
			}
		}
	}
	mask := uint32(len(v.table) - 1)
	at := s.hash & mask
	for v.table[at].id != Nil {
		at = (at + 1) & mask
	}
	v.table[at] = s
}

func hashItems(kind Kind, items []ID) uint32 {
	h := uint64(kind) + 0x9e3779b97f4a7c15
	for _, id := range items {
		hi, lo := bits.Mul64(h^uint64(uint32(id)), 0xa0761d6478bd642f)
		h = hi ^ lo
	}
	return uint32(h ^ h>>32)
}

// hashSet returns a hash of the classes of a set's items.
func (v *Values) hashSet(items []ID) uint32 {
	h := uint64(len(items))
	for _, item := range items {
		hi, lo := bits.Mul64(uint64(uint32(v.Same(item)))^salt, 0xa0761d6478bd642f)
		h += hi ^ lo
	}
	return uint32(h ^ h>>32)
}

// canonical returns the form that stands for all collections equal to the
// given one, which is not a set. The items are valid until the next call.
func (v *Values) canonical(kind Kind, items []ID) (Kind, []ID) {
	classes := v.scratch[:0]
	for _, item := range items {
		classes = append(classes, v.Same(item))
	}
	v.scratch = classes
	switch kind {
	case KindList:
		return KindVector, classes
	case KindMap:
		v.sortPairs(classes)
	case KindTagged:
		classes[0] = items[0]
		classes[1] = v.canonicalTagged(v.Str(items[0]), classes[1])
	}
	return kind, classes
}

func (v *Values) sortPairs(kvs []ID) {
	v.pairs = v.pairs[:0]
	for i := 0; i < len(kvs); i += 2 {
		v.pairs = append(v.pairs, [2]ID{kvs[i], kvs[i+1]})
	}
	slices.SortFunc(v.pairs, func(a, b [2]ID) int { return int(a[0]) - int(b[0]) })
	for i, p := range v.pairs {
		kvs[2*i], kvs[2*i+1] = p[0], p[1]
	}
}
