package edn

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Keyword is a keyword in plain Go, without its colon.
type Keyword string

// Symbol is a symbol in plain Go.
type Symbol string

// List is a list in plain Go; a vector is a []any.
type List []any

// Set is a set in plain Go: its elements, in any order.
type Set []any

// Tagged is a tagged value, such as a record, in plain Go.
type Tagged struct {
	Tag   string
	Value any
}

// Value is a form together with the table that holds it. The zero Value is
// nil. Two Values of one table are equal in the sense of Clojure's = if
// they have the same Class. The operator == compares forms.
type Value struct {
	in *Values
	id ID
}

// without is the table of the zero Value.
var without = NewValues()

func (x Value) table() *Values { return cmp.Or(x.in, without) }

// Value returns the Value for an ID.
func (v *Values) Value(id ID) Value { return Value{v, id} }

// ID returns the value's ID in its table.
func (x Value) ID() ID { return x.id }

// String returns the value as EDN.
func (x Value) String() string { return x.table().Text(x.id) }

// Kind returns what sort of value it is.
func (x Value) Kind() Kind { return x.table().Kind(x.id) }

// Class returns a number that two values of one table share if and only if
// they are equal in the sense of Clojure's =.
func (x Value) Class() int32 { return int32(x.table().Same(x.id)) }

// Int returns the value as an int64, or false if it is not an integer or does not fit.
func (x Value) Int() (int64, bool) { return x.table().Int(x.id) }

// Items returns the elements of a collection, the keys and values of a map in
// turn, or the one value of a tagged value. For other values it returns nil.
func (x Value) Items() []Value {
	var items []Value
	for _, id := range x.table().Items(x.id) {
		items = append(items, Value{x.in, id})
	}
	return items
}

// Get returns the value that a map has under a keyword.
func (x Value) Get(keyword string) (Value, bool) {
	if x.Kind() != KindMap {
		return Value{}, false
	}
	key, known := x.in.keywords[keyword]
	if !known {
		return Value{}, false
	}
	id, ok := x.in.Get(x.id, key)
	return Value{x.in, id}, ok
}

// Go returns the value in plain Go: nil, bool, int64 (or *big.Int), *big.Rat,
// float64, string, Keyword, Symbol, []any, List, Set, map[any]any or Tagged.
// Anything else stays a Value: a decimal, a character and a form that EDN does not
// know. So does a map with a key, such as a vector, that Go does not allow in a map.
func (x Value) Go() any {
	switch x.Kind() {
	case KindNil:
		return nil
	case KindBool:
		return x.id == True
	case KindInt:
		if n, fits := x.Int(); fits {
			return n
		}
		return x.in.big(x.id)
	case KindRatio:
		t, _ := readNumber(x.in.Str(x.id))
		r, _ := new(big.Rat).SetString(t.canonical)
		return r
	case KindFloat:
		return goFloat(x.in.Str(x.id))
	case KindString:
		return x.in.Str(x.id)
	case KindKeyword:
		return Keyword(x.in.Str(x.id))
	case KindSymbol:
		return Symbol(x.in.Str(x.id))
	case KindVector:
		return x.items()
	case KindList:
		return List(x.items())
	case KindSet:
		return Set(x.items())
	case KindMap:
		return x.goMap()
	case KindTagged:
		return Tagged{x.in.Str(x.id), x.Items()[0].Go()}
	}
	return x
}

func goFloat(text string) float64 {
	// Go's parser knows ##Inf, ##-Inf and ##NaN without the ##. For 1e400 it
	// returns an error and infinity, as we want.
	f, _ := strconv.ParseFloat(strings.TrimPrefix(text, "##"), 64)
	return f
}

func (x Value) items() []any {
	items := []any{}
	for _, item := range x.Items() {
		items = append(items, item.Go())
	}
	return items
}

func (x Value) goMap() any {
	m := map[any]any{}
	for items := x.Items(); len(items) > 0; items = items[2:] {
		key := items[0].Go()
		if !isGoKey(key) {
			return x
		}
		m[key] = items[1].Go()
	}
	return m
}

// isGoKey reports whether an equal value finds this key in a Go map.
func isGoKey(key any) bool {
	switch key.(type) {
	case nil:
		return true
	case *big.Int, *big.Rat:
		return false
	}
	return reflect.ValueOf(key).Comparable()
}

// From interns a plain Go value. It takes anything that Value.Go returns, all integer
// and float types, slices, arrays and maps of these, and pointers to them. A nil
// pointer is nil; a nil slice or map is empty. The keys of a map stand in the order
// in which they print. Everything else is an error: other types, a Keyword, Symbol or
// tag that EDN cannot spell, equal keys, and anything beyond MaxDepth or MaxNumber.
func (v *Values) From(x any) (Value, error) {
	id, err := v.from(x, 0)
	if err != nil {
		return Value{}, err
	}
	return Value{v, id}, nil
}

// from does what From does for a value that is nested depth levels deep.
func (v *Values) from(x any, depth int) (ID, error) {
	if depth > MaxDepth {
		return Nil, errors.New(nestedTooDeep)
	}
	switch x := x.(type) {
	case nil:
		return Nil, nil
	case Value:
		if x.in == v || x.in == nil {
			return x.id, nil
		}
		return v.ParseLenient([]byte(x.String()))
	case Keyword:
		return v.fromName(KindKeyword, ":", string(x), "keyword, without its colon", v.keywords, v.InternKeyword)
	case Symbol:
		return v.fromName(KindSymbol, "", string(x), "symbol", v.symbols, v.InternSymbol)
	case List:
		return v.fromItems(x, v.InternList, depth)
	case Set:
		return v.fromItems(x, v.InternSet, depth)
	case Tagged:
		return v.fromTagged(x, depth)
	case *big.Int:
		if x == nil {
			return Nil, nil
		}
		return v.fromNumber(x.String())
	case *big.Rat:
		if x == nil {
			return Nil, nil
		}
		return v.fromNumber(x.RatString())
	}
	return v.fromKind(reflect.ValueOf(x), depth)
}

// fromName interns a keyword or a symbol. The prefix is what its text begins with.
func (v *Values) fromName(kind Kind, prefix, name, expected string, known map[string]ID, intern func(string) ID) (ID, error) {
	if id, ok := known[name]; ok {
		return id, nil
	}
	if !spells(prefix+name, kind, name) {
		return Nil, fmt.Errorf("expected the name of a %s, found %q", expected, name)
	}
	return intern(name), nil
}

func (v *Values) fromTagged(x Tagged, depth int) (ID, error) {
	id, err := v.from(x.Value, depth+1)
	if err != nil {
		return Nil, err
	}
	if expected := v.untagged([]byte(x.Tag), id); expected != "" {
		return Nil, fmt.Errorf("expected %s, found #%s %s", expected, x.Tag, v.brief(id))
	}
	if x.Tag != "inst" && x.Tag != "uuid" && !spells("#"+x.Tag+" nil", KindTagged, x.Tag) {
		return Nil, fmt.Errorf("expected a tag, without its #, found %q", x.Tag)
	}
	return v.InternTagged(x.Tag, id), nil
}

// spells reports whether a text reads as a form of that kind with that name.
func spells(text string, kind Kind, name string) bool {
	scratch := NewValues()
	id, err := scratch.Parse([]byte(text), Pos{})
	return err == nil && scratch.Kind(id) == kind && scratch.Str(id) == name
}

func (v *Values) fromNumber(text string) (ID, error) {
	if len(text) > MaxNumber {
		return Nil, fmt.Errorf("expected a number of at most %d characters, found one of %d", MaxNumber, len(text))
	}
	return v.Parse([]byte(text), Pos{})
}

func (v *Values) fromItems(items []any, intern func([]ID) ID, depth int) (ID, error) {
	ids := make([]ID, len(items))
	for i, item := range items {
		var err error
		if ids[i], err = v.from(item, depth+1); err != nil {
			return Nil, err
		}
	}
	return intern(ids), nil
}

func (v *Values) fromMap(x reflect.Value, depth int) (ID, error) {
	var entries []entry
	for key, value := range x.Seq2() {
		keyID, err := v.from(key.Interface(), depth+1)
		if err != nil {
			return Nil, err
		}
		valueID, err := v.from(value.Interface(), depth+1)
		if err != nil {
			return Nil, err
		}
		entries = append(entries, entry{id: keyID, value: valueID, text: v.AppendText(nil, keyID)})
	}
	slices.SortFunc(entries, v.compareEntries)
	items := make([]ID, 0, 2*len(entries))
	for _, e := range entries {
		items = append(items, e.id, e.value)
	}
	if d := v.duplicate(KindMap, items); d >= 0 {
		return Nil, fmt.Errorf("expected different keys in a map, found %s twice", v.brief(items[d]))
	}
	return v.InternMap(items), nil
}

func (v *Values) fromKind(x reflect.Value, depth int) (ID, error) {
	switch x.Kind() {
	case reflect.Bool:
		if x.Bool() {
			return True, nil
		}
		return False, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.InternInt(x.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.fromNumber(strconv.FormatUint(x.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return v.InternFloat(x.Float()), nil
	case reflect.String:
		return v.InternString(x.String()), nil
	case reflect.Slice, reflect.Array:
		items := make([]any, x.Len())
		for i := range items {
			items[i] = x.Index(i).Interface()
		}
		return v.fromItems(items, v.InternVector, depth)
	case reflect.Map:
		return v.fromMap(x, depth)
	case reflect.Pointer:
		if x.IsNil() {
			return Nil, nil
		}
		return v.from(x.Elem().Interface(), depth+1)
	}
	return Nil, fmt.Errorf("expected a value in plain Go (nil, a boolean, number, string, Keyword, Symbol, slice or map), found a %s", x.Type())
}
