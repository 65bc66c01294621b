// Package limits bounds the memory that a decision may take, and lets others
// follow its progress. Its time is bounded by its context.
package limits

import (
	"context"
	"errors"
	"sync/atomic"

	"clew/jepsen"
)

// Limits bound a search. Time is bounded by the context. The zero value bounds
// nothing.
type Limits struct {
	Memory *Budget       // nil: unbounded
	Passed *atomic.Int64 // unless nil: completions passed so far, for progress
	Held   *atomic.Int64 // unless nil: configurations held at the moment, likewise
}

// Budget is an amount of memory that searches share. A nil budget has no end. It
// is safe for concurrent use.
type Budget struct {
	left atomic.Int64
	of   *Budget // if not nil, what is taken here is taken there, too
}

// NewBudget is a budget of that many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// Share is a budget of one n-th of what is left. What is taken from it is taken
// from b, too.
func (b *Budget) Share(n int) *Budget {
	if b == nil {
		return nil
	}
	part := NewBudget(b.Left() / int64(n))
	part.of = b
	return part
}

// Left is how many bytes have not been taken. It is negative if a caller was
// refused and has not yet given back what it asked for.
func (b *Budget) Left() int64 { return b.left.Load() }

// Take takes bytes from the budget and says whether they were available. The
// caller must give them back in any case, even if they were not.
func (b *Budget) Take(bytes int64) bool {
	if b == nil {
		return true
	}
	there := b.left.Add(-bytes) >= 0
	return b.of.Take(bytes) && there
}

// Give gives back bytes that were taken.
func (b *Budget) Give(bytes int64) {
	for ; b != nil; b = b.of {
		b.left.Add(bytes)
	}
}

// Stopped is the cause for which a context is done.
func Stopped(ctx context.Context) jepsen.Cause {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return jepsen.Timeout
	}
	return jepsen.Interrupted
}
