package forget

import "clew/models"

// # Registers
//
// Decides which operations of a register later completions still depend on. Linear time and space.
//
// Precondition: no value was left twice among the operations that are kept, counting the initial value. No failed cas
// counts.
//
// The operations of one value, and of all values that cas operations have made of it, are a block. first is the least
// return in it, and last the greatest invocation. Two blocks contradict each other iff first(v) < last(w) and
// first(w) < last(v) (Gibbons and Korach's zones; see internal/families/register). In the past no two do. A return
// changes a block in one of two ways: it sets first, and then nothing that returned was invoked later, so no
// contradiction can arise; or it raises last.
//
// Whatever returns later was invoked at oldest or later. So a block v is dead if another one w has first(w) < oldest
// and last(w) > first(v): every operation of v that returns later contradicts w. It fails without the block, too: then
// nothing has written what it saw.
//
// Lemma: without dead blocks the same operations fail. Let v be dead because of w, and let an operation of another
// block u, invoked at t >= oldest, contradict v, but not w. So first(v) < t and first(u) < last(v). Since v and w do
// not contradict each other, last(v) <= first(w) < oldest. If first(v) < oldest, v makes u dead itself, and u is gone.
// Otherwise last(v) < first(v) < last(w), so first(u) < last(w), and first(w) < t: u contradicts w after all. If some
// block has first < oldest, one of these is not dead: the last one in a linearization. It contradicts later reads of
// the initial value, whose block has first = -1 and cannot be taken away.
//
// Of a block that is not dead, the updates say all, and for each value the read that returned first and the one that
// was invoked last. What is kept is about as large as the number of open operations, the crashed updates that nothing
// has seen, and the longest chain of cas operations.
func registers(p past, init int32, keep []bool) bool {
	b := blocks{past: p}
	if !b.read(init) {
		return false
	}
	b.keep(keep)
	return true
}

// read notes the blocks of all operations. It returns false if the precondition fails.
func (b *blocks) read(init int32) bool {
	b.nodes, b.numbers = make([]node, 0, b.Len()+1), numbersUpTo(b.Len(), b.A, b.B, []int32{init})
	b.node(init).seen = true
	if !b.updates(init) {
		return false
	}
	for row := range models.Row(b.Len()) {
		if b.returned(row) {
			b.happened(row)
		}
	}
	for i := range b.nodes {
		b.widen(int32(i))
	}
	root := &b.nodes[0]
	root.first, root.last = -1, max(root.last, -1)
	return true
}

// blocks are the values of a register, those of one block below the one that it began with.
type blocks struct {
	past
	numbers numbers // of the nodes, by value
	nodes   []node
}

// node is a value. Rows are -1 if there are none.
type node struct {
	update              models.Row // that left it
	firstRead, lastRead models.Row // the first to return, and the last to be invoked
	seen                bool       // it was certainly there
	root                int32      // the node that its block began with, once that is known
	first, last         int32      // of the block, if it began with this node
}

// number returns the node of a value.
func (b *blocks) number(value int32) int32 {
	n := b.numbers.of(value)
	if n < 0 {
		n = int32(len(b.nodes))
		b.numbers.set(value, n)
		b.nodes = append(b.nodes, node{update: -1, firstRead: -1, lastRead: -1, root: -1, first: models.Open, last: -1})
	}
	return n
}

func (b *blocks) node(value int32) *node { return &b.nodes[b.number(value)] }

// isCAS says whether an operation makes one value of another.
func (b *blocks) isCAS(row models.Row) bool { return b.Kind[row] == models.CAS && b.A[row] != b.B[row] }

// updates notes what left each value. It returns false if the precondition fails.
func (b *blocks) updates(init int32) bool {
	for row, kind := range b.Kind {
		row, value := models.Row(row), b.A[row]
		switch {
		case kind > models.CAS:
			return false
		case b.isCAS(row):
			value = b.B[row]
		case kind != models.Write:
			continue
		}
		if n := b.node(value); n.update >= 0 || value == init {
			return false
		} else {
			n.update = row
		}
	}
	return true
}

// happened notes what an operation that has returned shows: the values before it were there.
func (b *blocks) happened(row models.Row) {
	value := b.A[row]
	switch {
	case b.isCAS(row):
		value = b.B[row]
	case b.Kind[row] != models.Write:
		n := b.node(value)
		if n.firstRead < 0 || b.Res[row] < b.Res[n.firstRead] {
			n.firstRead = row
		}
		n.lastRead = row // invocations ascend
	}
	for n := b.node(value); !n.seen; n = b.node(b.A[n.update]) {
		if n.seen = true; n.update < 0 || !b.isCAS(n.update) {
			return
		}
	}
}

// rootOf returns the node that the block of a node began with.
func (b *blocks) rootOf(i int32) int32 {
	root := i
	for b.nodes[root].root < 0 {
		update := b.nodes[root].update
		if update < 0 || !b.isCAS(update) {
			b.nodes[root].root = root
			break
		}
		root = b.number(b.A[update])
	}
	root = b.nodes[root].root
	for i != root && b.nodes[i].root < 0 {
		b.nodes[i].root = root
		i = b.number(b.A[b.nodes[i].update])
	}
	return root
}

// widen adds the operations of a node to its block.
func (b *blocks) widen(i int32) {
	n := b.nodes[i]
	if !n.seen {
		return
	}
	block := &b.nodes[b.rootOf(i)]
	for _, row := range [...]models.Row{n.update, n.firstRead, n.lastRead} {
		if row < 0 {
			continue
		}
		block.last = max(block.last, b.Inv[row])
		if b.returned(row) {
			block.first = min(block.first, b.Res[row])
		}
	}
}

// keep keeps the blocks that are not dead, and what has perhaps not happened.
func (b *blocks) keep(keep []bool) {
	dead := b.dead()
	pinned := make([]bool, len(b.nodes)) // by root: some of it is kept in any case
	for i := range b.nodes {
		if n := &b.nodes[i]; n.seen && n.update >= 0 && keep[n.update] {
			pinned[b.rootOf(int32(i))] = true
		}
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.seen {
			if root := b.rootOf(int32(i)); dead[root] && !pinned[root] {
				continue
			}
		}
		for _, row := range [...]models.Row{n.update, n.firstRead, n.lastRead} {
			if row >= 0 {
				keep[row] = true
			}
		}
	}
}

// dead returns which blocks are dead, by root.
func (b *blocks) dead() []bool {
	late, second := int32(-1), int32(-1) // the blocks with the greatest last, of those that returned before oldest
	for i := range b.nodes {
		i := int32(i)
		switch n := &b.nodes[i]; {
		case !n.seen || b.rootOf(i) != i || n.first >= b.oldest:
		case late < 0 || n.last > b.nodes[late].last:
			late, second = i, late
		case second < 0 || n.last > b.nodes[second].last:
			second = i
		}
	}
	dead := make([]bool, len(b.nodes))
	for i := range b.nodes {
		by := late
		if int32(i) == late {
			by = second
		}
		dead[i] = b.isBlock(int32(i)) && by >= 0 && b.nodes[by].last > b.nodes[i].first
	}
	return dead
}

// # What a linearization of a register may begin with
//
// Lemma: whatever comes later, a linearization may begin with the dead
// blocks in the order of min(first, last). That order is right among them: let first(v) < last(w), so that v must come before w.
// If w has first(w) < last(w), then last(v) <= first(w), since v and w do not contradict each other, and v has the smaller number.
// Otherwise first(v) < last(w) <= first(w), so it has, too. Let a block u have to come before a dead one v: first(u) < last(v). v is
// dead because of w, so last(v) <= first(w) < oldest. If first(v) < oldest, v makes u dead. Otherwise first(u) < last(v) < oldest <=
// first(v) < last(w), and w does. So u is dead, too, and what comes later does not change first(u), or begins a block with
// first(u) >= oldest.
//
// Let v be a block that is not dead, with first(v) < oldest, and let first(v) < last(u) for each other block u that is not dead.
// Then v comes next, since what begins later has a greater last. There is at most one such block. If something that returned
// before oldest shows a later value of it, nothing that returns later sees an earlier one, so these are complete. Of the last
// value that was shown by then, the operations that have returned can follow, as those that return later go on with it.
//
// Values may be used again later: each linearization says which write an operation saw, and none can have seen another one by
// now, as the precondition holds for all that began by then.

// readyRegister says which operations of a register a linearization may begin with, and the value that they lead to, if more
// operations may see it.
func readyRegister(p past, init int32, ready []bool) (value int32, known bool) {
	b := blocks{past: p}
	if !b.read(init) {
		return 0, false
	}
	dead := b.dead()
	next := int32(-1) // the block that comes after the dead ones
	for i := range b.nodes {
		if i := int32(i); b.isBlock(i) && !dead[i] && b.nodes[i].first < b.oldest && b.precedesOthers(i, dead) {
			next = i
		}
	}
	last, through := next, make([]bool, len(b.nodes)) // its last value that is shown by what is over, and the path to it
	for row := range models.Row(p.Len()) {
		if i := b.after(row); next >= 0 && b.over(row) && b.rootOf(i) == next && !through[i] {
			for last = i; !through[i]; i = b.numbers.of(b.A[b.nodes[i].update]) {
				if through[i] = true; i == next {
					break
				}
			}
		}
	}
	if next >= 0 {
		through[next] = true
	}
	for row := range models.Row(p.Len()) {
		if i := b.after(row); i >= 0 && b.nodes[i].seen && (p.returned(row) || b.nodes[i].update == row) {
			ready[row] = dead[b.rootOf(i)] || through[i]
		}
	}
	switch {
	case last < 0:
		return 0, false
	case b.nodes[last].update < 0:
		return init, true
	}
	return b.leaves(b.nodes[last].update), true
}

// isBlock says whether a node begins a block that is certainly there.
func (b *blocks) isBlock(i int32) bool { return b.nodes[i].seen && b.rootOf(i) == i }

// precedesOthers says whether a block comes before all others that are not dead.
func (b *blocks) precedesOthers(i int32, dead []bool) bool {
	for u := range b.nodes {
		if u := int32(u); u != i && b.isBlock(u) && !dead[u] && b.nodes[u].last <= b.nodes[i].first {
			return false
		}
	}
	return true
}

// leaves returns the value that is there after an operation.
func (b *blocks) leaves(row models.Row) int32 {
	if b.isCAS(row) {
		return b.B[row]
	}
	return b.A[row]
}

// after returns the node of that value, or -1.
func (b *blocks) after(row models.Row) int32 { return b.numbers.of(b.leaves(row)) }
