package home

import (
	"fmt"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// WarnOfNil returns a warning of reads of a whole, which an :f given as "read" names, that succeeded and returned nil. They say
// nothing, as reads of nil of a register do.
func WarnOfNil(f string, h *jepsen.History) string {
	read := h.Values.InternKeyword(f)
	count, first := 0, jepsen.Operation(jepsen.None)
	for op, inv := range h.Invocation {
		if h.F[inv] != read || h.Status[op] != jepsen.Succeeded || h.OpValue(jepsen.Operation(op)) != edn.Nil {
			continue
		}
		if count++; count == 1 {
			first = jepsen.Operation(op)
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s returned nil, which says nothing of what was there", h.Name(first))
	}
	return fmt.Sprintf("%s and %s returned nil, which says nothing of what was there", h.Name(first), text.Count(count-1, "more read"))
}
