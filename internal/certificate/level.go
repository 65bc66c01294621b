package certificate

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"clew/internal/isolation"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// # Certificates of levels
//
// A result says at which levels transactions are, in words. What proves it is decided again here: in linear time, but for
// snapshot isolation where nothing read the order of updates. docs/certificate.md describes the lines.

// levelOf returns the level of consistency that a certificate is about, "" if it is about linearizability. All that is not strictly
// serializable has a certificate of that level, if no value was appended twice: a cycle is a shorter proof than a core.
func levelOf(r *report.Result) models.Level {
	x := r.Levels
	switch {
	case x == nil || x.Why != "" || r.Keys != nil:
		return ""
	case linearizable(x):
		if x.Asked != "" && r.Ops != nil && onLists(r.Ops.Model) {
			return models.StrictSerializable
		}
		return ""
	case x.Asked.Weaker():
		return x.Asked
	case r.Verdict == jepsen.Invalid && r.Ops != nil && onLists(r.Ops.Model):
		return models.StrictSerializable
	}
	return ""
}

// linearizable reports whether a linearization shows that the levels hold.
func linearizable(x *report.Levels) bool {
	return len(x.Strongest) > 0 && x.Strongest[0] == models.StrictSerializable
}

func onLists(m models.Model) bool {
	_, is := models.ShapeOf[models.TxnListsShape](m)
	return is
}

// uncertain says why no certificate proves what is known of transactions on registers.
const uncertain = "of transactions on registers, a certificate proves an order, or snapshots and commits, and this has neither"

// certain reports whether a certificate proves a level of transactions on registers.
func certain(r *report.Result, level models.Level) bool {
	return r.Verdict == jepsen.Valid && !models.ReadCommitted.Implies(level)
}

// step is a step of a cycle, with the micro-operations behind it.
type step struct {
	Type string  `json:"type"`
	From []int32 `json:"from"`
	To   []int32 `json:"to"`
}

// steps are what the steps of cycles are called.
var steps = map[isolation.Relation]string{isolation.WW: "ww", isolation.First: "first", isolation.WR: "wr", isolation.RW: "rw",
	isolation.Process: "process", isolation.Time: "realtime", isolation.KeyTime: "realtime"}

// level writes the line that proves that transactions are at a level, or that they are not.
func (c *writer) level(r *report.Result, level models.Level) {
	s := section{Valid: r.Verdict}
	if r.Verdict == jepsen.Valid && (linearizable(r.Levels) || r.Witness != nil) {
		s.Order = r.Witness
		if level.Weaker() && r.Ops != nil { // what says nothing stands anywhere there
			s.Order = slices.DeleteFunc(slices.Clone(r.Witness), func(op jepsen.Operation) bool { return saysNothing(r.Ops, op) })
		}
		c.line(s)
		return
	}
	ops, err := r.Spec.ReadWithin(c.ctx, r.History)
	if err != nil {
		c.err = err
		return
	}
	if !onLists(ops.Model) {
		c.registers(ops, s, level)
		return
	}
	l, _, _ := isolation.ReadLists(ops)
	a := l.At(level)
	s.Order = operations(ops, a.Sorted, 1)
	s.Points = operations(ops, a.Points, 2)
	if a.Verdict == jepsen.Invalid {
		s.Analyzer, s.Explanation = r.Analyzer, r.Explanation
		s.broken(ops, l, &a)
		s.tell(r.Levels)
	}
	c.line(s)
}

// tell sets the sentence about the anomaly that the certificate shows, which the result may have beside the one that it tells.
func (s *section) tell(levels *report.Levels) {
	if levels == nil {
		return
	}
	var told *report.TxnAnomaly
	for i := range levels.Anomalies {
		a := &levels.Anomalies[i]
		if a.Type == s.Anomaly && (told == nil || !s.shows(told) && s.shows(a)) {
			told = a
		}
	}
	if told != nil {
		s.Explanation = told.Line()
	}
}

// shows reports whether the micro-operations are those of the transactions of an anomaly.
func (s *section) shows(a *report.TxnAnomaly) bool {
	all := slices.Clone(s.At)
	for _, x := range s.Cycle {
		all = append(all, x.From, x.To)
	}
	return !slices.ContainsFunc(all, func(m []int32) bool { return !slices.Contains(a.Txns, jepsen.Operation(m[0])) })
}

// saysNothing reports whether a model leaves an operation out, or it is a transaction without steps.
func saysNothing(ops *models.Operations, op jepsen.Operation) bool {
	_, kept := slices.BinarySearch(ops.Of, op)
	h := ops.History
	return !kept || len(h.Values.Items(h.OpValue(op))) == 0
}

// registers writes the line that proves that transactions on registers are at a level.
func (c *writer) registers(ops *models.Operations, s section, level models.Level) {
	none := []jepsen.Operation{} // it may be that nothing happened for certain
	if !models.StrongSessionSnapshotIsolation.Implies(level) {
		s.Order = none // another order would be the result's witness
		c.line(s)
		return
	}
	registers, _ := isolation.ReadRegisters(c.ctx, ops)
	a := registers.At(level)
	if a.Verdict != jepsen.Valid { // the search was stopped this time
		c.err = cmp.Or(context.Cause(c.ctx), errors.New("the snapshots of the transactions were not found again"))
		return
	}
	s.Points = append(none, operations(ops, a.Points, 2)...)
	c.line(s)
}

// operations returns the operations of rows, which are multiplied by something. It returns nil for nil.
func operations(ops *models.Operations, rows []int32, by int32) (all []jepsen.Operation) {
	if rows != nil {
		all = make([]jepsen.Operation, len(rows))
	}
	for i, row := range rows {
		all[i] = ops.Of[row/by]
	}
	return all
}

// broken sets what proves that transactions are not at a level.
func (s *section) broken(ops *models.Operations, l *isolation.Lists, a *isolation.Answer) {
	micro := func(m isolation.Micro) []int32 {
		if m.Place < 0 {
			return []int32{int32(m.Op)}
		}
		return []int32{int32(m.Op), m.Place}
	}
	switch {
	case a.Anomaly != nil:
		s.Anomaly = string(a.Anomaly.Kind)
		for _, m := range l.Shown(a.Anomaly) {
			s.At = append(s.At, micro(m))
		}
	case a.Cycle != nil:
		s.Anomaly = a.Cycle.Kind
		for _, x := range a.Cycle.Steps {
			from, to, _ := l.Behind(x)
			s.Cycle = append(s.Cycle, step{steps[x.Why], micro(from), micro(to)})
		}
	default:
		s.Anomaly, s.Transactions = string(isolation.Interfering), operations(ops, a.Around, 1)
	}
}
