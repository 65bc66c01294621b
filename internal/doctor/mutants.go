package doctor

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// way is a way to change a history.
type way int

const (
	exchanged way = iota
	replaced
	stale
	lost
	ways // how many there are
)

// wayWords name the ways, and say what they do.
var wayWords = [ways]struct{ name, does string }{
	exchanged: {"exchanged", "two operations return each other's answers"},
	replaced:  {"replaced", "an operation returns the answer of another one"},
	stale:     {"stale", "an operation returns what had been seen before, and was replaced before it began"},
	lost:      {"lost", "an operation that succeeded did not change anything"},
}

// mutant is a history with a change.
type mutant struct {
	way   way
	of    *subject
	a     answer // what changes; for lost only its op
	other answer // the answer instead; for lost none
	equal bool   // the two answers are equal, so the change is none
}

// history returns the changed history. It shares everything else with that of the subject.
func (m *mutant) history() *jepsen.History {
	h := *m.of.h
	if m.way == lost {
		h.Type, h.Status = slices.Clone(h.Type), slices.Clone(h.Status)
		h.Type[h.Completion[m.a.op]], h.Status[m.a.op] = jepsen.Fail, jepsen.Failed
		return &h
	}
	h.Value = slices.Clone(h.Value)
	answers := func(a answer, value edn.ID) {
		e := h.Completion[a.op]
		h.Value[e] = put(h.Values, h.Value[e], a.path, value)
	}
	answers(m.a, m.other.value)
	if m.way == exchanged {
		answers(m.other, m.a.value)
	}
	return &h
}

// String says what is changed.
func (m *mutant) String() string {
	h := m.of.h
	name := h.Name(m.a.op)
	said := ""
	switch m.way {
	case exchanged:
		said = fmt.Sprintf("%s and %s return each other's answers", name, h.Name(m.other.op))
	case replaced:
		said = fmt.Sprintf("%s returns the answer of %s", name, h.Name(m.other.op))
	case stale:
		said = fmt.Sprintf("%s returns the older answer of %s", name, h.Name(m.other.op))
	case lost:
		said = name + " did not happen"
	}
	return m.of.inKey(said)
}

// draws chooses mutants. It is deterministic.
type draws struct {
	*rand.Rand
	subjects []*subject
	weights  [ways][]int // by subject: how many candidates there are up to it
	made     map[[5]int]bool
	turn     way
}

func newDraws(subjects []*subject, seed uint64) *draws {
	d := &draws{Rand: rand.New(rand.NewPCG(seed, 1)), subjects: subjects, made: map[[5]int]bool{}}
	for w := range ways {
		sum := 0
		for _, s := range subjects {
			if sum += len(s.answers); w == lost {
				sum += len(s.updates) - len(s.answers)
			}
			d.weights[w] = append(d.weights[w], sum)
		}
	}
	return d
}

// tries bounds the candidates that are drawn for one mutant.
const tries = 40

// next returns another mutant, each way in its turn. It returns nil if no other one is found.
func (d *draws) next() *mutant {
	for range ways {
		w := d.turn
		d.turn = (d.turn + 1) % ways
		for range tries {
			if m := d.draw(w); m != nil && !d.made[d.id(m)] {
				d.made[d.id(m)] = true
				return m
			}
		}
	}
	return nil
}

// id returns what tells a mutant from others.
func (d *draws) id(m *mutant) [5]int {
	at := slices.Index(d.subjects, m.of)
	if m.way == exchanged && m.other.op < m.a.op {
		return [5]int{int(m.way), at, int(m.other.op), int(m.a.op), 0}
	}
	other := int(m.other.op)
	if m.way == replaced || m.way == stale { // whichever operation gave this answer
		other = int(m.of.h.Values.Same(m.other.value))
		return [5]int{int(replaced), at, int(m.a.op), other, 1}
	}
	return [5]int{int(m.way), at, int(m.a.op), other, 0}
}

// draw returns a mutant, or nil if what it drew cannot be changed in this way.
func (d *draws) draw(w way) *mutant {
	sums := d.weights[w]
	if len(sums) == 0 || sums[len(sums)-1] == 0 {
		return nil
	}
	n := d.IntN(sums[len(sums)-1])
	i, _ := slices.BinarySearch(sums, n+1)
	s := d.subjects[i]
	if w == lost {
		return &mutant{way: w, of: s, a: answer{op: s.updates[d.IntN(len(s.updates))]}}
	}
	at := d.IntN(len(s.answers))
	group := s.groups[s.groupOf[at]]
	if w == stale {
		return s.stale(at, group)
	}
	if len(group) == 1 {
		return nil // nothing else was asked the same
	}
	m := &mutant{way: w, of: s, a: s.answers[at], equal: true}
	for i := 0; i < tries && m.equal; i++ {
		other := group[d.IntN(len(group)-1)]
		if other == at {
			other = group[len(group)-1]
		}
		m.other = s.answers[other]
		m.equal = s.sameAnswer(m.a, m.other)
	}
	return m
}

func (s *subject) sameAnswer(a, b answer) bool {
	return s.h.Values.Same(a.value) == s.h.Values.Same(b.value)
}

// stale returns the mutant in which an answer becomes the last different one that was seen before its operation began,
// or nil if there is none.
func (s *subject) stale(at int, group []int) *mutant {
	a := s.answers[at]
	latest := jepsen.Event(jepsen.None)
	m := &mutant{way: stale, of: s, a: a}
	for _, i := range group {
		b := s.answers[i]
		if end := s.h.Completion[b.op]; end < s.h.Invocation[a.op] && end > latest && !s.sameAnswer(a, b) {
			latest, m.other = end, b
		}
	}
	if latest == jepsen.None {
		return nil
	}
	return m
}
