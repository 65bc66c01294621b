package engines

import (
	"cmp"
	"context"
	"math"
	"sync/atomic"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// Turns lets engines decide the same operations in turns, and takes the first
// verdict. Engines are exact, so it does not matter which one gives it. In each
// turn an engine goes on from where it stood. Which engine answers first depends
// on the operations alone, until each has done so much work that they run side by
// side.
//
// Complexity: if there are k engines, one of which decides with work n, the work
// is at most k(n + Turn) + First.
//
// An engine that never waits for a turn runs to its end in its first one. A Turns
// that has to wait for turns itself waits before it gives any away. Then its
// engines must not run side by side.
//
// Turns stops the others, and answers after they have ended. If none decides, the
// verdict is Unknown, with the cause of the first engine in the list. Passed is
// that of the engine that got furthest, and Held is the sum over all engines.
type Turns struct {
	Engines []fallback.Engine
	First   int64 // the work of the first engine's first turn, in which it has all of the memory
	Turn    int64 // the work of each other turn
	Apart   int64 // the work that each engine does before they run side by side

	// EndIf, unless nil, is called once, when the first engine has done a tenth of its first turn and has not decided, or
	// as soon as it does not get on. If it returns true, all end without a verdict.
	EndIf func() bool
}

// The first turn is given in pieces as long as EndIf may be called: a tenth of it, in so many.
const (
	pieces = 10
	early  = 10 * pieces
)

// Decide decides as an engine does.
func (r Turns) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if r.EndIf != nil && lim.Furthest == nil {
		lim.Furthest = new(atomic.Int64)
	}
	x := &race{Budget: fallback.NewBudget(ctx, lim), ctx: ctx, stop: stop, ops: ops, open: make(chan struct{}), finished: make(chan *runner)}
	for _, e := range r.Engines {
		x.runners = append(x.runners, &runner{engine: e, turn: make(chan int64), rests: make(chan struct{})})
	}
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
// the first verdict. It is a Turns without turns.
type Race []fallback.Engine

// Name implements fallback.Engine.
func (Race) Name() string { return "competition" }

// Decide implements fallback.Engine.
func (r Race) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	return Turns{Engines: r}.Decide(ctx, ops, lim)
}

// race is one run of a Turns.
type race struct {
	ctx              context.Context
	stop             context.CancelFunc
	ops              *models.Operations
	runners          []*runner
	running          int
	open             chan struct{} // closed once they run side by side
	finished         chan *runner
	winner           *runner
	panicked         any
	ended            bool // by EndIf
	*fallback.Budget      // of all engines together
}

// runner is an engine and its progress.
type runner struct {
	engine  fallback.Engine
	memory  *models.Memory
	turn    chan int64    // its next turn, as work
	rests   chan struct{} // its turn is over
	given   int64         // the work of its turns so far
	started bool
	over    bool
	answer  fallback.Answer
	panic   any
}

// goesOn says whether there is still something to find out.
func (x *race) goesOn() bool { return x.winner == nil && x.panicked == nil && !x.ended }

// takeTurns lets the engines take turns until one has decided, none is left, or
// they are to run side by side.
func (x *race) takeTurns(r Turns) {
	turn := r.First
	if r.EndIf != nil {
		piece := turn / early
		for n, before := 0, int64(-1); n < pieces && x.Limits.Furthest.Load() > before; n++ {
			before = x.Limits.Furthest.Load()
			if turn -= piece; !x.give(x.runners[0], piece) {
				break
			}
		}
		if x.goesOn() && r.EndIf() {
			x.ended = true
			x.stop()
			return
		}
	}
	for done := int64(0); done < r.Apart; done += r.Turn {
		left := false
		for _, y := range x.runners {
			if y.over || !x.goesOn() {
				continue
			}
			left = x.give(y, turn) || left
			turn = r.Turn
		}
		if !left || !x.goesOn() {
			return
		}
	}
}

// give gives an engine a turn, and says whether it has not ended.
func (x *race) give(y *runner, turn int64) (rests bool) {
	x.start(y)
	work := turn
	select {
	case y.turn <- turn:
		select {
		case <-y.rests:
			rests = true
		case z := <-x.finished:
			x.finish(z)
			work = min(turn, max(0, z.answer.Work-z.given))
		}
	case z := <-x.finished: // it needed no turn
		x.finish(z)
	}
	x.Spend(work)
	y.given += work
	return rests
}

// start starts an engine, unless it has been started. The first engine has all of
// the memory until the second one starts, and then its share.
func (x *race) start(y *runner) {
	if y.started {
		return
	}
	y.started = true
	x.running++
	if whole := x.Limits.Memory; whole != nil {
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
		y.panic = &models.Failure{Err: models.ErrExited}
		defer func() {
			y.panic = cmp.Or(recover(), y.panic)
			x.finished <- y
		}()
		lim := x.Limits
		lim.Memory, lim.Turn = y.memory, x.turns(y)
		y.answer = y.engine.Decide(x.ctx, x.ops, lim)
		y.panic = nil
	}()
}

// turns returns a function in which an engine waits for its turns.
func (x *race) turns(y *runner) func() int64 {
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
func (x *race) finish(y *runner) {
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
func (x *race) answer() fallback.Answer {
	if x.panicked != nil {
		panic(x.panicked)
	}
	a := x.runners[0].answer
	for _, y := range x.runners {
		if a.Cause == fallback.GaveUp { // then others were stopped by a limit
			a.Cause = y.answer.Cause
		}
	}
	if x.winner != nil {
		a = x.winner.answer
	}
	a.Work = 0
	for _, y := range x.runners {
		a.Work += y.answer.Work
		if by := y.answer.FailsBy; by > 0 && (a.FailsBy == 0 || by < a.FailsBy) {
			a.FailsBy, a.FailsAs = by, y.answer.FailsAs
		}
		if x.winner == nil && y != x.runners[0] {
			a.Passed = max(a.Passed, y.answer.Passed)
			a.Held += y.answer.Held
		}
	}
	return a
}
