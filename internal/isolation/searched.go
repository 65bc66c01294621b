package isolation

import (
	"slices"

	"clew/fastpath"
	"clew/internal/families/transaction"
	"clew/jepsen"
	"clew/models"
)

// # Which levels of registers hold
//
// Decides: at which levels transactions on registers are, and why not at the others.
//
// Cost: linear for what the graph tells. Of what it leaves open, a search of package transaction for each level, or up to
// mostLoosened more.
//
// What breaks a level breaks those that imply it. An order, or snapshots, at a level are such at those that it implies. So
// the strongest level that is open is searched first. If transactions refute it, each other level is asked whether these refute it,
// too, by themselves.
//
// A search takes less time if more is to be kept. So strict serializability is searched first, whatever is asked, and each search
// first keeps real time, too. Transactions that refute that, but not the level, need not keep it from then on.

// mostLoosened bounds how often the search for a level keeps more than the level does.
const mostLoosened = 4

// The search for each level is bounded if all are asked for, in nodes and edges that it follows: so many, and more for each transaction.
const (
	registersWork = 500_000_000
	workPerTxn    = 2000
)

// At says whether the history is at a level.
func (r *Registers) At(level models.Level) Answer {
	levels := []models.Level{models.StrictSerializable, level}
	if level == models.StrictSerializable || models.ReadCommitted.Implies(level) { // the graph decides the latter
		levels = levels[1:]
	}
	return r.decide(levels, 0)[len(levels)-1]
}

// Levels says at which levels the history is.
func (r *Registers) Levels() []Answer {
	return r.decide(models.AllLevels(), registersWork+workPerTxn*int64(len(r.Inv)))
}

// deciding is what is known of some levels, each before those that it implies.
type deciding struct {
	*Registers
	answers []Answer
	process []int32 // by number of a transaction in the shape
	loose   []bool  // the same: it need not keep real time
	work    int64   // bounds each search, unless it is 0
}

func (r *Registers) decide(levels []models.Level, work int64) []Answer {
	x := &deciding{Registers: r, work: work, process: make([]int32, slices.Max(append(slices.Clone(r.ops.A), -1))+1)}
	for row, txn := range r.ops.A {
		x.process[txn] = r.Process[row]
	}
	for _, level := range levels {
		x.answers = append(x.answers, Answer{Level: level})
	}
	x.ask()
	for i := range x.answers {
		if x.answers[i].Verdict == jepsen.Unknown {
			x.search(&x.answers[i])
		}
	}
	return x.answers
}

// broken copies the answer of a level that is broken and that another one implies, if there is one.
func (x *deciding) broken(a *Answer) bool {
	i := slices.IndexFunc(x.answers, func(other Answer) bool { return other.Verdict == jepsen.Invalid && a.Level.Implies(other.Level) })
	if i >= 0 {
		level := a.Level
		*a = x.answers[i]
		a.Level = level
	}
	return i >= 0
}

// ask answers what needs no search. What has no cycle at a level has none at those that it implies, so one in the middle is asked
// right after the strongest.
func (x *deciding) ask() {
	var free, cyclic []models.Level
	ask := func(level models.Level) {
		switch {
		case slices.ContainsFunc(free, func(other models.Level) bool { return other.Implies(level) }):
			free = append(free, level)
		case x.shown(level) != nil || slices.ContainsFunc(cyclic, level.Implies):
		case x.asked().acyclic(level):
			free = append(free, level)
		default:
			cyclic = append(cyclic, level)
		}
	}
	ask(x.answers[0].Level)
	ask(x.answers[len(x.answers)/2].Level)
	for _, a := range slices.Backward(x.answers) {
		ask(a.Level)
	}
	for i := range slices.Backward(x.answers) {
		a := &x.answers[i]
		switch {
		case x.broken(a):
		case x.shown(a.Level) != nil:
			a.Verdict, a.Anomaly = jepsen.Invalid, x.shown(a.Level)
		case !slices.Contains(free, a.Level):
			a.Verdict = jepsen.Invalid
			a.Cycle, _, _, _ = x.asked().cycleAt(a.Level)
			if a.Cycle != nil {
				for _, s := range a.Cycle.Steps { // real time would be refuted by them, too
					x.loosen(s.From)
				}
			}
		case models.ReadCommitted.Implies(a.Level):
			a.Verdict = jepsen.Valid
		}
	}
}

// shown returns the first anomaly other than a cycle that breaks a level, or nil.
func (r *Registers) shown(level models.Level) *Anomaly {
	for i := range r.Anomalies {
		if a := &r.Anomalies[i]; a.Breaks(level) {
			return a
		}
	}
	return nil
}

// search searches for what a level asks for.
func (x *deciding) search(a *Answer) {
	again := a.Level.Weaker()
	for round := 0; again && a.Verdict == jepsen.Unknown && round < mostLoosened; round++ {
		again = x.try(a, true)
	}
	if a.Verdict == jepsen.Unknown {
		x.try(a, false)
	}
}

// try searches once. If inTime, it keeps real time, too, but for what is loose. It reports whether more is loose then.
func (x *deciding) try(a *Answer, inTime bool) (more bool) {
	keeps := x.keeps(a.Level)
	if inTime {
		keeps.Time, keeps.Loose = true, x.loose
	}
	d := transaction.Registers(x.ctx, &x.ops.Columns, *x.shape, keeps)
	switch d.Verdict {
	case jepsen.Valid:
		x.valid(a, d.Witness)
	case jepsen.Invalid:
		x.refute(d.Core)
		more = x.loosen(d.Core...)
	default:
		a.Why = d.Reason.Tell(x.ops.Teller())
	}
	return more
}

// valid says that a level holds, as do those that it implies.
func (x *deciding) valid(a *Answer, witness []int32) {
	var order, points []int32
	if relations[a.Level].split {
		points = witness
	} else {
		order = witness
	}
	for i := range x.answers {
		switch b := &x.answers[i]; {
		case b.Verdict == jepsen.Valid || !a.Level.Implies(b.Level):
		case !relations[b.Level].split:
			*b = Answer{Level: b.Level, Verdict: jepsen.Valid, Order: order}
		default:
			if points == nil { // each transaction commits right after its snapshot
				for _, txn := range order {
					points = append(points, 2*txn, 2*txn+1)
				}
			}
			*b = Answer{Level: b.Level, Verdict: jepsen.Valid, Points: points}
		}
	}
}

// refute answers for the levels that some transactions refute by themselves.
func (x *deciding) refute(rows []int32) {
	for i := range slices.Backward(x.answers) {
		a := &x.answers[i]
		if a.Verdict != jepsen.Unknown || x.broken(a) {
			continue
		}
		in := fastpath.PlainInput(x.ctx, &x.ops.Columns).Pick(rows)
		if d := transaction.Registers(x.ctx, in.Columns, *x.shape, x.keeps(a.Level)); d.Verdict == jepsen.Invalid {
			of := func(row int32) int32 { return rows[row] }
			d.Why.Renumber(of)
			a.Verdict, a.Why = jepsen.Invalid, d.Why.Tell(x.ops.Teller())
			for _, row := range d.Core {
				a.Open = append(a.Open, of(row))
			}
			a.Cycle = x.cycleOf(a.Open, a.Level)
		}
	}
}

// loosen makes transactions loose, and reports whether some were not.
func (x *deciding) loosen(rows ...int32) (more bool) {
	if x.loose == nil {
		x.loose = make([]bool, len(x.process))
	}
	for _, row := range rows {
		txn := x.ops.A[row]
		more = more || !x.loose[txn]
		x.loose[txn] = true
	}
	return more
}

// keeps returns what the search for a level keeps.
func (x *deciding) keeps(level models.Level) transaction.Keeps {
	r := relations[level]
	return transaction.Keeps{Time: r.of&Time != 0, Keys: r.of&KeyTime != 0, Processes: r.of&Process != 0, Snapshots: r.split,
		Process: x.process, Work: x.work}
}
