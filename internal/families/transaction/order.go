package transaction

import (
	"slices"

	"clew/internal/cdcl"
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
	pos, at       []int32 // by node, by position
	fixed, chosen edges
	lits          []cdcl.Lit // by chosen edge
	low           int32      // positions below it did not change since it was last raised
	work          int64      // how many nodes were reached and edges followed

	mark            []int32 // by node: the stamp of the search that reached it
	by              []int32 // by node: the edge by which it was reached; chosen ones are negative
	stamp           int32
	forward, before []int32 // what a search reached
	moved, path     []int32
}

// edges are the edges of a graph, in lists by their ends.
type edges struct {
	from, to        []int32
	nextOut, nextIn []int32 // by edge
	out, in         []int32 // by node: its last edge, or -1
}

func (e *edges) node() { e.out, e.in = append(e.out, -1), append(e.in, -1) }

func (e *edges) add(from, to int32) {
	i := int32(len(e.from))
	e.from, e.to = append(e.from, from), append(e.to, to)
	e.nextOut, e.nextIn = append(e.nextOut, e.out[from]), append(e.nextIn, e.in[to])
	e.out[from], e.in[to] = i, i
}

// drop removes the last edge.
func (e *edges) drop() {
	i := len(e.from) - 1
	e.out[e.from[i]], e.in[e.to[i]] = e.nextOut[i], e.nextIn[i]
	e.from, e.to, e.nextOut, e.nextIn = e.from[:i], e.to[:i], e.nextOut[:i], e.nextIn[:i]
}

// newNode adds a node. It has no place yet.
func (o *order) newNode() int32 {
	o.pos, o.mark, o.by = append(o.pos, -1), append(o.mark, 0), append(o.by, 0)
	o.fixed.node()
	o.chosen.node()
	return int32(len(o.pos) - 1)
}

// place puts a node at the end.
func (o *order) place(node int32) {
	o.pos[node] = int32(len(o.at))
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
	if o.pos[from] < o.pos[to] {
		return true
	}
	if from == to {
		o.path = o.path[:0]
		return false
	}
	if o.leads(to, from) {
		return false
	}
	o.backward(from, o.pos[to])
	o.low = min(o.low, o.pos[to])
	o.positions(o.pos[to], o.pos[from])
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
		o.pos[node], o.at[p] = p, node
	}
	return true
}

// positions replaces the nodes of before and forward by their positions, in order. These lie in a range, which is looked through
// if many do.
func (o *order) positions(start, end int32) {
	if end-start < mostApart*int32(len(o.before)+len(o.forward)) {
		o.before, o.forward = o.before[:0], o.forward[:0]
		for p := start; p <= end; p++ {
			switch o.mark[o.at[p]] {
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
			nodes[i] = o.pos[node]
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
	end := o.pos[to]
	if o.pos[from] > end {
		return false
	}
	o.stamp++
	o.mark[from] = o.stamp
	o.forward = append(o.forward, from)
	for i := 0; i < len(o.forward); i++ {
		node := o.forward[i]
		o.work++
		for e := o.chosen.out[node]; e >= 0; e = o.chosen.nextOut[e] {
			o.reach(o.chosen.to[e], -1-e, end)
		}
		for e := o.fixed.out[node]; e >= 0; e = o.fixed.nextOut[e] {
			o.reach(o.fixed.to[e], e, end)
		}
		if o.mark[to] == o.stamp {
			o.trace(from, to)
			return true
		}
	}
	return false
}

func (o *order) reach(node, by, end int32) {
	o.work++
	if o.mark[node] != o.stamp && o.pos[node] <= end {
		o.mark[node], o.by[node] = o.stamp, by
		o.forward = append(o.forward, node)
	}
}

// trace sets path to the edges by which a node was reached.
func (o *order) trace(from, to int32) {
	o.path = o.path[:0]
	for node := to; node != from; node = o.begin(o.by[node]) {
		o.path = append(o.path, o.by[node])
	}
}

// begin returns the beginning of an edge of a path.
func (o *order) begin(edge int32) int32 {
	if edge < 0 {
		return o.chosen.from[-1-edge]
	}
	return o.fixed.from[edge]
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
	o.mark[to] = o.stamp
	o.before = append(o.before[:0], to)
	for i := 0; i < len(o.before); i++ {
		node := o.before[i]
		for _, g := range [2]*edges{&o.fixed, &o.chosen} {
			for e := g.in[node]; e >= 0; e = g.nextIn[e] {
				o.work++
				if from := g.from[e]; o.mark[from] != o.stamp && o.pos[from] >= start {
					o.mark[from] = o.stamp
					o.before = append(o.before, from)
				}
			}
		}
	}
}
