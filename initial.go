package clew

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"clew/fallback"
	"clew/internal/engines"
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
//  1. what its first reads show, and no operation had been called to write by then;
//  2. what an update that has not failed needs, such as the old value of a cas that crashed,
//     and no operation had been called to write before the first completion that fails
//     from the default.
//
// If the history is linearizable from a candidate, the verdict is unknown until the user says which value it was.
// Otherwise it is invalid. The result is then that of the default or of a value of the first kind, whichever fails
// later.
//
// Precondition: no initial value is given, by the user or by results beside the history.
//
// Cost: one linear pass over an invalid history (models.Spec.Openings), and a decision for each value, at most 8 of
// either kind, up to the first from which the history is linearizable. If an update of the core needs a value that the core does not write, another linear pass
// (models.Spec.Needings). Nothing for a valid history.
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

// others reads the same history from each initial value that its first reads show, one after the other. It yields none
// unless the history is not linearizable from the model's default.
func (c *checking) others(ctx context.Context, o Options) iter.Seq[*checking] {
	return func(yield func(*checking) bool) {
		if c.ops == nil || c.err != nil || c.verdict.verdict != jepsen.Invalid {
			return
		}
		for _, spec := range c.spec.Openings(ctx, c.h, nil) {
			other, err := read(ctx, c.h, spec, o)
			if err != nil {
				continue
			}
			if other.inferred, other.supposed = c.inferred, true; !yield(other) {
				return
			}
		}
	}
}

// among returns the checking that counts once others have been decided, up to the first that is valid. That is one of the
// others if the history is invalid and fails later from its initial value.
func (c *checking) among(ctx context.Context, d *decider, o Options, others []*checking) *checking {
	for _, other := range others {
		if c.depends(other); c.verdict.cause == jepsen.InitialValue {
			break
		}
	}
	if c.spec.Init == "" {
		c.byNeed(ctx, d, o, others)
	}
	counts := c
	for _, other := range others {
		if c.isInvalid() && other.isInvalid() && other.failEvent() > counts.failEvent() {
			other.byDefault = c.h.Name(c.h.OpOf[c.failEvent()])
			counts = other
		}
	}
	for _, x := range append(others, c) {
		if x != counts && x.release != nil {
			x.release()
			x.release = nil
		}
	}
	return counts
}

func (c *checking) failEvent() jepsen.Event {
	return jepsen.Event(c.decisions[c.verdict.failing].FailEvent)
}

// maxNeedings bounds the initial values of the second kind that are tried.
const maxNeedings = 8

// byNeed decides an invalid history from initial values of the second kind, until it is not invalid from one of them.
// It tries them alone, and together with those of the first kind that others have.
func (c *checking) byNeed(ctx context.Context, d *decider, o Options, others []*checking) {
	tried := map[string]bool{}
	bases := append([]*checking{c}, others...)
	for len(bases) > 0 && c.isInvalid() {
		base := bases[0]
		if bases = bases[1:]; !base.isInvalid() {
			continue
		}
		for _, spec := range base.spec.Needings(ctx, c.h, base.core, nil, base.failEvent()) {
			other, err := read(ctx, c.h, spec, o)
			if tried[spec.Init] || len(tried) == maxNeedings || err != nil || !c.isInvalid() {
				continue
			}
			tried[spec.Init] = true
			other.decide(ctx, d, o.limits())
			c.depends(other)
			if other.isInvalid() && other.failEvent() > base.failEvent() {
				bases = append(bases, other)
			}
			if other.release != nil {
				other.release()
			}
		}
	}
}

// isInvalid reports whether the history was decided and is not linearizable.
func (c *checking) isInvalid() bool { return c.err == nil && c.verdict.verdict == jepsen.Invalid }

func (c *checking) isValid() bool { return c.err == nil && c.verdict.verdict == jepsen.Valid }

// depends withdraws a verdict if the verdict from another initial value differs.
func (c *checking) depends(other *checking) {
	switch v := other.verdict; {
	case other.err != nil:
	case v.verdict == jepsen.Valid:
		c.undecided(other, jepsen.InitialValue, onlyFrom)
	case v.verdict == jepsen.Unknown && c.verdict.verdict == jepsen.Invalid:
		c.undecided(other, v.cause, "whether it is linearizable if the initial value is %s was not decided, and it is not linearizable if it is %s: ")
	}
}

// undecided withdraws a verdict that depends on the initial value.
func (c *checking) undecided(other *checking, cause jepsen.Cause, sentence string) {
	if c.verdict.failing >= 0 {
		c.like = otherForm(c.h, c.failEvent(), "is written", "is seen")
		if c.ops.Model.Traits().IsRegister && c.h.AllTuples() {
			c.like = pairsHint()
		}
	}
	c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: cmp.Or(other.verdict.analyzer, c.verdict.analyzer), cause: cause, failing: -1, undecided: -1,
		reason: c.whichOf(sentence, other.spec.Init)}
	c.likely, c.core, c.missing = other.spec.Init, nil, nil
}

// onlyFrom is the sentence about a history that is linearizable from another initial value.
const onlyFrom = "linearizable if the initial value is %s, not if it is %s: "

// whichOf returns a sentence about some initial values and the default, with the flags that say which it was.
func (c *checking) whichOf(sentence string, inits ...string) string {
	usual := c.usual()
	var short []string
	for i, init := range inits {
		inits[i] = models.ShortInit(init, maxInit)
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
const ownInit = "the model's own"

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
	r.LikelyInit, r.ToldBy = c.spec.Init, "its first reads"
	addHint(r, fmt.Sprintf("it is linearizable neither from %s, where %s cannot happen, nor from %s, which its first reads suggest; %s gives another initial value",
		c.usual(), c.byDefault, text.Shorten(c.spec.Init, maxInit), models.ParamInit))
}

// despiteCalls returns an initial value from which a history is linearizable, or "". When that value was read, only
// crashed operations had been called to write it, or otherwise only those and a :cas that failed; by says which. They may
// have written it. So an invalid history stays invalid, and one that needs another value stays undecided. It costs at
// most two more decisions.
func (c *checking) despiteCalls(ctx context.Context, d *decider, o Options) (init, by string) {
	if c.verdict.verdict != jepsen.Invalid && c.verdict.cause != jepsen.InitialValue || c.supposed || ctx.Err() != nil {
		return "", ""
	}
	crashed := func(op jepsen.Operation) bool { return c.h.Status[op] == jepsen.Crashed }
	if init = c.without(ctx, d, o, crashed); init != "" {
		return init, "a crashed operation had begun"
	}
	failedCAS := func(op jepsen.Operation) bool { return c.h.Status[op] == jepsen.Failed && isCAS(c.h, op) }
	if c.verdict.verdict != jepsen.Invalid || !c.any(failedCAS) {
		return "", ""
	}
	init = c.without(ctx, d, o, func(op jepsen.Operation) bool { return crashed(op) || failedCAS(op) })
	return init, "a failed :cas had been called"
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
	other, err := read(ctx, c.h, specs[0], o)
	if err != nil {
		return ""
	}
	other.decide(ctx, d, o.limits())
	if other.release != nil {
		other.release()
	}
	if other.err != nil || other.verdict.verdict != jepsen.Valid {
		return ""
	}
	return specs[0].Init
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
	if a := engines.New("", 0).Decide(ctx, with.Operations, fallback.Limits{}); a.Verdict != jepsen.Invalid || a.FailEvent != int32(r.FailEvent.OrNone()) {
		return nil
	}
	return writes
}

// mayBegin reports whether some operations, as a history of their own, suggest an initial value.
func (c *checking) mayBegin(ctx context.Context, r *report.Result, some []jepsen.Operation) bool {
	return c.spec.Init == "" && len(c.spec.Openings(ctx, c.h, some))+len(c.spec.Needings(ctx, c.h, r.Core, some, r.FailEvent.OrNone())) > 0
}
