package models

import "clew/edn"

// State is a state of a model: a sequence of numbers, most of them value
// classes. States are equal when their numbers are. They are never modified
// once a step has returned them.
type State = []int32

// Model is a sequential specification, bound to the values of one history. Its
// methods are safe for concurrent use.
type Model interface {
	// Init is the initial state.
	Init() State
	// Step appends to dst every state that op can lead to from s. It appends
	// none if op cannot happen in s.
	Step(dst []State, s State, op Op) []State
	// Mutates says whether op can change a state. An operation that cannot, and
	// that may be left out, constrains nothing.
	Mutates(op Op) bool
	// Why says, in Knossos's words if it has them, why op cannot happen in s.
	Why(s State, op Op) string
	// Record is the state as it prints in a result map.
	Record(s State) edn.Value
}

// Branching is a model with steps of very many outcomes: a crashed drain of n
// different elements has 2^n. A search that must be able to stop within a step
// takes them one by one.
type Branching interface {
	// Outcomes calls yield with every state that Step would append, each once,
	// until it says false.
	Outcomes(s State, op Op, yield func(State) bool)
}

// Reader is a model that gives the operations of its history their meaning, one
// after the other, before anything is stepped.
type Reader interface {
	Model
	// Read reads an operation. keep is false if it cannot matter. The error says
	// what was expected; the caller adds where.
	Read(o Operation) (op Op, keep bool, err error)
}

// Finisher is a model that needs to see all operations before it can give them
// all of their meaning. Row is where the error is.
type Finisher interface {
	Finish(c *Columns) (row Row, err error)
}

// Partitioner is a model whose operations touch one part of the state each: a
// history is linearizable if and only if the operations of every part are (Horn
// & Kroening's P-compositionality, 2015).
type Partitioner interface {
	// Part is the part that op touches.
	Part(op Op) int32
	// Join is the state of the whole, given the states of its parts.
	Join(parts []State) State
}

// Valued is a model that is closed under dropping values: a linearizable
// history without all operations that touch a value, and without those of the
// values that these tie it to, is linearizable.
type Valued interface {
	// Touches is the values that op touches. all says that it depends on every
	// value: then none can be dropped while op stays.
	Touches(op Op) (values []int32, all bool)
}

// Replacing is a model whose state is one value, which is gone once another
// replaces it: an operation that makes a value nobody sees afterwards can be
// dropped from a linearizable history.
type Replacing interface {
	// Makes is the value that op leaves, if it replaces the one before.
	Makes(op Op) (value int32, ok bool)
	// Sees says whether op depends on a value being there.
	Sees(op Op, value int32) bool
}

// Overwriting is a model with operations that can happen in every state and
// leave the same one, whatever it was.
type Overwriting interface {
	Overwrites(op Op) bool
}

// SingleValue marks a Replacing model whose state is one value class and whose
// operations are no others than Read, Write, CAS and FailedCAS: engines may go by
// Kind, A and B instead of asking Step.
type SingleValue interface {
	Replacing
	SingleValue()
}

// opener is a model that reads an operation otherwise where it is still open
// in the prefix under test.
type opener interface {
	Opened(op Op) Op
}

// only is the result of a step with one outcome.
func only(dst []State, numbers ...int32) []State { return append(dst, numbers) }
