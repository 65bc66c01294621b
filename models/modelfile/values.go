package modelfile

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"clew/edn"
)

// values are the values of a history in Starlark. Lists and vectors become frozen lists, or
// tuples where a value must be hashable. Maps and sets are filled in a canonical order.
// Values that Starlark cannot express are opaque.
type values struct {
	keep bool // keywords stay keywords; otherwise they are strings

	mu       sync.Mutex
	of       map[int32]starlark.Value // by class
	hashable map[int32]starlark.Value // by class
	strings  map[string]edn.Value     // the first string or keyword of a name
	integers map[string]edn.Value     // the first integer or float of a number
}

func newValues(keep bool) *values {
	return &values{
		keep: keep,
		of:   map[int32]starlark.Value{}, hashable: map[int32]starlark.Value{},
		strings: map[string]edn.Value{}, integers: map[string]edn.Value{},
	}
}

// read returns a value in Starlark. It is an error if the history has another value that a
// model could not distinguish from it.
func (t *values) read(x edn.Value) (starlark.Value, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, err := t.convert(x, false)
	if err == nil {
		v.Freeze()
	}
	return v, err
}

// get returns a value that has been read.
func (t *values) get(x edn.Value) starlark.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[x.Class()]
}

func (t *values) convert(x edn.Value, hashable bool) (starlark.Value, error) {
	known := t.of
	if hashable {
		known = t.hashable
	}
	if v, ok := known[x.Class()]; ok {
		return v, nil
	}
	v, err := t.made(x, hashable)
	if err == nil {
		known[x.Class()] = v
	}
	return v, err
}

func (t *values) made(x edn.Value, hashable bool) (starlark.Value, error) {
	switch x.Kind() {
	case edn.KindNil:
		return starlark.None, nil
	case edn.KindBool:
		return starlark.Bool(x.Go().(bool)), nil
	case edn.KindInt, edn.KindFloat:
		return t.number(x)
	case edn.KindString:
		return t.text(x, x.Go().(string))
	case edn.KindKeyword:
		name := string(x.Go().(edn.Keyword))
		if t.keep {
			return keyword(name), nil
		}
		return t.text(x, name)
	case edn.KindVector, edn.KindList:
		items, err := t.all(x.Items(), hashable)
		if hashable {
			return starlark.Tuple(items), err
		}
		return starlark.NewList(items), err
	case edn.KindSet:
		if !hashable {
			return t.set(x)
		}
	case edn.KindMap:
		if !hashable {
			return t.dict(x)
		}
	}
	return opaque{x}, nil
}

func (t *values) all(items []edn.Value, hashable bool) ([]starlark.Value, error) {
	list := make([]starlark.Value, len(items))
	for i, item := range items {
		var err error
		if list[i], err = t.convert(item, hashable); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (t *values) set(x edn.Value) (starlark.Value, error) {
	items, err := t.all(x.Items(), true)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, order)
	return setFrom(items)
}

func (t *values) dict(x edn.Value) (starlark.Value, error) {
	var keys, items []edn.Value
	for kvs := x.Items(); len(kvs) > 0; kvs = kvs[2:] {
		keys, items = append(keys, kvs[0]), append(items, kvs[1])
	}
	names, err := t.all(keys, true)
	if err != nil {
		return nil, err
	}
	held, err := t.all(items, false)
	if err != nil {
		return nil, err
	}
	return dictOf(names, held)
}

// dictOf returns a dict of these keys and values, in canonical order.
func dictOf(keys, held []starlark.Value) (starlark.Value, error) {
	at := make([]int, len(keys))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return order(keys[a], keys[b]) })
	var items []starlark.Value
	for _, i := range at {
		items = append(items, keys[i], held[i])
	}
	return dictFrom(items)
}

// text returns a string or keyword as a string of that text.
func (t *values) text(x edn.Value, text string) (starlark.Value, error) {
	if first, seen := t.strings[text]; seen && first.Kind() != x.Kind() {
		return nil, fmt.Errorf("the history has both %v and %v, which would both be the string %q in the model; with keywords = \"keep\" in the model they stay distinct", first, x, text)
	} else if !seen {
		t.strings[text] = x
	}
	return starlark.String(text), nil
}

// number returns an integer or a float. NaN is opaque, because it equals nothing, not even
// itself.
func (t *values) number(x edn.Value) (starlark.Value, error) {
	var v starlark.Value
	whole := ""
	switch n := x.Go().(type) {
	case int64:
		v, whole = starlark.MakeInt64(n), fmt.Sprint(n)
	case *big.Int:
		v, whole = starlark.MakeBigInt(n), n.String()
	case float64:
		if math.IsNaN(n) {
			return opaque{x}, nil
		}
		v = starlark.Float(n)
		if n == math.Trunc(n) && !math.IsInf(n, 0) {
			i, _ := big.NewFloat(n).Int(nil)
			whole = i.String()
		}
	}
	if whole == "" {
		return v, nil
	}
	if first, seen := t.integers[whole]; seen && first.Kind() != x.Kind() {
		return nil, fmt.Errorf("the history has both %v and %v, which are equal in the model and not in the history", first, x)
	} else if !seen {
		t.integers[whole] = x
	}
	return v, nil
}

// plain returns a Starlark value for edn.Values.From. A string that was a keyword of the
// history is a keyword again.
func (t *values) plain(v starlark.Value) any {
	switch v := v.(type) {
	case starlark.NoneType:
		return nil
	case starlark.Bool:
		return bool(v)
	case starlark.Int:
		if n, ok := v.Int64(); ok {
			return n
		}
		return v.BigInt()
	case starlark.Float:
		return float64(v)
	case starlark.String:
		t.mu.Lock()
		x, seen := t.strings[string(v)]
		t.mu.Unlock()
		if seen {
			return x
		}
		return string(v)
	case keyword:
		return edn.Keyword(v)
	case opaque:
		return v.Value
	case *starlark.Set:
		var items edn.Set
		for item := range v.Elements() {
			items = append(items, t.plain(item))
		}
		return items
	case *starlark.Dict:
		m := pairs{}
		for k, held := range v.Entries() {
			m = append(m, t.plain(k), t.plain(held))
		}
		return m.plain()
	case starlark.Iterable:
		items := []any{}
		for item := range starlark.Elements(v) {
			items = append(items, t.plain(item))
		}
		return items
	}
	return v.String()
}

// pairs are the keys and values of a map in turn.
type pairs []any

// plain returns a map. If a key cannot be a key in Go, it returns a vector of pairs.
func (p pairs) plain() any {
	m := map[any]any{}
	var list []any
	for i := 0; i < len(p); i += 2 {
		list = append(list, []any{p[i], p[i+1]})
		switch p[i].(type) {
		case []any, edn.Set, map[any]any:
		default:
			m[p[i]] = p[i+1]
		}
	}
	if len(m) < len(list) {
		return list
	}
	return m
}

// opaque is a value that Starlark cannot express, such as a character or a ratio. Opaque
// values are equal if they are equal in Clojure.
type opaque struct{ edn.Value }

func (x opaque) Type() string          { return "edn" }
func (x opaque) Freeze()               {}
func (x opaque) Truth() starlark.Bool  { return true }
func (x opaque) Hash() (uint32, error) { return uint32(x.Class()), nil }

// CompareSameType makes opaque comparable.
func (x opaque) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(x, op, x.Class() == y.(opaque).Class())
}

// keyword is a keyword of a model with keywords = "keep".
type keyword string

func (k keyword) String() string        { return ":" + string(k) }
func (k keyword) Type() string          { return "keyword" }
func (k keyword) Freeze()               {}
func (k keyword) Truth() starlark.Bool  { return true }
func (k keyword) Hash() (uint32, error) { return starlark.String(k).Hash() }

// CompareSameType makes keyword comparable.
func (k keyword) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	return equality(k, op, k == y.(keyword))
}

// equality answers a comparison of values that have no order.
func equality(x starlark.Value, op syntax.Token, equal bool) (bool, error) {
	switch op {
	case syntax.EQL:
		return equal, nil
	case syntax.NEQ:
		return !equal, nil
	}
	return false, fmt.Errorf("%s values have no order", x.Type())
}

// rank returns the place of a value's type in the canonical order.
func rank(v starlark.Value) int {
	switch v.(type) {
	case starlark.NoneType:
		return 0
	case starlark.Bool:
		return 1
	case starlark.Int, starlark.Float:
		return 2
	case starlark.String:
		return 3
	case keyword:
		return 4
	case starlark.Tuple:
		return 5
	}
	return 6
}

// order compares hashable values in the canonical order. It depends only on the values.
func order(a, b starlark.Value) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case starlark.NoneType:
		return 0
	case starlark.Bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	case starlark.Int, starlark.Float:
		if n, ok := a.(starlark.Int); ok && b.Type() == a.Type() {
			c, _ := n.Cmp(b, 0)
			return c
		}
		less, _ := starlark.Compare(syntax.LT, a, b)
		greater, _ := starlark.Compare(syntax.GT, a, b)
		switch {
		case less:
			return -1
		case greater:
			return 1
		}
		return strings.Compare(a.Type(), b.Type())
	case starlark.String:
		return strings.Compare(string(a), string(b.(starlark.String)))
	case keyword:
		return strings.Compare(string(a), string(b.(keyword)))
	case starlark.Tuple:
		return slices.CompareFunc(a, b.(starlark.Tuple), order)
	}
	return strings.Compare(a.String(), b.String())
}
