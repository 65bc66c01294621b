package isolation

import "clew/internal/hugepages"

// # Dependency graphs
//
// An edge says that one transaction comes before another one, and why. Some nodes are not transactions: "after whatever
// returned so far" and "after the last version of this key that is known" each have a node, so that a relation of many to
// many needs no more edges than transactions. A path over them is one step of a cycle.
//
// Rests on: Adya, "Weak consistency", 1999, and Kingsbury and Alvaro, "Elle: inferring isolation anomalies from experimental
// observations", VLDB 2020.

// Relation says why a transaction comes before another one. Several make a set.
type Relation uint8

// The relations. The next version of a key is that of the next transaction that updates it.
const (
	WW      Relation = 1 << iota // the other one made the next version of a key
	WR                           // the other one read its version
	RW                           // the other one made the next version after one that it read
	First                        // it read the last version that is known, and updates the key: other updates, which nothing read, come later, if no two overlap
	Process                      // it returned before the same process called the other one
	Time                         // it returned before the other one was called
	KeyTime                      // the same, and both concern a key
	through                      // from a node that is not a transaction
)

// Edge is an edge of a graph.
type Edge struct {
	From, To int32
	Why      Relation
	Key      int32 // of WW, WR, RW and First
	Value    int32 // WR: the version that was read. Otherwise the version that the other one made. -1: another edge of the path has it
}

// Graph is a graph of transactions.
type Graph struct {
	Txns  int32 // nodes below are transactions
	Nodes int32
	Edges []Edge
}

// Node adds a node that is not a transaction.
func (g *Graph) Node() int32 {
	g.Nodes++
	return g.Nodes - 1
}

// Add adds an edge, unless it leads back to where it begins. Edges from other nodes than transactions pass on what led there.
func (g *Graph) Add(from, to int32, why Relation, key, value int32) {
	if from == to {
		return
	}
	if from >= g.Txns {
		why = through
	}
	g.Edges = hugepages.Append(g.Edges, Edge{from, to, why, key, value})
}

// view is a graph with only some of the edges.
//
// If it is split, each node v is two: 2v is where a transaction takes its snapshot, and 2v+1 where it commits. An edge of a
// read of an older version leads from a snapshot to a commit, all others from a commit to a snapshot. Other nodes than
// transactions pass on either.
type view struct {
	g     *Graph
	split bool
	first []int32 // by node, and one more: where its edges begin in out
	to    []int32
	edge  []int32 // the edge of the graph, or -1 from a snapshot to its commit
}

// view returns the part of a graph with some relations.
func (g *Graph) view(of Relation, split bool) *view {
	v := &view{g: g, split: split}
	nodes, sides := g.Nodes, int32(1)
	if split {
		nodes, sides = 2*nodes, 2
	}
	v.first = make([]int32, nodes+1)
	kept := func(e *Edge) bool { return e.Why&(of|through) != 0 }
	ends := func(e *Edge, side int32) (from, to int32, is bool) {
		switch {
		case !split:
			return e.From, e.To, true
		case e.Why == through:
			return 2*e.From + side, 2*e.To + side, true
		case e.Why == RW:
			return 2 * e.From, 2*e.To + 1, side == 0
		}
		return 2*e.From + 1, 2 * e.To, side == 0
	}
	n := int32(0)
	for i := range g.Edges {
		if e := &g.Edges[i]; kept(e) {
			for side := range sides {
				if from, _, is := ends(e, side); is {
					v.first[from+1]++
					n++
				}
			}
		}
	}
	if split {
		for txn := range g.Txns {
			v.first[2*txn+1]++
			n++
		}
	}
	for i := range nodes {
		v.first[i+1] += v.first[i]
	}
	v.to, v.edge = make([]int32, n), make([]int32, n)
	at := make([]int32, nodes)
	copy(at, v.first)
	put := func(from, to, edge int32) {
		v.to[at[from]], v.edge[at[from]] = to, edge
		at[from]++
	}
	if split {
		for txn := range g.Txns {
			put(2*txn, 2*txn+1, -1)
		}
	}
	for i := range g.Edges {
		if e := &g.Edges[i]; kept(e) {
			for side := range sides {
				if from, to, is := ends(e, side); is {
					put(from, to, int32(i))
				}
			}
		}
	}
	return v
}

// node returns the node of the graph for a node of the view.
func (v *view) node(x int32) int32 {
	if v.split {
		return x / 2
	}
	return x
}

func (v *view) len() int32 { return int32(len(v.first)) - 1 }

// components returns the strongly connected component of each node, in reverse topological order: an edge leads to a
// component with the same or a smaller number. Those of a single node are included. (Tarjan 1972, without recursion.)
func (v *view) components() (of []int32, n int32) {
	of = make([]int32, v.len())
	low, number := make([]int32, v.len()), make([]int32, v.len())
	at := make([]int32, v.len()) // the next edge
	copy(at, v.first)
	var stack, path []int32
	next := int32(0)
	for root := range v.len() {
		if number[root] > 0 {
			continue
		}
		path = append(path, root)
		for len(path) > 0 {
			x := path[len(path)-1]
			if number[x] == 0 {
				next++
				number[x], low[x] = next, next
				of[x] = -1
				stack = append(stack, x)
			}
			if at[x] < v.first[x+1] {
				y := v.to[at[x]]
				at[x]++
				if number[y] == 0 {
					path = append(path, y)
				} else if of[y] < 0 {
					low[x] = min(low[x], number[y])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[x])
			}
			if low[x] == number[x] {
				for {
					y := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					of[y] = n
					if y == x {
						break
					}
				}
				n++
			}
		}
	}
	return of, n
}

// cyclic returns the components that have a cycle, each with its nodes.
func cyclic(of []int32, n int32) (members [][]int32) {
	count := make([]int32, n)
	for _, c := range of {
		count[c]++
	}
	place := map[int32]int{}
	for x, c := range of {
		if count[c] < 2 {
			continue
		}
		at, known := place[c]
		if !known {
			at = len(members)
			place[c] = at
			members = append(members, make([]int32, 0, count[c]))
		}
		members[at] = append(members[at], int32(x))
	}
	return members
}
