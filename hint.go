package clew

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/fallback/auto"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const pairsHint = "every value is a pair: if the first of it is a key, give --independent, and each key is a register of its own"

// hint says what a user of a register may have forgotten, if the failure looks
// like it: that values are [key value] of independent keys, or that values are written
// in one form and read in another.
func hint(spec models.Spec, ops *models.Operations, fail jepsen.Event) string {
	h := ops.History
	if allPairs(h) {
		return pairsHint
	}
	for row := int32(0); row < int32(ops.Len()); row++ {
		if ops.Res[row] != int32(fail) {
			continue
		}
		op := ops.Op(row)
		if (op.Kind != models.Read && op.Kind != models.CAS) || written(ops, op.A) {
			break
		}
		if like := otherForm(h, fail, "is written", "is read"); like != "" {
			return like
		}
	}
	return ""
}

// hintOfAny says what a user of any model may have forgotten, if the failure looks like it:
// that values are put in in one form and come out in another, or that events are not in
// the order of time.
func hintOfAny(h *jepsen.History, r *report.Result) (text string) {
	switch r.Pattern {
	case "never-written":
		text = otherForm(h, r.FailEvent, "is written", "is read")
	case "never-added":
		text = otherForm(h, r.FailEvent, "went in", "came out")
	}
	if text == "" {
		text = unsorted(h, r.FailEvent)
	}
	return text
}

// completedOtherwise says which operation was called with what the failing one saw and
// nobody left, but has another value in its completion, which counts: a client recorded
// what its call returned, or nothing.
func completedOtherwise(h *jepsen.History, r *report.Result) string {
	if r.Pattern != "never-written" && r.Pattern != "never-added" {
		return ""
	}
	v, failing := h.Values, h.OpOf[r.FailEvent]
	f, key, saw := h.F[h.Invocation[failing]], v.Same(h.Key(h.Invocation[failing])), v.Same(h.OpValue(failing))
	for op, inv := range h.Invocation[:min(len(h.Invocation), maxAlike)] {
		if inv > r.FailEvent || h.F[inv] == f || h.Status[op] != jepsen.Succeeded || v.Same(h.Key(inv)) != key {
			continue
		}
		if given := h.Value[inv]; v.Same(given) == saw && v.Same(h.OpValue(jepsen.Operation(op))) != saw {
			return fmt.Sprintf("%s was called with %s, but what a completion says counts: let it repeat %[2]s", h.Name(jepsen.Operation(op)), v.Text(given))
		}
	}
	return ""
}

// maxAlike bounds the operations among which a value of another form is looked for.
const maxAlike = 20_000

// otherForm says that what the failing operation saw is there in another form, as "1", 1.0
// and :1 are other forms of 1, or is "". in and out say what became of the two.
func otherForm(h *jepsen.History, fail jepsen.Event, in, out string) string {
	failing := h.OpOf[fail]
	f, saw := h.F[h.Invocation[failing]], shown(h, failing, 0)
	looks := bare(saw)
	for op, inv := range h.Invocation[:min(len(h.Invocation), maxAlike)] {
		if inv > fail || h.F[inv] == f && !isCAS(h, failing) || h.Status[op] == jepsen.Failed {
			continue
		}
		if left := shown(h, jepsen.Operation(op), 1); (left != saw || strings.Contains(saw, "##NaN")) && bare(left) == looks {
			return fmt.Sprintf("%s %s, and %s %s: in Clojure these are not equal", left, in, saw, out)
		}
	}
	return ""
}

// shown is the text of an operation's value, with its :key if it has one. Of a cas it is
// the old value or the new one.
func shown(h *jepsen.History, op jepsen.Operation, ofCAS int) string {
	value := h.OpValue(op)
	if items := h.Values.Items(value); len(items) == 2 && isCAS(h, op) {
		value = items[ofCAS]
	}
	if key := h.Key(h.Invocation[op]); key != edn.Nil {
		return h.Values.Text(key) + " " + h.Values.Text(value)
	}
	return h.Values.Text(value)
}

func isCAS(h *jepsen.History, op jepsen.Operation) bool {
	return h.Values.Text(h.F[h.Invocation[op]]) == ":cas"
}

// marks are what says of a string or a keyword that it is one.
var marks = strings.NewReplacer(`"`, "", ":", "")

// bare is the text of a value without what says of which kind it is.
func bare(text string) string {
	text = marks.Replace(text)
	if number := strings.TrimRight(text, "NM"); number != "" && number[len(number)-1] >= '0' && number[len(number)-1] <= '9' {
		text = strings.TrimSuffix(number, ".0")
	}
	return text
}

// maxTimed bounds the operations whose times are looked at.
const maxTimed = 300

// unsorted says of which two operations the :time contradicts the order, if that is so of
// some of the last ones that had returned by a failure, and else "". It happens if the
// logs of several clients are put together without sorting them.
func unsorted(h *jepsen.History, fail jepsen.Event) string {
	type timed struct {
		op       jepsen.Operation
		from, to int64
	}
	time := func(e jepsen.Event) (int64, bool) {
		t, ok := h.EventMap(e).Get("time")
		n, isInt := t.Int()
		return n, ok && isInt
	}
	end, _ := slices.BinarySearch(h.Invocation, fail)
	var last []timed
	for op := end - 1; op >= max(0, end-maxTimed); op-- {
		if res := h.Completion[op]; res != jepsen.None && res <= fail {
			from, begun := time(h.Invocation[op])
			to, ended := time(res)
			if !begun || !ended {
				return ""
			}
			last = append(last, timed{jepsen.Operation(op), from, to})
		}
	}
	for i, later := range last {
		for _, earlier := range last[i+1:] {
			if h.Completion[earlier.op] < h.Invocation[later.op] && later.to < earlier.from {
				return fmt.Sprintf("by their :time, %s had returned before %s began, which stands before it: the order of the events counts, so sort those of several files by time",
					h.Name(later.op), h.Name(earlier.op))
			}
		}
	}
	return ""
}

// written says whether any operation leaves a value.
func written(ops *models.Operations, value int32) bool {
	for i, kind := range ops.Kind {
		if kind == models.Write && ops.A[i] == value || kind == models.CAS && ops.B[i] == value {
			return true
		}
	}
	return false
}

// allPairs says whether every value is a vector of two, and that of a cas one of
// a key and [old new], or [key old new].
func allPairs(h *jepsen.History) bool {
	cas := h.Values.InternKeyword("cas")
	pairs := 0
	for op, inv := range h.Invocation {
		value := h.OpValue(jepsen.Operation(op))
		if value == edn.Nil {
			continue
		}
		if items := h.Values.Items(value); h.F[inv] == cas && len(items) == 3 && h.Values.Kind(value) == edn.KindVector {
			pairs++ // [key old new]
			continue
		}
		if !isPair(h.Values, value) || h.F[inv] == cas && !isPair(h.Values, h.Values.Items(value)[1]) {
			return false
		}
		pairs++
	}
	return pairs > 1
}

func isPair(v *edn.Values, id edn.ID) bool {
	return v.Kind(id) == edn.KindVector && len(v.Items(id)) == 2
}

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

// initFlag returns the flag of an initial value, or says how to say which of several it
// was. A value that is too long for a sentence is not spelled.
func initFlag(inits ...string) string {
	var flags []string
	for _, init := range inits {
		if len(init) <= maxInit && init != ownInit {
			flags = append(flags, "--init "+text.ShellWord(init))
		}
	}
	if len(flags) == 0 {
		return "--init says which"
	}
	if len(inits) == 1 {
		return flags[0]
	}
	return strings.Join(flags, " or ") + " says which"
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
	addHint(r, hint)
}

// addHint puts a hint behind those that a result has.
func addHint(r *report.Result, hint string) {
	if r.Hint != "" {
		hint = r.Hint + "; " + hint
	}
	r.Hint = hint
}

// despiteCrashes is an initial value from which an invalid history is linearizable, and
// that only crashed operations had been called to write when it was read, or "". They may
// have written it, so that the verdict stands. It costs at most one more decision.
func (c *checking) despiteCrashes(ctx context.Context, d *decider, o Options) string {
	if c.verdict.verdict != jepsen.Invalid || c.supposed || ctx.Err() != nil {
		return ""
	}
	var ended []jepsen.Operation
	for i, status := range c.h.Status {
		if status != jepsen.Crashed {
			ended = append(ended, jepsen.Operation(i))
		}
	}
	if len(ended) == len(c.h.Status) || len(ended) == 0 {
		return ""
	}
	specs := c.spec.Openings(ctx, c.h, ended)
	if len(specs) == 0 {
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
