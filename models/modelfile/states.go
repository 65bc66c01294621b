package modelfile

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.starlark.net/starlark"
)

// table numbers values by their contents. A list is its last element and the list without
// it, so that lists with a common beginning share it. Tuples work in the same way, and so
// do dicts and sets, in canonical order. Every value is one node, and has one number.
type table struct {
	mu     sync.Mutex
	number map[node]int32
	leaf   map[any]int32
	nodes  []node // by number
	facts  []fact // by number
	leaves []starlark.Value

	held   map[int32]*held          // collections in memory, by number
	of     map[starlark.Value]int32 // their numbers, by pointer
	oldest []int32                  // in order of arrival
	room   int                      // elements that may still be held
	spent  int                      // roughly the bytes added since size was last called
}

// node is a value: a leaf, or the last of several items with the items before it.
type node struct {
	kind         nodeKind
	before, a, b int32 // b: the value of a dict's key
}

type nodeKind int32

const (
	leaf nodeKind = iota
	list
	tuple
	dict
	set
)

// fact is what is known of a node.
type fact struct {
	hash   uint32
	length int32
	size   int32 // elements, with those of its elements, counted every time they occur
	loose  bool  // there is a dict or a set of several elements in it, whose order does not count
}

// held is a list, dict or set in memory, frozen and in canonical order. Lists that
// grow out of one another may share a store.
type held struct {
	value starlark.Value
	store *store
	cost  int // roughly the elements that no other one holds
}

// store is the elements of several lists, each of which is a beginning of it.
type store struct{ elems []starlark.Value }

// maxHeld bounds the elements of the collections that are kept. maxDepth bounds the nesting
// of states, and maxSize their elements with those of their elements. Nested tuples that
// each hold the same tuple twice are small in memory, but every level doubles the time to
// visit all of it.
const (
	maxHeld  = 1 << 20
	maxDepth = 100
	maxSize  = 1 << 20
)

// empty stands before the first item.
const empty int32 = -1

func newTable() *table {
	return &table{number: map[node]int32{}, leaf: map[any]int32{}, held: map[int32]*held{}, of: map[starlark.Value]int32{}, room: maxHeld}
}

// add returns the number of a node.
func (t *table) add(x node, f fact) int32 {
	n, known := t.number[x]
	if !known {
		n = int32(len(t.nodes))
		t.number[x] = n
		t.nodes, t.facts = append(t.nodes, x), append(t.facts, f)
		t.spent += 80
	}
	return n
}

// leafOf returns the number of a leaf, identified by a Go key.
func (t *table) leafOf(key any, v starlark.Value) int32 {
	n, known := t.leaf[key]
	if !known {
		n = t.add(node{kind: leaf, a: int32(len(t.leaves))}, fact{hash: hashOf(v.Type() + v.String())})
		t.leaf[key] = n
		t.leaves = append(t.leaves, v)
		t.spent += 80 + len(v.String())
	}
	return n
}

// then returns the number of the value before with another item behind it.
func (t *table) then(kind nodeKind, before, a, b int32) (int32, error) {
	f := fact{hash: 31 + uint32(kind)}
	if before != empty {
		f = t.facts[before]
	}
	f.length++
	f.size++
	for _, item := range []int32{a, b} {
		f.hash *= 16777619
		if item != empty {
			f.hash ^= t.facts[item].hash
			f.size += t.facts[item].size
			f.loose = f.loose || t.facts[item].loose
		}
	}
	f.loose = f.loose || f.length > 1 && (kind == dict || kind == set)
	if f.size > maxSize {
		return 0, errLarge
	}
	return t.add(node{kind: kind, before: before, a: a, b: b}, f), nil
}

// none returns the number of the empty value of a kind.
func (t *table) none(kind nodeKind) int32 {
	return t.add(node{kind: kind, before: empty, a: empty, b: empty}, fact{hash: 31 + uint32(kind)})
}

var (
	errNested = fmt.Errorf("a state nests values at most %d deep", maxDepth)
	errLarge  = fmt.Errorf("a state has at most %d elements, with those of its elements", maxSize)
)

// intern returns the number of a value. grown are the lists that grew out of others in the
// step that made it.
func (t *table) intern(v starlark.Value, grown growth, depth int) (int32, error) {
	if depth > maxDepth {
		return 0, errNested
	}
	switch x := v.(type) {
	case starlark.NoneType:
		return t.leafOf(nil, x), nil
	case starlark.Bool:
		return t.leafOf(bool(x), x), nil
	case starlark.Int:
		if n, ok := x.Int64(); ok {
			return t.leafOf(n, x), nil
		}
		type integer string
		return t.leafOf(integer(x.String()), x), nil
	case starlark.Float:
		if x != x {
			return 0, errors.New("a state cannot contain NaN, which equals nothing")
		}
		if x == 0 {
			x = 0 // -0.0 is equal, and prints otherwise
		}
		return t.leafOf(float64(x), x), nil
	case starlark.String:
		return t.leafOf(string(x), x), nil
	case keyword:
		return t.leafOf(x, x), nil
	case opaque:
		type class int32
		return t.leafOf(class(x.Class()), x), nil
	case *starlark.List:
		return t.list(x, grown, depth)
	case starlark.Tuple:
		return t.chain(tuple, x, nil, grown, depth)
	case *starlark.Set:
		if n, known := t.of[x]; known {
			return n, nil
		}
		items := slices.Collect(x.Elements())
		slices.SortFunc(items, order)
		return t.chain(set, items, nil, grown, depth)
	case *starlark.Dict:
		return t.dict(x, grown, depth)
	}
	return 0, fmt.Errorf("a state is made of None, booleans, numbers, strings, lists, tuples, dicts and sets, not of a %s", v.Type())
}

// chain returns the number of items of a kind, with values if the items are a dict's keys.
func (t *table) chain(kind nodeKind, items, values []starlark.Value, grown growth, depth int) (int32, error) {
	n := t.none(kind)
	for i, item := range items {
		a, err := t.intern(item, grown, depth+1)
		if err != nil {
			return 0, err
		}
		b := empty
		if values != nil {
			if b, err = t.intern(values[i], grown, depth+1); err != nil {
				return 0, err
			}
		}
		if n, err = t.then(kind, n, a, b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (t *table) dict(x *starlark.Dict, grown growth, depth int) (int32, error) {
	if n, known := t.of[x]; known {
		return n, nil
	}
	items := x.Items()
	byKey := func(a, b starlark.Tuple) int { return order(a[0], b[0]) }
	canonical := slices.IsSortedFunc(items, byKey)
	if !canonical {
		slices.SortFunc(items, byKey)
	}
	keys, values := make([]starlark.Value, len(items)), make([]starlark.Value, len(items))
	for i, item := range items {
		keys[i], values[i] = item[0], item[1]
	}
	n, err := t.chain(dict, keys, values, grown, depth)
	if err == nil && canonical && t.held[n] == nil && flat(keys) && flat(values) {
		t.hold(n, x, nil, 2*len(items))
	}
	return n, err
}

// flat says whether no value is a collection. Then two values with one number are
// identical.
func flat(all []starlark.Value) bool {
	return !slices.ContainsFunc(all, func(v starlark.Value) bool {
		switch v.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
			return true
		}
		return false
	})
}

// list returns the number of a list. If it grew out of a list with a number, list looks
// only at the elements behind that one.
func (t *table) list(x *starlark.List, grown growth, depth int) (int32, error) {
	if n, known := t.of[x]; known {
		return n, nil
	}
	from, grew := grown[x]
	if !grew {
		return t.chain(list, elements(x), nil, grown, depth)
	}
	n, known := t.of[from.list]
	if !known || !from.still(x) {
		return t.chain(list, elements(x), nil, grown, depth)
	}
	canonical := true
	for i := from.list.Len(); i < x.Len(); i++ {
		a, err := t.intern(x.Index(i), grown, depth+1)
		if err != nil {
			return 0, err
		}
		canonical = canonical && t.nodes[a].kind == leaf
		if n, err = t.then(list, n, a, empty); err != nil {
			return 0, err
		}
	}
	if canonical && t.held[n] == nil {
		cost := x.Len()
		if from.store != nil {
			cost -= from.list.Len()
		}
		t.hold(n, x, from.store, cost)
	}
	return n, nil
}

func elements(x *starlark.List) []starlark.Value {
	all := make([]starlark.Value, x.Len())
	for i := range all {
		all[i] = x.Index(i)
	}
	return all
}

// hold freezes a collection and keeps it in memory while there is room.
func (t *table) hold(n int32, x starlark.Value, s *store, cost int) {
	x.Freeze()
	t.held[n], t.of[x] = &held{x, s, cost + 8}, n
	t.oldest = append(t.oldest, n)
	for t.room -= cost + 8; t.room < 0 && len(t.oldest) > 1; t.oldest = t.oldest[1:] {
		old := t.held[t.oldest[0]]
		delete(t.of, old.value)
		delete(t.held, t.oldest[0])
		t.room += old.cost
	}
}

// value returns the frozen value of a number.
func (t *table) value(n int32) starlark.Value {
	if known := t.held[n]; known != nil {
		return known.value
	}
	x := t.nodes[n]
	switch x.kind {
	case leaf:
		return t.leaves[x.a]
	case tuple:
		return starlark.Tuple(t.items(n))
	}
	items := t.items(n)
	var v starlark.Value
	var s *store
	var err error
	switch x.kind {
	case list:
		s = &store{items}
		v = starlark.NewList(slices.Clip(items))
	case dict:
		v, err = dictFrom(items)
	default:
		v, err = setFrom(items)
	}
	if err != nil {
		panic(err) // it has been a set or a dict before
	}
	t.hold(n, v, s, len(items))
	return v
}

// reversed returns a frozen value of a number in which dicts and sets have the reverse order, and odd, whether any of
// them has an odd number of elements. turned moves the first element of the reverse order to its end, so that no element
// stays in its place in both orders. The value is equal to the one that value returns.
func (t *table) reversed(n int32, turned bool) (v starlark.Value, odd bool) {
	x := t.nodes[n]
	if !t.facts[n].loose {
		return t.value(n), false
	}
	var items []starlark.Value
	add := func(n int32) {
		item, itsOdd := t.reversed(n, turned)
		items, odd = append(items, item), odd || itsOdd
	}
	per := 1
	for y := x; y.before != empty; y = t.nodes[y.before] {
		if add(y.a); y.b != empty {
			add(y.b)
			per = 2
		}
	}
	if ordered := x.kind == tuple || x.kind == list; !ordered {
		odd = odd || len(items) > per && len(items)/per%2 == 1
		if turned {
			items = slices.Concat(items[per:], items[:per])
		}
	}
	var err error
	switch x.kind {
	case dict:
		v, err = dictFrom(items)
	case set:
		v, err = setFrom(items)
	default:
		slices.Reverse(items)
		if v = starlark.Tuple(items); x.kind == list {
			v = starlark.NewList(items)
		}
	}
	if err != nil {
		panic(err) // it has been a set or a dict before
	}
	v.Freeze()
	return v, odd
}

// items returns the items of a number; for a dict, its keys and values in turn.
func (t *table) items(n int32) []starlark.Value {
	x := t.nodes[n]
	per := int32(1)
	if x.kind == dict {
		per = 2
	}
	all := make([]starlark.Value, per*t.facts[n].length)
	for i := int32(len(all)); i > 0; i -= per {
		x := t.nodes[n]
		all[i-per] = t.value(x.a)
		if per == 2 {
			all[i-1] = t.value(x.b)
		}
		n = x.before
	}
	return all
}

func dictFrom(items []starlark.Value) (starlark.Value, error) {
	d := starlark.NewDict(len(items) / 2)
	for ; len(items) > 0; items = items[2:] {
		if err := d.SetKey(items[0], items[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func setFrom(items []starlark.Value) (starlark.Value, error) {
	s := starlark.NewSet(len(items))
	for _, item := range items {
		if err := s.Insert(item); err != nil {
			return nil, err
		}
	}
	return s, nil
}
