package matching

import (
	"math"

	"clew/internal/cdcl"
	"clew/models"
)

// newVar returns a variable of a group.
func (t *theory) newVar(group, reader, node int32) int32 {
	v := t.s.NewVar(group)
	t.reader, t.node = append(t.reader, reader), append(t.node, node)
	t.nextOfNode, t.nextOfReader = append(t.nextOfNode, none), append(t.nextOfReader, none)
	return v
}

// newSaw returns the variable "row saw node".
func (t *theory) newSaw(row, node int32) int32 {
	v := t.newVar(t.groupOf[row], row, node)
	t.nextOfNode[v], t.nextOfReader[v] = t.firstOfNode[node], t.firstOfReader[row]
	t.firstOfNode[node], t.firstOfReader[row] = v, v
	if isLink(t.ops.Op(row)) {
		return v
	}
	for s, of := range t.thresholdsOf {
		at := of[node]
		for at != none && t.thresholds[at].key < t.key(side(s), row) {
			at = t.thresholds[at].next
		}
		if at != none {
			t.s.AddClause(cdcl.Neg(v), cdcl.Pos(t.thresholds[at].variable))
		}
	}
	return v
}

// group makes the group of a row if it has none.
func (t *theory) group(row int32) {
	if t.groupOf[row] == none {
		t.groupOf[row] = t.s.NewGroup()
		t.rowOfGroup = append(t.rowOfGroup, row)
		if own := t.nodeOf[row]; own != none {
			t.matchFirst(own)
		}
	}
}

// open opens a reader that returned for decision: it saw one of the nodes that it
// can have seen.
func (t *theory) open(row int32) {
	if isLink(t.ops.Op(row)) {
		// It has returned, so it has a source.
		t.s.AddClause(cdcl.Pos(t.needFor(t.nodeOf[row], t.res[row])))
		return
	}
	t.group(row)
	var some []cdcl.Lit
	t.each(row, -1, t.res[row], func(node int32) bool {
		some = append(some, cdcl.Pos(t.newSaw(row, node)))
		return true
	})
	for _, l := range some {
		if node := t.node[l.Var()]; t.isOptional(node) {
			t.s.AddClause(l.Not(), cdcl.Pos(t.needFor(node, t.horizon)))
		}
	}
	t.s.AddClause(some...)
}

// needFor returns the variable that says that a cas took effect before a time.
// What it saw was invoked before that time, too. (The reverse does not hold: what
// was invoked before may have taken effect later.)
func (t *theory) needFor(node, time int32) int32 {
	row := t.rowOf[node]
	t.group(row)
	later, earlier := none, t.needOf[node] // the list descends
	for earlier != none && t.needs[earlier].time > time {
		later, earlier = earlier, t.needs[earlier].earlier
	}
	if earlier != none && t.needs[earlier].time == time {
		return t.needs[earlier].variable
	}
	at := int32(len(t.needs))
	v, source := t.newVar(cdcl.NoGroup, isNeed, at), t.newVar(cdcl.NoGroup, isAuxiliary, none)
	t.needs = append(t.needs, need{v, source, node, time, earlier})
	t.s.AddClause(cdcl.Neg(v), cdcl.Pos(source))
	some := []cdcl.Lit{cdcl.Neg(source)}
	since := int32(-1)
	if earlier != none {
		t.s.AddClause(cdcl.Neg(t.needs[earlier].variable), cdcl.Pos(v))
		some = append(some, cdcl.Pos(t.needs[earlier].source))
		since = t.needs[earlier].time
	}
	if later == none {
		t.needOf[node] = at
		t.each(row, since, time, func(n int32) bool {
			some = append(some, cdcl.Pos(t.newSaw(row, n)))
			return true
		})
	} else {
		t.needs[later].earlier = at
		t.s.AddClause(cdcl.Neg(v), cdcl.Pos(t.needs[later].variable))
		for x := t.firstOfReader[row]; x != none; x = t.nextOfReader[x] {
			if inv := t.nodeInv[t.node[x]]; inv >= since && inv < time {
				some = append(some, cdcl.Pos(x))
			}
		}
	}
	t.s.AddClause(some...)
	return v
}

// Choose implements cdcl.Theory. It returns the node that a reader saw before,
// otherwise the one whose chain grows least.
func (t *theory) Choose(group int32) (cdcl.Lit, bool) {
	row := t.rowOfGroup[group]
	if t.sees[row] != none {
		return 0, false
	}
	bound := models.Open
	if node := t.nodeOf[row]; node != none {
		if t.needed[node] == none {
			return 0, false
		}
		bound = t.needs[t.needed[node]].time
	}
	if v := t.before[row]; v != none && !t.NoPhases && t.s.Value(cdcl.Pos(v)) == 0 && t.nodeInv[t.node[v]] < bound {
		return cdcl.Pos(v), true
	}
	best, least := none, int64(math.MaxInt64)
	for v := t.firstOfReader[row]; v != none; v = t.nextOfReader[v] {
		node := t.node[v]
		if t.s.Value(cdcl.Pos(v)) != 0 || t.nodeInv[node] >= bound {
			continue
		}
		if node == t.wish[row] && t.before[row] == none {
			return cdcl.Pos(v), true
		}
		if cost := t.cost(row, node); cost < least {
			best, least = v, cost
		}
	}
	if best == none {
		panic("matching: nothing is left to choose")
	}
	return cdcl.Pos(best), true
}

// clashes is the cost of a choice that is known to fail.
const clashes = math.MaxInt64 - 1

// cost returns by how much a chain grows if a row sees a node.
func (t *theory) cost(row, node int32) int64 {
	if t.NoZoneChoice {
		return -int64(node)
	}
	root, other := t.root(node), none
	first, last := t.res[row], t.inv[row]
	before := max(0, int64(t.end[root])-int64(t.first[root]))
	if own := t.nodeOf[row]; own != none {
		other = t.root(own)
		first, last = t.first[other], t.end[other]
		if t.next[node] != none || other == root || first < t.end[root] {
			return clashes
		}
		before += max(0, int64(last)-int64(first))
	} else if t.outOfOrder(node, last, first) != none {
		return clashes
	}
	first, last = min(first, t.first[root]), max(last, t.end[root])
	if t.clash(first, last, root, other) != none {
		return clashes
	}
	after := int64(last) - int64(first)
	return (max(0, after)-before)<<32 + after
}
