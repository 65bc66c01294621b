package fallback

import (
	"slices"

	"clew/models"
)

// Space is the states that a search meets, numbered, with a memo of which
// states each operation leads to from each state: the model's Step runs once
// for every pair.
type Space struct {
	model  models.Model
	each   models.Branching // the model, if a step of it may have very many outcomes
	weighs models.Weighing  // the model, if its states stand for more than their numbers
	goOn   func() bool      // unless nil, asked now and then within a step
	states []models.State
	byHash map[uint64][]int32
	next   map[uint64][]int32 // by state<<32 | class: the states that the class's operation leads to
	ops    []models.Op        // by class
	reads  []bool             // by class: it can never change a state
	blind  []bool             // by class: it overwrites
	fixes  []bool             // by class: it leads to one state, whatever was before
	buffer []models.State
	bytes  int64 // about how many bytes were added since it was last asked
	work   int   // likewise, the work that was done

	// The first states have a table instead, by state and class: a state,
	// unknownStep, noStep or, if neither says it, manySteps.
	table []int32
	few   int32   // how many states have it
	self  []int32 // self[n] is n
}

const (
	unknownStep int32 = -1 - iota
	noStep
	manySteps
)

// maxTable bounds the entries of the table.
const maxTable = 1 << 16

// NewSpace also classes the operations: rows of equal meaning have one class.
func NewSpace(ops *models.Operations) (s *Space, class []int32) {
	s = &Space{model: ops.Model, byHash: map[uint64][]int32{}, next: map[uint64][]int32{}}
	s.each, _ = ops.Model.(models.Branching)
	s.weighs, _ = ops.Model.(models.Weighing)
	classes := map[models.Op]int32{}
	class = make([]int32, ops.Len())
	for i := range class {
		op := ops.Op(int32(i))
		c, ok := classes[op]
		if !ok {
			c = int32(len(s.ops))
			classes[op] = c
			s.ops = append(s.ops, op)
			s.reads = append(s.reads, !s.model.Mutates(op))
			overwriting, ok := s.model.(models.Overwriting)
			blind := ok && overwriting.Overwrites(op)
			_, register := s.model.(models.SingleValue)
			s.blind = append(s.blind, blind)
			s.fixes = append(s.fixes, blind || register && op.Kind != models.FailedCAS)
		}
		class[i] = c
	}
	s.few = int32(maxTable / max(len(s.ops), 1))
	s.bytes = 150 * int64(len(s.ops))
	return s, class
}

// Number is the number of a state.
func (s *Space) Number(state models.State) int32 {
	s.work += numberWork + len(state)
	h := hashState(state)
	for _, n := range s.byHash[h] {
		if slices.Equal(s.states[n], state) {
			return n
		}
	}
	n := int32(len(s.states))
	s.states = append(s.states, state)
	s.self = append(s.self, n)
	if n < s.few {
		for range s.ops {
			s.table = append(s.table, unknownStep)
		}
		s.bytes += 8 * int64(len(s.ops))
	}
	s.byHash[h] = append(s.byHash[h], n)
	s.bytes += 150 + 4*int64(len(state))
	if s.weighs != nil {
		s.bytes += s.weighs.Weight(state)
	}
	return n
}

// Step is the states that a class's operation leads to from a state, each once.
func (s *Space) Step(state, class int32) []int32 {
	if state >= s.few {
		return s.lookUp(state, class)
	}
	at := int(state)*len(s.ops) + int(class)
	switch to := s.table[at]; to {
	case noStep:
		return nil
	case unknownStep:
		next := s.lookUp(state, class)
		switch len(next) {
		case 0:
			s.table[at] = noStep
		case 1:
			s.table[at] = next[0]
		default:
			s.table[at] = manySteps
		}
		return next
	case manySteps:
		return s.lookUp(state, class)
	default:
		return s.self[to : to+1]
	}
}

// bytesPerAsking is how much new states may take before whoever searches is asked
// whether to go on.
const bytesPerAsking = 1 << 20

// Ask has goOn asked whenever the states have taken some more memory, within a
// step too: what Step returns after a no is good for nothing. It is to look at the
// limits, and at what is Spent.
func (s *Space) Ask(goOn func() bool) { s.goOn = goOn }

// mayGoOn asks if it is time to.
func (s *Space) mayGoOn() bool { return s.bytes < bytesPerAsking || s.goOn == nil || s.goOn() }

func (s *Space) lookUp(state, class int32) []int32 {
	key := uint64(uint32(state))<<32 | uint64(uint32(class))
	next, known := s.next[key]
	s.work += lookUpWork
	if known {
		return next
	}
	if s.each != nil {
		s.each.Outcomes(s.states[state], s.ops[class], func(to models.State) bool {
			next = append(next, s.Number(to))
			return s.mayGoOn()
		})
	} else {
		s.buffer = s.model.Step(s.buffer[:0], s.states[state], s.ops[class])
		for _, to := range s.buffer {
			if n := s.Number(to); !slices.Contains(next, n) {
				next = append(next, n)
			}
		}
	}
	s.next[key] = next
	s.bytes += 90 + 4*int64(len(next))
	s.mayGoOn()
	return next
}

// Spent is the number of bytes taken since Spent was last called.
func (s *Space) Spent() int64 {
	n := s.bytes
	s.bytes = 0
	return n
}

// The work of looking up a step that the table lacks, and a state.
const (
	lookUpWork = 5
	numberWork = 10
)

// worked is the work done since worked was last called.
func (s *Space) worked() int {
	n := s.work
	s.work = 0
	return n
}

// hashState is FNV-1a over the numbers of a state.
func hashState(state models.State) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range state {
		h = (h ^ uint64(uint32(x))) * 1099511628211
	}
	return h
}
