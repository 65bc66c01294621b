package priorityqueue

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/internal/radix"
)

// order compares values as Clojure's compare does. Nil comes before everything, and false
// before true. Numbers compare by size (1 is as great as 1.0), and strings, characters,
// keywords and symbols by their UTF-16 units. Instants compare by time, UUIDs as two signed
// numbers, and vectors by length, then by their elements. Values of different sorts have no
// order; neither have NaN and the values that compare does not take.
//
// Clojure compares a double with a number of another sort as doubles. It takes
// 9007199254740993 for 9007199254740992.0, and that for 9007199254740992, so it has no
// order of the three. Here numbers compare exactly, and a list of values has an order only
// if Clojure agrees about every two of them; see total.
type order struct {
	v       *edn.Values
	numbers map[edn.ID]*big.Rat // of those that are not plain integers
	unequal bool                // it is known that no two of the values sorted last compare as equal
}

// sorted puts distinct values in order. Values that compare as equal are in the order of
// their classes. If there is no order, x and y are two values without one, or the only
// value twice.
//
// Numbers are not compared. They are sorted by the digits of keys: the numbers themselves
// if all are integers, else the nearest floating point numbers. Only numbers that share a
// key, such as 1 and 1.0, are compared.
func (o *order) sorted(values []int32) (list []int32, x, y int32, ok bool) {
	keyed, byKey := o.keys(values)
	if !byKey {
		return o.compared(values)
	}
	keyed = radix.Sort(keyed)
	o.unequal = true
	for rest := keyed; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key == rest[0].Key {
			n++
		}
		if n > 1 {
			o.unequal = false // not known
			slices.SortFunc(rest[:n], func(a, b radix.Keyed) int {
				order, _ := o.compare(edn.ID(a.Number), edn.ID(b.Number))
				return cmp.Or(order, cmp.Compare(a.Number, b.Number))
			})
		}
		rest = rest[n:]
	}
	mixed := false
	for i := range keyed {
		values[i] = keyed[i].Number
		mixed = mixed || o.v.Kind(edn.ID(values[i])) != edn.KindInt
	}
	if mixed {
		x, y, ok = o.total(parts(values))
		return values, x, y, ok
	}
	return values, 0, 0, true
}

// compared is sorted for any values.
func (o *order) compared(values []int32) (list []int32, x, y int32, ok bool) {
	ok, o.unequal = true, false // not known
	slices.SortFunc(values, func(a, b int32) int {
		n, comparable := o.compare(edn.ID(a), edn.ID(b))
		if !comparable && ok {
			x, y, ok = a, b, false
		}
		return cmp.Or(n, cmp.Compare(a, b))
	})
	if len(values) == 1 && !o.ordered(edn.ID(values[0])) {
		x, y, ok = values[0], values[0], false
	}
	if ok {
		x, y, ok = o.total(parts(values))
	}
	return values, x, y, ok
}

// keys returns values with their keys. ok is false if some of them are neither numbers nor
// nil.
func (o *order) keys(values []int32) (list []radix.Keyed, ok bool) {
	list = hugepages.Make[radix.Keyed](len(values))
	integers := true
	for i, x := range values {
		n, fits := o.v.Int(edn.ID(x))
		integers = integers && fits
		list[i] = radix.Keyed{Key: radix.Of(n), Number: x}
		if fits {
			continue
		}
		if sort, ok := o.sort(edn.ID(x)); !ok || sort != sortOf(edn.KindInt) && sort != sortOf(edn.KindNil) {
			return nil, false
		}
	}
	if !integers {
		for i, x := range values {
			list[i].Key = radix.OfFloat(o.nearest(edn.ID(x)))
		}
	}
	return list, true
}

// nearest returns the floating point number nearest to a number. It is monotonic: a greater
// number never gets a smaller result. That of nil is not greater than any.
func (o *order) nearest(x edn.ID) float64 {
	if n, fits := o.v.Int(x); fits {
		return float64(n)
	}
	switch o.v.Kind(x) {
	case edn.KindNil:
		return math.Inf(-1)
	case edn.KindFloat:
		return o.v.Float(x)
	}
	f, _ := o.number(x).Float64()
	return f
}

func newOrder(v *edn.Values) *order { return &order{v: v, numbers: map[edn.ID]*big.Rat{}} }
