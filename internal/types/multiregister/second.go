package multiregister

import (
	"fmt"
	"slices"

	"clew/internal/second"
)

// sameSteps says whether a transaction completed with the steps that it was called
// with, ignoring what it read.
func sameSteps(a second.Op) bool {
	if a.Crashed || a.Given.IsNil() {
		return true
	}
	return slices.EqualFunc(a.Given.Items, a.Value.Items, func(x, y second.Form) bool {
		kind := x.Items[0].Atom[:2] // :r or :w
		return y.Items[0].Atom[:2] == kind && x.Items[1].Canon() == y.Items[1].Canon() && (kind == ":r" || x.Items[2].Canon() == y.Items[2].Canon())
	})
}

func secondTxns(ops []second.Op, _ second.Options) error {
	for _, a := range ops {
		if !sameSteps(a) {
			return fmt.Errorf("naive: %s completed as %s", a.Given.Canon(), a.Value.Canon())
		}
	}
	return nil
}

func secondTxn(o second.Options, s []string, a second.Op) [][]string {
	for _, step := range a.Value.Items {
		name, key, value := step.Items[0].Atom, step.Items[1].Canon(), step.Items[2]
		switch {
		case name == ":write" || name == ":w":
			s = second.Assign(s, key, value.Canon())
		case a.Crashed || value.IsNil() && !o.NilReadsExact && !(name == ":r" && a.F == ":txn"):
		case second.Lookup(s, key, "nil") != value.Canon():
			return nil
		}
	}
	return [][]string{s}
}
