package sequence

import (
	"context"
	"math"
	"slices"

	"clew/fastpath"
	"clew/models"
)

// # Generators of ids
//
// Decides: Generate, of ids that are all distinct, or that also grow.
//
// Precondition: none.
//
// Cost: O(operations + ids) if ids are distinct, O(operations * log(operations
// open at once) + events) if they grow.
//
// Rests on: an operation that returned stands before one that begins later. If ids are
// distinct, only equal ids can be wrong, and any order that respects time will do. If
// they grow, their order is the only one possible, and it must respect time. An id is
// wrong if a greater or equal one had been returned when its operation began, or if
// the same one is returned twice. For a witness, the sweep keeps the open operations
// in a heap. When one returns, it puts those with smaller ids before it.
//
// Crashed operations: they may have given out any id that was not returned, or none.
// They say nothing and are omitted, as are operations that are open in a prefix.
//
// # Core
//
// A choice is any operations. A core is the two whose ids contradict each other.

// distinctIDs decides a history of Generate.
func distinctIDs(ctx context.Context, c *models.Columns, shape models.IDsShape, want fastpath.Want) fastpath.Decision {
	if bad := slices.IndexFunc(c.Kind, func(kind models.Kind) bool { return kind != models.Generate }); bad >= 0 {
		return fastpath.Undecided(fastpath.Unsupported.Of(models.Row(bad)))
	}
	in := fastpath.NewInput(ctx, c, 0)
	first := make([]int32, in.IDs) // by id: the row that returned first, plus 1
	given := func(id int32) bool { // an id as the shape has it
		_, found := slices.BinarySearch(shape.Given, id)
		return found
	}
	fail, earlier := models.Row(-1), models.Row(-1)
	for i, res := range c.Res {
		row, other := models.Row(i), first[in.A[i]]-1
		if given(c.A[i]) {
			other = fastpath.Missing
		}
		switch {
		case res == models.Open:
			continue
		case other == -1:
			first[in.A[i]] = row + 1
			continue
		case other >= 0 && res < c.Res[other]:
			first[in.A[i]] = row + 1
			row, other = other, row
		}
		if fail < 0 || c.Res[row] < c.Res[fail] {
			fail, earlier = row, other
		}
	}
	var order []models.Row
	if fail < 0 && want&fastpath.WantWitness != 0 {
		order = returned(c, models.Open)
	}
	return in.Swept(fail, order, want, func(d *fastpath.Decision) {
		d.Before, d.Why = returned(c, c.Res[fail]), SameID.Of(fail, earlier)
		if d.Core = []models.Row{fail}; earlier >= 0 {
			d.Core = []models.Row{min(fail, earlier), max(fail, earlier)}
		}
	})
}

// returned returns the operations that returned before an event, in order of invocation.
func returned(c *models.Columns, end int32) []models.Row {
	order := make([]models.Row, 0, c.Len())
	for i, res := range c.Res {
		if res < end {
			order = append(order, models.Row(i))
		}
	}
	return order
}

// growingIDs decides a history of Generate whose ids grow.
func growingIDs(ctx context.Context, c *models.Columns, shape models.IDsShape, want fastpath.Want) fastpath.Decision {
	numbers := shape.Numbers
	for i, kind := range c.Kind {
		if kind != models.Generate || int(c.B[i]) >= len(numbers) {
			return fastpath.Undecided(fastpath.Unsupported.Of(models.Row(i)))
		}
	}
	in := fastpath.PlainInput(ctx, c)
	s := growing{numbers: numbers, witness: want&fastpath.WantWitness != 0}
	fail := s.sweep(in.Columns, in.Events)
	return in.Swept(fail, s.order, want, func(d *fastpath.Decision) {
		before := growing{numbers: numbers, witness: true}
		before.sweep(in.Columns, in.Res[fail])
		d.Before, d.Why = before.order, against(c, numbers, fail)
		d.Core = slices.Sorted(slices.Values(d.Why.Rows))
	})
}

// against says which operation contradicts the one whose return fails.
func against(c *models.Columns, numbers []int64, fail models.Row) *fastpath.Finding {
	for i, res := range c.Res {
		switch other, n := models.Row(i), numbers[c.B[fail]]; {
		case res >= c.Res[fail] || numbers[c.B[i]] < n:
		case numbers[c.B[i]] == n:
			return SameID.Of(fail, other)
		case res < c.Inv[fail]:
			return NotGreater.Of(fail, other)
		}
	}
	panic("sequence: an id fails for no reason")
}

// growing is a sweep over generators whose ids grow.
type growing struct {
	numbers []int64
	open    heap // only for a witness
	witness bool
	order   []models.Row
}

// sweep goes through the events before end. It returns the row whose return
// fails, or -1. Operations that return later say nothing.
func (s *growing) sweep(c *models.Columns, end int32) models.Row {
	returns := make([]int32, c.Events) // by event: the row that returns, plus 1
	for i, res := range c.Res {
		if res < end {
			returns[res] = int32(i) + 1
		}
	}
	if s.witness {
		s.order = make([]models.Row, 0, c.Len())
	}
	put := make([]bool, c.Len())          // by row: it is in order
	given := make([]bool, len(s.numbers)) // by number: it was returned
	above := make([]int64, c.Len())       // by row: what its id must be greater than
	last, inv, i := int64(math.MinInt64), c.Inv, 0
	for t, row := range returns[:end] {
		if i < len(inv) && inv[i] == int32(t) {
			above[i] = last
			if s.witness && c.Res[i] < end {
				s.open.push(entry{s.numbers[c.B[i]], int32(i)})
			}
			i++
			continue
		}
		if row--; row < 0 {
			continue
		}
		n := s.numbers[c.B[row]]
		if n <= above[row] && above[row] > math.MinInt64 || given[c.B[row]] {
			return row
		}
		given[c.B[row]], last = true, max(last, n)
		for s.witness && !put[row] {
			next := s.open.pop()
			put[next] = true
			s.order = append(s.order, next)
		}
	}
	return -1
}

// SameID (op, earlier): op received an id that earlier had received. Earlier is Missing if the id is one of Given.
var SameID = &fastpath.Pattern{Name: "same-id", Kind: models.ReusedID, Choose: func(_ models.Teller, v []models.Row) string {
	if v[1] == fastpath.Missing {
		return "{name 0} returned an id that had already been returned"
	}
	return "{name 0} returned the id that {name 1} had already returned"
}}

// NotGreater (op, earlier): op began after earlier had returned, but its id is less.
var NotGreater = &fastpath.Pattern{Name: "not-greater", Kind: models.NotMonotonic, Relate: fastpath.Against(1, 0),
	Says: "{name 0} began after {name 1} had returned, yet its id is not greater"}
