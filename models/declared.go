package models

import (
	"errors"
	"fmt"
)

// maxDoubts bounds the steps that Doubt takes.
const maxDoubts = 20_000

// doubt is Declared.Doubt. It tries the operations declared to read or to overwrite in the
// states that were met. That matters most for crashed reads, which no search ever steps on.
func (m *functional[S]) doubt() {
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
	if m.Partition != nil {
		m.doubtParts()
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
		if f, ok := p.(*Failure); !ok || f.Cause != "" || f.misdeclared || errors.Is(f, ErrExited) {
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

// doubtParts looks for operations of different parts that do not commute, or where one makes
// the other possible or impossible.
func (m *functional[S]) doubtParts() {
	m.doubts = 0
	for state := range int32(len(m.states)) {
		for a := range m.ops {
			for b := range m.ops {
				if m.doubts++; m.doubts > maxDoubts {
					return
				}
				if m.ops[a].part != m.ops[b].part {
					m.doubtPair(state, int32(a), int32(b))
				}
			}
		}
	}
}

// doubtPair fails if the effect of b in a state depends on whether a happens before it.
func (m *functional[S]) doubtPair(state, a, b int32) {
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
func (m *functional[S]) commute(without, with []State, a int32) bool {
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
