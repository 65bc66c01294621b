package models

import (
	"context"
	"fmt"

	"clew/internal/limits"
)

// Bounded is a model that holds memory of its own, or whose steps take long.
type Bounded interface {
	// Within bounds the steps to come. The function that it returns gives the memory back.
	Within(ctx context.Context, memory *limits.Budget) (release func())
}

// Declaring is a model of the caller's own that searches use as its author declares it. The
// author declares which operations change nothing, which overwrite, and which parts the
// state has. Every step of a search is compared with the declarations. A history that is
// not linearizable is decided again without them, because a search may never have stepped
// where they are wrong.
type Declaring interface {
	// Bare returns the model without the declarations. It has the same states.
	Bare() Model
	// Doubt looks for wrong declarations beyond the steps of searches, for a bounded time.
	// It panics with a Failure.
	Doubt()
}

// maxDoubts bounds the steps that Doubt takes.
const maxDoubts = 20_000

// Doubt implements Declaring. It tries the operations declared to read or to overwrite in
// the states that were met. That matters most for crashed reads, which no search ever steps
// on.
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

// try takes a step that no search has asked for. A step that fails is ignored and gives
// nil, unless it shows a wrong declaration or a limit has stopped it.
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

// outcomes returns what a tried step leads to, nothing if it fails.
func (m *functional[S]) outcomes(state, op int32) []State {
	m.doubts++
	if x := m.try(state, op); x != nil {
		return x.next
	}
	return nil
}

// Doubt implements Declaring. It also looks for operations of different parts that do not
// commute, or where one makes the other possible or impossible.
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

// doubt fails if the effect of b in a state depends on whether a happens before it.
func (m parted[S]) doubt(state, a, b int32) {
	alone := m.outcomes(state, b)
	for _, s := range m.outcomes(state, a) {
		after := m.outcomes(numberOf(s), b)
		if happens, still := len(alone) > 0, len(after) > 0; happens == still && (!happens || m.commute(alone, after, a)) {
			continue
		}
		m.mu.Lock()
		err := fmt.Errorf("%s: partition separates %v and %v, but the effect of the second depends on whether the first happened before it, in state %s",
			m.Name, m.ops[a].of, m.ops[b].of, m.textOf(state))
		m.mu.Unlock()
		panic(&Failure{Err: err, misdeclared: true})
	}
}

// commute says whether a leads from some state in without to some state in with.
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
