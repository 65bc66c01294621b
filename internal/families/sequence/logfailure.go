package sequence

import (
	"slices"

	"clew/fastpath"
	"clew/models"
)

// # Where a log fails
//
// What a decision finds wrong names an event by which that should show. It
// is tried first: usually the history up to there is invalid, and the one up
// to just before is not. If that does not succeed soon, the range is halved.
//
// # Core
//
// Appends cannot be left out. A choice is all appends that had begun, and any other operations.
// A core is a choice that fails although no smaller one does. A choice that holds more fails if
// a smaller one does. So halving finds how many of the first reads suffice: the last of them is
// needed, and the others lie before it. If some choice is not decided, a core might not be
// minimal. Then there is none, and the first failing completion is not reported either.

// logFailure looks for the evidence of a failure.
type logFailure struct {
	in    fastpath.Input
	shape models.LogShape
	doubt *fastpath.Finding // some part was not decided
}

// wrong decides a part, and returns what is wrong with it and whether
// anything is. An undecided part leaves a doubt.
func (f *logFailure) wrong(in fastpath.Input) (bad logFault, found bool) {
	l, reason := decideLog(in, f.shape, false)
	if reason != nil {
		f.doubt = reason
		return bad, false
	}
	return l.bad, !l.valid()
}

// find finds the first failing completion, a core and why.
func (f *logFailure) find(bad logFault, d *fastpath.Decision) {
	low, high := int32(-1), f.in.Events-1 // valid up to low, not up to high
	at := bad.end
	for round := 0; low+1 < high; round++ {
		if at <= low || at >= high || round >= fastpath.MaxDescents {
			at = low + (high-low)/2
		}
		d.BoundEvent = high
		switch part, found := f.wrong(f.in.Cut(at)); {
		case f.doubt != nil:
			d.Reason = f.doubt
			return
		case found:
			high, bad = at, part
			at = min(bad.end, at-1)
		default:
			low = at
		}
	}
	before, _ := decideLog(f.in.Cut(high-1), f.shape, true)
	fail := f.in.OpReturning(high)
	cut := f.in.Cut(high)
	core := f.core(cut, fail, bad)
	why := f.why(cut, fail, core)
	if d.BoundEvent = high; f.doubt != nil {
		d.Reason = f.doubt
		return
	}
	d.FailEvent, d.Before, d.Core, d.Why = high, before.order, core, why
}

// pick returns the history of all appends and of some reads.
func (f *logFailure) pick(in fastpath.Input, reads []models.Row) ([]models.Row, fastpath.Input) {
	var rows []models.Row
	c := &models.Columns{Events: in.Events}
	for i, kind := range in.Kind {
		row := models.Row(i)
		if _, ok := slices.BinarySearch(reads, row); ok || kind == models.AppendTo {
			rows = append(rows, row)
			c.Append(in.Inv[row], in.Res[row], in.Op(row))
		}
	}
	in.Columns = c
	return rows, in
}

// core returns a core of a history that ends where it fails.
func (f *logFailure) core(in fastpath.Input, fail models.Row, bad logFault) []models.Row {
	fails := func(some ...models.Row) bool {
		slices.Sort(some)
		_, part := f.pick(in, some)
		_, found := f.wrong(part)
		return found
	}
	var reads, kept []models.Row
	for i, kind := range in.Kind {
		switch row := models.Row(i); {
		case kind == models.AppendTo || in.Res[i] == models.Open:
		case row == fail:
			kept = append(kept, row)
		default:
			reads = append(reads, row)
		}
	}
	for !fails(slices.Clone(kept)...) {
		if len(kept) <= 1 {
			if k := slices.IndexFunc([]models.Row{bad.op, bad.other}, func(row models.Row) bool {
				return row >= 0 && row != fail && in.Kind[row] != models.AppendTo && fails(append(slices.Clone(kept), row)...)
			}); k >= 0 {
				kept = append(kept, []models.Row{bad.op, bad.other}[k])
				break
			}
		}
		low, high := 0, len(reads) // the first high of them suffice
		for low+1 < high {
			if middle := (low + high) / 2; fails(slices.Concat(kept, reads[:middle])...) {
				high = middle
			} else {
				low = middle
			}
		}
		kept, reads = append(kept, reads[high-1]), reads[:high-1]
	}
	slices.Sort(kept)
	rows, _ := f.pick(in, kept)
	return rows
}

// why returns what is wrong with a core, or nil if explaining that takes the
// whole core. Then what the model says about the failing operation is clearer.
func (f *logFailure) why(in fastpath.Input, fail models.Row, core []models.Row) *fastpath.Finding {
	_, part := f.pick(in, core)
	bad, found := f.wrong(part)
	if !found {
		return nil
	}
	op, other := core[bad.op], models.Row(-1)
	if bad.other >= 0 {
		other = core[bad.other]
	}
	switch {
	case op != fail || other < 0 || other == op:
		return nil
	case bad.passed:
		return Grown.Of(op, other)
	}
	return Disagree.Of(op, other)
}

// Grown (op, by): the list had grown beyond what op needs when by returned.
// Otherwise by could not have returned.
var Grown = &fastpath.Pattern{Name: "grown", ChooseKind: grown, Relate: fastpath.Against(1, 0),
	Says: "{name 0} is impossible: the log was already longer when {name 1} returned"}

// Disagree: these two do not show prefixes of one list.
var Disagree = &fastpath.Pattern{Name: "disagree", ChooseKind: disagree, Says: "{name 0} contradicts {name 1}, in either order"}

// grown is Grown.ChooseKind. The place that an append tells was taken. A read missed what had been appended.
func grown(t models.Teller, v []models.Row) models.Anomaly {
	switch op := t.Op(v[0]); {
	case op.Kind != models.AppendTo:
		return models.StaleRead
	case op.B != 0:
		return models.ReusedID
	}
	return "" // others saw where it stands
}

// disagree is Disagree.ChooseKind.
func disagree(t models.Teller, v []models.Row) models.Anomaly {
	if a, b := t.Op(v[0]), t.Op(v[1]); a.Kind == models.AppendTo && b.Kind == models.AppendTo && a.B == b.B {
		return models.ReusedID
	}
	return models.Diverged
}
