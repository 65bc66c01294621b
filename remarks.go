package clew

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/fastpath"
	"clew/internal/families"
	"clew/internal/levels"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// vacuous returns why a valid verdict is vacuous, or "". An operation that returned
// counts as evidence in either of these cases:
//
//   - its completion has a value that its invocation lacks: the system has answered. If an update returns nil, it
//     has not
//   - it cannot happen in one of the first states of the witness
//
// Linear time, and constant time if one of the first operations is evidence.
func (c *checking) vacuous() string {
	h, ops := c.h, c.ops
	if h.Operations() == 0 {
		return report.NoOperations
	}
	if ops.Model.Traits().RefusesNothing {
		return report.NotRefusable
	}
	why, row, sampled := report.NoneReturned, 0, false
	for op := range jepsen.Operation(h.Operations()) {
		kept := row < len(ops.Of) && ops.Of[row] == op
		if kept {
			row++
		}
		if h.Status[op] == jepsen.Crashed || h.Status[op] == jepsen.Failed && !kept {
			continue
		}
		value := h.OpValue(op)
		asks := !kept || !ops.Model.Mutates(ops.Op(int32(row-1)))
		switch {
		case kept && value != h.Value[h.Invocation[op]] && (asks || value != edn.Nil):
			return ""
		case kept && !sampled:
			if sampled = true; c.refuses() {
				return ""
			}
		}
		switch {
		case asks && value == edn.Nil:
			why = report.AnswersNil
		case why == report.NoneReturned:
			why = report.NotRefusable
		}
	}
	return why
}

// refuses looks at this many parts of a history, and at this many states of each. One state of a lock or of a queue
// is enough to refuse something.
const (
	sampledParts  = 8
	sampledStates = 32
)

// refuses reports whether one of the first operations of the witness that returned could not have happened in one of
// its first states. A model whose author declares something counts as refusing: its steps are not taken again for this.
// So does one that fails in a state in which the operation need not have happened.
func (c *checking) refuses() (refused bool) {
	if c.ops.Model.Traits().Declared != nil {
		return true
	}
	failed := caught(c.ops.Model, func() { refused = c.refusesOne() })
	return refused || failed != nil
}

// maxRefusing bounds the time for finding out whether a model refuses something.
const maxRefusing = 50 * time.Millisecond

func (c *checking) refusesOne() bool {
	start := time.Now()
	for i, part := range c.parts[:min(len(c.parts), sampledParts)] {
		order := c.decisions[i].Order
		order = order[:min(len(order), sampledStates)]
		after, err := models.Replay(part.Model, &part.Columns, order)
		if err != nil {
			return true // the self-check reports it
		}
		states := append([]models.State{part.Model.Init()}, after...)
		for _, row := range order {
			for _, s := range states {
				if part.Res[row] != models.Open && len(part.Model.Step(nil, s, part.Op(row))) == 0 || time.Since(start) > maxRefusing {
					return true
				}
			}
		}
	}
	return false
}

// vacuousKeys returns why the verdict of all keys together is vacuous, or "".
func vacuousKeys(keys []report.KeyResult) string {
	if len(keys) == 0 {
		return report.NoOperations
	}
	why := keys[0].Vacuous()
	for _, k := range keys[1:] {
		why = report.VacuousTogether(why, k.Vacuous())
	}
	return why
}

// kind returns the kind of a failure, or "" if its evidence does not show one for certain: that of the sentence if the
// fast path found one, else that of the operation that fails. If only a search shows the failure, it is else that of another
// operation of the core, or that of the core alone, whose few operations a fast path may decide where it does not decide the history.
func (c *checking) kind(ctx context.Context, r *report.Result) models.Anomaly {
	part, d := c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	var found models.Anomaly
	if d.why != nil {
		found = d.why.Anomaly(part.Teller())
	}
	if of := part.Model.Traits().Anomaly; found == "" && of != nil {
		rows := []models.Row{models.Row(slices.Index(part.Res, d.FailEvent))}
		if part.Len() <= maxReadForKind && d.why == nil { // else the core is as the engine has it
			rows = append(rows, part.Among(r.Core[:min(len(r.Core), maxKinds)])...)
		}
		for _, row := range rows {
			if found == "" && row >= 0 && part.Res[row] <= d.FailEvent && ctx.Err() == nil {
				found = of(part, row)
			}
		}
	}
	if found == "" && d.why == nil && part.Model.Traits().Positions == nil && len(r.Core) <= maxUnfinished { // else a core lacks positions
		core := part.Alone(part.Among(r.Core), d.FailEvent)
		if path, _ := families.Of(core.Model); path != nil {
			if why := failsAt(ctx, path, core.Operations, d.FailEvent); why != nil {
				found = why.Anomaly(core.Teller())
			}
		}
	}
	if (found == models.NeverWritten || found == models.FutureRead) && c.onlyFailedWrote(ctx, r) {
		return models.DirtyRead
	}
	return found
}

// rolledBack returns an operation that began after one that failed at an event, and also saw the value that had been replaced. It
// returns false if what had replaced that may not be lost: if something that returned later saw it, or what was made of it, or what
// may have been written before the old value was last seen. It also does if the old value may have been left again, or if some
// answers do not say what they saw. Linear time for each update that rests on another one which began later, up to maxRounds.
func rolledBack(part *models.Operations, fail int32) (again models.Row, lost bool) {
	vis, row := part.Model.Traits().Visibility, models.Row(slices.Index(part.Res, fail))
	if vis == nil || row < 0 || part.Len() > maxReadForKind {
		return 0, false
	}
	seen, _ := vis.Sees(nil, part.Op(row))
	if len(seen) != 1 {
		return 0, false
	}
	old := seen[0]
	each := func(f func(i models.Row, made, saw []models.Cell)) {
		var made, saw []models.Cell
		for i := range models.Row(part.Len()) {
			made = vis.Makes(made[:0], part.Op(i))
			saw, _ = vis.Sees(saw[:0], part.Op(i)) // also where it has not returned: a cas rests on it
			f(i, made, saw)
		}
	}
	again = -1
	left, until, unclear := int32(-1), fail, false // left: the last one that left the old value; until: the old value was seen
	each(func(i models.Row, made, saw []models.Cell) {
		if i != row && slices.Contains(made, old) {
			left = max(left, part.Res[i], part.Inv[i])
		}
		if part.Inv[i] > fail && part.Res[i] != models.Open && slices.Contains(saw, old) {
			if until = max(until, part.Res[i]); again < 0 {
				again = i
			}
		}
		unclear = unclear || part.Inv[i] > fail && part.Op(i).Kind == models.FailedCAS
	})
	if again < 0 || unclear {
		return 0, false
	}
	newer, before := map[models.Cell]bool{}, false // before: something had replaced the old value before it was seen
	each(func(i models.Row, made, saw []models.Cell) {
		if part.Inv[i] <= left || part.Inv[i] > fail && slices.Contains(saw, old) { // which rests on the old value
			return
		}
		for _, cell := range made {
			if part.Inv[i] < until && cell.Place == old.Place && cell != old {
				newer[cell], before = true, before || part.Res[i] < part.Inv[row]
			}
		}
		for _, cell := range saw {
			if part.Res[i] < part.Inv[row] && cell.Place == old.Place && cell != old {
				newer[cell], before = true, true
			}
		}
	})
	for more, rounds := true, 0; more; rounds++ { // what was made of it
		if more = false; rounds == maxRounds {
			return 0, false
		}
		each(func(i models.Row, made, saw []models.Cell) {
			if !slices.ContainsFunc(saw, func(cell models.Cell) bool { return newer[cell] }) {
				return
			}
			for _, cell := range made {
				if cell.Place == old.Place && cell != old && !newer[cell] {
					newer[cell], more = true, true
				}
			}
		})
	}
	kept := newer[models.Cell{Place: old.Place, Value: int32(part.History.Values.Same(edn.Nil))}] // a read of nil may not say so
	each(func(i models.Row, _, saw []models.Cell) {
		kept = kept || part.Res[i] > fail && part.Res[i] != models.Open && slices.ContainsFunc(saw, func(cell models.Cell) bool { return newer[cell] })
	})
	return again, before && !kept
}

// Bounds of what looking for a kind reads.
const (
	maxKinds       = 64     // operations of the core
	maxRounds      = 64     // looks for what was made of newer values
	maxReadForKind = 50_000 // operations of a history that is read for each of them, or again
)

// onlyFailedWrote reports whether failed operations wrote what nothing else had written: with them, as if they had
// crashed, the core is linearizable, or all that had begun.
func (c *checking) onlyFailedWrote(ctx context.Context, r *report.Result) bool {
	failed := c.failed(r)
	if len(failed) == 0 {
		return false
	}
	ops := c.crashing(ctx, failed)
	return c.with(ctx, r, ops, r.Core, failed) == jepsen.Valid || c.with(ctx, r, ops, c.begun(r), failed) == jepsen.Valid
}

// failedWriter returns the failed operation that alone wrote what a dirty read saw, and what is to be said of it: that it would
// explain the read, or only that.
func (c *checking) failedWriter(ctx context.Context, r *report.Result) (writer jepsen.Operation, says string) {
	if r.Kind != models.DirtyRead {
		return 0, ""
	}
	failed := c.failed(r)
	ops := c.crashing(ctx, failed)
	for _, op := range failed[max(0, len(failed)-maxEnablers):] {
		one := []jepsen.Operation{op}
		switch core, all := c.with(ctx, r, ops, r.Core, one), c.with(ctx, r, ops, c.begun(r), one); {
		case all == jepsen.Valid || all == jepsen.Unknown && core == jepsen.Valid:
			return op, " would explain it"
		case core == jepsen.Valid:
			return op, " would have left that, but it would not explain all"
		}
	}
	return 0, ""
}

// begun returns the operations that had begun by a failure, without those that failed.
func (c *checking) begun(r *report.Result) (ops []jepsen.Operation) {
	for op, inv := range r.History.Invocation {
		if inv < r.FailEvent.OrNone() && r.History.Status[op] != jepsen.Failed {
			ops = append(ops, jepsen.Operation(op))
		}
	}
	return ops
}

// failed returns the failed operations that had begun by a failure, or none if there is too much to read.
func (c *checking) failed(r *report.Result) (failed []jepsen.Operation) {
	h := r.History
	if h.Operations() > maxReadForKind || len(r.Core) == 0 {
		return nil
	}
	for op, status := range h.Status {
		if status == jepsen.Failed && h.Invocation[op] < r.FailEvent.OrNone() {
			failed = append(failed, jepsen.Operation(op))
		}
	}
	return failed
}

// crashing reads the history as if some operations had crashed, or returns nil.
func (c *checking) crashing(ctx context.Context, some []jepsen.Operation) *models.Operations {
	ops, err := c.spec.ReadWithin(ctx, c.h.Crashing(some...))
	if err != nil {
		return nil
	}
	return ops
}

// with decides some operations with some more of them, up to a failure. It is unknown if that is not easy.
func (c *checking) with(ctx context.Context, r *report.Result, ops *models.Operations, some, more []jepsen.Operation) jepsen.Verdict {
	if ops == nil || ctx.Err() != nil {
		return jepsen.Unknown
	}
	core := ops.Alone(ops.Among(append(slices.Clone(some), more...)), int32(r.FailEvent.OrNone()))
	if path, _ := families.Of(core.Model); path != nil {
		if d := path.Decide(ctx, &core.Columns, fastpath.WantVerdict); d.Verdict != jepsen.Unknown {
			return d.Verdict
		}
	}
	verdict := jepsen.Unknown
	d, lim := newDecider(c.spec, Options{}).within(judgeWork), fallback.Limits{Memory: models.NewMemory(judgeMemory)}
	caught(core.Model, func() { verdict = d.search(ctx, core.Operations, lim).Verdict })
	return verdict
}

// checkConsistency returns an error if the level of consistency is unknown, or does not go with another option. A synonym
// becomes the level.
func (o *Options) checkConsistency() error {
	level, err := models.ParseLevel(string(o.Consistency))
	if err != nil {
		return err
	}
	if o.Consistency = level; o.Independent && o.Consistency.Weaker() {
		return fmt.Errorf("%s is about transactions on several keys; it cannot be combined with %s", option.Consistency, option.Independent)
	}
	return nil
}

// level decides a level of consistency that is weaker than strict serializability.
func (c *checking) level(ctx context.Context, o Options) *report.Result {
	start := time.Now()
	d := levels.Decide(ctx, c.ops, o.Consistency)
	last, stop := newDecider(c.spec, o).lastly(ctx)
	defer stop()
	if init, how, depends, all := c.levelFrom(last, d, o); !all {
		d = levels.Decision{Cause: limits.Stopped(last), Levels: &report.Levels{Asked: o.Consistency, Undecided: []models.Level{o.Consistency}},
			Why: fmt.Sprintf(fromUntried, o.Consistency, c.usual()) + initFlag(ownInit)}
	} else if depends {
		d = levels.Decision{Cause: jepsen.InitialValue, Levels: &report.Levels{Asked: o.Consistency, Undecided: []models.Level{o.Consistency}},
			Why: c.whichOf(string(o.Consistency)+how+" if the initial value is %s, not if it is %s: ", init)}
	}
	r := &report.Result{
		History: c.h, File: c.h.File, Model: c.spec.Name, Init: c.spec.Init, Inferred: c.inferred, Spec: c.spec,
		Verdict: d.Verdict, Analyzer: "clew/isolation", Cause: d.Cause, Explanation: d.Why, Ops: c.ops, Levels: d.Levels, Told: d.Told,
	}
	if r.Verified = d.Checked && o.Verify != VerifyNever; !d.Checked && d.Verdict != jepsen.Unknown && o.Verify != VerifyNever {
		r.Unverified = "only orders, snapshots and cycles are checked again, and it is shown by none of them"
	}
	if d.Wrong != "" {
		return refuted(r, errors.New(d.Wrong))
	}
	switch r.Verdict {
	case jepsen.Valid:
		c.parts, c.decisions = []*models.Operations{c.ops}, []decision{{Answer: fallback.Answer{Verdict: d.Verdict, Order: d.Order}}}
		if d.Order == nil { // it is not known which states came before which step
			break
		}
		r.Vacuous = c.vacuous()
		r.Witness = c.witness()
		final, err := c.final(ctx)
		if err != nil {
			return refuted(r, fmt.Errorf("the order of transactions does not explain what they read: %w", err))
		}
		r.Final, r.Verified = final, r.Verified && len(c.missing) == 0
	case jepsen.Invalid:
		r.FailEvent = jepsen.Some(jepsen.Event(levels.Ends(c.ops, d.Shown)))
		for _, row := range d.Shown {
			r.Core = append(r.Core, c.ops.Of[row])
		}
		slices.Sort(r.Core)
		r.Drawn = d.Kind
	}
	r.Ms = float64(time.Since(start).Microseconds()) / 1000
	return r
}

// levelFrom returns an initial value that the first reads show and from which a level holds, or is not decided, if it does
// not hold from the default. A level is not refuted then, as linearizability is not. It returns all false if the context
// ended first.
func (c *checking) levelFrom(ctx context.Context, d levels.Decision, o Options) (init, how string, depends, all bool) {
	if d.Verdict != jepsen.Invalid || c.spec.Init != "" {
		return "", "", false, true
	}
	opened := c.spec.Opened(ctx, c.h, nil)
	for _, spec := range opened.Specs {
		other, err := read(ctx, c.h, spec, o)
		if err != nil {
			continue
		}
		if other.ops == nil {
			return "", "", false, false
		}
		switch levels.Decide(ctx, other.ops, o.Consistency).Verdict {
		case jepsen.Valid:
			return spec.Init, " holds", true, true
		case jepsen.Unknown:
			return spec.Init, " may hold", true, true
		}
	}
	return "", "", false, !opened.Stopped
}

// levels adds at which levels transactions are that are not strictly serializable, or for which a level was asked.
func (c *checking) levels(ctx context.Context, r *report.Result, o Options) *report.Result {
	switch {
	case c.ops == nil:
	case r.Verdict == jepsen.Valid && o.Consistency != "":
		r.Levels = &report.Levels{Asked: o.Consistency, Strongest: []models.Level{models.StrictSerializable}}
	case r.Verdict == jepsen.Invalid:
		x := levels.All(ctx, c.ops)
		if x == nil {
			break
		}
		if slices.Contains(x.Strongest, models.StrictSerializable) {
			return refuted(r, errors.New("the graph of transactions has no cycle"))
		}
		x.Asked, r.Levels = o.Consistency, x
		if slices.ContainsFunc(x.Anomalies, func(a report.TxnAnomaly) bool { return r.Told != nil && a.Says == r.Told.Says }) {
			r.Explanation = r.Told.Line() // the whole history has the same cycle, whose kind may depend on later reads
		}
	}
	return r
}

// granted warns if a history is valid only because of how it was read.
func granted(ctx context.Context, r *report.Result, spec models.Spec, o Options) string {
	said := []string{nilReads(ctx, r, spec, o), asOne(ctx, r, spec, o)}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "; ")
}

// nilReads warns if a history is valid only because its reads of nil say nothing.
func nilReads(ctx context.Context, r *report.Result, spec models.Spec, o Options) string {
	d, err := r.Spec.Definition()
	if r.Verdict != jepsen.Valid || r.Spec.NilReadsExact || err != nil || d.NilReads == nil {
		return ""
	}
	check, n, late := checkOne, 0, false
	if o.Independent {
		check = checkKeys
		n, late, err = nilReadsOfKeys(r.History, d)
	} else {
		n, late = d.NilReads(r.History)
	}
	if err != nil {
		return ""
	}
	if begins := r.Spec.Init == "" && d.Default == "nil" && !r.Spec.ObserveFailedCAS; n == 0 || !late && begins {
		return ""
	}
	if spec.Name == "" {
		spec.Name = r.Model
	}
	spec.NilReadsExact, o.Verify = true, VerifyNever
	exact, err := check(ctx, r.History, spec, o)
	if err != nil || !exact.FirstFailing().Placed() {
		return ""
	}
	were, saw := "were", "they"
	if n == 1 {
		were, saw = "was", "it"
	}
	failing := exact.FirstFailing()
	return fmt.Sprintf("%s %s taken to say nothing; if %s saw nil, the completion at index %d cannot happen (%s exact)",
		text.Count(n, "nil read"), were, saw, failing.History.Index(failing.FailEvent.OrNone()), models.ParamNilReads)
}

// nilReadsOfKeys does the same as Definition.NilReads for keys.
func nilReadsOfKeys(h *jepsen.History, d *models.Definition) (n int, late bool, err error) {
	keyed, err := h.IndependentOrShared()
	if err != nil {
		return 0, false, err
	}
	if n, _ = d.NilReads(keyed.Unwrapped); n == 0 {
		return 0, false, nil
	}
	for some := range slices.Chunk(rowsOf(keyed), keysAtOnce) {
		for _, own := range keyed.Histories(some) {
			_, here := d.NilReads(own.History)
			late = late || here
		}
	}
	return n, late, nil
}
