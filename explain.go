package clew

import (
	"fmt"

	"clew/jepsen"
	"clew/report"
)

// explain says in one sentence what cannot happen, and after what.
func explain(r *report.Result) string {
	h := r.History
	s := h.Name(h.OpOf[r.FailEvent]) + " cannot happen"
	if len(r.Paths) == 0 {
		return s // what led to it has not been found in time
	}
	path := r.Paths[0]
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
