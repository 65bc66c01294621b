package bank

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clew/internal/second"
)

// secondBank holds alternating accounts and balances.
func secondBank(o second.Options, s []string, a second.Op) [][]string {
	for i := 0; i < len(s); i += 2 {
		if is := a.Notes["is "+s[i]]; is != "" && is != s[i] { // of the initial value
			n := s[i+1]
			s = second.Assign(slices.Delete(slices.Clone(s), i, i+2), is, n)
			i = -2
		}
	}
	if a.F == ":read" {
		if a.Crashed || a.Value.IsNil() {
			return [][]string{s}
		}
		read := map[string]string{}
		if a.Value.IsList() {
			for place, balance := range a.Value.Items {
				read[strconv.Itoa(place)] = balance.Canon()
			}
		} else {
			for i := 0; i < len(a.Value.Items); i += 2 {
				read[a.Notes["is "+a.Value.Items[i].Canon()]] = a.Value.Items[i+1].Canon()
			}
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

// secondAccounts notes which account each name is: a keyword in balances is the number, or the string, of its name if all
// others are numbers, or strings.
func secondAccounts(ops []second.Op, o second.Options) error {
	var others, keywords []string
	add := func(accounts []second.Form, balances bool) {
		for i := 0; i < len(accounts); i += 2 {
			if account := accounts[i].Canon(); balances && strings.HasPrefix(account, ":") {
				keywords = append(keywords, account)
			} else {
				others = append(others, account)
			}
		}
	}
	if init, err := second.Read(o.Init); err == nil && len(init) > 0 {
		add(init[0].Items, true)
	}
	for _, a := range ops {
		if a.F == ":transfer" {
			add([]second.Form{a.Value.Get(":from"), {}, a.Value.Get(":to"), {}}, false)
		} else if !a.Crashed && a.Value.Open == "{" {
			add(a.Value.Items, true)
		}
	}
	all := func(accounts []string, are string) bool {
		return !slices.ContainsFunc(accounts, func(account string) bool { return !regexp.MustCompile(are).MatchString(account) })
	}
	stand := o.Accounts
	switch {
	case stand != "" || len(others) == 0:
	case all(others, `^-?[0-9]+$`) && all(keywords, `^:(0|-?[1-9][0-9]*)$`):
		stand = "numbers"
	case all(others, `^"`):
		stand = "strings"
	}
	for i := range ops {
		ops[i].Notes = map[string]string{}
		for _, account := range append(others, keywords...) {
			is := account
			if name, keyword := strings.CutPrefix(account, ":"); keyword && stand == "numbers" {
				is = name
			} else if keyword && stand == "strings" {
				is = strconv.Quote(name)
			}
			ops[i].Notes["is "+account] = is
		}
	}
	return nil
}
