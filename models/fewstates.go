package models

import (
	"slices"
	"time"
)

// maxReached bounds the states of findVisibility, and maxSeen those that an operation sees one
// by one.
const (
	maxReached = 64
	maxSeen    = 4
)

// reached is what operations do in all states that they can lead to. It rests on steps
// alone, and on nothing that the model's author declares.
//
// An operation that leaves every state as it is makes nothing. Any other makes each state
// that it leads to, and sees each state in which it can happen. If it happens in all and
// leads to the same one, it sees none. Suppose that all operations have a linearization,
// and that the last one before o in it that makes anything is left in. Then o finds the
// state that it found before, by induction. visibility.go of package fallback needs this of
// values.
type reached struct{ makes, sees [][]Cell } // by call

// anyState is a cell that stands for each state. An operation that makes any state makes
// anyState too. One that sees many states sees anyState instead of them.
var anyState = Cell{0, -1}

func (r *reached) visibility() *Visibility {
	return &Visibility{
		Makes: func(dst []Cell, op Op) []Cell { return append(dst, r.makes[op.A]...) },
		Sees:  func(dst []Cell, op Op) ([]Cell, bool) { return append(dst, r.sees[op.A]...), false },
	}
}

// findVisibility is Traits.FindVisibility. Two states rule most models out: no call leads to
// the same state from both.
func (m *functional[S]) findVisibility(ops *Operations) *Visibility {
	calls := m.callsOf(ops)
	steps := make([][]*step, len(m.ops)) // by call and state
	several := make([]bool, len(m.ops))  // calls that do not lead to one state from all
	left := len(calls)
	states, all := m.reach(ops.Model.Init(), calls, maxDoubts, maxReachingOfCore, func(_ State, call int32, x *step) bool {
		steps[call] = append(steps[call], x)
		if !several[call] && (len(x.next) != 1 || !slices.Equal(x.next[0], steps[call][0].next[0])) {
			several[call] = true
			left--
		}
		return left > 0
	})
	if !all {
		return nil
	}
	r, overwrites := &reached{make([][]Cell, len(m.ops)), make([][]Cell, len(m.ops))}, false
	for _, call := range calls {
		overwrites = r.add(call, states, steps[call], !several[call]) || overwrites
	}
	if !overwrites {
		return nil
	}
	return r.visibility()
}

// callsOf returns the calls of some operations, each once.
func (m *functional[S]) callsOf(ops *Operations) (calls []int32) {
	in := make([]bool, len(m.ops))
	for _, call := range ops.A {
		if !in[call] {
			in[call] = true
			calls = append(calls, call)
		}
	}
	return calls
}

// These bound the time of reach, since a step of the caller's own may take long: before every search, and for the core of
// a failure, where a machine that pauses must not make the core larger.
const (
	maxReaching       = 50 * time.Millisecond
	maxReachingOfCore = 2 * time.Second
)

// reach takes the step of each call in each state that they can lead to from an initial one, and calls visit with it. all is false if
// there are more states than maxReached or more steps than a limit, if a step fails, if visit returns false, or if it
// takes longer than the time given.
func (m *functional[S]) reach(init State, calls []int32, most int, longest time.Duration, visit func(s State, call int32, x *step) bool) (states []State, all bool) {
	start := time.Now()
	states = []State{init}
	known := map[int32]bool{numberOf(init): true}
	for i := 0; i < len(states); i++ {
		if (i+1)*len(calls) > most {
			return nil, false
		}
		for _, call := range calls {
			x := m.try(numberOf(states[i]), call)
			if x == nil || time.Since(start) > longest {
				return nil, false
			}
			for _, s := range x.next {
				if n := numberOf(s); !known[n] {
					known[n] = true
					states = append(states, s)
				}
			}
			if !visit(states[i], call, x) || len(states) > maxReached {
				return nil, false
			}
		}
	}
	return states, true
}

// maxKindSteps bounds the steps of findKinds, and leastForKinds the operations. A search of fewer takes no longer, and calls
// the model only as often as a person expects who looks at what it prints.
const (
	maxKindSteps  = 4096
	leastForKinds = 16
)

// findKinds is Traits.FindKinds. Calls that change none of the states that all calls can lead to are as good as
// declared to be reads. Those that lead from all of them to one state are as good as declared to overwrite.
func (m *functional[S]) findKinds(ops *Operations) {
	if m.traits.Declared != nil || ops.Len() < leastForKinds {
		return
	}
	calls, to := m.callsOf(ops), make([]State, len(m.ops))
	changes, several := make([]bool, len(m.ops)), make([]bool, len(m.ops))
	_, all := m.reach(ops.Model.Init(), calls, maxKindSteps, maxReaching, func(from State, call int32, x *step) bool {
		for _, s := range x.next {
			changes[call] = changes[call] || !slices.Equal(s, from)
			several[call] = several[call] || to[call] != nil && !slices.Equal(s, to[call])
			to[call] = s
		}
		several[call] = several[call] || len(x.next) == 0
		return true
	})
	if !all {
		return
	}
	for _, call := range calls {
		m.ops[call].reads, m.ops[call].overwrites = !changes[call], changes[call] && !several[call]
	}
}

// add adds a call with its step in each state and says whether it overwrites. toOne says
// that all the steps lead to one state.
func (r *reached) add(call int32, states []State, steps []*step, toOne bool) (overwrites bool) {
	var makes, sees []Cell
	changes, made := false, map[int32]bool{}
	for i, x := range steps {
		from := numberOf(states[i])
		if len(x.next) > 0 {
			sees = append(sees, Cell{0, from})
		}
		for _, s := range x.next {
			to := numberOf(s)
			changes = changes || to != from
			if !made[to] {
				made[to] = true
				makes = append(makes, Cell{0, to})
			}
		}
	}
	overwrites = toOne && changes
	if changes {
		r.makes[call] = append(makes, anyState)
	}
	switch {
	case overwrites:
	case len(sees) > maxSeen:
		r.sees[call] = []Cell{anyState}
	default:
		r.sees[call] = sees
	}
	return overwrites
}
