package howfar

import (
	"slices"

	"clew/models"
	"clew/report"
)

// # Sessions
//
// Decides the guarantees of sessions on registers, as docs/guarantees.md defines them. Updates have an order of their own: the
// initial value is first, those of a client are in its order, and each comes after what its client had seen before it.
//
// Monotonic reads ask for a line of versions that keeps this, and along which each client goes forward in what it sees. Read
// your writes ask the same of what a client sees after its own updates. Each pair is an edge between versions, and a line
// exists iff no two of them lie on a cycle. What a client has seen so far is one more node, and so is what it has left so far.
// So there are few edges.
//
// Monotonic writes and writes follow reads ask that what observers see does not contradict the order of updates.
//
// Both kinds of edges together, and no version between the two of a cas: then and only then the operations on the register
// have an order that keeps each client's and is possible. In one direction, take the operations version by version, each update
// before those that saw what it left. In the other, the order of updates is one of versions.
//
// Cost: O(n log n), and O(n C) for C clients that see the same version.

// session is a set of guarantees.
type session uint8

const (
	monotonicReads session = 1 << iota
	readYourWrites
)

// sessions returns which guarantees of sessions hold.
func (v *versions) sessions() map[report.Guarantee]bool {
	if v.orphan {
		return nil
	}
	holds := func(s session) bool {
		g, ok := v.relate(s)
		return ok && v.acyclic(g, nil)
	}
	writes, reads := v.observed()
	return map[report.Guarantee]bool{
		report.MonotonicReads:    holds(monotonicReads),
		report.ReadYourWrites:    holds(readYourWrites),
		report.MonotonicWrites:   writes,
		report.WritesFollowReads: reads && holds(0),
	}
}

// observed says whether every client sees the updates of any other in their order, and also what that had seen before them.
func (v *versions) observed() (writes, reads bool) {
	type who struct{ observer, key, client int32 }
	latest := map[who]int32{} // of the updates that an observer has seen of a client: when the last one began
	type had struct{ observer, version int32 }
	seen := map[had]bool{}
	before := make([]map[int32]int32, v.count) // by version and client: when the client had first seen it
	next := make([][]int32, v.count)           // by version: those that cas operations left instead
	for _, x := range v.ops {
		v.poll()
		if x.saw < 0 {
			continue
		}
		if before[x.saw] == nil {
			before[x.saw] = map[int32]int32{}
		}
		if at, any := before[x.saw][x.client]; !any || x.res < at {
			before[x.saw][x.client] = x.res
		}
		if x.left >= 0 {
			next[x.saw] = append(next[x.saw], x.left)
		}
	}
	writes, reads = true, true
	for _, e := range v.events() {
		v.poll()
		x := &v.ops[e.op]
		if x.saw < 0 {
			continue
		}
		w := v.writer[x.saw]
		if e.returns {
			seen[had{x.client, x.saw}] = true
			if w >= 0 {
				by := who{x.client, x.key, v.ops[w].client}
				latest[by] = max(latest[by], v.ops[w].inv)
			}
			continue
		}
		writes = writes && (w < 0 || v.ops[w].res >= latest[who{x.client, x.key, v.ops[w].client}])
		for client, at := range before[x.saw] {
			reads = reads && at >= latest[who{x.client, x.key, client}]
		}
		for _, later := range next[x.saw] {
			reads = reads && !seen[had{x.client, later}]
		}
	}
	return writes, reads
}

// perKey says whether each register by itself has an order of all operations that keeps each client's and is possible.
func (v *versions) perKey() bool {
	g, ok := v.relate(monotonicReads | readYourWrites)
	if !ok || v.orphan || !v.acyclic(g, nil) {
		return false
	}
	// The versions of a chain of cas operations are one.
	next, first := make([]bool, v.count), make([]int32, v.count)
	for i := range first {
		first[i] = int32(i)
	}
	root := func(version int32) int32 {
		for first[version] != version {
			first[version] = first[first[version]]
			version = first[version]
		}
		return version
	}
	chains := false
	for _, x := range v.ops {
		if x.saw < 0 || x.left < 0 {
			continue
		}
		chains = true
		if next[x.saw] {
			return false // two cas operations replaced it
		}
		next[x.saw] = true
		first[root(x.left)] = root(x.saw)
	}
	return !chains || v.acyclic(g, root)
}

// graph has the versions, and then other nodes.
type graph [][]int32

func (g *graph) node() int32 {
	*g = append(*g, nil)
	return int32(len(*g) - 1)
}

func (g graph) edge(from, to int32) { g[from] = append(g[from], to) }

// relate returns the pairs of versions that are ordered by updates, and by a choice of guarantees. It returns false if a client
// left a version that it had seen before.
func (v *versions) relate(s session) (g graph, ok bool) {
	g = make(graph, v.count)
	for version, key := range v.keyOf {
		if first := v.initial[key]; first != int32(version) {
			g.edge(first, int32(version))
		}
	}
	type who struct{ client, key int32 }
	type had struct{ client, version int32 }
	saw, left, again := map[who]int32{}, map[who]int32{}, map[had]bool{}
	follow := func(node map[who]int32, w who, version int32) {
		if before, any := node[w]; any && version >= 0 {
			g.edge(before, version)
		}
	}
	note := func(node map[who]int32, w who, version int32) {
		if version < 0 {
			return
		}
		n := g.node()
		if before, any := node[w]; any {
			g.edge(before, n)
		}
		g.edge(version, n)
		node[w] = n
	}
	for _, e := range v.events() {
		v.poll()
		x := &v.ops[e.op]
		w := who{x.client, x.key}
		if e.returns {
			note(saw, w, x.saw)
			note(left, w, x.left)
			if x.saw >= 0 {
				again[had{x.client, x.saw}] = true
			}
			continue
		}
		if s&monotonicReads != 0 {
			follow(saw, w, x.saw)
		}
		if s&readYourWrites != 0 {
			follow(left, w, x.saw)
		}
		follow(left, w, x.left)
		follow(saw, w, x.left)
		if x.left >= 0 && again[had{x.client, x.left}] {
			return nil, false
		}
		if x.left >= 0 && x.saw >= 0 {
			g.edge(x.saw, x.left)
		}
	}
	return g, true
}

// event is a call or a return.
type event struct {
	op      int32
	returns bool
}

// events returns the calls and returns in order.
func (v *versions) events() (events []event) {
	last := int32(-1)
	for _, x := range v.ops {
		if last = max(last, x.inv); x.res != models.Open {
			last = max(last, x.res)
		}
	}
	at := make([]event, last+1) // their operations plus 1
	for i, x := range v.ops {
		v.poll()
		if at[x.inv] = (event{int32(i) + 1, false}); x.res != models.Open {
			at[x.res] = event{int32(i) + 1, true}
		}
	}
	for _, e := range at {
		if e.op > 0 {
			events = append(events, event{e.op - 1, e.returns})
		}
	}
	return events
}

// acyclic says whether no two versions that are not one lie on a cycle. It finds the strongly connected components (Tarjan).
func (v *versions) acyclic(g graph, one func(version int32) int32) bool {
	if one != nil {
		g = v.joined(g, one)
	}
	for _, component := range v.components(g) {
		if versions := slices.IndexFunc(component, func(n int32) bool { return n < v.count }); versions >= 0 &&
			slices.ContainsFunc(component[versions+1:], func(n int32) bool { return n < v.count }) {
			return false
		}
	}
	return true
}

// joined returns a graph in which several versions may be one node.
func (v *versions) joined(g graph, one func(version int32) int32) graph {
	node := func(n int32) int32 {
		if n < v.count {
			return one(n)
		}
		return n
	}
	whole := make(graph, len(g))
	for from, edges := range g {
		v.poll()
		for _, to := range edges {
			whole.edge(node(int32(from)), node(to))
		}
	}
	return whole
}

// components returns the strongly connected components of a graph.
func (v *versions) components(g graph) (all [][]int32) {
	number, low := make([]int32, len(g)), make([]int32, len(g))
	next := make([]int32, len(g)) // by node: its next edge
	var path, open []int32
	var count int32
	on := make([]bool, len(g))
	for start := range g {
		if number[start] > 0 {
			continue
		}
		path = append(path, int32(start))
		for len(path) > 0 {
			v.poll()
			n := path[len(path)-1]
			if number[n] == 0 {
				count++
				number[n], low[n], on[n] = count, count, true
				open = append(open, n)
			}
			if int(next[n]) < len(g[n]) {
				to := g[n][next[n]]
				next[n]++
				if number[to] == 0 {
					path = append(path, to)
				} else if on[to] {
					low[n] = min(low[n], number[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				low[up] = min(low[up], low[n])
			}
			if low[n] < number[n] {
				continue
			}
			at := len(open) - 1
			for open[at] != n {
				at--
			}
			for _, m := range open[at:] {
				on[m] = false
			}
			if len(open[at:]) > 1 {
				all = append(all, slices.Clone(open[at:]))
			}
			open = open[:at]
		}
	}
	return all
}
