package isolation

import (
	"slices"

	"clew/jepsen"
	"clew/models"
)

// # Levels
//
// Decides: whether a history is at a level of consistency.
//
// Precondition: the order of the versions of each key, but for those at its end that nothing read.
//
// Cost: linear, but for snapshot isolation (snapshot.go).
//
// Lemma 2. There is an order of transactions that explains all reads and keeps an order in time, of processes, or in time by
// key, if and only if the graph of WW, WR, RW and Time, Process or KeyTime has no cycle. Each edge holds in each such order. On
// the other hand a topological order is one: by WW it makes versions in their order, and by WR and RW it has made just those
// that a reader saw. Versions that nothing read take the order in which their transactions stand.
//
// Lemma 3. Read committed and read uncommitted are defined by such cycles (Adya). If versions that nothing read have an order
// with no cycle, the graph has none. If the graph has none, a topological order of it orders them.
//
// Transactions that crashed and on which nothing depends are left out. Others have happened in each order. They have no return.

// relations are the edges of which a level allows no cycle.
var relations = map[models.Level]struct {
	of    Relation
	split bool
}{
	models.StrictSerializable:             {of: WW | WR | RW | Time},
	models.StrongSessionSerializable:      {of: WW | WR | RW | Process},
	models.SerializableLinearizableKeys:   {of: WW | WR | RW | KeyTime},
	models.Serializable:                   {of: WW | WR | RW},
	models.StrongSessionSnapshotIsolation: {of: WW | WR | RW | First | Process, split: true},
	models.SnapshotIsolation:              {of: WW | WR | RW | First, split: true},
	models.ReadCommitted:                  {of: WW | WR},
	models.ReadUncommitted:                {of: WW},
}

// Answer says whether a history is at a level.
type Answer struct {
	Level   models.Level
	Verdict jepsen.Verdict
	Order   []int32  // Valid, if the level asks for an order: of the transactions that happened
	Points  []int32  // Valid, if it asks for snapshots: 2*txn for the snapshot of a transaction, and 2*txn+1 for its commit
	Cycle   *Cycle   // Invalid
	Sorted  []int32  // Valid, if it asks for no cycle alone: the transactions that happened, so that each edge leads to a later one
	Open    []int32  // Invalid by search: transactions whose versions can have no order. Of registers, Cycle may have a cycle of these
	Around  []int32  // and with them those whose points have no order beside theirs
	Why     string   // of registers: what is wrong with those, or why the answer is Unknown
	Anomaly *Anomaly // Invalid: what is not a cycle
}

// Found is what was found in a history that is not a cycle.
type Found struct {
	Anomalies []Anomaly
	Failed    []jepsen.Operation // the transactions that failed, of which some read showed something
}

// What returns what was found.
func (f *Found) What() *Found { return f }

// graphed is a history with its graph, for several questions.
type graphed struct {
	*History
	make func(keys bool) *Graph
	g    *Graph
	keys bool // it has KeyTime
	left int64
}

func (h *History) graphed(graph func(keys bool) *Graph) *graphed {
	return &graphed{History: h, make: graph, left: searchWork}
}

// of returns the graph, with KeyTime if a level needs it.
func (x *graphed) of(keys bool) *Graph {
	if x.g == nil || keys && !x.keys {
		x.g, x.keys = x.make(keys), keys
	}
	return x.g
}

// viewAt returns a level's view of the graph, with its components.
func (x *graphed) viewAt(level models.Level) (v *view, of []int32, n int32) {
	r := relations[level]
	v = x.of(r.of&KeyTime != 0).view(r.of, r.split)
	of, n = v.components()
	return v, of, n
}

// acyclic reports whether there is no cycle that a level does not allow.
func (x *graphed) acyclic(level models.Level) bool {
	v, _, n := x.viewAt(level)
	return n == v.len()
}

// cycleAt returns a cycle that a level does not allow, or the level's view of the graph, with its components.
func (x *graphed) cycleAt(level models.Level) (cycle *Cycle, v *view, of []int32, n int32) {
	if v, of, n = x.viewAt(level); n < v.len() {
		cycle = v.shortest(of, n, &x.left)
	}
	return cycle, v, of, n
}

// at says whether the history is at a level.
func (x *graphed) at(level models.Level) Answer {
	r := relations[level]
	a := Answer{Level: level, Verdict: jepsen.Invalid}
	cycle, v, of, n := x.cycleAt(level)
	if n < v.len() {
		a.Cycle = cycle
		return a
	}
	if r.split {
		x.snapshots(&a, v, of)
		return a
	}
	a.Verdict = jepsen.Valid
	if sorted := x.order(of, n); r.of&RW != 0 {
		a.Order = sorted
	} else {
		a.Sorted = sorted
	}
	return a
}

// order returns the transactions that happened in topological order.
func (x *graphed) order(of []int32, n int32) []int32 {
	by := make([]int32, n) // by place
	for node, c := range of {
		by[n-1-c] = int32(node)
	}
	return slices.DeleteFunc(by, func(node int32) bool { return node >= x.g.Txns || !x.Happened[node] })
}

// all says at which levels a history is. What follows from another level is not asked.
func all(at func(models.Level) Answer) (answers []Answer) {
	for _, level := range models.AllLevels() {
		follows := slices.ContainsFunc(answers, func(a Answer) bool { return a.Verdict == jepsen.Valid && a.Level.Implies(level) })
		if follows {
			answers = append(answers, Answer{Level: level, Verdict: jepsen.Valid})
		} else {
			answers = append(answers, at(level))
		}
	}
	return answers
}
