package models

import (
	"clew/edn"
	"clew/jepsen"
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
}

// Branching is a model with steps that have very many outcomes: a crashed drain of n
// different elements has 2^n. A search that must be able to stop within a step takes them
// one by one.
type Branching interface {
	// Outcomes calls yield once with every state that Step would append, until yield
	// returns false.
	Outcomes(s State, op Op, yield func(State) bool)
}

// Permissive is a model whose author may declare that every operation is always possible.
type Permissive interface {
	RefusesNothing() bool
}

// Weighing is a model that holds more for its states than their numbers. A search counts
// that too, and checks its limits sooner.
type Weighing interface {
	// Weight returns about how many more bytes are held for a state.
	Weight(s State) int64
}

// Numbered is a model that numbers its states itself, from 0 on, as it meets them. A State
// is its number alone, and no step has several outcomes.
type Numbered interface {
	// Lead returns the state that op leads to, or -1 if op cannot happen.
	Lead(state int32, op Op) int32
}

// Reader is a model that gives the operations of its history their meaning, one after
// another, before any Step.
type Reader interface {
	Model
	// Read reads an operation. keep is false if the operation cannot matter. The error says
	// what was expected; the caller adds the place.
	Read(o Operation) (op Op, keep bool, err error)
}

// Forgetful is a Reader that may read the operations of a history in any order, and
// several at once: reading one leaves nothing behind.
type Forgetful interface {
	Forgetful(h *jepsen.History) bool
}

// Finisher is a model that needs to see all operations before it can give them all of their
// meaning. If there is an error, row is the operation that it is about.
type Finisher interface {
	Finish(c *Columns) (row Row, err error)
}

// Settling is a Reader that knows its model only once it has read all operations, and
// finished them if it is a Finisher.
type Settling interface {
	// Settle returns the model of the operations that were read.
	Settle() Model
}

// Partitioner is a model in which every operation touches only one part of the state. A
// history is linearizable if and only if the operations of every part are (Horn &
// Kroening's P-compositionality, 2015).
type Partitioner interface {
	// Part returns the part that op touches.
	Part(op Op) int32
	// Join returns the state of the whole from the states of its parts.
	Join(parts []State) State
}

// Projecting is a Partitioner whose parts may be of a simpler model, in which their
// operations mean the same.
type Projecting interface {
	Partitioner
	// Project returns the model of a part: the Partitioner itself if there is no simpler
	// one. It may replace the operations in the part's columns, row by row, with those of
	// the simpler model.
	Project(part int32, c *Columns) Model
}

// Foreseeing is a model that can often see, by sums or bounds, what the order of operations
// cannot change. A search then need not try every order. It has no Overwriting operations.
// The more others there are, the more may follow and the less may lead.
type Foreseeing interface {
	// MayFollow says whether op may happen in a state to which some of the others lead from
	// s. Each is used at most once, in any order. False means that op cannot; true means
	// nothing.
	MayFollow(s State, op Op, others []Op) bool
	// MayLead says whether an op that can happen in s may as well go first. True means that
	// op can move to the front. If some of the others, in any order, can happen from s and
	// op after them, op and then these can happen too. Both ways lead to the same state.
	// False means nothing. None of the others is a pure read.
	MayLead(s State, op Op, others []Op) bool
}

// Steering is a model that knows which operations are worth trying before the goal. The
// goal must happen next, because it returns before all other open operations. The open
// operations may happen in any order that the model allows. Operations that only read and
// fit the state have already happened.
type Steering interface {
	// Steer returns the course from s to a goal that has not happened. others are the other
	// open operations that return and have not happened.
	Steer(s State, goal Op, others []Op) Course
	// Keeps says whether next keeps to a course of the model's own. next can happen in s
	// and is not the goal. If the rest has a linearization, it has one that begins with the
	// goal or with an operation that keeps to the course.
	Keeps(s State, c Course, goal, next Op, crashed bool, others []Op) bool
}

// Course is a way to a goal. Courses above Directly are the model's own.
type Course int32

// Courses that need no model.
const (
	Anyhow   Course = iota // anything may come next
	Directly               // only the goal may
)

// Fading is a model whose state has a value at each of some places. Operations show some
// places and leave others. A value that nothing will show is as good as any other.
type Fading interface {
	// At returns the value at a place.
	At(s State, place int32) int32
	// Shows appends the cells that op depends on. If there are none, op can happen in every
	// state. needs says that op can happen only if they are all there.
	Shows(dst []Cell, op Op) (cells []Cell, needs bool)
	// Leaves appends a cell for each place where op leaves another value. blindly says that
	// op leaves these values whatever was there before.
	Leaves(dst []Cell, op Op) (cells []Cell, blindly bool)
	// Becomes appends the cells that operations show and that may follow this cell before
	// it is blindly replaced.
	Becomes(dst []Cell, cell Cell) []Cell
	// Fade returns s with one and the same value in every cell that is not seen and that no
	// operation shows.
	Fade(s State, seen func(Cell) bool) State
}

// Tightened is a model whose steps are some of the steps of a looser model. A history that
// is not linearizable in the looser model is not linearizable in this one.
type Tightened interface {
	// Looser returns the looser model, or nil if there is none. It has the same states.
	Looser() Model
}

// Valued is a model that is closed under dropping values. Take all operations that touch a
// value out of a linearizable history, and also those of the values that these operations
// tie it to. The rest is linearizable.
type Valued interface {
	// Lasting returns the values that cannot be dropped. Initial values would be in the way
	// of others if nothing took them.
	Lasting() []int32
	// Touches returns the values that op touches. all says that op depends on every value,
	// so that no value can be dropped while op stays.
	Touches(op Op) (values []int32, all bool)
}

// Replacing is a model whose state has a value at each of some places. A value is gone once
// another replaces it. If nothing sees the values that an operation makes, the operation
// can be dropped from a linearizable history.
type Replacing interface {
	// Makes appends the cells that op leaves, one for each place whose value it replaces.
	Makes(dst []Cell, op Op) []Cell
	// Sees appends the cells that op depends on. all says that op depends on every cell;
	// then Sees appends none.
	Sees(dst []Cell, op Op) (cells []Cell, all bool)
}

// Cell is a place of a state, and a value there.
type Cell struct{ Place, Value int32 }

// Overwriting is a model with operations that can happen in every state and always leave
// the same state, whatever was there before.
type Overwriting interface {
	Overwrites(op Op) bool
}

// SingleValue marks a Replacing model whose state is one value class and whose only
// operations are Read, Write, CAS and FailedCAS. Engines may then use Kind, A and B instead
// of calling Step.
type SingleValue interface {
	Replacing
	SingleValue()
}

// only appends the one outcome of a step to dst.
func only(dst []State, numbers ...int32) []State { return append(dst, numbers) }
