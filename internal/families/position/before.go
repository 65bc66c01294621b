package position

import (
	"context"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # What is certain of positions
//
// Before decides which operations happened for certain just before an event, at which nothing has failed: those up to some
// position. Up to there, an update that returned told each position, or only one update can have made it, also by what was shown
// later. Where only operations told it that need not be updates, such as a delete of what may not be there, the state is the same
// whichever of them made it (whichever), and nothing else can have. If positions are sparse, no crashed update may have
// happened up to there. And nothing that returns later has a position there.
//
// Precondition: that of a decision, and no operation changes the state without moving it. Otherwise nothing is certain.
//
// Cost: that of a decision, and one more step for each of these operations.
//
// Lemma: whatever comes later, a linearization may begin with these, in the order of the replay. Its updates up to that position are
// these, and in the same order. So every operation that changes nothing sees in it what it saw in the replay, at the same
// position; one that says no position is as early as can be, and the others do not depend on it. In time, all of these come
// before what returns later, since that has a greater position, or the same one and changes nothing.
//
// Crashed updates that made none of these positions may still happen, and are left. An update that returns later may turn out to
// be wrong, and then it counts as crashed: so no gap is certain that it may have made.

// Past is what is certain.
type Past struct {
	Position int64        // of the last state
	State    models.State // there
	Done     []bool       // by row: the operation has happened
	Order    []models.Row // leads there
}

// Before returns what is certain just before an event. It returns false if nothing is.
func Before(ctx context.Context, c *models.Columns, shape models.PositionShape, event int32) (past Past, ok bool) {
	begun, _ := slices.BinarySearch(c.Inv, event)
	cut := models.Columns{Events: event, Inv: c.Inv[:begun], Res: slices.Clone(c.Res[:begun]), Kind: c.Kind[:begun], A: c.A[:begun], B: c.B[:begun]}
	for row, res := range cut.Res {
		if res >= event {
			cut.Res[row] = models.Open
		}
	}
	in := fastpath.PlainInput(ctx, &cut)
	s := sweep{in: in, table: newTable(in, shape.Model)}
	if s.untold >= 0 || s.p.Aside != nil {
		return past, false
	}
	r := s.decide(true)
	if r.Verdict != jepsen.Valid || len(s.side) > 0 || len(s.before) > 0 || s.guessed {
		return past, false
	}
	limit, begins, ok := s.limits(c)
	if !ok {
		return past, false
	}
	if past.Position, ok = s.certain(limit, begins); !ok {
		return past, false
	}
	return s.upTo(past.Position, r.Witness, c.Len())
}

// limits returns the position up to which what returns later does not matter, and the greatest one below which none of its updates
// began. It returns false if nothing is certain.
func (s *sweep) limits(c *models.Columns) (limit, begins int64, ok bool) {
	limit, begins = models.MaxPosition, models.MaxPosition
	_, based := s.p.At(s.model.Init())
	for row := range s.in.Len() {
		returned, later, at := s.in.Res[row] != models.Open, c.Res[row] != models.Open, s.at[row]
		switch moves := s.moves[row]; {
		case returned:
		case moves != models.NeverMoves && s.lo[row] == none && !based, later && at == none && moves != models.NeverMoves:
			return 0, 0, false // it may have happened before the first position, or at any
		case !later && moves != models.NeverMoves && !s.p.Dense:
			limit = min(limit, s.lo[row])
		case !later && moves != models.NeverMoves && at != none: // its position was wrong, so it counts as crashed
			begins = min(begins, s.lo[row])
		case !later:
		case moves != models.NeverMoves:
			limit, begins = min(limit, at-1), min(begins, s.lo[row])
		case at != none:
			limit = min(limit, at)
		default:
			limit = min(limit, s.lo[row])
		}
	}
	return limit, begins, true
}

// certain returns the last position up to a limit up to which the updates are certain. Gaps are only certain up to begins.
func (s *sweep) certain(limit, begins int64) (last int64, ok bool) {
	last, ok = s.p.At(s.model.Init())
	g := 0
	for _, b := range s.blocks {
		for ; g < len(s.gaps) && s.gaps[g].at <= b.at; g++ {
			if by := s.gaps[g].by; by < 0 || !s.fill[by].only && !s.gaps[g].named || s.gaps[g].at > min(limit, begins) {
				return last, ok
			}
			last = s.gaps[g].at
		}
		if b.at > limit || s.unsure(b) && !s.moved(b, last, ok, begins) || b.update < 0 && ok && s.p.Dense && b.at != last {
			return last, ok
		}
		last, ok = b.at, true
	}
	return last, ok
}

// moved says whether some operation that tells the position of a block certainly brought the state there from the last one, or that is
// the first one. What may have done so otherwise began later, also what returns later.
func (s *sweep) moved(b block, last int64, based bool, begins int64) bool {
	return s.p.Dense && b.at <= begins && (!based || b.at == last+1) && !slices.ContainsFunc(s.fill, func(f filler) bool { return s.lo[f.row] < b.at })
}

// whichever says whether a block leads from one state to another, whichever of its operations brought the state there.
func (s *sweep) whichever(b block, before, after models.State) bool {
	rows := s.rows[b.from:b.to]
	at := func(from models.State, row models.Row) (to models.State, ok bool) { // the position
		for _, next := range s.model.Step(nil, from, s.in.Op(row)) {
			if p, _ := s.p.At(next); p == b.at {
				return next, true
			}
		}
		return nil, false
	}
	for _, row := range rows {
		if s.moves[row] == models.NeverMoves {
			continue
		}
		next, may := at(before, row)
		for _, other := range rows { // did nothing then
			if other != row && may {
				_, may = at(next, other)
			}
		}
		if may && !slices.Equal(next, after) {
			return false
		}
	}
	return true
}

// upTo returns what a replay has up to a position. n is how many operations there are, also later.
func (s *sweep) upTo(at int64, order []models.Row, n int) (past Past, ok bool) {
	gapOf := map[models.Row]int64{}
	for _, g := range s.gaps {
		if g.by >= 0 {
			gapOf[s.fill[g.by].row] = g.at
		}
	}
	x := &replay{sweep: s, latest: -1, done: make([]bool, n)}
	x.begin(s.model.Init())
	k, before := 0, s.model.Init()
	over := func(next int64) bool { // the positions below another one
		for ; k < len(s.blocks) && s.blocks[k].at < next; k++ {
			if s.unsure(s.blocks[k]) && !s.whichever(s.blocks[k], before, x.now()) {
				return false
			}
			if k+1 < len(s.blocks) && s.unsure(s.blocks[k+1]) {
				before = slices.Clone(x.now())
			}
		}
		return true
	}
	for _, row := range order {
		now := s.at[row]
		if gap, fills := gapOf[row]; fills {
			now = gap
		} else if s.in.Res[row] == models.Open {
			break // it may not have happened
		}
		if now > at {
			break
		}
		if now != none && !over(now) {
			return past, false
		}
		if now == none && !x.float(row) || now != none && !x.step(row, now) {
			return past, false
		}
	}
	return Past{at, x.now(), x.done, x.order}, over(at+1) && len(x.order) > 0
}
