package register

import (
	"strconv"

	"clew/internal/second"
)

func secondRegister(o second.Options, s []string, a second.Op) [][]string {
	switch a.F {
	case ":read":
		return second.Stay(s, a.Crashed || a.Value.IsNil() && !o.NilReadsExact || a.Value.Canon() == s[0])
	case ":write":
		return [][]string{{a.Value.Canon()}}
	}
	from, to := "nil", "nil"
	if pair := a.Value.Items; len(pair) >= 2 {
		from, to = pair[0].Canon(), pair[1].Canon()
	}
	if a.Failed {
		return second.Stay(s, s[0] != from)
	}
	return second.Stay([]string{to}, s[0] == from)
}

// secondVersioned holds a version and a value. A nil in a read, and a nil
// version, match anything.
func secondVersioned(_ second.Options, s []string, a second.Op) [][]string {
	if a.Value.IsNil() {
		return [][]string{s} // a read that says nothing
	}
	version, value := a.Value.Items[0].Canon(), a.Value.Items[1]
	now, err := strconv.Atoi(s[0])
	if err != nil {
		panic(err)
	}
	if a.F == ":read" {
		return second.Stay(s, a.Crashed || (version == "nil" || version == s[0]) && (value.IsNil() || value.Canon() == s[1]))
	}
	after := strconv.Itoa(now + 1)
	possible := version == "nil" || version == after
	if a.F == ":write" {
		return second.Stay([]string{after, value.Canon()}, possible)
	}
	return second.Stay([]string{after, value.Items[1].Canon()}, possible && value.Items[0].Canon() == s[1])
}
