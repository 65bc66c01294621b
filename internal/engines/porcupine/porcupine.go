// Package porcupine has an engine of the general search that asks github.com/anishathalye/porcupine, see package fallback.
package porcupine

import (
	"cmp"
	"context"
	"slices"

	"github.com/anishathalye/porcupine"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Engine decides operations with github.com/anishathalye/porcupine, a
// depth-first search that remembers every configuration it has seen (Lowe's
// variant of Wing & Gong).
//
// Precondition: none. Complexity: exponential in the worst case. On ordinary
// linearizable histories time and memory grow with the square of the number of
// operations, since every remembered configuration holds a bit for each.
//
// Porcupine has no notion of crashed operations: every operation must be
// linearized before it returns. So a crashed one gets a return after everything
// else, and its step yields two outcomes: it happened, or it did not. The search
// runs over sets of states, as porcupine's own NondeterministicModel does. So a
// crashed operation that is linearized early does not branch: the states with and
// without it go on side by side. This is exact. A set is non-empty if and only if
// some choice of crashed operations leads there. A crashed operation that never
// happens can always be linearized last, as not having happened.
//
// A search that found nothing shows the first failing completion. The search
// linearizes any operation that began before the first return that it has not yet
// linearized. So if the operations up to just before return e have a
// linearization, it gets to a point at which e is the first such return. It gets
// past e only if the operations up to e have one. The furthest return that it
// reaches is the first failing completion.
//
// Porcupine can be neither cancelled nor bounded from outside. Our step can
// refuse. Once the context is done or the memory is used up it refuses everything,
// the search collapses, and its verdict is discarded. A set may have millions of
// states, so a step also looks at the limits on its way.
type Engine struct{}

// Name implements fallback.Engine.
func (Engine) Name() string { return "porcupine" }

// Decide implements fallback.Engine.
func (Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	s := newSearch(ctx, ops, lim)
	defer s.Release()
	n := int64(ops.Len())
	if s.Cause == "" && s.Take(n*(eventsBytes+s.entry)) {
		// Every completed operation is remembered at least once: if that does not
		// fit, there is no point in starting.
		s.Give(n * s.entry)
		s.run()
	}
	if s.panicked != nil {
		panic(s.panicked)
	}
	var order []models.Row
	if s.furthest != nil && s.Cause == "" {
		order = s.order(s.furthest)
	}
	switch {
	case s.furthest == nil:
		return fallback.Answer{Cause: s.Cause}
	case s.Cause != "":
		return fallback.Answer{Cause: s.Cause, Passed: int64(s.furthest.passed), Held: s.held, Work: s.Done()}
	case int(s.furthest.passed) < len(s.ends):
		return fallback.Answer{Verdict: jepsen.Invalid, Order: order, FailEvent: s.ends[s.furthest.passed], Work: s.Done()}
	}
	return fallback.Answer{Verdict: jepsen.Valid, Order: order, Work: s.Done()}
}

// The bytes that a remembered configuration and an operation's events cost
// besides the bits: porcupine's cache entry, map bucket and call stack, and our
// node.
const (
	entryBytes  = 220
	eventsBytes = 480
)

// search is one run. Its Cause makes it refuse to go on.
type search struct {
	fallback.Budget
	ops    *models.Operations
	traits *models.Traits
	entry  int64 // bytes of a remembered configuration

	ends     []int32 // the completions, in order
	stack    []*node // the linearization under test, porcupine's view of it
	returned []bool  // by event: it is the return of a row on the stack
	furthest *node   // the first node that passed most completions

	newest      *node // made by the last step
	newestBytes int64

	held     int64 // configurations
	panicked any
	exited   chan struct{} // closed if a step ends porcupine's goroutine
}

func newSearch(ctx context.Context, ops *models.Operations, lim fallback.Limits) *search {
	return &search{Budget: *fallback.NewBudget(ctx, lim), ops: ops, traits: ops.Model.Traits(), entry: int64(ops.Len())/8 + entryBytes}
}

// node is a step of the search. It holds the states after the step, canonically
// ordered, and how many completions it has passed: those before the first
// return that is not linearized.
type node struct {
	states []models.State
	parent *node
	row    int32
	passed int32
}

func (s *search) run() {
	root := &node{states: []models.State{s.ops.Model.Init()}}
	s.ends = fallback.Completions(s.ops)
	s.returned = make([]bool, s.ops.Events)
	s.stack, s.furthest = []*node{root}, root
	if len(s.ends) == 0 {
		return
	}
	events, decided := s.events(), make(chan struct{})
	s.exited = make(chan struct{})
	go func() {
		defer close(decided)
		porcupine.CheckEvents(porcupine.Model{
			Init:  func() any { return root },
			Step:  s.step,
			Equal: func(a, b any) bool { return s.equal(a.(*node).states, b.(*node).states) },
			Hash:  func(a any) uint64 { return s.hash(a.(*node).states) },
		}, events)
	}()
	select {
	case <-decided:
	case <-s.exited: // CheckEvents never returns
	}
}

// events returns what porcupine reads. The returns of crashed operations come last.
func (s *search) events() []porcupine.Event {
	at := fallback.RowsAt(s.ops)
	events := make([]porcupine.Event, 0, 2*s.ops.Len())
	for e, row := range at {
		if row < 0 {
			continue
		}
		kind := porcupine.EventKind(porcupine.CallEvent)
		if s.ops.Res[row] == int32(e) {
			kind = porcupine.ReturnEvent
		}
		events = append(events, porcupine.Event{Kind: kind, Value: row, Id: int(row)})
	}
	for i, res := range s.ops.Res {
		if res == models.Open {
			events = append(events, porcupine.Event{Kind: porcupine.ReturnEvent, Value: int32(i), Id: i})
		}
	}
	return events
}

// step implements the step of the porcupine model. state is a *node, and input
// is a row. A step of the caller's own may end the goroutine.
func (s *search) step(state, input, _ any) (ok bool, next any) {
	returned := false
	defer func() {
		if !returned {
			s.panicked = cmp.Or[any](s.panicked, &models.Failure{Err: models.ErrExited})
			close(s.exited)
		}
	}()
	ok, next = s.guarded(state, input.(int32))
	returned = true
	return ok, next
}

func (s *search) guarded(state any, row int32) (ok bool, next any) {
	defer func() {
		// A panic in porcupine's goroutine would end the process.
		if p := recover(); p != nil {
			s.panicked, s.Cause = p, jepsen.Interrupted
			ok, next = false, state
		}
	}()
	s.look(workPerStep + s.ops.Len()/workWords)
	from := state.(*node)
	s.refund(from)
	if s.Cause != "" {
		return false, state
	}
	states := s.after(from.states, row)
	if len(states) == 0 {
		return false, state
	}
	bytes := s.entry + stateBytes(states) + s.weight(states, row)
	if !s.Take(bytes) {
		return false, state
	}
	s.newest, s.newestBytes = s.push(from, row, states), bytes
	s.held++
	return true, s.newest
}

// weight returns what the model holds for new states besides their numbers.
// States that an operation leaves unchanged are not new.
func (s *search) weight(states []models.State, row int32) (bytes int64) {
	weight := s.traits.Weight
	if weight == nil || !s.ops.Model.Mutates(s.ops.Op(row)) {
		return 0
	}
	for _, state := range states {
		bytes += weight(state)
	}
	return bytes
}

// The cost of a step besides its states, and how many operations' bits cost as
// much as one unit.
const (
	workPerStep = 40
	workWords   = 64
)

// look adds to the work done, and says whether the search may go on.
func (s *search) look(work int) bool {
	if s.Work += work; s.Work >= fallback.WorkPerPoll {
		return s.Look()
	}
	return s.Cause == ""
}

// refund gives back what the newest node took if porcupine did not keep it
// because it has met an equal one before. After keeping a node, porcupine steps
// from there next.
func (s *search) refund(from *node) {
	if s.newest != nil && s.newest != from {
		s.Give(s.newestBytes)
		s.held--
	}
	s.newest = nil
}

// push puts a row on the stack. Porcupine does not say when it backtracks, but
// the state that it steps from shows how far it has gone back.
func (s *search) push(from *node, row int32, states []models.State) *node {
	top := len(s.stack) - 1
	for ; s.stack[top] != from; top-- {
		if res := s.ops.Res[s.stack[top].row]; res != models.Open {
			s.returned[res] = false
		}
	}
	n := &node{states, from, row, from.passed}
	s.stack = append(s.stack[:top+1], n)
	if res := s.ops.Res[row]; res != models.Open {
		s.returned[res] = true
	}
	for int(n.passed) < len(s.ends) && s.returned[s.ends[n.passed]] {
		n.passed++
	}
	if n.passed > s.furthest.passed {
		s.furthest = n
		s.Passed(int64(n.passed))
	}
	return n
}

// after returns the set of states that a row leads to, in canonical order.
func (s *search) after(states []models.State, row int32) []models.State {
	op := s.ops.Op(row)
	next := stateSet{search: s, full: fallback.BytesPerAsking}
	outcomes := s.traits.Outcomes
	for _, state := range states {
		if outcomes != nil {
			outcomes(state, op, next.add)
		} else {
			n := len(next.states)
			next.states = s.ops.Model.Step(next.states, state, op)
			next.added(next.states[n:])
		}
		if s.Cause != "" {
			break
		}
	}
	if s.ops.Res[row] == models.Open {
		next.states = append(next.states, states...)
	}
	if len(next.states) > 1 {
		next.canonical()
	}
	s.Give(next.taken)
	return next.states
}

// stateSet collects the states that a row leads to. Until it is done, what it
// holds is taken off the memory limit.
type stateSet struct {
	search *search
	states []models.State
	bytes  int64 // of the states
	taken  int64
	full   int64 // the bytes at which repeated states are thrown out next
}

func (x *stateSet) add(state models.State) bool {
	x.states = append(x.states, state)
	x.added(x.states[len(x.states)-1:])
	return x.search.Cause == ""
}

// added counts the states that were appended.
func (x *stateSet) added(states []models.State) {
	if x.bytes += stateBytes(states); x.bytes < x.full {
		return
	}
	x.search.Take(x.bytes - x.taken)
	x.taken = x.bytes
	x.canonical()
	x.bytes = stateBytes(x.states)
	x.full = 2*x.bytes + fallback.BytesPerAsking
	x.search.look(fallback.WorkPerPoll)
}

// canonical sorts the states and removes repeated ones. If the search has to
// end, the result is arbitrary, and comes soon.
func (x *stateSet) canonical() {
	slices.SortFunc(x.states, func(a, b models.State) int {
		if !x.search.look(1 + len(a)) {
			return 0
		}
		return slices.Compare(a, b)
	})
	x.states = slices.CompactFunc(x.states, slices.Equal)
}

func stateBytes(states []models.State) int64 {
	bytes := int64(0)
	for _, s := range states {
		bytes += 24 + 4*int64(len(s))
	}
	return bytes
}

// equal says whether two sets are equal. If the search has to end, the answer
// is arbitrary.
func (s *search) equal(a, b []models.State) bool {
	if len(a) != len(b) {
		return false
	}
	for i, state := range a {
		if !slices.Equal(state, b[i]) || !s.look(len(state)) {
			return false
		}
	}
	return true
}

// hash returns FNV-1a over the numbers of all states. If the search has to end,
// the result is arbitrary.
func (s *search) hash(states []models.State) uint64 {
	h := uint64(14695981039346656037)
	for _, state := range states {
		if !s.look(len(state)) {
			return h
		}
		for _, x := range state {
			h = (h ^ uint64(uint32(x))) * 1099511628211
		}
		h = (h ^ 0xffffffffff) * 1099511628211
	}
	return h
}

// order returns the linearization that ends in a node, or nil if a limit stops
// it. Going back from any of its states, a crashed operation happened only if
// the state before it differs from the state after it.
func (s *search) order(last *node) []int32 {
	var order []int32
	state := last.states[0]
	for n := last; n.parent != nil; n = n.parent {
		before, happened := s.before(n, state)
		if s.Cause != "" {
			return nil
		}
		if happened {
			order = append(order, n.row)
		}
		state = before
	}
	slices.Reverse(order)
	return order
}

// before returns a state of n's parent from which n's row leads to state.
func (s *search) before(n *node, state models.State) (from models.State, happened bool) {
	if s.ops.Res[n.row] == models.Open {
		for _, p := range n.parent.states {
			if slices.Equal(p, state) {
				return p, false
			}
		}
	}
	op := s.ops.Op(n.row)
	outcomes := s.traits.Outcomes
	var next []models.State
	for _, p := range n.parent.states {
		leads := false
		is := func(to models.State) bool {
			leads = slices.Equal(to, state)
			return s.look(1+len(to)) && !leads
		}
		if outcomes != nil {
			outcomes(p, op, is)
		} else {
			next = s.ops.Model.Step(next[:0], p, op)
			_ = slices.ContainsFunc(next, func(to models.State) bool { return !is(to) })
		}
		switch {
		case leads:
			return p, true
		case s.Cause != "":
			return nil, false
		}
	}
	panic("porcupine: a state without a predecessor")
}
