package models

import (
	"clew/edn"
	"clew/jepsen"
)

// State is a state of a model: a sequence of numbers, most of them value
// classes. States are equal if their numbers are. A state is never modified
// once a step has returned it.
type State = []int32

// Model is a sequential specification, bound to the values of one history. Its
// methods are safe for concurrent use.
type Model interface {
	// Init is the initial state.
	Init() State
	// Step appends to dst every state that op can lead to from s. If op cannot
	// happen in s, it appends nothing.
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

// Permissive is a model whose author may say that no operation is ever impossible.
type Permissive interface {
	RefusesNothing() bool
}

// Weighing is a model that holds more for its states than their numbers. A search
// counts that too, and looks at its limits the sooner.
type Weighing interface {
	// Weight is about how many bytes more are held for a state.
	Weight(s State) int64
}

// Numbered is a model that numbers its states itself, from 0 on, as it meets
// them: a State is its number alone, and no step has several outcomes.
type Numbered interface {
	// Lead is the state that op leads to, -1 if it cannot happen.
	Lead(state int32, op Op) int32
}

// Reader is a model that gives the operations of its history their meaning, one
// after another, before any Step.
type Reader interface {
	Model
	// Read reads an operation. keep is false if the operation cannot matter.
	// The error says what was expected; the caller adds the place.
	Read(o Operation) (op Op, keep bool, err error)
}

// Forgetful is a Reader that may read the operations of a history in any order, and
// several at once: reading one leaves nothing behind.
type Forgetful interface {
	Forgetful(h *jepsen.History) bool
}

// Finisher is a model that needs to see all operations before it can give them
// all of their meaning. If there is an error, row is the operation that it is
// about.
type Finisher interface {
	Finish(c *Columns) (row Row, err error)
}

// Settling is a Reader that knows only once it has read all operations, and
// finished them if it is a Finisher, what they are operations of.
type Settling interface {
	// Settle is the model of the operations that were read.
	Settle() Model
}

// Partitioner is a model each of whose operations touches only one part of the
// state: a history is linearizable if and only if the operations of every part
// are (Horn & Kroening's P-compositionality, 2015).
type Partitioner interface {
	// Part is the part that op touches.
	Part(op Op) int32
	// Join is the state of the whole, given the states of its parts.
	Join(parts []State) State
}

// Projecting is a Partitioner whose parts may be of a simpler model, in which
// their operations mean the same.
type Projecting interface {
	Partitioner
	// Project is the model of a part: the Partitioner itself if there is no
	// simpler one. It may put the simpler model's operations into the part's
	// columns, row by row.
	Project(part int32, c *Columns) Model
}

// Foreseeing is a model that can often see, by sums or bounds, what the order of
// operations cannot change: a search then need not try every one. It has no
// Overwriting operations, and the more others there are, the more may follow and
// the less may lead.
type Foreseeing interface {
	// MayFollow says whether op may happen in a state to which some of the others,
	// each at most once and in any order, lead from s. If it is false, op cannot;
	// if it is true, that says nothing.
	MayFollow(s State, op Op, others []Op) bool
	// MayLead says of an op that can happen in s that it may as well go first:
	// whenever some of the others, in whatever order, can happen from s and op
	// after them, op and then these can happen too, and lead to the same state. If
	// it is false, that says nothing. None of the others only reads.
	MayLead(s State, op Op, others []Op) bool
}

// Steering is a model that knows what is worth a try before an operation that must
// happen next, the goal: it returns before all others that are open. Those that are
// open may happen in any order, as far as the model allows; what only reads and fits
// the state has happened.
type Steering interface {
	// Steer is the course from s to a goal that has not happened. others are those
	// that are open besides, return, and have not happened.
	Steer(s State, goal Op, others []Op) Course
	// Keeps says whether next, which can happen in s and is not the goal, keeps to a
	// course of the model's own. If what is left has a linearization, it has one that
	// begins with the goal or with what keeps to the course.
	Keeps(s State, c Course, goal, next Op, crashed bool, others []Op) bool
}

// Course is a way to a goal. Those above Directly are the model's own.
type Course int32

// Courses that need no model.
const (
	Anyhow   Course = iota // anything may come next
	Directly               // only the goal may
)

// Fading is a model whose state has a value at each of some places, of which
// operations show some and leave others. What nobody will show is as good as any other
// value.
type Fading interface {
	// At is the value at a place.
	At(s State, place int32) int32
	// Shows appends the cells that op depends on. If there are none it can happen in
	// every state. needs says that op can happen only if they are all there.
	Shows(dst []Cell, op Op) (cells []Cell, needs bool)
	// Leaves appends a cell for each place where op leaves another value. blindly says
	// that it leaves these values whatever was there before.
	Leaves(dst []Cell, op Op) (cells []Cell, blindly bool)
	// Becomes appends the cells that operations show and that may be there once there
	// was this one, before it is blindly replaced.
	Becomes(dst []Cell, cell Cell) []Cell
	// Fade is s with one and the same value in all cells that are not seen, and that no
	// operation shows.
	Fade(s State, seen func(Cell) bool) State
}

// Tightened is a model whose steps are those of a looser one, but for some: what is
// not linearizable in that one is not linearizable in this.
type Tightened interface {
	// Looser is the looser model, of the same states, or nil if there is none.
	Looser() Model
}

// Valued is a model that is closed under dropping values: if all operations
// that touch a value are taken out of a linearizable history, and also those of
// the values that these operations tie it to, the rest is linearizable.
type Valued interface {
	// Lasting are the values that cannot be dropped. Values that are there at
	// first would be in the way of others if nothing took them.
	Lasting() []int32
	// Touches are the values that op touches. all says that op depends on every
	// value: then no value can be dropped while op stays.
	Touches(op Op) (values []int32, all bool)
}

// Replacing is a model whose state has a value at each of some places, which is
// gone once another replaces it. If nobody sees the values that an operation
// makes, the operation can be dropped from a linearizable history.
type Replacing interface {
	// Makes appends the cells that op leaves, one for each place whose value it
	// replaces.
	Makes(dst []Cell, op Op) []Cell
	// Sees appends the cells that op depends on. all says that it depends on every
	// cell, and then it appends none.
	Sees(dst []Cell, op Op) (cells []Cell, all bool)
}

// Cell is a place of a state, and a value there.
type Cell struct{ Place, Value int32 }

// Overwriting is a model with operations that can happen in every state, and
// that always leave the same state, whatever was there before.
type Overwriting interface {
	Overwrites(op Op) bool
}

// SingleValue marks a Replacing model whose state is one value class and whose
// only operations are Read, Write, CAS and FailedCAS. Engines may then go by
// Kind, A and B instead of calling Step.
type SingleValue interface {
	Replacing
	SingleValue()
}

// only is the result of a step with one outcome.
func only(dst []State, numbers ...int32) []State { return append(dst, numbers) }
