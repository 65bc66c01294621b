package matching

import (
	"clew/internal/cdcl"
	"clew/models"
)

// # Hall's condition
//
// Every cas that took effect saw a node of its own, and replaced it. So the cas need
// different nodes. If k cas have fewer than k nodes to choose from, they cannot all
// have one (Hall, 1935). A search that goes by clauses alone has to find this out by
// trying: these are the pigeons and holes that are hard for resolution. So the theory
// keeps a matching of cas with nodes. A cas that need not take effect is matched with
// itself, and then no reader sees it.
//
// If a literal takes away the node of a cas, the theory mends the matching along an
// alternating path (Berge, 1957; Kuhn, 1955). If there is no such path, the cas that
// were reached have too few nodes. Then the lemma says that one of them sees one of
// the nodes that were ruled out for it, or need not take effect. This explains the
// all-different constraint (Régin, 1994). Backtracking only gives back choices, so the
// matching stays.

// hall is the matching.
type hall struct {
	takes   []int32 // by node: what this cas is matched with, or none
	takenBy []int32 // by node: the cas that is matched with it, or none
	without []int32 // cas that may be without a match
	seen    []int32 // by node: when it was reached last
	now     int32
	reached []int32 // cas, in the last try
}

// farthest is how many cas one try reaches. The search has to deal with cas
// that are farther away. Tests reduce it.
var farthest = 2000

// matchFirst starts with a cas as one that need not take effect.
func (t *theory) matchFirst(own int32) {
	if t.takenBy[own] == none {
		t.takes[own], t.takenBy[own] = own, own
	} else {
		t.without = append(t.without, own)
	}
}

// unmatch removes the match of a cas.
func (t *theory) unmatch(own int32) {
	if node := t.takes[own]; node != none {
		t.takes[own], t.takenBy[node] = none, none
	}
	t.without = append(t.without, own)
}

// ruledOut records that a cas does not see a node.
func (t *theory) ruledOut(v int32) {
	if own := t.nodeOf[t.reader[v]]; t.takes[own] == t.node[v] {
		t.unmatch(own)
	}
}

// boundOf returns the time before which what a cas saw was invoked, or models.Open if
// it need not have seen anything.
func (t *theory) boundOf(own int32) int32 {
	if t.needed[own] == none {
		return models.Open
	}
	return t.needs[t.needed[own]].time
}

// match mends the matching. If it cannot, it adds a clause that says why.
func (t *theory) match() bool {
	for len(t.without) > 0 {
		own := t.without[len(t.without)-1]
		if t.takes[own] == none {
			t.now++
			t.reached = t.reached[:0]
			if !t.find(own) && len(t.reached) < farthest {
				t.explainHall()
				return true
			}
		}
		t.without = t.without[:len(t.without)-1]
	}
	return false
}

// find looks for a node for a cas, and for another one for the cas that has that
// node, and so on.
func (t *theory) find(own int32) bool {
	t.reached = append(t.reached, own)
	if len(t.reached) >= farthest {
		return false
	}
	bound := t.boundOf(own)
	if bound == models.Open && t.seen[own] != t.now && t.tryNode(own, own) {
		return true
	}
	row := t.rowOf[own]
	for v := t.firstOfReader[row]; v != none; v = t.nextOfReader[v] {
		if node := t.node[v]; t.takenBy[node] == none && t.nodeInv[node] < bound && t.s.Value(cdcl.Pos(v)) >= 0 {
			t.takes[own], t.takenBy[node] = node, own
			return true
		}
	}
	for v := t.firstOfReader[row]; v != none; v = t.nextOfReader[v] {
		node := t.node[v]
		if t.seen[node] != t.now && t.nodeInv[node] < bound && t.s.Value(cdcl.Pos(v)) >= 0 && t.tryNode(own, node) {
			return true
		}
	}
	return false
}

// tryNode matches a cas with a node if it is free, or if the cas that has it finds
// another.
func (t *theory) tryNode(own, node int32) bool {
	t.seen[node] = t.now
	if other := t.takenBy[node]; other != none && !t.find(other) {
		return false
	}
	t.takes[own], t.takenBy[node] = node, own
	return true
}

// explainHall adds a clause: one of the cas that were reached sees a node that was not.
//
// A cas that need not take effect is reached because others have to take effect by
// some time. If it took effect later, they cannot see its value, as if it were
// matched with itself. But everything that it can have seen up to then must be known.
// If it is not, explainHall adds that first, and the matching is tried again.
func (t *theory) explainHall() {
	by := int32(-1)
	for _, own := range t.reached {
		if bound := t.boundOf(own); bound != models.Open {
			by = max(by, bound)
		}
	}
	known := true
	for _, own := range t.reached {
		if t.boundOf(own) == models.Open && t.needs[t.needOf[own]].time < by {
			t.needFor(own, by)
			known = false
		}
	}
	if !known {
		return
	}
	t.lemmas++
	t.lits = t.lits[:0]
	for _, own := range t.reached {
		bound := t.boundOf(own)
		if bound != models.Open {
			t.lits = append(t.lits, cdcl.Neg(t.needs[t.needed[own]].variable))
		}
		for v := t.firstOfReader[t.rowOf[own]]; v != none; v = t.nextOfReader[v] {
			if node := t.node[v]; t.seen[node] != t.now && t.nodeInv[node] < bound {
				t.lits = append(t.lits, cdcl.Pos(v))
			}
		}
	}
	t.s.AddLemma(t.lits...)
}
