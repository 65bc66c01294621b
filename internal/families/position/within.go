package position

import (
	"cmp"
	"encoding/binary"
	"slices"

	"clew/models"
)

// # Orders within a position
//
// Decides nothing by itself: it finds an order in which the operations of a position can happen, if some of them change the
// state without moving it, as grants and revocations of leases do, or may turn out not to be the update. First they are
// arranged by what later ones depend on (arrange). Where a step of the replay is impossible, it goes back to the last
// positions, and searches each for an order that leaves another state (reorder): chronological backtracking, with the states
// that failed remembered.
//
// Precondition: that of a decision. Only models that have operations beside the order (models.Positions.Aside) are searched.
//
// Cost: arrange takes linear time, but for the positions that it sorts. The searches are bounded by maxStarts, maxBacks,
// maxOrders and the steps of all searches.
//
// Every step is the model's, in the order of time, so an order that is found is a linearization. None is certain to be the only
// one: the replay notes that something was chosen, and a failure after it is not certain.
//
// Crashed operations are not among these. What never returned is tried afterwards (beside.go, search.go).

// arrange puts the operations of each position that may change the state into the order in which they most likely can
// happen: those that take something away, then those that read or may have done nothing, then those that give
// something. What leaves the contrary of what is needed later goes first, and what leaves that goes last. Of these,
// none comes before one that had returned before it was invoked.
func (s *sweep) arrange() {
	later := map[int32]need{}
	turns := make([]int8, s.in.Len())
	for _, b := range slices.Backward(s.blocks) {
		if rows := s.rows[b.from:b.to]; len(rows) > 1 && len(rows) <= maxArranged && slices.ContainsFunc(rows, s.alters) {
			for _, row := range rows {
				turns[row] = s.turn(row, later)
			}
			slices.SortStableFunc(rows, func(i, j int32) int {
				if turns[i] == giving && turns[j] == giving { // each as late as can be
					return cmp.Compare(s.in.Res[i], s.in.Res[j])
				}
				return cmp.Or(cmp.Compare(turns[i], turns[j]), cmp.Compare(s.in.Inv[i], s.in.Inv[j]))
			})
			s.inTime(rows)
		}
		s.needs(b, later)
	}
}

// inTime moves operations behind those that had returned before they were invoked.
func (s *sweep) inTime(rows []models.Row) {
	for k := range rows {
		for first := k; first < len(rows); first++ { // the first that need not wait for another
			if !slices.ContainsFunc(rows[k:], func(other models.Row) bool { return s.in.Res[other] < s.in.Inv[rows[first]] }) {
				row := rows[first]
				copy(rows[k+1:first+1], rows[k:first])
				rows[k] = row
				break
			}
		}
	}
}

// maxArranged bounds the operations of a position that are arranged.
const maxArranged = 64

// alters says whether an operation may change the state, at a position that it need not have made.
func (s *sweep) alters(row models.Row) bool { return s.changes[row] || s.moves[row] == models.MayMove }

// giving is the turn of operations that leave what is needed later.
const giving int8 = 3

// turn says when it is an operation's turn among those of its position.
func (s *sweep) turn(row models.Row, later map[int32]need) int8 {
	if !s.alters(row) {
		if s.moves[row] == models.AlwaysMoves {
			return 0
		}
		return 2
	}
	if seen := s.seen(row); len(seen) > 0 {
		n, needed := later[seen[0].Place]
		if needed && !n.fits(seen[0].Value) {
			return 4 // it did nothing for the same reason
		}
		return 2
	}
	for _, c := range s.p.Makes(nil, s.in.Op(row)) {
		if n, needed := later[c.Place]; needed && n.fits(c.Value) {
			return giving
		} else if needed {
			return 1
		}
	}
	if s.changes[row] {
		return giving
	}
	return 1
}

// need is what must be at a place after a position: a value, or any other one.
type need struct {
	value int32
	not   bool
}

func (n need) fits(value int32) bool { return (n.value == value) != n.not }

// needs turns what is needed after the operations of a position into what is needed before them, as far as updates
// depend on it that are known to be ones, or not to be.
func (s *sweep) needs(b block, later map[int32]need) {
	known := b.update >= 0 && (b.named || s.moves[b.update] == models.AlwaysMoves)
	for _, row := range slices.Backward(s.rows[b.from:b.to]) {
		if !s.alters(row) {
			continue
		}
		seen := s.seen(row)
		for _, c := range s.p.Makes(nil, s.in.Op(row)) {
			if len(seen) == 0 {
				delete(later, c.Place)
			}
		}
		if known && (row == b.update || len(seen) == 1) {
			for _, c := range seen {
				later[c.Place] = need{c.Value, row != b.update}
			}
		}
	}
}

// start is where a replay stood before the operations of a position, and the states that they have left since.
type start struct {
	mark
	ends []models.State
}

// Bounds of searches for orders of a position's operations: the positions to which they go back, how often, and the steps of one.
const (
	maxStarts = 16
	maxBacks  = 64
	maxOrders = 10_000
)

// startPosition notes where the replay stands before the operations of a position, in case it has to come back there.
func (x *replay) startPosition(b block) {
	if b.to-b.from > maxArranged || x.copied > stepsPerOperation*x.in.Len()+freeSteps {
		return
	}
	m := x.stand()
	x.copied += 2 * len(m.state)
	if x.starts = append(x.starts, start{mark: m}); len(x.starts) > 2*maxStarts {
		x.starts = append(x.starts[:0], x.starts[maxStarts:]...)
	}
}

// endPosition notes which state the operations of a position have left.
func (x *replay) endPosition() {
	if n := len(x.starts); n > 0 && x.starts[n-1].block == x.k {
		x.starts[n-1].ends = append(x.starts[n-1].ends, slices.Clone(x.now()))
	}
}

// reorder goes back to the last position whose operations can happen in another order that leaves another state, as long as
// what was told up to the position that failed cannot happen then, either. It returns false if nothing helps.
func (x *replay) reorder() bool {
	failed, first := x.k, max(0, len(x.starts)-maxStarts)
	if first == len(x.starts) {
		return false
	}
	oldest := x.starts[first].mark
	for n := 0; n < maxBacks && len(x.starts) > first && x.work < stepsPerOperation*x.in.Len()+freeSteps; n++ {
		s := x.starts[len(x.starts)-1]
		x.returnTo(s.mark)
		b := x.blocks[x.k]
		o := orders{replay: x, at: b.at, limit: x.work + maxOrders, ends: s.ends, failed: map[string]bool{}}
		if !o.all(b) {
			x.starts = x.starts[:len(x.starts)-1]
			continue
		}
		x.endPosition()
		x.work += failed - x.k
		if x.k++; x.through(failed) {
			return true
		}
	}
	x.returnTo(oldest)
	x.through(failed) // and fails as before
	return false
}

// orders is a search for an order of operations of a position that leaves a new state. Operations that change nothing
// happen as soon as they can, which loses no order. The others are tried in the order in which arrange has put them.
type orders struct {
	*replay
	at     int64
	limit  int // of work
	ends   []models.State
	failed map[string]bool // states, and what was left to happen in them
	key    []byte
}

// all lets the operations of a position happen, or says that they cannot. The update is the first of them.
func (o *orders) all(b block) bool {
	rows := o.rows[b.from:b.to]
	if b.update < 0 {
		return o.happen(rows)
	}
	m := o.stand()
	for k, row := range rows {
		if row != b.update && !(o.unsure(b) && o.mayBeUpdate(b, row)) {
			continue
		}
		if o.may(row, rows, b.at-1) && o.happen(slices.Delete(slices.Clone(rows), k, k+1)) {
			return true
		}
		o.returnTo(m)
	}
	return false
}

// happen lets operations happen in some order, or says that they cannot.
func (o *orders) happen(pending []models.Row) bool {
	for k := 0; k < len(pending); {
		if row := pending[k]; !o.alters(row) && o.may(row, pending, o.at) {
			pending, k = slices.Delete(slices.Clone(pending), k, k+1), 0
		} else {
			k++
		}
	}
	if len(pending) == 0 {
		return !slices.ContainsFunc(o.ends, func(s models.State) bool { return slices.Equal(s, o.now()) })
	}
	o.key = o.key[:0]
	for _, v := range slices.Concat(pending, o.now()) {
		o.key = binary.AppendVarint(o.key, int64(v))
	}
	key := string(o.key)
	if o.failed[key] {
		return false
	}
	m := o.stand()
	for k, row := range pending {
		if o.alters(row) && o.may(row, pending, o.at) && o.happen(slices.Delete(slices.Clone(pending), k, k+1)) {
			return true
		}
		o.returnTo(m)
	}
	o.failed[key] = true
	return false
}

// may takes the step of an operation, if it can happen before others, and after those without a position that can happen up
// to one.
func (o *orders) may(row models.Row, others []models.Row, floating int64) bool {
	if o.work++; o.work > o.limit || slices.ContainsFunc(others, func(f models.Row) bool { return o.in.Res[f] < o.in.Inv[row] }) {
		return false
	}
	o.place(floating, o.in.Inv[row], o.in.Inv[row])
	_, failed := o.overdue(o.in.Inv[row])
	return !failed && o.step(row, o.at)
}
