package models

import (
	"context"
	"fmt"

	"clew/internal/limits"
)

// Bounded is a model that holds memory of its own, or whose steps take long.
type Bounded interface {
	// Within bounds the steps to come. What it returns gives the memory back.
	Within(ctx context.Context, memory *limits.Budget) (release func())
}

// Declaring is a model of the caller's own that searches use as its author
// declares it: which operations change nothing, which overwrite, what the parts
// of its state are. What a search steps on is compared with that. A history that
// is not linearizable is decided again without it, as a search may never have
// stepped where it is wrong.
type Declaring interface {
	// Bare is the model without it. It has the same states.
	Bare() Model
	// Doubt looks for what is wrong with it beyond what searches have stepped on,
	// and takes a bounded time for that. It panics with a Failure.
	Doubt()
}

// maxDoubts bounds the steps that Doubt takes.
const maxDoubts = 20_000

// Doubt implements Declaring. What is declared to read or to overwrite is tried in
// the states that were met. That is for crashed reads above all: nobody else ever
// steps on them.
func (m declared[S]) Doubt() {
	var doubtful []int32
	for op := range m.ops {
		if c := &m.ops[op]; c.reads || c.overwrites {
			doubtful = append(doubtful, int32(op))
		}
	}
	for state := range int32(len(m.states)) {
		for _, op := range doubtful {
			if m.doubts++; m.doubts > maxDoubts {
				return
			}
			m.try(state, op)
		}
	}
}

// try takes a step that no search has asked for. If it fails that is nothing to
// speak of, and there is no step, unless it shows a wrong declaration or a limit has
// stopped it.
func (m *functional[S]) try(state, op int32) (x *step) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if f, ok := p.(*Failure); !ok || f.Cause != "" || f.misdeclared {
			panic(p)
		}
	}()
	return m.step(state, op)
}

// outcomes is what a step that is tried leads to, nothing if it fails.
func (m *functional[S]) outcomes(state, op int32) []State {
	m.doubts++
	if x := m.try(state, op); x != nil {
		return x.next
	}
	return nil
}

// Doubt implements Declaring: it also looks for operations of different parts that
// do not commute, or where one makes the other possible or impossible.
func (m parted[S]) Doubt() {
	m.declared.Doubt()
	m.doubts = 0
	for state := range int32(len(m.states)) {
		for a := range m.ops {
			for b := range m.ops {
				if m.doubts++; m.doubts > maxDoubts {
					return
				}
				if m.ops[a].part != m.ops[b].part {
					m.doubt(state, int32(a), int32(b))
				}
			}
		}
	}
}

// doubt fails if it matters to b in a state whether a happens before it.
func (m parted[S]) doubt(state, a, b int32) {
	alone := m.outcomes(state, b)
	for _, s := range m.outcomes(state, a) {
		after := m.outcomes(numberOf(s), b)
		if happens, still := len(alone) > 0, len(after) > 0; happens == still && (!happens || m.commute(alone, after, a)) {
			continue
		}
		m.mu.Lock()
		err := fmt.Errorf("%s: partition parts %v and %v, but what the second one does depends on whether the first one happened before it, in state %s",
			m.Name, m.ops[a].of, m.ops[b].of, m.textOf(state))
		m.mu.Unlock()
		panic(&Failure{Err: err, misdeclared: true})
	}
}

// commute says whether a leads from states without it to some that are there with
// it.
func (m parted[S]) commute(without, with []State, a int32) bool {
	for _, s := range without {
		for _, t := range m.outcomes(numberOf(s), a) {
			for _, w := range with {
				if numberOf(t) == numberOf(w) {
					return true
				}
			}
		}
	}
	return false
}
