package models

import (
	"strings"

	"clew/edn"
)

// State is a state of a model: a sequence of numbers, most of them value classes. States
// are equal if their numbers are. A state is never modified after a step has returned it.
type State = []int32

// Model is a sequential specification, bound to the values of one history. Its
// methods are safe for concurrent use.
type Model interface {
	// Init returns the initial state.
	Init() State
	// Step appends to dst every state that op can lead to from s. If op cannot
	// happen in s, it appends nothing.
	Step(dst []State, s State, op Op) []State
	// Mutates says whether op can change a state. An operation that cannot, and that may be
	// left out, constrains nothing.
	Mutates(op Op) bool
	// Why says why op cannot happen in s, in Knossos's words where it has them.
	Why(s State, op Op) string
	// Record returns the state as it prints in a result map.
	Record(s State) edn.Value
	// Traits returns what else the model offers. It is the same each time; callers do not change it.
	Traits() *Traits
}

// Reader is a model that gives the operations of its history their meaning, one after
// another, before any Step.
type Reader interface {
	Model
	// Read reads an operation. keep is false if the operation cannot matter. The error says
	// what was expected; the caller adds the place.
	Read(o Operation) (op Op, keep bool, err error)
}

// Only appends the one outcome of a step to dst.
func Only(dst []State, numbers ...int32) []State { return append(dst, numbers) }

// Because says why an operation that cannot happen in a state cannot, in a sentence that names it.
func Because(m Model, s State, op Op) string {
	if because := m.Traits().Because; because != nil {
		if why := because(s, op); why != "" {
			return why
		}
	}
	return strings.TrimRight(m.Why(s, op), " ")
}
