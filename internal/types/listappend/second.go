package listappend

import (
	"fmt"
	"slices"
	"strings"

	"clew/internal/second"
)

// secondTxns says whether transactions completed with the steps that they were called with, ignoring what they read.
func secondTxns(ops []second.Op, _ second.Options) error {
	for _, a := range ops {
		if a.Crashed || a.Given.IsNil() {
			continue
		}
		same := slices.EqualFunc(a.Given.Items, a.Value.Items, func(x, y second.Form) bool {
			return x.Items[0].Atom == y.Items[0].Atom && x.Items[1].Canon() == y.Items[1].Canon() && (x.Items[0].Atom == ":r" || x.Items[2].Canon() == y.Items[2].Canon())
		})
		if !same {
			return fmt.Errorf("naive: %s completed as %s", a.Given.Canon(), a.Value.Canon())
		}
	}
	return nil
}

// secondTxn holds each list as the text of a vector.
func secondTxn(_ second.Options, s []string, a second.Op) [][]string {
	for _, step := range a.Value.Items {
		key, now := step.Items[1].Canon(), second.Lookup(s, step.Items[1].Canon(), "[]")
		switch {
		case step.Items[0].Atom == ":append":
			s = second.Assign(s, key, strings.Replace(strings.TrimSuffix(now, "]")+" "+step.Items[2].Canon()+"]", "[ ", "[", 1))
		case a.Crashed:
		case step.Items[2].IsNil() && now != "[]" || !step.Items[2].IsNil() && step.Items[2].Canon() != now:
			return nil
		}
	}
	return [][]string{s}
}
