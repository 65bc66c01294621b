package sequence

import (
	"context"
	"math"
	"slices"

	"clew/fastpath"
	"clew/internal/bitset"
	"clew/models"
)

// # Counters
//
// Decides: Plus, Total and PlusTotal of a number.
//
// Precondition: one of the following, so that the number only grows or only falls.
//
//   - No add tells its total, and all completed adds have one amount.
//   - All completed adds tell their totals, their amounts are all above 0 or
//     all below, and those with equal totals have equal amounts.
//
// Crashed adds of the single amount, if there is one, are decided. With
// other crashed adds, only Valid is decided.
//
// Cost: expected O(operations * log(events) + events), where the
// logarithm's base is 64. Totals are looked up by hash.
//
// Rests on: the number passes every total at most once, and in order. The sweep
// lets it move only when it must: when an operation that needs it to returns. A
// total belongs to a Total or a PlusTotal; an add that tells none needs one step.
// An operation that waits for a total happens as soon as the number gets there.
//
// Lemma: what the sweep linearizes by an event, every linearization of the history up to there has
// linearized. Only which of several adds without a total took a step may differ. Proof, by
// induction: let an operation return that needs the number to be x, and let it be less in the
// sweep. The way to x is known. In the second case of the precondition, the step that ends at y is
// by an add whose total is y: any two of these begin at the same number. If there is none by now,
// the step is by a crashed add of the single amount. (If it were by an add that begins later, that
// add would find the number beyond its total, in any order.) In the first case all steps are alike.
// So the sweep goes the only way, and where it cannot, no order can. Among adds without a total it
// takes the one that returns first: two that are open can change places.
//
// Hence an operation fails for certain if it returns and its total was passed before it began.
// What has returned by then is enough to show this: open operations have been used only for
// steps that some returned operation needed. So that return is the first failing completion.
//
// Crashed operations: a crashed Plus returns after all others and is used last, so it is
// used only if needed. A crashed Total says nothing. A crashed PlusTotal is a Plus. If it
// is open in a prefix, it has its total, and is used only if an operation needs that step.
//
// # Core
//
// Adds cannot be left out. A choice is all adds that had begun, and any
// Totals. A core is a choice that fails although no smaller one does.

// steps says how a counter moves.
type steps struct {
	unit  int64 // what adds without a total add; 0 if there are none
	down  bool  // the number falls
	loose bool  // there are also crashed adds, which may have done anything
	told  bool  // some adds tell their totals
}

// amounts holds the least and the greatest amount of some adds, if there are any.
type amounts struct{ least, most int32 }

func (x amounts) some() bool { return x.least <= x.most }
func (x amounts) one() bool  { return x.least == x.most }

// stepsOf finds out how a counter moves, or why that cannot be known. Histories mix
// kinds at random, so its one pass over all operations does not branch on kinds.
func stepsOf(c *models.Columns, totals int) (steps, *fastpath.Finding) {
	var of [4][2]amounts // by kind, and whether it crashed
	for i := range of {
		of[i] = [2]amounts{{math.MaxInt32, math.MinInt32}, {math.MaxInt32, math.MinInt32}}
	}
	for i, kind := range c.Kind {
		crashed := 0
		if c.Res[i] == models.Open {
			crashed = 1
		}
		x := &of[min(kind, models.PlusTotal+1)][crashed]
		x.least, x.most = min(x.least, c.A[i]), max(x.most, c.A[i])
	}
	plain, crashed, told := of[models.Plus][0], of[models.Plus][1], of[models.PlusTotal][0]
	told = amounts{min(told.least, of[models.PlusTotal][1].least), max(told.most, of[models.PlusTotal][1].most)}
	other, one := of[models.PlusTotal+1], plain
	switch {
	case other[0].some() || other[1].some() || plain.some() && (told.some() || !plain.one()) || told.some() && (told.least < 0) != (told.most < 0):
		return steps{}, uneven(c)
	case told.some():
		one = told
	case !plain.some() && crashed.some(): // whichever is first
		one.least = c.A[slices.Index(c.Kind, models.Plus)]
		one.most = one.least
	case !plain.some():
		return steps{}, nil // only Totals
	}
	s := steps{down: one.least < 0, told: told.some()}
	if one.one() {
		s.unit = int64(one.least)
	} else if reason := sameTotals(c, totals); reason != nil {
		return s, reason
	}
	s.loose = crashed.some() && (int64(crashed.least) != s.unit || !crashed.one())
	return s, nil
}

// uneven returns why it cannot be known how a counter moves.
func uneven(c *models.Columns) *fastpath.Finding {
	plain, told := models.Row(-1), models.Row(-1)
	for i, kind := range c.Kind {
		row := models.Row(i)
		switch {
		case kind > models.PlusTotal:
			return fastpath.Unsupported.Of(row)
		case kind == models.PlusTotal && told < 0:
			told = row
		case kind == models.PlusTotal:
			if (c.A[row] < 0) != (c.A[told] < 0) {
				return Uneven.Of(told, row)
			}
		case kind == models.Total || c.Res[i] == models.Open:
		case plain < 0:
			plain = row
		case c.A[row] != c.A[plain]:
			return Uneven.Of(plain, row)
		}
	}
	return Uneven.Of(min(plain, told), max(plain, told))
}

// sameTotals finds adds of different amounts that lead to the same total.
func sameTotals(c *models.Columns, totals int) *fastpath.Finding {
	amount := make([]int32, totals) // by place
	differ := int32(0)
	for i, kind := range c.Kind {
		a := c.A[i] & -int32(kind/models.PlusTotal) // 0: it tells no total, or adds nothing
		x := &amount[c.B[i]]
		differ |= (a ^ *x) & nonzero(a) & nonzero(*x)
		*x |= a
	}
	if differ == 0 {
		return nil
	}
	first := make([]int32, totals) // by place: the row, plus 1
	for i, kind := range c.Kind {
		if kind != models.PlusTotal {
			continue
		}
		switch other := first[c.B[i]] - 1; {
		case other < 0:
			first[c.B[i]] = int32(i) + 1
		case c.A[other] != c.A[i]:
			return Uneven.Of(other, models.Row(i))
		}
	}
	panic("sequence: adds differ that are all alike")
}

// nonzero returns a word of ones, or 0 for 0.
func nonzero(n int32) int32 { return (n | -n) >> 31 }

// Uneven: these two adds together leave open which of them made a number,
// or what the number was in between.
var Uneven = &fastpath.Pattern{Says: "{name 0} and {name 1} leave open what the counter was in between"}

// CrashedAdds: the history might be invalid, but crashed adds have different amounts.
var CrashedAdds = &fastpath.Pattern{Says: "{name 0} may have seen what some crashed adds did"}

// counting is a sweep over a counter.
type counting struct {
	steps
	*models.Columns
	totals []int64
	until  int32 // if not 0, it stops just before this event

	now     int64
	due     due
	waiting waiting
	next    []int32    // by row: see place
	plain   bitset.Set // by return: adds without a total that are due
	left    int        // how many these are
	crashed []models.Row
	chain   []link // the way to a number
	forced  []link // where the number had to go, and for which row; only kept for a witness
	witness bool
	order   []models.Row
}

// link is a number, and the row that leads there or needs it, or -1.
type link struct {
	to  int64
	row models.Row
}

func counter(ctx context.Context, c *models.Columns, shape models.CounterShape, want fastpath.Want) fastpath.Decision {
	how, reason := stepsOf(c, len(shape.Totals))
	if reason != nil {
		return fastpath.Undecided(reason)
	}
	in := fastpath.PlainInput(ctx, c)
	s := &counting{steps: how, totals: shape.Totals, witness: want&fastpath.WantWitness != 0}
	fail := s.sweep(in.Columns, shape.Init)
	if fail >= 0 && how.loose {
		return fastpath.Undecided(CrashedAdds.Of(fail))
	}
	return in.Swept(fail, s.order, want, func(d *fastpath.Decision) {
		in.Poll()
		s.witness = true
		s.sweep(in.Cut(in.Res[fail]-1).Columns, shape.Init)
		forced := s.forced
		d.Before, s.forced, s.witness = s.order, nil, false
		d.Core = s.core(in.Cut(in.Res[fail]), shape.Init, fail, forced)
		d.Why = s.why(c, fail, forced, d.Core)
	})
}

// beyond reports whether the number is still to come.
func (s *counting) beyond(n int64) bool { return n != s.now && n < s.now == s.down }

// CounterBefore returns the operations that have been linearized just before an event, at which nothing has failed, and the
// number that they lead to. It returns false if adds that crashed may have led elsewhere, or if the precondition fails.
//
// Whatever is invoked later, a linearization may begin with these in the order of the sweep: by the lemma each
// linearization has their numbers first, and adds that took another step change places with those that took it here.
func CounterBefore(c *models.Columns, shape models.CounterShape, event int32) (done []bool, total int64, ok bool) {
	begun, _ := slices.BinarySearch(c.Inv, event)
	past := *c
	past.Inv, past.Res, past.A, past.B = c.Inv[:begun], c.Res[:begun], c.A[:begun], c.B[:begun]
	past.Kind = slices.Clone(c.Kind[:begun])
	for row, kind := range past.Kind {
		if kind == models.PlusTotal && past.Res[row] == models.Open {
			past.Kind[row] = models.Plus
		}
	}
	how, reason := stepsOf(&past, len(shape.Totals))
	if reason != nil || how.loose {
		return nil, 0, false
	}
	s := &counting{steps: how, totals: shape.Totals, witness: true, until: event}
	s.sweep(&past, shape.Init)
	done = make([]bool, c.Len())
	for _, row := range s.order {
		done[row] = true
	}
	return done, s.now, true
}

// sweep goes through the events and returns the row whose return fails, or -1.
func (s *counting) sweep(c *models.Columns, init int64) models.Row {
	s.Columns, s.now = c, init
	s.due, s.plain, s.left = newDue(c.Events), bitset.New(c.Events), 0
	s.waiting, s.next = newWaiting(), make([]int32, c.Len())
	s.crashed, s.forced, s.order = s.crashed[:0], s.forced[:0], nil
	if s.witness {
		s.order = make([]models.Row, 0, c.Len())
	}
	for i, inv := range c.Inv {
		for s.due.before(inv) {
			if row := s.due.first(); !s.finish(row) {
				return row
			}
		}
		s.invoke(models.Row(i))
	}
	end := c.Events
	if s.until > 0 {
		end = s.until
	}
	for s.due.before(end) {
		if row := s.due.first(); !s.finish(row) {
			return row
		}
	}
	return -1
}

func (s *counting) invoke(row models.Row) {
	kind, res := s.Kind[row], s.Res[row]
	switch {
	case kind == models.Plus:
		switch {
		case int64(s.A[row]) != s.unit:
			return
		case res == models.Open:
			s.crashed = append(s.crashed, row)
			return
		}
		s.plain.Add(res)
		s.left++
	case kind == models.Total:
		n := s.totals[s.B[row]]
		switch {
		case res == models.Open:
			return
		case n == s.now:
			s.happen(row)
			return
		case s.beyond(n):
			at := s.waiting.of(n)
			s.next[row] = at.reads
			at.reads = row + 1
		}
	default:
		if n := s.totals[s.B[row]]; s.beyond(n) {
			if at := s.waiting.of(n); at.add == 0 || res < s.Res[at.add-1] {
				at.add = row + 1
			}
		}
		if res == models.Open {
			return
		}
	}
	s.due.add(row, res)
}

// happen records that a row is linearized.
func (s *counting) happen(row models.Row) {
	if s.witness {
		s.order = append(s.order, row)
	}
}

// linearize linearizes a row that may be due.
func (s *counting) linearize(row models.Row) {
	if res := s.Res[row]; res != models.Open {
		s.due.drop(res)
	}
	s.happen(row)
}

// finish linearizes an operation that returns, and reports whether it can.
func (s *counting) finish(row models.Row) bool {
	to := s.now + s.unit
	if s.Kind[row] != models.Plus {
		to = s.totals[s.B[row]]
	}
	if !s.beyond(to) {
		return false
	}
	if s.told && !s.find(to) || !s.told && !s.reach(to) {
		return false
	}
	if s.witness {
		s.forced = append(s.forced, link{to, row})
	}
	if s.told {
		for _, x := range slices.Backward(s.chain) {
			s.step(x)
		}
		return true
	}
	for s.now != to {
		s.step(link{s.now + s.unit, -1})
	}
	return true
}

// step moves the number by one operation.
func (s *counting) step(x link) {
	s.now = x.to
	switch {
	case x.row >= 0:
		s.linearize(x.row)
	case s.left > 0:
		res := s.plain.TakeFirst(int32(s.due.word * 64))
		s.left--
		s.due.drop(res)
		s.happen(s.due.row[res])
	default:
		s.happen(s.crashed[0])
		s.crashed = s.crashed[1:]
	}
	for k := s.waiting.take(x.to); k > 0; k = s.next[k-1] {
		s.linearize(k - 1)
	}
}

// reach reports whether adds without a total lead to a number that is still to come.
func (s *counting) reach(to int64) bool {
	way, unit := uint64(to)-uint64(s.now), uint64(s.unit)
	if s.down {
		way, unit = -way, -unit
	}
	return unit != 0 && way%unit == 0 && way/unit <= uint64(s.left+len(s.crashed))
}

// find finds the way to a number, the last step first, and reports whether there is one.
func (s *counting) find(to int64) bool {
	s.chain = s.chain[:0]
	left := s.left + len(s.crashed)
	for to != s.now {
		if !s.beyond(to) {
			return false
		}
		x := link{to, -1}
		if s.told {
			x.row = s.waiting.add(to) - 1
		}
		switch {
		case x.row >= 0:
			to -= int64(s.A[x.row])
		case left > 0 && s.unit != 0:
			left--
			to -= s.unit
		default:
			return false
		}
		s.chain = append(s.chain, x)
	}
	return true
}

// core returns all adds and as few Totals as still fail when a row returns, in a history that
// is cut there. Only Totals that forced the number to move can matter: usually one or none.
func (s *counting) core(in fastpath.Input, init int64, fail models.Row, forced []link) []models.Row {
	var reads []models.Row
	for _, x := range forced {
		if in.Kind[x.row] == models.Total {
			reads = append(reads, x.row)
		}
	}
	choice := func(reads ...models.Row) []models.Row {
		var rows []models.Row
		for i, kind := range in.Kind {
			if row := models.Row(i); kind != models.Total || row == fail || slices.Contains(reads, row) {
				rows = append(rows, row)
			}
		}
		return rows
	}
	fails := func(rows []models.Row) bool {
		c := &models.Columns{Events: in.Events}
		for _, row := range rows {
			c.Append(in.Inv[row], in.Res[row], in.Op(row))
		}
		return s.sweep(c, init) >= 0
	}
	if rows := choice(); fails(rows) {
		return rows
	}
	if k := s.passedBy(in.Columns, fail, forced); k >= 0 {
		if rows := choice(forced[k].row); fails(rows) {
			return rows
		}
	}
	for i := len(reads) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(reads), i, i+1); fails(choice(fewer...)) {
			reads = fewer
		}
	}
	return choice(reads...)
}

// passedBy returns the first of the rows that forced the number to a row's total or beyond, or -1.
func (s *counting) passedBy(c *models.Columns, row models.Row, forced []link) int {
	to := s.totals[c.B[row]]
	return slices.IndexFunc(forced, func(x link) bool {
		return (x.to > to) != s.down && x.to != to || x.to == to && c.Kind[row] == models.PlusTotal
	})
}

// why returns what is wrong with a row.
func (s *counting) why(c *models.Columns, row models.Row, forced []link, core []models.Row) *fastpath.Finding {
	if k := s.passedBy(c, row, forced); k >= 0 && slices.Contains(core, forced[k].row) {
		return Passed.Of(row, forced[k].row)
	}
	return OutOfReach.Of(row)
}

// Passed (op, by): the counter had passed the total of op when op began, or an operation
// with the same total had reached it. Otherwise by could not have returned.
var Passed = &fastpath.Pattern{Name: "passed", ChooseKind: passed, Relate: fastpath.Against(1, 0),
	Choose: func(t models.Teller, v []models.Row) string {
		if t.Op(v[0]).Kind == models.PlusTotal { // which goes past the one before
			return "{name 0} is impossible: the counter had already reached that value, or passed it, when {name 1} returned"
		}
		return "{name 0} is impossible: the counter was already past that value when {name 1} returned"
	}}

// passed is Passed.ChooseKind. An update that returns a total that was already passed rests on a replaced one.
func passed(t models.Teller, v []models.Row) models.Anomaly {
	if t.Op(v[0]).Kind == models.PlusTotal {
		return models.LostUpdate
	}
	return models.StaleRead
}

// OutOfReach: the adds that had begun when the operation returned do not lead to its total.
var OutOfReach = &fastpath.Pattern{Name: "out-of-reach", Kind: models.WrongSum, Says: "{name 0} is impossible: no combination of the adds that had begun when it returned gives this value"}
