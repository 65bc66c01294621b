// Package languages decides stacks by the sets of stacks that each set of operations can have led to. It has one Engine of
// the general search, see package fallback.
//
// languages.go says why nothing is lost, and sweeps the returns. search.go goes from set to set before a return, by what
// returns.go knows about it. sets.go holds sets, automata.go their stacks as languages, and cover.go drops sets that
// others cover. transient.go leaves values out beforehand. walk.go forgets, and finds the way back.
package languages
