package models

import "clew/jepsen"

// Beyond is for a model with answers that are about the whole order of updates, so that no step can judge them: what a
// watch has delivered, or a read of an old state.
type Beyond struct {
	// Judge returns what the answers break, given a linearization of the operations, as rows. If order is nil, it returns
	// what they break in every order, as far as that is easy to see.
	Judge func(ops *Operations, order []Row) []Broken
	// Alone returns the operations without these answers and what they show of others, or nil if there are no such
	// answers. Only if these are linearizable by themselves does a failure lie with the answers.
	Alone func(ops *Operations) *Operations
}

// Broken is a guarantee that an operation's answer breaks, although every step is possible.
type Broken struct {
	Operation jepsen.Operation
	Guarantee string // such as "ordered"
	Why       string // a sentence, without its full stop
	By        []jepsen.Operation
}
