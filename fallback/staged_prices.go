package fallback

import (
	"math"
	"slices"
)

// graph is what can be known with the counts of crashed operations forgotten:
// a class is there without limit once it is invoked. Its size does not depend on
// how many have crashed.
//
// It visits every node up to return goal, and finds for each the furthest return
// that is reached from it. It is false where a limit stopped it.
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
		if i%64 == 0 && !x.poll() || x.cause != "" {
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
	x.take(9 * int64(len(nodes)))
	return true
}

// byRank sorts nodes by rank, which every edge raises.
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

// prices is a system of prices for crashed operations: what must be paid at
// least from every node to the goal, against what all of them together can
// bring. The returns up to the goal are parted into windows; lambda[k][c] is the
// price of class c's supply up to the end of window k, so that a use in window k
// is charged mu[k][c], the sum of the prices from k on. Then (weak duality, exact
// in integers) no way is cheaper than toGo, and none that keeps within the
// supply is dearer than the supply at its price.
type prices struct {
	goal    int32
	windows int32
	lambda  [][]int64
	supply  [][]int64 // invoked before the end of a window, by class
	mu      [][]int64
	worth   []int64 // of the supply from a window on
	ahead   []int64 // by node: toGo

	dist []int64 // by value: the price of the cheapest run, after measure
	via  []int32 // by value: its last class
	open []int32
}

// never is the price of what cannot be reached.
const never = math.MaxInt64 / 4

func (x *registerSearch) newPrices(goal, windows int32) *prices {
	windows = min(windows, goal)
	p := &prices{goal: goal, windows: windows, worth: make([]int64, windows), dist: make([]int64, len(x.values)), via: make([]int32, len(x.values))}
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
	p.ahead = make([]int64, len(x.e))
	x.take(p.bytes())
	return p
}

func (p *prices) bytes() int64 {
	classes := int64(0)
	if p.windows > 0 {
		classes = int64(len(p.mu[0]))
	}
	return 8*int64(len(p.ahead)) + 24*int64(p.windows)*classes + 12*int64(len(p.dist))
}

// window is the window of return e.
func (p *prices) window(e int32) int32 { return int32(int64(e) * int64(p.windows) / int64(p.goal)) }

// from is the prices of uses at return e, and what the supply from there on is
// worth.
func (p *prices) from(e int32) ([]int64, int64) {
	k := p.window(e)
	return p.mu[k], p.worth[k]
}

// toGo is the least that must be paid from a node.
func (p *prices) toGo(n int32) int64 {
	if int(n) < len(p.ahead) {
		return p.ahead[n]
	}
	return 0
}

// sum works out what follows from lambda.
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

// measure finds the cheapest runs from a node: Dijkstra's algorithm, with a scan
// for the nearest since values are few.
func (p *prices) measure(x *registerSpace, n int32) {
	x.ban(n)
	e, s := x.e[n], x.s[n]
	mu, _ := p.from(e)
	for y := range p.dist {
		p.dist[y], p.via[y] = never, -1
	}
	p.open = p.open[:0]
	offer := func(y, c int32, from int64) {
		if y == s || x.banned.has(c) || !x.left(c, e, 0) {
			return
		}
		if d := from + mu[c]; d < p.dist[y] {
			if p.dist[y] == never {
				p.open = append(p.open, y)
			}
			p.dist[y], p.via[y] = d, c
		}
	}
	for _, t := range x.from[s] {
		offer(t.value, t.class, 0)
	}
	for y, c := range x.writes {
		if c >= 0 && !x.saved.has(int32(y)) {
			offer(int32(y), c, 0)
		}
	}
	for len(p.open) > 0 {
		nearest := 0
		for i, y := range p.open {
			if p.dist[y] < p.dist[p.open[nearest]] {
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

// run is the cheapest run to a value, after measure, as values.
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

// reprice sets the prices ahead of all nodes, from the last to the first.
func (x *registerSearch) reprice(p *prices) bool {
	p.sum()
	for i, n := range slices.Backward(x.ranked) {
		if i%256 == 0 && !x.poll() {
			return false
		}
		switch {
		case x.e[n] >= p.goal:
			p.ahead[n] = 0
			continue
		case x.depthOf[n] < p.goal:
			p.ahead[n] = never
			continue
		}
		_, p.ahead[n] = x.cheapestChild(p, n)
	}
	return true
}

// cheapestChild is the child of a node that costs least to the goal.
func (x *registerSearch) cheapestChild(p *prices, n int32) (edge, int64) {
	least, best, measured := int64(never), edge{to: -1}, false
	for _, c := range x.children(n) {
		cost := p.toGo(c.to)
		if cost >= least {
			continue
		}
		if c.land >= 0 {
			if !measured {
				p.measure(x.registerSpace, n)
				measured = true
			}
			cost += p.dist[c.land]
		}
		if cost < least {
			least, best = cost, c
		}
	}
	return best, least
}

// bidEffort is how hard bid tries: in how many windows, and how often the prices
// are corrected by what the cheapest way uses too much of.
type bidEffort struct{ windows, rounds int }

// maxWindows and maxRounds bound the effort.
const (
	maxWindows = 64
	maxRounds  = 240
)

func (b *bidEffort) grow() {
	b.windows, b.rounds = min(2*b.windows, maxWindows), min(2*b.rounds, maxRounds)
}

// bid looks for prices at which the way to the goal is dearer than all of the
// supply, which refutes it, or a cheapest way that keeps within the supply.
func (x *registerSearch) bid(goal int32, effort bidEffort) (Verdict, *prices) {
	p, rounds := x.newPrices(goal, int32(effort.windows)), effort.rounds
	sum := make([][]int64, p.windows)
	for k := range sum {
		sum[k] = make([]int64, len(x.classes))
	}
	// No sum of prices may overflow: a run has fewer steps than there are values,
	// and there is at most one for each completed operation.
	most := int64(never) / int64(rounds+1) / int64(p.windows+1) / (int64(len(x.ends)+1)*int64(len(x.values)+1) + int64(x.ops.Len()))
	start := x.start()
	for round := range rounds {
		if !x.reprice(p) {
			return Unknown, p
		}
		if p.ahead[start] > p.worth[0] {
			return Invalid, p
		}
		uses, ok := x.cheapestWay(p, start)
		if ok {
			return Valid, p
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
	// Single prices swing about the best ones: their average lies closer.
	p.lambda = sum
	if !x.reprice(p) {
		return Unknown, p
	}
	if p.ahead[start] > p.worth[0] {
		return Invalid, p
	}
	if _, ok := x.cheapestWay(p, start); ok {
		return Valid, p
	}
	return Unknown, p
}

// cheapestWay follows the cheapest children. It counts the uses in every window
// at the prices' classes, and says whether the way keeps within what is there
// when rule G picks the classes; then the way is in x.moves.
func (x *registerSearch) cheapestWay(p *prices, start int32) (uses [][]int64, ok bool) {
	uses = make([][]int64, p.windows)
	for k := range uses {
		uses[k] = make([]int64, len(x.classes))
	}
	clear(x.used)
	x.moves, x.shared = x.moves[:0], 0
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

// serve is the class that a step at a node uses (rule G), if one is left.
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
