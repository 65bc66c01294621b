package clew

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"clew/fallback/auto"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Tests begin with other values than the models do: a register that holds 0. If nobody
// says so, the first read of 0 is impossible. So a history that is not linearizable from
// the model's default is decided again from the values that its first reads show, and
// that no operation had been called to write by then. If it is linearizable from one of
// them, the verdict is unknown until the user says which it was. Otherwise it is invalid
// in either case, from the value that it bears for longer.

// others are the same history under way from each initial value that its first reads
// show. There are none unless it is not linearizable from the model's default.
func (c *checking) others(ctx context.Context, o Options) []*checking {
	if c.ops == nil || c.err != nil || c.verdict.verdict != jepsen.Invalid {
		return nil
	}
	var others []*checking
	for _, spec := range c.spec.Openings(ctx, c.h, nil) {
		if other, err := read(ctx, c.h, spec, o); err == nil {
			other.inferred, other.supposed = c.inferred, true
			others = append(others, other)
		}
	}
	return others
}

// among is the checking that counts, if others have been decided: one of them if the
// history is invalid, and fails later from its initial value.
func (c *checking) among(others []*checking) *checking {
	counts := c
	for _, other := range others {
		switch v := other.verdict; {
		case other.err != nil:
		case v.verdict == jepsen.Valid:
			c.undecided(other, jepsen.InitialValue, "linearizable if the initial value is %s, not if it is %s: ")
			counts = c
		case v.verdict == jepsen.Unknown && c.verdict.verdict == jepsen.Invalid:
			c.undecided(other, v.cause, "whether it is linearizable if the initial value is %s was not decided, and it is not if it is %s: ")
			counts = c
		case v.verdict == jepsen.Invalid && c.verdict.verdict == jepsen.Invalid && other.failEvent() > counts.failEvent():
			other.byDefault = c.h.Name(c.h.OpOf[c.failEvent()])
			counts = other
		}
		if c.verdict.cause == jepsen.InitialValue {
			break
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

// failEvent is the first failing completion.
func (c *checking) failEvent() jepsen.Event {
	return jepsen.Event(c.decisions[c.verdict.failing].FailEvent)
}

// undecided takes back a verdict that depends on the initial value.
func (c *checking) undecided(other *checking, cause jepsen.Cause, sentence string) {
	if c.verdict.failing >= 0 {
		c.like = otherForm(c.h, c.failEvent(), "is written", "is seen")
		if _, single := c.ops.Model.(models.SingleValue); single && allPairs(c.h) {
			c.like = pairsHint
		}
	}
	usual := c.usual()
	c.verdict = conclusion{verdict: jepsen.Unknown, analyzer: cmp.Or(other.verdict.analyzer, c.verdict.analyzer), cause: cause, failing: -1,
		reason: fmt.Sprintf(sentence, text.Shorten(other.spec.Init, maxInit), usual) + initFlag(other.spec.Init, usual)}
	if c.like != "" {
		c.verdict.reason += "; but " + c.like
	}
	c.likely, c.core, c.missing = other.spec.Init, nil, nil
}

// ownInit is what the default of a model is called if it cannot be given as a flag.
const ownInit = "the model's own"

// usual is the model's default.
func (c *checking) usual() string {
	if d, err := c.spec.Definition(); err == nil && d.Default != "" {
		return d.Default
	}
	return ownInit
}

// maxInit is how many characters of an initial value a sentence has.
const maxInit = 80

// initFlag says how to say which of two initial values it was.
func initFlag(inits ...string) string {
	var flags []string
	for _, init := range inits {
		if len(init) <= maxInit && init != ownInit {
			flags = append(flags, "--init "+quoted(init))
		}
	}
	if len(flags) == 0 {
		return "--init says which"
	}
	return strings.Join(flags, " or ") + " says which"
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(":._-+/", r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// suppose says in a result that its initial value is taken from the first reads.
func (c *checking) suppose(r *report.Result) {
	r.LikelyInit = c.likely
	if !c.supposed {
		return
	}
	r.LikelyInit, r.ToldBy = c.spec.Init, "its first reads"
	usual := c.usual()
	hint := fmt.Sprintf("its first reads show that the initial value is %s; if it is %s, %s cannot happen: %s",
		text.Shorten(c.spec.Init, maxInit), usual, c.byDefault, initFlag(c.spec.Init, usual))
	if r.Hint != "" {
		hint = r.Hint + "; " + hint
	}
	r.Hint = hint
}

// beside is operations that a core needs to fail as a history of its own, if the initial
// value is not given: alone, what the core reads first might be that value. It is a write
// that had returned, or one that was called and failed.
func (c *checking) beside(ctx context.Context, r *report.Result) []jepsen.Operation {
	if len(r.Core) == 0 || len(r.Core) > maxUnfinished || len(c.spec.Openings(ctx, c.h, r.Core)) == 0 {
		return nil
	}
	part := c.parts[c.verdict.failing]
	var writes []jepsen.Operation
	rowOf := rowsByOperation(part)
	for op, inv := range c.h.Invocation {
		op := jepsen.Operation(op)
		if inv > r.FailEvent || slices.Contains(r.Core, op) {
			continue
		}
		if row := rowOf[op]; c.h.Status[op] == jepsen.Failed || row != jepsen.None && part.Kind[row] != models.CAS && part.Model.Mutates(part.Op(row)) {
			writes = append(writes, op)
		}
	}
	enough := func(some []jepsen.Operation) bool {
		return len(some) > 0 && len(c.spec.Openings(ctx, c.h, slices.Concat(r.Core, some))) == 0
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
	with := part.Select(rowsAmong(part, slices.Concat(r.Core, writes))).Prefix(int32(r.FailEvent))
	if len(writes) > maxUnfinished {
		return nil
	}
	if a := auto.Engine("", 0).Decide(ctx, with.Operations, limits.Limits{}); a.Verdict != jepsen.Invalid || a.FailEvent != int32(r.FailEvent) {
		return nil
	}
	return writes
}
