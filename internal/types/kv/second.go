package kv

import (
	"slices"
	"strings"

	"clew/internal/second"
)

// secondAbsent sets for each operation of a map what it holds under a missing
// key. That is the empty string if something is appended, or if gets return it
// and never nil. Otherwise it is nil.
func secondAbsent(ops []second.Op) {
	appends, empty, null := false, false, false
	for _, a := range ops {
		appends = appends || a.F == ":append"
		if a.F != ":get" || a.Crashed {
			continue
		}
		_, value, answer := secondParts(a)
		empty = empty || value == `""`
		null = null || value == "nil" || answer != ""
	}
	for i := range ops {
		ops[i].Notes["absent"] = "nil"
		if appends || empty && !null {
			ops[i].Notes["absent"] = `""`
		}
	}
}

// secondKeyless sets for all operations whether none of them has a key, as some value cannot
// be a pair of a key and a value.
func secondKeyless(ops []second.Op, o second.Options) error {
	said := o.KVKeys
	keyless := said == "none"
	for _, a := range ops {
		pair := a.Given.IsList() && len(a.Given.Items) == 2
		if a.F == ":cas" && pair {
			pair = a.Given.Items[1].IsList()
		}
		keyless = keyless || said == "" && a.Key == "nil" && a.Given.Open != "{" && !pair
	}
	for i := range ops {
		ops[i].Notes = map[string]string{}
		if keyless {
			ops[i].Notes["keyless"] = "yes"
		}
	}
	secondAbsent(ops)
	return nil
}

// secondParts returns the key of an operation, its value, and its answer:
// "true", "false", or "" if it did not say. A cas has two values in brackets.
func secondParts(a second.Op) (key, value, answer string) {
	key = a.Key
	given, counts := a.Given, a.Value
	if key == "nil" && a.Notes["keyless"] == "" {
		if given.Open == "{" {
			key = given.Get(":key").Canon()
		} else {
			key = given.Items[0].Canon()
			given = given.Items[1]
			if counts.IsList() {
				counts = counts.Items[1]
			}
		}
	}
	said := func(x second.Form) {
		isMap := x.Open == "{" && slices.ContainsFunc(x.Items, func(y second.Form) bool {
			return slices.Contains([]string{":key", ":found", ":succeeded", ":expected"}, y.Atom)
		})
		if !isMap {
			value = x.Canon()
			return
		}
		for i := 0; i < len(x.Items); i += 2 {
			switch name, part := x.Items[i].Atom, x.Items[i+1]; name {
			case ":value":
				value = part.Canon()
			case ":expected":
				value = "[" + part.Canon() + " " + x.Get(":new").Canon() + "]"
			case ":succeeded":
				answer = part.Atom
			case ":found":
				if x.Get(":succeeded").Atom == "" || a.F == ":delete" || a.F == ":get" {
					answer = part.Atom
				}
			}
		}
	}
	said(given)
	if value == "" {
		value = "nil"
	}
	switch flag := counts.Atom == "true" || counts.Atom == "false"; {
	case a.Crashed || a.Failed:
	case flag && counts.Canon() != given.Canon() && a.F != ":get" && a.F != ":put":
		answer = counts.Atom
	default:
		said(counts)
	}
	return key, value, answer
}

func secondKV(_ second.Options, s []string, a second.Op) [][]string {
	key, value, answer := secondParts(a)
	known := func(value string) string {
		if value == "nil" {
			return a.Notes["absent"]
		}
		return value
	}
	now := known(second.Lookup(s, key, a.Notes["absent"]))
	switch a.F {
	case ":put":
		return [][]string{second.Assign(s, key, known(value))}
	case ":append":
		return [][]string{second.Assign(s, key, `"`+strings.Trim(now, `"`)+strings.Trim(value, `"`)+`"`)}
	case ":delete":
		found := "false"
		if now != a.Notes["absent"] {
			found = "true"
		}
		return second.Stay(second.Assign(s, key, a.Notes["absent"]), answer == "" || answer == found)
	case ":get":
		if answer == "false" {
			value = "nil"
		}
		return second.Stay(s, a.Crashed || now == known(value))
	}
	old, next := a.Notes["absent"], known(value)
	if a.F == ":cas" {
		pair, err := second.Read(value)
		if err != nil {
			panic(err)
		}
		old, next = known(pair[0].Items[0].Canon()), known(pair[0].Items[1].Canon())
	}
	if a.Failed || answer == "false" {
		return second.Stay(s, now != old)
	}
	return second.Stay(second.Assign(s, key, next), now == old)
}
