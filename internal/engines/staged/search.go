package staged

import (
	"slices"

	"clew/fallback"
	"clew/jepsen"
)

// need says that a failure holds if at least n crashed operations of a class
// are used. A list of needs has at most one need for each class. A failure does
// not depend on classes without one.
type need struct{ class, n int32 }

// nogood says why a node fails: no configuration of it whose used counts meet
// the needs gets to return goal. It fails for any later goal too.
type nogood struct {
	goal  int32
	needs []need
}

// registerSearch is a depth-first search over nodes that learns from failures.
//
// If a node with the used counts U has failed, needs say which of the counts
// mattered: every configuration of the node with at least those counts fails.
// The needs of a node combine the needs of its children. For a run, these are
// those of its target minus what the run used, and the exhausted classes that
// would have allowed another run. So classes that did not matter drop out.
//
// Rule G picks the class of a step by what is left, so with other counts it may
// pick another class. If a write was used because no cas was left, and its count
// matters, the failure also needs the cas to be exhausted. Conversely, other
// counts may make the rule pick a write in a step for which U used the cas. Then
// the cas is exhausted, so as many of them are used as can ever be needed.
type registerSearch struct {
	*registerSpace
	goal int32
	used []int32

	nogoods map[int32][]nogood // by node
	bounds  []*prices
	ranked  []int32 // the nodes of the graph, by rank
	depthOf []int32 // by node, if known: the furthest return up to horizon that it gets to (graph)
	horizon int32

	stack  []frame
	moves  []move // by frame: the child under test
	best   []move // the moves to the furthest return
	shared int    // how long moves and best are known to agree
	far    int32

	dense   []int32 // by class
	listed  []int32
	budget  int
	nodes   int
	deepest int

	priced *prices // unless nil, it orders the children
}

// move is an edge with the classes of its run.
type move struct {
	edge edge
	run  []int32
}

// frame is a node under test.
type frame struct {
	node     int32
	next     int32 // the child to be tried next
	order    []int32
	needs    []need    // of the children that failed, not yet combined
	runs     [][]int32 // to be tried for the current child
	length   int32     // the length of these runs; 0 if the child has not begun
	longer   bool      // there may be longer runs
	reachTo  []int32   // by value: steps to the target by operations that are left, or -1
	bytes    int64     // that the runs took
	charging bool      // the current child is a run
}

func newRegisterSearch(x *registerSpace) *registerSearch {
	n := len(x.classes)
	return &registerSearch{registerSpace: x, used: make([]int32, n), nogoods: map[int32][]nogood{}, dense: make([]int32, n)}
}

// search looks for a way to return goal. It returns Unknown if budget nodes
// were not enough, or the limits stopped it.
func (x *registerSearch) search(goal int32, budget int, order *prices) jepsen.Verdict {
	x.goal, x.budget, x.nodes, x.priced = goal, budget, 0, order
	for i := range x.stack {
		x.dropRuns(&x.stack[i])
	}
	x.stack, x.moves, x.shared = x.stack[:0], x.moves[:0], 0
	clear(x.used)
	if x.push(x.start()) {
		return jepsen.Valid
	}
	if _, fails := x.refuted(x.stack[0].node); fails {
		return jepsen.Invalid
	}
	for len(x.stack) > 0 {
		if !x.Tick() || x.nodes > x.budget {
			return jepsen.Unknown
		}
		f := &x.stack[len(x.stack)-1]
		child, more := x.nextChild(f)
		if !more {
			needs := x.together(f.needs)
			x.learn(f.node, needs)
			x.stack = x.stack[:len(x.stack)-1]
			if len(x.stack) > 0 {
				x.failed(&x.stack[len(x.stack)-1], needs)
			}
			continue
		}
		if needs, fails := x.refuted(child); fails {
			x.failed(f, needs)
		} else if x.push(child) {
			return jepsen.Valid
		}
	}
	return jepsen.Invalid
}

// push puts a node on the stack, and says whether it is at the goal.
func (x *registerSearch) push(n int32) bool {
	x.nodes++
	if e := x.e[n]; e > x.far || x.best == nil {
		x.far = e
		x.best = append(x.best[:x.shared], x.moves[x.shared:]...)
		x.shared = len(x.moves)
		x.Passed(int64(e))
	}
	if x.e[n] >= x.goal {
		return true
	}
	f := frame{node: n}
	children := x.children(n)
	if x.priced != nil && x.e[n] < x.priced.goal && len(children) > 1 {
		f.order = x.cheapest(n, children)
	}
	if x.stack = append(x.stack, f); len(x.stack) > x.deepest {
		x.deepest = len(x.stack)
		x.Take(250)
	}
	return false
}

// cheapest orders children by their cost to the goal.
func (x *registerSearch) cheapest(n int32, children []edge) []int32 {
	cost := make([]fare, len(children))
	order := make([]int32, len(children))
	for i, c := range children {
		order[i], cost[i] = int32(i), x.priced.toGo(c.to).plus(x.priced.toRun(x.first[n]+int32(i)))
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		switch a, b := cost[i], cost[j]; {
		case a.less(b):
			return -1
		case b.less(a):
			return 1
		}
		return 0
	})
	return order
}

// at returns the edge to the current child.
func (x *registerSearch) at(f *frame) int32 {
	i := f.next
	if f.order != nil {
		i = f.order[i]
	}
	return x.first[f.node] + i
}

// nextChild goes on to the next child, or to the next run to the current one,
// pays for it, and returns its node.
func (x *registerSearch) nextChild(f *frame) (node int32, more bool) {
	for f.next < x.count[f.node] {
		i := x.at(f)
		c := x.edges[i]
		if c.land < 0 {
			x.move(c, nil)
			return c.to, true
		}
		if !f.charging {
			if needs, fails := x.refutedUnpaid(f.node, i); fails {
				f.needs = append(f.needs, needs...)
				f.next++
				continue
			}
			x.beginRuns(f, c.land)
		}
		for len(f.runs) == 0 && f.longer {
			f.length++
			x.dropRuns(f)
			f.runs, f.longer = x.runs(f, c.land)
		}
		if len(f.runs) == 0 || x.Cause != "" {
			x.endRuns(f)
			continue
		}
		run := f.runs[0]
		f.runs = f.runs[1:]
		for _, k := range run {
			x.used[k]++
		}
		x.move(c, run)
		return c.to, true
	}
	return 0, false
}

func (x *registerSearch) dropRuns(f *frame) {
	x.Give(f.bytes)
	f.runs, f.bytes = nil, 0
}

func (x *registerSearch) endRuns(f *frame) {
	f.next++
	x.dropRuns(f)
	f.charging, f.length, f.longer, f.reachTo = false, 0, false, nil
}

// move records what the top frame tries.
func (x *registerSearch) move(c edge, run []int32) {
	n := len(x.stack) - 1
	x.shared = min(x.shared, n)
	x.moves = append(x.moves[:n], move{c, run})
}

// failed puts the needs of the child under test into its parent's.
func (x *registerSearch) failed(f *frame, needs []need) {
	run := x.moves[len(x.stack)-1].run
	if run == nil {
		f.needs = append(f.needs, needs...)
		f.next++
		return
	}
	for _, k := range run {
		x.used[k]--
	}
	if x.met(needs) { // it fails whatever the run to it uses
		f.needs = append(f.needs, needs...)
		x.endRuns(f)
		return
	}
	for _, d := range needs {
		if !x.NoRuleG && d.class == run[0] && x.classes[d.class].from < 0 {
			x.needCAS(f, d.class)
		}
		if slices.Contains(run, d.class) {
			d.n--
		}
		if d.n > 0 {
			f.needs = append(f.needs, d)
		}
	}
}

// needCAS adds the need that a crashed cas is exhausted: the one in whose place
// a write was used.
func (x *registerSearch) needCAS(f *frame, write int32) {
	s, to := x.s[f.node], x.classes[write].to
	for _, t := range x.from[s] {
		if t.value == to {
			x.ban(f.node)
			if !x.banned.has(t.class) {
				x.exhausted(f, t.class)
			}
		}
	}
}

// exhausted adds the need that a class is exhausted.
func (x *registerSearch) exhausted(f *frame, class int32) {
	if n := x.invoked(class, x.e[f.node]); n > 0 {
		f.needs = append(f.needs, need{class, n})
	}
}

// beginRuns finds the values from which the operations that are left lead to
// the target. It adds the needs that say that the operations which might have
// made another run are exhausted.
//
// Let F be the values that runs from here reach by what is left, and R those
// from which what is left leads to the target. Any other run has a first step
// that is exhausted now. It goes from F into R, or from F to a value outside R.
// In the second case the run has to come into R by a cas that is exhausted,
// too.
func (x *registerSearch) beginRuns(f *frame, target int32) {
	f.charging, f.longer = true, true
	x.ban(f.node)
	e, s := x.e[f.node], x.s[f.node]
	left := func(c int32) bool { return !x.banned.has(c) && x.left(c, e, x.used[c]) }
	to := slices.Repeat([]int32{-1}, len(x.values))
	to[target] = 0
	x.queue = append(x.queue[:0], target)
	for i := 0; i < len(x.queue); i++ {
		for _, t := range x.into[x.queue[i]] {
			if to[t.value] < 0 && left(t.class) {
				to[t.value] = to[x.queue[i]] + 1
				x.queue = append(x.queue, t.value)
			}
		}
	}
	f.reachTo = to
	into := slices.Clone(x.queue)
	clear(x.hops)
	x.hops[s] = 1
	x.queue = append(x.queue[:0], s)
	for y, c := range x.writes {
		if c >= 0 && !x.saved.has(int32(y)) && left(c) && x.hops[y] == 0 {
			x.hops[y] = 1
			x.queue = append(x.queue, int32(y))
		}
	}
	for i := 0; i < len(x.queue); i++ {
		for _, t := range x.from[x.queue[i]] {
			if x.hops[t.value] == 0 && left(t.class) && !(x.queue[i] == s && x.saved.has(t.value)) {
				x.hops[t.value] = 1
				x.queue = append(x.queue, t.value)
			}
		}
	}
	exhausted := func(c int32) {
		if c >= 0 && !x.banned.has(c) && !left(c) {
			x.exhausted(f, c)
		}
	}
	for _, y := range into {
		if y == s {
			continue
		}
		direct := int32(-1)
		for _, t := range x.into[y] {
			switch {
			case t.value == s:
				direct = t.class
			case x.hops[t.value] > 0 || to[t.value] < 0:
				exhausted(t.class)
			}
		}
		// If one of the classes for a first step is left, that is enough. The other
		// one's count matters only if failed says so.
		write := x.writes[y]
		if x.saved.has(y) {
			write = -1
		}
		served := func(c int32) bool { return c >= 0 && !x.NoRuleG && left(c) }
		if !served(direct) && !served(write) {
			exhausted(direct)
			exhausted(write)
		}
	}
}

// runs returns the simple runs of f.length steps that are possible with the
// operations that are left, and says whether there may be longer ones.
func (x *registerSearch) runs(f *frame, target int32) (runs [][]int32, longer bool) {
	x.ban(f.node)
	e, s := x.e[f.node], x.s[f.node]
	clear(x.hops)
	x.hops[s] = 1
	run := make([]int32, 0, f.length)
	var walk func(v int32)
	step := func(y, c int32) {
		switch {
		case f.reachTo[y] < 0 || x.hops[y] > 0:
			return
		case int32(len(run))+1+f.reachTo[y] > f.length:
			longer = true
			return
		}
		run = append(run, c)
		switch {
		case y != target:
			x.hops[y] = 1
			walk(y)
			x.hops[y] = 0
		case int32(len(run)) == f.length:
			runs = append(runs, slices.Clone(run))
			f.bytes += 24 + 4*int64(len(run))
		}
		run = run[:len(run)-1]
	}
	left := func(c int32) bool { return !x.banned.has(c) && x.left(c, e, x.used[c]) }
	walk = func(v int32) {
		if !x.Tick() {
			return
		}
		for _, t := range x.from[v] {
			if left(t.class) {
				step(t.value, t.class)
			}
		}
		if v != s {
			return
		}
		for y, c := range x.writes {
			if c < 0 || int32(y) == s || x.saved.has(int32(y)) || !left(c) || x.hasCAS(s, int32(y), left) {
				continue
			}
			step(int32(y), c)
		}
	}
	walk(s)
	x.Take(f.bytes)
	return runs, longer
}

// hasCAS applies rule G: a write is only used if no cas is left.
func (x *registerSearch) hasCAS(from, to int32, left func(int32) bool) bool {
	for _, t := range x.from[from] {
		if t.value == to {
			return !x.NoRuleG && left(t.class)
		}
	}
	return false
}

// refuted says whether a node fails with the used counts, and which needs that
// failure has.
func (x *registerSearch) refuted(n int32) (needs []need, fails bool) {
	if int(n) < len(x.depthOf) && x.depthOf[n] >= 0 && x.depthOf[n] < min(x.goal, x.horizon) {
		return nil, true
	}
	least := int32(-1)
	for _, g := range x.nogoods[n] {
		if g.goal > x.goal || !x.met(g.needs) {
			continue
		}
		sum := int32(0)
		for _, d := range g.needs {
			sum += d.n
		}
		if least < 0 || sum < least {
			least, needs = sum, g.needs
		}
	}
	if least >= 0 {
		return needs, true
	}
	for _, p := range x.bounds {
		if needs, fails := x.tooDear(p, x.e[n], p.toGo(n).cost); fails {
			return needs, true
		}
	}
	return nil, false
}

// refutedUnpaid says whether the target of a run fails before the run is paid
// for, or is too expensive for every run.
func (x *registerSearch) refutedUnpaid(n, i int32) ([]need, bool) {
	if needs, fails := x.refuted(x.edges[i].to); fails {
		return needs, true
	}
	for _, p := range x.bounds {
		if needs, fails := x.tooDear(p, x.e[n], p.toRun(i).cost+p.toGo(x.edges[i].to).cost); fails {
			return needs, true
		}
	}
	return nil, false
}

// tooDear applies weak duality: what is used and what is still to be paid
// exceed the supply. It lowers the used counts in the needs as long as that
// remains true.
func (x *registerSearch) tooDear(p *prices, e int32, toGo int64) ([]need, bool) {
	if p.goal > x.goal || e >= p.goal {
		return nil, false
	}
	mu, supply := p.from(e)
	sum := toGo - supply
	for c, u := range x.used {
		sum += mu[c] * int64(u)
	}
	if sum <= 0 {
		return nil, false
	}
	var needs []need
	for c, u := range x.used {
		if mu[c] == 0 || u == 0 {
			continue
		}
		less := min(int64(u), (sum-1)/mu[c])
		sum -= less * mu[c]
		if rest := int64(u) - less; rest > 0 {
			needs = append(needs, need{int32(c), int32(rest)})
		}
	}
	return needs, true
}

// met says whether the used counts meet the needs.
func (x *registerSearch) met(needs []need) bool {
	return !slices.ContainsFunc(needs, func(d need) bool { return x.used[d.class] < d.n })
}

// together combines the needs into one for each class.
func (x *registerSearch) together(needs []need) []need {
	x.listed = x.listed[:0]
	for _, d := range needs {
		if x.dense[d.class] == 0 {
			x.listed = append(x.listed, d.class)
		}
		x.dense[d.class] = max(x.dense[d.class], d.n)
	}
	list := make([]need, len(x.listed))
	for i, c := range x.listed {
		list[i] = need{c, x.dense[c]}
		x.dense[c] = 0
	}
	return list
}

// learn remembers why a node failed, and forgets older reasons that the new one
// implies.
func (x *registerSearch) learn(n int32, needs []need) {
	for _, d := range needs {
		x.dense[d.class] = d.n
	}
	list := slices.DeleteFunc(x.nogoods[n], func(g nogood) bool {
		if g.goal < x.goal {
			return false
		}
		covered := 0
		for _, d := range g.needs {
			if m := x.dense[d.class]; m > 0 && m <= d.n {
				covered++
			}
		}
		return covered == len(needs)
	})
	for _, d := range needs {
		x.dense[d.class] = 0
	}
	x.nogoods[n] = append(list, nogood{x.goal, needs})
	x.Take(80 + 8*int64(len(needs)))
}

// follow returns the rows that moves linearize.
func (x *registerSearch) follow(moves []move) []int32 {
	var order []int32
	read := func(row int32) { order = append(order, row) }
	used := make([]int32, len(x.classes))
	clear(x.mask)
	e := x.advance(0, 0, read)
	s := int32(0)
	for _, m := range moves {
		for _, c := range m.run {
			order = append(order, x.classes[c].rows[used[c]])
			used[c]++
			s = x.classes[c].to
		}
		if row := m.edge.row; row >= 0 {
			fallback.SetBit(x.mask, x.Slot[row])
			order = append(order, row)
			s = x.b[row]
		}
		e = x.advance(e, s, read)
	}
	return order
}
