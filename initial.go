package clew

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clew/edn"
	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/held"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Tests may begin with another value than the model does, such as a register that holds 0. The first read of 0 is
// then impossible unless the user gives that value.
//
// Decides: whether a history that is not linearizable from the model's default is linearizable from another value
// that it shows. There are two kinds of candidates:
//
//  1. what its reads show of what was there at first (models.Spec.Opened). For most models that is what the first reads
//     saw, if no operation had been called to write that by then. Counters, banks and sets have rules of their own;
//  2. what an update that has not failed needs, such as the old value of a cas that crashed,
//     and no operation had been called to write before the first completion that fails
//     from the default.
//
// If the history is linearizable from a candidate, or if there are too many candidates to try, the verdict is unknown
// until the user says which value it was. Otherwise it is invalid. The result is then that of the default or of a value
// of the first kind, whichever fails later. A value that may have been there, but is not shown, such as what only the
// last read of a set saw, is a hint at most.
//
// Precondition: no initial value is given, by the user or by results beside the history.
//
// Cost: nothing for a valid history. For an invalid one, one linear pass (models.Spec.Opened), and a decision for each
// value up to the first from which the history is linearizable, at most 8. If there may be more, which happens for
// counters and banks, a decision for each operation that may be the first to show the value (models.Traits.FromAny), within
// fromAnyWork. If an update of the core needs a value that the core does not write, another linear pass
// (models.Spec.Needings) and at most 8 decisions. If there are more such values, or the limit comes before all have been tried,
// the verdict is unknown.
//
// If a limit came before the first completion that fails was found, and a near-linear decision has shown that the history fails by a
// later one, that is invalid, too, if it holds from each candidate. Then a value is of the second kind if none had been called to
// write it before the first completion up to which the search has not got: the history is linearizable up to there.
//
// Why it is right: until the history failed, nothing could have written a candidate, so it was there at first or the
// history is invalid. An operation that crashed or failed counts as called, since it may have written the value. A
// read of what a failed write left is a dirty read, and must not become unknown. A cas [0 0] does not count, as it
// writes 0 only where it has found 0.
//
// For a register nothing is missed. Suppose that it is linearizable from value v, and fails from the default at event
// e. Suppose also that no write of v was called before e. Take an order from v and leave out what is outside the core.
// What remains is an order of the core from v, while there is none from the default. So some operation of the core
// finds v before any operation of the core replaces it. If it is an update, v is of the second kind. If it is a read,
// it returned by e, so v is of the first kind. For maps, keys are added one by one, for as long as the history then
// fails later.
//
// Nor is anything missed for banks and counters. Their updates add up, so it need not be known what they add to until an
// operation shows it. Take any linearization, from any value. Some operation is the first in it that shows the value. It
// was called before any that shows it had returned. Under FromAny with that operation in front, the same order is
// possible; and an order that is possible there is possible from the value that follows from it. If all of these fail,
// the history fails from every value, and where the last of them fails, no value goes further.
//
// A set never loses an element. What its first read saw and no add was called with must have been there, and whatever else
// was there must have been seen, so it has one candidate.

// opened returns the initial values that a history shows. There are none unless it is not linearizable from the model's
// default. If there are too many, it returns the one that counts: from which the history is linearizable, or fails last.
func (c *checking) opened(ctx context.Context, d *decider, o Options) (opened models.Opened) {
	if c.ops == nil || !c.isInvalid() && (!c.certain() || o.growing) {
		return opened
	}
	if opened = c.spec.Opened(ctx, c.h, nil); !opened.More {
		opened.More = opened.Stopped
		return opened
	}
	if opened.Refuted && opened.MayBeDefault { // it fails from every value, and as it does from the default
		opened.More = false
		return opened
	}
	work := int64(fromAnyWork)
	if opened.Refuted {
		work = failedWork
	}
	start, verdict := d.within(work).fromAny(ctx, c.ops, o.limits())
	opened.More = verdict == jepsen.Unknown && !opened.Refuted
	if spec, takes := c.spec.StartingFrom(c.h, start); takes && (verdict == jepsen.Valid || !opened.MayBeDefault) {
		opened.Specs = []models.Spec{spec}
	} else if verdict == jepsen.Valid {
		opened.More = true
	}
	return opened
}

// fromAnyWork bounds the work of deciding whether operations are linearizable from any value.
const fromAnyWork = 20_000_000

// fromAny decides operations whose initial value is not known. It returns a value from which they are linearizable, or else
// one from which they fail as late as from any other, or nil if they do not show it.
func (d *decider) fromAny(ctx context.Context, ops *models.Operations, lim fallback.Limits) (start edn.ID, verdict jepsen.Verdict) {
	all := ops.Model.Traits().FromAny
	if all == nil {
		return edn.Nil, jepsen.Unknown
	}
	shown, last := false, int32(-1)
	verdict = jepsen.Invalid
	for from := range all(ops) {
		shown = true
		switch x := d.part(ctx, from.Operations, lim); {
		case x.Verdict == jepsen.Valid:
			start, _ = from.Start(x.Order)
			return start, jepsen.Valid
		case x.Verdict == jepsen.Unknown && x.FailsBy > 0: // it fails, and it is not known where
		case x.Verdict == jepsen.Unknown:
			verdict = jepsen.Unknown
		case x.FailEvent > last:
			last = x.FailEvent
			start, _ = from.Start(x.Order)
		}
	}
	if !shown {
		return start, jepsen.Unknown
	}
	return start, verdict
}

// certain reports whether it is certain that the history fails from its initial value, and not where.
func (c *checking) certain() bool {
	i := c.verdict.undecided
	return c.err == nil && c.verdict.verdict == jepsen.Unknown && i >= 0 && c.decisions[i].FailsBy > 0
}

// failsBy returns the event by which the history fails: the first, or if that is not known, a later one.
func (c *checking) failsBy() jepsen.Event {
	if c.isInvalid() {
		return c.failEvent()
	}
	return jepsen.Event(c.decisions[c.verdict.undecided].FailsBy)
}

// lastly returns a context for finding out whether a history fails from other initial values, too: if the limit has passed, a
// moment, for all keys together. What takes longer leaves the verdict unknown.
func (d *decider) lastly(ctx context.Context) (context.Context, context.CancelFunc) {
	cause := context.Cause(ctx)
	if cause == nil {
		return ctx, func() {}
	}
	if d.end.IsZero() {
		d.end = time.Now().Add(lastMoment)
	}
	return context.WithDeadlineCause(context.WithoutCancel(ctx), d.end, cause)
}

const lastMoment = 50 * time.Millisecond

// needed returns the initial values of the second kind. If it is not known where the history fails, those count that an operation
// needs which was called before the history certainly has failed, and that none had been called to leave while it was linearizable.
// It returns false if the context ended first.
func (c *checking) needed(ctx context.Context) ([]models.Spec, bool) {
	if c.isInvalid() {
		return c.spec.Needings(ctx, c.h, c.core, nil, c.failEvent())
	}
	part, x := c.parts[c.verdict.undecided], c.decisions[c.verdict.undecided]
	at := jepsen.Event(0) // some other part may fail at once
	if completions := fallback.Completions(part); len(c.parts) == 1 && int(x.Passed) < len(completions) {
		at = jepsen.Event(completions[x.Passed])
	}
	var called []jepsen.Operation
	for op, inv := range c.h.Invocation {
		if inv < jepsen.Event(x.FailsBy) {
			called = append(called, jepsen.Operation(op))
		}
	}
	return c.spec.Needings(ctx, c.h, called, nil, at)
}

// from reads the same history from another initial value. It returns nil if that cannot be.
func (c *checking) from(ctx context.Context, spec models.Spec, o Options) *checking {
	other, err := read(ctx, c.h, spec, o)
	if err != nil {
		return nil
	}
	other.inferred, other.supposed = c.inferred, true
	return other
}

// try decides a history from some initial values, one after the other, up to the first from which it is linearizable.
func (c *checking) try(ctx context.Context, d *decider, o Options, specs []models.Spec) (others []*checking) {
	for _, spec := range specs {
		other := c.from(ctx, spec, o)
		if other == nil {
			continue
		}
		others = append(others, other)
		if other.decide(ctx, d, o.limits()); other.isValid() {
			break
		}
	}
	return others
}

// free releases what the model holds.
func (c *checking) free() {
	if c.release != nil {
		c.release()
		c.release = nil
	}
}

// among returns the checking that counts once others have been decided, up to the first that is valid. That is one of the
// others if the history is invalid and fails later from its initial value.
func (c *checking) among(ctx context.Context, d *decider, o Options, opened models.Opened, others []*checking) *checking {
	for _, other := range others {
		if c.depends(other); c.verdict.cause == jepsen.InitialValue {
			break
		}
	}
	fails := func() bool { return c.isInvalid() || c.certain() && !o.growing }
	if c.spec.Init == "" && fails() {
		c.byNeed(ctx, d, o, others)
	}
	if fails() && (opened.More || o.growing && c.validFrom(ctx, d, o, opened.Unshown) != "") {
		c.open(ctx)
	}
	counts := c
	for _, other := range others {
		if !opened.MayBeDefault && fails() && other.certainlyFails() && other.failsBy() > counts.failsBy() {
			other.byDefault = c.h.Name(c.h.OpOf[c.failsBy()])
			if c.certain() {
				other.byDefault += " or what had returned before"
			}
			counts = other
		}
	}
	for _, x := range append(others, c) {
		if x != counts {
			x.free()
		}
	}
	counts.unshown, counts.refuted = opened.Unshown, opened.Refuted
	// Without a place it is not known from which value that was not tried it fails last.
	counts.settled = counts.certain() && fails() && (!opened.Refuted || opened.MayBeDefault)
	return counts
}

func (c *checking) failEvent() jepsen.Event {
	return jepsen.Event(c.decisions[c.verdict.failing].FailEvent)
}

// maxNeedings bounds the initial values of the second kind that are tried.
const maxNeedings = 8

// byNeed decides a history that fails from initial values of the second kind, until it does not fail from one of them.
// It tries them alone, and together with those of the first kind that others have. If there are more than it tries, the verdict
// is open.
func (c *checking) byNeed(ctx context.Context, d *decider, o Options, others []*checking) {
	tried := map[string]bool{}
	bases := append([]*checking{c}, others...)
	for len(bases) > 0 {
		base := bases[0]
		if bases = bases[1:]; !base.certainlyFails() {
			continue
		}
		specs, all := base.needed(ctx)
		if !all {
			c.open(ctx)
		}
		for _, spec := range specs {
			switch {
			case tried[spec.Init]:
				continue
			case len(tried) == maxNeedings:
				c.open(ctx)
			}
			if !c.certainlyFails() {
				return
			}
			tried[spec.Init] = true
			other, err := read(ctx, c.h, spec, o)
			if err != nil {
				continue
			}
			other.decide(ctx, d, o.limits())
			c.depends(other)
			if other.certainlyFails() && (base.certain() || other.certain() || other.failEvent() > base.failEvent()) {
				bases = append(bases, other)
			}
			other.free()
		}
		if !c.certainlyFails() {
			return
		}
	}
}

// certainlyFails reports whether it is certain that the history fails from its initial value.
func (c *checking) certainlyFails() bool { return c.isInvalid() || c.certain() }

// isInvalid reports whether the history was decided and is not linearizable.
func (c *checking) isInvalid() bool { return c.err == nil && c.verdict.verdict == jepsen.Invalid }

func (c *checking) isValid() bool { return c.err == nil && c.verdict.verdict == jepsen.Valid }

// depends withdraws a verdict if the verdict from another initial value differs.
func (c *checking) depends(other *checking) {
	switch v := other.verdict; {
	case other.err != nil:
	case v.verdict == jepsen.Valid:
		c.undecided(other, jepsen.InitialValue, onlyFrom)
	case other.certain(): // it fails, too
	case v.verdict == jepsen.Unknown && c.certainlyFails():
		c.undecided(other, v.cause, "whether it is linearizable if the initial value is %s was not decided, and it is not linearizable if it is %s: ")
	}
}

// undecided withdraws a verdict that depends on the initial value.
func (c *checking) undecided(other *checking, cause jepsen.Cause, sentence string) {
	if c.verdict.failing >= 0 {
		c.like = otherForm(c.h, c.failEvent(), "is written", "is seen")
		if c.ops.Model.Traits().IsRegister && !c.keysSaid && !c.h.MayHaveKeys() { // otherwise another says it
			c.like = cmp.Or(pairsHint(c.h), c.like)
		}
	}
	c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: cmp.Or(other.verdict.analyzer, c.verdict.analyzer), cause: cause, failing: -1, undecided: -1,
		reason: c.whichOf(sentence, other.spec.Init)}
	c.likely, c.core, c.missing = other.spec.Init, nil, nil
}

// open withdraws a verdict if there are more initial values than were tried, or if a history that grows may still show one.
func (c *checking) open(ctx context.Context) {
	cause := jepsen.InitialValue
	if ctx.Err() != nil {
		cause = limits.Stopped(ctx)
	}
	why := fmt.Sprintf(fromOthers, c.usual())
	if cause != jepsen.InitialValue {
		why = fmt.Sprintf(fromUntried, "linearizable", c.usual())
	}
	c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: c.verdict.analyzer, cause: cause, failing: -1, undecided: -1,
		reason: why + initFlag(ownInit)}
	c.core, c.missing = nil, nil
}

// fromOthers is the sentence about a history that may begin with more values than are tried.
const fromOthers = "not linearizable if the initial value is %s, and too many others would have to be tried: "

// fromUntried is the sentence about a history that is not linearizable, or at a level, and whose other initial values were not tried.
const fromUntried = "not %s if the initial value is %s, and there was no time to try others: "

// onlyFrom is the sentence about a history that is linearizable from another initial value.
const onlyFrom = "linearizable if the initial value is %s, not if it is %s: "

// whichOf returns a sentence about some initial values and the default, with the flags that say which it was.
func (c *checking) whichOf(sentence string, inits ...string) string {
	usual := c.usual()
	var short []string
	for i, init := range inits {
		brief := c.spec
		if brief.Init = models.ShortInit(init, maxInit); brief.Check() == nil { // not every model takes one for all keys
			inits[i] = brief.Init
		}
		short = append(short, text.Shorten(inits[i], maxInit))
	}
	c.flags = initFlag(append(inits, usual)...)
	reason := fmt.Sprintf(sentence, strings.Join(short, " or "), usual) + c.flags
	if c.like != "" {
		reason += "; but " + c.like
	}
	return reason
}

// ownInit names a model's default that cannot be given as a flag.
const ownInit = report.ModelsOwn

func (c *checking) usual() string {
	if d, err := c.spec.Definition(); err == nil && d.Default != "" {
		return d.Default
	}
	return ownInit
}

// maxInit bounds the characters of an initial value that a sentence shows.
const maxInit = report.MaxInit

// initFlag returns the flag of an initial value, or says how to tell clew which of several it was. A value that is too
// long for a sentence is in the result as EDN and as JSON.
func initFlag(inits ...string) string {
	var flags []string
	for _, init := range inits {
		switch {
		case init == ownInit:
		case len(init) > maxInit:
			flags = append(flags, models.ParamInit.String()+" @FILE, a file with what results as EDN and JSON call likely-init,")
		default:
			flags = append(flags, models.ParamInit.String()+" "+text.ShellWord(init))
		}
	}
	if len(flags) == 0 {
		return models.ParamInit.String() + " says which"
	}
	if len(inits) == 1 {
		return flags[0]
	}
	if last := len(flags) - 1; last > 0 {
		flags = []string{strings.Join(flags[:last], ", "), flags[last]}
	}
	return strings.Join(flags, " or ") + " says which"
}

// suppose says in a result that its initial value is taken from the first reads.
func (c *checking) suppose(r *report.Result) {
	r.LikelyInit = c.likely
	if r.Cause == jepsen.InitialValue && c.flags != "" {
		r.InitHint = &report.Advice{Value: c.likely, Text: c.flags}
	}
	if !c.supposed {
		return
	}
	r.LikelyInit, r.ToldBy, r.From.Init = c.spec.Init, "its first reads", report.Content
	otherwise := fmt.Sprintf("; %s gives another initial value", models.ParamInit)
	if c.refuted {
		otherwise = ", nor from any other value"
	}
	addHint(r, fmt.Sprintf("it is linearizable neither from %s, where %s cannot happen, nor from %s, which its first reads suggest%s",
		c.usual(), c.byDefault, text.Shorten(c.spec.Init, maxInit), otherwise))
}

// despiteCalls returns an initial value from which a history is linearizable, or "". When that value was read, only
// crashed operations had been called to write it, or otherwise only those and a :cas that failed, or those and some that were
// open when the first operation returned; by says which. They may have written it. So an invalid history stays invalid, and
// one that needs another value stays undecided. It costs at most three more decisions.
func (c *checking) despiteCalls(ctx context.Context, d *decider, o Options) (init, by string) {
	depends := c.verdict.cause == jepsen.InitialValue && c.likely != ""
	if c.verdict.verdict != jepsen.Invalid && !depends || c.supposed || ctx.Err() != nil {
		return "", ""
	}
	if of := c.ops.Model.Traits().Shape; of != nil {
		if _, lists := of().(models.TxnListsShape); lists {
			return "", "" // an element is appended once: what appends it is why it was read
		}
	}
	crashed := func(op jepsen.Operation) bool { return c.h.Status[op] == jepsen.Crashed }
	if init = c.without(ctx, d, o, crashed); init != "" {
		return init, "a crashed operation had begun"
	}
	if c.verdict.verdict != jepsen.Invalid {
		return "", ""
	}
	failedCAS := func(op jepsen.Operation) bool { return c.h.Status[op] == jepsen.Failed && isCAS(c.h, op) }
	if c.any(failedCAS) {
		if init = c.without(ctx, d, o, func(op jepsen.Operation) bool { return crashed(op) || failedCAS(op) }); init != "" {
			return init, "a failed :cas had been called"
		}
	}
	if !c.ops.Model.Traits().IsRegister {
		return "", ""
	}
	first := models.Open // when the first operation returned
	for _, res := range c.ops.Res {
		first = min(first, res)
	}
	openThen := func(op jepsen.Operation) bool {
		return crashed(op) || c.h.Invocation[op] < jepsen.Event(first) && c.h.Completion[op] > jepsen.Event(first)
	}
	return c.without(ctx, d, o, openThen), "an open operation had begun"
}

func (c *checking) any(is func(jepsen.Operation) bool) bool {
	for op := range jepsen.Operation(len(c.h.Status)) {
		if is(op) {
			return true
		}
	}
	return false
}

// without returns an initial value that the first reads show if some operations are left out, and from which the whole
// history is linearizable, or "".
func (c *checking) without(ctx context.Context, d *decider, o Options, left func(jepsen.Operation) bool) string {
	var kept []jepsen.Operation
	for op := range jepsen.Operation(len(c.h.Status)) {
		if !left(op) {
			kept = append(kept, op)
		}
	}
	if len(kept) == len(c.h.Status) || len(kept) == 0 {
		return ""
	}
	specs := c.spec.Openings(ctx, c.h, kept)
	if len(specs) == 0 || specs[0].Init == c.likely {
		return ""
	}
	return c.validFrom(ctx, d, o, specs[:1])
}

// validFrom returns the first of some initial values from which the history is linearizable, or "".
func (c *checking) validFrom(ctx context.Context, d *decider, o Options, specs []models.Spec) string {
	for _, spec := range specs {
		other := c.from(ctx, spec, o)
		if other == nil {
			continue
		}
		other.decide(ctx, d, o.limits())
		if other.free(); other.isValid() {
			return spec.Init
		}
	}
	return ""
}

// hintUnshown names an initial value that an invalid history does not show, if it is linearizable from that. It reports
// whether there is one.
func (c *checking) hintUnshown(ctx context.Context, d *decider, o Options, r *report.Result) bool {
	if r.Verdict != jepsen.Invalid || len(c.unshown) == 0 || ctx.Err() != nil {
		return false
	}
	init := c.validFrom(ctx, d, o, c.unshown)
	if init != "" {
		r.InitHint = &report.Advice{Value: init, Text: fmt.Sprintf("valid if %s was there at first: %s", text.Shorten(init, maxInit), initFlag(init))}
		addHint(r, r.InitHint.Text)
	}
	return init != ""
}

// beside returns operations that a core needs to fail as a history of its own if the initial value is not given.
// Alone, the core's first reads might show that value. The operations are writes (not cas) or failed operations,
// called before the failure.
func (c *checking) beside(ctx context.Context, r *report.Result) []jepsen.Operation {
	if len(r.Core) == 0 || len(r.Core) > maxUnfinished || !c.mayBegin(ctx, r, r.Core) {
		return nil
	}
	part := c.parts[c.verdict.failing]
	var writes []jepsen.Operation
	rowOf := part.Rows()
	for op, inv := range c.h.Invocation {
		op := jepsen.Operation(op)
		if inv > r.FailEvent.OrNone() || slices.Contains(r.Core, op) {
			continue
		}
		if row := rowOf[op]; c.h.Status[op] == jepsen.Failed || row != jepsen.None && part.Kind[row] != models.CAS && part.Model.Mutates(part.Op(row)) {
			writes = append(writes, op)
		}
	}
	enough := func(some []jepsen.Operation) bool {
		return len(some) > 0 && !c.mayBegin(ctx, r, slices.Concat(r.Core, some))
	}
	if !enough(writes) {
		return nil
	}
	for len(writes) > 1 {
		if half := len(writes) / 2; enough(writes[:half]) {
			writes = writes[:half]
		} else if enough(writes[half:]) {
			writes = writes[half:]
		} else {
			break
		}
	}
	with := part.Alone(part.Among(slices.Concat(r.Core, writes)), int32(r.FailEvent.OrNone()))
	if len(writes) > maxUnfinished {
		return nil
	}
	ctx, lim, stop := fallback.Limits{}.Within(ctx, judgeWork)
	defer stop()
	if a := engines.New("", 0).Decide(ctx, with.Operations, lim); a.Verdict != jepsen.Invalid || a.FailEvent != int32(r.FailEvent.OrNone()) {
		return nil
	}
	return writes
}

// mayBegin reports whether some operations, as a history of their own, suggest an initial value.
func (c *checking) mayBegin(ctx context.Context, r *report.Result, some []jepsen.Operation) bool {
	if c.spec.Init != "" {
		return false
	}
	opened := c.spec.Opened(ctx, c.h, some)
	needed, all := c.spec.Needings(ctx, c.h, r.Core, some, r.FailEvent.OrNone())
	return opened.More && !opened.Refuted || len(opened.Specs)+len(needed) > 0 || opened.Stopped || !all
}

// beginning is what another initial value makes of a failure that a monitor has found.
type beginning struct {
	explains bool           // the failure is none, or may be none, with another initial value
	init     string         // the one to go on with, "" if the model's default stays
	likely   string         // one with which it may be none
	verdict  jepsen.Verdict // of what has come, from that value
	flag     string         // says which value it was
	waits    bool           // what comes may show a value, and not much has come
}

// mostWaiting bounds the operations that a monitor holds while it waits for what may show an initial value.
const mostWaiting = 4096

// begins decides whether the history so far, or that of a key, may be linearizable from another initial value that it shows, as Check
// does. It is asked as long as nobody has given one, nothing of the history has been forgotten, and nothing in it fails whatever it
// began with.
//
// Cost: once for each key that fails, what Check takes for an invalid history.
func (m *Monitor) begins(f *failure, ended bool) (b beginning, err error) {
	key, spec := f.Key, m.specOf(f.Key)
	d, err := spec.Definition()
	switch {
	case err != nil:
		return b, err
	case spec.Init != "" || m.reads.Settled[key] || !d.Takes(models.ParamInit):
		return b, nil
	case m.reads.More[key]:
		return beginning{explains: true, flag: initFlag(ownInit)}, nil
	case !m.held.Began[key]:
		b, err = m.beginsWith(f, spec, ended)
	}
	if err == nil && !b.explains && !b.waits {
		noteOf(&m.reads.Settled, key)
	} else if b.explains && b.init == "" {
		noteOf(&m.reads.More, key)
	}
	return b, err
}

// beginsWith does what begins does for a history of which nothing was forgotten.
func (m *Monitor) beginsWith(f *failure, spec models.Spec, ended bool) (b beginning, err error) {
	o := m.o
	o.growing = !ended
	c, err := read(m.ctx, f.H, spec, o)
	if err != nil || c.ops == nil {
		return b, cmp.Or(err, context.Cause(m.ctx))
	}
	decider := newDecider(c.spec, o)
	c.decide(m.ctx, decider, o.limits())
	opened := c.opened(m.ctx, decider, o)
	counts := c.among(m.ctx, decider, o, opened, c.try(m.ctx, decider, o, opened.Specs))
	defer counts.free()
	if cause := context.Cause(m.ctx); cause != nil {
		return b, cause
	}
	undecided := counts.verdict.verdict == jepsen.Unknown
	switch {
	case counts.err != nil:
	case counts.supposed && counts.isInvalid(): // it fails later from there
		b = beginning{explains: true, init: counts.spec.Init}
	case undecided && counts.likely != "" && counts.verdict.cause == jepsen.InitialValue:
		b = beginning{explains: true, init: counts.likely, verdict: jepsen.Valid}
	case undecided && counts.likely != "":
		b = beginning{explains: true, likely: counts.likely}
	case undecided && counts.verdict.cause == jepsen.InitialValue && opened.More:
		b.explains = true
	case undecided && counts.verdict.cause == jepsen.InitialValue:
		b.waits = f.H.Operations() < mostWaiting
	}
	switch init := cmp.Or(b.init, b.likely); {
	case init == "":
		b.flag = initFlag(ownInit)
	case f.Key == "":
		b.flag = initFlag(models.ShortInit(init, maxInit))
	default:
		b.flag = initFlag(m.spec.AndEach([]string{f.Key}, []string{init}))
	}
	return b, nil
}

// begin has the history, or that of a key, begin with a value.
func (m *Monitor) begin(j *held.Judged, init string) {
	key := j.Key
	if m.held.Anew(j); key == "" {
		m.spec.Init, m.totals.Init = init, init
		return
	}
	if m.reads.Inits == nil {
		m.reads.Inits = map[string]string{}
	}
	m.reads.Inits[key] = init
}
