package models

import (
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// MaxRepeated bounds the text of an operation in a warning.
const MaxRepeated = 80

// Altered warns of operations that succeeded with another value than that of their
// invocation, although their completions have nothing to tell. An example is a write of 1
// that completed as a write of 2. A model may also warn of something else (Definition.Warn). It returns
// "" if there are none. ops are those of the history as ReadWithin returned them, or nil. Linear time.
func (s Spec) Altered(h *jepsen.History, ops *Operations) string {
	d, err := s.Definition()
	if err != nil || s.Knossos {
		return ""
	}
	var all []string
	if d.Warn != nil {
		all = append(all, d.Warn(s, h))
	}
	if len(d.Repeating) > 0 {
		all = append(all, s.altered(h, ops, d))
	}
	return strings.Join(slices.DeleteFunc(all, func(warning string) bool { return warning == "" }), "; ")
}

// altered warns of operations whose completions have nothing to tell, and have another value.
func (s Spec) altered(h *jepsen.History, ops *Operations, d *Definition) string {
	var fs []edn.ID
	for _, f := range d.Repeating {
		fs = append(fs, h.Values.InternKeyword(f))
	}
	var m Reader
	count, first := 0, jepsen.Operation(jepsen.None)
	from := jepsen.Operation(0)
	if ops != nil {
		from = ops.repeats
	}
	for op := from; int(op) < len(h.Completion); op++ {
		inv, res := h.Invocation[op], h.Completion[op]
		if h.Status[op] != jepsen.Succeeded || h.Value[res] == h.Value[inv] || h.Value[inv] == edn.Nil || !slices.Contains(fs, h.F[inv]) {
			continue
		}
		if m == nil {
			var err error
			if m, _, err = s.bind(h.Values); err != nil {
				return ""
			}
		}
		if !alters(m, h, op) {
			continue
		}
		if count++; count == 1 {
			first = op
		}
	}
	if count == 0 {
		return ""
	}
	inv, res := h.Invocation[first], h.Completion[first]
	call := func(value edn.ID) string {
		return text.Shorten(h.Values.Text(h.F[inv])+" "+h.Values.Text(value), MaxRepeated)
	}
	warning := fmt.Sprintf("process %s's %s completed as %s (index %d): the completion's value counts",
		h.ProcessName(first), call(h.Value[inv]), call(h.Value[res]), h.Index(res))
	if line := h.Line(res); line > 0 {
		warning = fmt.Sprintf("line %d: %s", line, warning)
	}
	if count > 1 {
		warning += fmt.Sprintf("; %s also completed with another value", text.Count(count-1, "more operation"))
	}
	return warning
}

// alters says whether the value of an operation's completion means something other than
// that of its invocation.
func alters(m Reader, h *jepsen.History, op jepsen.Operation) bool {
	inv := h.Invocation[op]
	o := Operation{Values: h.Values, FID: h.F[inv], ValueID: h.Value[inv], KeyID: h.Key(inv), Status: jepsen.Succeeded, GivenID: h.Value[inv], ProcessID: h.Processes[h.Process[inv]]}
	called, _, err := m.Read(o)
	o.ValueID = h.OpValue(op)
	ended, _, endErr := m.Read(o)
	same := err == nil && endErr == nil && called == ended
	if refused := m.Traits().Refused; refused != nil && endErr == nil && refused(ended) {
		return false
	}
	return !same && h.Values.Text(h.Value[inv]) != h.Values.Text(o.ValueID) // NaN equals nothing
}
