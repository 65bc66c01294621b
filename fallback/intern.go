package fallback

import (
	"slices"

	"clew/models"
)

// space is the states that a search meets, numbered, with a memo of where each
// operation leads from each: a model's step runs once for every pair.
type space struct {
	model  models.Model
	states []models.State
	byHash map[uint64][]int32
	next   map[uint64][]int32 // by state<<32 | class: the states that the class's operation leads to
	ops    []models.Op        // by class
	buffer []models.State
	bytes  int64 // what all this holds, about, since it was last asked
}

// newSpace also classes the operations: rows of equal meaning have one class.
func newSpace(ops *models.Operations) (s *space, class []int32) {
	s = &space{model: ops.Model, byHash: map[uint64][]int32{}, next: map[uint64][]int32{}}
	classes := map[models.Op]int32{}
	class = make([]int32, ops.Len())
	for i := range class {
		op := ops.Op(int32(i))
		c, ok := classes[op]
		if !ok {
			c = int32(len(s.ops))
			classes[op] = c
			s.ops = append(s.ops, op)
		}
		class[i] = c
	}
	return s, class
}

// number is the number of a state.
func (s *space) number(state models.State) int32 {
	h := hash([]models.State{state})
	for _, n := range s.byHash[h] {
		if slices.Equal(s.states[n], state) {
			return n
		}
	}
	n := int32(len(s.states))
	s.states = append(s.states, state)
	s.byHash[h] = append(s.byHash[h], n)
	s.bytes += 100 + 4*int64(len(state))
	return n
}

// step is the states that a class's operation leads to from a state, each once.
func (s *space) step(state, class int32) []int32 {
	key := uint64(uint32(state))<<32 | uint64(uint32(class))
	next, known := s.next[key]
	if known {
		return next
	}
	s.buffer = s.model.Step(s.buffer[:0], s.states[state], s.ops[class])
	for _, to := range s.buffer {
		if n := s.number(to); !slices.Contains(next, n) {
			next = append(next, n)
		}
	}
	s.next[key] = next
	s.bytes += 60 + 4*int64(len(next))
	return next
}

// spent is the bytes taken since it was last asked.
func (s *space) spent() int64 {
	n := s.bytes
	s.bytes = 0
	return n
}
