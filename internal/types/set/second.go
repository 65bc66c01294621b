package set

import (
	"slices"
	"strconv"

	"clew/internal/second"
)

func secondSet(o second.Options, s []string, a second.Op) [][]string {
	if a.F == ":add" {
		return [][]string{slices.Compact(second.Sorted(append(slices.Clone(s), a.Value.Canon())))}
	}
	if a.Crashed || a.Value.IsNil() && !o.Knossos {
		return [][]string{s}
	}
	if a.Value.Open != "#{" && (o.Knossos || !a.Value.IsList()) {
		return nil
	}
	return second.Stay(s, slices.Equal(secondInit(a.Value), s))
}

// secondLookup treats a plain true or false as the answer for the element in
// the invocation.
func secondLookup(_ second.Options, s []string, a second.Op) [][]string {
	element, answer := a.Given.Canon(), a.Value.Atom
	if a.Value.IsList() && !a.Crashed {
		answer = a.Value.Items[1].Atom
	}
	was := slices.Contains(s, element)
	now, want := was, strconv.FormatBool(was)
	switch a.F {
	case ":insert", ":add":
		now, want = true, strconv.FormatBool(!was)
	case ":remove", ":delete":
		now = false
	}
	if !a.Crashed && answer != want {
		return nil
	}
	next := slices.DeleteFunc(slices.Clone(s), func(x string) bool { return x == element })
	if now {
		next = second.Sorted(append(next, element))
	}
	return [][]string{next}
}
