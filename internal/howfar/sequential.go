package howfar

import (
	"container/heap"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// # Sequential consistency of several registers
//
// Decides whether all operations of some registers have one order that keeps each client's and is possible. Which update
// left the version that an operation saw is known. Even so this is hard in general (Gibbons and Korach, "Testing shared
// memories", 1997), so the answer may be Unknown.
//
// First come edges that every such order keeps, until no more follow:
//
//  1. an operation comes after those that its client completed before, and after the update whose version it saw;
//  2. an update that comes before an operation on the same register comes before the update whose version that saw;
//  3. if an update comes after another one of the same register, it comes after all that saw what that left. The initial
//     version was left before everything.
//
// A cycle refutes. Otherwise one order is tried: each operation comes as early as it can without replacing a version that
// others have yet to see. If that gets stuck, a bounded search goes on.
//
// Cost: O(n C) for each round and C chains, and for several rounds as many as edges follow from each other, up to a bound.

// maxClosure bounds the numbers that rounds go through.
const maxClosure = 100_000_000

// sequential decides operations of registers. The edges are right unless the verdict is Invalid.
func (v *versions) sequential() (verdict jepsen.Verdict, edges [][]int32) {
	if v.orphan {
		return jepsen.Invalid, nil
	}
	c := v.newClosure()
	round := len(v.ops) * len(c.chains)
	for work := round; ; work += round {
		if work > maxClosure {
			return jepsen.Unknown, c.edges
		}
		if !c.reach() {
			return jepsen.Invalid, nil
		}
		if !c.follow() {
			break
		}
	}
	if v.greedy(c.edges) {
		return jepsen.Valid, nil
	}
	return jepsen.Unknown, c.edges
}

// closure is what every order of operations keeps.
type closure struct {
	*versions
	*clients
	edges [][]int32 // by operation: some that come after it
	// past has, by operation and chain, how many operations of the chain come before it.
	past []int32
	// writers has, by key and chain, the operations that leave a version, in order. lastSaw has, by version, the last
	// operation of each chain that saw it.
	writers [][][]int32
	lastSaw [][]int32
}

func (v *versions) newClosure() *closure {
	calls := make([]call, len(v.ops))
	for i, x := range v.ops {
		calls[i] = x.call
		calls[i].client = x.client
	}
	c := &closure{versions: v, clients: newClients(calls), edges: make([][]int32, len(v.ops)), lastSaw: make([][]int32, v.count)}
	c.writers = make([][][]int32, len(v.initial))
	for key := range c.writers {
		c.writers[key] = make([][]int32, len(c.chains))
	}
	for _, chain := range c.chains {
		last := map[int32]int32{}
		for _, i := range chain {
			x := &v.ops[i]
			if x.left >= 0 {
				w := c.writers[x.key]
				w[c.chain[i]] = append(w[c.chain[i]], i)
			}
			if x.saw >= 0 {
				last[x.saw] = i
			}
		}
		for version, i := range last {
			c.lastSaw[version] = append(c.lastSaw[version], i)
		}
	}
	for i, x := range v.ops {
		for _, earlier := range c.before[i] {
			c.edge(earlier, int32(i))
		}
		if x.saw >= 0 && v.writer[x.saw] >= 0 {
			c.edge(v.writer[x.saw], int32(i))
		}
	}
	for key, first := range v.initial {
		for _, writers := range c.writers[key] {
			for _, saw := range c.lastSaw[first] {
				if len(writers) > 0 && writers[0] != saw {
					c.edge(saw, writers[0])
				} else if len(writers) > 1 {
					c.edge(saw, writers[1])
				}
			}
		}
	}
	return c
}

func (c *closure) edge(from, to int32) { c.edges[from] = append(c.edges[from], to) }

// reach finds what comes before each operation. It returns false if there is a cycle.
func (c *closure) reach() bool {
	n, width := len(c.ops), len(c.chains)
	c.past = make([]int32, n*width)
	waits := make([]int32, n)
	for _, edges := range c.edges {
		for _, to := range edges {
			waits[to]++
		}
	}
	var ready []int32
	for i, w := range waits {
		if w == 0 {
			ready = append(ready, int32(i))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		c.poll()
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		mine := c.pastOf(i)
		for _, to := range c.edges[i] {
			past := c.pastOf(to)
			for chain, count := range mine {
				past[chain] = max(past[chain], count)
			}
			past[c.chain[i]] = max(past[c.chain[i]], c.place[i]+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	return done == n
}

func (c *closure) pastOf(i int32) []int32 {
	width := len(c.chains)
	return c.past[int(i)*width:][:width]
}

// comesBefore says whether i is known to come before j.
func (c *closure) comesBefore(i, j int32) bool { return c.pastOf(j)[c.chain[i]] > c.place[i] }

// follow adds edges by rules 2 and 3, and says whether there were any.
func (c *closure) follow() (more bool) {
	need := func(from, to int32) {
		if from != to && !c.comesBefore(from, to) {
			c.edge(from, to)
			more = true
		}
	}
	for i, x := range c.ops {
		c.poll()
		i := int32(i)
		for chain, count := range c.pastOf(i) {
			writers := c.writers[x.key][chain]
			at, _ := slices.BinarySearchFunc(writers, count, func(w, count int32) int { return int(c.place[w] - count) })
			if at == 0 {
				continue
			}
			last := writers[at-1] // the last update of the chain that comes before i
			if x.saw >= 0 {
				if w := c.writer[x.saw]; w < 0 {
					need(i, last) // a cycle: it saw the initial version
				} else if w != last {
					need(last, w)
				}
			}
			if x.left >= 0 {
				for _, reader := range c.lastSaw[c.ops[last].left] {
					need(reader, i)
				}
			}
		}
	}
	return more
}

// greedy looks for an order that keeps edges and is possible, without going back.
func (v *versions) greedy(edges [][]int32) bool {
	waits := make([]int32, len(v.ops))
	for _, edges := range edges {
		for _, to := range edges {
			waits[to]++
		}
	}
	now := slices.Clone(v.initial) // by key: the version there
	toSee := make([]int32, v.count)
	for _, x := range v.ops {
		if x.saw >= 0 {
			toSee[x.saw]++
		}
	}
	held := make([][]int32, len(now)) // by key: updates that wait until the version there has been seen
	var ready earliest
	for i, w := range waits {
		if w == 0 {
			heap.Push(&ready, int32(i))
		}
	}
	waiting := make([][]int32, v.count) // by version: what is to see it
	done := 0
	for len(ready) > 0 {
		v.poll()
		i := heap.Pop(&ready).(int32)
		x := &v.ops[i]
		if x.saw >= 0 && x.saw != now[x.key] {
			waiting[x.saw] = append(waiting[x.saw], i)
			continue
		}
		if left := toSee[now[x.key]]; x.left >= 0 && (x.saw < 0 && left > 0 || left > 1) {
			held[x.key] = append(held[x.key], i)
			continue
		}
		done++
		if x.saw >= 0 {
			toSee[x.saw]--
		}
		if x.left >= 0 {
			now[x.key] = x.left
			for _, reader := range waiting[x.left] {
				heap.Push(&ready, reader)
			}
		}
		if toSee[now[x.key]] <= 1 {
			for _, update := range held[x.key] {
				heap.Push(&ready, update)
			}
			held[x.key] = nil
		}
		for _, to := range edges[i] {
			if waits[to]--; waits[to] == 0 {
				heap.Push(&ready, to)
			}
		}
	}
	return done == len(v.ops)
}

// earliest is a heap of operations, which are numbered in order of invocation.
type earliest []int32

func (e earliest) Len() int           { return len(e) }
func (e earliest) Less(i, j int) bool { return e[i] < e[j] }
func (e earliest) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *earliest) Push(x any)        { *e = append(*e, x.(int32)) }
func (e *earliest) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// rowsOf returns the operations as rows of all parts together, in order of invocation, and each one's place there.
func (v *versions) rowsOf(ops *models.Operations, parts []*models.Operations) []models.Row {
	rows, all := make([]models.Row, len(v.ops)), ops.Rows()
	for i, x := range v.ops {
		rows[i] = all[parts[x.key].Of[x.row]]
	}
	return rows
}
