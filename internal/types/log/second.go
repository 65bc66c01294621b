package log

import (
	"slices"

	"clew/internal/second"
)

// secondLog holds the list.
func secondLog(_ second.Options, s []string, a second.Op) [][]string {
	value, counts := a.Given, a.Value
	if a.F != ":append" && a.Crashed || a.F == ":read" && a.Value.IsNil() {
		return [][]string{s}
	}
	switch a.F {
	case ":tail":
		return second.Stay(s, second.Int(counts.Canon()) == len(s))
	case ":read":
		return second.Stay(s, slices.Equal(counts.Parts(), s))
	case ":read-at":
		if msg := counts.Get(":msg"); !counts.Get(":offset").IsNil() {
			counts = msg
		}
		at := second.Int(value.Canon())
		return second.Stay(s, counts.IsNil() && at >= len(s) || at < len(s) && counts.Canon() == s[at])
	}
	told := []string{}
	if n := value.Get(":match-seq-num"); !n.IsNil() {
		told, value = append(told, n.Canon()), value.Get(":msg")
	}
	if n := counts.Get(":offset"); a.Notes["told"] != "" && !a.Crashed && !n.IsNil() {
		told = append(told, n.Canon())
	} else if a.Notes["told"] != "" && !a.Crashed && counts.Open == "" && !counts.IsNil() {
		told = append(told, counts.Canon())
	}
	for _, n := range told {
		if second.Int(n) != len(s) {
			return nil
		}
	}
	return [][]string{append(slices.Clone(s), value.Canon())}
}
