package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/internal/families"
	"clew/internal/forget"
	"clew/internal/howfar"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// HowFar says how far a history is from being linearizable: with which clock error it is, how many versions behind reads
// were, which weaker guarantees hold, and which acknowledged updates must have been forgotten. docs/guarantees.md defines all
// of it. It needs tens of decisions like those of Check, or a few hundred short ones if many updates were forgotten. If the
// near-linear path does not decide them, a search does within bounds, and the answer says what is undecided.
//
// Errors are as in Check. If the context ends early, the error is its cause. ErrNoRoom says that Options.Memory is too
// little. Several goroutines must not measure the same History at once.
func HowFar(ctx context.Context, h *jepsen.History, spec models.Spec, o Options) (*report.HowFar, error) {
	ctx, cancel, err := o.begin(ctx, h)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if o.Memory != nil && int64(h.Operations())*bytesPerOperation > o.Memory.bytes {
		return nil, ErrNoRoom
	}
	r := &ruler{ctx: ctx, o: o, left: 2 * (howFarWork + workPerOperation*int64(h.Operations()))}
	if !o.Independent {
		m, err := r.history(h, spec)
		if err != nil {
			return nil, err
		}
		return &report.HowFar{Distance: m.Distance}, nil
	}
	keyed, spec, _, err := keysOf(h, spec, o)
	if err != nil {
		return nil, err
	}
	var keys []report.Distance
	all := measurement{smallest: true}
	undecided := false
	of, _ := spec.ByKey()
	for i, key := range keyed.Keys {
		m, err := r.history(keyed.History(i).History, of(h.Values.Text(key)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text.Key(h.Values.Text(key)), err)
		}
		for _, x := range m.updates {
			all.updates = append(all.updates, howfar.Update{Operation: m.history.WholeOperation(x.Operation), Key: i, Lost: x.Lost})
		}
		if m.Holds.Strongest() == report.Linearizable {
			continue
		}
		if m.Clocks == nil {
			undecided, m.why = true, report.TooHard
		}
		all.smallest = all.smallest && m.smallest
		if all.why != report.NotForgotten { // that is certain
			all.why = cmp.Or(m.why, all.why)
		}
		m.Key = h.Values.Text(key)
		keys = append(keys, m.Distance)
	}
	if len(keys) == 0 {
		return report.NotFar(), nil
	}
	x := report.Together(keys)
	if undecided && x.Clocks != nil {
		x.Clocks.Most, x.Clocks.Why = nil, report.TooHard
	}
	if x.Clocks != nil {
		all.history = h
		x.Forgotten = all.forgotten()
	}
	return x, nil
}

// ErrNoRoom is the error of HowFar if a history is too long for the memory that it may take.
var ErrNoRoom = errors.New("there is not enough memory to measure how far the history is from being linearizable")

// bytesPerOperation is about what HowFar needs for each operation, with the operation itself: versions and their order.
const bytesPerOperation = 400

// measurement is how far one history is from being linearizable.
type measurement struct {
	report.Distance
	history  *jepsen.History
	updates  []howfar.Update
	smallest bool
	why      string // why no choice of updates is known
}

// forgotten says which updates were forgotten.
func (m *measurement) forgotten() *report.Forgotten {
	if m.why != "" {
		return &report.Forgotten{Of: len(m.updates), Why: m.why}
	}
	return howfar.Tell(m.history, m.updates, m.smallest)
}

// history measures a history that is not one of independent keys.
func (r *ruler) history(h *jepsen.History, spec models.Spec) (m *measurement, err error) {
	undecided := &measurement{history: h}
	undecided.Holds.Add(report.Linearizable, jepsen.Unknown)
	c, err := read(r.ctx, h, spec, r.o)
	if err != nil {
		return nil, err
	}
	r.decider = newDecider(c.spec, r.o)
	c = c.settle(r.ctx, r.decider, r.o).alone(r.ctx, r.decider, r.o)
	if c.release != nil {
		defer c.release()
	}
	if c.err != nil {
		return nil, c.err
	}
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if c.verdict.verdict == jepsen.Unknown || c.ops == nil {
		return undecided, nil
	}
	failed := caught(c.ops.Model, func() {
		r.half(func() { m = r.measure(c.ops, c.verdict.verdict) })
	})
	switch {
	case r.ctx.Err() != nil:
		return nil, context.Cause(r.ctx)
	case failed == nil:
		return m, nil
	case failed.Cause != "":
		return undecided, nil
	}
	return nil, failed
}

// ruler decides operations within bounds, as often as is asked.
type ruler struct {
	*decider
	ctx  context.Context
	o    Options
	left int64 // work, as fallback.Answer counts it
}

// The work for a history is bounded by howFarWork, about a second, and workPerOperation, enough for some 200 near-linear
// decisions of a long history. For any number of keys it is twice as much: each may use half of what is left, and half of that
// for its clock error. decisionWork bounds a search.
const (
	howFarWork   = 60_000_000
	decisionWork = 10_000_000

	workPerOperation = 800
)

// workOfVerdict is the work of a near-linear path for each operation if only the verdict is asked for.
const workOfVerdict = 4

// half lets f use at most half of the work that is left.
func (r *ruler) half(f func()) {
	kept := r.left / 2
	r.left -= kept
	f()
	r.left = kept + max(0, r.left)
}

// verdict decides operations without any evidence.
func (r *ruler) verdict(part *models.Operations) jepsen.Verdict {
	if r.left <= 0 || r.ctx.Err() != nil {
		return jepsen.Unknown
	}
	if path, _ := families.Of(part.Model); path != nil && r.fast {
		f := path.Decide(r.ctx, &part.Columns, fastpath.WantVerdict)
		if r.left -= int64(part.Len()) * workOfVerdict; f.Verdict != jepsen.Unknown {
			return f.Verdict
		}
	}
	if r.only {
		return jepsen.Unknown
	}
	most := min(r.left, decisionWork)
	ctx, lim, stop := r.o.limits().Within(r.ctx, most)
	defer stop()
	lim.Passed, lim.Held = nil, nil // they follow the check
	x := r.search(ctx, part, lim)
	if x.Verdict == jepsen.Unknown {
		x.Work = most
	}
	r.left -= x.Work + int64(part.Len())*workOfPath
	return x.Verdict
}

// measure measures operations with a verdict that is known.
func (r *ruler) measure(ops *models.Operations, verdict jepsen.Verdict) *measurement {
	parts := ops.Parts()
	verdicts := []jepsen.Verdict{verdict}
	if len(parts) > 1 && verdict == jepsen.Invalid {
		verdicts = nil
		for _, part := range parts {
			verdicts = append(verdicts, r.verdict(part))
		}
	}
	if verdict == jepsen.Valid {
		return &measurement{Distance: report.NotFar().Distance, history: ops.History, updates: updatesOf(parts, nil)}
	}
	m := &measurement{history: ops.History, smallest: true}
	m.Holds = howfar.Guarantees(r.ctx, ops, parts)
	lost := make([]bool, ops.History.Operations())
	for i, part := range parts {
		if verdicts[i] != jepsen.Valid {
			r.add(m, part, verdicts[i], lost)
		}
	}
	if m.Clocks == nil { // each part is linearizable alone
		m.Clocks, m.why = &report.Clocks{Why: report.TooHard}, report.TooHard
	}
	if r.ctx.Err() == nil {
		m.updates = updatesOf(parts, lost)
		m.Forgotten = m.forgotten()
	}
	return m
}

// add adds what is true of a part that is not linearizable, or of which that is undecided.
func (r *ruler) add(m *measurement, part *models.Operations, verdict jepsen.Verdict, lost []bool) {
	clocks := &report.Clocks{Why: report.TooHard}
	loss := howfar.Loss{}
	if verdict == jepsen.Invalid {
		var e howfar.Error
		r.half(func() { e = howfar.Clocks(r.ctx, part, r.verdict) })
		loss = howfar.Forgotten(part, r.verdict)
		clocks = &report.Clocks{Least: e.Least}
		switch {
		case e.Timeless:
			clocks.Why = report.NoTimes
		case e.Never:
			clocks.Why = report.NoError
		case e.Most < 0:
			clocks.Why = report.TooHard
		default:
			clocks.Most = &e.Most
		}
	}
	m.Clocks = m.Clocks.Worse(clocks)
	if versions, read, known := forget.Behind(r.ctx, part); known && (m.Behind == nil || versions > m.Behind.Versions) {
		m.Behind = &report.Behind{Versions: versions}
		if read != jepsen.None {
			m.Behind.Read, m.Behind.Index = part.History.Name(read), part.History.LastIndex(read)
		}
	}
	m.smallest = m.smallest && loss.Smallest
	switch loss.Verdict {
	case jepsen.Invalid:
		m.why = report.NotForgotten
	case jepsen.Unknown:
		m.why = cmp.Or(m.why, report.TooHard)
	}
	for _, row := range loss.Rows {
		lost[part.Of[row]] = true
	}
}

// updatesOf returns the acknowledged updates of parts.
func updatesOf(parts []*models.Operations, lost []bool) (updates []howfar.Update) {
	for key, part := range parts {
		for _, row := range howfar.Acknowledged(part) {
			op := part.Of[row]
			updates = append(updates, howfar.Update{Operation: op, Key: key, Lost: lost != nil && lost[op]})
		}
	}
	return slices.Clip(updates)
}
