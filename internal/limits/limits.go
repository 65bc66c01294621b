// Package limits bounds the memory and the time that reading and writing may take,
// and says why a context is done. It also lets others follow the progress.
package limits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"clew/jepsen"
)

// ErrOutOfMemory is the cause of a context that is done because the process holds
// too much. A Reader also returns it for a text that is too large.
var ErrOutOfMemory = errors.New("out of memory")

// Stopped returns the cause for which a context is done.
func Stopped(ctx context.Context) jepsen.Cause {
	switch {
	case errors.Is(context.Cause(ctx), ErrOutOfMemory):
		return jepsen.OutOfMemory
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return jepsen.Timeout
	}
	return jepsen.Interrupted
}

// StoppedBy returns what Stopped does. If the context is not done, it returns the
// cause of an error of reading: a text was too large.
func StoppedBy(ctx context.Context, err error) jepsen.Cause {
	if ctx.Err() == nil && errors.Is(err, ErrOutOfMemory) {
		return jepsen.OutOfMemory
	}
	return Stopped(ctx)
}

// Reader reads from r until the context is done. A program that reads a long form
// as a whole asks for larger and larger pieces. If memory is not 0, the largest
// piece that it gets is an eighth of memory.
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

// Whole returns a Reader for a text that is held and parsed as a whole. Its result takes
// several times as much memory, so a text may have at most a 16th of memory.
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

// Counting returns a context in which Counted readers add the bytes that they read
// to a counter.
func Counting(ctx context.Context, read *atomic.Int64) context.Context {
	return context.WithValue(ctx, counterKey{}, read)
}

type counterKey struct{}

// Counted returns a reader whose bytes are counted, or r itself if the context
// has no counter.
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

// Writer returns a writer that writes to w until the context is done. Then its
// error is WritingStopped.
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

// WritingStopped returns an error that says that the output is incomplete, and why.
func WritingStopped(ctx context.Context) error {
	return fmt.Errorf("not written to its end: %s", Stopped(ctx))
}

// smallForm is how much may always be read at once.
const smallForm = 1 << 20
