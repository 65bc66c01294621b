package lease

import (
	"slices"
	"strconv"

	"clew/internal/second"
)

// secondTerm returns the owner and the epoch that a value names.
func secondTerm(x second.Form) (owner, epoch second.Form) {
	switch {
	case x.IsList():
		return x.Items[0], x.Items[1]
	case x.Open == "{":
		return x.Get(":owner"), x.Get(":epoch")
	}
	return x, second.IsNil
}

// secondLease holds the owner, the epoch, and whether the epoch is more than a
// lower bound.
func secondLease(_ second.Options, s []string, a second.Op) [][]string {
	owner, epoch := secondTerm(a.Value)
	if first, then := secondTerm(a.Given); a.F != ":check" {
		if owner.IsNil() || owner.Canon() == "true" {
			owner = first
		}
		if epoch.IsNil() {
			epoch = then
		}
	}
	now := second.Int(s[1])
	fits := s[0] == owner.Canon()
	next := []string{owner.Canon(), s[1], s[2]}
	if !epoch.IsNil() {
		n := second.Int(epoch.Canon())
		fits = fits && (n == now || s[2] == "false" && n > now)
		next[1], next[2] = epoch.Canon(), "true"
	}
	switch {
	case a.F == ":claim" && epoch.IsNil():
		return [][]string{{owner.Canon(), strconv.Itoa(now + 1), "false"}}
	case a.F == ":claim":
		return second.Stay(next, second.Int(epoch.Canon()) > now)
	case a.F == ":check" && a.Crashed:
		return [][]string{s}
	case a.F == ":release":
		next[0] = "nil"
	}
	return second.Stay(next, fits)
}

func secondInit(given second.Form) []string {
	if parts := given.Parts(); !slices.Equal(parts, []string{"nil", "nil"}) {
		return append(parts, "true")
	}
	return []string{"nil", "-1", "true"}
}
