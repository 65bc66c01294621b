package matching

import (
	"clew/internal/cdcl"
	"clew/models"
)

// theory is the zone rule for the solver. The solver assigns which reader saw
// which node, and the theory keeps the resulting chains.
//
// There are three sorts of variables. "r saw n" belongs to the group of reader r.
// A need "cas c took effect before time t" is implied by any reader that saw c,
// and returned by then. Auxiliary ones combine several "r saw n": thresholds
// (lemma.go) those of one n, sources those of one cas.
type theory struct {
	*problem
	Rules
	hall
	s *cdcl.Solver
	z *zones

	// By variable. reader is isNeed or isAuxiliary if it is not an "r saw n".
	reader, node      []int32 // for a need: the place in needs
	nextOfNode        []int32 // the next variable of the node, or none
	nextOfReader      []int32
	groupOf           []int32 // by row: its group, or none
	rowOfGroup        []int32
	firstOfReader     []int32 // by row: the last variable that it got
	firstOfNode       []int32 // by node
	sees              []int32 // by row: the variable by which it sees what it sees, or none
	before            []int32 // by row: the variable by which it last saw something, or none
	wish              []int32 // by row: the node to be tried first, if the row has not seen anything yet
	needs             []need
	needOf            []int32 // by node: its latest need, or none
	needed            []int32 // by node: the need with the earliest time that is assigned, or none
	thresholds        []threshold
	thresholdsOf      [2][]int32 // by side and node: its strongest threshold, or none
	nodeFirst         []int32    // by node: the first return among it and the reads of it
	nodeLast          []int32    // the last invocation
	next              []int32    // by node: the cas that saw it, or none
	parent, size      []int32    // by node: chains are trees of nodes
	first, end        []int32    // by root: as nodeFirst and nodeLast, of the whole chain
	done              []step
	head              int          // how much of the trail is done
	horizon           int32        // the time up to which readers are open for decision
	changed           []models.Row // readers that have seen something since the last solution
	lits              []cdcl.Lit
	lemmas            int64
	early, late, both []int32
}

const (
	isAuxiliary int32 = -1
	isNeed      int32 = -2
)

// need is "a cas took effect before a time". source is "what it saw was invoked
// before that time".
type need struct{ variable, source, node, time, earlier int32 }

// step is what the theory did for a literal of the trail, and what was there before.
type step struct {
	position            int32
	kind                stepKind
	row, node, root     int32
	nodeFirst, nodeLast int32
	first, end          int32
	absorbed            int32
}

type stepKind int32

const (
	sawStep stepKind = iota
	linkStep
	needStep
)

func newTheory(p *problem, rules Rules, poll func() bool) *theory {
	n, rows := len(p.rowOf), len(p.inv)
	t := &theory{problem: p, Rules: rules, z: newZones(len(p.at)), hall: hall{takes: nones(n), takenBy: nones(n), seen: make([]int32, n)}}
	t.s = cdcl.New(t, cdcl.Options{Poll: poll, NoRestarts: rules.NoRestarts, NoReducing: rules.NoReducing, NoActivity: rules.NoActivity,
		NoMinimizing: rules.NoMinimizing, NoBase: rules.NoBase})
	t.groupOf, t.firstOfReader, t.sees, t.before, t.wish = nones(rows), nones(rows), nones(rows), nones(rows), nones(rows)
	t.firstOfNode, t.needOf, t.needed, t.next = nones(n), nones(n), nones(n), nones(n)
	t.thresholdsOf = [2][]int32{nones(n), nones(n)}
	t.nodeFirst, t.nodeLast = append(t.nodeFirst, p.nodeRes...), append(t.nodeLast, p.nodeInv...)
	t.first, t.end = append(t.first, p.nodeRes...), append(t.end, p.nodeInv...)
	t.parent, t.size = make([]int32, n), make([]int32, n)
	for i := range t.parent {
		t.parent[i], t.size[i] = int32(i), 1
		t.place(int32(i))
	}
	return t
}

// root returns the root of a node's chain. The smaller chain joins the larger
// one, so the root is near.
func (t *theory) root(node int32) int32 {
	for t.parent[node] != node {
		node = t.parent[node]
	}
	return node
}

// counts says whether a chain has a zone: something of it returned, or the
// initial value was seen.
func (t *theory) counts(root int32) bool {
	return t.first[root] != models.Open && t.first[root] != t.end[root]
}

func (t *theory) place(root int32) {
	if t.counts(root) {
		t.z.set(root, t.first[root], t.end[root])
	}
}

func (t *theory) displace(root int32) {
	if t.counts(root) {
		t.z.remove(t.first[root], t.end[root])
	}
}

// clash returns the root of a chain whose zone clashes with another one, or
// none. It does not look at a and b. Each of two chains that clash would have
// to stand before the other.
func (t *theory) clash(first, last, a, b int32) int32 {
	// Forward zones are disjoint, so only the last one that starts before the end
	// can reach beyond the start.
	for at := t.z.forward.Last(last); at >= 0; at = t.z.forward.Last(at - 1) {
		if root := t.z.owner[at]; root != a && root != b {
			if t.end[root] > first {
				return root
			}
			break
		}
	}
	if first >= last {
		return none
	}
	for at := t.z.backward.Next(first + 2); at >= 0 && at <= last; at = t.z.backward.Next(at + 1) {
		if root := t.z.owner[at]; t.first[root] < last && root != a && root != b {
			return root
		}
	}
	return none
}

// Propagate implements cdcl.Theory.
func (t *theory) Propagate() bool {
	for ; t.head < len(t.s.Trail()); t.head++ {
		l := t.s.Trail()[t.head]
		v := l.Var()
		row := t.reader[v]
		if row == isAuxiliary {
			continue
		}
		if l != cdcl.Pos(v) {
			if row >= 0 && isLink(t.ops.Op(row)) {
				t.ruledOut(v)
			}
			continue
		}
		added := false
		switch {
		case row == isNeed:
			added = t.need(v)
		case isLink(t.ops.Op(row)):
			added = t.link(v)
		default:
			added = t.saw(v)
		}
		if added {
			return true
		}
	}
	return !t.NoHall && t.match()
}

// saw lets a read see a node. If the assignment is not consistent then, it adds
// a clause that says why.
func (t *theory) saw(v int32) bool {
	row, node := t.reader[v], t.node[v]
	if t.sees[row] != none {
		return false // one is enough
	}
	inv, res, root := t.inv[row], t.res[row], t.root(node)
	if other := t.outOfOrder(node, inv, res); other != none {
		t.commit(v, root)
		if other > 0 {
			t.explainOrder(node, other)
		} else {
			t.explainOrder(-other-2, node)
		}
		return true
	}
	first, end := min(t.first[root], res), max(t.end[root], inv)
	if other := t.clash(first, end, root, none); other != none {
		t.commit(v, root)
		t.explainClash(root, other)
		return true
	}
	t.displace(root)
	t.commit(v, root)
	t.place(root)
	return false
}

// commit records what a read saw, except the zone.
func (t *theory) commit(v, root int32) {
	row, node := t.reader[v], t.node[v]
	t.done = append(t.done, step{position: int32(t.head), kind: sawStep, row: row, node: node, root: root,
		nodeFirst: t.nodeFirst[node], nodeLast: t.nodeLast[node], first: t.first[root], end: t.end[root]})
	t.sees[row], t.before[row] = v, v
	t.changed = append(t.changed, row)
	t.nodeFirst[node], t.nodeLast[node] = min(t.nodeFirst[node], t.res[row]), max(t.nodeLast[node], t.inv[row])
	t.first[root], t.end[root] = min(t.first[root], t.res[row]), max(t.end[root], t.inv[row])
}

// outOfOrder returns a node later in the chain than the given one, if something of
// it returned before inv. For an earlier one of which something was invoked after
// res, it returns -2 less the node. Otherwise it returns none. Beyond a node that
// was invoked after inv nothing can have returned before inv, since the chain is
// in order.
func (t *theory) outOfOrder(node, inv, res int32) int32 {
	for n := t.next[node]; n != none; n = t.next[n] {
		if t.nodeFirst[n] < inv {
			return n
		}
		if t.nodeLast[n] >= inv {
			break
		}
	}
	for n := t.source(node); n != none; n = t.source(n) {
		if t.nodeLast[n] > res {
			return -2 - n
		}
		if t.nodeFirst[n] <= res {
			break
		}
	}
	return none
}

// source returns the node that a node saw, or none.
func (t *theory) source(node int32) int32 {
	if row := t.rowOf[node]; row != none && t.sees[row] != none {
		return t.node[t.sees[row]]
	}
	return none
}

// link lets a cas see a node.
func (t *theory) link(v int32) bool {
	row, node := t.reader[v], t.node[v]
	own := t.nodeOf[row]
	x := cdcl.Neg(v)
	if old := t.sees[row]; old != none {
		t.s.AddLemma(x, cdcl.Neg(old))
		return true
	}
	if other := t.next[node]; other != none {
		t.s.AddLemma(x, cdcl.Neg(t.sees[t.rowOf[other]]))
		return true
	}
	a, b := t.root(node), t.root(own)
	if a == b {
		t.explainCycle(v)
		return true
	}
	if t.first[b] < t.end[a] {
		from, to := t.nodeOfEvent(t.end[a]), t.nodeOfEvent(t.first[b])
		t.join(v, a, b)
		t.explainOrder(from, to)
		return true
	}
	if other := t.clash(min(t.first[a], t.first[b]), max(t.end[a], t.end[b]), a, b); other != none {
		t.explainClash(t.join(v, a, b), other)
		return true
	}
	t.displace(a)
	t.displace(b)
	t.place(t.join(v, a, b))
	only := t.onlyOne(v)
	if t.pass(own) || only {
		t.head++ // this literal is done
		return true
	}
	return false
}

// join joins two chains into one, except the zone.
func (t *theory) join(v, a, b int32) (root int32) {
	row, node := t.reader[v], t.node[v]
	kept, absorbed := a, b
	if t.size[a] < t.size[b] {
		kept, absorbed = b, a
	}
	t.done = append(t.done, step{position: int32(t.head), kind: linkStep, row: row, node: node, root: kept, first: t.first[kept], end: t.end[kept], absorbed: absorbed})
	t.sees[row], t.before[row], t.next[node] = v, v, t.nodeOf[row]
	t.changed = append(t.changed, row)
	t.parent[absorbed] = kept
	t.size[kept] += t.size[absorbed]
	t.first[kept], t.end[kept] = min(t.first[a], t.first[b]), max(t.end[a], t.end[b])
	return kept
}

// many is how many alternatives of a cas are ruled out one by one at most. The
// others turn out to be wrong if they come up.
const many = 200

// onlyOne rules out that another cas sees the same node, or that this one sees
// another. It never leads to a conflict.
func (t *theory) onlyOne(v int32) bool {
	added := false
	n := 0
	for w := t.firstOfReader[t.reader[v]]; w != none && n < many; w = t.nextOfReader[w] {
		if n++; t.s.Value(cdcl.Pos(w)) == 0 {
			t.s.AddLemma(cdcl.Neg(v), cdcl.Neg(w))
			added = true
		}
	}
	n = 0
	for w := t.firstOfNode[t.node[v]]; w != none && n < many; w = t.nextOfNode[w] {
		if isLink(t.ops.Op(t.reader[w])) && t.s.Value(cdcl.Pos(w)) == 0 {
			n++
			t.s.AddLemma(cdcl.Neg(v), cdcl.Neg(w))
			added = true
		}
	}
	return added
}

// need records that a cas needs a source.
func (t *theory) need(v int32) bool {
	at := t.node[v]
	n := t.needs[at]
	if old := t.needed[n.node]; old != none && t.needs[old].time <= n.time {
		return false
	}
	t.done = append(t.done, step{position: int32(t.head), kind: needStep, node: n.node, root: t.needed[n.node]})
	t.needed[n.node] = at
	if node := t.takes[n.node]; node == none || node == n.node || t.nodeInv[node] >= n.time {
		t.unmatch(n.node)
	}
	t.s.Ask(t.groupOf[t.rowOf[n.node]])
	if t.pass(n.node) {
		t.head++
		return true
	}
	return false
}

// pass makes the source of a cas that is needed needed, too. It says whether it
// added anything.
func (t *theory) pass(node int32) bool {
	from, source := t.needed[node], t.source(node)
	if from == none || source == none || !t.isOptional(source) {
		return false
	}
	time := t.needs[from].time
	if old := t.needed[source]; old != none && t.needs[old].time <= time {
		return false
	}
	link := t.sees[t.rowOf[node]]
	t.s.AddLemma(cdcl.Neg(t.needs[from].variable), cdcl.Neg(link), cdcl.Pos(t.needFor(source, time)))
	return true
}

// isOptional says whether a node is a cas that has not returned by the horizon.
func (t *theory) isOptional(node int32) bool {
	row := t.rowOf[node]
	return row != none && t.res[row] > t.horizon && isLink(t.ops.Op(row))
}

// Undo implements cdcl.Theory.
func (t *theory) Undo(n int) {
	for k := len(t.done) - 1; k >= 0 && t.done[k].position >= int32(n); k-- {
		x := &t.done[k]
		switch x.kind {
		case needStep:
			t.needed[x.node] = x.root
		case sawStep:
			t.displace(x.root)
			t.sees[x.row] = none
			t.changed = append(t.changed, x.row)
			t.nodeFirst[x.node], t.nodeLast[x.node] = x.nodeFirst, x.nodeLast
			t.first[x.root], t.end[x.root] = x.first, x.end
			t.place(x.root)
		default:
			t.displace(x.root)
			t.sees[x.row], t.next[x.node] = none, none
			t.changed = append(t.changed, x.row)
			t.parent[x.absorbed] = x.absorbed
			t.size[x.root] -= t.size[x.absorbed]
			t.first[x.root], t.end[x.root] = x.first, x.end
			t.place(x.root)
			t.place(x.absorbed)
		}
		t.done = t.done[:k]
	}
	t.head = min(t.head, n)
}

// bytes returns about how much memory the theory holds.
func (t *theory) bytes() int64 {
	return t.s.Bytes() + t.z.bytes() + 4*int64(4*cap(t.reader)+6*len(t.groupOf)+17*len(t.next)) +
		4*int64(10*cap(t.done)+5*cap(t.needs)+3*cap(t.thresholds)+cap(t.rowOfGroup)+cap(t.changed))
}
