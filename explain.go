package clew

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/fallback"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// explain says in one sentence what cannot happen, and after what. If the core has a story, that is an operation of the core,
// and the story speaks of those that were open by then: which of them a core has depends on the form of the history.
func explain(r *report.Result) string {
	h := r.History
	s := h.Name(h.OpOf[r.FailEvent.OrNone()]) + " cannot happen"
	if len(r.Paths) == 0 {
		return s // what led to it was not found in time
	}
	path := r.Paths[0]
	end := &path[len(path)-1]
	if r.Story.End != nil {
		end = r.Story.End
	}
	why := text.Shorten(text.Line(end.Because), maxWhy)
	last, ok := lastBefore(r).Get()
	if !ok {
		return s + ": " + report.NoOrder + " (" + why + ")"
	}
	return s + " after " + h.Name(last) + ": " + why
}

// drawn returns what pictures say of the failing operation, so that they agree with the sentence about a finding; "" if that
// is what the model says.
func drawn(r *report.Result, part *models.Operations, d decision) string {
	if failing := slices.Index(part.Res, d.FailEvent); d.why.Draws != nil && failing >= 0 && len(r.Paths) > 0 {
		path := r.Paths[0]
		return d.why.Draws(part.Teller(), d.why, models.Row(failing), path[len(path)-1].Because)
	}
	return ""
}

// maxWhy bounds the characters of a reason in a sentence.
const maxWhy = 400

// lastBefore returns the last operation before the failing one: of the core if it has a story.
func lastBefore(r *report.Result) jepsen.Maybe[jepsen.Operation] {
	if r.Story.Sentences == nil {
		return r.LastOperation
	}
	return r.Story.Last
}

// Bounds of what enabling tries. It reads the whole history for each operation.
const (
	maxEnablers     = 8
	maxReadForThese = 50_000 // operations
)

// enabling returns an open operation without which answer, as if it had crashed, the failing one could happen. It is
// impossible itself with the answer that it returns later, and so another operation fails first: what is open keeps the
// value that it will return. It returns false if none is found easily.
func (c *checking) enabling(ctx context.Context, r *report.Result) (jepsen.Operation, bool) {
	if len(r.Configs) == 0 || c.h.Operations() > maxReadForThese {
		return 0, false
	}
	fail, part, d := r.FailEvent.OrNone(), c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	before := make([]jepsen.Operation, len(d.Order))
	for i, row := range d.Order {
		before[i] = part.Of[row]
	}
	tried := 0
	for _, op := range r.Configs[0].Pending {
		if c.h.Status[op] != jepsen.Succeeded || c.h.Completion[op] == fail {
			continue
		}
		if tried++; tried > maxEnablers || ctx.Err() != nil {
			break
		}
		ops, err := c.spec.ReadWithin(ctx, c.h.Crashing(op))
		if err != nil {
			continue
		}
		possible := false
		release := within(ctx, ops.Model, fallback.Limits{})
		failed := caught(ops.Model, func() { possible = report.Possible(ctx, ops, fail, before) })
		release()
		if failed == nil && possible {
			return op, true
		}
	}
	return 0, false
}

// prior returns a linearization of the whole history up to just before a failure, or nil if a part is undecided. It
// takes the order of the failing part. From every other part it takes the operations that had returned by then, and
// those that come before them in its order. Linear time.
func (c *checking) prior(fail jepsen.Event, before []jepsen.Operation) []jepsen.Operation {
	free := slices.DeleteFunc(free(c.ops), func(p point) bool { return c.h.Completion[p.op] >= fail })
	if len(c.parts) == 1 && len(free) == 0 {
		return before
	}
	points := []point{}
	for i, part := range c.parts {
		if c.decisions[i].Verdict == jepsen.Unknown {
			return nil
		}
		order := c.decisions[i].Order
		n := len(order)
		for n > 0 && part.Res[order[n-1]] >= int32(fail) {
			n--
		}
		points = addPoints(points, part, order[:n])
	}
	return inOrder(c.h, append(points, free...))
}

// relate fills in what pictures of a failure show: the operations that its sentence names, how they and those of the
// core are related, and what was linearized before.
func (c *checking) relate(ctx context.Context, r *report.Result) {
	part, d := c.parts[c.verdict.failing], c.decisions[c.verdict.failing]
	r.Before = make([]jepsen.Operation, len(d.Order))
	for i, row := range d.Order {
		r.Before[i] = part.Of[row]
	}
	var rows []models.Row
	var told []models.Relation
	if d.why != nil {
		for _, row := range d.why.Rows {
			if row >= 0 && !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
		for _, row := range rows {
			r.Named = append(r.Named, part.Of[row])
		}
		if r.Told != nil {
			r.Named = r.Told.ShownTxns()
		}
		told = d.why.Relations()
	} else {
		r.Named = append([]jepsen.Operation{r.History.OpOf[r.FailEvent.OrNone()]}, r.Named...)
		if last, ok := lastBefore(r).Get(); ok {
			r.Named = append(r.Named, last)
		}
		rows = part.Among(append(r.Named, r.Core...))
	}
	if stopped(part.Model, func() { r.Relations = report.Relate(ctx, part, r.FailEvent.OrNone(), rows, told, d.why == nil) }) {
		r.Relations = nil
	}
}

// pairsHint says what values that are all pairs may mean, or "" if they cannot be read as keys and values.
func pairsHint(h *jepsen.History) string {
	if !h.AllTuples() {
		return ""
	}
	flags := option.Independent.String()
	if _, err := h.Independent(); err != nil {
		if _, err := h.IndependentOrShared(); err != nil {
			return ""
		}
		flags += " " + option.Keyless.String()
	}
	return fmt.Sprintf("every value is a pair: if its first element is a key, give %s to check each key as a separate register", flags)
}

// hint says what a user of a register may have forgotten, if the failure looks like it: that values are [key value]
// pairs of independent keys, or that values are written in one form and read in another.
func (c *checking) hint(ops *models.Operations, fail jepsen.Event) string {
	h := ops.History
	if !c.keysSaid {
		if said := pairsHint(h); said != "" {
			return said
		}
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

// hintOfAny says what a user of any model may have forgotten, if the failure looks like it: that values go in in one
// form and come out in another, or that events are not in order of time.
func hintOfAny(h *jepsen.History, r *report.Result) (text string) {
	switch r.Pattern {
	case "never-written":
		text = otherForm(h, r.FailEvent.OrNone(), "is written", "is read")
	case "never-added":
		text = otherForm(h, r.FailEvent.OrNone(), "went in", "came out")
	}
	end := r.FailEvent.OrNone()
	for _, op := range r.Named { // one that came too late comes after the failure
		end = max(end, h.LastEvent(op))
	}
	if text == "" {
		text = unsorted(h, end)
	}
	return text
}

// completedOtherwise names an operation that was called with the value that the failing one saw and that no operation
// left. Its completion, which counts, has another value: its client recorded what the call returned, or nothing.
func completedOtherwise(h *jepsen.History, r *report.Result) string {
	if r.Pattern != "never-written" && r.Pattern != "never-added" {
		return ""
	}
	v, failing := h.Values, h.OpOf[r.FailEvent.OrNone()]
	f, key, saw := h.F[h.Invocation[failing]], v.Same(h.Key(h.Invocation[failing])), v.Same(h.OpValue(failing))
	for op, inv := range h.Invocation[:min(len(h.Invocation), maxAlike)] {
		if inv > r.FailEvent.OrNone() || h.F[inv] == f || h.Status[op] != jepsen.Succeeded || v.Same(h.Key(inv)) != key {
			continue
		}
		given, returned := h.Value[inv], h.OpValue(jepsen.Operation(op))
		if v.Same(given) == saw && v.Same(returned) != saw && !answers(v, given, returned) {
			return fmt.Sprintf("%s was called with %s, but the value of its completion counts: make the completion repeat %[2]s", h.Name(jepsen.Operation(op)), v.Text(given))
		}
	}
	return ""
}

// answers reports whether a completion answers otherwise than by repeating its invocation: a map with more keys, such as :succeeded.
func answers(v *edn.Values, given, returned edn.ID) bool {
	if v.Kind(given) != edn.KindMap || v.Kind(returned) != edn.KindMap {
		return false
	}
	for kvs := v.Items(returned); len(kvs) > 0; kvs = kvs[2:] {
		if _, is := v.Get(given, kvs[0]); !is {
			return true
		}
	}
	return false
}

// maxAlike bounds the operations among which hints look for a value of another form.
const maxAlike = 20_000

// otherForm says that what the failing operation saw is there in another form, or returns "". For example, "1", 1.0
// and :1 are other forms of 1. in and out say what happened to the two values.
func otherForm(h *jepsen.History, fail jepsen.Event, in, out string) string {
	failing := h.OpOf[fail]
	f, seen := h.F[h.Invocation[failing]], shown(h, failing, 0)
	saw := seen.text(h)
	looks := bare(saw)
	for op, inv := range h.Invocation[:min(len(h.Invocation), maxAlike)] {
		if inv > fail || h.F[inv] == f && !isCAS(h, failing) || h.Status[op] == jepsen.Failed {
			continue
		}
		if bare(h.Values.Text(h.Value[inv])) != bare(h.Values.Text(h.OpValue(jepsen.Operation(op)))) {
			continue // it was not called with that: it has read it
		}
		there := shown(h, jepsen.Operation(op), 1)
		left := there.text(h)
		switch isNaN := strings.Contains(saw, "##NaN"); {
		case bare(left) != looks || there == seen && !isNaN:
		case isNaN:
			return fmt.Sprintf("%s %s, and %s %s: NaN equals nothing, not even itself", left, in, saw, out)
		default:
			return fmt.Sprintf("%s %s, and %s %s: in Clojure these are not equal", left, in, saw, out)
		}
	}
	return ""
}

// keyValue is an operation's value, with its :key or nil.
type keyValue struct{ key, value edn.ID }

// shown returns what an operation shows, the same for equal values. For a cas it returns the old value or the new one.
func shown(h *jepsen.History, op jepsen.Operation, ofCAS int) keyValue {
	value := h.OpValue(op)
	if items := h.Values.Items(value); len(items) == 2 && isCAS(h, op) {
		value = items[ofCAS]
	}
	return keyValue{h.Values.Same(h.Key(h.Invocation[op])), h.Values.Same(value)}
}

func (x keyValue) text(h *jepsen.History) string {
	if x.key != edn.Nil {
		return h.Values.Text(x.key) + " " + h.Values.Text(x.value)
	}
	return h.Values.Text(x.value)
}

func isCAS(h *jepsen.History, op jepsen.Operation) bool {
	return h.Values.Text(h.F[h.Invocation[op]]) == ":cas"
}

// marks removes what marks a string or a keyword.
var marks = strings.NewReplacer(`"`, "", ":", "")

// bare returns the text of a value without what shows its kind.
func bare(text string) string {
	text = marks.Replace(text)
	number := strings.TrimRight(text, "NM")
	if number == "" || number[len(number)-1] < '0' || number[len(number)-1] > '9' {
		return text
	}
	if n, err := strconv.ParseFloat(number, 64); err == nil && strings.ContainsAny(number, ".eE") && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return strconv.FormatInt(int64(n), 10)
	}
	return number
}

// alikeAccounts says that two accounts of a bank differ only in their form, or returns "". In JSON the keys of a read
// are keywords, and the names in a transfer are strings.
func alikeAccounts(v *edn.Values, m models.Model) string {
	bank, ok := m.(interface{ Accounts() []edn.ID })
	if !ok {
		return ""
	}
	looks := map[string]string{}
	var names []string
	for _, id := range bank.Accounts() {
		names = append(names, v.Text(id))
	}
	slices.Sort(names)
	for _, name := range names {
		if other := looks[bare(name)]; other != "" {
			return fmt.Sprintf(`%s and %s are two accounts: in Clojure these are not equal; JSON's object keys are keywords, which are {"edn": ":a"} as values`, other, name)
		}
		looks[bare(name)] = name
	}
	return ""
}

// maxTimed bounds the operations whose times are looked at.
const maxTimed = 300

// unsorted names two operations whose :time contradicts their order in the history, or returns "". It looks at the
// last operations that had returned by an event, such as a failure. This happens if the logs of several clients are put together
// without sorting.
func unsorted(h *jepsen.History, by jepsen.Event) string {
	type timed struct {
		op       jepsen.Operation
		from, to int64
	}
	time := h.Times()
	end, _ := slices.BinarySearch(h.Invocation, by)
	var last []timed
	for op := end - 1; op >= max(0, end-maxTimed); op-- {
		if res := h.Completion[op]; res != jepsen.None && res <= by {
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
				return fmt.Sprintf("by their :time, %s had returned before %s began, but it comes later in the history: the order of events counts, so sort the events of several files by time",
					h.Name(later.op), h.Name(earlier.op))
			}
		}
	}
	return ""
}

// written reports whether any operation leaves a value.
func written(ops *models.Operations, value int32) bool {
	for i, kind := range ops.Kind {
		if kind == models.Write && ops.A[i] == value || kind == models.CAS && ops.B[i] == value {
			return true
		}
	}
	return false
}

// addHint adds a hint after those that a result has.
func addHint(r *report.Result, hint string) {
	if r.Hint != "" {
		hint = r.Hint + "; " + hint
	}
	r.Hint = hint
}

// otherwise says whether a history that is not linearizable in the order that its positions tell is linearizable in
// another order, or "" if little work does not show that. It costs another reading of the history.
func (c *checking) otherwise(ctx context.Context) string {
	name := c.spec.Position
	if p := c.ops.Model.Traits().Positions; name == "" || p == nil || !p.Beside {
		return ""
	}
	spec := c.spec
	spec.Position, spec.SparsePositions = "", false
	other, err := read(ctx, c.h, spec, Options{})
	if err != nil || other.ops == nil {
		return ""
	}
	d := newDecider(spec, Options{}).within(otherwiseWork + judgePerOperation*int64(other.ops.Len()))
	other.decide(ctx, d, fallback.Limits{Memory: models.NewMemory(judgeMemory)})
	if other.release != nil {
		other.release()
	}
	switch {
	case other.err != nil:
		return ""
	case other.verdict.verdict == jepsen.Valid:
		return "the history is linearizable in another order than that of :" + name + " (" + models.ParamPosition.String() + " none)"
	case other.verdict.verdict == jepsen.Invalid:
		return "the history is not linearizable in any other order than that of :" + name + " either"
	}
	return ""
}

// otherwiseWork is the work of a search for another order than that of the positions, besides some for each operation.
const otherwiseWork = 1_000_000
