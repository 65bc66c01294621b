package position

import (
	"cmp"
	"context"
	"math"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # Positions
//
// Decides: operations of any model that counts its updates (models.Positions). Dense: every update that happens adds one
// to the position. Sparse: its position is greater than those before it.
//
// Precondition: every update that returned says its position. Otherwise, or if updates that never returned may have
// filled gaps in ways that the clues below do not settle, the answer is Unknown.
//
// Cost: O(n log n) and n steps of the model, in a run if it has them, as long as the three passes below fill the gaps.
// Searches take at most stepsPerOperation more steps for each operation, and freeSteps besides. Finding the first failing completion repeats this
// for every prefix that is tried; nearly always for two.
//
// Rests on these lemmas.
//
//  1. Time. What is invoked after a return has at least that operation's position, and a greater one if it is an
//     update. This is what the order of updates and the order in time have to agree on, and one sweep with a running
//     maximum sees it.
//  2. No two updates have one position.
//  3. Gaps (dense). A position up to the greatest one that was told belongs to some update. If no operation tells it,
//     an update that never returned made it. Such an update c may have made p if p > lo(c), the greatest position of
//     what had returned before c was invoked; nothing else bounds it, as it never returns. So of the gaps up to p
//     each needs its own of the updates with lo < p. If there are fewer, the history is not linearizable (Hall 1935;
//     the sets of updates that suit ascend, so counting is enough).
//  4. Cells. Let an operation show that a place has a value, and let an earlier one show or leave another value there.
//     Then an update between their positions left the value that was shown. It is one that was told, or it fills a gap
//     between them. If it has no such gap, or no such update, the history is not linearizable.
//  5. Replay. In the order of positions, each read behind the update whose position it has, all answers must be the
//     model's. If that holds, the order is a linearization: by 1 it agrees with time. If it does not, no other order
//     exists, unless a gap came before, or an operation that changes the state and says no position.
//
// Gaps are filled in three passes: what an answer names with its position (models.Clue); then what lemma 4 needs
// (fill.go), each into the last gap that is free, and others are moved along augmenting paths if none is (Berge 1957);
// and the rest with updates whose cells no operation shows before they are replaced (rest.go). The replay searches for
// what that leaves open, and again where a step is impossible (search.go): it tries one update of each footprint first,
// the places where it leaves something, and goes back only to gaps that can be the cause (conflict-directed backjumping,
// Prosser 1993). It judges the outcome, so a wrong choice is never a wrong verdict. A failure is certain only if nothing
// was chosen before it (mayFill).
//
// Crashed operations: they fill gaps, or are left out. In a prefix, an operation that is still open has the position
// that it will tell, and fills that gap or none.
//
// Operations that returned without a position and change nothing, such as stale reads, take the earliest place that
// suits their answers: no later one is better for the others.
//
// Some operations change the state without moving it, such as grants of leases and compactions. Those of one position
// are arranged by what later ones depend on, and searched for another order where a step is impossible, which may be at a
// later position (within.go). Those without a position wait until it would be too late. What never returned is tried where
// a step is impossible without it, or at earlier positions whose answers do not show whether it has happened (beside.go).
// All of that is chosen, so no failure after it is certain.

// Rules that a decision can do without: then more is unknown, and nothing else.
const (
	byTime  = iota // lemma 1: the replay respects time, too
	byHall         // lemma 3
	byCells        // what answers name, and lemma 4
	byRuns         // the search inside runs of gaps
	rules
)

// without says which rules are left out, in tests.
var without [rules]bool

// decide decides columns of a model with positions.
func decide(ctx context.Context, c *models.Columns, shape models.PositionShape, want fastpath.Want) fastpath.Decision {
	in := fastpath.PlainInput(ctx, c)
	t := newTable(in, shape.Model)
	if t.untold >= 0 {
		return fastpath.Undecided(Untold.Of(t.untold))
	}
	a := fastpath.Algorithm{Evidence: t.evidence, Decide: func(in fastpath.Input, witness bool) fastpath.Result {
		s := sweep{in: in, table: t}
		return s.decide(witness)
	}}
	return a.Run(in, want)
}

// table holds what the operations say, by row.
type table struct {
	model   models.Model
	p       *models.Positions
	at      []int64 // the position, or none
	moves   []models.Moving
	changes []bool     // whether an operation that never moves the state can change it
	vague   []bool     // see models.Positions
	untold  models.Row // an update that returned without a position, or -1
}

// none stands for no position.
const none int64 = -1

func newTable(in fastpath.Input, m models.Model) *table {
	t := &table{model: m, p: m.Traits().Positions, at: make([]int64, in.Len()), moves: make([]models.Moving, in.Len()), changes: make([]bool, in.Len()), vague: make([]bool, in.Len()), untold: -1}
	for i := range t.at {
		op := in.Op(int32(i))
		at, told := t.p.Of(op)
		if !told {
			at = none
		}
		t.at[i], t.moves[i] = at, t.p.Moves(op)
		t.vague[i] = t.moves[i] == models.MayMove || t.p.Vague != nil && t.p.Vague(op)
		t.changes[i] = t.moves[i] == models.NeverMoves && t.p.Aside != nil && t.p.Aside(op)
		if !told && t.moves[i] != models.NeverMoves && in.Res[i] != models.Open {
			t.untold = int32(i)
		}
	}
	return t
}

// sweep is one decision.
type sweep struct {
	in fastpath.Input
	*table
	rows    []int32 // those that returned and say a position, by position, the updates first
	blocks  []block
	lo      []int64 // by row: the greatest position of what had returned before its invocation
	floats  []int32 // operations that returned without a position
	until   int32   // the last return
	gaps    []gap
	fill    []filler              // by invocation, so that lo ascends
	before  []int32               // updates before the first position, if it may be any
	shownAt map[int32][]int64     // by place: where operations show it, as far as gaps matter
	byCell  map[models.Cell]*pool // updates that never returned, by what they may leave
	left    map[int64]int32       // by gap: a place where it left a value
	quiet   map[int32][]quiet     // by place: where it is certain that no update left anything there, by the end
	guessed bool                  // some position's update is a guess
	settled int32                 // the last return of an operation that showed which was the update of a position
	side    []int32               // operations that say no position, or never returned, and change the state without moving it
}

// block is the operations of one position.
type block struct {
	at       int64
	from, to int32 // in rows
	update   int32 // the row that made it, or -1
	returned int32 // the first return of its operations, or 0 if none made it: none that was invoked later made it
	named    bool  // it is known what it left
	shown    bool  // it left this cell
	left     models.Cell
}

// quiet is positions after one and up to another at which no update left anything at a place: what an operation showed at
// the last of them was left at the first.
type quiet struct{ after, until int64 }

// gap is a position that no operation tells which returned.
type gap struct {
	at    int64
	by    int32 // the place in fill of what made it, or -1
	named bool  // an answer says what was left, and nothing else leaves that
}

// filler is an update that has not returned.
type filler struct {
	row  int32
	at   int64 // the position that it will tell, or none
	used bool
	only bool // nothing else can have filled its gap
	kept bool // an operation shows what it leaves, and no other of them leaves that
}

func (s *sweep) decide(witness bool) fastpath.Result {
	if r, found := s.time(); found && !without[byTime] {
		return r
	}
	s.sort()
	if r, found := s.group(); found {
		return r
	}
	s.settle()
	r := s.judge(witness)
	switch {
	case r.Verdict == jepsen.Invalid && s.guessed && r.Why.Pattern != Backwards && r.Why.Pattern != Twice:
		return fastpath.Result{Reason: Unplaced.Of(r.Why.Rows[0])}
	case r.Verdict == jepsen.Invalid:
		r.End = max(r.End, s.settled)
	}
	return r
}

// judge decides once it is known which operations are updates.
func (s *sweep) judge(witness bool) fastpath.Result {
	if s.p.Dense {
		if r, found := s.findGaps(); found {
			return r
		}
		s.fillCertain()
	}
	if r, found := s.fillGaps(); found {
		return r
	}
	return s.contradicted(s.replay(witness))
}

// time checks lemma 1 and finds lo.
func (s *sweep) time() (r fastpath.Result, found bool) {
	in, returns := s.in, s.in.Returns()
	s.lo = make([]int64, in.Len())
	open := 0
	for _, res := range in.Res {
		if res == models.Open {
			open++
		}
	}
	s.fill = make([]filler, 0, open)
	top, by, next := none, models.Row(-1), int32(0)
	late, early := models.Row(-1), models.Row(-1)
	for e, row := range returns {
		if row--; row >= 0 {
			s.until = int32(e)
			if at := s.at[row]; at > top {
				top, by = at, row
			} else if at == none {
				if s.floats = append(s.floats, row); s.mutates(row) {
					s.side = append(s.side, row)
				}
			}
			continue
		}
		if int(next) == in.Len() || in.Inv[next] != int32(e) {
			continue
		}
		s.lo[next] = top
		at, open := s.at[next], in.Res[next] == models.Open
		if at != none && !open && (at < top || at == top && s.moves[next] == models.AlwaysMoves) && (late < 0 || in.Res[next] < in.Res[late]) {
			late, early = next, by
		}
		switch {
		case !open:
		case s.moves[next] == models.NeverMoves && s.mutates(next):
			s.side = append(s.side, next)
		case s.moves[next] != models.NeverMoves:
			s.fill = append(s.fill, filler{row: next, at: at})
		}
		next++
	}
	if late < 0 {
		return r, false
	}
	return s.in.Wrong(Backwards.Of(late, early)), true
}

// mutates says whether an operation can change the state.
func (s *sweep) mutates(row models.Row) bool {
	return s.moves[row] != models.NeverMoves || s.changes[row]
}

// sort puts the operations that say a position into its order.
func (s *sweep) sort() {
	least, most, n := int64(math.MaxInt64), none, 0
	for i, at := range s.at[:s.in.Len()] {
		if at != none && s.in.Res[i] != models.Open {
			least, most, n = min(least, at), max(most, at), n+1
		}
	}
	if n == 0 {
		return
	}
	if width := most - least + 1; !fastpath.Sparse(2*width, int64(n)) && width < math.MaxInt32/2 {
		g := fastpath.GroupBy(s.in.Len(), int32(2*width), func(i int32) int32 {
			if s.at[i] == none || s.in.Res[i] == models.Open {
				return -1
			}
			return int32(2*(s.at[i]-least)) + s.rank(i)
		})
		s.rows = g.Sorted()
		return
	}
	s.rows = make([]int32, 0, n)
	for i, at := range s.at[:s.in.Len()] {
		if at != none && s.in.Res[i] != models.Open {
			s.rows = append(s.rows, int32(i))
		}
	}
	slices.SortStableFunc(s.rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(s.at[i], s.at[j]), cmp.Compare(s.rank(i), s.rank(j)))
	})
}

// rank orders the operations of a position.
func (s *sweep) rank(i int32) int32 {
	if s.moves[i] == models.AlwaysMoves {
		return 0
	}
	return 1
}

// group finds the blocks, and checks lemma 2.
func (s *sweep) group() (r fastpath.Result, found bool) {
	n := 0
	for k, row := range s.rows {
		if k == 0 || s.at[row] != s.at[s.rows[k-1]] {
			n++
		}
	}
	s.blocks = make([]block, 0, n)
	initial, based := s.p.At(s.model.Init())
	for from := 0; from < len(s.rows); {
		b := block{at: s.at[s.rows[from]], from: int32(from), update: -1, returned: models.Open}
		to := from
		for ; to < len(s.rows) && s.at[s.rows[to]] == b.at; to++ {
			i := s.rows[to]
			b.returned = min(b.returned, s.in.Res[i])
			switch {
			case s.moves[i] == models.NeverMoves:
			case b.update < 0:
				b.update = i
			case s.moves[i] == models.AlwaysMoves:
				return s.in.Wrong(Twice.Of(i, b.update)), true
			case s.moves[b.update] == models.MayMove && s.in.Inv[i] < s.in.Inv[b.update]:
				b.update = i
			}
		}
		if b.to = int32(to); based && b.at == initial {
			b.returned = 0
		}
		s.first(&b)
		s.blocks = append(s.blocks, b)
		from = to
	}
	return r, false
}

// settle finds out which operations that may be updates are not: the update of that position left something else.
func (s *sweep) settle() {
	if s.p.Clues == nil || s.p.Makes == nil {
		return
	}
	defer s.guess()
	defer s.arrange()
	var clues []models.Clue
	for _, row := range s.rows {
		clues = s.p.Clues(clues[:0], s.in.Op(row))
		for _, c := range clues {
			k, found := slices.BinarySearchFunc(s.blocks, c.Position, func(b block, at int64) int { return cmp.Compare(b.at, at) })
			if found && !c.Any && s.name(&s.blocks[k], c.Cell) {
				s.settled = max(s.settled, s.in.Res[row])
			}
		}
	}
}

// name notes a cell that the update of a position has left, and says whether another operation must be the update for
// that.
func (s *sweep) name(b *block, c models.Cell) (other bool) {
	if !s.unsure(*b) {
		return false
	}
	if other = !s.mayLeave(b.update, c); other {
		s.unsettle(b, c)
	}
	b.named, b.left, b.shown = b.update >= 0, c, true
	return other
}

// guess chooses the updates of positions where several operations may be them, or none is, by what was told to be there
// that they depend on. What never returned may have changed that, so a failure is not certain then.
func (s *sweep) guess() {
	now := map[int32]int32{} // by place that matters: its value
	for _, b := range s.blocks {
		for _, row := range s.rows[b.from:b.to] {
			if s.moves[row] == models.MayMove {
				for _, c := range s.seen(row) {
					now[c.Place] = c.Value
				}
			}
		}
	}
	known := map[int32]bool{}
	for k := range s.blocks {
		b := &s.blocks[k]
		if s.unsure(*b) {
			s.guessOne(b, now, known)
		}
		if b.named && b.update >= 0 { // so what it depends on was there
			for _, c := range s.seen(b.update) {
				now[c.Place], known[c.Place] = c.Value, true
			}
		}
		for _, row := range s.rows[b.from:b.to] {
			if !s.mutates(row) || s.moves[row] == models.MayMove && row != b.update && len(s.seen(row)) > 0 {
				continue
			}
			for _, c := range s.p.Makes(nil, s.in.Op(row)) {
				if _, matters := now[c.Place]; matters {
					now[c.Place], known[c.Place] = c.Value, true
				}
			}
		}
	}
}

// guessOne chooses the update of a position.
func (s *sweep) guessOne(b *block, now map[int32]int32, known map[int32]bool) {
	best, update := -1, models.Row(-1)
	if b.named {
		best-- // it is one of these, whatever it depends on
	}
	for _, row := range s.rows[b.from:b.to] {
		if !s.mayMake(b, row) || b.shown && !s.mayLeave(row, b.left) {
			continue
		}
		fits := 0 // it may be one if anything that it depends on is there
		for _, c := range s.seen(row) {
			if known[c.Place] && now[c.Place] == c.Value {
				fits = 1
			} else if known[c.Place] && fits == 0 {
				fits = -1
			}
		}
		if fits > best {
			best, update = fits, row
		}
	}
	if s.guessed = s.guessed || update != b.update; s.guessed {
		b.update = update
	}
}

// seen returns the cells that an operation depends on.
func (s *sweep) seen(row models.Row) []models.Cell {
	cells, _ := s.p.Sees(nil, s.in.Op(row))
	return cells
}

// mayLeave says whether an operation may leave a cell.
func (s *sweep) mayLeave(row models.Row, c models.Cell) bool {
	return slices.Contains(s.p.Makes(nil, s.in.Op(row)), c)
}

// unsettle makes another operation of a position its update, which may have left a cell, or none.
func (s *sweep) unsettle(b *block, c models.Cell) {
	b.update = -1
	for _, row := range s.rows[b.from:b.to] {
		if s.mayMake(b, row) && s.mayLeave(row, c) {
			b.update = row
			return
		}
	}
}

// mayMake says whether an operation may be the update of its position, though it is not certain to be one.
func (s *sweep) mayMake(b *block, row models.Row) bool {
	if s.moves[row] != models.MayMove || s.in.Inv[row] >= b.returned {
		return false
	}
	may := true
	if s.p.Made != nil {
		may, _ = s.p.Made(s.in.Op(row), b.at)
	}
	return may
}

// first makes the first operation of a position its update that may be it, unless one is certain to be.
func (s *sweep) first(b *block) {
	if !s.unsure(*b) {
		return
	}
	if s.p.Made != nil {
		_, b.named = s.p.Made(s.in.Op(b.update), b.at)
	}
	if s.mayMake(b, b.update) {
		return
	}
	b.update = -1
	for _, row := range s.rows[b.from:b.to] {
		if s.mayMake(b, row) && (b.update < 0 || s.in.Inv[row] < s.in.Inv[b.update]) {
			b.update = row
		}
	}
}

// unsure says whether it is not certain that a position's update is one.
func (s *sweep) unsure(b block) bool { return b.update >= 0 && s.moves[b.update] == models.MayMove }

// findGaps checks lemma 3.
func (s *sweep) findGaps() (r fastpath.Result, found bool) {
	if len(s.blocks) == 0 {
		return r, false
	}
	at, known := s.p.At(s.model.Init())
	if first := s.blocks[0]; known && (first.at < at || first.at == at && first.update >= 0 && s.moves[first.update] == models.AlwaysMoves) {
		return s.in.Wrong(BeforeFirst.Of(s.rows[first.from])), true
	} else if !known {
		if at = first.at; first.update >= 0 {
			at--
		}
	}
	free, k := 0, 0 // of the updates up to k, which suit the gap, so many are free
	fixed := s.fixed()
	for _, b := range s.blocks {
		next := b.at
		if b.update >= 0 {
			next--
		}
		if next-at > int64(len(s.fill)) {
			return s.tooFew(b, at+1), true
		}
		for at < next {
			at++
			for ; k < len(s.fill) && s.lo[s.fill[k].row] < at; k++ {
				if s.fill[k].at == none {
					free++
				}
			}
			g := gap{at: at, by: -1}
			if g.by = s.telling(fixed, at); g.by >= 0 {
				s.fill[g.by].used = true
			} else if free--; free < 0 && !without[byHall] {
				return s.tooFew(b, at), true
			}
			s.gaps = hugepages.Append(s.gaps, g)
		}
		at = b.at
	}
	return r, false
}

// fillCertain fills the first gaps as long as there is only one update for each: no other one that suits it is left. By
// lemma 3 it made that position in every linearization, so what it leaves is certain.
func (s *sweep) fillCertain() {
	k, free := 0, int32(-1)
	for g := range s.gaps {
		several := false
		for ; k < len(s.fill) && s.lo[s.fill[k].row] < s.gaps[g].at; k++ {
			if f := &s.fill[k]; f.at == none {
				several = several || free >= 0
				free = int32(k)
			}
		}
		if by := s.gaps[g].by; several || by >= 0 || free < 0 {
			return // what will tell that it fills a gap need not have done so yet
		}
		s.gaps[g].by = free
		s.fill[free].used, s.fill[free].only = true, true
		free = -1
	}
}

// telling returns the place in fill of an update that will tell a position and suits it, or -1.
func (s *sweep) telling(fixed []int32, at int64) int32 {
	k, _ := slices.BinarySearchFunc(fixed, at, func(f int32, at int64) int { return cmp.Compare(s.fill[f].at, at) })
	for ; k < len(fixed) && s.fill[fixed[k]].at == at; k++ {
		if s.lo[s.fill[fixed[k]].row] < at {
			return fixed[k]
		}
	}
	return -1
}

// fixed returns the places in fill of the updates that will tell a position, by position.
func (s *sweep) fixed() (places []int32) {
	for k := range s.fill {
		if s.fill[k].at != none {
			places = append(places, int32(k))
		}
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(s.fill[a].at, s.fill[b].at) })
	return places
}

// tooFew returns the result if nothing is left that can have made the position at, which lies below block b. By the
// first return of an operation from there on, the history has failed, unless what tells that a position is below
// the gaps returned later.
func (s *sweep) tooFew(b block, at int64) fastpath.Result {
	first := at
	if len(s.gaps) > 0 {
		first = s.gaps[0].at
	}
	above, below, end, begin := s.rows[b.from], models.Row(-1), models.Open, models.Open
	for _, i := range s.rows {
		switch res := s.in.Res[i]; {
		case s.at[i] >= at:
			end = min(end, res)
		case s.at[i] < first:
			begin = min(begin, res)
		}
		if s.at[i] < at {
			below = i
		}
	}
	if _, known := s.p.At(s.model.Init()); !known {
		end = max(end, begin)
	}
	from := fastpath.Initial
	if below >= 0 {
		from = below
	}
	return fastpath.Result{Verdict: jepsen.Invalid, End: min(end, s.until), Why: NoUpdate.Of(above, from)}
}
