package isolation

import (
	"cmp"
	"slices"
	"strings"
)

// # Cycles and their names
//
// Decides: which kinds of cycles a graph has, with a short cycle of each.
//
// A cycle is named as Elle names it, by the worst of what it needs: G0 has only WW; G1c has WR; G-single-item has one RW;
// G-nonadjacent-item has several, none next to another; G2-item has any. It ends in -process or -realtime if it needs such an
// edge.
//
// Cost: linear for each kind, and for making cycles shorter at most searchWork steps in all. Whether a component has a kind is
// exact, but for G-single-item in components where that bound is reached: there it may be told as G-nonadjacent-item.
//
// Lemma 1. A graph has a cycle without adjacent RW, other than of Process or Time alone, if and only if the split view has a
// cycle: in the split view RW leads from a snapshot to a commit, from which only other edges lead on.

// Step is an edge between two transactions. It may stand for a path over other nodes.
type Step struct {
	From, To int32
	Why      Relation
	Key      int32
	Value    int32
}

// Cycle is a cycle: each step begins where the one before ends.
type Cycle struct {
	Steps []Step
	Kind  string
}

// The kinds of cycles without a suffix, worst first.
var cycleKinds = []struct {
	name  string
	of    Relation
	split bool // no two RW are adjacent
	once  bool // there is one RW
}{
	{name: "G0", of: WW},
	{name: "G1c", of: WW | WR},
	{name: "G-single-item", of: WW | WR | RW, split: true, once: true},
	{name: "G-nonadjacent-item", of: WW | WR | RW, split: true},
	{name: "G2-item", of: WW | WR | RW},
}

// suffixes are those of kinds of cycles, with the relation that they add.
var suffixes = []struct {
	name string
	of   Relation
}{{"", 0}, {"-process", Process}, {"-realtime", Time}}

// kindOf names a cycle.
func kindOf(steps []Step) string {
	var all Relation
	rw, adjacent := 0, false
	for i, s := range steps {
		all |= s.Why
		if s.Why == RW {
			rw++
			adjacent = adjacent || steps[(i+1)%len(steps)].Why == RW
		}
	}
	kind := "G0"
	switch {
	case rw > 1 && adjacent:
		kind = "G2-item"
	case rw > 1:
		kind = "G-nonadjacent-item"
	case rw == 1 || all&First != 0: // two that are First are RW and WW in one order or the other
		kind = "G-single-item"
	case all&WR != 0:
		kind = "G1c"
	}
	switch {
	case all&(Time|KeyTime) != 0:
		return kind + "-realtime"
	case all&Process != 0:
		return kind + "-process"
	}
	return kind
}

// split returns a kind of cycle without its suffix, and the place of that.
func split(kind string) (base string, suffix int) {
	for i, s := range suffixes[1:] {
		if base, is := strings.CutSuffix(kind, s.name); is {
			return base, i + 1
		}
	}
	return kind, 0
}

// impliedKinds returns the kinds that a kind of cycle implies, itself included.
func impliedKinds(kind string) []string {
	base, suffix := split(kind)
	var all []string
	for _, b := range map[string][]string{
		"G0": {"G0", "G1c"}, "G1c": {"G1c"}, "G2-item": {"G2-item"},
		"G-single-item":      {"G-single-item", "G-nonadjacent-item", "G2-item"},
		"G-nonadjacent-item": {"G-nonadjacent-item", "G2-item"},
	}[base] {
		for _, s := range suffixes[suffix:] {
			all = append(all, b+s.name)
		}
	}
	return all
}

// searchWork bounds the edges that are followed to make cycles shorter.
const searchWork = 4_000_000

// search looks for short cycles in a view.
type search struct {
	v      *view
	of     []int32 // components
	left   *int64  // work
	stamp  int32
	seen   []int32 // by node: the stamp of the search that has reached it
	before []int32 // by node: where that came from
	by     []int32 // and by which edge
	now    []int32
	next   []int32
}

func newSearch(v *view, of []int32, left *int64) *search {
	n := v.len()
	return &search{v: v, of: of, left: left, seen: make([]int32, n), before: make([]int32, n), by: make([]int32, n)}
}

// cycle returns a short cycle in a component, whose members it gets. If once, it has one RW. It returns nil if there is none.
func (s *search) cycle(members []int32, once bool) []Step {
	var best []Step
	for _, x := range members {
		txn := s.v.node(x)
		if txn >= s.v.g.Txns || s.v.split && once != (x%2 == 0) {
			continue
		}
		if (best != nil || once) && *s.left < 0 {
			break
		}
		most := int32(len(best)) - 1
		if best == nil {
			most = s.v.len()
		}
		if steps := s.around(x, most, once); steps != nil {
			if best = steps; len(best) == 2 {
				break
			}
		}
	}
	return best
}

// around returns the shortest cycle through a node, of at most so many steps. If once, it begins with the only RW.
func (s *search) around(start, most int32, once bool) []Step {
	v := s.v
	s.stamp++
	s.now, s.next = append(s.now[:0], start), s.next[:0]
	for steps := int32(0); len(s.now) > 0 && steps <= most; steps++ {
		for len(s.now) > 0 {
			x := s.now[len(s.now)-1]
			s.now = s.now[:len(s.now)-1]
			begins := steps == 0 && x == start
			for i := v.first[x]; i < v.first[x+1]; i++ {
				y, e := v.to[i], v.edge[i]
				*s.left--
				if s.of[y] != s.of[start] || s.seen[y] == s.stamp || once && begins != (e >= 0 && v.g.Edges[e].Why == RW) {
					continue
				}
				s.seen[y], s.before[y], s.by[y] = s.stamp, x, e
				step := e >= 0 && v.node(y) < v.g.Txns
				switch {
				case y == start && (!step || steps < most):
					return s.steps(start)
				case step:
					s.next = append(s.next, y)
				default:
					s.now = append(s.now, y)
				}
			}
		}
		s.now, s.next = s.next, s.now
	}
	return nil
}

// steps returns the cycle that has been found, from the transaction that was called first.
func (s *search) steps(start int32) (steps []Step) {
	g := s.v.g
	var edges []int32
	for x, first := start, true; first || x != start; first = false {
		if s.by[x] >= 0 {
			edges = append(edges, s.by[x])
		}
		x = s.before[x]
	}
	slices.Reverse(edges)
	for _, i := range edges {
		e := g.Edges[i]
		if e.From < g.Txns {
			steps = append(steps, Step(e))
			continue
		}
		last := &steps[len(steps)-1]
		last.To = e.To
		if last.Value < 0 {
			last.Value = e.Value
		}
	}
	least := 0
	for i := range steps {
		if steps[i].From < steps[least].From {
			least = i
		}
	}
	return append(slices.Clone(steps[least:]), steps[:least]...)
}

// dense returns a graph with the nodes of components and the edges inside them, but for an RW beside a WW or WR, which says more. By
// its nodes, it also returns the component and the node of g, which ascends.
func (g *Graph) dense(members [][]int32) (d *Graph, component, nodes []int32) {
	nodes = slices.Sorted(slices.Values(slices.Concat(members...)))
	txns, _ := slices.BinarySearch(nodes, g.Txns)
	d = &Graph{Txns: int32(txns), Nodes: int32(len(nodes))}
	number := slices.Repeat([]int32{-1}, int(g.Nodes))
	for i, x := range nodes {
		number[x] = int32(i)
	}
	component = make([]int32, len(nodes))
	for c, m := range members {
		for _, x := range m {
			component[number[x]] = int32(c)
		}
	}
	for _, e := range g.Edges {
		if e.From, e.To = number[e.From], number[e.To]; e.From >= 0 && e.To >= 0 && component[e.From] == component[e.To] {
			d.Edges = append(d.Edges, e)
		}
	}
	slices.SortStableFunc(d.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Why, b.Why))
	})
	says := Edge{From: -1}
	d.Edges = slices.DeleteFunc(d.Edges, func(e Edge) bool {
		if e.Why&(WW|WR) != 0 {
			says = e
		}
		return e.Why == RW && e.From == says.From && e.To == says.To
	})
	return d, component, nodes
}

// cycles returns cycles of all kinds. Of each component of the graph, it returns those kinds that do not follow from another one.
func (g *Graph) cycles(left *int64) (all []Cycle) {
	whole := g.view(WW|WR|RW|Process|Time, false)
	of, n := whole.components()
	members := cyclic(of, n)
	if len(members) == 0 {
		return nil
	}
	g, component, nodes := g.dense(members)
	found := make([][]string, len(members)) // by component: the kinds that follow from what was found
	for _, suffix := range suffixes {
		for _, kind := range cycleKinds {
			v := g.view(kind.of|suffix.of, kind.split)
			of, n := v.components()
			s := newSearch(v, of, left)
			for _, m := range cyclic(of, n) {
				c := component[v.node(m[0])]
				if slices.Contains(found[c], kind.name+suffix.name) {
					continue
				}
				if steps := s.cycle(m, kind.once); steps != nil {
					x := Cycle{steps, kindOf(steps)}
					if slices.Contains(found[c], x.Kind) {
						continue // it needs less than this kind
					}
					for i := range steps {
						steps[i].From, steps[i].To = nodes[steps[i].From], nodes[steps[i].To]
					}
					found[c] = append(found[c], impliedKinds(x.Kind)...)
					all = append(all, x)
				}
			}
		}
	}
	return all
}

// shortest returns a short cycle of a view, or nil.
func (v *view) shortest(of []int32, n int32, left *int64) *Cycle {
	var best []Step
	s := newSearch(v, of, left)
	for _, m := range cyclic(of, n) {
		if steps := s.cycle(m, false); best == nil || steps != nil && len(steps) < len(best) {
			best = steps
		}
	}
	if best == nil {
		return nil
	}
	return &Cycle{best, kindOf(best)}
}
