package transaction

import (
	"context"
	"slices"

	"clew/fastpath"
	"clew/internal/cdcl"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # Transactions that read and write registers
//
// Decides: histories of transactions, each of which reads and writes the registers of some keys at one instant. With real
// time it decides whether they are strictly serializable, and without it whether they are serializable.
//
// Precondition: what a read shows was written at most once to its key, the initial value included.
//
// Cost: a pass over the events. The order of two writes is a choice, which a search makes, only if a read shows that it
// matters and what is known does not tell it. In real time only writes that were concurrent leave one. Deciding it looks
// at what was concurrent with both. The worst case is exponential (Papadimitriou, "The serializability of concurrent
// database updates", 1979), so the search is bounded.
//
// Rests on: Biswas and Enea, "On the complexity of checking transactional consistency", OOPSLA 2019, for the choices; the
// solver of package cdcl; the order of order.go; and the following.
//
// A version is what a transaction leaves at a key, or the initial value. It is known which version each read saw. A
// transaction that read a version of a key and wrote the key comes next after that version. So versions form chains, and
// those of a chain stand next to each other. The graph has an edge from a transaction to another one that must come after
// it:
//
//   - wr: from the one that left a version to its readers;
//   - rw: from the readers of a version to the next one in its chain;
//   - in real time: a chain has a node for each return, and each return is before all later invocations.
//
// The end of a chain is a node after its last version and the readers of that. For two chains of a key, either the end of
// the first comes before the beginning of the second, or the reverse. The chain of the initial value comes first.
//
// Lemma 1. If the edges have a cycle, whichever choice is made for each two chains of a key, there is no linearization: in
// each the versions of a key have an order. Those of a chain are neighbors in it, and the readers of a version stand
// before the next one. So each linearization makes all choices, and has all edges.
//
// Lemma 2. An order of the transactions, along all edges, in which each read shows the version that was left last at its
// key, is a linearization.
//
// So there is no need to make all choices. The order that the edges leave is replayed. Where a read does not show what was
// left last, the choice between two chains is open: that of the version which it shows, and that of the next one in the
// order. If a path leads from the beginning of one to the end of the other, it is made; otherwise a literal makes it. The
// literals of a cycle are a clause. Each round makes a new choice, so the rounds end.
//
// The pass goes along the completions. After each it has an order, so the first that leaves none is the first failing one.
//
// Crashed operations: what they read is not known. One has happened if a transaction that has happened read a version that
// it left; otherwise it is omitted. It has no return. The same holds for those still open when others complete: what they
// will have read counts as soon as they have happened.

// Violations that one or a few transactions show by themselves.
var (
	notLeft = &fastpath.Pattern{Name: "internal", Says: "{name 0} cannot have read {elements}: it does not show what the transaction itself had read or written before"}
	// unwritten (reader, who wrote it later): there may be no second one.
	unwritten = &fastpath.Pattern{Name: "never-written", ChooseKind: fastpath.OrFuture, Choose: func(_ models.Teller, v []models.Row) string {
		if v[1] != fastpath.Missing {
			return "{name 0} read {elements}, which nothing had written by then; {name 1} wrote it only later"
		}
		return "{name 0} read {elements}, which nothing had written by then"
	}}
	passing = &fastpath.Pattern{Name: "intermediate-read", Says: "{name 0} read {elements}, which {name 1} had itself overwritten", Kind: models.TornRead}
	// undone (first, second, who left the version that both saw).
	undone = &fastpath.Pattern{Name: "lost-update", Kind: models.LostUpdate, Says: "{name 0} and {name 1} both read {elements} and overwrote it, so one of them has undone the other"}
	// replaced (reader, who left the version that it saw, who overwrote that).
	replaced = &fastpath.Pattern{Name: "overwritten", Says: "{name 0} read {elements}, but {name 2} must have overwritten it before", Relate: func(v []models.Row) []models.Relation {
		if v[1] == fastpath.Initial {
			return []models.Relation{fastpath.Must(v[2], v[0])}
		}
		return []models.Relation{fastpath.Seen(v[1], v[0]), fastpath.Must(v[1], v[2]), fastpath.Must(v[2], v[0])}
	}}
	around    = &fastpath.Pattern{Name: "cycle", Says: "what these transactions read, and when, puts each of them before the next, and the last before the first"}
	unordered = &fastpath.Pattern{Name: "no-order", Says: "no order of these transactions fits what they read, whichever of their writes came first"}
	// again (reader, two that may have left what it read): the first of these may be Initial.
	again = &fastpath.Pattern{Choose: func(_ models.Teller, v []models.Row) string {
		if v[1] == fastpath.Initial {
			return "value {elements} of a key is the initial value, is written by {who 2}, and read by {who 0}"
		}
		return "value {elements} of a key is written by {who 1} and {who 2}, and read by {who 0}"
	}}
	tooMany = &fastpath.Pattern{Says: "too many orders of the writes were possible"}
)

func rwRegister(ctx context.Context, c *models.Columns, shape models.TxnRegistersShape, want fastpath.Want) fastpath.Decision {
	return onRegisters(&shape, &Keeps{Time: true}).Run(fastpath.PlainInput(ctx, c), want)
}

// onRegisters returns the decision for what an order keeps.
func onRegisters(shape *models.TxnRegistersShape, keeps *Keeps) *fastpath.Algorithm {
	return &fastpath.Algorithm{
		Decide: func(in fastpath.Input, witness bool) fastpath.Result {
			return newSweep(in, shape, keeps).run(witness)
		},
		Needs: func(in fastpath.Input) fastpath.Needs {
			v := versionsOf(in, shape)
			return func(o models.Row, out []models.Row) []models.Row {
				for _, r := range v.readsOf(o) {
					if r.owner >= 0 {
						out = append(out, r.owner)
					}
				}
				return out
			}
		},
		Later: func(c *models.Columns, why *fastpath.Finding, failEvent int32) {
			writtenLater(c, shape, why, failEvent)
		},
	}
}

// writtenLater finds the transaction that writes after the failure what nothing had written.
func writtenLater(c *models.Columns, shape *models.TxnRegistersShape, why *fastpath.Finding, failEvent int32) {
	if !why.Is(unwritten) {
		return
	}
	for row := models.Row(c.Len()) - 1; row >= 0 && c.Inv[row] > failEvent; row-- {
		for _, w := range shape.Of(c.A[row]) {
			for _, r := range shape.Of(c.A[why.Rows[0]]) {
				if w.Write && !r.Write && r.Outer && w.Slot == r.Slot && w.Value == r.Value && slices.Contains(why.Values, w.Value) {
					why.Rows[1] = row
				}
			}
		}
	}
}

// sweep is the pass over a history.
type sweep struct {
	versions
	order
	*keeping
	in       fastpath.Input
	returns  []int32 // as Input.Returns has them
	contrary bool    // for tests: choices are made against the order, and paths do not tell any
	s        *cdcl.Solver

	// By row.
	state   []int8       // whether it has happened
	because []models.Row // the one that shows that it has
	fresh   []models.Row // those that have just happened

	// By version.
	chain   []int32 // the first version of its chain
	after   []int32 // the next one in its chain, or -1
	last    []int32 // by first version: the last one of the chain
	end     []int32 // by first version: the node of the chain's end, or -1; with snapshots, the next node is that of its readers
	base    []int32 // with snapshots: the version that its transaction overwrites
	readers []int32 // the last reader in the list, plus 1
	left    []int32 // the version before it in the order that was replayed
	next    []int32 // the version after it there, or -1

	reader, nextReader []int32
	now                []int32 // by slot: the version at the end of what was replayed
	replayed           []int32 // nodes, as they stood
	pairs              map[uint64]bool

	todo     []edge // fixed edges, of which those from ready on are not in the graph yet
	ready    int
	from, to [2][]int32
	stands   []int32 // by chosen edge: the place of its literal in the trail
	head     int     // how much of the trail is in the graph
	counted  int64   // how much of the work the solver knows of
	cycle    []models.Row
	plain    bool // the last cycle does not rest on a choice of the solver
}

// The states of rows.
const (
	notYet int8 = iota
	begun
	happened
)

// run decides whether transactions have an order that keeps what it has to.
func (s *sweep) run(witness bool) fastpath.Result {
	if s.ambiguous != nil {
		return fastpath.Result{Reason: s.ambiguous}
	}
	in := s.in
	levels, done := [2]int{}, 0
	for t := range in.Events {
		r := s.returns[t] - 1
		if r < 0 {
			continue
		}
		if why := s.collect(r, t); why != nil {
			return s.wrong(why, why.Rows, t, r)
		}
		if why := s.add(r); why != nil {
			return s.wrong(why, why.Rows, t, r)
		}
		switch s.solve() {
		case cdcl.Stopped:
			return fastpath.Result{Reason: tooMany.Of()}
		case cdcl.Unsatisfiable:
			return s.wrong(s.why(), s.cycle, t, r)
		}
		if done++; done%keptCompletions == 0 {
			in.Poll()
			s.s.SetBase(levels[0])
			levels[0], levels[1] = levels[1], s.s.Level()
		}
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		for _, node := range s.at {
			switch {
			case s.snapshots && s.isRow(node):
				r.Witness = append(r.Witness, 2*node)
			case s.snapshots && int(node) < 2*in.Len():
				r.Witness = append(r.Witness, 2*s.rowOf(node)+1)
			case s.isRow(node):
				r.Witness = append(r.Witness, node)
			}
		}
	}
	return r
}

// keptCompletions is how many completions lie between two times that the solver is told what it should no longer change.
const keptCompletions = 64

// mostConflicts bounds the search.
const mostConflicts = 200_000

func newSweep(in fastpath.Input, shape *models.TxnRegistersShape, keeps *Keeps) *sweep {
	s := &sweep{versions: versionsOf(in, shape), in: in, returns: in.Returns(), pairs: map[uint64]bool{}}
	n, v := in.Len(), int(s.slots)+len(s.owners)
	s.state, s.because = make([]int8, n), make([]models.Row, n)
	s.chain, s.after, s.last, s.end = nones(v), nones(v), nones(v), nones(v)
	s.readers, s.left, s.next, s.base = make([]int32, v), nones(v), nones(v), nones(v)
	s.now = make([]int32, s.slots)
	for slot := range s.slots {
		s.now[slot], s.chain[slot], s.last[slot] = slot, slot, slot
	}
	rows := n
	if keeps.Snapshots {
		rows = 2 * n
	}
	reads := len(s.reads)
	s.reserve(rows+n, 3*n+2*reads) // most returns have a node, and two edges; a row follows one, and a read is between two versions
	s.reader, s.nextReader = hugepages.Grow(s.reader, reads), hugepages.Grow(s.nextReader, reads)
	for range rows {
		s.newNode()
	}
	s.keeping = newKeeping(s, shape, keeps)
	s.s = cdcl.New(s, cdcl.Options{Poll: func() bool {
		in.Poll()
		return s.s.Conflicts < mostConflicts && (keeps.Work == 0 || s.work < keeps.Work)
	}})
	return s
}

func nones(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

// future says whether a row cannot have happened by a time. Without real time it may show before it is invoked.
func (s *sweep) future(row models.Row, t int32) bool { return s.time && s.in.Inv[row] > t }

// collect lists a row and those whose versions it read, as far as they have not happened, each after what it read. t is the
// time.
func (s *sweep) collect(row models.Row, t int32) *fastpath.Finding {
	if s.state[row] != notYet {
		return nil
	}
	s.state[row] = begun
	if why := s.findings[row]; why != nil {
		if owner := why.Rows[len(why.Rows)-1]; owner >= 0 && s.future(owner, t) {
			return unwritten.Of(row, fastpath.Missing).About(why.Values...)
		}
		return why
	}
	for _, r := range s.readsOf(row) {
		if r.owner < 0 || s.state[r.owner] != notYet {
			continue
		}
		if s.future(r.owner, t) {
			return unwritten.Of(row, fastpath.Missing).About(r.value)
		}
		s.because[r.owner] = row
		if why := s.collect(r.owner, t); why != nil {
			return why
		}
	}
	s.fresh = append(s.fresh, row)
	return nil
}

// add adds those that have just happened, and the return of a row.
func (s *sweep) add(row models.Row) *fastpath.Finding {
	for _, f := range s.fresh {
		s.state[f] = happened
		s.happens(f)
		for e := s.wFrom[f]; e < s.wFrom[f+1]; e++ {
			s.chain[s.slots+e], s.last[s.slots+e] = s.slots+e, s.slots+e
		}
	}
	for _, f := range s.fresh {
		s.follows(f)
		for _, r := range s.readsOf(f) {
			if why := s.read(f, r); why != nil {
				return why
			}
		}
	}
	s.fresh = s.fresh[:0]
	s.returned(row)
	return nil
}

func (s *sweep) edge(from, to int32) { s.todo = append(s.todo, edge{from, to}) }

// read adds what a read shows.
func (s *sweep) read(row models.Row, r read) *fastpath.Finding {
	v := r.version
	if r.owner >= 0 {
		s.edge(s.commit(r.owner), row)
	}
	if r.over < 0 {
		s.reader, s.nextReader = append(s.reader, row), append(s.nextReader, s.readers[v])
		s.readers[v] = int32(len(s.reader))
		if s.after[v] >= 0 {
			s.edge(row, s.commit(s.ownerOf(s.after[v])))
		} else if end := s.end[s.chain[v]]; end >= 0 {
			s.edge(row, s.readersOf(end))
		}
		return nil
	}
	if other := s.after[v]; other >= 0 {
		return undone.Of(s.ownerOf(other), row, s.ownerOf(v)).About(r.value)
	}
	s.after[v] = r.over
	chain := s.chain[v]
	s.chain[r.over], s.last[chain] = chain, r.over
	for i := s.readers[v]; i > 0; i = s.nextReader[i-1] {
		s.edge(s.reader[i-1], s.commit(row))
	}
	if s.end[chain] >= 0 {
		s.edge(s.commit(row), s.end[chain])
	}
	return nil
}

// solve looks for an order.
func (s *sweep) solve() cdcl.Verdict {
	for {
		if v := s.s.Solve(); v != cdcl.Satisfiable {
			return v
		}
		if s.replay() {
			return cdcl.Satisfiable
		}
	}
}

// replay says whether each read shows what was left last and, with snapshots, each transaction overwrites what it found. If
// not, it asks for choices.
func (s *sweep) replay() bool {
	low := min(int(s.low), len(s.replayed))
	for _, node := range slices.Backward(s.replayed[low:]) {
		if row := s.leaves(node); row >= 0 {
			for e := s.wFrom[row]; e < s.wFrom[row+1]; e++ {
				left := s.left[s.slots+e]
				s.now[s.slot[e]], s.next[left] = left, -1
			}
		}
	}
	s.replayed = append(s.replayed[:low], s.at[low:]...)
	s.low = int32(len(s.at))
	s.work += int64(len(s.at) - low)
	fits := true
	for _, node := range s.replayed[low:] {
		if s.isRow(node) {
			fits = s.shows(node) && fits
		}
		if row := s.leaves(node); row >= 0 {
			fits = s.leave(row) && fits
		}
	}
	return fits
}

// shows says whether the reads of a row show what was left last.
func (s *sweep) shows(row models.Row) bool {
	fits := true
	for _, r := range s.readsOf(row) {
		if slot := s.slotOf(r.version); s.now[slot] != r.version {
			fits = false
			s.pair(s.chain[r.version], s.chain[s.next[r.version]])
		}
	}
	for e := s.wFrom[row]; e < s.wFrom[row+1]; e++ {
		s.base[s.slots+e] = s.now[s.slot[e]]
	}
	return fits
}

// leave replays what a row leaves, and says whether nothing was left since its reads.
func (s *sweep) leave(row models.Row) bool {
	fits := true
	for e := s.wFrom[row]; e < s.wFrom[row+1]; e++ {
		v, slot := s.slots+e, s.slot[e]
		if s.now[slot] != s.base[v] {
			fits = false
			s.pair(s.chain[v], s.chain[s.now[slot]])
		}
		s.left[v], s.next[s.now[slot]], s.now[slot] = s.now[slot], v, v
	}
	return fits
}

// pair chooses which of two chains comes first, or has the solver choose it.
func (s *sweep) pair(a, b int32) {
	if a > b {
		a, b = b, a
	}
	key := uint64(a)<<32 | uint64(b)
	if s.pairs[key] {
		return
	}
	s.pairs[key] = true
	endA, endB := s.endOf(a), s.endOf(b)
	if a < s.slots {
		s.first(endA, s.ownerOf(b))
		return
	}
	startA, startB := s.ownerOf(a), s.ownerOf(b)
	var because [2][]cdcl.Lit
	var made [2]bool
	for i, way := range [2][2]int32{{startA, endB}, {startB, endA}} {
		if made[i] = !s.contrary && s.precedes(way[0], way[1]); made[i] {
			because[i] = s.literals(nil)
		}
	}
	for i, way := range [2][2]int32{{endA, startB}, {endB, startA}} {
		if made[i] && len(because[i]) == 0 {
			s.first(way[0], way[1])
			return
		}
	}
	v := s.s.NewVar(s.s.NewGroup())
	s.from[0], s.to[0] = append(s.from[0], endA), append(s.to[0], startB)
	s.from[1], s.to[1] = append(s.from[1], endB), append(s.to[1], startA)
	for i, l := range [2]cdcl.Lit{cdcl.Pos(v), cdcl.Neg(v)} {
		if made[i] {
			s.s.AddLemma(append(because[i], l)...)
		}
	}
}

// first puts the end of a chain before the row that begins another one.
func (s *sweep) first(end int32, row models.Row) {
	s.edge(end, row)
	if s.snapshots {
		s.edge(s.readersOf(end), s.commit(row))
	}
}

// precedes says whether a path rules out that a chain that ends at end comes before the one that a row begins. path holds it.
func (s *sweep) precedes(row models.Row, end int32) bool {
	return s.leads(row, end) || s.snapshots && s.leads(s.commit(row), s.readersOf(end))
}

// endOf returns the node of a chain's end. A new one stands at the end of the order, so its edges close no cycle.
func (s *sweep) endOf(chain int32) int32 {
	if s.end[chain] < 0 {
		node := s.newNode()
		s.place(node)
		if s.end[chain] = node; s.snapshots {
			s.place(s.newNode())
		}
		v := s.last[chain]
		if v >= s.slots {
			s.fix(s.commit(s.ownerOf(v)), node)
		}
		for i := s.readers[v]; i > 0; i = s.nextReader[i-1] {
			s.fix(s.reader[i-1], s.readersOf(node))
		}
	}
	return s.end[chain]
}

// readersOf returns the node after the readers of the last version of a chain that ends at end.
func (s *sweep) readersOf(end int32) int32 {
	if s.snapshots {
		return end + 1
	}
	return end
}

// Propagate implements cdcl.Theory.
func (s *sweep) Propagate() bool {
	s.s.Steps += s.work - s.counted // so it polls more often if the graph is large
	s.counted = s.work
	for ; s.ready < len(s.todo); s.ready++ {
		e := s.todo[s.ready]
		if !s.fix(e.from, e.to) {
			s.circle(e.from)
			s.s.AddLemma(s.literals(nil)...)
			return true
		}
	}
	s.todo, s.ready = s.todo[:0], 0
	for trail := s.s.Trail(); s.head < len(trail); s.head++ {
		l := trail[s.head]
		end, row := s.from[l&1][l.Var()], s.to[l&1][l.Var()]
		if !s.chosenEdge(end, row, l) || s.snapshots && !s.chosenEdge(s.readersOf(end), s.commit(row), l) {
			return true
		}
	}
	return false
}

// chosenEdge adds an edge that the literal at the head of the trail makes. If that closes a cycle, it adds the clause that says so.
func (s *sweep) chosenEdge(from, to int32, l cdcl.Lit) bool {
	if !s.choose(from, to, l) {
		s.circle(from)
		s.plain = false
		s.s.AddLemma(append(s.literals(nil), l.Not())...)
		return false
	}
	s.stands = append(s.stands, int32(s.head))
	return true
}

// circle keeps the rows of a cycle that path and an edge from a node make.
func (s *sweep) circle(from int32) {
	s.cycle, s.plain = s.cycle[:0], true
	add := func(node int32) {
		if row := s.rowOf(node); row >= 0 && !slices.Contains(s.cycle, row) {
			s.cycle = append(s.cycle, row)
		}
	}
	add(from)
	for _, e := range s.path {
		add(s.begin(e))
		s.plain = s.plain && e >= 0
	}
	slices.Reverse(s.cycle)
}

// Undo implements cdcl.Theory.
func (s *sweep) Undo(n int) {
	for len(s.stands) > 0 && int(s.stands[len(s.stands)-1]) >= n {
		s.stands = s.stands[:len(s.stands)-1]
		s.takeBack()
	}
	s.head = min(s.head, n)
}

// Choose implements cdcl.Theory. It prefers the order in which two chains stand. Each group has the variable of its number.
func (s *sweep) Choose(group int32) (l cdcl.Lit, ok bool) {
	if l = cdcl.Pos(group); s.s.Value(l) != 0 {
		return l, false
	}
	if s.nodes[s.to[1][group]].pos > s.nodes[s.to[0][group]].pos != s.contrary {
		l = l.Not()
	}
	return l, true
}

// why says why there is no order.
func (s *sweep) why() *fastpath.Finding {
	few := s.in.Len() <= mostNamed
	if few && !s.snapshots {
		if why := s.overwritten(); why != nil {
			return why
		}
	}
	switch {
	case s.plain:
		return around.Of(s.cycle...)
	case !few:
		return unordered.Of(s.cycle...)
	}
	var all []models.Row
	for row, state := range s.state {
		if state == happened {
			all = append(all, models.Row(row))
		}
	}
	return unordered.Of(all...)
}

// mostNamed is how many transactions are looked at for a better finding.
const mostNamed = 64

// overwritten finds a read of a version that must have been overwritten before, by edges that are fixed.
func (s *sweep) overwritten() *fastpath.Finding {
	leads := map[int32]bool{} // by two rows: from<<16 | to
	next := make([][]int32, len(s.nodes))
	for _, edges := range [2][]edge{s.fixed.all, s.todo[s.ready:]} {
		for _, e := range edges {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	var visit func(from, node int32)
	visit = func(from, node int32) {
		for _, to := range next[node] {
			if x := from<<16 | to; !leads[x] {
				leads[x] = true
				visit(from, to)
			}
		}
	}
	for row, state := range s.state {
		if state == happened {
			visit(int32(row), int32(row))
		}
	}
	for row := range models.Row(s.in.Len()) {
		if s.state[row] != happened {
			continue
		}
		for _, r := range s.readsOf(row) {
			for e, w := range s.owners {
				if s.slot[e] == s.slotOf(r.version) && w != r.owner && w != row && leads[w<<16|row] && (r.owner < 0 || leads[r.owner<<16|w]) {
					return replaced.Of(row, r.owner, w).About(r.value)
				}
			}
		}
	}
	return nil
}

// wrong returns the result for a violation that some rows show at a time when one completes, together with those that show
// that they happened.
func (s *sweep) wrong(why *fastpath.Finding, rows []models.Row, t int32, completes models.Row) fastpath.Result {
	keys := append(slices.Clone(rows), completes)
	for i := 0; i < len(keys); i++ {
		if row := keys[i]; row >= 0 && s.in.Res[row] > t && s.state[row] != notYet && row != completes {
			keys = append(keys, s.because[row])
		}
	}
	keys = slices.DeleteFunc(keys, func(row models.Row) bool { return row < 0 || s.future(row, t) })
	slices.Sort(keys)
	return fastpath.Result{Verdict: jepsen.Invalid, End: t, Why: why, Keys: slices.Compact(keys)}
}
