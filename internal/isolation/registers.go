package isolation

import (
	"cmp"
	"context"
	"slices"

	"clew/edn"
	"clew/models"
)

// # Registers that transactions write
//
// Decides: at which levels transactions are that read and write registers, and the anomalies that are not cycles.
//
// Precondition: what a read shows was written by one transaction, or is the initial value.
//
// Cost: linear, and for levels that ask for an order or snapshots the searches in searched.go.
//
// It is known which version each read saw, but not the order of versions. So the graph has only what holds in each order:
//
//   - WR: from the transaction that wrote a version to those that read it;
//   - RW: from those that read the initial version to all others that write the key; and from those that read a version to the
//     one that read it, too, and wrote the key. If updates do not overlap, the latter makes the next version.
//
// Lemma 7. Besides the anomalies of this file, a history is at read committed if and only if WR has no cycle: a topological
// order of the transactions orders all versions without WW against WR. So it is at read uncommitted in any case.
//
// Lemma 8. A cycle of the graph that a stronger level does not allow shows that the history is not at that level: each edge
// holds at all of them. If there is none, the search decides.

// Registers is a history of transactions that read and write registers.
type Registers struct {
	History
	Found

	ctx    context.Context
	ops    *models.Operations
	shape  *models.TxnRegistersShape
	makers map[cell]maker
	reads  []registerRead
	next   map[cell]int32 // by version: the transaction that read it and wrote the key
	shower []int32        // by transaction: one that read what it wrote, or -1
	asking *graphed
}

// cell is a value of a key.
type cell struct{ key, value int32 }

// maker is what wrote a value.
type maker struct {
	txn      int32 // or one of the owners that are not transactions
	replaced bool  // the transaction wrote the key again
}

// registerRead is a read of a version that its transaction had not written itself.
type registerRead struct {
	txn int32
	cell
	by    int32 // a transaction or initialOwner
	outer bool  // the transaction had neither read nor written the key before
}

// ReadRegisters reads transactions on registers. If several may have written what one read, it returns that one and two of
// those; the first of them may be -1, for the initial value.
func ReadRegisters(ctx context.Context, ops *models.Operations) (r *Registers, several []int32) {
	shape, _ := models.ShapeOf[models.TxnRegistersShape](ops.Model)
	r = &Registers{ctx: ctx, ops: ops, shape: &shape, makers: map[cell]maker{}, next: map[cell]int32{}}
	r.Inv, r.Res, r.Events = ops.Inv, ops.Res, ops.Events
	r.Process = processes(ops)
	twice := r.written()
	r.Happened, r.shower = make([]bool, len(r.Inv)), slices.Repeat([]int32{-1}, len(r.Inv))
	for txn, res := range r.Res {
		if res == models.Open {
			continue
		}
		r.Happened[txn] = true
		if several = r.look(int32(txn), twice); several != nil {
			return nil, several
		}
	}
	for _, x := range r.reads {
		if x.by >= 0 {
			r.Happened[x.by] = true
		}
	}
	r.lostUpdates()
	slices.SortStableFunc(r.Anomalies, func(a, b Anomaly) int { return cmp.Compare(a.Txn, b.Txn) })
	return r, nil
}

// processes returns the process of each transaction.
func processes(ops *models.Operations) []int32 {
	process := make([]int32, ops.Len())
	for row, op := range ops.Of {
		process[row] = ops.History.Process[ops.History.Invocation[op]]
	}
	return process
}

// Key returns the key with a number.
func (r *Registers) Key(key int32) edn.ID { return r.shape.Key(key) }

// Value returns a value by its class.
func (r *Registers) Value(class int32) edn.ID { return edn.ID(class) }

func (r *Registers) steps(txn int32) []models.RegisterStep { return r.shape.Of(r.ops.A[txn]) }

// written finds what wrote each value. It returns the first of those that several wrote.
func (r *Registers) written() (twice map[cell][2]int32) {
	twice = map[cell][2]int32{}
	slots := int32(0)
	r.From = make([]int32, 1, len(r.Inv)+1)
	for txn := range int32(len(r.Inv)) {
		steps := r.steps(txn)
		for i, s := range steps {
			slots = max(slots, s.Slot+1)
			if !slices.ContainsFunc(steps[:i], func(before models.RegisterStep) bool { return before.Slot == s.Slot }) {
				r.Touched = append(r.Touched, s.Slot)
			}
		}
		r.From = append(r.From, int32(len(r.Touched)))
	}
	r.Made = make([][]int32, slots)
	for key := range slots {
		r.makers[cell{key, r.shape.Init(key)}] = maker{txn: initialOwner}
	}
	for txn := range int32(len(r.Inv)) {
		for _, s := range r.steps(txn) {
			if !s.Write {
				continue
			}
			c := cell{s.Slot, s.Value}
			if other, known := r.makers[c]; known && other.txn != txn {
				twice[c] = [2]int32{other.txn, txn}
			}
			r.makers[c] = maker{txn, !s.Outer}
		}
	}
	txns, writes := r.shape.Failed(r.ops.History)
	r.Failed = txns
	for i, steps := range writes {
		for _, s := range steps {
			c := cell{s.Slot, s.Value}
			if _, known := r.makers[c]; !known {
				r.makers[c] = maker{txn: failedOwner - int32(i)}
			}
		}
	}
	return twice
}

// look looks at the reads of a transaction.
func (r *Registers) look(txn int32, twice map[cell][2]int32) (several []int32) {
	steps := r.steps(txn)
	for i, s := range steps {
		if s.Write {
			continue
		}
		own, saw, mine := int32(-1), int32(-1), false // the steps that it has to agree with; whether it had written the value
		for j, before := range steps[:i] {
			switch {
			case before.Slot != s.Slot:
			case before.Write:
				own, mine = int32(j), mine || before.Value == s.Value
			case own < 0:
				saw = int32(j)
			}
		}
		if own >= 0 {
			saw = own
		}
		if saw >= 0 {
			if steps[saw].Value == s.Value {
				continue
			}
			r.found(Internal, txn, -1, s)
		}
		if mine {
			continue
		}
		if two, is := twice[cell{s.Slot, s.Value}]; is {
			return []int32{txn, two[0], two[1]}
		}
		r.read(txn, s, saw < 0)
	}
	return nil
}

// read looks at a read of what the transaction had not written by then.
func (r *Registers) read(txn int32, s models.RegisterStep, outer bool) {
	c := cell{s.Slot, s.Value}
	m, known := r.makers[c]
	switch {
	case !known:
		r.found(Garbage, txn, -1, s)
	case m.txn <= failedOwner:
		r.found(AbortedRead, txn, m.txn, s)
	case m.txn == txn:
		r.found(FutureRead, txn, -1, s)
	default:
		if m.replaced {
			r.found(HalfRead, txn, m.txn, s)
		}
		if m.txn >= 0 {
			r.shower[m.txn] = txn
		}
		r.reads = append(r.reads, registerRead{txn, c, m.txn, outer})
	}
}

// found adds an anomaly of a read, unless its transaction has it already.
func (r *Registers) found(kind Kind, txn, other int32, s models.RegisterStep) {
	x := Anomaly{Kind: kind, Txn: txn, Other: max(-1, other), Failed: -1, Key: s.Slot, Element: s.Value}
	if other <= failedOwner {
		x.Failed = failedOwner - other
	}
	for i := len(r.Anomalies) - 1; i >= 0 && r.Anomalies[i].Txn == txn; i-- {
		if a := &r.Anomalies[i]; a.Kind == kind && a.Key == x.Key && (kind == Internal || a.Element == x.Element) {
			return
		}
	}
	r.Anomalies = append(r.Anomalies, x)
}

// leaves returns what a transaction leaves at a key, if it writes it.
func (r *Registers) leaves(txn, key int32) (value int32, writes bool) {
	for _, s := range r.steps(txn) {
		if s.Write && s.Outer && s.Slot == key {
			return s.Value, true
		}
	}
	return 0, false
}

// lostUpdates finds which transaction overwrote the version that it had read, and whether several did.
func (r *Registers) lostUpdates() {
	at := map[cell]int{} // the place of the anomaly
	for _, x := range r.reads {
		if _, writes := r.leaves(x.txn, x.key); !writes || !x.outer {
			continue
		}
		first, some := r.next[x.cell]
		if !some {
			r.next[x.cell] = x.txn
			continue
		}
		i, told := at[x.cell]
		if !told {
			i = len(r.Anomalies)
			at[x.cell] = i
			r.Anomalies = append(r.Anomalies, Anomaly{Kind: LostUpdate, Txn: first, Other: -1, Failed: -1, Key: x.key, Element: x.value, Others: []int32{first}})
		}
		r.Anomalies[i].Others = append(r.Anomalies[i].Others, x.txn)
	}
}

// graph returns the edges that hold in each order.
func (r *Registers) graph(keys bool) *Graph {
	n := int32(len(r.Inv))
	g := &Graph{Txns: n, Nodes: n}
	writers := make([]int32, len(r.Made)) // by key: the node before all that write it and have not read its initial version, or 0
	for _, x := range r.reads {
		if x.by == initialOwner && x.outer && writers[x.key] == 0 {
			writers[x.key] = g.Node()
		}
	}
	for _, x := range r.reads {
		next, overwritten := r.next[x.cell]
		if x.by >= 0 {
			g.Add(x.by, x.txn, WR, x.key, x.value)
		}
		if overwritten && x.outer {
			value, _ := r.leaves(next, x.key)
			g.Add(x.txn, next, RW, x.key, value)
		}
		value, writes := r.leaves(x.txn, x.key)
		if overwritten && x.outer && writes { // an update was lost
			g.Add(next, x.txn, RW, x.key, value)
		}
		if x.by == initialOwner && x.outer && (!writes || next == x.txn) {
			g.Add(x.txn, writers[x.key], RW, x.key, -1)
		}
	}
	for txn := range n {
		if !r.Happened[txn] {
			continue
		}
		for _, s := range r.steps(txn) {
			if !s.Write || !s.Outer || writers[s.Slot] == 0 {
				continue
			}
			if next, some := r.next[cell{s.Slot, r.shape.Init(s.Slot)}]; !some || next != txn {
				g.Add(writers[s.Slot], txn, through, s.Slot, s.Value)
			}
		}
	}
	r.inTime(g)
	if keys {
		r.inTimeByKey(g)
	}
	return g
}

// Cycles returns cycles of all kinds.
func (r *Registers) Cycles() []Cycle { return r.asked().of(false).cycles(&r.asking.left) }

func (r *Registers) asked() *graphed {
	if r.asking == nil {
		r.asking = r.graphed(r.graph)
	}
	return r.asking
}

// Showing returns the transactions that show which of some transactions happened, besides these themselves.
func (r *Registers) Showing(_ []Step, txns []int32) (all []int32) {
	for _, txn := range txns {
		if by := r.shower[txn]; r.Res[txn] == models.Open && by >= 0 && !slices.Contains(txns, by) && !slices.Contains(all, by) {
			all = append(all, by)
		}
	}
	return all
}

// Wrong says what is wrong with the evidence of an answer, or "", and whether it has evidence that can be checked.
func (r *Registers) Wrong(a Answer) (why string, checked bool) {
	switch {
	case a.Open != nil:
		at, all := r.tried(a.Open, a.Level)
		if at {
			return "there is an order of the transactions that should have none", true
		}
		return "", all
	case a.Order != nil:
		return r.inOrder(a.Order, relations[a.Level].of), true
	case a.Points != nil:
		return r.replayed(a.Points, relations[a.Level].of), true
	case a.Cycle != nil:
		return r.follow(a.Cycle, r.holds), true
	}
	return "", false
}

// replayed says what is wrong with snapshots and commits.
func (r *Registers) replayed(points []int32, of Relation) string {
	now := map[int32]int32{}
	for key := range int32(len(r.Made)) {
		now[key] = r.shape.Init(key)
	}
	return r.replay(points, of, stored{
		func(txn int32) bool { return r.explains(txn, now) },
		func(txn int32) (keys []int32) {
			for _, s := range r.steps(txn) {
				if s.Write {
					keys = append(keys, s.Slot)
				}
			}
			return keys
		},
		func(txn int32) { r.write(txn, now) },
	})
}

// Direct reports whether the micro-operations of its transactions alone show a step. Others hold in each order (certain.go).
func (r *Registers) Direct(s Step) bool { return s.Why&(Process|Time|KeyTime) != 0 || r.holds(s) }

// holds reports whether a step holds that is not in time.
func (r *Registers) holds(s Step) bool {
	read := func(txn, value int32) bool {
		return r.Res[txn] != models.Open && slices.ContainsFunc(r.steps(txn), func(x models.RegisterStep) bool {
			return !x.Write && x.Slot == s.Key && x.Value == value
		})
	}
	switch s.Why {
	case WR:
		return r.makers[cell{s.Key, s.Value}].txn == s.From && read(s.To, s.Value)
	case Process, Time, KeyTime: // follow looks at these
		return true
	}
	left, writes := r.leaves(s.To, s.Key)
	if s.Why != RW || !writes || left != s.Value {
		return false
	}
	return slices.ContainsFunc(r.steps(s.From), func(x models.RegisterStep) bool {
		return !x.Write && x.Slot == s.Key && r.Res[s.From] != models.Open &&
			(x.Value == r.shape.Init(s.Key) || read(s.To, x.Value)) && r.makers[cell{s.Key, x.Value}].txn != s.To
	})
}
