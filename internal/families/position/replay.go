package position

import (
	"math"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// replay is a run through the order of positions.
type replay struct {
	*sweep
	run    models.Run
	state  models.State // without runs
	order  []models.Row
	done   []bool // by row: it is in the order
	latest int32  // the latest invocation so far
	due    int    // floats up to here may have begun
	open   []models.Row
	filled bool  // something was filled in that may have been something else
	k, g   int   // the next block and gap
	last   run   // of gaps
	before []run // that run
	copied int   // numbers of states, for the beginnings of runs
	work   int   // steps of searches
	starts []start
	beside beside
	// footprints are those of the updates that never returned, once a search needs them.
	footprints []footprint
	fillsGap   []int32 // by place in fill: the gap, or -1; with the footprints
}

// replay decides by lemma 5.
func (s *sweep) replay(witness bool) fastpath.Result {
	x := &replay{sweep: s, latest: -1, order: make([]models.Row, 0, s.in.Len()), done: make([]bool, s.in.Len())}
	slices.SortFunc(s.floats, func(a, b int32) int { return int(s.in.Inv[a] - s.in.Inv[b]) })
	x.begin(s.model.Init())
	for _, row := range s.before {
		x.filled = true
		if !x.step(row, none) {
			return fastpath.Result{Reason: Unclear.Of(row, row)}
		}
	}
	for x.k = 0; x.k < len(s.blocks); x.k++ {
		if x.k%1024 == 0 {
			s.in.Poll()
		}
		if r, failed := x.position(); failed && (r.Verdict == jepsen.Invalid || !x.reorder() && !x.retry() && !x.again()) {
			return r
		}
	}
	x.place(math.MaxInt64, models.Open, models.Open)
	if r, failed := x.overdue(models.Open); failed {
		return r
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = x.order
	}
	return r
}

// position takes the steps of the next position, and of the gaps before it.
func (x *replay) position() (r fastpath.Result, failed bool) {
	x.mark()
	if r, failed = x.fillRun(); failed {
		return r, failed
	}
	return x.block(x.blocks[x.k])
}

// fillRun takes the steps of the gaps before a block. It is a new run of gaps if an update was told since the last one.
func (x *replay) fillRun() (r fastpath.Result, failed bool) {
	for ; x.g < len(x.gaps) && x.gaps[x.g].at <= x.blocks[x.k].at; x.g++ {
		if x.g >= x.last.end && !x.beginRun() || x.gaps[x.g].by < 0 {
			return fastpath.Result{Reason: Unclear.Of(x.rows[x.blocks[x.k].from])}, true
		}
		by := x.gaps[x.g].by
		row := x.fill[by].row
		x.place(x.gaps[x.g].at-1, models.Open, x.in.Inv[row])
		x.filled = x.filled || !x.fill[by].only
		if !x.step(row, x.gaps[x.g].at) {
			return fastpath.Result{Reason: Unclear.Of(x.rows[x.blocks[x.k].from])}, true
		}
	}
	return r, false
}

// block takes the steps of the operations of a position. If several of them may change the state, they may have
// happened in another order.
func (x *replay) block(b block) (r fastpath.Result, failed bool) {
	changing, beside := 0, false
	for _, row := range x.rows[b.from:b.to] {
		if x.moves[row] == models.MayMove || x.changes[row] {
			changing++
		}
		beside = beside || x.changes[row]
	}
	// Operations without a position may come before or after what changes the state beside the order.
	x.filled = x.filled || changing > 0 && b.to-b.from > 1 || beside && len(x.floats) > 0 || x.unsure(b) && x.mayFillBelow(b.at)
	if changing > 1 && x.p.Aside != nil {
		x.startPosition(b)
	}
	update := b.update
	if update >= 0 {
		x.place(b.at-1, models.Open, x.in.Inv[update])
		if x.unsure(b) {
			update = x.mover(b)
		}
		if r, failed := x.told(b, update); failed {
			return r, true
		}
	}
	for _, row := range x.rows[b.from:b.to] {
		if row == update {
			continue
		}
		x.place(b.at, x.in.Inv[row], x.in.Inv[row])
		if r, failed := x.told(b, row); failed {
			return r, true
		}
	}
	x.endPosition()
	return r, false
}

func (x *replay) begin(s models.State) {
	if of := x.model.Traits().Run; of != nil {
		x.run = of(s)
	} else {
		x.state = s
	}
}

// mover returns the first operation of a position that may be its update and can happen then.
func (x *replay) mover(b block) models.Row {
	s := x.now()
	for _, row := range x.rows[b.from:b.to] {
		if !x.mayBeUpdate(b, row) {
			continue
		}
		for _, next := range x.model.Step(nil, s, x.in.Op(row)) {
			if at, known := x.p.At(next); known && at == b.at {
				return row
			}
		}
	}
	return b.update
}

// mayBeUpdate says whether an operation of a position whose update is not certain may be it.
func (x *replay) mayBeUpdate(b block, row models.Row) bool {
	return x.mayMake(&b, row) && (!b.shown || x.mayLeave(row, b.left))
}

// told takes the step of an operation that tells its position.
func (x *replay) told(b block, row models.Row) (r fastpath.Result, failed bool) {
	if r, failed := x.overdue(x.in.Inv[row]); failed {
		return r, true
	}
	if x.step(row, b.at) || x.prepared(row, b.at) {
		return r, false
	}
	if free := x.freeFill(); x.filled || x.mayFill(b.at) || x.moves[row] == models.MayMove && len(free) > 0 && x.lo[free[0].row] <= b.at {
		return fastpath.Result{Reason: Unplaced.Of(row)}, true
	}
	r = fastpath.Result{Verdict: jepsen.Invalid, End: x.in.Res[row], Why: x.otherAnswer(row), Keys: x.contradicting(row)}
	for _, i := range x.order {
		r.End = max(r.End, min(x.in.Res[i], x.until))
	}
	if len(x.fill) > 0 && x.fill[0].only { // a later position may need it
		r.End = x.until
	}
	return r, true
}

// otherAnswer returns the finding about an operation that cannot happen now.
func (x *replay) otherAnswer(row models.Row) *fastpath.Finding {
	why := OtherAnswer.Of(row)
	if by := x.opposing(row); by >= 0 {
		why = OtherAnswer.Of(row, by)
	}
	why.State = slices.Clone(x.now())
	return why
}

// opposing returns the update that is the only one for its gap, and that left what an operation contradicts, or -1. If the
// model has no cells, it is the last such update.
func (x *replay) opposing(row models.Row) models.Row {
	only := func(row models.Row) bool {
		return slices.ContainsFunc(x.fill, func(f filler) bool { return f.only && f.row == row })
	}
	var places []int32
	if x.p.Sees != nil {
		for _, c := range x.seen(row) {
			places = append(places, c.Place)
		}
	}
	for _, done := range slices.Backward(x.order) {
		touches := x.p.Sees == nil && only(done) || x.p.Sees != nil && x.mutates(done) &&
			slices.ContainsFunc(x.p.Makes(nil, x.in.Op(done)), func(c models.Cell) bool { return slices.Contains(places, c.Place) })
		if touches && only(done) {
			return done
		} else if touches {
			break
		}
	}
	return -1
}

// contradicting returns an operation that cannot happen now, and what left the places that it shows. All that moves the
// state between them tells why. It returns nil if more may matter, such as what shows that a gap must have been filled.
func (x *replay) contradicting(row models.Row) (rows []models.Row) {
	if x.p.Sees == nil || x.p.Makes == nil || len(x.side)+len(x.gaps) > 0 {
		return nil
	}
	cells, all := x.p.Sees(nil, x.in.Op(row))
	rows, first := []models.Row{row}, len(x.order)
	for _, c := range cells {
		k := len(x.order) - 1
		for ; k >= 0 && !x.leaves(x.order[k], c.Place); k-- {
		}
		for ; k >= 0 && (x.at[x.order[k]] == none || x.in.Res[x.order[k]] == models.Open); k-- {
		}
		if first = min(first, max(k, 0)); k >= 0 && !slices.Contains(rows, x.order[k]) {
			rows = append(rows, x.order[k])
		}
	}
	for _, other := range x.order[first:] {
		sees, more := x.p.Sees(nil, x.in.Op(other))
		all = all || x.mutates(other) && (more || len(sees) > 0)
	}
	if all {
		return nil
	}
	slices.Sort(rows)
	return rows
}

// leaves says whether an operation is certain to have left something at a place.
func (x *replay) leaves(row models.Row, place int32) bool {
	return x.moves[row] == models.AlwaysMoves && !x.vague[row] &&
		slices.ContainsFunc(x.p.Makes(nil, x.in.Op(row)), func(c models.Cell) bool { return c.Place == place })
}

// freeFill returns the updates that never returned from the first one on of which it is not certain what it fills.
func (x *replay) freeFill() []filler {
	k := slices.IndexFunc(x.fill, func(f filler) bool { return !f.only })
	if k < 0 {
		return nil
	}
	return x.fill[k:]
}

// mayFillBelow says whether an update that fills no gap may have made a position instead of one that told it.
func (x *replay) mayFillBelow(at int64) bool {
	free := x.freeFill()
	return len(free) > 0 && x.lo[free[0].row] < at
}

// mayFill says whether an update that fills no gap, or what changes the state without moving it, may have happened up to
// a position.
func (x *replay) mayFill(at int64) bool {
	if x.mayChange(at) {
		return true
	}
	free := x.freeFill()
	if len(free) == 0 {
		return false
	}
	first := x.lo[free[0].row]
	if !x.p.Dense {
		return first < at
	}
	_, based := x.p.At(x.model.Init())
	return !based && first == none
}

// mayChange says whether an operation may have changed the state up to a position without moving it, so that nothing says
// when. In a model that has such operations, an update that may not move the state is one, if it never returned.
func (x *replay) mayChange(at int64) bool {
	return slices.ContainsFunc(x.side, func(row models.Row) bool { return x.lo[row] <= at }) ||
		x.p.Aside != nil && slices.ContainsFunc(x.fill, func(f filler) bool { return !f.only && x.moves[f.row] == models.MayMove && x.lo[f.row] <= at })
}

// lost returns the result if an operation without a position has no place. The earliest place is the best one for
// operations that change nothing, and not for others.
func (x *replay) lost(row models.Row) fastpath.Result {
	if x.filled || len(x.fill)+len(x.side) > 0 {
		return fastpath.Result{Reason: Unplaced.Of(row)}
	}
	return fastpath.Result{Verdict: jepsen.Invalid, End: x.until, Loose: true, Why: Never.Of(row)}
}

// step takes a step and says whether it can happen with that position.
func (x *replay) step(row models.Row, at int64) bool {
	if x.in.Res[row] < x.latest {
		return false
	}
	op, outcome := x.in.Op(row), models.Several
	if x.run != nil {
		outcome = x.run.Apply(op)
	}
	switch outcome {
	case models.Impossible:
		return false
	case models.Several:
		s := x.state
		if x.run != nil {
			s = x.run.State()
		}
		next := x.model.Step(nil, s, op)
		k := slices.IndexFunc(next, func(s models.State) bool { p, known := x.p.At(s); return !known || p == at })
		if k < 0 {
			return false
		}
		x.begin(next[k])
	}
	x.took(row)
	return true
}

// took notes that a step was taken.
func (x *replay) took(row models.Row) {
	x.latest = max(x.latest, x.in.Inv[row])
	x.order = append(x.order, row)
	x.done[row] = true
}

// place takes operations without a position that were invoked before an event, as early as they can happen, before
// anything above a position. Reads of one position are in the order of their invocations. What changes the state waits
// until the next step would be too late.
func (x *replay) place(at int64, event, next int32) {
	for ; x.due < len(x.floats) && x.lo[x.floats[x.due]] <= at && x.in.Inv[x.floats[x.due]] < event; x.due++ {
		x.open = append(x.open, x.floats[x.due])
	}
	for k := 0; k < len(x.open); {
		row := x.open[k]
		if x.follows(row) || x.waits(row, next) {
			k++
			continue
		}
		if other := x.spoiled(row); other >= 0 {
			row = other
		}
		if !x.float(row) {
			k++
			continue
		}
		x.open = slices.DeleteFunc(x.open, func(f models.Row) bool { return f == row })
		k = 0
	}
}

// follows says whether an operation was invoked after another one without a position had returned.
func (x *replay) follows(row models.Row) bool {
	return slices.ContainsFunc(x.open, func(f models.Row) bool { return x.in.Res[f] < x.in.Inv[row] })
}

// spoiled returns another operation without a position that changes the state and can happen now, but not after this
// one, or -1.
func (x *replay) spoiled(row models.Row) models.Row {
	if !x.changes[row] || len(x.open) == 1 {
		return -1
	}
	now := x.now()
	for _, after := range x.model.Step(nil, now, x.in.Op(row)) {
		for _, other := range x.open {
			op := x.in.Op(other)
			if other != row && x.changes[other] && !x.follows(other) && len(x.model.Step(nil, after, op)) == 0 && len(x.model.Step(nil, now, op)) > 0 {
				return other
			}
		}
	}
	return -1
}

// waits says whether an operation changes the state and need not happen before the next step, or not before others.
func (x *replay) waits(row models.Row, next int32) bool {
	if !x.changes[row] || slices.ContainsFunc(x.open, func(f models.Row) bool { return x.in.Res[row] < x.in.Inv[f] }) {
		return false
	}
	return next <= x.in.Res[row] || slices.ContainsFunc(x.open, func(f models.Row) bool { return x.changes[f] && x.in.Res[f] < x.in.Res[row] })
}

// float takes the step of an operation without a position, if it can happen now.
func (x *replay) float(row models.Row) bool {
	op := x.in.Op(row)
	if x.in.Res[row] < x.latest {
		return false
	}
	if x.run != nil {
		if x.run.Apply(op) != models.One {
			return false
		}
	} else if len(x.model.Step(nil, x.state, op)) == 0 {
		return false
	}
	x.took(row)
	return true
}
