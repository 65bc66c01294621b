package counter

import (
	"math/big"
	"strconv"

	"clew/internal/second"
)

// secondCounter adds and reads numbers of any size.
func secondCounter(_ second.Options, s []string, a second.Op) [][]string {
	integer := func(text string) *big.Int {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			panic("naive: no integer: " + text)
		}
		return n
	}
	by, after := big.NewInt(1), "" // after is "" if it is not told
	switch a.F {
	case ":read":
		return second.Stay(s, a.Crashed || a.Value.Canon() == s[0])
	case ":add":
		by = integer(a.Value.Canon())
	default:
		if !a.Given.IsNil() {
			by = integer(a.Given.Canon())
		}
		switch {
		case a.Crashed || a.F != ":add-and-get" && (a.Notes["told"] == "" || a.Value.IsNil()):
		case a.Value.IsList():
			after = a.Value.Items[1].Canon()
		default:
			after = a.Value.Canon()
		}
		if a.F == ":decr" || a.F == ":decrement" {
			by.Neg(by)
		}
	}
	next := by.Add(by, integer(s[0])).String()
	return second.Stay([]string{next}, after == "" || after == next)
}

// secondCounting counts from 0 on.
func secondCounting(_ second.Options, s []string, a second.Op) [][]string {
	switch n := second.Int(s[0]); {
	case a.F == ":incr":
		return [][]string{{strconv.Itoa(n + 1)}}
	case !a.Crashed && a.Value.Atom == "false":
		return second.Stay(s, n == 0)
	default:
		return second.Stay([]string{strconv.Itoa(n - 1)}, n > 0)
	}
}
