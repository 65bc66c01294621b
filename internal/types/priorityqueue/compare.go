package priorityqueue

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"clew/edn"
)

// sortOf numbers the sorts of values. A value can be compared only with values of its own
// sort. Instants and UUIDs have sorts of their own.
type sortOf int

const (
	ofInstant = sortOf(edn.KindOpaque) + 1 + iota
	ofUUID
)

// sort returns the sort of a value.
func (o *order) sort(x edn.ID) (sort sortOf, ok bool) {
	switch k := o.v.Kind(x); k {
	case edn.KindInt, edn.KindRatio, edn.KindDecimal:
		return sortOf(edn.KindInt), k != edn.KindDecimal || o.number(x) != nil
	case edn.KindFloat:
		f := o.v.Float(x)
		return sortOf(edn.KindInt), f == f
	case edn.KindChar:
		_, ok := o.v.Rune(x)
		return sortOf(k), ok
	case edn.KindString, edn.KindKeyword, edn.KindSymbol:
		return sortOf(k), isText(o.v.Str(x))
	case edn.KindNil, edn.KindBool, edn.KindVector:
		return sortOf(k), true
	case edn.KindTagged:
		if _, ok := o.v.Instant(x); ok {
			return ofInstant, true
		}
		_, _, ok := o.v.UUID(x)
		return ofUUID, ok
	default:
		return sortOf(k), false
	}
}

// ordered says whether a value can be compared with itself.
func (o *order) ordered(x edn.ID) bool {
	_, ok := o.compare(x, x)
	return ok
}

// compare returns a number less than, equal to or greater than 0 if x is before, equal to
// or after y. ok is false if they have no order.
func (o *order) compare(x, y edn.ID) (n int, ok bool) {
	if m, fits := o.v.Int(x); fits {
		if n, fits := o.v.Int(y); fits {
			return cmp.Compare(m, n), true
		}
	}
	a, okA := o.sort(x)
	b, okB := o.sort(y)
	switch {
	case x == edn.Nil || y == edn.Nil:
		return cmp.Compare(a, b), true // KindNil is the least kind.
	case !okA || !okB || a != b:
		return 0, false
	}
	switch a {
	case sortOf(edn.KindInt):
		return o.compareNumbers(x, y), true
	case sortOf(edn.KindBool):
		return cmp.Compare(x, y), true // edn.False < edn.True
	case sortOf(edn.KindKeyword), sortOf(edn.KindSymbol):
		return compareNames(o.v.Str(x), o.v.Str(y)), true
	case sortOf(edn.KindVector):
		return o.compareVectors(o.v.Items(x), o.v.Items(y))
	case sortOf(edn.KindChar):
		p, _ := o.v.Rune(x)
		q, _ := o.v.Rune(y)
		return compareRunes(p, q), true
	case ofInstant:
		p, _ := o.v.Instant(x)
		q, _ := o.v.Instant(y)
		return cmp.Compare(p, q), true
	case ofUUID:
		p, m, _ := o.v.UUID(x)
		q, n, _ := o.v.UUID(y)
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(m, n)), true
	}
	return compareText(o.v.Str(x), o.v.Str(y)), true
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
	namespacedX, namespacedY = namespacedX && x != "/", namespacedY && y != "/"
	switch {
	case namespacedX && namespacedY:
		return cmp.Or(compareText(a, b), compareText(m, n))
	case namespacedX:
		return 1
	case namespacedY:
		return -1
	}
	return compareText(x, y)
}

// compareText compares texts by their UTF-16 units, as Java does. Units of characters
// beyond U+FFFF come before U+E000.
func compareText(x, y string) int {
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	if i == len(x) || i == len(y) || x[i] < 0xed && y[i] < 0xed {
		return strings.Compare(x[i:], y[i:]) // UTF-8 is in the order of UTF-16 up to U+D7FF.
	}
	for i > 0 && x[i]&0xc0 == 0x80 {
		i--
	}
	return slices.Compare(units(x[i:]), units(y[i:]))
}

// compareRunes compares characters as texts.
func compareRunes(x, y rune) int {
	if x <= 0xffff && y <= 0xffff {
		return cmp.Compare(x, y)
	}
	return compareText(string(x), string(y))
}

// units returns the UTF-16 units of a text.
func units(s string) (list []uint16) {
	for len(s) > 0 {
		r, size := edn.DecodeRune(s)
		if r > 0xffff {
			list = utf16.AppendRune(list, r)
		} else {
			list = append(list, uint16(r))
		}
		s = s[size:]
	}
	return list
}

// isText says whether a text has UTF-16 units.
func isText(s string) bool {
	if utf8.ValidString(s) {
		return true
	}
	for len(s) > 0 {
		r, size := edn.DecodeRune(s)
		if r == utf8.RuneError && size == 1 {
			return false
		}
		s = s[size:]
	}
	return true
}

// compareNumbers compares numbers that are not both plain integers.
func (o *order) compareNumbers(x, y edn.ID) int {
	if a, b := o.infinite(x), o.infinite(y); a != 0 || b != 0 {
		return cmp.Compare(a, b)
	}
	return o.number(x).Cmp(o.number(y))
}

// infinite returns 1 or -1 for the infinities, 0 for other numbers.
func (o *order) infinite(x edn.ID) int {
	if o.v.Kind(x) != edn.KindFloat {
		return 0
	}
	switch f := o.v.Float(x); {
	case math.IsInf(f, 1):
		return 1
	case math.IsInf(f, -1):
		return -1
	}
	return 0
}

// number returns the exact number, nil if it has too many digits or is infinite.
func (o *order) number(x edn.ID) *big.Rat {
	r, ok := o.numbers[x]
	if !ok {
		r, _ = o.v.Rat(x)
		o.numbers[x] = r
	}
	return r
}

// part is a value, or the item at one place of a vector. of is the value that it belongs
// to.
type part struct {
	id edn.ID
	of int32
}

func parts(values []int32) []part {
	list := make([]part, len(values))
	for i, x := range values {
		list[i] = part{edn.ID(x), x}
	}
	return list
}

// total says whether Clojure's compare puts values in the ascending order that they have
// here. If not, x and y are two values that it orders otherwise. It takes linear time, and
// a binary search for every number that is not a double.
func (o *order) total(list []part) (x, y int32, ok bool) {
	var doubles []part
	var decimal, endless *part // A decimal has no quotient with such a ratio, and compare fails.
	for i, p := range list {
		switch o.v.Kind(p.id) {
		case edn.KindFloat:
			doubles = append(doubles, p)
		case edn.KindDecimal:
			decimal = &list[i]
		case edn.KindRatio:
			if _, exact := o.number(p.id).FloatPrec(); !exact {
				endless = &list[i]
			}
		case edn.KindVector:
			return o.totalVectors(list[i:])
		}
	}
	if decimal != nil && endless != nil {
		return decimal.of, endless.of, false
	}
	if len(doubles) == 0 {
		return 0, 0, true
	}
	for _, p := range list {
		if d, ok := o.mistaken(p.id, doubles); !ok {
			return p.of, d.of, false
		}
	}
	return 0, 0, true
}

// mistaken looks for a double that Clojure does not compare exactly with a number. Such a
// double lies between the number and the double that Clojure makes of it. The doubles
// ascend. ok is true if there is none.
func (o *order) mistaken(x edn.ID, doubles []part) (d part, ok bool) {
	if n, fits := o.v.Int(x); fits && -1<<53 <= n && n <= 1<<53 || x == edn.Nil || o.v.Kind(x) == edn.KindFloat {
		return d, true
	}
	n := o.number(x)
	f := asDouble(n, o.v.Kind(x) == edn.KindRatio)
	exact := new(big.Rat).SetFloat64(f)
	if exact != nil && exact.Cmp(n) == 0 {
		return d, true
	}
	i, found := slices.BinarySearchFunc(doubles, f, func(p part, f float64) int { return cmp.Compare(o.v.Float(p.id), f) })
	if found {
		return doubles[i], false
	}
	if exact != nil && exact.Cmp(n) > 0 || math.IsInf(f, 1) {
		i-- // the greatest of those below f
	}
	if i < 0 || i == len(doubles) || math.IsInf(o.v.Float(doubles[i].id), 0) {
		return d, true
	}
	order := o.number(doubles[i].id).Cmp(n)
	return doubles[i], math.IsInf(f, 0) || order != 0 && (order < 0) == (exact.Cmp(n) > 0)
}

// asDouble returns the double that Clojure makes of a number: the nearest one. For a ratio
// it is nearest to the first 16 digits, rounded half to even.
func asDouble(n *big.Rat, ratio bool) float64 {
	if ratio {
		n = sixteenDigits(n)
	}
	f, _ := n.Float64()
	return f
}

func sixteenDigits(n *big.Rat) *big.Rat {
	ten, least := big.NewInt(10), new(big.Int).Exp(big.NewInt(10), big.NewInt(15), nil)
	num, denom := new(big.Int).Abs(n.Num()), n.Denom()
	// num/denom*10^shift has 16 or 17 digits before the point, and then 16.
	shift := 16 - len(num.String()) + len(denom.String())
	scale := new(big.Rat).SetInt(new(big.Int).Exp(ten, big.NewInt(int64(max(shift, -shift))), nil))
	if shift < 0 {
		scale.Inv(scale)
	}
	scaled := new(big.Rat).Mul(new(big.Rat).SetFrac(num, denom), scale)
	if scaled.Cmp(new(big.Rat).SetInt(new(big.Int).Mul(least, ten))) >= 0 {
		scaled.Quo(scaled, new(big.Rat).SetInt(ten))
		scale.Quo(scale, new(big.Rat).SetInt(ten))
	}
	whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	if half := rest.Lsh(rest, 1).Cmp(scaled.Denom()); half > 0 || half == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
	if n.Sign() < 0 {
		rounded.Neg(rounded)
	}
	return rounded
}

// totalVectors is total for vectors.
func (o *order) totalVectors(list []part) (x, y int32, ok bool) {
	items := func(p part) []edn.ID { return o.v.Items(p.id) }
	return runs(list, func(p, q part) bool { return len(items(p)) == len(items(q)) }, func(same []part) (x, y int32, ok bool) {
		return o.totalFrom(same, items, 0)
	})
}

// totalFrom is total for vectors of one length that compare as equal up to a place.
func (o *order) totalFrom(list []part, items func(part) []edn.ID, place int) (x, y int32, ok bool) {
	if len(list) == 1 || place == len(items(list[0])) {
		return 0, 0, true
	}
	there := make([]part, len(list))
	for i, p := range list {
		there[i] = part{items(p)[place], p.of}
	}
	if x, y, ok = o.total(there); !ok {
		return x, y, false
	}
	at := func(p part) edn.ID { return items(p)[place] }
	return runs(list, func(p, q part) bool { n, _ := o.compare(at(p), at(q)); return n == 0 }, func(same []part) (x, y int32, ok bool) {
		return o.totalFrom(same, items, place+1)
	})
}

// runs calls check for each run of a list in which neighbors are alike, and stops at the
// first that is not ok.
func runs(list []part, alike func(p, q part) bool, check func([]part) (x, y int32, ok bool)) (x, y int32, ok bool) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && alike(list[n-1], list[n]) {
			n++
		}
		if x, y, ok = check(list[:n]); !ok {
			return x, y, false
		}
		list = list[n:]
	}
	return 0, 0, true
}
