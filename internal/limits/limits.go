// Package limits bounds what reading and deciding a history may take: its memory,
// its time, and how its progress is followed.
package limits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"clew/jepsen"
)

// Limits bound a search. Time is bounded by the context. The zero value bounds
// nothing.
type Limits struct {
	Memory *Budget       // nil: unbounded
	Passed *atomic.Int64 // unless nil: completions passed so far, for progress
	Held   *atomic.Int64 // unless nil: configurations held at the moment, likewise

	// Turn, unless nil, waits until it is the search's turn, and returns how much
	// work it may do then: units of some nanoseconds. It is called before the
	// search begins, and whenever that work is done.
	Turn func() (work int64)
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

// Grow has a share give out that many bytes more, or fewer if negative. What it
// is a share of stays as it is.
func (b *Budget) Grow(bytes int64) { b.left.Add(bytes) }

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

// ErrOutOfMemory is the cause of a context that is done because the process holds
// too much, and what a Reader says of a text that is too large.
var ErrOutOfMemory = errors.New("out of memory")

// Stopped is the cause for which a context is done.
func Stopped(ctx context.Context) jepsen.Cause {
	switch {
	case errors.Is(context.Cause(ctx), ErrOutOfMemory):
		return jepsen.OutOfMemory
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return jepsen.Timeout
	}
	return jepsen.Interrupted
}

// StoppedBy is Stopped, or, of a context that is not done, what an error of reading
// says: a text was too large.
func StoppedBy(ctx context.Context, err error) jepsen.Cause {
	if ctx.Err() == nil && errors.Is(err, ErrOutOfMemory) {
		return jepsen.OutOfMemory
	}
	return Stopped(ctx)
}

// Reader reads from r until the context is done. Who reads a long form asks for
// ever larger pieces to hold it as a whole: if memory is not 0, an eighth of it is
// the largest that is given out.
func Reader(ctx context.Context, r io.Reader, memory int64) io.Reader {
	return &reader{ctx, r, memory / 8}
}

type reader struct {
	ctx     context.Context
	r       io.Reader
	largest int64
}

func (r *reader) Read(p []byte) (int, error) {
	switch {
	case r.ctx.Err() != nil:
		return 0, context.Cause(r.ctx)
	case r.largest > 0 && int64(len(p)) > max(r.largest, smallForm):
		return 0, ErrOutOfMemory
	}
	return r.r.Read(p)
}

// Whole is Reader for a text that is held, and taken apart, as a whole. What becomes of
// it takes some times as much: a 16th of the memory is the most of it that is given out.
func Whole(ctx context.Context, r io.Reader, memory int64) io.Reader {
	if memory > 0 {
		r = &whole{r, max(memory/16, smallForm)}
	}
	return Reader(ctx, r, 0)
}

type whole struct {
	r    io.Reader
	left int64
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.left -= int64(n); w.left < 0 {
		return 0, ErrOutOfMemory
	}
	return n, err
}

// Counting is a context in which Counted readers add the bytes that they read to a
// counter.
func Counting(ctx context.Context, read *atomic.Int64) context.Context {
	return context.WithValue(ctx, counterKey{}, read)
}

type counterKey struct{}

// Counted is a reader whose bytes are counted, r itself if nobody does.
func Counted(ctx context.Context, r io.Reader) io.Reader {
	if read, ok := ctx.Value(counterKey{}).(*atomic.Int64); ok {
		return &counted{r, read}
	}
	return r
}

type counted struct {
	r    io.Reader
	read *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// Writer writes to w until the context is done. The error is WritingStopped then.
func Writer(ctx context.Context, w io.Writer) io.Writer { return &writer{ctx, w} }

type writer struct {
	ctx context.Context
	w   io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, WritingStopped(w.ctx)
	}
	return w.w.Write(p)
}

// WritingStopped says that what was to be written has not been written to its end,
// and why.
func WritingStopped(ctx context.Context) error {
	return fmt.Errorf("not written to its end: %s", Stopped(ctx))
}

// smallForm is what may always be read at once.
const smallForm = 1 << 20
