package matching

import (
	"math"
	"slices"

	"clew/internal/cdcl"
)

// threshold is a variable that holds if some read that sees a node has at most some key, on one side. A list of them
// ascends by key, from the strongest on.
type threshold struct{ variable, key, next int32 }

// A side says what matters about reads: that they returned by a time, or that they began at a time or later.
type side int

const (
	early side = iota
	late
)

// key returns the less the earlier a read returned, or the later it began.
func (t *theory) key(s side, row int32) int32 {
	if s == early {
		return t.res[row]
	}
	return -t.inv[row]
}

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
			say(t.someRead(early, node, time).Not())
		}
	}
	for i := 0; i < len(t.late); i += 2 {
		if node, time := t.late[i], t.late[i+1]; t.nodeInv[node] <= time {
			say(t.someRead(late, node, -time-1).Not())
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

// someRead returns a literal that says that some read of a node has at most a key. There is one.
func (t *theory) someRead(s side, node, key int32) cdcl.Lit {
	if t.NoThresholds {
		event := t.nodeFirst[node]
		if s == late {
			event = t.nodeLast[node]
		}
		return cdcl.Pos(t.sees[t.at[event]])
	}
	only, weakest, count := none, int32(math.MinInt32), 0
	t.eachRead(s, node, math.MinInt32, key, func(v, key int32) bool {
		only, weakest = v, max(weakest, key)
		count++
		return s == late || count < 2
	})
	if count == 1 {
		return cdcl.Pos(only)
	}
	stronger, weaker := none, t.thresholdsOf[s][node]
	for weaker != none && t.thresholds[weaker].key < weakest {
		stronger, weaker = weaker, t.thresholds[weaker].next
	}
	if weaker != none && t.thresholds[weaker].key == weakest {
		return cdcl.Pos(t.thresholds[weaker].variable)
	}
	implied := t.lits[len(t.lits):]
	since := int32(math.MinInt32)
	if stronger != none {
		implied = append(implied, cdcl.Pos(t.thresholds[stronger].variable))
		since = t.thresholds[stronger].key
	}
	t.eachRead(s, node, since, weakest, func(v, _ int32) bool {
		implied = append(implied, cdcl.Pos(v))
		return true
	})
	return t.newThreshold(&t.thresholdsOf[s][node], stronger, weaker, weakest, implied)
}

// eachRead calls f, until it returns false, with the variables of reads that may see a node and have a key greater than
// one and at most another. Readers are opened by return, so reads further on in the list of a node returned earlier.
func (t *theory) eachRead(s side, node, after, until int32, f func(v, key int32) bool) {
	for v := t.firstOfNode[node]; v != none; v = t.nextOfNode[v] {
		row := t.reader[v]
		if isLink(t.ops.Op(row)) {
			continue
		}
		if s == early && t.res[row] <= after || s == late && t.res[row] < -until {
			return
		}
		key := t.key(s, row)
		if key <= after || key > until || t.s.Value(cdcl.Pos(v)) < 0 && t.s.LevelOf(cdcl.Pos(v)) == 0 {
			continue
		}
		if !f(v, key) {
			return
		}
	}
}

// newThreshold puts a threshold into a list after one and before another. by
// holds the literals that imply it. At least one of them holds.
func (t *theory) newThreshold(list *int32, stronger, weaker, key int32, by []cdcl.Lit) cdcl.Lit {
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
	v := t.newVar(cdcl.NoGroup, isAuxiliary, none)
	x := cdcl.Pos(v)
	for _, l := range by {
		t.s.AddClause(l.Not(), x)
	}
	if weaker != none {
		t.s.AddClause(x.Not(), cdcl.Pos(t.thresholds[weaker].variable))
	}
	at := int32(len(t.thresholds))
	t.thresholds = append(t.thresholds, threshold{v, key, weaker})
	if stronger == none {
		*list = at
	} else {
		t.thresholds[stronger].next = at
	}
	return x
}
