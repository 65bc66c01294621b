package home

import (
	"math"
	"slices"

	"clew/edn"
	"clew/models"
)

// Sums bounds the numbers that were at some places before all operations. An operation that read v at a place, where
// others add and take away, was preceded by all that had returned by its call, and by some of those called before it
// returned. With `must` the sum of the former, and `less` and `more` the sums of the negative and the positive amounts of
// the latter, the number was from v - (must + more) to v - (must + less). It is the same number for all reads. Besides, the
// numbers that were read differ by multiples of what divides all amounts.
type Sums struct {
	called, returned []Amounts
	least, most      []int64
	unit             []int64  // what divides all amounts; 0: there are none
	first            []*int64 // what the first read saw
	apart            []int64  // what divides the differences of others from that
}

// Amounts are the sums of the negative and the positive amounts that were added at a place.
type Amounts struct{ less, more int64 }

func (a *Amounts) add(n int64) { a.less, a.more = a.less+min(n, 0), a.more+max(n, 0) }

// Grow adds places up to a number. What is there is from least to most.
func (s *Sums) Grow(places int, least, most int64) {
	for len(s.least) < places {
		s.called, s.returned = append(s.called, Amounts{}), append(s.returned, Amounts{})
		s.least, s.most = append(s.least, least), append(s.most, most)
		s.unit, s.first, s.apart = append(s.unit, 0), append(s.first, nil), append(s.apart, 0)
	}
}

// Call says that an operation was called that may add n at a place, and Return that it has done so.
func (s *Sums) Call(place int, n int64) {
	s.called[place].add(n)
	s.unit[place] = divisor(s.unit[place], n)
}

func (s *Sums) Return(place int, n int64) { s.returned[place].add(n) }

// Returned returns what had been added for certain, as of now.
func (s *Sums) Returned() []Amounts { return slices.Clone(s.returned) }

// Read says that an operation returned that saw v at a place before it added own there. had is of when it was called.
func (s *Sums) Read(place int, v, own int64, had []Amounts) {
	least, most := s.Added(place, own, had)
	if s.first[place] == nil {
		s.first[place] = &v
	}
	if apart := Minus(v, *s.first[place]); apart > math.MinInt64 && apart < math.MaxInt64 {
		s.apart[place] = divisor(s.apart[place], apart)
	}
	s.least[place], s.most[place] = max(s.least[place], Minus(v, most)), min(s.most[place], Minus(v, least))
}

// Added bounds what had been added at a place before an operation that returns now and adds own itself.
func (s *Sums) Added(place int, own int64, had []Amounts) (least, most int64) {
	may, must := s.called[place], int64(0)
	if place < len(had) {
		must = had[place].less + had[place].more
		may.less, may.more = may.less-had[place].less, may.more-had[place].more
	}
	return must + may.less - min(own, 0), must + may.more - max(own, 0)
}

// Divides reports whether what divides all amounts divides n.
func (s *Sums) Divides(place int, n int64) bool {
	return n == 0 || s.unit[place] != 0 && n%s.unit[place] == 0
}

// Bounds returns the bounds of a place. The least is above the most if there is no such number.
func (s *Sums) Bounds(place int) (least, most int64) {
	if apart, unit := s.apart[place], s.unit[place]; apart != 0 && (unit == 0 || apart%unit != 0) {
		return 1, 0
	}
	return s.least[place], s.most[place]
}

// divisor returns the greatest number that divides two.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// First returns the rows that may be the first of some in a linearization: they were called before any of these had
// returned.
func First(c *models.Columns, some func(op models.Op) bool) (rows []models.Row) {
	returned := models.Open
	for row := range models.Row(c.Len()) {
		if c.Inv[row] > returned {
			break
		}
		if some(c.Op(row)) {
			rows, returned = append(rows, row), min(returned, c.Res[row])
		}
	}
	return rows
}

// Minus returns a - b, or the nearest int64.
func Minus(a, b int64) int64 {
	switch c := a - b; {
	case b > 0 && c > a:
		return math.MinInt64
	case b < 0 && c < a:
		return math.MaxInt64
	default:
		return c
	}
}

// Integers numbers the integers that operations show, from 0 on.
type Integers struct {
	numbers models.Numbering
	List    []int64
}

// Of returns the number of an integer in a table.
func (x *Integers) Of(v *edn.Values, id edn.ID) int32 {
	n := x.numbers.Of(int32(v.Same(id)))
	if int(n) == len(x.List) {
		k, _ := v.Int(id)
		x.List = append(x.List, k)
	}
	return n
}

// StateOf returns a number as a state, and number returns it as a number again.
func StateOf(n int64) models.State { return models.State{int32(n >> 32), int32(n)} }

func Number(s models.State) int64 { return int64(s[0])<<32 | int64(uint32(s[1])) }
