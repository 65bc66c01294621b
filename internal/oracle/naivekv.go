package oracle

import (
	"slices"
	"strings"
)

// naiveAbsent sets for each operation of a map what it holds under a missing
// key. That is the empty string if something is appended, or if gets return it
// and never nil. Otherwise it is nil.
func naiveAbsent(ops []naiveOp) {
	appends, empty, null := false, false, false
	for _, a := range ops {
		appends = appends || a.f == ":append"
		if a.f != ":get" || a.crashed {
			continue
		}
		_, value, answer := naiveKVParts(a)
		empty = empty || value == `""`
		null = null || value == "nil" || answer != ""
	}
	for i := range ops {
		ops[i].absent = "nil"
		if appends || empty && !null {
			ops[i].absent = `""`
		}
	}
}

// naiveKeyless sets for all operations whether none of them has a key, as some value cannot
// be a pair of a key and a value.
func naiveKeyless(ops []naiveOp, said string) {
	keyless := said == "none"
	for _, a := range ops {
		pair := a.given.isList() && len(a.given.items) == 2
		if a.f == ":cas" && pair {
			pair = a.given.items[1].isList()
		}
		keyless = keyless || said == "" && a.key == "nil" && a.given.open != "{" && !pair
	}
	for i := range ops {
		ops[i].keyless = keyless
	}
}

// naiveKVParts returns the key of an operation, its value, and its answer:
// "true", "false", or "" if it did not say. A cas has two values in brackets.
func naiveKVParts(a naiveOp) (key, value, answer string) {
	key = a.key
	given, counts := a.given, a.value
	if key == "nil" && !a.keyless {
		if given.open == "{" {
			key = given.get(":key").canon()
		} else {
			key = given.items[0].canon()
			given = given.items[1]
			if counts.isList() {
				counts = counts.items[1]
			}
		}
	}
	said := func(x form) {
		isMap := x.open == "{" && slices.ContainsFunc(x.items, func(y form) bool {
			return slices.Contains([]string{":key", ":found", ":succeeded", ":expected"}, y.atom)
		})
		if !isMap {
			value = x.canon()
			return
		}
		for i := 0; i < len(x.items); i += 2 {
			switch name, part := x.items[i].atom, x.items[i+1]; name {
			case ":value":
				value = part.canon()
			case ":expected":
				value = "[" + part.canon() + " " + x.get(":new").canon() + "]"
			case ":found", ":succeeded":
				answer = part.atom
			}
		}
	}
	said(given)
	if value == "" {
		value = "nil"
	}
	switch flag := counts.atom == "true" || counts.atom == "false"; {
	case a.crashed || a.failed:
	case flag && counts.canon() != given.canon() && a.f != ":get" && a.f != ":put":
		answer = counts.atom
	default:
		said(counts)
	}
	return key, value, answer
}

func naiveKV(_ NaiveOptions, s []string, a naiveOp) [][]string {
	key, value, answer := naiveKVParts(a)
	known := func(value string) string {
		if value == "nil" {
			return a.absent
		}
		return value
	}
	now := known(lookup(s, key, a.absent))
	switch a.f {
	case ":put":
		return [][]string{assign(s, key, known(value))}
	case ":append":
		return [][]string{assign(s, key, `"`+strings.Trim(now, `"`)+strings.Trim(value, `"`)+`"`)}
	case ":delete":
		found := "false"
		if now != a.absent {
			found = "true"
		}
		return stay(assign(s, key, a.absent), answer == "" || answer == found)
	case ":get":
		if answer == "false" {
			value = "nil"
		}
		return stay(s, a.crashed || now == known(value))
	}
	old, next := a.absent, known(value)
	if a.f == ":cas" {
		pair, err := naiveRead(value)
		if err != nil {
			panic(err)
		}
		old, next = known(pair[0].items[0].canon()), known(pair[0].items[1].canon())
	}
	if a.failed || answer == "false" {
		return stay(s, now != old)
	}
	return stay(assign(s, key, next), now == old)
}
