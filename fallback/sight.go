package fallback

import (
	"cmp"
	"slices"

	"clew/models"
)

// sight says which operations may be left out if a value is gone once another
// replaces it.
//
// An operation that depends on the state sees the value of the last one that
// replaced it. It cannot see the value of an operation that began after it had
// returned. Nor can it see the value of one that was certainly replaced: a
// third operation began after that one had returned, and had itself returned
// before the first one began. A set of operations is closed if every value that
// one of them can have seen, judging by what the others in the set replaced,
// was made in the set. If all operations have a linearization, those of a
// closed set have one: the same order without the others. For the last
// operation before o to replace the state is in the set, or else another one of
// the set lies between them. So a closed set that fails shows a real failure,
// and more operations do not mend it.
//
// The union of closed sets is closed. So every set contains a largest closed
// one, which grows with it. Whether that one fails is monotone, as minimizing
// requires.
type sight struct {
	ops     *models.Operations
	r       models.Replacing
	values  []int32         // all that are made
	outside map[int32]chain // by value: the operations that make it and are never in a set
	rows    []int32         // what can be in a set; ascending
}

// chain is operations in order of invocation: when they begin, and when the last
// of those up to each returns.
type chain struct{ inv, res []int32 }

func (c *chain) add(inv, res int32) {
	if n := len(c.res); n > 0 {
		res = max(res, c.res[n-1])
	}
	c.inv, c.res = append(c.inv, inv), append(c.res, res)
}

// after says whether one of the chain began before event end and returned after
// event start.
func (c *chain) after(start, end int32) bool {
	n, _ := slices.BinarySearch(c.inv, end)
	return n > 0 && c.res[n-1] > start
}

// newSight is for subsets of some of all rows; both ascend.
func newSight(ops *models.Operations, r models.Replacing, all, some []int32) *sight {
	s := &sight{ops: ops, r: r, outside: map[int32]chain{}, rows: some}
	seen := map[int32]bool{}
	for _, i := range all {
		inside := len(some) > 0 && some[0] == i
		if inside {
			some = some[1:]
		}
		value, makes := r.Makes(ops.Op(i))
		if !makes {
			continue
		}
		if !seen[value] {
			seen[value] = true
			s.values = append(s.values, value)
		}
		if !inside {
			c := s.outside[value]
			c.add(ops.Inv[i], ops.Res[i])
			s.outside[value] = c
		}
	}
	return s
}

// within is the largest closed set within rows, which ascend.
func (s *sight) within(rows []int32) []int32 {
	for {
		outside := s.left(rows)
		replaced := s.replaced(rows)
		closed := make([]int32, 0, len(rows))
		for _, o := range rows {
			if !s.sees(o, replaced.before(s.ops.Inv[o]), outside) {
				closed = append(closed, o)
			}
		}
		if len(closed) == len(rows) {
			return rows
		}
		rows = closed
	}
}

// left is the operations that could be in the set and are not, by value.
func (s *sight) left(rows []int32) map[int32]chain {
	left := map[int32]chain{}
	for _, i := range s.rows {
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
		} else if value, makes := s.r.Makes(s.ops.Op(i)); makes {
			c := left[value]
			c.add(s.ops.Inv[i], s.ops.Res[i])
			left[value] = c
		}
	}
	return left
}

// replacements is operations that replace the state, in order of return: when
// they return, and when the last of those up to each began.
type replacements struct{ res, inv []int32 }

func (s *sight) replaced(rows []int32) replacements {
	var by []int32
	for _, i := range rows {
		if _, makes := s.r.Makes(s.ops.Op(i)); makes && s.ops.Res[i] != models.Open {
			by = append(by, i)
		}
	}
	slices.SortFunc(by, func(a, b int32) int { return cmp.Compare(s.ops.Res[a], s.ops.Res[b]) })
	var c replacements
	for n, i := range by {
		c.res, c.inv = append(c.res, s.ops.Res[i]), append(c.inv, s.ops.Inv[i])
		if n > 0 {
			c.inv[n] = max(c.inv[n], c.inv[n-1])
		}
	}
	return c
}

// before is the event such that what had returned by then was replaced before
// event t.
func (c replacements) before(t int32) int32 {
	n, _ := slices.BinarySearch(c.res, t)
	if n == 0 {
		return -1
	}
	return c.inv[n-1]
}

// sees says whether o can have seen a value made outside: by an operation that
// had not returned by event since.
func (s *sight) sees(o, since int32, left map[int32]chain) bool {
	op := s.ops.Op(o)
	for _, value := range s.values {
		if !s.r.Sees(op, value) {
			continue
		}
		for _, outside := range []map[int32]chain{s.outside, left} {
			if c := outside[value]; c.after(since, s.ops.Res[o]) {
				return true
			}
		}
	}
	return false
}
