package staged

import (
	"encoding/binary"
	"math"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// graph finds what can be known without the counts of crashed operations: once a
// class is invoked, it can be used without limit. The graph's size does not
// depend on how many have crashed.
//
// It visits every node up to return goal, and finds for each the furthest return
// that it reaches. It returns false if a limit stopped it.
func (x *registerSearch) graph(goal int32) bool {
	seen := make([]bool, len(x.e))
	nodes := []int32{x.start()}
	see := func(n int32) bool {
		for len(seen) <= int(n) {
			seen = append(seen, false)
		}
		was := seen[n]
		seen[n] = true
		return !was
	}
	see(nodes[0])
	for i := 0; i < len(nodes); i++ {
		if !x.Tick() {
			return false
		}
		n := nodes[i]
		if x.e[n] >= goal {
			continue
		}
		for _, c := range x.children(n) {
			if see(c.to) {
				nodes = append(nodes, c.to)
			}
		}
	}
	x.ranked, x.horizon = x.byRank(nodes), goal
	for len(x.depthOf) < len(x.e) {
		x.depthOf = append(x.depthOf, -1)
	}
	for _, n := range slices.Backward(x.ranked) {
		depth := x.e[n]
		if depth < goal {
			for _, c := range x.children(n) {
				depth = max(depth, x.depthOf[c.to])
			}
		}
		x.depthOf[n] = depth
	}
	x.Take(9 * int64(len(nodes)))
	return true
}

// byRank sorts nodes by rank. Every edge raises the rank.
func (x *registerSearch) byRank(nodes []int32) []int32 {
	var counts []int32
	ranks := make([]int32, len(nodes))
	for i, n := range nodes {
		r := x.rank(n)
		for len(counts) <= int(r)+1 {
			counts = append(counts, 0)
		}
		ranks[i] = r
		counts[r+1]++
	}
	for r := 1; r < len(counts); r++ {
		counts[r] += counts[r-1]
	}
	sorted := make([]int32, len(nodes))
	for i, n := range nodes {
		sorted[counts[ranks[i]]] = n
		counts[ranks[i]]++
	}
	return sorted
}

// prices is a system of prices for crashed operations. It compares the least
// that must be paid from every node to the goal with the worth of the whole
// supply. The returns up to the goal are divided into windows. lambda[k][c] is
// the price of class c's supply up to the end of window k. So a use in window k
// is charged mu[k][c], the sum of the prices from k on. Then (by weak duality,
// exact in integers) no way is cheaper than ahead, and no way that keeps within
// the supply costs more than the supply is worth.
type prices struct {
	goal    int32
	windows int32
	lambda  [][]int64
	supply  [][]int64 // invoked before the end of a window, by class
	mu      [][]int64
	worth   []int64 // of the supply from a window on
	ahead   []fare  // by node: the price to the goal
	taken   int64   // bytes

	// Nodes that differ only in what does not matter to runs form one group.
	groups []runGroup
	slot   []int32 // by edge: where the price of its run is, or -1
	fares  []fare  // by slot

	dist []fare  // by value: of the cheapest run, after measure
	via  []int32 // by value: its last class
	open []int32
}

// fare is the cost of a way, and how many crashed operations it uses. If two
// ways cost the same, the one that uses fewer is better. At first all cost the
// same, because all prices are 0.
type fare struct {
	cost int64
	uses int32
}

func (f fare) plus(g fare) fare { return fare{f.cost + g.cost, f.uses + g.uses} }
func (f fare) less(g fare) bool {
	return f.cost < g.cost || f.cost == g.cost && f.uses < g.uses
}

// never is the price of a node that cannot be reached.
const never = math.MaxInt64 / 4

// runGroup stands for nodes of one window and value at which the same classes
// are available and the same ones have open twins.
type runGroup struct {
	node  int32   // one of them
	lands []int32 // the values that runs lead to, and their slots
	slots []int32
}

func (x *registerSearch) newPrices(goal, windows int32) *prices {
	windows = min(windows, goal)
	p := &prices{goal: goal, windows: windows, worth: make([]int64, windows), dist: make([]fare, len(x.values)), via: make([]int32, len(x.values))}
	for k := range windows {
		last := int32((int64(k+1)*int64(goal)+int64(windows)-1)/int64(windows)) - 1 // the last return of window k
		supply := make([]int64, len(x.classes))
		for c := range supply {
			supply[c] = int64(x.invoked(int32(c), last))
		}
		p.supply = append(p.supply, supply)
		p.lambda = append(p.lambda, make([]int64, len(x.classes)))
		p.mu = append(p.mu, make([]int64, len(x.classes)))
	}
	p.ahead = make([]fare, len(x.e))
	p.group(x)
	p.taken = 16*int64(len(p.ahead)) + 4*int64(len(p.slot)) + 28*int64(len(p.fares)) + 80*int64(len(p.groups)) + 24*int64(windows)*int64(len(x.classes))
	x.Take(p.taken)
	return p
}

// group finds the groups and the slots of all runs before the goal.
func (p *prices) group(x *registerSearch) {
	var begins []int32 // of the classes, in order
	for _, c := range x.classes {
		begins = append(begins, c.inv[0])
	}
	slices.Sort(begins)
	p.slot = slices.Repeat([]int32{-1}, len(x.edges))
	groupAt := map[string]int32{}
	var key []byte
	var marks []int32
	for _, n := range x.ranked {
		if !x.Tick() {
			return
		}
		e, s := x.e[n], x.s[n]
		if e >= p.goal || x.depthOf[n] < p.goal || !slices.ContainsFunc(x.children(n), func(c edge) bool { return c.land >= 0 }) {
			continue
		}
		marks = marks[:0]
		mask := x.maskOf(n)
		x.Work += len(x.OpenRows(e))
		for _, row := range x.OpenRows(e) {
			if fallback.HasBit(mask, x.registerSpace.Slot[row]) {
				continue
			}
			if c := x.twin[row]; c >= 0 && x.left(c, e, 0) {
				marks = append(marks, c)
			}
			if x.kind[row] == models.CAS && x.a[row] == s {
				marks = append(marks, int32(len(x.classes))+x.b[row])
			}
		}
		slices.Sort(marks)
		there, _ := slices.BinarySearch(begins, x.Ends[e])
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(p.window(e)))
		key = binary.LittleEndian.AppendUint32(key, uint32(there))
		key = binary.LittleEndian.AppendUint32(key, uint32(s))
		for _, m := range slices.Compact(marks) {
			key = binary.LittleEndian.AppendUint32(key, uint32(m))
		}
		g, ok := groupAt[string(key)]
		if !ok {
			g = int32(len(p.groups))
			groupAt[string(key)] = g
			p.groups = append(p.groups, runGroup{node: n})
		}
		for i := x.first[n]; i < x.first[n]+x.count[n]; i++ {
			if land := x.edges[i].land; land >= 0 {
				p.slot[i] = p.groups[g].slotOf(land, &p.fares)
			}
		}
	}
}

// slotOf returns the slot of a group's runs to a value.
func (g *runGroup) slotOf(land int32, fares *[]fare) int32 {
	if i := slices.Index(g.lands, land); i >= 0 {
		return g.slots[i]
	}
	slot := int32(len(*fares))
	*fares = append(*fares, fare{})
	g.lands, g.slots = append(g.lands, land), append(g.slots, slot)
	return slot
}

// window returns the window of return e.
func (p *prices) window(e int32) int32 { return int32(int64(e) * int64(p.windows) / int64(p.goal)) }

// from returns the prices of uses at return e, and the worth of the supply from
// there on.
func (p *prices) from(e int32) ([]int64, int64) {
	k := p.window(e)
	return p.mu[k], p.worth[k]
}

// toGo returns the least that must be paid from a node, if it is known.
func (p *prices) toGo(n int32) fare {
	if int(n) < len(p.ahead) {
		return p.ahead[n]
	}
	return fare{}
}

// toRun returns the least that must be paid for the run of the i-th edge, if it
// is known.
func (p *prices) toRun(i int32) fare {
	if int(i) < len(p.slot) && p.slot[i] >= 0 {
		return p.fares[p.slot[i]]
	}
	return fare{}
}

// sum computes what follows from lambda.
func (p *prices) sum() {
	for k := p.windows - 1; k >= 0; k-- {
		worth := int64(0)
		for c, l := range p.lambda[k] {
			p.mu[k][c] = l
			worth += l * p.supply[k][c]
			if k+1 < p.windows {
				p.mu[k][c] += p.mu[k+1][c]
			}
		}
		p.worth[k] = worth
		if k+1 < p.windows {
			p.worth[k] += p.worth[k+1]
		}
	}
}

// measure finds the cheapest runs from a node by Dijkstra's algorithm. It scans
// for the nearest value, since values are few.
func (p *prices) measure(x *registerSpace, n int32) {
	x.ban(n)
	e, s := x.e[n], x.s[n]
	x.Work += len(x.OpenRows(e)) + 4*len(x.values) + len(x.classes)
	mu, _ := p.from(e)
	for y := range p.dist {
		p.dist[y], p.via[y] = fare{never, 0}, -1
	}
	p.open = p.open[:0]
	offer := func(y, c int32, from fare) {
		if y == s || x.banned.has(c) || !x.left(c, e, 0) {
			return
		}
		if d := from.plus(fare{mu[c], 1}); d.less(p.dist[y]) {
			if p.via[y] < 0 {
				p.open = append(p.open, y)
			}
			p.dist[y], p.via[y] = d, c
		}
	}
	for _, t := range x.from[s] {
		offer(t.value, t.class, fare{})
	}
	for y, c := range x.writes {
		if c >= 0 && !x.saved.has(int32(y)) {
			offer(int32(y), c, fare{})
		}
	}
	for len(p.open) > 0 {
		nearest := 0
		for i, y := range p.open {
			if p.dist[y].less(p.dist[p.open[nearest]]) {
				nearest = i
			}
		}
		y := p.open[nearest]
		p.open[nearest] = p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		for _, t := range x.from[y] {
			offer(t.value, t.class, p.dist[y])
		}
	}
}

// run returns the cheapest run to a value, after measure, as values.
func (p *prices) run(x *registerSpace, land int32) []int32 {
	var values []int32
	for y := land; ; {
		values = append(values, y)
		c := p.via[y]
		if x.classes[c].from < 0 {
			break
		}
		if y = x.classes[c].from; p.via[y] < 0 {
			break
		}
	}
	slices.Reverse(values)
	return values
}

// reprice sets the least prices ahead of all nodes, from the last to the first.
func (x *registerSearch) reprice(p *prices) bool {
	p.sum()
	for _, g := range p.groups {
		if !x.Tick() {
			return false
		}
		p.measure(x.registerSpace, g.node)
		for i, land := range g.lands {
			p.fares[g.slots[i]] = p.dist[land]
		}
	}
	for _, n := range slices.Backward(x.ranked) {
		switch {
		case !x.Tick():
			return false
		case x.e[n] >= p.goal:
			p.ahead[n] = fare{}
		case x.depthOf[n] < p.goal:
			p.ahead[n] = fare{never, 0}
		default:
			_, p.ahead[n] = x.cheapestChild(p, n)
		}
	}
	return true
}

// cheapestChild returns the child of a node with the least cost to the goal.
func (x *registerSearch) cheapestChild(p *prices, n int32) (child edge, least fare) {
	least = fare{never, 0}
	for i := x.first[n]; i < x.first[n]+x.count[n]; i++ {
		cost := p.ahead[x.edges[i].to]
		if slot := p.slot[i]; slot >= 0 {
			cost = cost.plus(p.fares[slot])
		}
		if cost.less(least) {
			least, child = cost, x.edges[i]
		}
	}
	return child, least
}

// bidEffort says how hard bid tries: with how many windows, and how often it
// corrects the prices by what the cheapest way uses too much of.
type bidEffort struct{ windows, rounds int }

// maxWindows and maxRounds bound the effort.
const (
	maxWindows = 64
	maxRounds  = 240
)

func (b *bidEffort) grow() {
	b.windows, b.rounds = min(2*b.windows, maxWindows), min(2*b.rounds, maxRounds)
}

// bid looks for prices at which every way to the goal costs more than the whole
// supply is worth. Such prices refute the goal. Or it finds a cheapest way that
// keeps within the supply.
func (x *registerSearch) bid(goal int32, effort bidEffort) (jepsen.Verdict, *prices) {
	p, rounds := x.newPrices(goal, int32(effort.windows)), effort.rounds
	sum := make([][]int64, p.windows)
	for k := range sum {
		sum[k] = make([]int64, len(x.classes))
	}
	// No sum of prices may overflow. A run has fewer steps than there are values,
	// and there is at most one for each completed operation.
	most := int64(never) / int64(rounds+1) / int64(p.windows+1) / (int64(len(x.Ends)+1)*int64(len(x.values)+1) + int64(x.Ops.Len()))
	start := x.start()
	ask := func() (v jepsen.Verdict, uses [][]int64) {
		if !x.reprice(p) {
			return jepsen.Unknown, nil
		}
		if p.ahead[start].cost > p.worth[0] {
			return jepsen.Invalid, nil
		}
		uses, ok := x.cheapestWay(p, start)
		if ok {
			return jepsen.Valid, nil
		}
		return jepsen.Unknown, uses
	}
	for round := range rounds {
		v, uses := ask()
		if uses == nil {
			return v, p
		}
		for k := range uses {
			for c, u := range uses[k] {
				if k > 0 {
					uses[k][c] += uses[k-1][c]
					u = uses[k][c]
				}
				p.lambda[k][c] = min(max(0, p.lambda[k][c]+u-p.supply[k][c]), most)
				if round >= rounds/2 {
					sum[k][c] += p.lambda[k][c]
				}
			}
		}
	}
	// Single prices swing about the best ones, so their average is closer.
	p.lambda = sum
	v, _ := ask()
	return v, p
}

// cheapestWay follows the cheapest children. It counts the uses in every window
// by the classes that the prices chose. It says whether the way keeps within
// the supply if rule G picks the classes. If so, the way is in x.moves.
func (x *registerSearch) cheapestWay(p *prices, start int32) (uses [][]int64, ok bool) {
	uses = make([][]int64, p.windows)
	for k := range uses {
		uses[k] = make([]int64, len(x.classes))
	}
	clear(x.used)
	x.moves = x.moves[:0]
	ok = true
	within, far := 0, x.far
	for n := start; x.e[n] < p.goal; {
		c, _ := x.cheapestChild(p, n)
		var run []int32
		if c.land >= 0 {
			p.measure(x.registerSpace, n)
			from := x.s[n]
			for _, y := range p.run(x.registerSpace, c.land) {
				uses[p.window(x.e[n])][p.via[y]]++
				class, there := x.serve(n, from, y)
				ok = ok && there
				if ok {
					x.used[class]++
					run = append(run, class)
				}
				from = y
			}
		}
		x.moves = append(x.moves, move{c, run})
		n = c.to
		if ok {
			within, far = len(x.moves), max(far, x.e[n])
		}
	}
	if far > x.far {
		x.far, x.best = far, slices.Clone(x.moves[:within])
	}
	clear(x.used)
	return uses, ok
}

// serve returns the class that a step at a node uses (rule G), if one is left.
func (x *registerSearch) serve(n, from, to int32) (class int32, ok bool) {
	e := x.e[n]
	for _, t := range x.from[from] {
		if t.value == to && !x.banned.has(t.class) && x.left(t.class, e, x.used[t.class]) {
			return t.class, true
		}
	}
	c := x.writes[to]
	return c, from == x.s[n] && c >= 0 && !x.banned.has(c) && !x.saved.has(to) && x.left(c, e, x.used[c])
}
