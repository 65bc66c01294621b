package languages

import (
	"context"
	"math"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Engine decides stacks whose values repeat, with initial contents, peeks, empty
// answers, and crashed operations.
//
// Precondition: the model's shape is models.LIFOShape. Complexity: linear in the length,
// exponential in the concurrency. With k operations open there are at most 2^k sets of
// them, times the ways to use crashed operations. A step of a set visits the nodes where
// the languages differ. These are usually few, whatever the stack's depth.
//
// It goes by breadth over the returns, as Frontier does. Frontier holds a configuration
// for each set of linearized operations and each stack that it can have led to. Here, a
// set has one language: all these stacks, as words read from the top. Languages are
// nodes of one acyclic automaton (automata.go). A push makes a new node with one edge, a
// pop of a value follows an edge, and a pop of anything is the union of what the edges
// lead to. Two ways to a set make a union, too, before the set goes on: sets go on by
// size. If no set passes a return, that one is the first failing completion.
//
// Rests on: Lowe, "Testing for linearizability" (2017), for linearizing just in time,
// and on Lee and Mathur, "Fixed Parameter Tractable Linearizability Monitoring" (PLDI
// 2026), for showing that only the concurrency makes it hard. Their paper has no crashed
// operations.
//
// # What happens before a return
//
// Operations are linearized only before a return whose operation r is not linearized
// yet, and r comes last. All others of this *batch* are open, and what stands behind r
// can be in the next batch. More rules shrink the search and lose nothing. Each has a
// switch. Below, a *block* is a push, the pop that takes what it brought, and all that
// stands between. Within it the stack is never lower, and at its end it is as before. A
// linearization stays one if a block is taken out of it, or put elsewhere as a whole, as
// far as time allows.
//
//   - Transients. The engine leaves out values that are pushed once and may be popped at
//     once (transient.go).
//   - Eager looks. A peek or an empty answer is linearized as soon as it fits. It
//     changes nothing, so it can be moved here from wherever it stands later. A set is
//     divided if its stacks have different tops.
//   - Canonical order. Of open operations of equal meaning the one that returns first
//     goes first. A crashed one goes only if no open one of its meaning is left.
//     Otherwise they can be exchanged. A crashed pop that says what it takes goes before
//     one that may take anything.
//   - Delay. A block that r is not in is left for later. So in a batch there is no pop
//     behind a push, unless r is that pop. Then the push and r are next to each other,
//     and all that stands before them in the batch can stand behind them, and be left
//     for later. So if r pops, the batch is an open push of its value with r (and what
//     looks between them), or pops and then r. Otherwise it has pops, then pushes, then
//     r, without pushes if r is an empty answer. A stack from which r can pop at once
//     need not take the first way: the push can stand behind r, too.
//   - Demand. A crashed operation happens right before it is needed. Suppose that a
//     crashed push is the first one of a block, or of what stands on it to the end.
//     Everything behind it is blocks, up to where its value is seen or popped for the
//     first time, so it can stand behind these. If it is never seen or popped it can be
//     left out. So it is followed by r, which pops it (otherwise it is a block without
//     r, see delay), or by a peek of it. In the same way, a crashed pop of x can stand
//     behind the blocks that follow it, up to where the values below x matter: a pop or
//     a look. If that never happens, or something is pushed there that stays, it can be
//     left out. So a crashed pop is followed by a pop, a look or another crashed pop.
//   - Domination. Take two sets that differ only in crashed operations, where one has
//     used all that the other has, and more. It is redundant if each of its stacks comes
//     from one of the other's by the operations that only it has used. These put in the
//     values that they push, anywhere, and take out the values that they pop (cover.go).
//     For the other set can do whatever this one does next. Where a value that was put
//     in is seen or popped, the crashed push can happen right before. Where something
//     below a value that was taken out matters, the crashed pop can. Everything since
//     then is blocks, which may stand on top of one value more or less.
//   - Thrift. At first the search holds only sets that use no more crashed operations
//     than the one that uses the fewest. If a return then fails, it starts over and holds
//     some more shortly before that return, then from further back, and finally all from
//     the beginning: only that shows that nothing passes the return.
//   - Forgetting. The search holds sets, ways, and the nodes that only they need for one
//     segment of the returns (walk.go).
//
// Each of these exchanges leaves fewer crashed operations. Or it leaves as many, and
// moves operations to later batches. Or it does neither, and moves crashed ones behind
// others in a batch. Or it does none of this, and leaves fewer pairs of equal meaning
// in the wrong order. So every linearization leads to one in which no exchange is
// possible, and the search finds that one. This holds for what follows any set, not
// only from the beginning.
//
// # Crashed operations
//
// They form classes of equal meaning. A set counts how many of each are used, and the
// next one is the one that was invoked first. By the rule of demand nothing is guessed
// before it is needed.
//
// # The linearization
//
// Each set remembers the sets from which it was reached (sets.go). The search traces
// some stack of the last language back: it takes a way to a set whose origin has the
// stack from before the operation. Every word of a language came along some way, so
// there is one (walk.go).
type Engine struct{ Rules }

// Rules switch techniques off, for tests.
type Rules struct {
	NoTransients     bool // keep values that may go as soon as they come
	NoEagerLooks     bool // linearize peeks and empty answers like others
	NoCanonicalOrder bool // any of the operations of equal meaning may go first
	NoDelay          bool // leave nothing for later that may as well happen later
	NoDemand         bool // crashed operations happen whether anything needs them or not
	NoDomination     bool // keep sets that others cover
	NoThrift         bool // keep sets though others use fewer crashed operations
	NoForgetting     bool // segments never end
	AlwaysForgetting bool // they end at every return
}

// Name implements fallback.Engine.
func (Engine) Name() string { return "languages" }

// Decide implements fallback.Engine.
func (e Engine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	shape, ok := models.ShapeOf[models.LIFOShape](ops.Model)
	if !ok {
		return fallback.Answer{Cause: fallback.GaveUp}
	}
	if e.NoTransients {
		return e.search(ctx, shape.Init, ops, lim)
	}
	bytes := transientBytes * int64(ops.Len())
	defer lim.Memory.Give(bytes)
	if !lim.Memory.Take(bytes) {
		return fallback.Answer{Cause: jepsen.OutOfMemory}
	}
	some, rest := transients(ops, shape.Init)
	if len(some) == 0 {
		return e.search(ctx, shape.Init, ops, lim)
	}
	return without(some, ops, rest, func(ops *models.Operations) fallback.Answer { return e.search(ctx, shape.Init, ops, lim) })
}

// search decides operations by a search.
func (e Engine) search(ctx context.Context, initial []int32, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	if l.Cause != "" {
		return fallback.Answer{Cause: l.Cause}
	}
	s := newSearch(l, e.Rules, initial)
	failed := s.decide()
	var orders [][]models.Row
	if s.Cause == "" {
		orders = s.orders()
	}
	if s.Cause != "" {
		return fallback.Answer{Cause: s.Cause, Passed: int64(s.furthest), Held: int64(len(s.layer)), Work: s.Done()}
	}
	a := fallback.Answer{Verdict: jepsen.Valid, Order: orders[0], Work: s.Done()}
	if failed >= 0 {
		a.Verdict, a.FailEvent, a.Others = jepsen.Invalid, s.Ends[failed], orders[1:]
	}
	return a
}

func newSearch(l *fallback.Layout, r Rules, initial []int32) *search {
	s := &search{Layout: l, rules: r}
	s.number(initial)
	s.countCrashed()
	s.moment.takers = make([]uint64, s.Words)
	s.key = make([]uint64, s.width)
	s.stride = int(s.Slots) + 1
	s.last = slices.Repeat([]int32{none}, len(s.Space.Ops))
	return s
}

// leeway says how many more crashed operations than others a set may use, at the return where
// the search got stuck and at some before it.
type leeway struct{ returns, slack int32 }

const anyNumber = math.MaxInt32

// leeways are tried one after another where the search is stuck. The last one drops nothing.
var leeways = [...]leeway{{64, 4}, {256, 4}, {math.MaxInt32, 4}, {math.MaxInt32, 8}, {math.MaxInt32, anyNumber}}

// decide sweeps the returns until the result is certain. It returns the first
// return that no set could pass, or -1.
func (s *search) decide() (failed int32) {
	s.slacks = make([]int32, len(s.Ends))
	if s.rules.NoThrift {
		s.give(leeways[len(leeways)-1], int32(len(s.Ends)))
	}
	stuck, next := none, 0
	for {
		s.start()
		if failed = s.run(); failed < 0 || !s.dropped {
			return failed
		}
		if failed > stuck {
			stuck, next = failed, 0
		}
		s.give(leeways[next], stuck+1)
		next++
	}
}

// give gives a leeway to the returns before one.
func (s *search) give(l leeway, end int32) {
	for k := max(0, end-l.returns); k < end; k++ {
		s.slacks[k] = max(s.slacks[k], l.slack)
	}
}

// start begins without any operation.
func (s *search) start() {
	s.a = newAutomata(s.step)
	s.covered.empty()
	s.points, s.dropped, s.k = s.points[:0], false, 0
	for i := range s.counts {
		s.counts[i].available = 0
	}
	stack := blank
	for _, value := range s.initial {
		stack = s.a.push(value, stack)
	}
	clear(s.key)
	s.layer = append(s.layer[:0], s.add(s.key, stack, 0, 0))
	s.begin()
}

// run sweeps the returns. It returns the first one that no set could pass, or -1.
func (s *search) run() (failed int32) {
	for k := range int32(len(s.Ends)) {
		before := len(s.layer)
		s.pass(k)
		if s.settle(); s.Cause != "" {
			return -1
		}
		if len(s.layer) == 0 {
			s.layer, s.next = s.next[:before], s.layer
			return k
		}
		s.k, s.furthest = k+1, max(s.furthest, k+1)
		s.Passed(int64(s.furthest))
		s.Held(int64(len(s.layer)))
		if s.isLong() {
			s.begin()
		}
	}
	return -1
}

// perStep is the cost of a step in units of work.
const perStep = 16

// step counts a step, and says whether the search may go on.
func (s *search) step() bool {
	s.Work += perStep
	return s.Tick()
}

// settle takes or gives back memory, so that it accounts for what is held.
func (s *search) settle() {
	held := s.a.bytes() + s.sets.bytes() + s.covered.bytes() + 4*int64(len(s.here.slots)+len(s.past.slots)) + 4*int64(cap(s.layer)+cap(s.next))
	for _, p := range s.points {
		held += p.bytes()
	}
	s.Hold(held)
}
