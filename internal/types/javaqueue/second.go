package javaqueue

import (
	"slices"
	"strconv"
	"strings"

	"clew/internal/second"
)

// secondJava holds the elements of a java.util.Queue. It works out the expected
// answer, and compares it with the real answer.
func secondJava(_ second.Options, s []string, a second.Op) [][]string {
	argument, arguments := a.Given.Canon(), a.Given.Parts()
	next, answer := slices.Clone(s), "nil"
	yes := func(b bool) { answer = strconv.FormatBool(b) }
	keep := func(wanted func(x string) bool) {
		next = nil
		for _, x := range s {
			if wanted(x) {
				next = append(next, x)
			}
		}
		yes(len(next) != len(s))
	}
	switch a.F {
	case ":offer":
		next, answer = append(next, argument), "true"
	case ":poll", ":peek":
		if len(s) > 0 {
			answer = s[0]
			if a.F == ":poll" {
				next = next[1:]
			}
		}
	case ":size":
		answer = strconv.Itoa(len(s))
	case ":isEmpty":
		yes(len(s) == 0)
	case ":clear":
		return [][]string{nil}
	case ":contains":
		yes(slices.Contains(s, argument))
	case ":remove":
		gone := false
		keep(func(x string) bool {
			first := x == argument && !gone
			gone = gone || first
			return !first
		})
	case ":addAll":
		next = append(next, arguments...)
		yes(len(arguments) > 0)
	case ":containsAll":
		yes(!slices.ContainsFunc(arguments, func(x string) bool { return !slices.Contains(s, x) }))
	case ":removeAll":
		keep(func(x string) bool { return !slices.Contains(arguments, x) })
	case ":retainAll":
		keep(func(x string) bool { return slices.Contains(arguments, x) })
	case ":toArray":
		answer = "[" + strings.Join(s, " ") + "]"
	case ":toString":
		answer = second.Spaced(`"[` + strings.ReplaceAll(strings.Join(s, ", "), `"`, "") + `]"`)
	default:
		panic("naive: java-queue has no " + a.F)
	}
	return second.Stay(next, a.Crashed || a.Value.Canon() == answer)
}
