package models

import "clew/edn"

// What the tests of this package need from its inside. They are outside of it, because the
// homes of the data types import it.

// PollsPerLook is pollsPerLook.
const PollsPerLook = pollsPerLook

// Bind returns the reader of a history and the definition of its model.
func (s Spec) Bind(v *edn.Values) (Reader, *Definition, error) { return s.bind(v) }

// Walk is a walk.
type Walk = walk

// NewWalk begins a walk.
func NewWalk(m Model, poll func()) *Walk { return newWalk(m, poll) }

// Step takes a step.
func (w *walk) Step(op Op) bool { return w.step(op) }

// State returns the state.
func (w *walk) State() State { return w.state() }

// Run returns the run, nil while there is a set.
func (w *walk) Run() Run { return w.run }

// ManyOperations is manyOperations.
const ManyOperations = manyOperations
