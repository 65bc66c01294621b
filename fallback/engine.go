package fallback

import (
	"context"
	"errors"
	"sync/atomic"

	"clew/models"
)

// Verdict is what an engine says about operations.
type Verdict uint8

// The verdicts. Unknown comes with a Cause.
const (
	Unknown Verdict = iota
	Valid
	Invalid
)

// Cause says why a verdict is unknown.
type Cause string

// The causes of an unknown verdict.
const (
	Timeout     Cause = "timeout"
	OutOfMemory Cause = "out-of-memory"
	Interrupted Cause = "interrupted"
	// DepthExhausted is Hitting's: no schedule of its families is a witness.
	DepthExhausted Cause = "depth-exhausted"
)

// Limits bound a search. Time is bounded by the context.
type Limits struct {
	Memory *Budget       // nil: unbounded
	Passed *atomic.Int64 // where not nil: completions passed so far, for progress
	Held   *atomic.Int64 // where not nil: configurations held at the moment, likewise
}

// Budget is an amount of memory that searches share.
type Budget struct {
	left atomic.Int64
	of   *Budget // where not nil, what is taken here is taken there too
}

// NewBudget is a budget of that many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// share is the n-th part of what is left of a budget, and comes out of it.
func (b *Budget) share(n int) *Budget {
	if b == nil {
		return nil
	}
	part := NewBudget(b.left.Load() / int64(n))
	part.of = b
	return part
}

// take takes bytes off the budget and says whether they were there. A nil
// budget has no end.
func (b *Budget) take(bytes int64) bool {
	if b == nil {
		return true
	}
	there := b.left.Add(-bytes) >= 0
	return b.of.take(bytes) && there
}

func (b *Budget) give(bytes int64) {
	for ; b != nil; b = b.of {
		b.left.Add(bytes)
	}
}

// Answer is a verdict with its evidence. Operations are rows of the decided
// operations' columns.
type Answer struct {
	Verdict Verdict
	Cause   Cause  // Unknown
	By      string // the engine whose answer it is, where several were asked; else ""

	// Passed and Held say how far it got, where Unknown: the completions up to
	// which it found a linearization, and the configurations that it held then.
	Passed, Held int64

	// Order is, where Valid, the linearization, and where Invalid, one of the
	// operations up to just before Fail. Optional operations that never happen
	// are left out.
	Order []int32
	// Others are, where Invalid and where the engine knows them, other
	// linearizations up to just before Fail, for their configurations.
	Others [][]int32
	// Fail is the first failing completion, an event, where Invalid.
	Fail int32

	// Depth is, where Hitting says Valid, the depth at which it found the
	// linearization, and where it does not, the one up to which it has looked.
	// Schedules is how many it has tried.
	Depth     int
	Schedules int64
}

// Engine decides whether operations are linearizable.
type Engine interface {
	// Name is what --algorithm and :analyzer call it.
	Name() string
	// Decide runs until it knows, or a limit or the context stops it. Then
	// nothing is left running.
	Decide(ctx context.Context, ops *models.Operations, limits Limits) Answer
}

// Stopped is the cause for which a context is done.
func Stopped(ctx context.Context) Cause {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Timeout
	}
	return Interrupted
}
