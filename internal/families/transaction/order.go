package transaction

import (
	"slices"

	"clew/internal/cdcl"
	"clew/internal/hugepages"
)

// order is a topological order of a graph that grows, and of which parts are taken back.
//
// It is repaired for each edge that contradicts it (Pearce and Kelly, "A dynamic topological sort algorithm for directed
// acyclic graphs", 2006): only the nodes between both ends are moved that the edge's end leads to, or that lead to its
// beginning. Here they are few, since edges join what is near in time. An edge that would close a cycle is not added. To
// take an edge back leaves the order as it is.
//
// Fixed edges stay. A chosen edge holds because a literal does. They are taken back in the reverse order.
type order struct {
	nodes         []node
	at            []int32 // by position: the node there
	fixed, chosen edges
	lits          []cdcl.Lit // by chosen edge
	low           int32      // positions below it did not change since it was last raised
	work          int64      // how many nodes were reached and edges followed

	stamp           int32   // of the latest search
	forward, before []int32 // what a search reached
	moved, path     []int32
}

// node is a node: its position, or -1, the stamp of the search that reached it, and the edge by which it did; chosen ones
// are negative.
type node struct{ pos, mark, by int32 }

// edges are the edges of a graph, in lists by their ends.
type edges struct {
	all  []edge
	next []ends // by edge: the edges before it in both lists
	last []ends // by node: its last edges
}

type edge struct{ from, to int32 }

// ends are an edge out of a node and one into a node, or -1.
type ends struct{ out, in int32 }

func (e *edges) add(from, to int32) {
	i := int32(len(e.all))
	e.all, e.next = append(e.all, edge{from, to}), append(e.next, ends{e.last[from].out, e.last[to].in})
	e.last[from].out, e.last[to].in = i, i
}

// drop removes the last edge.
func (e *edges) drop() {
	i := len(e.all) - 1
	e.last[e.all[i].from].out, e.last[e.all[i].to].in = e.next[i].out, e.next[i].in
	e.all, e.next = e.all[:i], e.next[:i]
}

// reserve makes room for more nodes and fixed edges.
func (o *order) reserve(nodes, fixed int) {
	o.nodes, o.at = hugepages.Grow(o.nodes, nodes), hugepages.Grow(o.at, nodes)
	o.fixed.last, o.chosen.last = hugepages.Grow(o.fixed.last, nodes), hugepages.Grow(o.chosen.last, nodes)
	o.fixed.all, o.fixed.next = hugepages.Grow(o.fixed.all, fixed), hugepages.Grow(o.fixed.next, fixed)
}

// newNode adds a node. It has no place yet.
func (o *order) newNode() int32 {
	o.nodes = append(o.nodes, node{pos: -1})
	o.fixed.last, o.chosen.last = append(o.fixed.last, ends{-1, -1}), append(o.chosen.last, ends{-1, -1})
	return int32(len(o.nodes) - 1)
}

// place puts a node at the end.
func (o *order) place(node int32) {
	o.nodes[node].pos = int32(len(o.at))
	o.at = append(o.at, node)
}

// fix adds a fixed edge, unless it closes a cycle. Then path holds the edges of the rest of the cycle.
func (o *order) fix(from, to int32) bool {
	if !o.prepare(from, to) {
		return false
	}
	o.fixed.add(from, to)
	return true
}

// choose does so with a chosen edge.
func (o *order) choose(from, to int32, l cdcl.Lit) bool {
	if !o.prepare(from, to) {
		return false
	}
	o.chosen.add(from, to)
	o.lits = append(o.lits, l)
	return true
}

// takeBack removes the last chosen edge.
func (o *order) takeBack() {
	o.chosen.drop()
	o.lits = o.lits[:len(o.lits)-1]
}

// prepare makes the order one in which from comes before to.
func (o *order) prepare(from, to int32) bool {
	first, last := o.nodes[to].pos, o.nodes[from].pos
	if last < first {
		return true
	}
	if from == to {
		o.path = o.path[:0]
		return false
	}
	if o.leads(to, from) {
		return false
	}
	o.backward(from, first)
	o.low = min(o.low, first)
	o.positions(first, last)
	o.moved = o.moved[:0]
	for _, positions := range [2][]int32{o.before, o.forward} {
		for _, p := range positions {
			o.moved = append(o.moved, o.at[p])
		}
	}
	i, j := 0, 0 // the next position that is free
	for _, node := range o.moved {
		p := int32(0)
		if j == len(o.forward) || i < len(o.before) && o.before[i] < o.forward[j] {
			p = o.before[i]
			i++
		} else {
			p = o.forward[j]
			j++
		}
		o.nodes[node].pos, o.at[p] = p, node
	}
	return true
}

// positions replaces the nodes of before and forward by their positions, in order. These lie in a range, which is looked through
// if many do.
func (o *order) positions(start, end int32) {
	if end-start < mostApart*int32(len(o.before)+len(o.forward)) {
		o.before, o.forward = o.before[:0], o.forward[:0]
		for p := start; p <= end; p++ {
			switch o.nodes[o.at[p]].mark {
			case o.stamp:
				o.before = append(o.before, p)
			case o.stamp - 1:
				o.forward = append(o.forward, p)
			}
		}
		return
	}
	for _, nodes := range [2][]int32{o.before, o.forward} {
		for i, node := range nodes {
			nodes[i] = o.nodes[node].pos
		}
		slices.Sort(nodes)
	}
}

// mostApart bounds the positions that are looked at for each node that is there. If there are more, sorting takes less time.
const mostApart = 16

// leads says whether a path leads from one node to another. If so, path holds the edges of a short one, the last first.
// Otherwise forward holds the nodes reached that stand before the other.
func (o *order) leads(from, to int32) bool {
	o.forward = o.forward[:0]
	end := o.nodes[to].pos
	if o.nodes[from].pos > end {
		return false
	}
	o.stamp++
	o.nodes[from].mark = o.stamp
	o.forward = append(o.forward, from)
	for i := 0; i < len(o.forward); i++ {
		node := o.forward[i]
		o.work++
		for e := o.chosen.last[node].out; e >= 0; e = o.chosen.next[e].out {
			o.reach(o.chosen.all[e].to, -1-e, end)
		}
		for e := o.fixed.last[node].out; e >= 0; e = o.fixed.next[e].out {
			o.reach(o.fixed.all[e].to, e, end)
		}
		if o.nodes[to].mark == o.stamp {
			o.trace(from, to)
			return true
		}
	}
	return false
}

func (o *order) reach(node, by, end int32) {
	o.work++
	if x := &o.nodes[node]; x.mark != o.stamp && x.pos <= end {
		x.mark, x.by = o.stamp, by
		o.forward = append(o.forward, node)
	}
}

// trace sets path to the edges by which a node was reached.
func (o *order) trace(from, to int32) {
	o.path = o.path[:0]
	for node := to; node != from; node = o.begin(o.nodes[node].by) {
		o.path = append(o.path, o.nodes[node].by)
	}
}

// begin returns the beginning of an edge of a path.
func (o *order) begin(edge int32) int32 {
	if edge < 0 {
		return o.chosen.all[-1-edge].from
	}
	return o.fixed.all[edge].from
}

// literals appends the negations of the literals by which the edges of path hold.
func (o *order) literals(dst []cdcl.Lit) []cdcl.Lit {
	for _, e := range o.path {
		if e < 0 {
			dst = append(dst, o.lits[-1-e].Not())
		}
	}
	return dst
}

// backward sets before to the nodes that lead to one and do not stand before a position.
func (o *order) backward(to, start int32) {
	o.stamp++
	o.nodes[to].mark = o.stamp
	o.before = append(o.before[:0], to)
	for i := 0; i < len(o.before); i++ {
		node := o.before[i]
		for _, g := range [2]*edges{&o.fixed, &o.chosen} {
			for e := g.last[node].in; e >= 0; e = g.next[e].in {
				o.work++
				from := g.all[e].from
				if x := &o.nodes[from]; x.mark != o.stamp && x.pos >= start {
					x.mark = o.stamp
					o.before = append(o.before, from)
				}
			}
		}
	}
}
