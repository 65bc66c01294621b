package porcupine

import (
	"context"
	"reflect"
	"sync"

	"clew/edn"
	"clew/models"
)

// numbered is a porcupine model for one partition. Its states and its operations
// are numbered. Searches share it. It is rarely asked twice for a step of a state and a class of
// operations.
type numbered struct {
	ctx   context.Context
	model Model
	calls []call // by class

	// What is known about each class if there are few states (see explore): it
	// never changes a state, it always leads to the same one, it is always
	// possible.
	reads, blind, total []bool

	mu      sync.Mutex // goroutines never call the model's functions at once, as in porcupine
	plain   bool       // nothing can change the states in place
	doubt   bool       // something may have changed one (inplace.go)
	states  []any
	origins []origin // by state
	byHash  table
	sets    bool // Equal does not mind the order of slices
	coarse  bool // Equal calls states equal whose contents have nothing to do with each other
	steps   cache
	init    models.State
	traits  models.Traits
}

// none is the state after an operation that cannot happen.
const none = -1

// newNumbered numbers the states and, for the time being, the operations by row.
func newNumbered(ctx context.Context, model Model, p *part) *numbered {
	m := &numbered{ctx: ctx, model: model, calls: p.calls}
	for i := range p.columns.A {
		p.columns.A[i] = int32(i)
	}
	first := model.Init()
	m.plain = first != nil && isPlain(reflect.TypeOf(first))
	m.doubt = !m.plain && !m.byContents()
	m.init, m.origins = models.State{m.number(first)}, []origin{{}}
	m.traits = models.Traits{
		StepNumber: m.lockedStep,
		Overwrites: func(op models.Op) bool { return m.blind != nil && m.blind[op.A] },
	}
	return m
}

// classify gives equal operations the same class.
func (m *numbered) classify(p *part) {
	m.calls = nil
	classes := make(map[call]int32, len(p.calls))
	for i, c := range p.calls {
		class := int32(len(m.calls))
		// Values that == does not compare have a class of their own.
		if isComparable(c.input) && isComparable(c.output) {
			if known, ok := classes[c]; ok {
				p.columns.A[i] = known
				continue
			}
			classes[c] = class
		}
		m.calls = append(m.calls, c)
		p.columns.A[i] = class
	}
	if len(m.calls) == len(p.calls) {
		return
	}
	m.steps = cache{}
	for i := range m.origins {
		m.origins[i].class = p.columns.A[m.origins[i].class]
	}
}

// isComparable says whether == compares a value with others.
func isComparable(x any) bool { return x == nil || reflect.ValueOf(x).Comparable() }

// fewStates is how many states a new one is compared with, whatever their contents: all, as long as
// there are so few. This shows whether Equal goes by contents.
const fewStates = 64

// number returns the number of a state.
func (m *numbered) number(state any) int32 {
	n, h := int32(len(m.states)), m.hash(state)
	for at := m.byHash.first(h); at >= 0; at = m.byHash.after(at) {
		if m.same(state, m.states[at]) {
			return at
		}
	}
	if m.byContents() && (m.coarse || n < fewStates || n&(n-1) == 0) {
		for old := n - 1; old >= max(0, n-fewStates); old-- {
			if m.model.Equal(state, m.states[old]) {
				m.coarsen(state, m.states[old])
				return old
			}
		}
	}
	m.byHash.add(h)
	m.states = append(room(m.states, 1), state)
	return n
}

func (m *numbered) same(a, b any) bool {
	if m.model.Equal == nil {
		return a == b
	}
	return m.model.Equal(a, b)
}

// hash returns the hash of a state. A Hash of the model serves its Equal. We are faster with states that == compares.
func (m *numbered) hash(state any) uint64 {
	switch {
	case m.model.Equal == nil:
		return hashOfComparable(state)
	case m.model.Hash != nil:
		return m.model.Hash(state)
	}
	hash, all := contents(state, m.sets)
	m.doubt = m.doubt || !all
	return hash
}

// byContents says whether states are distinguished by what they hold.
func (m *numbered) byContents() bool { return m.model.Equal != nil && m.model.Hash == nil }

// coarsen looks for what two states have in common that are equal, and have different contents.
func (m *numbered) coarsen(a, b any) {
	m.doubt = true
	x, _ := contents(a, true)
	y, _ := contents(b, true)
	if m.coarse || m.sets || x != y {
		m.coarse = true
		return
	}
	m.sets, m.byHash = true, table{}
	for _, state := range m.states {
		m.byHash.add(m.hash(state))
	}
}

// equal says whether two numbers are those of equal states.
func (m *numbered) equal(a, b int32) bool {
	return a == b || m.coarse && m.model.Equal(m.states[a], m.states[b])
}

// lockedStep is models.Traits.StepNumber. Searches may run side by side.
func (m *numbered) lockedStep(state int32, op models.Op) int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.step(state, op)
}

// step returns the state after an operation, or none.
func (m *numbered) step(state int32, op models.Op) int32 {
	known := m.steps.at(state, op.A)
	if known.state == state+1 && known.class == op.A {
		return known.to
	}
	to := int32(none)
	c := &m.calls[op.A]
	if ok, next := m.model.StepContext(m.ctx, m.states[state], c.input, c.output); ok {
		m.doubt = m.doubt || !m.isAsMade(state)
		if to = m.number(next); !m.plain && int(to) == len(m.origins) {
			m.origins = append(room(m.origins, 1), origin{state, op.A})
		}
	}
	*m.steps.put(state, op.A) = cached{state + 1, op.A, to}
	return to
}

// explore goes from state to state by all classes of operations. If there are
// few states, it then knows all about every class, and returns true.
func (m *numbered) explore() bool {
	for state := int32(0); int(state) < len(m.states); state++ {
		for class := range m.calls {
			m.step(state, models.Op{A: int32(class)})
			if len(m.states) > fewStates || m.ctx.Err() != nil {
				return false
			}
		}
	}
	n := len(m.calls)
	m.reads, m.blind, m.total = make([]bool, n), make([]bool, n), make([]bool, n)
	for class := range m.calls {
		reads, blind, total := true, true, true
		op := models.Op{A: int32(class)}
		first := m.step(0, op)
		for state := range int32(len(m.states)) {
			to := m.step(state, op)
			reads = reads && (to == none || to == state)
			blind = blind && to == first
			total = total && to != none
		}
		m.reads[class], m.blind[class], m.total[class] = reads, blind && total && !reads, total
	}
	return true
}

// Init implements models.Model.
func (m *numbered) Init() models.State { return m.init }

// Step implements models.Model.
func (m *numbered) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if to := m.lockedStep(s[0], op); to != none {
		return append(dst, models.State{to})
	}
	return dst
}

// Mutates implements models.Model.
func (m *numbered) Mutates(op models.Op) bool { return m.reads == nil || !m.reads[op.A] }

// Traits implements models.Model.
func (m *numbered) Traits() *models.Traits { return &m.traits }

// Why implements models.Model. Nothing calls it.
func (m *numbered) Why(models.State, models.Op) string { return "its step returns false" }

// Record implements models.Model. Nothing calls it.
func (m *numbered) Record(models.State) edn.Value { return edn.Value{} }
