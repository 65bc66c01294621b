package configs

import "clew/fallback"

// # Local proofs
//
// Decides: whether a failure follows from the last operations before it alone.
//
// Precondition: the model has few states. A search that got stuck knows a
// linearization of what lies before the failing completion, however long that
// is. It would have to exhaust all the other ways to get there. Instead, it
// sweeps the frontier (frontier.go) over the last returns, from all states that
// any sequence of operations leads to. At the start, every open operation is
// both discharged and still usable, and no crashed one is used. These
// configurations make all others redundant that can occur there. If nothing
// that they lead to passes the failing completion, no configuration does.
//
// Complexity: that of the frontier over the few returns; the number of returns
// doubles until they show the failure, or until the steps are used up.

// maxStates is how many states a model may have for a local proof.
const maxStates = 64

// firstSpan is how many returns the first attempt looks at. Tests change it.
var firstSpan int32 = 32

// failsWithin says whether a local proof of at most the given number of steps
// shows that no configuration passes the k-th return.
func (m *transitions) failsWithin(k int32, steps int) bool {
	states := m.allStates()
	if states == 0 {
		return false
	}
	defer func(horizon int32) { m.horizon = horizon }(m.horizon)
	m.horizon = m.Ends[k]
	for span := firstSpan; steps > 0 && span < 4*k; span *= 2 {
		from := max(k-span, 0)
		before := m.Taken()
		s := newFrontierSearch(m)
		s.silent, s.maxSteps = true, steps
		for state := range states {
			s.start(from, state, s.anything(from))
		}
		failed := s.run(from, k+1)
		m.Give(m.Taken() - before)
		if failed == k {
			return true
		}
		steps -= s.steps
	}
	return false
}

// allStates returns how many states there are, or 0 if there are too many. They
// are numbered from 0 on.
func (m *transitions) allStates() int32 {
	m.Space.Number(m.Ops.Model.Init())
	for state := 0; state < m.Space.Met(); state++ {
		for class := range m.Space.Ops {
			m.Space.Step(int32(state), int32(class))
			if m.Space.Met() > maxStates {
				return 0
			}
		}
	}
	return int32(m.Space.Met())
}

// anything returns a configuration at the k-th return that makes all others
// with the same state redundant. An operation that began after the previous
// return cannot have been linearized yet.
func (m *transitions) anything(k int32) []uint64 {
	c := make([]uint64, m.width)
	for _, row := range m.OpenRows(k) {
		if k > 0 && m.Ops.Inv[row] < m.Ends[k-1] {
			fallback.SetBit(c, m.Slot[row])
		}
	}
	return c
}
