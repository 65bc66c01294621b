package oracle

import (
	"fmt"
	"math/bits"
	"slices"

	"clew/models"
)

// Spec is a sequential specification. States are strings, with any contents.
type Spec struct {
	Init string
	// Step appends the states to which an operation can lead, or none if it cannot happen.
	Step func(dst []string, op models.Op, state string) []string
}

// Set is a set of rows.
type Set uint32

// MaxOperations bounds the operations of one search: its sets are bits of a uint32.
const MaxOperations = 32

// SetOf returns the set of some rows.
func SetOf(rows []models.Row) Set {
	s := Set(0)
	for _, row := range rows {
		s |= 1 << row
	}
	return s
}

// Has says whether a row is in the set.
func (s Set) Has(row models.Row) bool { return s>>row&1 != 0 }

// Rows returns the rows of the set, in ascending order.
func (s Set) Rows() []models.Row {
	var rows []models.Row
	for ; s != 0; s &= s - 1 {
		rows = append(rows, models.Row(s.first()))
	}
	return rows
}

func (s Set) first() int { return bits.TrailingZeros32(uint32(s)) }

// History holds operations and what they mean. Its methods about a prefix concern
// the events before some event: operations that return later are optional there.
type History struct {
	*models.Columns
	Spec
	// Plain searches without remembering where it has been.
	Plain bool

	earlier []Set // by row: the operations that returned before it began
	states  []string
	number  map[string]int32 // by state
	steps   [][]int32        // by state and row: nil, or the states after it
	seen    map[place]bool
	dst     []string
}

// place says where a search is: what has happened, and the state's number.
type place struct {
	done  Set
	state int32
}

// New returns a history with the operations of columns.
func New(c *models.Columns, spec Spec) *History { return &History{Columns: c, Spec: spec} }

// All returns the set of all operations.
func (h *History) All() Set { return Set(1<<h.Len() - 1) }

// prepare orders the operations by real time.
func (h *History) prepare() {
	n := h.Len()
	if n > MaxOperations {
		panic(fmt.Sprintf("oracle: %d operations are too many", n))
	}
	if h.number != nil {
		return
	}
	h.earlier = make([]Set, n)
	for i, inv := range h.Inv {
		for j, res := range h.Res {
			if res < inv {
				h.earlier[i] |= 1 << j
			}
		}
	}
	h.number, h.seen = map[string]int32{}, map[place]bool{}
}

var unknown [MaxOperations][]int32 // steps of a state that is new

// numbered returns the number of a state.
func (h *History) numbered(state string) int32 {
	n, known := h.number[state]
	if !known {
		n = int32(len(h.states))
		h.number[state] = n
		h.states = append(h.states, state)
		h.steps = append(h.steps, unknown[:h.Len()]...)
	}
	return n
}

// step returns the states after a row.
func (h *History) step(state int32, row models.Row) []int32 {
	at := int(state)*h.Len() + int(row)
	if next := h.steps[at]; next != nil && !h.Plain {
		return next
	}
	h.dst = h.Step(h.dst[:0], h.Op(row), h.states[state])
	next := make([]int32, len(h.dst))
	for i, s := range h.dst {
		next[i] = h.numbered(s)
	}
	h.steps[at] = next
	return next
}

// A search is one run over some operations of a prefix.
type search struct {
	*History
	all     Set   // what may happen
	earlier []Set // by row: the operations that must happen before it
	// found says whether the search is over.
	found    func(done Set, state int32) bool
	remember bool
	order    []models.Row
}

// search returns a search of the operations of a set with the events before end.
func (h *History) search(end int32, ops Set) (s *search, must Set) {
	h.prepare()
	clear(h.seen)
	s = &search{History: h, earlier: h.earlier, remember: !h.Plain}
	for row := range ops.each {
		if h.Inv[row] < end {
			s.all |= 1 << row
		}
		if h.Res[row] < end {
			must |= 1 << row
		}
	}
	return s, must
}

// each calls f with the rows of the set.
func (s Set) each(f func(row models.Row) bool) {
	for ; s != 0 && f(models.Row(s.first())); s &= s - 1 {
	}
}

// run searches from the initial state.
func (s *search) run() bool { return s.from(0, s.numbered(s.Init)) }

// from tries to go on after done has happened and led to a state.
func (s *search) from(done Set, state int32) bool {
	if s.found(done, state) {
		return true
	}
	if s.remember {
		at := place{done, state}
		if s.seen[at] {
			return false
		}
		s.seen[at] = true
	}
	for rest := s.all &^ done; rest != 0; rest &= rest - 1 {
		row := models.Row(rest.first())
		if s.earlier[row]&s.all&^done != 0 {
			continue
		}
		for _, next := range s.step(state, row) {
			s.order = append(s.order, row)
			if s.from(done|1<<row, next) {
				return true
			}
			s.order = s.order[:len(s.order)-1]
		}
	}
	return false
}

// Order returns a linearization of the operations of a set with the events before
// end, if there is one.
func (h *History) Order(end int32, ops Set) ([]models.Row, bool) {
	s, must := h.search(end, ops)
	s.found = func(done Set, _ int32) bool { return must&^done == 0 }
	ok := s.run()
	return s.order, ok
}

// Linearizable says whether the operations of a set are linearizable with the
// events before end.
func (h *History) Linearizable(end int32, ops Set) bool {
	_, ok := h.Order(end, ops)
	return ok
}

// Orders calls f with every linearization of all operations, with crashed
// operations and without. The order is valid only during the call.
func (h *History) Orders(f func(order []models.Row)) {
	s, must := h.search(h.Events, h.All())
	s.remember = false
	s.found = func(done Set, _ int32) bool {
		if must&^done == 0 {
			f(s.order)
		}
		return false
	}
	s.run()
}

// FirstFailing returns the first failing completion, an event, or -1.
func (h *History) FirstFailing() int32 {
	if h.Linearizable(h.Events, h.All()) {
		return -1
	}
	for _, end := range h.completions() {
		if !h.Linearizable(end+1, h.All()) {
			return end
		}
	}
	panic("oracle: the whole history and its longest prefix differ")
}

// completions returns their events, in order.
func (h *History) completions() []int32 {
	ends := slices.DeleteFunc(slices.Clone(h.Res), func(res int32) bool { return res == models.Open })
	slices.Sort(ends)
	return ends
}

// reaches says whether, with the events before end, some order of exactly the
// operations of goal leads to a wanted state. The order ends in last, if that
// is not negative.
func (h *History) reaches(end int32, goal Set, last models.Row, wanted func(state string) bool) bool {
	s, must := h.search(end, h.All())
	if must&^goal != 0 || goal&^s.all != 0 || last >= 0 && !goal.Has(last) {
		return false
	}
	s.all = goal
	if last >= 0 {
		s.earlier = slices.Clone(h.earlier)
		s.earlier[last] = goal &^ (1 << last)
	}
	s.found = func(done Set, state int32) bool { return done == goal && wanted(h.states[state]) }
	return s.run()
}
