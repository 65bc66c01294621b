package jepsen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"clew/edn"
)

// Text is the result for people: one line, and for an invalid history what is
// wrong, where, and a picture of the operations around it.
func (r *Result) Text() string {
	var b strings.Builder
	b.WriteString(r.File + ": ")
	switch r.Verdict {
	case Valid:
		b.WriteString("valid")
	case Invalid:
		b.WriteString("INVALID")
	default:
		b.WriteString("unknown: " + r.Cause)
		if why := cmp.Or(r.Error, r.Explanation); why != "" {
			b.WriteString(": " + why)
		}
	}
	b.WriteString("\n")
	if r.History != nil {
		fmt.Fprintf(&b, "  %s\n", r.summary())
	}
	switch {
	case r.Keys != nil:
		r.writeKeys(&b)
	case r.Verdict == Invalid:
		r.writeFailure(&b)
	case r.Verdict == Valid && r.Explanation != "":
		fmt.Fprintf(&b, "  %s\n", r.Explanation)
	}
	return printable(b.String())
}

func (r *Result) writeFailure(b *strings.Builder) {
	fmt.Fprintf(b, "  %s\n", r.Explanation)
	if r.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", r.Hint)
	}
	b.WriteString("\n" + r.picture())
}

// maxKeys bounds the independent keys that are shown; the rest is counted.
const maxKeys = 10

// writeKeys shows the independent keys that are not valid.
func (r *Result) writeKeys(b *strings.Builder) {
	shown := 0
	for _, k := range r.Keys {
		if k.Verdict == Valid {
			continue
		}
		if shown++; shown > maxKeys {
			continue
		}
		name := k.History.Values.Text(k.Key)
		switch k.Verdict {
		case Invalid:
			fmt.Fprintf(b, "\n  key %s: INVALID\n", name)
			k.writeFailure(b)
		default:
			fmt.Fprintf(b, "\n  key %s: unknown: %s\n", name, k.Cause)
		}
	}
	if shown > maxKeys {
		fmt.Fprintf(b, "\n  and %d more keys that are not valid\n", shown-maxKeys)
	}
}

// printable is a text without the control characters that values may hold: on a
// terminal they could do anything.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// summary says what was checked, and how.
func (r *Result) summary() string {
	s := fmt.Sprintf("%s, %d operations", r.modelText(), r.History.Operations())
	if r.Keys != nil {
		s += fmt.Sprintf(" of %d keys", len(r.Keys))
	}
	if n := r.History.CrashedCount(); n > 0 {
		s += fmt.Sprintf(", %d crashed", n)
	}
	if r.Analyzer != "" {
		s += ", " + r.Analyzer
	}
	if r.Depth > 0 {
		s += fmt.Sprintf(", found at depth %d", r.Depth)
	}
	if r.Verified {
		s += ", verified"
	}
	return s + fmt.Sprintf(", %.1f ms", r.Ms)
}

func (r *Result) modelText() string {
	model := r.Model
	if r.Init != "" {
		model += " from " + r.Init
	}
	if r.Inferred {
		model += " (inferred)"
	}
	return model
}

// Name is an operation as people speak of it: "process 13's :read 471 (index
// 983)", the index being that of its completion where it has one.
func (h *History) Name(op int32) string {
	return fmt.Sprintf("process %s's %s (index %d)", h.processText(op), h.call(op), h.lastIndex(op))
}

// Who is the process of an operation and where it is: "process 13 (index 983)".
func (h *History) Who(op int32) string {
	return fmt.Sprintf("process %s (index %d)", h.processText(op), h.lastIndex(op))
}

// lastIndex is the index of an operation's completion where it has one, else of
// its invocation.
func (h *History) lastIndex(op int32) int64 {
	if h.Status[op] != Crashed {
		return h.Index(h.Completion[op])
	}
	return h.Index(h.Invocation[op])
}

func (h *History) processText(op int32) string {
	return h.Values.Text(h.Processes[h.Process[h.Invocation[op]]])
}

// maxCall bounds the text of an operation in sentences and pictures.
const maxCall = 40

// call is what an operation did: ":read 471".
func (h *History) call(op int32) string {
	s := h.Values.Text(h.F[h.Invocation[op]])
	if value := h.OpValue(op); value != edn.Nil {
		s += " " + h.Values.Text(value)
	}
	return shorten(s)
}

// shorten is a text of at most maxCall characters.
func shorten(s string) string {
	if utf8.RuneCountInString(s) > maxCall {
		s = string([]rune(s)[:maxCall-1]) + "…"
	}
	return s
}

// maxPicture bounds the operations in a picture.
const maxPicture = 12

// picture draws the operations around the failure, one a line, in order of
// invocation: from invocation to completion, an arrow where it stayed open.
func (r *Result) picture() string {
	h := r.History
	ops := r.around()
	var events []int32 // the ends of the bars, in order
	for _, op := range ops {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; c != None && c <= r.Op && h.Status[op] != Crashed {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	const column = 3
	at := func(e int32) int { i, _ := slices.BinarySearch(events, e); return column * i }
	process, call := 0, 0
	for _, op := range ops {
		process = max(process, utf8.RuneCountInString(h.processText(op)))
		call = max(call, utf8.RuneCountInString(h.call(op)))
	}
	var b strings.Builder
	for _, op := range ops {
		from, to, end := at(h.Invocation[op]), column*len(events), "─▶"
		if c := h.Completion[op]; c != None && c <= r.Op && h.Status[op] != Crashed {
			to, end = at(c), "┤"
		}
		if h.Completion[op] == r.Op {
			end = "┤ ✗ " + r.why()
		}
		fmt.Fprintf(&b, "  process %-*s  %s%s  %s├%s%s\n", process, h.processText(op), h.call(op),
			strings.Repeat(" ", call-utf8.RuneCountInString(h.call(op))),
			strings.Repeat(" ", from), strings.Repeat("─", to-from-1), end)
	}
	return b.String()
}

// why is the message at the end of the first final path.
func (r *Result) why() string {
	if len(r.Paths) == 0 {
		return ""
	}
	path, v := r.Paths[0], r.History.Values
	record := v.Items(path[len(path)-1].Model)[0]
	msg, _ := v.Get(record, v.InternKeyword("msg"))
	return v.Str(msg)
}

// around is the failing operation, the core, what was open at the failure, and
// what returned last before it: at most maxPicture, in order of invocation.
func (r *Result) around() []int32 {
	h := r.History
	ops := []int32{h.OpOf[r.Op]}
	add := func(op int32) {
		if op != None && len(ops) < maxPicture && !slices.Contains(ops, op) && h.Status[op] != Failed {
			ops = append(ops, op)
		}
	}
	add(r.LastOp)
	if len(r.Core) <= maxPicture {
		for _, op := range r.Core {
			add(op)
		}
	}
	for e := r.Op - 1; e >= 0 && len(ops) < maxPicture/2; e-- {
		if h.Type[e] == OK {
			add(h.OpOf[e])
		}
	}
	for _, c := range r.Configs {
		for _, op := range slices.Backward(c.Pending) {
			add(op)
		}
	}
	slices.Sort(ops)
	return ops
}
