package transaction

import (
	"slices"
	"sort"

	"clew/fastpath"
	"clew/models"
)

// # The cycle that is told
//
// An edge is known once both of its transactions and the one that shows it are: when they have returned or, of one that
// crashed, when the one that shows that it happened has. Of all cycles, one whose last edge is known first ends the history
// earliest: usually there is none before. Bisection over the events finds it among the edges that are on cycles at all, which
// are few after one stale read. Of those cycles it is a shortest one through the transaction that returns then.

// cycle returns the rows of a cycle, and what shows its edges, among the nodes that are left, and in real time from an event on.
func (g *graph) cycle(left, returns []int32, passed int32) (rows []models.Row) {
	c := g.left(left, returns, passed)
	c.edges = c.trim(c.to, c.from, c.edges) // what no cycle comes before is gone, and now what none comes after
	c.renumber()
	known := make([]int32, len(c.edges)) // by edge
	for i, e := range c.edges {
		known[i] = max(g.known(c.nodes[c.from[e]]), g.known(c.nodes[c.to[e]]), g.known(c.proofs[e]))
	}
	until := func(event int32) (some []int32) {
		for i, e := range c.edges {
			if known[i] <= event {
				some = append(some, e)
			}
		}
		return c.trim(c.from, c.to, some)
	}
	events := slices.Compact(slices.Sorted(slices.Values(known)))
	event := events[sort.Search(len(events)-1, func(i int) bool { return len(until(events[i])) > 0 })]
	some := until(event)
	some = c.trim(c.to, c.from, some)
	start := c.from[some[0]]
	for _, e := range some {
		if g.known(c.nodes[c.from[e]]) == event {
			start = c.from[e]
		}
	}
	for _, e := range c.shortest(some, start) {
		if node := c.nodes[c.from[e]]; int(node) < g.in.Len() {
			rows = append(rows, node)
		}
		if proof := c.proofs[e]; proof >= 0 {
			rows = append(rows, proof)
		}
	}
	return rows
}

// realTime adds the edges from returns to later invocations, from an event on.
func (g *graph) realTime(returns []int32, from int32) {
	last := int32(-1)
	row, _ := slices.BinarySearch(g.in.Inv, from)
	for t := from; t < g.in.Events; t++ {
		if row < g.in.Len() && g.in.Inv[row] == t {
			if g.happened[row] {
				g.edge(last, models.Row(row), -1)
			}
			row++
		} else if r := returns[t]; r > 0 {
			g.edge(r-1, g.nodes, -1)
			g.edge(last, g.nodes, -1)
			last = g.nodes
			g.nodes++
		}
	}
}

// known returns the event by which it is known that a row happened, or -1 for other nodes.
func (g *graph) known(row models.Row) int32 {
	if row < 0 || int(row) >= g.in.Len() {
		return -1
	}
	for g.in.Res[row] == models.Open {
		row = g.because[row]
	}
	return g.in.Res[row]
}

// part is a part of a graph with nodes and edges of its own.
type part struct {
	nodes    []int32      // of the graph
	from, to []int32      // by edge
	proofs   []models.Row // by edge: the row that shows it, or -1
	edges    []int32      // those that are left
}

// left returns the part of the graph that has the nodes that are left, and a node for each return from an event on.
func (g *graph) left(left, returns []int32, passed int32) *part {
	c := &part{}
	number := make([]int32, len(left)+len(returns))
	of := func(node int32) int32 {
		if number[node] == 0 {
			c.nodes = append(c.nodes, node)
			number[node] = int32(len(c.nodes))
		}
		return number[node] - 1
	}
	isLeft := func(node int32) bool { return int(node) >= len(left) || left[node] > 0 }
	g.edges(func(from, to int32, proof models.Row) {
		if isLeft(from) && isLeft(to) {
			c.edges = append(c.edges, int32(len(c.from)))
			c.from, c.to, c.proofs = append(c.from, of(from)), append(c.to, of(to)), append(c.proofs, proof)
		}
	})
	g.realTime(returns, passed)
	return c
}

// renumber drops the edges that are not left, and nodes without any.
func (c *part) renumber() {
	small := &part{}
	number := make([]int32, len(c.nodes))
	of := func(node int32) int32 {
		if number[node] == 0 {
			small.nodes = append(small.nodes, c.nodes[node])
			number[node] = int32(len(small.nodes))
		}
		return number[node] - 1
	}
	for i, e := range c.edges {
		small.proofs, small.edges = append(small.proofs, c.proofs[e]), append(small.edges, int32(i))
		small.from, small.to = append(small.from, of(c.from[e])), append(small.to, of(c.to[e]))
	}
	*c = *small
}

// trim returns the edges whose beginning some cycle of these edges comes before: none if there is no cycle.
func (c *part) trim(from, to, edges []int32) []int32 {
	out := fastpath.GroupBy(len(edges), int32(len(c.nodes)), func(i int32) int32 { return from[edges[i]] })
	left := make([]int32, len(c.nodes)) // by node: edges to it
	for _, e := range edges {
		left[to[e]]++
	}
	var todo []int32
	for node, n := range left {
		if n == 0 {
			todo = append(todo, int32(node))
		}
	}
	for i := 0; i < len(todo); i++ {
		for _, at := range out.Of(todo[i]) {
			node := to[edges[at]]
			if left[node]--; left[node] == 0 {
				todo = append(todo, node)
			}
		}
	}
	var some []int32
	for _, e := range edges {
		if left[from[e]] > 0 {
			some = append(some, e)
		}
	}
	return some
}

// shortest returns the edges of a shortest cycle through a node if there is one, else through another node.
func (c *part) shortest(edges []int32, start int32) []int32 {
	out := fastpath.GroupBy(len(edges), int32(len(c.nodes)), func(i int32) int32 { return c.from[edges[i]] })
	for {
		by := make([]int32, len(c.nodes)) // by node: the edge by which it was reached, plus 1
		todo := []int32{start}
		for i := 0; i < len(todo) && by[start] == 0; i++ {
			for _, at := range out.Of(todo[i]) {
				if node := c.to[edges[at]]; by[node] == 0 {
					by[node] = edges[at] + 1
					todo = append(todo, node)
				}
			}
		}
		if by[start] == 0 { // it only leads to cycles: go on from one that it leads to
			start = todo[len(todo)-1]
			continue
		}
		var cycle []int32
		for node := start; len(cycle) == 0 || node != start; node = c.from[cycle[len(cycle)-1]] {
			cycle = append(cycle, by[node]-1)
		}
		slices.Reverse(cycle)
		return cycle
	}
}
