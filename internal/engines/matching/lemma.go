package matching

import (
	"slices"

	"clew/internal/engines/cdcl"
	"clew/models"
)

// threshold is a variable that holds if some read sees a node and returned by a
// time, or began at a time or later.
type threshold struct{ variable, time, next int32 }

// nodeOfEvent returns the node to which the operation belongs that returned or
// began at a time.
func (t *theory) nodeOfEvent(time int32) int32 {
	if time < 0 {
		return initial
	}
	row := t.at[time]
	if node := t.nodeOf[row]; node != none {
		return node
	}
	return t.node[t.sees[row]]
}

// explainOrder adds a clause that says why node later cannot stand after node
// earlier in a chain. Something of it returned before something of the other
// one was invoked.
func (t *theory) explainOrder(earlier, later int32) {
	at := t.nodeFirst[later]
	for n := t.source(later); n != earlier; n = t.source(n) {
		if t.nodeLast[n] > at {
			earlier = n
			break
		}
	}
	t.lits = t.lits[:0]
	for n := later; n != earlier; n = t.source(n) {
		t.lits = append(t.lits, cdcl.Neg(t.sees[t.rowOf[n]]))
	}
	split := t.split(later, earlier, t.nodeFirst[later], t.nodeLast[earlier])
	t.early = append(t.early[:0], later, split)
	t.late = append(t.late[:0], earlier, split)
	t.lemma()
}

// explainClash adds a clause that says why two chains cannot both be as they are.
// Each has something that returned before something of the other one was invoked.
func (t *theory) explainClash(a, b int32) {
	firstA, lastA := t.nodeOfEvent(t.first[a]), t.nodeOfEvent(t.end[a])
	firstB, lastB := t.nodeOfEvent(t.first[b]), t.nodeOfEvent(t.end[b])
	ab := t.split(firstA, lastB, t.first[a], t.end[b])
	ba := t.split(firstB, lastA, t.first[b], t.end[a])
	t.lits, t.early, t.late = t.lits[:0], t.early[:0], t.late[:0]
	t.between(firstA, lastA, ab, ba)
	t.between(firstB, lastB, ba, ab)
	t.lemma()
}

// split returns a time by which something of one node returned and after which
// something of another one was invoked: from first to before last. If the node
// itself returned or was invoked in time, nothing needs to be said about its
// reads.
func (t *theory) split(one, other, first, last int32) int32 {
	at := last - 1
	returned, invoked := t.nodeRes[one], t.nodeInv[other]
	switch {
	case returned <= at:
		return max(first, returned)
	case invoked > first:
		return invoked - 1
	}
	return first + (at-first)/2
}

// between appends what connects two nodes of a chain. Something of the one
// returned by time early, and something of the other was invoked after time
// late. Among the nodes between the given two, it takes those that are next to
// each other.
func (t *theory) between(first, last, early, late int32) {
	path := t.path(first, last)
	from := 0
	for i, n := range path {
		if t.nodeFirst[n] <= early {
			from = i
		}
	}
	to := from
	for t.nodeLast[path[to]] <= late {
		to++
	}
	t.early = append(t.early, path[from], early)
	t.late = append(t.late, path[to], late)
	for i := from; i < to; i++ {
		later := path[i+1]
		if t.source(later) != path[i] {
			later = path[i]
		}
		t.lits = append(t.lits, cdcl.Neg(t.sees[t.rowOf[later]]))
	}
}

// path returns the nodes of a chain from one to another, which may come before it.
func (t *theory) path(one, other int32) []int32 {
	path := append(t.both[:0], one)
	forth, back := one, other
	for forth != other && back != one {
		if forth != none {
			if forth = t.next[forth]; forth != none {
				path = append(path, forth)
			}
		}
		if back != none {
			back = t.next[back]
		}
		if forth == none && back == none {
			panic("matching: two nodes of a chain are not connected")
		}
	}
	if forth != other {
		path = path[:1]
		for n := one; n != other; {
			n = t.source(n)
			path = append(path, n)
		}
	}
	t.both = path
	return path
}

// explainCycle adds a clause that says why a cas cannot see a node that goes
// back to it.
func (t *theory) explainCycle(v int32) {
	t.lits = append(t.lits[:0], cdcl.Neg(v))
	for n, own := t.node[v], t.nodeOf[t.reader[v]]; n != own; n = t.source(n) {
		t.lits = append(t.lits, cdcl.Neg(t.sees[t.rowOf[n]]))
	}
	t.add()
}

// lemma adds that not everything in lits, early and late can hold, and takes
// back the current step.
func (t *theory) lemma() {
	links := len(t.lits)
	say := func(l cdcl.Lit) {
		if !slices.Contains(t.lits[links:], l) { // one read may be early and late
			t.lits = append(t.lits, l)
		}
	}
	for i := 0; i < len(t.early); i += 2 {
		if node, time := t.early[i], t.early[i+1]; t.nodeRes[node] > time {
			say(t.earlyLit(node, time).Not())
		}
	}
	for i := 0; i < len(t.late); i += 2 {
		if node, time := t.late[i], t.late[i+1]; t.nodeInv[node] <= time {
			say(t.lateLit(node, time+1).Not())
		}
	}
	t.add()
}

// add adds the clause in lits, and takes back the current step.
func (t *theory) add() {
	t.lemmas++
	t.s.AddLemma(t.lits...)
	t.Undo(t.head)
}

// earlyLit returns a literal that says that some read of a node returned by a
// time. There is one.
func (t *theory) earlyLit(node, time int32) cdcl.Lit {
	if t.NoThresholds {
		return cdcl.Pos(t.sees[t.at[t.nodeFirst[node]]])
	}
	only, latest, count := none, int32(-1), 0
	for v := t.readBefore(t.firstOfNode[node], time); v != none && count < 2; v = t.readBefore(t.nextOfNode[v], time) {
		if !t.isOut(v) {
			only, latest = v, max(latest, t.res[t.reader[v]])
			count++
		}
	}
	if count == 1 {
		return cdcl.Pos(only)
	}
	// The list ascends.
	earlier, later := none, t.earlyOf[node]
	for later != none && t.thresholds[later].time < latest {
		earlier, later = later, t.thresholds[later].next
	}
	if later != none && t.thresholds[later].time == latest {
		return cdcl.Pos(t.thresholds[later].variable)
	}
	implied := t.lits[len(t.lits):]
	since := int32(-1)
	if earlier != none {
		implied = append(implied, cdcl.Pos(t.thresholds[earlier].variable))
		since = t.thresholds[earlier].time
	}
	for v := t.readBefore(t.firstOfNode[node], latest); v != none && t.res[t.reader[v]] > since; v = t.readBefore(t.nextOfNode[v], latest) {
		if !t.isOut(v) {
			implied = append(implied, cdcl.Pos(v))
		}
	}
	return t.newThreshold(&t.earlyOf[node], earlier, later, latest, implied)
}

// lateLit returns a literal that says that some read of a node was invoked at a
// time or later. There is one.
func (t *theory) lateLit(node, time int32) cdcl.Lit {
	if t.NoThresholds {
		return cdcl.Pos(t.sees[t.at[t.nodeLast[node]]])
	}
	only, least, count := none, models.Open, 0
	for v := t.readBefore(t.firstOfNode[node], models.Open); v != none && t.res[t.reader[v]] >= time; v = t.readBefore(t.nextOfNode[v], models.Open) {
		if inv := t.inv[t.reader[v]]; inv >= time && !t.isOut(v) {
			only, least = v, min(least, inv)
			count++
		}
	}
	if count == 1 {
		return cdcl.Pos(only)
	}
	// The list descends.
	later, earlier := none, t.lateOf[node]
	for earlier != none && t.thresholds[earlier].time > least {
		later, earlier = earlier, t.thresholds[earlier].next
	}
	if earlier != none && t.thresholds[earlier].time == least {
		return cdcl.Pos(t.thresholds[earlier].variable)
	}
	implied := t.lits[len(t.lits):]
	until := models.Open
	if later != none {
		implied = append(implied, cdcl.Pos(t.thresholds[later].variable))
		until = t.thresholds[later].time
	}
	for v := t.readBefore(t.firstOfNode[node], models.Open); v != none && t.res[t.reader[v]] >= least; v = t.readBefore(t.nextOfNode[v], models.Open) {
		if inv := t.inv[t.reader[v]]; inv >= least && inv < until && !t.isOut(v) {
			implied = append(implied, cdcl.Pos(v))
		}
	}
	return t.newThreshold(&t.lateOf[node], later, earlier, least, implied)
}

// readBefore returns the first variable from v on, in the list of its node, of a read
// that returned by a time. Readers are opened by return, so reads further on returned
// earlier.
func (t *theory) readBefore(v, time int32) int32 {
	for v != none && (t.res[t.reader[v]] > time || isLink(t.ops.Op(t.reader[v]))) {
		v = t.nextOfNode[v]
	}
	return v
}

// isOut says whether a variable is permanently false.
func (t *theory) isOut(v int32) bool {
	return t.s.Value(cdcl.Pos(v)) < 0 && t.s.LevelOf(cdcl.Pos(v)) == 0
}

// newThreshold puts a threshold into a list after one and before another. by
// holds the literals that imply it. At least one of them holds.
func (t *theory) newThreshold(list *int32, stronger, weaker, time int32, by []cdcl.Lit) cdcl.Lit {
	// Its reason is the literal of the lowest level that holds.
	best := none
	for i, l := range by {
		if t.s.Value(l) > 0 && (best == none || t.s.LevelOf(l) < t.s.LevelOf(by[best])) {
			best = int32(i)
		}
	}
	if best > 0 {
		by[0], by[best] = by[best], by[0]
	}
	v := t.newVar(isAuxiliary, none)
	x := cdcl.Pos(v)
	for _, l := range by {
		t.s.AddClause(l.Not(), x)
	}
	if weaker != none {
		t.s.AddClause(x.Not(), cdcl.Pos(t.thresholds[weaker].variable))
	}
	at := int32(len(t.thresholds))
	t.thresholds = append(t.thresholds, threshold{v, time, weaker})
	if stronger == none {
		*list = at
	} else {
		t.thresholds[stronger].next = at
	}
	return x
}
