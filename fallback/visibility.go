package fallback

import (
	"cmp"
	"context"
	"slices"

	"clew/models"
)

// visibility says which operations may be left out if a value is gone once another
// replaces it. A state may have several places, each with a value. What follows is
// about one place, and holds for each separately.
//
// An operation that depends on the state sees the value of the last one that
// replaced it. It cannot see the value of an operation that began after it had
// returned. It cannot see a value either that was certainly replaced. That is so
// if a third operation began after the one that made it had returned, and itself
// returned before the first one began. A set of operations is closed if every
// value that one of them can have seen, judging by what the others in the set
// replaced, was made in the set. If all operations have a linearization, those of
// a closed set have one: the same order without the others. For the last operation
// before o to replace the state is in the set, or else another one of the set lies
// between them. So a closed set that fails shows a real failure, and more
// operations do not make it linearizable.
//
// The union of closed sets is closed. So every set contains a largest closed one,
// which grows with it. Whether that one fails is monotone, as minimizing requires.
type visibility struct {
	ops     *models.Operations
	r       *models.Visibility
	cells   []models.Cell         // all that are made
	outside map[models.Cell]Spans // the operations that make a cell and are never in a set
	rows    []int32               // what can be in a set; ascending
	dst     []models.Cell
	looked  int // rows that all passes of within looked at
}

// Spans holds operations in order of invocation: when they begin, and when the
// last of those up to each returns.
type Spans struct{ Inv, Res []int32 }

// Add adds an operation that begins after all others.
func (c *Spans) Add(inv, res int32) {
	if n := len(c.Res); n > 0 {
		res = max(res, c.Res[n-1])
	}
	c.Inv, c.Res = append(c.Inv, inv), append(c.Res, res)
}

// After says whether one of the operations began before event end and returned
// after event start.
func (c *Spans) After(start, end int32) bool {
	n, _ := slices.BinarySearch(c.Inv, end)
	return n > 0 && c.Res[n-1] > start
}

// newVisibility prepares visibility for subsets of some of all rows; both ascend.
func newVisibility(ops *models.Operations, r *models.Visibility, all, some []int32) *visibility {
	s := &visibility{ops: ops, r: r, outside: map[models.Cell]Spans{}, rows: some}
	seen := map[models.Cell]bool{}
	for _, i := range all {
		inside := len(some) > 0 && some[0] == i
		if inside {
			some = some[1:]
		}
		for _, cell := range s.makes(i) {
			if !seen[cell] {
				seen[cell] = true
				s.cells = append(s.cells, cell)
			}
		}
		if !inside {
			s.leave(i, s.outside)
		}
	}
	return s
}

// makes returns the cells that an operation makes, valid until the next call.
func (s *visibility) makes(i int32) []models.Cell {
	s.dst = s.r.Makes(s.dst[:0], s.ops.Op(i))
	return s.dst
}

// maxPasses bounds how often within passes over rows.
const maxPasses = 30

// within returns the largest closed set within rows, which ascend. It returns nil
// if it takes too many passes to find, or if the context is done. If an operation
// is left out, others may have to be, too. Most of them begin later, so the same
// pass leaves them out.
func (s *visibility) within(ctx context.Context, rows []int32) []int32 {
	for range maxPasses {
		if ctx.Err() != nil {
			return nil
		}
		s.looked += len(s.rows)
		outside, leaving := s.left(rows), map[models.Cell]Spans{}
		replaced := s.replaced(rows)
		closed := make([]int32, 0, len(rows))
		for _, o := range rows {
			if s.sees(o, replaced, s.outside, outside, leaving) {
				s.leave(o, leaving)
			} else {
				closed = append(closed, o)
			}
		}
		if len(closed) == len(rows) {
			return rows
		}
		rows = closed
	}
	return nil
}

// leave adds an operation to those that make its cells.
func (s *visibility) leave(o int32, makers map[models.Cell]Spans) {
	for _, cell := range s.makes(o) {
		c := makers[cell]
		c.Add(s.ops.Inv[o], s.ops.Res[o])
		makers[cell] = c
	}
}

// left returns the operations that could be in the set and are not, by cell.
func (s *visibility) left(rows []int32) map[models.Cell]Spans {
	left := map[models.Cell]Spans{}
	for _, i := range s.rows {
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
		} else {
			s.leave(i, left)
		}
	}
	return left
}

// replacements holds operations that replace the value of a place, in order of
// return: when they return, and when the last of those up to each began.
type replacements struct{ res, inv []int32 }

// replaced returns the replacements in rows, by place.
func (s *visibility) replaced(rows []int32) map[int32]*replacements {
	byRes := slices.DeleteFunc(slices.Clone(rows), func(i int32) bool { return s.ops.Res[i] == models.Open })
	slices.SortFunc(byRes, func(a, b int32) int { return cmp.Compare(s.ops.Res[a], s.ops.Res[b]) })
	places := map[int32]*replacements{}
	for _, i := range byRes {
		for _, cell := range s.makes(i) {
			c := places[cell.Place]
			if c == nil {
				c = &replacements{}
				places[cell.Place] = c
			}
			latest := s.ops.Inv[i]
			if n := len(c.inv); n > 0 {
				latest = max(latest, c.inv[n-1])
			}
			c.res, c.inv = append(c.res, s.ops.Res[i]), append(c.inv, latest)
		}
	}
	return places
}

// before returns the event such that an operation that had returned by then was
// replaced before event t.
func (c *replacements) before(t int32) int32 {
	if c == nil {
		return -1
	}
	n, _ := slices.BinarySearch(c.res, t)
	if n == 0 {
		return -1
	}
	return c.inv[n-1]
}

// sees says whether o can have seen a cell that some outside made. At least one
// of these had not returned when the last operation began that surely replaced
// the cell.
func (s *visibility) sees(o int32, replaced map[int32]*replacements, outside ...map[models.Cell]Spans) bool {
	cells, all := s.r.Sees(s.dst[:0], s.ops.Op(o))
	s.dst = cells
	if all {
		cells = s.cells
	}
	for _, cell := range cells {
		since := replaced[cell.Place].before(s.ops.Inv[o])
		for _, makers := range outside {
			if c := makers[cell]; c.After(since, s.ops.Res[o]) {
				return true
			}
		}
	}
	return false
}
