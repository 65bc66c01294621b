package clew

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clew/fallback"
	"clew/fastpath"
	"clew/internal/engines"
	"clew/internal/families"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

type decision struct {
	fallback.Answer
	analyzer string
	reason   string            // unknown: why the fast path cannot say, or how far the search got
	core     []models.Row      // if the fast path found one
	why      *fastpath.Finding // if the fast path found one

	ambiguous string // unknown: why the fast path did not decide
}

// renumber changes the rows of a decision about a cut to their numbers in the whole.
func (x decision) renumber(cut models.Cut) decision {
	x.Renumber(cut)
	cut.Whole(x.core)
	x.why.Renumber(func(row models.Row) models.Row { return cut.Rows[row] })
	return x
}

// decider decides parts by the path that the options ask for.
type decider struct {
	spec   models.Spec
	fast   bool // the fast path is asked for, if the model has one
	engine fallback.Engine
	only   bool      // the fast path or nothing
	bare   bool      // failures are told by the search alone
	judged int       // how many cores have been decided again
	work   int64     // the most that the searches of all parts do, in units of some nanoseconds; 0: unbounded
	end    time.Time // of what is decided after a limit has passed; zero if nothing was yet
}

func newDecider(spec models.Spec, o Options) *decider {
	d := &decider{spec: spec, only: o.Algorithm == onlyFast, work: int64(o.work)}
	general := o.Algorithm
	if d.only {
		general = ""
	}
	d.engine = engines.New(general, o.Depth)
	d.fast = general == "" || general == "auto"
	if o.Engine != nil {
		d.engine, d.fast = o.Engine, false
	}
	return d
}

// part decides one part: by the fast path if it can, else by the general search.
func (d *decider) part(ctx context.Context, part *models.Operations, lim fallback.Limits) decision {
	if !d.fast {
		return d.search(ctx, part, lim)
	}
	x := decision{Answer: fallback.Answer{Cause: jepsen.Ambiguous}, analyzer: "clew/fast-" + d.spec.Name}
	path, refusal := families.Of(part.Model)
	switch {
	case path == nil && !d.only:
		if x = d.search(ctx, part, lim); x.Verdict == jepsen.Unknown && refusal != "" {
			x.ambiguous = "the fast path for " + d.spec.Name + " " + refusal
		}
		return x
	case refusal != "":
		x.reason = "the fast path for " + d.spec.Name + " " + refusal
		return x
	case path == nil:
		x.reason = "there is no fast path for " + d.spec.Name
		return x
	}
	f := path.Decide(ctx, &part.Columns, fastpath.WantWitness|fastpath.WantFailure)
	x.core, x.why = f.Core, f.Why
	switch {
	case f.Reason.Is(fastpath.Stopped):
		x.Cause = limits.Stopped(ctx)
		x.reason = f.Reason.Tell(part.Teller())
	case f.Verdict == jepsen.Valid:
		x.Answer = fallback.Answer{Verdict: jepsen.Valid, Order: f.Witness}
	case f.Verdict == jepsen.Invalid && f.FailEvent >= 0:
		x.Answer = fallback.Answer{Verdict: jepsen.Invalid, FailEvent: f.FailEvent, Order: f.Before}
	case d.only:
		x.reason = f.Reason.Tell(part.Teller())
	case f.Verdict == jepsen.Invalid:
		// It certainly fails, but some prefix is ambiguous: the search finds where. It need not look further than
		// where the history has certainly failed.
		cut := part.Prefix(f.BoundEvent)
		ctx, stop := placing(ctx)
		defer stop()
		if x = d.search(ctx, cut.Operations, lim).renumber(cut); x.Verdict == jepsen.Valid { // it fails later
			x = d.search(ctx, part, lim)
		}
		if x.Verdict == jepsen.Unknown && (x.FailsBy == 0 || f.BoundEvent < x.FailsBy) {
			x.FailsBy, x.FailsAs = f.BoundEvent, "whichever operation saw which"
			if f.Why != nil {
				x.FailsAs = "since " + f.Why.Tell(part.Teller())
			}
		}
	default:
		x = d.search(ctx, part, lim)
	}
	if x.Verdict == jepsen.Unknown && f.Reason != nil {
		x.ambiguous = f.Reason.Tell(part.Teller())
	}
	return x
}

// placing returns a context for finding out where a history fails that certainly does. It leaves an eighth of the time that is
// left to finding out whether the history fails from other initial values, too.
func placing(ctx context.Context) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-time.Until(end)/8))
}

// tell gives a failure that a search found the sentence that a fast path has for it, so that a kind of failure is told in the same
// words whichever engine finds it: for the part if the fast path was not tried, else for its core. If the operation that fails
// shows a kind in the whole part, a core's sentence is of that one.
func (d *decider) tell(ctx context.Context, part *models.Operations, core []jepsen.Operation, x *decision) {
	if x.why != nil || d.bare {
		return
	}
	if path, _ := families.Of(part.Model); path != nil && !d.fast && !d.only {
		if x.why = failsAt(ctx, path, part, x.FailEvent); x.why != nil {
			return
		}
	}
	if part.Model.Traits().Positions != nil || len(core) == 0 || len(core) > maxUnfinished { // a core lacks positions
		return
	}
	var shown models.Anomaly
	row := models.Row(slices.Index(part.Res, x.FailEvent))
	if of := part.Model.Traits().Anomaly; of != nil && row >= 0 && part.Len() <= maxReadForKind {
		shown = of(part, row)
	}
	rows := part.Among(core)
	cut := part.Alone(rows, x.FailEvent)
	path, _ := families.Of(cut.Model)
	if path == nil { // of these kinds of operations; there may be one of fewer
		if shown == models.NeverWritten && part.Model.Traits().Droppable != nil && part.Teller().Adds(row) {
			x.why = fastpath.NeverAdded.Of(row, fastpath.Missing)
		}
		return
	}
	why := failsAt(ctx, path, cut.Operations, x.FailEvent)
	if why == nil || why.Bare {
		return
	}
	if kind := why.Anomaly(cut.Teller()); kind != "" && (shown == "" || shown == kind) {
		x.why = why
		x.why.Renumber(func(row models.Row) models.Row { return rows[cut.Rows[row]] })
	}
}

// failsAt returns what a fast path finds about operations that fail at an event, nil if it does not decide that.
func failsAt(ctx context.Context, path fastpath.Path, ops *models.Operations, fail int32) *fastpath.Finding {
	f := path.Decide(ctx, &ops.Columns, fastpath.WantFailure)
	if f.Verdict != jepsen.Invalid || f.FailEvent != fail {
		return nil
	}
	return f.Why
}

// late returns the decision about a part whose turn comes too late.
func (d *decider) late(ctx context.Context) decision {
	return decision{Answer: fallback.Answer{Cause: limits.Stopped(ctx)}, analyzer: "clew/" + d.engine.Name()}
}

// search decides operations by the general search. The search keeps arrays by event, so if nearly all events belong
// to other parts, it gets the operations with their events renumbered.
func (d *decider) search(ctx context.Context, ops *models.Operations, lim fallback.Limits) decision {
	if fastpath.Sparse(int64(ops.Events), int64(ops.Len())) {
		in, dense := fastpath.PlainInput(ctx, &ops.Columns), *ops
		dense.Columns = *in.Columns
		x := d.search(ctx, &dense, lim)
		if x.Verdict == jepsen.Invalid {
			x.FailEvent = in.Original(x.FailEvent)
		}
		if x.FailsBy > 0 {
			x.FailsBy = in.Original(x.FailsBy)
		}
		return x
	}
	var x decision
	if d.work > 0 {
		var stop func()
		ctx, lim, stop = lim.Within(ctx, d.work)
		defer stop()
	}
	lim.Furthest = new(atomic.Int64)
	if f := caught(ops.Model, func() { x.Answer = d.engine.Decide(ctx, ops, lim) }); f != nil {
		if f.Cause == "" {
			panic(f)
		}
		x.Answer = fallback.Answer{Cause: f.Cause, Passed: lim.Furthest.Load()}
	}
	if x.analyzer = "clew/" + d.engine.Name(); x.By != "" {
		x.analyzer = "clew/" + x.By
	}
	if x.Verdict == jepsen.Unknown {
		x.reason = x.HowFar(ops)
	}
	return x
}

// core returns the operations of a part's core. A register's core has every value together with its writes, and one by
// positions has the operations that contradict each other. Any other core is as small as possible, whichever engine
// found it.
func (d *decider) core(ctx context.Context, whole models.Model, part *models.Operations, x decision, lim fallback.Limits) []jepsen.Operation {
	rows, lim, p := x.core, fallback.Limits{Memory: lim.Memory}, part.Model.Traits().Positions
	switch {
	case rows == nil:
		rows = fallback.Core(ctx, d.engine, part, x.FailEvent, lim)
	case p != nil && p.Beside && x.why != nil:
		// The operations that contradict each other, which say more than one that fails alone.
	case p != nil:
		rows = fallback.Smaller(ctx, byPath{d.engine}, part, rows, x.FailEvent, lim)
	case whole.Traits().Partition != nil || fallback.Counts(part.Model):
		rows = fallback.Smaller(ctx, d.engine, part, rows, x.FailEvent, lim)
	}
	ops := make([]jepsen.Operation, 0, len(rows))
	for _, row := range rows {
		if part.Res[row] <= x.FailEvent || part.Model.Mutates(part.Op(row)) { // what an open one answers does not matter yet
			ops = append(ops, part.Of[row])
		}
	}
	return ops
}

// byPath decides by the fast path, and a few operations that it does not decide by an engine.
type byPath struct{ engine fallback.Engine }

// Name implements fallback.Engine.
func (byPath) Name() string { return onlyFast }

// Decide implements fallback.Engine.
func (p byPath) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	a := fallback.Answer{Cause: fallback.GaveUp, Work: int64(ops.Len()) * workOfPath}
	if path, _ := families.Of(ops.Model); path != nil {
		f := path.Decide(ctx, &ops.Columns, fastpath.WantFailure)
		if f.Verdict == jepsen.Valid || f.Verdict == jepsen.Invalid && f.FailEvent >= 0 {
			a.Verdict, a.FailEvent = f.Verdict, f.FailEvent
			return a
		}
		a.Work *= timesUndecided // it has searched
	}
	if ops.Len() <= fewOperations {
		return p.engine.Decide(ctx, ops, lim)
	}
	return a
}

// fewOperations is how many operations an engine decides in byPath.
const fewOperations = 32

// workOfPath is the work of a fast path for each operation, and timesUndecided how many times as much it is if that does
// not decide.
const workOfPath, timesUndecided = 50, 40

// hard says what made a part too hard for the search, nil if the search was not stopped by a limit.
func (c *checking) hard(i int) *report.Hard {
	part, x := c.parts[i], c.decisions[i]
	if x.Cause != jepsen.Timeout && x.Cause != jepsen.OutOfMemory && x.Cause != jepsen.Interrupted || x.reason == "" || x.Depth > 0 {
		return nil
	}
	completions := fallback.Completions(part)
	h := &report.Hard{Passed: int(x.Passed), Completions: len(completions), Open: engines.MostOpen(part), Values: part.Model.Traits().Shape != nil, Ambiguous: x.ambiguous}
	if says := part.Model.Traits().Hard; says != nil {
		words := says()
		h.Model = &words
	}
	at := models.Open
	if h.Passed < len(completions) {
		at = completions[h.Passed]
		h.At = jepsen.Some(jepsen.Event(at))
	}
	if x.FailsBy > 0 {
		h.FailsBy, h.FailsAs = jepsen.Some(jepsen.Event(x.FailsBy)), x.FailsAs
	}
	differ := map[models.Op]bool{}
	for row := range models.Row(part.Len()) {
		op := part.Op(row)
		if !part.Model.Mutates(op) {
			continue
		}
		h.Updates++
		differ[op] = true
		if part.Res[row] == models.Open && part.Inv[row] < at {
			h.Count(c.h.Values.Value(c.h.F[c.h.Invocation[part.Of[row]]]))
		}
	}
	h.Distinct = len(differ)
	return h
}

// within returns a decider whose searches do no more than some work.
func (d *decider) within(work int64) *decider {
	bounded := *d
	bounded.work = work
	return &bounded
}

// failedWork bounds the work that is spent on finding out whether the operations fail by themselves, once it is known
// that they fail together with watches.
const failedWork = 50_000_000

// alone decides the operations again without the answers that no step can judge, if they are not linearizable with
// them. So a watch that shows what cannot be is not taken for a failure of the operations. It returns c itself if that
// makes no difference: if it is not known whether some order explains the answers, one that was found without them does
// not tell.
func (c *checking) alone(ctx context.Context, d *decider, o Options) *checking {
	if c.ops == nil || c.err != nil || c.verdict.verdict == jepsen.Valid || len(c.broken) > 0 {
		return c
	}
	beyond := c.ops.Model.Traits().Beyond
	if beyond == nil {
		return c
	}
	ops := beyond.Alone(c.ops)
	if ops == nil {
		return c
	}
	other := &checking{h: c.h, spec: c.spec, inferred: c.inferred, ops: ops}
	if c.verdict.verdict == jepsen.Invalid {
		d = d.within(failedWork)
	}
	other.decide(ctx, d, o.limits())
	switch {
	case other.verdict.verdict == jepsen.Invalid:
		return other
	case other.verdict.verdict == jepsen.Valid && c.verdict.verdict == jepsen.Invalid:
		part := c.parts[c.verdict.failing]
		other.against = jepsen.Some(part.History.OpOf[c.decisions[c.verdict.failing].FailEvent])
		return other
	}
	return c
}

// judge judges the answers that are about the order as a whole. If they break a guarantee, the history is invalid.
func (c *checking) judge(r *report.Result) {
	if c.ops == nil || c.err != nil || r.Cause == jepsen.SelfCheckFailed {
		return
	}
	beyond := c.ops.Model.Traits().Beyond
	if beyond == nil {
		return
	}
	r.Broken = c.broken
	if len(r.Broken) == 0 && r.Verdict == jepsen.Valid {
		r.Broken = beyond.Judge(c.ops, append([]models.Row{}, c.wholeOrder()...))
	}
	if op, contradicts := c.against.Get(); contradicts && len(r.Broken) == 0 {
		r.Broken = []models.Broken{{Operation: op, Guarantee: "consistent",
			Why: "no order of the operations explains all that watches and reads of old states show, such as " + c.h.Name(op)}}
	}
	switch {
	case len(r.Broken) == 0:
	case r.Placed():
		r.Explanation += besides(r.Broken)
	default:
		c.breaks(r)
	}
}

// breaks makes a result invalid because of a guarantee that is broken.
func (c *checking) breaks(r *report.Result) {
	first := r.Broken[0]
	said := ""
	if r.Verdict == jepsen.Valid {
		said = "; the operations themselves are linearizable"
	}
	r.Verdict, r.Kind, r.Explanation = jepsen.Invalid, models.BrokenGuarantee, first.Why+said+besides(r.Broken[1:])
	r.Cause, r.Hard, r.Vacuous = "", nil, ""
	r.FailEvent = jepsen.Some(c.h.Completion[first.Operation])
	r.Core = []jepsen.Operation{first.Operation}
	r.Paths = [][]report.Step{{{Operation: first.Operation, Why: first.Guarantee + " is broken", Because: first.Why}}}
	r.Named = append([]jepsen.Operation{first.Operation}, first.By...)
	r.Before = slices.DeleteFunc(slices.Clone(r.Witness), func(op jepsen.Operation) bool { return op == first.Operation })
	r.Prior, r.Ops, r.Witness = r.Before, c.ops, nil
}

// maxBesides is how many more broken guarantees an explanation tells.
const maxBesides = 3

// besides tells of more broken guarantees.
func besides(more []models.Broken) string {
	said := ""
	for _, b := range more[:min(maxBesides, len(more))] {
		said += "; besides, " + b.Why
	}
	if n := len(more) - maxBesides; n > 0 {
		said += fmt.Sprintf("; and %d more", n)
	}
	return said
}

// A history of several parts is decided in growing prefixes: if one part fails early, what the others do later does
// not matter, however hard it is to decide. The first prefix has firstHorizon events.
const (
	firstHorizon  = 512
	horizonGrowth = 4
)

// decide decides operations. It goes part by part if the model has parts and the fast path does not decide them all
// at once.
func (d *decider) decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) ([]*models.Operations, []decision) {
	if ops.Model.Traits().Partition != nil && d.fast {
		first := *d
		first.only = true
		if x := first.part(ctx, ops, lim); x.Verdict != jepsen.Unknown {
			return []*models.Operations{ops}, []decision{x}
		}
	}
	parts := ops.Parts()
	if d.work > 0 { // each part has its share: which parts are decided does not depend on which come first
		d = d.within(max(1, d.work/int64(len(parts))))
	}
	decisions := d.all(ctx, parts, lim)
	if d.only {
		ambiguousFirst(decisions)
	}
	return parts, decisions
}

// ambiguousFirst withdraws failures if some part is ambiguous: that part may fail earlier, and no other engine is
// asked.
func ambiguousFirst(decisions []decision) {
	i := slices.IndexFunc(decisions, func(x decision) bool { return x.Cause == jepsen.Ambiguous })
	for k, x := range decisions {
		if i >= 0 && x.Verdict == jepsen.Invalid {
			decisions[k] = decisions[i]
		}
	}
}

// all decides the parts up to the earliest failing completion.
func (d *decider) all(ctx context.Context, parts []*models.Operations, lim fallback.Limits) []decision {
	if len(parts) == 1 {
		return []decision{d.part(ctx, parts[0], lim)}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	whole := func(part *models.Operations) decision {
		if ctx.Err() != nil {
			return d.late(ctx)
		}
		return d.part(ctx, part, lim)
	}
	if e, ok := engines.Of(d.engine.Name()); ok && e.OnlyWitnesses {
		return eachPart(stop, parts, whole) // no part is found to fail, and a prefix needs more depth
	}
	for horizon := int32(firstHorizon); ; horizon *= horizonGrowth {
		if horizon >= parts[0].Events/horizonGrowth {
			return eachPart(stop, parts, whole)
		}
		decisions := eachPart(stop, parts, func(part *models.Operations) decision {
			if ctx.Err() != nil {
				return d.late(ctx)
			}
			cut := part.Prefix(horizon)
			return d.part(ctx, cut.Operations, lim).renumber(cut)
		})
		if slices.ContainsFunc(decisions, func(x decision) bool { return x.Verdict != jepsen.Valid }) {
			return decisions
		}
	}
}

// eachPart decides the parts in parallel. If one of them panics, since a model may fail, the others are stopped.
func eachPart(stop func(), parts []*models.Operations, decide func(*models.Operations) decision) []decision {
	decisions := make([]decision, len(parts))
	sideBySide(len(parts), func(i int) {
		decided := false
		defer func() {
			if !decided {
				stop()
			}
		}()
		decisions[i], decided = decide(parts[i]), true
	})
	return decisions
}

// sideBySide calls f for 0 to n-1 in parallel, with one goroutine per processor. Each takes one call after the other:
// a million small calls would grow a million stacks. A panic in a call panics again in this goroutine, once all calls
// are done.
func sideBySide(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var next atomic.Int64
	var panicked atomic.Pointer[any]
	guarded := func(i int) {
		var exited any = &models.Failure{Err: models.ErrExited}
		defer func() {
			if p := cmp.Or(recover(), exited); p != nil {
				panicked.CompareAndSwap(nil, &p)
			}
		}()
		f(i)
		exited = nil
	}
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				guarded(i)
			}
		})
	}
	group.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}
