package transaction

import (
	"context"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # Transactions that append to lists
//
// Decides: histories of transactions, each of which appends to the lists of some keys and reads lists whole, at one instant.
//
// Precondition: no value is appended twice to one key.
//
// Cost: linear in the operations and the elements of the longest list of each key. Reads are compared with that list when
// they are read (models.TxnListsShape).
//
// Rests on: Kingsbury and Alvaro, "Elle: inferring isolation anomalies from experimental observations", VLDB 2020, whose
// graph it is, and on the following, by which the graph decides.
//
// What a transaction read of a key, less what it had appended itself by then, is what all transactions before it had
// appended (outside). So of two lists that are read of a key one is the beginning of the other, and the longest is the
// order of versions. The graph has an edge from a transaction to another one that must come after it:
//
//   - ww: to the one that appended the next element of that order;
//   - wr: from the one that appended the last element outside of a read, to the reader;
//   - rw: from the reader to the one that appended the next element;
//   - the same with elements that nothing shows: they come after all others, and after all reads of the key by transactions that
//     do not append such an element themselves, in any order. One node of each key stands between. A reader of the whole list
//     that appends to it comes first among them. Two of those contradict each other;
//   - in real time: a chain has a node for each return, and each return is before all later invocations. (sort follows the events
//     instead of this chain; only a cycle has its nodes.)
//
// Lemma 1. If the graph has a cycle, the history is not linearizable: each edge holds in every linearization.
//
// Lemma 2. If it has none, each topological order is a linearization, in which the elements that nothing shows have the
// order of their transactions. By ww, the elements of a key are appended in the order of versions. By wr and rw, a reader
// stands where just what it saw outside had been appended.
//
// Crashed operations: of a crashed transaction it is known what it appended, but not what it read. It has happened if a
// transaction that has happened shows an element of it; otherwise it is omitted. It has no return.

// show is a list that a row shows.
type show struct {
	row     models.Row
	slot    int32
	outside int32 // how much of the list it did not append itself
}

// ownSteps is what a row has done with a slot so far.
type ownSteps struct {
	row      models.Row // the row, plus 1
	appended []int32
	outside  int32 // of the list that it read: how much it had not appended itself. -1: it has read none
}

// graph is the graph of a history.
type graph struct {
	in    fastpath.Input
	shape *models.TxnListsShape

	owner    []models.Row // by element, or models.Initial
	happened []bool       // by row
	because  []models.Row // by row that crashed: the one that shows that it happened
	todo     []models.Row // rows that are to be looked at
	order    [][]int32    // by slot: the longest list shown
	shower   []models.Row // by slot: the one that shows it
	first    []models.Row // by place of any order, those of a slot from base on: who shows what is there first, or -1
	base     []int32      // by slot
	whole    []int32      // by row: the last slot of which it reads all that is shown, plus 1
	shows    []show
	own      []ownSteps // by slot: of the row that is looked at
	next     []int32    // by element: the one that the same row appends to the same list next, plus 1
	inner    []bool     // by element: it is the next one of another

	unseen [][]models.Row // by slot: who appends what nothing shows, once each
	last   [][]models.Row // by slot: who reads the whole list, once each
	nodes  int32          // the rows, and one between rows for some slots
	add    func(from, to int32, proof models.Row)
}

// notOwn: the transaction.
var notOwn = &fastpath.Pattern{Name: "internal", Says: "{name 0} does not show what it had read and appended itself by then"}

// neverAppended: the reader, and the first one that appended the element later, or Missing.
var neverAppended = &fastpath.Pattern{Name: "never-appended", ChooseKind: fastpath.OrFuture, Choose: func(_ models.Teller, rows []models.Row) string {
	s := "{name 0} read {elements}, which nothing had appended by then"
	if rows[1] != fastpath.Missing {
		s += "; {name 1} appended it only later"
	}
	return s
}}

// forks: both readers.
var forks = &fastpath.Pattern{Name: "incompatible-order", Says: "{name 0} and {name 1} read lists of the same key of which neither is the beginning of the other",
	Kind: models.Diverged}

// notInitial: the reader.
var notInitial = &fastpath.Pattern{Name: "initial-missing", Says: "{name 0} read a list that does not begin with the elements that were there initially"}

// partly: the reader and the one that appended what it shows only some of.
var partly = &fastpath.Pattern{Name: "torn-append", Says: "{name 0} shows only some of what {name 1} appended, or in another order"}

// doubled: the reader.
var doubled = &fastpath.Pattern{Name: "duplicate-element", Says: "{name 0} shows {elements} twice, which was appended once", Kind: models.Duplicate}

// cyclic: those of a cycle, and those whose reads show that.
var cyclic = &fastpath.Pattern{Name: "cycle", Says: "what these transactions read, and when, puts each of them before the next, and the last before the first", Bare: true}

// twice: the two that append the same value, or Initial and one.
var twice = &fastpath.Pattern{Choose: func(_ models.Teller, rows []models.Row) string {
	if rows[0] == fastpath.Initial {
		return "{name 1} appended a value that was in the list initially"
	}
	return "a value was appended twice to the same key: {name 0} and {name 1}"
}}

func listAppend(ctx context.Context, c *models.Columns, shape models.TxnListsShape, want fastpath.Want) fastpath.Decision {
	a := fastpath.Algorithm{
		Decide:   func(in fastpath.Input, witness bool) fastpath.Result { return decide(in, &shape, witness) },
		Evidence: func(in fastpath.Input, r fastpath.Result, d *fastpath.Decision) { core(in, &shape, r.Keys, d) },
		Later:    func(c *models.Columns, why *fastpath.Finding, fail int32) { later(c, &shape, why, fail) },
	}
	return a.Run(fastpath.PlainInput(ctx, c), want)
}

// later adds to a read of what nothing had appended by an event what appended it later.
func later(c *models.Columns, shape *models.TxnListsShape, why *fastpath.Finding, fail int32) {
	if !why.Is(neverAppended) {
		return
	}
	shown := map[int32]bool{}
	for _, s := range shape.Of(c.A[why.Rows[0]]) {
		if !s.Append {
			for _, e := range shape.List(s) {
				shown[e] = shown[e] || int32(shape.Value(e)) == why.Values[0]
			}
		}
	}
	for row := range models.Row(c.Len()) {
		if c.Inv[row] > fail && slices.ContainsFunc(shape.Of(c.A[row]), func(s models.ListStep) bool { return s.Append && shown[s.Value] }) {
			why.Rows[1] = row
			return
		}
	}
}

// core finds the core of a history that ends where it fails. Any transactions are a choice, in which elements that others append
// do not count (models.TxnListsShape.Alone): without these, a linearization of all is one of the choice. So a choice that
// holds more fails if a smaller one does.
func core(in fastpath.Input, shape *models.TxnListsShape, keys []models.Row, d *fastpath.Decision) {
	a := fastpath.Algorithm{
		Decide: func(some fastpath.Input, witness bool) fastpath.Result {
			alone := shape.Alone(in.Columns, some.Columns, in.Events)
			return decide(some, &alone, witness)
		},
		Needs: func(fastpath.Input) fastpath.Needs {
			return func(_ models.Row, out []models.Row) []models.Row { return out }
		},
	}
	a.Core(in, keys, d)
}

// owners returns the row that appends each element. It calls again for the second one that appends the same.
func owners(in fastpath.Input, shape *models.TxnListsShape, again func(first, second models.Row)) []models.Row {
	owner := make([]models.Row, shape.Elements)
	for e := range owner {
		owner[e] = fastpath.Missing
	}
	for _, list := range shape.Init {
		for _, e := range list {
			owner[e] = fastpath.Initial
		}
	}
	for row := range models.Row(in.Len()) {
		for _, s := range shape.Of(in.A[row]) {
			if !s.Append {
				continue
			}
			if owner[s.Value] != fastpath.Missing && again != nil {
				again(owner[s.Value], row)
			}
			owner[s.Value] = row
		}
	}
	return owner
}

func decide(in fastpath.Input, shape *models.TxnListsShape, witness bool) fastpath.Result {
	g := &graph{in: in, shape: shape, happened: make([]bool, in.Len()), because: make([]models.Row, in.Len()),
		order: make([][]int32, shape.Slots), shower: make([]models.Row, shape.Slots), own: make([]ownSteps, shape.Slots)}
	for slot := range g.shower {
		g.shower[slot] = fastpath.Initial
	}
	copy(g.order, shape.Init)
	var ambiguous *fastpath.Finding
	g.owner = owners(in, shape, func(first, second models.Row) {
		if ambiguous == nil {
			ambiguous = twice.Of(first, second)
		}
	})
	if ambiguous != nil {
		return fastpath.Result{Reason: ambiguous}
	}
	g.shows = make([]show, 0, reads(in, shape))
	g.next, g.inner = make([]int32, shape.Elements), make([]bool, shape.Elements)
	for row, res := range in.Res {
		g.happened[row] = res != models.Open
	}
	for row, res := range in.Res {
		if res == models.Open {
			continue
		}
		for g.todo = append(g.todo, models.Row(row)); len(g.todo) > 0; {
			next := g.todo[len(g.todo)-1]
			g.todo = g.todo[:len(g.todo)-1]
			if why := g.look(next); why != nil {
				return g.wrong(why)
			}
		}
	}
	if why := g.compare(); why != nil {
		return g.wrong(why)
	}
	if why := g.versions(); why != nil {
		return g.wrong(why)
	}
	out, left, why := g.out()
	if why != nil {
		return g.wrong(why)
	}
	order, cycle := g.sort(out, left)
	if cycle != nil {
		return g.wrong(cyclic.Of(cycle...))
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = order
	}
	return r
}

// reads returns how many reads there are.
func reads(in fastpath.Input, shape *models.TxnListsShape) (n int) {
	for _, txn := range in.A {
		for _, s := range shape.Of(txn) {
			if !s.Append {
				n++
			}
		}
	}
	return n
}

// look looks at what a transaction shows.
func (g *graph) look(row models.Row) *fastpath.Finding {
	for _, s := range g.shape.Of(g.in.A[row]) {
		own := &g.own[s.Slot]
		if own.row != row+1 {
			*own = ownSteps{row + 1, own.appended[:0], -1}
		}
		if s.Append {
			if n := len(own.appended); n > 0 {
				g.next[own.appended[n-1]], g.inner[s.Value] = s.Value+1, true
			}
			own.appended = append(own.appended, s.Value)
			continue
		}
		list := g.shape.List(s)
		x := show{row, s.Slot, int32(len(list) - len(own.appended))}
		if x.outside < 0 || !slices.Equal(list[x.outside:], own.appended) || own.outside >= 0 && own.outside != x.outside {
			return notOwn.Of(row)
		}
		own.outside = x.outside
		if x.outside > 0 && g.owner[list[x.outside-1]] == row {
			return notOwn.Of(row)
		}
		if int(s.Slot) < len(g.shape.Init) && int(x.outside) < len(g.shape.Init[s.Slot]) {
			return notInitial.Of(row)
		}
		g.shows = append(g.shows, x)
		for _, e := range list[min(len(list), len(g.order[s.Slot])):] {
			o := g.owner[e]
			if o == fastpath.Missing {
				return neverAppended.Of(row, fastpath.Missing).About(g.value(e))
			}
			if o >= 0 && !g.happened[o] {
				g.happened[o], g.because[o] = true, row
				g.todo = append(g.todo, o)
			}
		}
		if len(list) > len(g.order[s.Slot]) {
			g.order[s.Slot], g.shower[s.Slot] = list, row
		}
	}
	return nil
}

// value returns the value of an element.
func (g *graph) value(element int32) int32 { return int32(g.shape.Value(element)) }

// compare makes sure that all lists of a key are beginnings of the longest one.
func (g *graph) compare() *fastpath.Finding {
	if len(g.shape.Odd) == 0 {
		return nil
	}
	for row := range models.Row(g.in.Len()) {
		if !g.happened[row] {
			continue
		}
		for _, s := range g.shape.Of(g.in.A[row]) {
			if s.Append {
				continue
			}
			list, longest := g.shape.List(s), g.order[s.Slot]
			if int(s.Slot) < len(g.shape.Init) && !slices.Equal(list[:len(g.shape.Init[s.Slot])], g.shape.Init[s.Slot]) {
				return notInitial.Of(row)
			}
			for i, e := range list {
				if e != longest[i] {
					return forks.Of(row, g.shower[s.Slot])
				}
			}
		}
	}
	return nil
}

// versions notes what the orders of versions show, and what they do not.
func (g *graph) versions() *fastpath.Finding {
	g.find()
	g.whole = make([]int32, g.in.Len())
	shown := make([]bool, g.shape.Elements)
	for slot, list := range g.order {
		for i, e := range list {
			if shown[e] {
				return doubled.Of(g.firstOf(int32(slot), i, g.shower[slot])).About(g.value(e))
			}
			shown[e] = true
		}
	}
	g.unseen, g.last = make([][]models.Row, g.shape.Slots), make([][]models.Row, g.shape.Slots)
	once := func(all *[]models.Row, row models.Row) {
		if n := len(*all); n == 0 || (*all)[n-1] != row {
			*all = append(*all, row)
		}
	}
	for row := range models.Row(g.in.Len()) {
		if !g.happened[row] {
			continue
		}
		for _, s := range g.shape.Of(g.in.A[row]) {
			if s.Append && !shown[s.Value] {
				once(&g.unseen[s.Slot], row)
			}
		}
	}
	for _, x := range g.shows {
		if int(x.outside) == len(g.order[x.slot]) {
			once(&g.last[x.slot], x.row)
		}
	}
	return nil
}

// edge adds an edge that a row shows, or -1.
func (g *graph) edge(from, to int32, proof models.Row) {
	if from >= 0 && from != to {
		g.add(from, to, proof)
	}
}

// edges adds the edges that the orders of versions show, in the same order each time.
func (g *graph) edges(add func(from, to int32, proof models.Row)) (why *fastpath.Finding) {
	g.nodes, g.add = int32(g.in.Len()), add
	after := make([]end, g.shape.Slots)
	for slot := range after {
		if after[slot], why = g.slot(int32(slot)); why != nil {
			return why
		}
	}
	for _, x := range g.shows {
		list, after := g.order[x.slot], after[x.slot]
		if x.outside > 0 {
			g.edge(g.owner[list[x.outside-1]], x.row, x.row)
		}
		if int(x.outside) < len(list) {
			g.edge(x.row, g.owner[list[x.outside]], -1)
		} else if after.next >= 0 {
			g.edge(x.row, after.next, -1)
		}
		if after.between >= 0 {
			if _, more := slices.BinarySearch(g.unseen[x.slot], x.row); !more {
				g.edge(x.row, after.between, -1)
			}
		}
	}
	return nil
}

// out returns the nodes that come after each, and how many edges lead to each. Edges are found twice, which takes less time than
// the memory for all that is known of each.
func (g *graph) out() (out after, left []int32, why *fastpath.Finding) {
	most := g.in.Len() + g.shape.Slots
	out.from, left = make([]int32, most+2), make([]int32, most)
	if why = g.edges(func(from, to int32, _ models.Row) {
		out.from[from+2]++
		left[to]++
	}); why != nil {
		return out, nil, why
	}
	for i := range most {
		out.from[i+2] += out.from[i+1]
	}
	out.to = make([]int32, out.from[most+1])
	g.edges(func(from, to int32, _ models.Row) {
		out.to[out.from[from+1]] = to
		out.from[from+1]++
	})
	return out, left[:g.nodes], nil
}

// after has the nodes that come after each node, those of node i from from[i] to from[i+1].
type after struct{ from, to []int32 }

// end is what comes after the longest list of a slot: the row that appends next if it is known, and the node between those that
// have read the list and all others that append. Either is -1 if there is none.
type end struct {
	next    models.Row
	between int32
}

// find finds who shows each place of an order first. A read of an element without the next one comes between the two that
// appended them, and a read of both shows their order. So the first read of an element shows that what follows comes later.
func (g *graph) find() {
	g.base = make([]int32, len(g.order)+1)
	for slot, list := range g.order {
		g.base[slot+1] = g.base[slot] + int32(len(list))
	}
	g.first = make([]models.Row, g.base[len(g.order)])
	for i := range g.first {
		g.first[i] = -1
	}
	earlier := func(at int32, row models.Row) {
		if now := g.first[at]; row >= 0 && (now < 0 || g.known(row) < g.known(now)) {
			g.first[at] = row
		}
	}
	for _, x := range g.shows {
		if x.outside > 0 {
			earlier(g.base[x.slot]+x.outside-1, x.row)
		}
	}
	for slot, list := range g.order {
		for at := g.base[slot] + int32(len(list)) - 1; at > g.base[slot]; at-- {
			earlier(at-1, g.first[at])
		}
	}
}

// firstOf returns who shows a place of the order of a slot first, or another row if only the one that appended it does.
func (g *graph) firstOf(slot int32, place int, other models.Row) models.Row {
	if row := g.first[g.base[slot]+int32(place)]; row >= 0 {
		return row
	}
	return other
}

// slot adds the edges of a key between those that append, and returns what comes after the longest list.
func (g *graph) slot(slot int32) (after end, why *fastpath.Finding) {
	after = end{-1, -1}
	list, last, proof := g.order[slot], models.Row(-1), models.Row(-1)
	for i := 0; i < len(list); {
		row := g.owner[list[i]]
		if row < 0 {
			i++
			continue
		}
		n, complete := g.block(list[i:])
		if n == 0 || !complete && i+n < len(list) {
			return after, partly.Of(g.firstOf(slot, min(i+n, len(list)-1), g.shower[slot]), row)
		}
		g.edge(last, row, proof)
		proof = g.firstOf(slot, i, -1)
		if !complete { // the rest of its elements come next
			after.next = row
		}
		last = row
		i += n
	}
	for _, row := range g.last[slot] {
		g.whole[row] = slot + 1
	}
	begun, first := after.next, after.next
	var rest []models.Row
	for _, row := range g.unseen[slot] {
		switch {
		case row == begun:
		case g.whole[row] == slot+1 && first < 0:
			first = row
		default:
			rest = append(rest, row)
		}
	}
	for _, row := range rest {
		if first >= 0 && g.whole[row] == slot+1 {
			g.edge(row, first, row) // each has read the list before the other appended
		}
	}
	if first >= 0 && first != begun {
		g.edge(last, first, first)
		after.next, last, proof = first, first, -1
	}
	if len(rest) == 0 {
		return after, nil
	}
	after.between = g.nodes
	g.nodes++
	g.edge(last, after.between, proof)
	for _, row := range rest {
		g.edge(after.between, row, -1)
	}
	return after, nil
}

// block returns how many elements at the beginning of a list are those that the row of the first one appends, in order from its
// first one.
func (g *graph) block(list []int32) (n int, complete bool) {
	if g.inner[list[0]] {
		return 0, false
	}
	for n = 1; g.next[list[n-1]] > 0; n++ {
		if n == len(list) || list[n] != g.next[list[n-1]]-1 {
			return n, false
		}
	}
	return n, true
}

// sort returns the rows that happened in a topological order, or a cycle. It keeps real time by going through the events: a row
// waits until its invocation has been passed, and a return is passed once its row stands in the order.
func (g *graph) sort(out after, left []int32) (order, cycle []models.Row) {
	n, rows := g.nodes, models.Row(g.in.Len())
	for row, happened := range g.happened {
		if happened {
			left[row]++
		}
	}
	queue := make([]int32, 0, n)
	for i, l := range left {
		if l == 0 {
			queue = append(queue, int32(i))
		}
	}
	free := func(node int32) {
		if left[node]--; left[node] == 0 {
			queue = append(queue, node)
		}
	}
	returns, event, invoked := g.in.Returns(), int32(0), models.Row(0)
	const done = -1
	for i := 0; ; i++ {
		for ; event < g.in.Events; event++ {
			if invoked < rows && g.in.Inv[invoked] == event {
				if g.happened[invoked] {
					free(invoked)
				}
				invoked++
			} else if r := returns[event]; r > 0 && left[r-1] != done {
				break
			}
		}
		if i == len(queue) {
			break
		}
		node := queue[i]
		left[node] = done
		for _, to := range out.to[out.from[node]:out.from[node+1]] {
			free(to)
		}
	}
	if len(queue) < int(n) {
		return nil, g.cycle(left, returns, event)
	}
	return slices.DeleteFunc(queue, func(node int32) bool { return node >= rows || !g.happened[node] }), nil
}

// wrong returns the result for a violation. Its operations, and those that show that they happened, show it.
func (g *graph) wrong(why *fastpath.Finding) fastpath.Result {
	rows := slices.Clone(why.Rows)
	for i := 0; i < len(rows); i++ {
		if row := rows[i]; row >= 0 && g.in.Res[row] == models.Open {
			rows = append(rows, g.because[row])
		}
	}
	r := fastpath.Result{Verdict: jepsen.Invalid, End: -1, Why: why}
	for _, row := range rows {
		if row < 0 {
			continue
		}
		r.Keys = append(r.Keys, row)
		if res := g.in.Res[row]; res != models.Open {
			r.End = max(r.End, res)
		}
	}
	slices.Sort(r.Keys)
	r.Keys = slices.Compact(r.Keys)
	r.Keys = slices.DeleteFunc(r.Keys, func(row models.Row) bool { return g.in.Inv[row] > r.End }) // a crashed one, invoked too late
	return r
}
