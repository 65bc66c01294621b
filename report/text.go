package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"clew/internal/text"
	"clew/jepsen"
)

// Text is the result for people: one line, and for an invalid history what is
// wrong, where, and a picture of the operations around it.
func (r *Result) Text() string {
	var b strings.Builder
	if r.File != "" {
		b.WriteString(text.Line(r.File) + ": ")
	}
	switch r.Verdict {
	case jepsen.Valid:
		b.WriteString("valid")
	case jepsen.Invalid:
		b.WriteString("INVALID")
	default:
		b.WriteString("unknown")
		if r.Cause != "" {
			b.WriteString(": " + string(r.Cause))
		}
		if why := cmp.Or(r.Error, r.Explanation); why != "" {
			b.WriteString(": " + text.Line(why))
		}
	}
	b.WriteString("\n")
	if r.History != nil {
		fmt.Fprintf(&b, "  %s\n", r.summary())
	}
	if r.Missing != "" {
		fmt.Fprintf(&b, "  %s\n", r.Missing)
	}
	switch {
	case r.Keys != nil:
		r.writeKeys(&b)
	case r.Verdict == jepsen.Invalid:
		r.writeFailure(&b)
	case r.Verdict == jepsen.Valid && r.Explanation != "":
		fmt.Fprintf(&b, "  %s\n", r.Explanation)
	}
	return text.Printable(b.String())
}

func (r *Result) writeFailure(b *strings.Builder) {
	fmt.Fprintf(b, "  %s\n", r.Explanation)
	if r.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", r.Hint)
	}
	b.WriteString("\n" + r.picture())
}

// maxKeys bounds the independent keys that are shown; the rest are only
// counted.
const maxKeys = 10

// writeKeys shows the independent keys that are not valid.
func (r *Result) writeKeys(b *strings.Builder) {
	shown := 0
	for _, k := range r.Keys {
		if k.Verdict == jepsen.Valid {
			continue
		}
		if shown++; shown > maxKeys {
			continue
		}
		name := k.Key
		switch k.Verdict {
		case jepsen.Invalid:
			fmt.Fprintf(b, "\n  key %s: INVALID\n", name)
			k.Result().writeFailure(b)
		default:
			fmt.Fprintf(b, "\n  key %s: unknown: %s\n", name, k.Result().Cause)
		}
	}
	if shown > maxKeys {
		fmt.Fprintf(b, "\n  and %d more keys that are not valid\n", shown-maxKeys)
	}
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
	switch n := r.History.Skipped; {
	case n == 1:
		s += ", 1 event skipped"
	case n > 1:
		s += fmt.Sprintf(", %d events skipped", n)
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

// maxPicture bounds the operations in a picture.
const maxPicture = 12

// picture draws the operations around the failure, one to a line, in order of
// invocation. Each is a bar from invocation to completion, or an arrow if the
// operation stayed open.
func (r *Result) picture() string {
	h := r.History
	ops := r.around()
	var events []jepsen.Event // the ends of the bars, in order
	for _, op := range ops {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; c != jepsen.None && c <= r.FailEvent && h.Status[op] != jepsen.Crashed {
			events = append(events, c)
		}
	}
	slices.Sort(events)
	const column = 3
	at := func(e jepsen.Event) int { i, _ := slices.BinarySearch(events, e); return column * i }
	process, call := 0, 0
	for _, op := range ops {
		process = max(process, utf8.RuneCountInString(h.ProcessName(op)))
		call = max(call, utf8.RuneCountInString(h.Call(op)))
	}
	var b strings.Builder
	for _, op := range ops {
		from, to, end := at(h.Invocation[op]), column*len(events), "─▶"
		if c := h.Completion[op]; c != jepsen.None && c <= r.FailEvent && h.Status[op] != jepsen.Crashed {
			to, end = at(c), "┤"
		}
		if h.Completion[op] == r.FailEvent {
			end = "┤ ✗ " + r.why()
		}
		fmt.Fprintf(&b, "  process %-*s  %s%s  %s├%s%s\n", process, h.ProcessName(op), h.Call(op),
			strings.Repeat(" ", call-utf8.RuneCountInString(h.Call(op))),
			strings.Repeat(" ", from), strings.Repeat("─", to-from-1), end)
	}
	return b.String()
}

// why is the message at the end of the first final path.
func (r *Result) why() string {
	if len(r.Paths) == 0 {
		return ""
	}
	path := r.Paths[0]
	return path[len(path)-1].Why
}

// around is the failing operation, the core, the operations that were open at
// the failure, and the last ones that returned before it: at most maxPicture,
// in order of invocation.
func (r *Result) around() []jepsen.Operation {
	h := r.History
	ops := []jepsen.Operation{h.OpOf[r.FailEvent]}
	add := func(op jepsen.Operation) {
		if op != jepsen.None && len(ops) < maxPicture && !slices.Contains(ops, op) && h.Status[op] != jepsen.Failed {
			ops = append(ops, op)
		}
	}
	add(r.LastOperation)
	if len(r.Core) <= maxPicture {
		for _, op := range r.Core {
			add(op)
		}
	}
	for e := r.FailEvent - 1; e >= 0 && len(ops) < maxPicture/2; e-- {
		if h.Type[e] == jepsen.OK {
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
