package edn

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
)

// Keyword is a keyword in plain Go, without its colon.
type Keyword string

// Symbol is a symbol in plain Go.
type Symbol string

// List is a list in plain Go; a vector is a []any.
type List []any

// Set is a set in plain Go: its elements, in any order.
type Set []any

// Tagged is a tagged value in plain Go, such as a record.
type Tagged struct {
	Tag   string
	Value any
}

// Value is a value with the table that holds it. The zero Value is nil.
type Value struct {
	in *Values
	id ID
}

// Value is the value of an ID.
func (v *Values) Value(id ID) Value { return Value{v, id} }

// ID is the value's ID in its table.
func (x Value) ID() ID { return x.id }

// String is the value as EDN.
func (x Value) String() string {
	if x.in == nil {
		return "nil"
	}
	return x.in.Text(x.id)
}

// Kind says what sort of value it is.
func (x Value) Kind() Kind {
	if x.in == nil {
		return KindNil
	}
	return x.in.Kind(x.id)
}

// Class numbers values of one table: equal values, in the sense of Clojure's =,
// have equal numbers, and others different ones.
func (x Value) Class() int32 {
	if x.in == nil {
		return int32(Nil)
	}
	return int32(x.in.Same(x.id))
}

// Int is the value as an int64; false if it is no integer, or too large.
func (x Value) Int() (int64, bool) {
	if x.in == nil {
		return 0, false
	}
	return x.in.Int(x.id)
}

// Items are the elements of a collection, a map's keys and values in turn, the
// value of a tagged one; none of anything else.
func (x Value) Items() []Value {
	if x.in == nil {
		return nil
	}
	var items []Value
	for _, id := range x.in.Items(x.id) {
		items = append(items, Value{x.in, id})
	}
	return items
}

// Get is what a map has under a keyword.
func (x Value) Get(keyword string) (Value, bool) {
	if x.Kind() != KindMap {
		return Value{}, false
	}
	id, ok := x.in.Get(x.id, x.in.InternKeyword(keyword))
	return Value{x.in, id}, ok
}

// Go is the value in plain Go: nil, bool, int64 (or *big.Int), *big.Rat, float64,
// string, Keyword, Symbol, []any, List, Set, map[any]any and Tagged. What has no
// place among these, such as a decimal or a map with a vector for a key, is the
// Value itself.
func (x Value) Go() any {
	switch kind := x.Kind(); kind {
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
		if r, ok := new(big.Rat).SetString(x.String()); ok {
			return r
		}
	case KindFloat:
		if f, err := strconv.ParseFloat(x.String(), 64); err == nil {
			return f
		}
	case KindString:
		return x.in.Str(x.id)
	case KindKeyword:
		return Keyword(x.in.Str(x.id))
	case KindSymbol:
		return Symbol(x.in.Str(x.id))
	case KindVector, KindList, KindSet:
		return x.collection(kind)
	case KindMap:
		return x.goMap()
	case KindTagged:
		return Tagged{x.in.Str(x.id), x.Items()[0].Go()}
	}
	return x
}

func (x Value) collection(kind Kind) any {
	items := []any{}
	for _, item := range x.Items() {
		items = append(items, item.Go())
	}
	switch kind {
	case KindList:
		return List(items)
	case KindSet:
		return Set(items)
	}
	return items
}

func (x Value) goMap() any {
	m := map[any]any{}
	for items := x.Items(); len(items) > 0; items = items[2:] {
		key := items[0].Go()
		if key != nil && !reflect.TypeOf(key).Comparable() {
			return x
		}
		m[key] = items[1].Go()
	}
	return m
}

// From interns a plain Go value: what Value.Go gives, every integer and float
// type, and slices, arrays and maps of them. Others are an error that names the
// type.
func (v *Values) From(x any) (Value, error) {
	id, err := v.from(x)
	return Value{v, id}, err
}

func (v *Values) from(x any) (ID, error) {
	switch x := x.(type) {
	case nil:
		return Nil, nil
	case Value:
		if x.in == v || x.in == nil {
			return x.id, nil
		}
		return v.ParseLenient([]byte(x.String()))
	case Keyword:
		return v.InternKeyword(string(x)), nil
	case Symbol:
		return v.InternSymbol(string(x)), nil
	case List:
		return v.fromItems(x, v.InternList)
	case Set:
		return v.fromItems(x, v.InternSet)
	case Tagged:
		id, err := v.from(x.Value)
		return v.InternTagged(x.Tag, id), err
	case *big.Int:
		return v.ParseLenient([]byte(x.String()))
	case *big.Rat:
		return v.ParseLenient([]byte(x.RatString()))
	}
	return v.fromKind(reflect.ValueOf(x))
}

func (v *Values) fromItems(items []any, intern func([]ID) ID) (ID, error) {
	ids := make([]ID, len(items))
	for i, item := range items {
		var err error
		if ids[i], err = v.from(item); err != nil {
			return Nil, err
		}
	}
	return intern(ids), nil
}

func (v *Values) fromKind(x reflect.Value) (ID, error) {
	switch x.Kind() {
	case reflect.Bool:
		if x.Bool() {
			return True, nil
		}
		return False, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.InternInt(x.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.ParseLenient(strconv.AppendUint(nil, x.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return v.InternFloat(x.Float()), nil
	case reflect.String:
		return v.InternString(x.String()), nil
	case reflect.Slice, reflect.Array:
		items := make([]any, x.Len())
		for i := range items {
			items[i] = x.Index(i).Interface()
		}
		return v.fromItems(items, v.InternVector)
	case reflect.Map:
		var items []any
		for key, value := range x.Seq2() {
			items = append(items, key.Interface(), value.Interface())
		}
		return v.fromItems(items, v.InternMap)
	case reflect.Pointer, reflect.Interface:
		if x.IsNil() {
			return Nil, nil
		}
		return v.from(x.Elem().Interface())
	}
	return Nil, fmt.Errorf("a value of an operation is plain Go (nil, booleans, numbers, strings, keywords, slices, maps), not %s", x.Type())
}
