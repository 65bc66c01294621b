package fallback

import (
	"slices"

	"clew/models"
)

// Space numbers the states that a search meets, and remembers which states each
// operation leads to from each state. The model's Step runs once for every
// pair.
type Space struct {
	model  models.Model
	traits models.Traits
	goOn   func() bool // unless nil, asked now and then within a step
	States []models.State
	byHash []uint64    // open addressing over States: a hash, and 1 + a state, in half a word each; 0 is free
	next   Memo        // where the class's operation leads: a state, noStep, or manySteps less an index into many
	many   [][]int32   // the states of steps that lead to several
	Ops    []models.Op // by class
	Reads  []bool      // by class: it can never change a state
	Blind  []bool      // by class: it overwrites
	Fixes  []bool      // by class: it leads to one state, whatever was before
	buffer []models.State
	bytes  int64 // about how many bytes were added since it was last asked
	work   int   // how much work was done since it was last asked

	// The first states have a table before next, by state and class. unknownStep
	// stands for a step that was not asked for yet.
	table []int32
	few   int32   // how many states have it
	self  []int32 // self[n] is n
}

const (
	unknownStep int32 = -1 - iota
	noStep
	manySteps
)

// The table has at most maxTable entries, and sparseTable if there are more than fewClasses: most entries of a state would
// never be asked for, and making room for them takes longer than looking up those that are.
const (
	maxTable    = 1 << 19
	sparseTable = 1 << 16
	fewClasses  = 1 << 10
)

// NewSpace also classes the operations: rows of equal meaning have one class.
func NewSpace(ops *models.Operations) (s *Space, class []int32) {
	s = &Space{model: ops.Model, traits: *ops.Model.Traits()}
	classes := make([]int32, minMemo) // open addressing over s.Ops: 1 + a class; 0 is free
	class = make([]int32, ops.Len())
	for i := range class {
		op := ops.Op(int32(i))
		at := s.classAt(classes, op)
		c := classes[at] - 1
		if c < 0 {
			c = int32(len(s.Ops))
			s.Ops = append(s.Ops, op)
			if classes[at] = c + 1; 2*len(s.Ops) > len(classes) {
				classes = make([]int32, 2*len(classes))
				for n, op := range s.Ops {
					classes[s.classAt(classes, op)] = int32(n) + 1
				}
			}
			s.Reads = append(s.Reads, !s.model.Mutates(op))
			blind := s.traits.Overwrites != nil && s.traits.Overwrites(op)
			s.Blind = append(s.Blind, blind)
			s.Fixes = append(s.Fixes, blind || s.traits.IsRegister && op.Kind != models.FailedCAS)
		}
		class[i] = c
	}
	if s.few = int32(maxTable / max(len(s.Ops), 1)); len(s.Ops) > fewClasses {
		s.few = int32(sparseTable / len(s.Ops))
	}
	s.bytes = 150 * int64(len(s.Ops))
	return s, class
}

// classAt returns the place of an operation's class, or the free place where it belongs.
func (s *Space) classAt(classes []int32, op models.Op) int {
	h := (uint64(uint32(op.A))<<32 | uint64(uint32(op.B)) ^ uint64(op.Kind)<<24) * 0x9e3779b97f4a7c15
	i := int(h>>32) & (len(classes) - 1)
	for classes[i] != 0 && s.Ops[classes[i]-1] != op {
		i = (i + 1) & (len(classes) - 1)
	}
	return i
}

// Number returns the number of a state.
func (s *Space) Number(state models.State) int32 {
	if s.traits.StepNumber != nil {
		s.meet(state[0])
		return state[0]
	}
	s.work += NumberWork + len(state)
	if 2*len(s.States) >= len(s.byHash) {
		s.byHash = Doubled(s.byHash)
	}
	h, mask := hashState(state), uint32(len(s.byHash)-1)
	at := h & mask
	for ; s.byHash[at] != 0; at = (at + 1) & mask {
		if n := int32(uint32(s.byHash[at])) - 1; uint32(s.byHash[at]>>32) == h && slices.Equal(s.States[n], state) {
			return n
		}
	}
	n := int32(len(s.States))
	s.States = append(s.States, state)
	s.byHash[at] = uint64(h)<<32 | uint64(n+1)
	s.bytes += 150 + 4*int64(len(state))
	if s.traits.Weight != nil {
		s.bytes += s.traits.Weight(state)
	}
	s.meet(n)
	return n
}

// meet makes room for the states up to n.
func (s *Space) meet(n int32) {
	for m := int32(len(s.self)); m <= n; m++ {
		s.self = append(s.self, m)
		if m < s.few {
			for range s.Ops {
				s.table = append(s.table, unknownStep)
			}
			s.bytes += 8 * int64(len(s.Ops))
		}
	}
}

// Met returns how many states there are so far.
func (s *Space) Met() int { return len(s.self) }

// Step returns the states that a class's operation leads to from a state, each once.
func (s *Space) Step(state, class int32) []int32 {
	switch to := s.step(state, class); {
	case to >= 0:
		return s.self[to : to+1]
	case to == noStep:
		return nil
	default:
		return s.many[manySteps-to]
	}
}

// step returns a step as next stores it.
func (s *Space) step(state, class int32) int32 {
	if at := int(state)*len(s.Ops) + int(class); at < len(s.table) {
		to := s.table[at]
		if to == unknownStep {
			to = s.lookUp(state, class)
			s.table[at] = to
		}
		return to
	}
	if s.traits.Fits != nil {
		if possible, same := s.traits.Fits(s.States[state], s.Ops[class]); !possible {
			return noStep
		} else if same {
			return state
		}
	}
	return s.lookUp(state, class)
}

// Fits says whether a class's operation can happen in a state, and whether it then leaves that as it is.
func (s *Space) Fits(state, class int32) (possible, same bool) {
	if s.traits.Fits != nil && int(state) >= int(s.few) {
		return s.traits.Fits(s.States[state], s.Ops[class])
	}
	to := s.step(state, class)
	return to != noStep, to == state
}

// BytesPerAsking is how much memory new states may take before the search is
// asked whether to go on.
const BytesPerAsking = 1 << 20

// Ask lets the space call goOn whenever the states have taken some more memory,
// even within a step. After goOn has returned false, what Step returns is useless.
// goOn should look at the limits, and at what Spent returns.
func (s *Space) Ask(goOn func() bool) { s.goOn = goOn }

// mayGoOn calls goOn if it is time to.
func (s *Space) mayGoOn() bool { return s.bytes < BytesPerAsking || s.goOn == nil || s.goOn() }

// lookUp returns a step as next stores it.
func (s *Space) lookUp(state, class int32) int32 {
	to, known := s.next.Get(state, class)
	s.work += lookUpWork
	if known {
		return to
	}
	if s.traits.StepNumber != nil {
		s.work += NumberWork
		if to = s.traits.StepNumber(state, s.Ops[class]); to < 0 {
			to = noStep
		} else {
			s.meet(to)
		}
	} else {
		to = s.ask(state, class)
	}
	s.next.Put(state, class, to)
	s.bytes += memoBytes
	s.mayGoOn()
	return to
}

// ask calls the model's step.
func (s *Space) ask(state, class int32) int32 {
	var next []int32
	if s.traits.Outcomes != nil {
		s.traits.Outcomes(s.States[state], s.Ops[class], func(to models.State) bool {
			next = append(next, s.Number(to))
			return s.mayGoOn()
		})
	} else {
		s.buffer = s.model.Step(s.buffer[:0], s.States[state], s.Ops[class])
		if len(s.buffer) == 1 {
			return s.Number(s.buffer[0])
		}
		for _, to := range s.buffer {
			if n := s.Number(to); !slices.Contains(next, n) {
				next = append(next, n)
			}
		}
	}
	switch len(next) {
	case 0:
		return noStep
	case 1:
		return next[0]
	}
	s.many = append(s.many, next)
	s.bytes += 24 + 4*int64(len(next))
	return manySteps - int32(len(s.many)-1)
}

// Spent returns the number of bytes taken since it was last called.
func (s *Space) Spent() int64 {
	n := s.bytes
	s.bytes = 0
	return n
}

// The work of looking up a step that the table lacks, and the work of numbering
// a state.
const (
	lookUpWork = 5
	NumberWork = 10
)

// worked returns the work done since it was last called.
func (s *Space) worked() int {
	n := s.work
	s.work = 0
	return n
}

// hashState returns a hash of the numbers of a state.
func hashState(state models.State) uint32 {
	h := uint64(14695981039346656037)
	for _, x := range state {
		h = (h ^ h>>29 ^ uint64(uint32(x))) * 0xbf58476d1ce4e5b9
	}
	return uint32(h ^ h>>32)
}
