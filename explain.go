package clew

import (
	"fmt"
	"strconv"
	"strings"

	"clew/edn"
	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// explain says in one sentence what cannot happen, and after what.
func explain(r *report.Result) string {
	h, path := r.History, r.Paths[0]
	s := h.Name(h.OpOf[r.FailEvent]) + " cannot happen"
	if r.LastOperation == jepsen.None {
		s += " at first"
	} else {
		s += " after " + h.Name(r.LastOperation)
	}
	s += ": " + path[len(path)-1].Why
	switch n := len(r.Configs[0].Pending) - 1; {
	case n == 1:
		s += "; nor does the other operation open then help"
	case n > 1:
		s += fmt.Sprintf("; nor do the %d other operations open then help, in any order", n)
	}
	return s
}

// explainFast says in one sentence what is wrong with the core that the fast
// path found, "" where it has no pattern for it.
func explainFast(part *models.Operations, why fastpath.Explanation) string {
	t := teller{part}
	ops := why.Ops
	switch why.Pattern {
	case fastpath.NeverWritten:
		s := t.did(ops[0]) + ", but nothing had written it by then"
		if len(ops) > 1 {
			s += "; " + t.did(ops[1]) + " only later"
		}
		return s
	case fastpath.Overwritten:
		s := t.did(ops[0]) + " after " + t.had(ops[2])
		if ops[1] == fastpath.Initial {
			return s + "; it was the initial value"
		}
		return s + "; before that, " + t.had(ops[1])
	case fastpath.InitialLate:
		return t.did(ops[1]) + " after " + t.had(ops[0]) + "; it goes back to the initial value"
	case fastpath.Interleaved:
		if ops[1] == ops[2] {
			return t.did(ops[3]) + " after " + t.had(ops[2]) + "; before that, " + t.had(ops[0])
		}
		return t.did(ops[0]) + " before " + t.did(ops[1]) + ", yet " + t.did(ops[2]) + " before " + t.did(ops[3])
	case fastpath.Backwards:
		return t.did(ops[1]) + " after " + t.had(ops[0]) + ", which needs it done before"
	case fastpath.ReplacedTwice:
		return "only one can have replaced what " + t.writer(ops[2]) + ", but " + t.did(ops[0]) + ", and " + t.did(ops[1])
	case fastpath.Circle:
		var each []string
		for _, op := range ops {
			each = append(each, t.did(op))
		}
		return "none of these can have come first: " + strings.Join(each, ", ")
	case fastpath.NeverAdded:
		s := t.did(ops[0]) + ", but nothing had added it by then"
		if len(ops) > 1 {
			s += "; " + t.did(ops[1]) + " only later"
		}
		return s
	case fastpath.RemovedTwice:
		return t.did(ops[0]) + ", and again by " + t.who(ops[1]) + ", but only " + t.who(ops[2]) + " added it, once"
	case fastpath.SeenAfterRemoved:
		return t.did(ops[1]) + " after " + t.had(ops[0])
	case fastpath.NotEmpty:
		return t.who(ops[0]) + " found it empty, but all the time that it looked " + t.some(ops[1:]) + " inside"
	case fastpath.OutOfOrder:
		if ops[3] == fastpath.Missing {
			return t.did(ops[1]) + " after " + t.had(ops[0]) + ", yet " + t.did(ops[2]) + " before value " + t.value(ops[0]) + ", which was still there"
		}
		return t.did(ops[1]) + " after " + t.had(ops[0]) + ", yet " + t.did(ops[2]) + " before " + t.did(ops[3])
	case fastpath.BothFirst:
		return "values " + t.value(ops[0]) + " and " + t.value(ops[2]) + " were both first at the same time: " + t.did(ops[0]) + t.until(ops[1]) +
			", and " + t.did(ops[2]) + t.until(ops[3])
	case fastpath.Overtaken:
		return t.did(ops[0]) + ", but all the time that it ran " + t.some(ops[1:]) + " inside, of higher priority"
	case fastpath.Buried:
		s := t.did(ops[2]) + ", but all the time that it ran value " + t.value(ops[1]) + " was inside, on top of it: " + t.did(ops[1]) + " after " + t.had(ops[0])
		if ops[3] == fastpath.Missing {
			return s + ", and had not been taken by then"
		}
		return s + ", and " + t.did(ops[3]) + " only later"
	}
	return explainSweep(t, why.Pattern, ops)
}

// explainSweep is explainFast for sets, bags and locks.
func explainSweep(t teller, pattern fastpath.Pattern, ops []int32) string {
	switch pattern {
	case fastpath.Unchanged:
		if ops[1] == fastpath.Initial {
			return t.name(ops[0]) + " cannot be what it found at first, and nothing could have changed that"
		}
		return t.name(ops[0]) + " cannot be what it found after " + t.name(ops[1]) + ", and nothing could have changed that in between"
	case fastpath.HeldAlready:
		if len(ops) == 1 {
			return t.who(ops[0]) + " acquired what was not free"
		}
		return t.who(ops[0]) + " acquired while " + t.holders(ops[1:]) + " still held it"
	case fastpath.NotHeld:
		s := t.who(ops[0]) + " released what was not held, or not by its owner"
		if ops[1] == fastpath.Missing {
			return s
		}
		return s + "; the release before was of " + t.who(ops[1])
	case fastpath.FenceTooLow:
		return "the fence of " + t.name(ops[0]) + " is not greater than that of " + t.name(ops[1]) + ", which had acquired before"
	case fastpath.FenceDiffers:
		return t.name(ops[0]) + " shows another fence than " + t.name(ops[1]) + ", with which it was still held"
	case fastpath.TakenTooOften:
		if len(ops) == 1 {
			return t.did(ops[0]) + ", but nothing had added it by then"
		}
		return t.did(ops[0]) + ", but had not been added often enough: " + t.holders(ops[1:]) + " had taken it before"
	case fastpath.NeverEmpty:
		if len(ops) == 1 {
			return t.who(ops[0]) + " found it empty, but more was certainly inside all the time than crashed operations can have taken"
		}
		return t.who(ops[0]) + " found it empty, but all the time that it looked " + t.some(ops[1:]) + " inside"
	case fastpath.Incomparable:
		return t.name(ops[0]) + " and " + t.name(ops[1]) + ": neither read contains the other, so neither can have come first"
	case fastpath.NotRead, fastpath.AddedBefore:
		read := t.name(ops[len(ops)-1])
		switch {
		case ops[0] == fastpath.Initial:
			return read + " does not hold all that was there at first"
		case pattern == fastpath.AddedBefore:
			return read + " holds what " + t.name(ops[1]) + " added, and not what " + t.name(ops[0]) + " did, which had returned before that began"
		}
		return read + " does not hold what " + t.name(ops[0]) + " does, which had returned before it began"
	case fastpath.NotASet:
		return t.name(ops[0]) + " read what is no set"
	}
	return explainVersions(t, pattern, ops)
}

// explainVersions is explainFast for versioned registers, whose operations have
// the version plus 1 in A.
func explainVersions(t teller, pattern fastpath.Pattern, ops []int32) string {
	version := func(row int32) int {
		if row == fastpath.Initial {
			return int(t.part.Model.Init()[0])
		}
		return int(t.part.A[row]) - 1
	}
	switch pattern {
	case fastpath.MadeTwice:
		return t.name(ops[0]) + " and " + t.name(ops[1]) + " cannot both have made version " + strconv.Itoa(version(ops[0]))
	case fastpath.BeforeFirst:
		return t.name(ops[0]) + " is of a version from before the first"
	case fastpath.WrongVersion:
		if version(ops[0]) == version(ops[1]) {
			return t.name(ops[0]) + " made what " + t.name(ops[1]) + " had read before it began"
		}
		return t.name(ops[0]) + " began after " + t.name(ops[1]) + " had returned, but is of an earlier version"
	case fastpath.OtherValue:
		if ops[1] == fastpath.Initial {
			return t.name(ops[0]) + " does not agree with the value at first"
		}
		return t.name(ops[0]) + " does not agree with " + t.name(ops[1]) + " on the value of version " + strconv.Itoa(min(version(ops[0]), version(ops[1])))
	case fastpath.NoUpdate:
		missing := version(ops[0]) - version(ops[1])
		if t.part.Kind[ops[0]] != models.Read {
			missing--
		}
		s := t.name(ops[0]) + " needs an update that follows version " + strconv.Itoa(version(ops[1])) + ", and none is left that can be it"
		if missing > 1 {
			s = fmt.Sprintf("%s needs %d updates that follow version %d, and too few are left that can be them", t.name(ops[0]), missing, version(ops[1]))
		}
		return s
	case fastpath.TooFewUpdates:
		return t.name(ops[0]) + " is of a version that takes more updates than had begun by then"
	case fastpath.NeverCurrent:
		return t.name(ops[0]) + " read a value that no version had while it ran"
	}
	return ""
}

func (t teller) name(row int32) string { return t.part.History.Name(t.part.Of[row]) }

// holders lists who did something, the latest last: "process 1 (index 80)".
func (t teller) holders(rows []int32) string {
	s := ""
	for i, row := range rows[max(0, len(rows)-maxSome):] {
		if i > 0 {
			s += ", "
		}
		s += t.who(row)
	}
	if len(rows) > maxSome {
		return "others and " + s
	}
	return s
}

// containerVerbs is what operations of containers do to a value, as participles.
var containerVerbs = map[string]string{
	":enqueue": "enqueued", ":insert": "inserted", ":push": "pushed",
	":dequeue": "dequeued", ":poll": "polled", ":pop": "popped", ":peek": "peeked at",
}

func (t teller) who(row int32) string { return t.part.History.Who(t.part.Of[row]) }

func (t teller) value(row int32) string { return t.part.History.Values.Text(edn.ID(t.part.A[row])) }

// until is when a value ceased to be first.
func (t teller) until(row int32) string {
	if row == fastpath.Missing {
		return " and was not dequeued by then"
	}
	return " until " + t.did(row)
}

// maxSome bounds the values that a sentence lists.
const maxSome = 5

// some is the values that operations added: "values 1, 2 and others were".
func (t teller) some(rows []int32) string {
	var values []string
	for _, row := range rows[:min(len(rows), maxSome)] {
		if row == fastpath.Initial {
			return "something that was there at first was certainly"
		}
		values = append(values, t.value(row))
	}
	switch {
	case len(rows) > maxSome:
		return "values " + strings.Join(values, ", ") + " and others were"
	case len(rows) > 1:
		return "some of the values " + strings.Join(values, ", ") + " was certainly"
	}
	return "value " + values[0] + " was certainly"
}

// teller names operations of a register as people speak of them.
type teller struct{ part *models.Operations }

// did is an operation in the past tense: "value 471 was read by process 13
// (index 983)".
func (t teller) did(row int32) string { return t.tell(row, "was") }

// had is an operation in the past perfect.
func (t teller) had(row int32) string { return t.tell(row, "had been") }

func (t teller) tell(row int32, be string) string {
	h, op := t.part.History, t.part.Op(row)
	who := t.who(row)
	a := t.value(row)
	f := h.Values.Text(h.F[h.Invocation[t.part.Of[row]]])
	if verb, ok := containerVerbs[f]; ok {
		return fmt.Sprintf("value %s %s %s by %s", a, be, verb, who)
	}
	switch op.Kind {
	case models.Write:
		return fmt.Sprintf("value %s %s written by %s", a, be, who)
	case models.CAS:
		return fmt.Sprintf("value %s %s changed to %s by %s", a, be, h.Values.Text(edn.ID(op.B)), who)
	}
	return fmt.Sprintf("value %s %s read by %s", a, be, who)
}

// writer is what left a value: "process 1 (index 3) had written".
func (t teller) writer(row int32) string {
	if row == fastpath.Initial {
		return "was there at first"
	}
	return t.part.History.Who(t.part.Of[row]) + " had written"
}

// ambiguity says why the fast path could not decide: "value 3 is written by ops
// 4 and 19 and read by op 40", where operations go by the index of their
// invocation.
func ambiguity(part *models.Operations, a fastpath.Ambiguity) string {
	h := part.History
	index := func(row int32) int64 { return h.Index(h.Invocation[part.Of[row]]) }
	switch a.Cause {
	case fastpath.Unsupported:
		f := h.Values.Text(h.F[h.Invocation[part.Of[a.Reader]]])
		if h.Status[part.Of[a.Reader]] == jepsen.Failed {
			f = "failed " + f
		}
		return fmt.Sprintf("the fast path takes no %s such as op %d", f, index(a.Reader))
	case fastpath.Overlapping:
		return fmt.Sprintf("op %d began while an older one of its owner, op %d, was open", index(a.Reader), index(a.Producers[0]))
	case fastpath.Counted:
		return fmt.Sprintf("op %d is of several permits that belong to nobody", index(a.Reader))
	case fastpath.Versionless:
		return fmt.Sprintf("op %d does not say which version it made", index(a.Reader))
	case fastpath.Unplaced:
		return fmt.Sprintf("op %d needs a version or value that may be of several operations which never returned", index(a.Reader))
	case fastpath.Pairing:
		return fmt.Sprintf("value %s was added several times, and it matters which of them op %d took", h.Values.Text(edn.ID(a.Value)), index(a.Reader))
	case fastpath.Branching:
		return fmt.Sprintf("op %d and others crashed, and what they took can be guessed in too many ways", index(a.Reader))
	}
	value := h.Values.Text(edn.ID(a.Value))
	var ops []string
	initial := ""
	for _, row := range a.Producers {
		if row == fastpath.Initial {
			initial = "is the initial value, "
		} else {
			ops = append(ops, fmt.Sprint(index(row)))
		}
	}
	noun := "op "
	if len(ops) > 1 {
		noun = "ops "
	}
	made, seen := "written", "read"
	if _, ok := containerVerbs[h.Values.Text(h.F[h.Invocation[part.Of[a.Reader]]])]; ok {
		made, seen = "added", "seen"
	}
	return fmt.Sprintf("value %s %sis %s by %s%s and %s by op %d", value, initial, made, noun, strings.Join(ops, " and "), seen, index(a.Reader))
}
