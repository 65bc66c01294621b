package isolation

import (
	"slices"

	"clew/models"
)

// # Orders of versions that are certain
//
// Decides: which cycle shows that a few transactions on registers are not at a level, if one does.
//
// Cost: cubic in the transactions, of which there are at most mostCertain: those that the search found to have no order.
//
// Rests on: Biswas and Enea, "On the complexity of checking transactional consistency", OOPSLA 2019, and on the following.
//
// Lemma 9. Of two versions of a key, one comes first. If one before the other would close a cycle, the other comes first in each
// order, or in each solution by snapshots: WW, and RW from those that read it. That may rule out more. What holds in each order
// of some transactions also holds in each order of all, if those that wrote what they read are among them.
//
// Such a WW follows from the level's definition, and not from the reads alone. So a cycle with it breaks no weaker level
// than the one at which it was found. It is named accordingly: at least G-single-item, and G2-item if snapshot
// isolation allows it.

// mostCertain bounds the transactions.
const mostCertain = 48

// certain finds orders of versions that hold in each order of some transactions, at a level.
type certain struct {
	r     *Registers
	rows  []int32
	split bool
	g     *Graph
	reach [][]bool // by point: 2*i for the snapshot of row i, and 2*i+1 for its commit; without snapshots these are in a cycle
	keys  []int32
	known map[[3]int32]bool // key, and two rows: the former's version comes first
}

// cycleOf returns a cycle of some transactions, for the weakest level that has one and that a level implies. It returns nil if
// there is none.
func (r *Registers) cycleOf(rows []int32, level models.Level) *Cycle {
	if len(rows) > mostCertain {
		return nil
	}
	for _, weak := range slices.Backward(models.AllLevels()) {
		if !level.Implies(weak) || models.ReadCommitted.Implies(weak) {
			continue
		}
		of, g := relations[weak], r.certain(rows, weak)
		for _, without := range []Relation{WW, 0} { // what was read says more
			v, work := g.view(of.of&^without, of.split), int64(searchWork)
			if c, n := v.components(); n < v.len() {
				if cycle := v.shortest(c, n, &work); cycle != nil {
					cycle.Kind = kindAt(cycle.Steps, weak)
					return cycle
				}
			}
		}
	}
	return nil
}

// kindAt names a cycle that was found at a level, and at no weaker one.
func kindAt(steps []Step, level models.Level) string {
	base, _ := split(kindOf(steps))
	of := relations[level]
	suffix := ""
	switch {
	case of.of&(Time|KeyTime) != 0:
		suffix = "-realtime"
	case of.of&Process != 0:
		suffix = "-process"
	}
	ww := slices.ContainsFunc(steps, func(s Step) bool { return s.Why == WW })
	switch {
	case !of.split && suffix != "-realtime":
		base = "G2-item"
	case ww && (base == "G0" || base == "G1c"):
		base = "G-single-item"
	}
	return base + suffix
}

// certain returns the graph of some transactions at a level, up to the first cycle.
func (r *Registers) certain(rows []int32, level models.Level) *Graph {
	n := int32(len(r.Inv))
	x := &certain{r: r, split: relations[level].split, g: &Graph{Txns: n, Nodes: n}, known: map[[3]int32]bool{}}
	for _, row := range rows { // those that happened as far as these know
		if r.Res[row] != models.Open || slices.ContainsFunc(r.reads, func(x registerRead) bool { return x.by == row && slices.Contains(rows, x.txn) }) {
			x.rows = append(x.rows, row)
		}
	}
	x.reach = make([][]bool, 2*len(x.rows))
	for p := range x.reach {
		x.reach[p] = make([]bool, len(x.reach))
	}
	for i := range x.rows {
		if x.join(2*i, 2*i+1); !x.split {
			x.reach[2*i+1][2*i] = true
		}
	}
	x.first(relations[level].of)
	for x.more() {
	}
	return x.g
}

// join notes that a point comes before another one.
func (x *certain) join(from, to int) {
	if x.reach[from][to] {
		return
	}
	for p := range x.reach {
		if p != from && !x.reach[p][from] {
			continue
		}
		x.reach[p][to] = true
		for q, after := range x.reach[to] {
			x.reach[p][q] = x.reach[p][q] || after
		}
	}
}

// add adds an edge between two rows, given by their places.
func (x *certain) add(i, j int, why Relation, key, value int32) {
	x.g.Add(x.rows[i], x.rows[j], why, key, value)
	if why == RW {
		x.join(2*i, 2*j+1)
	} else {
		x.join(2*i+1, 2*j)
	}
	if !x.split { // the points of a row are one
		x.join(2*i+1, 2*j+1)
		x.join(2*i, 2*j)
	}
}

// first adds what the reads show by themselves, and the order in time.
func (x *certain) first(of Relation) {
	for i, a := range x.rows {
		for _, key := range x.r.touched(a) {
			if !slices.Contains(x.keys, key) {
				x.keys = append(x.keys, key)
			}
		}
		for j, b := range x.rows {
			if why := x.r.inTimeWhy(a, b, of); why != 0 {
				x.add(i, j, why, -1, -1)
			}
			for _, read := range x.readsOf(b) {
				if read.by == a && a != b {
					x.add(i, j, WR, read.key, read.value)
				}
			}
			for _, read := range x.readsOf(a) {
				if value, writes := x.r.leaves(b, read.key); writes && read.by == initialOwner && read.outer && a != b {
					x.add(i, j, RW, read.key, value)
				}
			}
		}
	}
}

// inTimeWhy says why a transaction comes before another one in time, or 0.
func (r *Registers) inTimeWhy(a, b int32, of Relation) Relation {
	for _, why := range []Relation{Process, Time, KeyTime} {
		if s := (Step{From: a, To: b, Why: why}); of&why == 0 || a == b || !r.inTimeStep(s) {
			continue
		}
		if why != KeyTime || slices.ContainsFunc(r.touched(a), func(key int32) bool { return slices.Contains(r.touched(b), key) }) {
			return why
		}
	}
	return 0
}

// readsOf returns the reads of a row.
func (x *certain) readsOf(row int32) []registerRead {
	at, _ := slices.BinarySearchFunc(x.r.reads, row, func(read registerRead, row int32) int { return int(read.txn - row) })
	end := at
	for end < len(x.r.reads) && x.r.reads[end].txn == row {
		end++
	}
	return x.r.reads[at:end]
}

// more orders versions whose order is certain, and says whether it found more of them. After a cycle it does not.
func (x *certain) more() (found bool) {
	for _, key := range x.keys {
		for i, a := range x.rows {
			for j, b := range x.rows {
				value, writes := x.r.leaves(b, key)
				if _, both := x.r.leaves(a, key); i == j || !writes || !both || x.known[[3]int32{key, a, b}] || !x.impossible(j, i, key) {
					continue
				}
				found = true
				neither := x.impossible(i, j, key)
				x.order(i, j, key, value)
				if neither { // the cycle that this closes may say more
					value, _ := x.r.leaves(a, key)
					x.order(j, i, key, value)
				}
				if x.cyclic() {
					return false
				}
			}
		}
	}
	return found
}

// order notes that the version of one row comes before that of another one, which has a value.
func (x *certain) order(i, j int, key, value int32) {
	x.known[[3]int32{key, x.rows[i], x.rows[j]}] = true
	x.add(i, j, WW, key, value)
	for reader, row := range x.rows {
		if reader != j && x.saw(row, x.rows[i], key) {
			x.add(reader, j, RW, key, value)
		}
	}
}

// cyclic reports whether a row comes before itself.
func (x *certain) cyclic() bool {
	for i := range x.rows {
		if x.split && x.reach[2*i+1][2*i] || !x.split && slices.ContainsFunc(x.g.Edges, func(e Edge) bool {
			return e.From == x.rows[i] && x.reach[2*slices.Index(x.rows, e.To)][2*i]
		}) {
			return true
		}
	}
	return false
}

// saw reports whether a row read the version that another one left at a key.
func (x *certain) saw(row, owner, key int32) bool {
	return slices.ContainsFunc(x.readsOf(row), func(read registerRead) bool {
		return read.by == owner && read.key == key && read.outer
	})
}

// impossible reports whether the version of one row would close a cycle if it came before that of another one.
func (x *certain) impossible(i, j int, key int32) bool {
	if x.reach[2*j][2*i+1] {
		return true
	}
	for reader, row := range x.rows {
		if reader != j && x.saw(row, x.rows[i], key) && x.reach[2*j+1][2*reader] {
			return true
		}
	}
	return false
}
