package languages

import (
	"cmp"
	"math"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// transient is a value that is pushed once, popped once, and may be gone as soon as it
// has come: all its operations have begun by an instant at which none has returned.
//
// Such values can be left out. A linearization without a value is still one. Conversely,
// if all operations of the value stand next to each other, at that instant, they do not
// disturb any others. The same holds for a prefix: if one of them has returned in it,
// all have begun, and otherwise none need happen. So none of them is the first failing
// completion, and that one does not change. (Lee and Mathur leave out such values of
// stacks without repeated ones.)
type transient struct {
	pushes, pops int
	rows         []models.Row // the push, the peeks, the pop
	last, first  int32        // the last invocation, the first return
}

// transientBytes is about how much memory finding the transient values takes per operation.
const transientBytes = 150

// transients returns the transient values of operations, by that instant, and the other rows.
func transients(ops *models.Operations, initial []int32) (some []*transient, rest []models.Row) {
	values := map[int32]*transient{}
	lasting := &transient{pushes: math.MaxInt32}
	for _, value := range initial {
		values[value] = lasting
	}
	of := make([]*transient, ops.Len())
	for row, kind := range ops.Kind {
		if kind != models.Push && kind != models.Pop && kind != models.Peek {
			continue
		}
		x := values[ops.A[row]]
		if x == nil {
			x = &transient{first: models.Open}
			values[ops.A[row]] = x
		}
		if of[row] = x; x != lasting {
			x.add(models.Row(row), kind, ops)
		}
	}
	for row, x := range of {
		switch {
		case x == nil || x.pushes != 1 || x.pops != 1 || x.last >= x.first:
			rest = append(rest, models.Row(row))
		case ops.Kind[row] == models.Push:
			x.sort(ops)
			some = append(some, x)
		}
	}
	slices.SortFunc(some, func(a, b *transient) int { return cmp.Compare(a.last, b.last) })
	return some, rest
}

// add adds an operation of the value. A crashed pop may take it or not, so the
// value then counts as popped twice.
func (x *transient) add(row models.Row, kind models.Kind, ops *models.Operations) {
	x.last, x.first = max(x.last, ops.Inv[row]), min(x.first, ops.Res[row])
	switch {
	case kind == models.Push:
		x.pushes++
	case kind == models.Pop && ops.Res[row] == models.Open:
		x.pops += 2
	case kind == models.Pop:
		x.pops++
	}
	x.rows = append(x.rows, row)
}

func (x *transient) sort(ops *models.Operations) {
	place := func(row models.Row) int {
		return [...]int{models.Push: 0, models.Peek: 1, models.Pop: 2}[ops.Kind[row]]
	}
	slices.SortStableFunc(x.rows, func(a, b models.Row) int { return place(a) - place(b) })
}

// insert inserts those values that something saw before an event.
func insert(some []*transient, ops *models.Operations, order []models.Row, end int32) []models.Row {
	var all []models.Row
	add := func(before int32) {
		for ; len(some) > 0 && some[0].last < before; some = some[1:] {
			if some[0].first < end {
				all = append(all, some[0].rows...)
			}
		}
	}
	for _, row := range order {
		add(ops.Inv[row])
		all = append(all, row)
	}
	add(models.Open)
	return all
}

// without decides operations without their transient values.
func without(some []*transient, ops *models.Operations, rest []models.Row, decide func(*models.Operations) fallback.Answer) fallback.Answer {
	cut := models.Cut{Operations: ops.Select(rest), Rows: rest}
	a := decide(cut.Operations)
	if a.Verdict == jepsen.Unknown {
		a.Passed = passed(ops, cut.Operations, a.Passed)
		return a
	}
	a.Renumber(cut)
	end := models.Open
	if a.Verdict == jepsen.Invalid {
		end = a.FailEvent
	}
	a.Order = insert(some, ops, a.Order, end)
	for i, order := range a.Others {
		a.Others[i] = insert(some, ops, order, end)
	}
	return a
}

// passed returns how many completions of all operations there are up to the n-th of some.
func passed(all, some *models.Operations, n int64) int64 {
	if n == 0 {
		return 0
	}
	last := fallback.Completions(some)[n-1]
	n = 0
	for _, res := range all.Res {
		if res <= last {
			n++
		}
	}
	return n
}
