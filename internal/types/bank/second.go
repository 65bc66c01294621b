package bank

import (
	"strconv"

	"clew/internal/second"
)

// secondBank holds alternating accounts and balances.
func secondBank(o second.Options, s []string, a second.Op) [][]string {
	if a.F == ":read" {
		if a.Crashed {
			return [][]string{s}
		}
		read := map[string]string{}
		for i := 0; i < len(a.Value.Items); i += 2 {
			read[a.Value.Items[i].Canon()] = a.Value.Items[i+1].Canon()
		}
		for i := 0; i < len(s); i += 2 {
			if _, ok := read[s[i]]; !ok {
				read[s[i]] = "0"
			}
		}
		for account, n := range read {
			if second.Lookup(s, account, "0") != n {
				return nil
			}
		}
		return [][]string{s}
	}
	from, to, n := a.Value.Get(":from").Canon(), a.Value.Get(":to").Canon(), second.Int(a.Value.Get(":amount").Canon())
	left := second.Int(second.Lookup(s, from, "0")) - n
	if left < 0 && !o.Negative {
		return nil
	}
	s = second.Assign(s, from, strconv.Itoa(left))
	return [][]string{second.Assign(s, to, strconv.Itoa(second.Int(second.Lookup(s, to, "0"))+n))}
}
