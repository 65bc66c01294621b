package models

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/radix"
)

// order compares values as Clojure's compare does: nil before everything,
// numbers by their size (1 is as great as 1.0), strings, characters, keywords
// and symbols by their text, false before true, vectors by length, then by
// their elements. Values of different sorts have no order; neither have NaN and
// the values that compare does not take.
type order struct {
	v       *edn.Values
	numbers map[edn.ID]*big.Rat // of those that are not plain integers
	unequal bool                // it is known that no two of those that were sorted last compare as equal
}

// sorted puts different values in order, those that compare as equal by class. If
// there is no order, x and y are two values that have none, or the only value twice.
//
// Numbers are not compared: they are sorted by the digits of keys, which are the
// numbers themselves if all are integers, else what is nearest to them in floating
// point. Only those that share a key, such as 1 and 1.0, are compared.
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
			o.unequal = false // perhaps
			slices.SortFunc(rest[:n], func(a, b radix.Keyed) int {
				order, _ := o.compare(edn.ID(a.Number), edn.ID(b.Number))
				return cmp.Or(order, cmp.Compare(a.Number, b.Number))
			})
		}
		rest = rest[n:]
	}
	for i := range keyed {
		values[i] = keyed[i].Number
	}
	return values, 0, 0, true
}

// compared is sorted for any values.
func (o *order) compared(values []int32) (list []int32, x, y int32, ok bool) {
	ok, o.unequal = true, false // perhaps
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
	return values, x, y, ok
}

// keys gives values their keys. It is false if some of them are neither numbers nor
// nil.
func (o *order) keys(values []int32) (list []radix.Keyed, ok bool) {
	list = make([]radix.Keyed, len(values))
	integers := true
	for i, x := range values {
		n, fits := o.v.Int(edn.ID(x))
		integers = integers && fits
		list[i] = radix.Keyed{Key: radix.Of(n), Number: x}
		if fits {
			continue
		}
		if sort, ok := o.sort(edn.ID(x)); !ok || sort != edn.KindInt && sort != edn.KindNil {
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

// nearest is the floating point number nearest to a number. Greater numbers have no
// smaller ones. That of nil is not greater than any.
func (o *order) nearest(x edn.ID) float64 {
	if n, fits := o.v.Int(x); fits {
		return float64(n)
	}
	switch kind := o.v.Kind(x); {
	case kind == edn.KindNil:
		return math.Inf(-1)
	case kind == edn.KindFloat:
		if sign := o.infinite(x); sign != 0 {
			return math.Inf(sign)
		}
		if f, err := strconv.ParseFloat(o.v.Str(x), 64); err == nil {
			return f
		}
	}
	f, _ := o.number(x).Float64()
	return f
}

// unranked is the rank of values that have none.
const unranked = -1

// ranks are the ranks of value classes. If these lie close together, as those of one
// history do, they are a slice, and otherwise, as those of one key among many, a map.
type ranks struct {
	first  int32   // the class of the slice's first element
	dense  []int32 // the ranks plus 1
	sparse map[int32]int32
}

// newRanks has room for the values of operations and some others.
func newRanks(c *Columns, others []int32) *ranks {
	values := 0
	least, greatest := int32(math.MaxInt32), int32(-1)
	meet := func(x int32) {
		values++
		least, greatest = min(least, x), max(greatest, x)
	}
	for i, kind := range c.Kind {
		if hasRank(kind) {
			meet(c.A[i])
		}
	}
	for _, x := range others {
		meet(x)
	}
	if values == 0 || int(greatest-least) > sparseRanks*values {
		return &ranks{sparse: map[int32]int32{}}
	}
	return &ranks{first: least, dense: make([]int32, greatest-least+1)}
}

// sparseRanks is how many classes for each operation are too many for a slice.
const sparseRanks = 8

// of is the rank of a value.
func (r *ranks) of(x int32) int32 {
	if r.sparse != nil {
		return r.sparse[x] - 1
	}
	if i := x - r.first; uint32(i) < uint32(len(r.dense)) {
		return r.dense[i] - 1
	}
	return unranked
}

func (r *ranks) set(x, rank int32) {
	if r.sparse != nil {
		r.sparse[x] = rank + 1
	} else {
		r.dense[x-r.first] = rank + 1
	}
}

func newOrder(v *edn.Values) *order { return &order{v: v, numbers: map[edn.ID]*big.Rat{}} }

// sort is the sort of a value: it can be compared only with values of the same
// sort.
func (o *order) sort(x edn.ID) (sort edn.Kind, ok bool) {
	switch k := o.v.Kind(x); k {
	case edn.KindInt, edn.KindRatio, edn.KindDecimal:
		return edn.KindInt, true
	case edn.KindFloat:
		return edn.KindInt, !strings.HasSuffix(o.v.Str(x), "NaN")
	case edn.KindNil, edn.KindBool, edn.KindChar, edn.KindString, edn.KindKeyword, edn.KindSymbol, edn.KindVector:
		return k, true
	default:
		return k, false
	}
}

// ordered says whether a value can be compared with itself.
func (o *order) ordered(x edn.ID) bool {
	_, ok := o.compare(x, x)
	return ok
}

// compare is less than, equal to or greater than 0 if x is before, equal to or
// after y. ok is false if they have no order.
func (o *order) compare(x, y edn.ID) (n int, ok bool) {
	if m, fits := o.v.Int(x); fits {
		if n, fits := o.v.Int(y); fits {
			return cmp.Compare(m, n), true
		}
	}
	a, okA := o.sort(x)
	b, okB := o.sort(y)
	switch {
	case !okA || !okB:
		return 0, false
	case a == edn.KindNil || b == edn.KindNil:
		return cmp.Compare(a, b), true // KindNil is the least kind
	case a != b:
		return 0, false
	}
	switch a {
	case edn.KindInt:
		return o.compareNumbers(x, y), true
	case edn.KindBool:
		return cmp.Compare(x, y), true // edn.False < edn.True
	case edn.KindKeyword, edn.KindSymbol:
		return compareNames(o.v.Str(x), o.v.Str(y)), true
	case edn.KindVector:
		return o.compareVectors(o.v.Items(x), o.v.Items(y))
	}
	return cmp.Compare(o.v.Str(x), o.v.Str(y)), true
}

func (o *order) compareVectors(x, y []edn.ID) (n int, ok bool) {
	if len(x) != len(y) {
		return cmp.Compare(len(x), len(y)), true
	}
	for i := range x {
		if n, ok = o.compare(x[i], y[i]); n != 0 || !ok {
			return n, ok
		}
	}
	return 0, true
}

// compareNames puts names without a namespace first.
func compareNames(x, y string) int {
	a, m, namespacedX := strings.Cut(x, "/")
	b, n, namespacedY := strings.Cut(y, "/")
	switch {
	case namespacedX && namespacedY:
		return cmp.Or(cmp.Compare(a, b), cmp.Compare(m, n))
	case namespacedX:
		return 1
	case namespacedY:
		return -1
	}
	return cmp.Compare(x, y)
}

// compareNumbers compares numbers that are not both plain integers.
func (o *order) compareNumbers(x, y edn.ID) int {
	if a, b := o.infinite(x), o.infinite(y); a != 0 || b != 0 {
		return cmp.Compare(a, b)
	}
	return o.number(x).Cmp(o.number(y))
}

// infinite is 1 or -1 for the infinities, 0 for other numbers.
func (o *order) infinite(x edn.ID) int {
	switch text := o.v.Text(x); {
	case strings.HasSuffix(text, "-Inf") || strings.HasSuffix(text, "-Infinity"):
		return -1
	case strings.HasSuffix(text, "Inf") || strings.HasSuffix(text, "Infinity"):
		return 1
	}
	return 0
}

func (o *order) number(x edn.ID) *big.Rat {
	r, ok := o.numbers[x]
	if !ok {
		if r, ok = new(big.Rat).SetString(strings.TrimRight(o.v.Str(o.v.Same(x)), "MN")); !ok {
			r = new(big.Rat)
		}
		o.numbers[x] = r
	}
	return r
}
