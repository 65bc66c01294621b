package fallback

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Limits bound a search. The context bounds its time. The zero value does not
// bound anything.
type Limits struct {
	Memory *models.Memory // nil: unbounded
	Passed *atomic.Int64  // unless nil: completions passed so far, for progress
	Held   *atomic.Int64  // unless nil: configurations held at the moment, for progress
	// Furthest, unless nil, is the most completions that any engine has passed. It is known
	// even if a limit stops the model within a step.
	Furthest *atomic.Int64

	// Turn, unless nil, waits until it is the search's turn, and returns how much
	// work it may do then, in units of some nanoseconds. The search calls it
	// before it begins, and whenever that work is done.
	Turn func() (work int64)
}

// Within returns a context and limits that end one search after some work, in the same state whatever else is running.
// The caller calls stop after the search.
func (l Limits) Within(ctx context.Context, work int64) (_ context.Context, _ Limits, stop func()) {
	ctx, stop = context.WithCancel(ctx)
	given := false
	l.Turn = func() int64 {
		if given {
			stop()
			return math.MaxInt64 / 2
		}
		given = true
		return work
	}
	return ctx, l, stop
}

// Budget accounts for what one decision takes: its time, its memory and its turns. A search looks at it every few
// thousand steps, by Look or Poll. Once Cause is set, the search ends and answers Unknown for that cause.
type Budget struct {
	Limits Limits
	Cause  jepsen.Cause // why the search ends early, "" as long as it may go on
	Work   int          // done since the limits were last looked at, in units of some nanoseconds

	ctx   context.Context
	taken int64 // of the memory
	held  int64 // of that, what Hold accounts for
	done  int64 // work before Work
	left  int64 // of the turn
}

// NewBudget begins a decision. If it takes turns, NewBudget waits for the first one.
func NewBudget(ctx context.Context, lim Limits) *Budget {
	b := &Budget{Limits: lim, ctx: ctx}
	if lim.Turn != nil {
		b.left = lim.Turn()
	}
	b.Poll()
	return b
}

// WorkPerPoll bounds the work between two looks at the limits.
const WorkPerPoll = 1 << 14

// Look counts the work, waits for the next turn if this one is over, and says whether the search may go on.
func (b *Budget) Look() bool {
	b.Spend(int64(b.Work))
	b.Work = 0
	return b.Poll()
}

// Spend counts work. If that uses up the turn, Spend waits for the next one. Work beyond this turn counts for the next.
func (b *Budget) Spend(work int64) {
	b.done += work
	for b.left -= work; b.Limits.Turn != nil && b.left <= 0; {
		b.left += b.Limits.Turn()
	}
}

// Part makes a decision that is part of this one, with some limits. It shares the turns of this one: otherwise each of many
// short decisions would take a turn of its own.
func (b *Budget) Part(lim Limits, decide func(lim Limits) Answer) Answer {
	var given, spent int64
	if b.Limits.Turn != nil {
		lim.Turn = func() int64 {
			b.Spend(given)
			spent, given = spent+given, b.left
			return given
		}
	}
	a := decide(lim)
	b.Spend(max(0, a.Work-spent))
	return a
}

// Worked sets Work so that the work done is a sum. It is for a search that counts its work otherwise.
func (b *Budget) Worked(sum int64) { b.Work = int(sum - b.done) }

// Poll says whether the search may go on.
func (b *Budget) Poll() bool {
	if b.Cause == "" && limits.Over(b.ctx) {
		b.Cause = limits.Stopped(b.ctx)
	}
	return b.Cause == ""
}

// Done returns the work done so far, see Answer.
func (b *Budget) Done() int64 { return b.done + int64(b.Work) }

// Take takes bytes from the memory limit, and says whether the search may go on. If too few are left, it may not.
func (b *Budget) Take(bytes int64) bool {
	b.taken += bytes
	if !b.Limits.Memory.Take(bytes) && b.Cause == "" {
		b.Cause = jepsen.OutOfMemory
	}
	return b.Cause == ""
}

// Give gives back bytes that were taken.
func (b *Budget) Give(bytes int64) {
	b.taken -= bytes
	b.Limits.Memory.Give(bytes)
}

// Hold takes or gives back memory, so that bytes are taken besides what Take took. It is for a search that can tell
// how much it holds.
func (b *Budget) Hold(bytes int64) {
	if more := bytes - b.held; more > 0 {
		b.Take(more)
	} else {
		b.Give(-more)
	}
	b.held = bytes
}

// Taken returns how many bytes are taken.
func (b *Budget) Taken() int64 { return b.taken }

// Release gives back all that was taken.
func (b *Budget) Release() { b.Give(b.taken) }

// Passed reports how many completions the search has passed.
func (b *Budget) Passed(n int64) {
	if b.Limits.Passed != nil {
		b.Limits.Passed.Store(n)
	}
	if f := b.Limits.Furthest; f != nil {
		for before := f.Load(); before < n && !f.CompareAndSwap(before, n); before = f.Load() {
		}
	}
}

// Held reports how many configurations the search holds.
func (b *Budget) Held(n int64) {
	if b.Limits.Held != nil {
		b.Limits.Held.Store(n)
	}
}

// Grow makes room for n more elements, and takes their bytes.
func Grow[T any](b *Budget, s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	before := cap(s)
	s = slices.Grow(s, max(n, len(s)/4))
	var x T
	b.Take(int64(cap(s)-before) * int64(unsafe.Sizeof(x)))
	return s
}
