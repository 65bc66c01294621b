package fallback

import (
	"context"
	"math"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Relay lets engines decide the same operations in turns, and takes the first
// verdict. Engines are exact, so it does not matter which one gives it. In each
// turn an engine goes on from where it stood. Which engine answers first depends
// on the operations alone, until each has done so much work that they run side by
// side.
//
// Complexity: if there are k engines, one of which decides with work n, the work
// is at most k(n + Turn) + First.
//
// An engine that never waits for a turn runs to its end in its first one. A Relay
// that has to wait for turns itself waits before it gives any away. Then its
// engines must not run side by side.
//
// Relay stops the others, and answers after they have ended. If none decides, the
// verdict is Unknown, with the cause of the first engine in the list. Passed is
// that of the engine that got furthest, and Held is the sum over all engines.
type Relay struct {
	Engines []Engine
	First   int64 // the work of the first engine's first turn, in which it has all of the memory
	Turn    int64 // the work of each other turn
	Apart   int64 // the work that each engine does before they run side by side
}

// Name implements Engine.
func (Relay) Name() string { return "relay" }

// Decide implements Engine.
func (r Relay) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) Answer {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	x := &relay{ctx: ctx, stop: stop, ops: ops, limits: lim, open: make(chan struct{}), finished: make(chan *runner)}
	for _, e := range r.Engines {
		x.runners = append(x.runners, &runner{engine: e, turn: make(chan int64), rests: make(chan struct{})})
	}
	x.wait(lim.Turn)
	x.takeTurns(r)
	close(x.open)
	for _, y := range x.runners {
		if x.goesOn() {
			x.start(y)
		}
	}
	for x.running > 0 {
		x.finish(<-x.finished)
	}
	return x.answer()
}

// Race runs engines side by side, each with its share of the memory, and takes
// the first verdict. It is a Relay without turns.
type Race []Engine

// Name implements Engine.
func (Race) Name() string { return "competition" }

// Decide implements Engine.
func (r Race) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) Answer {
	return Relay{Engines: r}.Decide(ctx, ops, lim)
}

// relay is one run of a Relay.
type relay struct {
	ctx      context.Context
	stop     context.CancelFunc
	ops      *models.Operations
	limits   limits.Limits
	runners  []*runner
	running  int
	open     chan struct{} // closed once they run side by side
	finished chan *runner
	winner   *runner
	panicked any
	meter    // of all engines together
}

// runner is an engine and its progress.
type runner struct {
	engine  Engine
	memory  *limits.Budget
	turn    chan int64    // its next turn, as work
	rests   chan struct{} // its turn is over
	started bool
	over    bool
	answer  Answer
	panic   any
}

// goesOn says whether there is still something to find out.
func (x *relay) goesOn() bool { return x.winner == nil && x.panicked == nil }

// takeTurns lets the engines take turns until one has decided, none is left, or
// they are to run side by side.
func (x *relay) takeTurns(r Relay) {
	turn := r.First
	for done := int64(0); done < r.Apart; done += r.Turn {
		left := false
		for _, y := range x.runners {
			if y.over || !x.goesOn() {
				continue
			}
			x.start(y)
			select {
			case y.turn <- turn:
				select {
				case <-y.rests:
					left = true
				case z := <-x.finished:
					x.finish(z)
				}
			case z := <-x.finished: // it needed no turn
				x.finish(z)
			}
			x.spend(int(turn))
			turn = r.Turn
		}
		if !left || !x.goesOn() {
			return
		}
	}
}

// start starts an engine, unless it has been started. The first engine has all of
// the memory until the second one starts, and then its share.
func (x *relay) start(y *runner) {
	if y.started {
		return
	}
	y.started = true
	x.running++
	if whole := x.limits.Memory; whole != nil {
		n := int64(len(x.runners))
		switch y {
		case x.runners[0]:
			y.memory = whole.Share(1)
		case x.runners[1]:
			first := x.runners[0].memory
			first.Grow(-max(0, first.Left()) / n * (n - 1))
			fallthrough
		default:
			y.memory = whole.Share(int(n))
		}
	}
	go func() {
		defer func() {
			y.panic = recover()
			x.finished <- y
		}()
		y.answer = y.engine.Decide(x.ctx, x.ops, limits.Limits{Memory: y.memory, Passed: x.limits.Passed, Held: x.limits.Held, Turn: x.turns(y)})
	}()
}

// turns returns a function in which an engine waits for its turns.
func (x *relay) turns(y *runner) func() int64 {
	begun := false
	return func() int64 {
		if begun {
			select {
			case y.rests <- struct{}{}:
			case <-x.open:
			case <-x.ctx.Done():
			}
		}
		begun = true
		select {
		case work := <-y.turn:
			return work
		case <-x.open:
		case <-x.ctx.Done():
		}
		return math.MaxInt64
	}
}

// finish records how an engine ended.
func (x *relay) finish(y *runner) {
	x.running--
	y.over = true
	if y.answer.By == "" {
		y.answer.By = y.engine.Name()
	}
	switch {
	case y.panic != nil:
		x.panicked = y.panic
		x.stop()
	case x.winner == nil && y.answer.Verdict != jepsen.Unknown:
		x.winner = y
		x.stop()
	}
}

// answer returns the answer of all engines together.
func (x *relay) answer() Answer {
	if x.panicked != nil {
		panic(x.panicked)
	}
	a := x.runners[0].answer
	if x.winner != nil {
		a = x.winner.answer
	}
	a.Work = 0
	for _, y := range x.runners {
		a.Work += y.answer.Work
		if x.winner == nil && y != x.runners[0] {
			a.Passed = max(a.Passed, y.answer.Passed)
			a.Held += y.answer.Held
		}
	}
	return a
}

// meter counts the work of a search, and lets it wait for its turns, if it takes turns.
type meter struct {
	turn func() int64
	left int64 // of the turn
	done int64
}

// wait waits for the first turn.
func (m *meter) wait(turn func() int64) {
	if m.turn = turn; turn != nil {
		m.left = turn()
	}
}

// spend counts work, and waits for the next turn if this one is used up. Work
// beyond this turn counts for the next.
func (m *meter) spend(work int) {
	m.done += int64(work)
	for m.left -= int64(work); m.turn != nil && m.left <= 0; {
		m.left += m.turn()
	}
}
