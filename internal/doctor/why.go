package doctor

import (
	"clew/edn"
	"clew/jepsen"
)

// Reasons why a mutant stays linearizable, if they are plain.
const (
	whyEqual   = "the two answers are equal"
	whyOverlap = "the two operations overlap"
	whyWriter  = "another operation with that value overlaps it"
	whyCrashed = "a crashed operation with that value may take effect at any time"
	whyAgain   = "that value came back later"
	whyUnseen  = "no answer shows its value"
	whyTwice   = "other operations have the same value"
)

// why returns a plain reason why a mutant stayed linearizable, or "". The reasons are about values, whatever the model
// makes of them. So they are likely, and not certain.
func (m *mutant) why() string {
	switch {
	case m.equal:
		return whyEqual
	case m.way == lost:
		return m.of.whyLost(m.a.op)
	case m.way == exchanged && m.of.overlap(m.a.op, m.other.op):
		return whyOverlap
	case m.way == exchanged:
		return ""
	}
	h := m.of.h
	reason := ""
	h.Values.Leaves(m.other.value, maxLeaves, func(class edn.ID) {
		for _, op := range m.of.writers[class] {
			switch inv := h.Invocation[op]; {
			case op == m.a.op || inv > h.Completion[m.a.op]:
			case h.Status[op] == jepsen.Crashed:
				reason = whyCrashed
			case m.of.overlap(op, m.a.op):
				reason = whyWriter
			case reason == "" && inv > h.Completion[m.other.op]:
				reason = whyAgain
			}
		}
	})
	return reason
}

func (s *subject) whyLost(op jepsen.Operation) string {
	h := s.h
	reason := ""
	h.Values.Leaves(h.Value[h.Invocation[op]], maxLeaves, func(class edn.ID) {
		switch {
		case !s.shown[class]:
			reason = whyUnseen
		case len(s.writers[class]) > 1 && reason == "":
			reason = whyTwice
		}
	})
	return reason
}

// overlap says whether two operations overlap.
func (s *subject) overlap(a, b jepsen.Operation) bool {
	ends := func(op jepsen.Operation) jepsen.Event {
		if s.h.Status[op] == jepsen.Crashed {
			return jepsen.Event(len(s.h.Type))
		}
		return s.h.Completion[op]
	}
	return s.h.Invocation[a] < ends(b) && s.h.Invocation[b] < ends(a)
}
