package transaction

import (
	"context"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # What an order keeps, and snapshots
//
// Decides: whether transactions on registers have an order that keeps less than real time, or snapshots and commits.
//
// Precondition, cost and proof: those of rwregister.go, with the following.
//
// An order may keep that of each process, or real time only between transactions that concern the same key. Then a
// node follows each return, for each key, and leads to the next one of that key. If such an order is enough, a transaction
// may show before it is called.
//
// Real time may also be kept but for some transactions, which are loose. Then it may put the others before what they show, too.
//
// With snapshots, each transaction has two nodes, its snapshot before its commit. It reads at the former and leaves its
// versions at the latter. So wr leads from a commit to a snapshot, and rw from a snapshot to a commit. Of two that write the
// same key, one commits before the other takes its snapshot. A transaction that read a version and wrote the key still comes next
// after it: what is written between would be committed between that version's commit and the snapshot, or overlap. So there are the
// same chains. If one comes before another, its last commit comes before the first snapshot of the other one, and the
// snapshots that read its last version come before the first commit of the other one. Lemma 1 holds for such orders.
//
// Lemma 3. An order of snapshots and commits along all edges, in which each read shows what was committed last and no
// transaction commits on a version that was committed after its snapshot, is a solution: of two that overlap and write the
// same key, the one that commits later does. If it is not, its two chains were not ordered, and a choice orders them.

// Keeps says what an order of transactions has to keep. The zero value asks for any order.
type Keeps struct {
	Time      bool // that what returned comes before what is called later
	Keys      bool // the same, of transactions that concern a key in common
	Processes bool // the same, of transactions of one process
	Snapshots bool // transactions have snapshots and commits in such an order

	Process []int32 // by transaction: its process
	Loose   []bool  // by transaction: it need not keep Time. nil: all do
	Work    int64   // bounds the nodes and edges that the search follows, unless it is 0
}

// Registers decides whether transactions on registers have an order, or snapshots and commits. The decision has it as its
// Witness, or a Core and Why. With snapshots, the Witness has 2*row for the snapshot of a row, and 2*row+1 for its commit. There
// is no first failing completion: where more transactions may show later, the prefixes of a history say little.
func Registers(ctx context.Context, c *models.Columns, shape models.TxnRegistersShape, keeps Keeps) fastpath.Decision {
	path := func(ctx context.Context, c *models.Columns, _ fastpath.Want) fastpath.Decision {
		a, in := onRegisters(&shape, &keeps), fastpath.PlainInput(ctx, c)
		r := a.Decide(in, true)
		d := fastpath.Undecided(r.Reason)
		d.Verdict, d.Witness = r.Verdict, r.Witness
		if r.Verdict == jepsen.Invalid {
			a.Core(in, r.Keys, &d)
		}
		return d
	}
	return fastpath.Path(path).Decide(ctx, c, fastpath.WantWitness)
}

// keeping adds to a sweep what its order keeps.
type keeping struct {
	s               *sweep
	time, snapshots bool
	n               int32
	before, from    []int32           // the nodes that each row follows in time, one row after the other; where each row's begin, and the end
	own, owns       []int32           // by row: the first node that its return makes, and how many these are
	base            int32             // the first such node
	chain           []int32           // by such a node, from base on: the one that it follows, or -1
	waiting         map[int32][]int32 // by node that is not placed yet: what follows it
}

func newKeeping(s *sweep, shape *models.TxnRegistersShape, keeps *Keeps) *keeping {
	strict := keeps.Time && keeps.Loose == nil // it has all else that is kept
	k := &keeping{s: s, time: strict, snapshots: keeps.Snapshots, n: int32(s.in.Len()), base: int32(len(s.nodes)), waiting: map[int32][]int32{}}
	k.from, k.own, k.owns = make([]int32, k.n+1), make([]int32, k.n), make([]int32, k.n)
	inTime := func(row models.Row) bool { return strict || keeps.Time && !keeps.Loose[s.in.A[row]] }
	of := func(row models.Row, do func(id int32)) {
		switch {
		case strict:
		case keeps.Processes:
			do(keeps.Process[s.in.A[row]])
		case keeps.Keys:
			s.touched(shape, row, do)
		}
	}
	latest, last := int32(-1), map[int32]int32{} // the last node; by process or by key
	row := models.Row(0)
	for t := range s.in.Events {
		if row < k.n && s.in.Inv[row] == t {
			if inTime(row) && latest >= 0 {
				k.before = append(k.before, latest)
			}
			of(row, func(id int32) {
				if node, some := last[id]; some {
					k.before = append(k.before, node)
				}
			})
			row++
			k.from[row] = int32(len(k.before))
		} else if r := s.returns[t] - 1; r >= 0 {
			k.own[r] = int32(len(s.nodes))
			if inTime(r) {
				latest = k.next(r, latest)
			}
			of(r, func(id int32) {
				if keeps.Processes {
					last[id] = k.commit(r)
					return
				}
				before, some := last[id]
				if !some {
					before = -1
				}
				last[id] = k.next(r, before)
			})
		}
	}
	return k
}

// next returns a new node of a row's return, which follows another one or -1.
func (k *keeping) next(row models.Row, before int32) int32 {
	k.chain = append(k.chain, before)
	k.owns[row]++
	return k.s.newNode()
}

// touched calls do for the slots of a row, once each.
func (s *sweep) touched(shape *models.TxnRegistersShape, row models.Row, do func(slot int32)) {
	steps := shape.Of(s.in.A[row])
	for i, step := range steps {
		new := true
		for _, before := range steps[:i] {
			new = new && before.Slot != step.Slot
		}
		if new {
			do(step.Slot)
		}
	}
}

// commit returns the node at which a row leaves its versions.
func (k *keeping) commit(row models.Row) int32 {
	if k.snapshots {
		return k.n + row
	}
	return row
}

// isRow says whether a node is where a row reads.
func (k *keeping) isRow(node int32) bool { return node < k.n }

// rowOf returns the row of a node, or -1.
func (k *keeping) rowOf(node int32) models.Row {
	switch {
	case node < k.n:
		return node
	case k.snapshots && node < 2*k.n:
		return node - k.n
	}
	return -1
}

// leaves returns the row that leaves its versions at a node, or -1.
func (k *keeping) leaves(node int32) models.Row {
	if row := k.rowOf(node); row >= 0 && k.commit(row) == node {
		return row
	}
	return -1
}

// happens places the nodes of a row that happens.
func (k *keeping) happens(row models.Row) {
	k.put(row)
	if k.snapshots {
		k.put(k.commit(row))
		k.s.edge(row, k.commit(row))
	}
}

// put places a node.
func (k *keeping) put(node int32) {
	k.s.place(node)
	if len(k.waiting) > 0 {
		for _, to := range k.waiting[node] {
			k.s.edge(node, to)
		}
		delete(k.waiting, node)
	}
}

// follows adds the edges to a row from what it follows in time.
func (k *keeping) follows(row models.Row) {
	for _, node := range k.before[k.from[row]:k.from[row+1]] {
		if k.s.nodes[node].pos < 0 {
			k.waiting[node] = append(k.waiting[node], row)
		} else {
			k.s.edge(node, row)
		}
	}
}

// returned adds the nodes of a return.
func (k *keeping) returned(row models.Row) {
	for node := k.own[row]; node < k.own[row]+k.owns[row]; node++ {
		k.put(node)
		k.s.edge(k.commit(row), node)
		if before := k.chain[node-k.base]; before >= 0 {
			k.s.edge(before, node)
		}
	}
}
