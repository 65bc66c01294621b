package lock

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// warnOfRefused warns of locks that completed :ok with a value which seems to say that they were refused. A lock's value
// says nothing, so they count as acquired. It returns "" if there are none. Linear time.
func warnOfRefused(_ models.Spec, h *jepsen.History) string {
	v := h.Values
	var keys []edn.ID
	for _, name := range []string{"ok", "success", "acquired"} {
		keys = append(keys, v.Same(v.InternKeyword(name)), v.Same(v.InternString(name)))
	}
	says := func(value edn.ID) bool {
		if value == edn.False || v.Kind(value) != edn.KindMap {
			return value == edn.False
		}
		for kvs := v.Items(value); len(kvs) > 0; kvs = kvs[2:] {
			if kvs[1] == edn.False && slices.Contains(keys, v.Same(kvs[0])) {
				return true
			}
		}
		return false
	}
	count, first := 0, jepsen.Operation(jepsen.None)
	for op, res := range h.Completion {
		if h.Status[op] != jepsen.Succeeded || h.Value[res] == edn.Nil || !says(h.Value[res]) {
			continue
		}
		if count++; count == 1 {
			first = jepsen.Operation(op)
		}
	}
	if count == 0 {
		return ""
	}
	res := h.Completion[first]
	did := "acquired"
	if h.F[res] == v.InternKeyword("release") {
		did = "released"
	}
	warning := fmt.Sprintf("process %s's %s returned %s (index %d) and counts as %s: record an attempt that was refused as :type :fail",
		h.ProcessName(first), v.Text(h.F[res]), text.Shorten(v.Text(h.Value[res]), models.MaxRepeated), h.Index(res), did)
	if line := h.Line(res); line > 0 {
		warning = fmt.Sprintf("line %d: %s", line, warning)
	}
	if count > 1 {
		warning += fmt.Sprintf("; the same holds for %s", text.Count(count-1, "more operation"))
	}
	return warning
}
