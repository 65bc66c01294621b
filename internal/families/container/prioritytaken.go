package container

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # What unknown removes took from a priority queue
//
// Decides which values the unknown removes of a priority queue took, and by when, unless there are too many possibilities.
//
// Precondition: that of priorityqueue.go.
//
// Cost: O(operations + events) for each choice that is tried, usually one, and the slots of operations that need an unknown remove.
//
// Rests on: only values without a completed remove can have been taken. Such a value is certainly inside at least until the
// last completed peek of it was invoked. Its zone up to there is firm, as are the zones of all others. The rest of its zone is
// soft: an unknown remove may have cut it off. An operation needs a slot that no zone of a higher priority covers. If firm
// zones cover all of its slots, the history is not linearizable, whatever was taken. If soft zones cover all others, the
// operation asks for the values of these zones to be gone by the slot that it uses. Later slots ask for the same values and
// give more time, until one more value is inside; a value is not asked for once its own open remove was invoked. So an
// operation chooses among the last slots before a value is added.
//
// Lemma: a choice is right iff the k-th event by which a value has to be gone is no earlier than the k-th unknown remove (Hall, see
// unknown.go). Otherwise too many values have to be gone by some slot. Then one of them must not be asked for by then: each
// operation that asks for it chooses later. So the search begins with the first choices and only moves to later ones. If at
// most one move is possible at a time, all right choices are as late as the one that it finds.

// needs says what the operations of a priority queue need of unknown removes.
type needs struct {
	*contents
	firm  []int32         // by element: the end of its firm zone
	soft  []soft          // by element; empty if it has a completed remove
	order fastpath.Groups // elements by rank
	turns []int32         // by event: the element whose soft zone begins there, plus 1, or minus that if it ends
	whole *cover          // all zones of higher priorities
	cover *cover          // the firm ones
	all   []need

	tries, most int             // choices that were tried, and may be
	branched    bool            // several moves were possible
	seen        map[string]bool // choices
	blamed      struct {        // what shows that no choice is right
		needs    map[int32]bool
		elements []int32
	}
}

// soft is a soft zone, from begin to end-1.
type soft struct{ begin, end int32 }

// need is an operation that only linearizes if some values are gone: those of higher priority whose soft zones cover a slot.
type need struct {
	op, rank int32 // the highest rank is 0
	inv, res int32
	slots    []int32 // among which it chooses
	at       int     // which
	leaves   bool    // a value that the first slot asks for is not asked for later
}

// slot returns the slot that the operation uses.
func (o *need) slot() int32 { return o.slots[o.at] }

// newNeeds finds the needs. It also returns an operation that has no slot whatever was taken, or none, and its rank.
func newNeeds(c *contents) (n *needs, bad need) {
	n = &needs{contents: c, order: c.byRank(), firm: make([]int32, len(c.elements)), soft: make([]soft, len(c.elements)),
		turns: make([]int32, c.Events+2), whole: newCover(c.Events+1, false), cover: newCover(c.Events+1, false)}
	n.blamed.needs = map[int32]bool{}
	for i := range c.elements {
		n.divide(int32(i))
	}
	for rank := range c.IDs {
		group := n.order.Of(rank)
		for _, i := range group {
			if o := n.examine(i, rank); o.op != none {
				return n, o
			}
		}
		for _, i := range group {
			n.add(i)
		}
	}
	for _, o := range c.empties {
		if x := (need{op: o, rank: c.IDs, inv: c.Inv[o], res: c.Res[o]}); !n.fits(x) {
			return n, x
		}
	}
	return n, need{op: none}
}

// divide divides the zone of an element.
func (n *needs) divide(i int32) {
	e := &n.elements[i]
	n.firm[i] = e.mInv
	if e.rem != none && n.Res[e.rem] != models.Open {
		return
	}
	n.firm[i] = e.aInv
	for _, o := range n.peeksOf(i) {
		n.firm[i] = max(n.firm[i], n.Inv[o])
	}
	if begin := max(e.aRes, n.firm[i]); begin < e.mInv {
		n.soft[i] = soft{begin, e.mInv}
	}
}

// examine finds what the operations of an element need. It returns one that has no slot, if there is one.
func (n *needs) examine(i, rank int32) (bad need) {
	e := &n.elements[i]
	if e.rem != none && n.Res[e.rem] != models.Open {
		if o := (need{op: e.rem, rank: rank, inv: e.mInv, res: e.rRes}); !n.fits(o) {
			return o
		}
	}
	for _, p := range n.peeksOf(i) {
		o := need{op: p, rank: rank}
		if o.inv, o.res = n.peekSpan(e, p); !n.fits(o) {
			return o
		}
	}
	return need{op: none}
}

// add adds the zones of an element.
func (n *needs) add(i int32) {
	e := &n.elements[i]
	if e.forward() {
		n.whole.add(e.aRes, e.mInv)
	}
	if firm := n.firm[i]; e.aRes < firm {
		n.cover.add(e.aRes, firm)
	}
	if s := n.soft[i]; s.begin < s.end {
		n.turns[s.begin], n.turns[s.end] = i+1, -i-1
	}
}

// fits says whether an operation has a slot, and notes what it needs.
func (n *needs) fits(o need) bool {
	if n.whole.next(o.inv) < o.res {
		return true
	}
	first := n.cover.next(o.inv)
	if first >= o.res {
		return false
	}
	slot := first
	for s, t := n.cover.next(first+1), first+1; s < o.res; s = n.cover.next(s + 1) {
		added := false
		for ; t <= s; t++ {
			x := n.turns[t]
			added = added || x > 0
			o.leaves = o.leaves || x < 0 && len(o.slots) > 0
		}
		if added {
			o.slots = append(o.slots, slot)
		}
		slot = s
	}
	o.slots = append(o.slots, slot)
	n.all = append(n.all, o)
	return true
}

// dueBy says by which slot an element has to be gone, and which of the needs shows it.
type dueBy struct{ slot, element, need int32 }

// dues returns when elements have to be gone, in order. If last, only operations count that have no later choice.
func (n *needs) dues(last bool) (dues []dueBy) {
	lowest := make([]int32, n.Events+1) // by slot: the need of the lowest priority there, plus 1
	for i := range n.all {
		if o := &n.all[i]; !last || o.at == len(o.slots)-1 {
			if was := &lowest[o.slot()]; *was == 0 || n.all[*was-1].rank < o.rank {
				*was = int32(i) + 1
			}
		}
	}
	var slots []int32
	unused, from := newCover(n.Events+1, false), int32(0)
	for s, need := range lowest {
		if need == 0 {
			continue
		}
		if slots = append(slots, int32(s)); from < int32(s) {
			unused.add(from, int32(s))
		}
		from = int32(s) + 1
	}
	if from <= n.Events {
		unused.add(from, n.Events+1)
	}
	rank := func(slot int32) int32 { return n.all[lowest[slot]-1].rank }
	slices.SortFunc(slots, func(x, y int32) int { return cmp.Compare(rank(x), rank(y)) })
	for _, i := range n.order.Sorted() {
		for len(slots) > 0 && rank(slots[0]) <= n.rank(i) { // nothing there is of a lower priority
			unused.add(slots[0], slots[0]+1)
			slots = slots[1:]
		}
		if s := n.soft[i]; s.begin < s.end {
			if by := unused.next(s.begin); by < s.end && by <= n.Events {
				dues = append(dues, dueBy{by, i, lowest[by] - 1})
			}
		}
	}
	slices.SortFunc(dues, func(x, y dueBy) int { return cmp.Or(cmp.Compare(x.slot, y.slot), cmp.Compare(x.element, y.element)) })
	return dues
}

// missing returns the first of the dues for which there are not enough unknown removes, early enough, or -1.
func (n *needs) missing(dues []dueBy) int {
	for k, d := range dues {
		if k >= len(n.unknown) || n.Inv[n.unknown[k]] > d.slot {
			return k
		}
	}
	return -1
}

// solve looks for a right choice from the present one on. It is Unknown if it tried too many.
func (n *needs) solve() (dues []dueBy, verdict jepsen.Verdict) {
	for {
		n.Poll()
		if n.tries++; n.tries > n.most {
			return nil, jepsen.Unknown
		}
		dues = n.dues(false)
		k := n.missing(dues)
		if k < 0 {
			return dues, jepsen.Valid
		}
		switch moves := n.moves(dues, dues[k].slot); len(moves) {
		case 0:
			return nil, jepsen.Invalid
		case 1:
			n.move(moves[0])
		default:
			n.branched = true
			return n.branch(moves)
		}
	}
}

// branch tries moves.
func (n *needs) branch(moves [][]int32) (dues []dueBy, verdict jepsen.Verdict) {
	verdict = jepsen.Invalid
	before := n.choice()
	for _, move := range moves {
		n.move(move)
		key := fmt.Sprint(n.choice())
		if n.seen == nil {
			n.seen = map[string]bool{}
		}
		if !n.seen[key] {
			n.seen[key] = true
			switch found, v := n.solve(); v {
			case jepsen.Valid:
				return found, v
			case jepsen.Unknown:
				verdict = v
			}
		}
		n.move(before)
	}
	return nil, verdict
}

// choice returns what each operation chooses.
func (n *needs) choice() []int32 {
	at := make([]int32, len(n.all))
	for i := range n.all {
		at[i] = int32(n.all[i].at)
	}
	return at
}

// move makes a choice.
func (n *needs) move(choice []int32) {
	for i := range n.all {
		n.all[i].at = int(choice[i])
	}
}

// moves returns the choices that come next if too many elements have to be gone by a slot. Each asks for one of them later.
func (n *needs) moves(dues []dueBy, by int32) (moves [][]int32) {
	fixed := map[int32]int32{} // by element: a need that asks for it in any case
	for _, d := range n.dues(true) {
		if d.slot <= by {
			fixed[d.element] = d.need
		}
	}
	for _, d := range dues {
		if d.slot > by {
			break
		}
		n.blamed.elements = append(n.blamed.elements, d.element)
		need, is := fixed[d.element]
		if !is {
			var next []int32
			if next, need = n.later(d.element, by); next != nil {
				if !slices.ContainsFunc(moves, func(m []int32) bool { return slices.Equal(m, next) }) {
					moves = append(moves, next)
				}
				continue
			}
		}
		n.blamed.needs[need] = true
	}
	return moves
}

// later returns the next choice that does not ask for an element to be gone by a slot, or nil and a need that asks for it in any case.
func (n *needs) later(element, by int32) (next []int32, always int32) {
	rank, s := n.IDs-1-n.B[n.elements[element].add], n.soft[element]
	next = n.choice()
	for i := range n.all {
		o := &n.all[i]
		if o.rank <= rank {
			continue
		}
		at := o.at
		for at < len(o.slots) && s.begin <= o.slots[at] && o.slots[at] <= by && o.slots[at] < s.end {
			at++
		}
		if at == len(o.slots) {
			return nil, int32(i)
		}
		next[i] = int32(at)
	}
	for i := range next {
		if int(next[i]) > n.all[i].at {
			n.blamed.needs[int32(i)] = true
		}
	}
	return next, none
}

// maxChoices bounds the choices that are tried.
const maxChoices = 300

// matchPriority says which values the unknown removes took, if that can be found out soon.
func matchPriority(c *contents) (m matching, ok bool) {
	n, bad := newNeeds(c)
	if bad.op != none {
		return n.blame(bad), true
	}
	n.most = maxChoices
	dues, verdict := n.solve()
	switch verdict {
	case jepsen.Valid:
		m.at = taken{}
		for k, d := range dues {
			m.at[c.A[c.elements[d.element].add]] = c.Inv[c.unknown[k]]
		}
	case jepsen.Invalid:
		var needs []need
		for i := range n.blamed.needs {
			needs = append(needs, n.all[i])
		}
		m = n.blame(needs...)
	}
	return m, verdict != jepsen.Unknown
}

// blame returns operations as what shows that no choice is right, and the firm zones of higher priorities that they meet.
func (n *needs) blame(all ...need) matching {
	m, rank := matching{invalid: true, elements: n.blamed.elements}, int32(0)
	next := make([]int32, n.Events+2) // by slot: the next slot of the operations
	for s := range next {
		next[s] = models.Open
	}
	for _, o := range all {
		m.ops, rank = append(m.ops, o.op), max(rank, o.rank)
		for s := o.inv; s < o.res; s++ {
			next[s] = s
		}
	}
	for s := n.Events; s >= 0; s-- {
		next[s] = min(next[s], next[s+1])
	}
	for _, i := range n.order.Sorted() {
		aRes, firm := n.elements[i].aRes, n.firm[i]
		if n.rank(i) < rank && aRes < firm && next[aRes] < firm {
			m.elements = append(m.elements, i)
		}
	}
	return m
}

// PriorityBefore says what unknown removes have certainly taken from a priority queue that was empty at the beginning. gone
// are the rows by which the values were added that were taken, one for each unknown remove that took one. All of these were invoked
// before an event, and what was invoked at it or later cannot change that. Everything that has returned is linearizable
// without the other unknown removes. It returns false if that is not known.
func PriorityBefore(c *models.Columns, event int32) (gone []models.Row, ok bool) {
	in := fastpath.NewInput(context.Background(), c, 0)
	all, _ := prepare(in)
	if all == nil || all.reason != nil {
		return nil, false
	}
	n, bad := newNeeds(all)
	if bad.op != none || slices.ContainsFunc(n.all, func(o need) bool { return o.leaves || in.Original(o.res) >= event }) {
		return nil, false
	}
	n.most = len(n.all) + 1
	dues, verdict := n.solve()
	if verdict != jepsen.Valid || n.branched {
		return nil, false
	}
	for _, d := range dues {
		gone = append(gone, all.elements[d.element].add)
	}
	return gone, true
}
