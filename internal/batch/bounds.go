package batch

import (
	"context"
	"errors"
	"runtime"
	"time"

	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/watchdog"
	"clew/jepsen"
)

// Bounds are the limits of a batch, and how they are kept.
type Bounds struct {
	TimeLimit time.Duration // for each job, its reading included; 0 is none
	Memory    int64         // about how many bytes the process may hold; 0 is no limit
	Dog       *watchdog.Dog // ends the process if something hangs; nil: nothing does

	keeper memory.Keeper
}

// Patience is how long work may take to end on its own after a signal or a limit. Grace is how long a check may take to say how far it
// got, and Overdue how long an answer may take after that. What has not ended by then is left behind. Tests of what was
// found by then set longer times, since a machine may be busy.
var (
	Patience = 190 * time.Millisecond
	Grace    = 120 * time.Millisecond
	Overdue  = Grace + 20*time.Millisecond
)

// Writing may take lastMoment once the time is over. Removing temporary files may then take tidying.
var (
	lastMoment = 60 * time.Millisecond
	tidying    = 40 * time.Millisecond
)

// BePatient gives whatever a signal or a limit ends so many times as long, for tests on a busy machine. It is called
// before anything begins.
func BePatient(times time.Duration) {
	for _, t := range []*time.Duration{&Patience, &Grace, &Overdue, &lastMoment, &tidying} {
		*t *= times
	}
}

// Watch begins to keep the process within the memory limit, until the context is done. It does not wait for that. If
// the context shares a limit with other batches, that one is kept already.
func (b *Bounds) Watch(ctx context.Context) {
	if k, _ := memory.Shared(ctx); k == nil {
		go b.keeper.Watch(ctx, b.Memory)
	}
}

// Room returns a context that ends if there is not enough memory.
func (b *Bounds) Room(ctx context.Context) (context.Context, context.CancelFunc) {
	if k, _ := memory.Shared(ctx); k != nil {
		return k.Within(ctx)
	}
	return b.keeper.Within(ctx)
}

// Stage returns a context for a stage of a job. If there is a time limit, the stage may take as long as left. It ends
// if there is not enough memory.
func (b *Bounds) Stage(ctx context.Context, left time.Duration) (context.Context, context.CancelFunc) {
	ctx, release := b.Room(ctx)
	if b.TimeLimit == 0 {
		return ctx, release
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	return ctx, func() {
		cancel()
		release()
	}
}

// Bounded calls f within the limits and returns its error. It also returns what stopped f, or "". If f was stopped it
// may go on, so the caller must not read what it sets.
func (b *Bounds) Bounded(ctx context.Context, f func(context.Context) error) (stopped jepsen.Cause, err error) {
	ctx, done := b.Stage(ctx, b.TimeLimit)
	defer done()
	return Await(ctx, func() error { return f(ctx) })
}

// First does what Bounded does for work before the first history: that has a moment even if the limit is shorter.
func (b *Bounds) First(ctx context.Context, f func(context.Context) error) (stopped jepsen.Cause, err error) {
	ctx, done := b.Stage(ctx, max(b.TimeLimit, 2*Patience))
	defer done()
	return Await(ctx, func() error { return f(ctx) })
}

// Await does what Bounded does with a context that has the limits.
func Await(ctx context.Context, f func() error) (stopped jepsen.Cause, err error) {
	var failed error // unlike err it may be set later
	switch {
	case ctx.Err() != nil || !watchdog.Await(ctx, 0, func() { failed = f() }):
		return limits.Stopped(ctx), nil
	case failed != nil && (ctx.Err() != nil || errors.Is(failed, limits.ErrOutOfMemory)):
		return limits.StoppedBy(ctx, failed), nil
	}
	return "", failed
}

// Within returns what do returns within the limits, of which a job has some left. If do has not ended a moment after
// them, it is left behind, and late says what to return.
func Within[T any](ctx context.Context, b *Bounds, left time.Duration, do func(context.Context) T, late func(jepsen.Cause) T) T {
	ctx, done := b.Stage(ctx, left)
	defer done()
	var x T
	if watchdog.Await(ctx, Overdue, func() { x = do(ctx) }) {
		return x
	}
	return late(limits.Stopped(ctx))
}

// Lastly returns a context for writing what is known. It has what is left of a time limit, but always a moment, even
// once the given context is done. After that, the process soon stops waiting for the writing to end. The caller calls
// the returned function when it has ended.
func (b *Bounds) Lastly(ctx context.Context, left time.Duration) (context.Context, context.CancelFunc) {
	limited, release := b.Stage(ctx, left)
	last, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(limited, func() {
		time.Sleep(lastMoment)
		end(context.Cause(limited))
	})
	over := b.Dog.Stage(last, 2*tidying)
	return last, func() {
		over()
		stop()
		end(nil)
		release()
	}
}

// UnlessBlocked returns the error of f, which writes as long as the context is not done. If nothing reads what f
// writes, f may go on, and UnlessBlocked does not wait for it.
func UnlessBlocked(ctx context.Context, f func() error) error {
	var err error
	if !watchdog.Await(ctx, tidying, func() { err = f() }) {
		return limits.WritingStopped(ctx)
	}
	if err != nil && errors.Is(err, context.Cause(ctx)) { // such as that of drawing
		return limits.WritingStopped(ctx)
	}
	return err
}

// InOrder calls do for 0 to n-1, as many at once as there are processors. It calls done with each answer in order,
// until done returns false. Before each do it calls ahead, in order, one at a time.
func InOrder[T any](n int, ahead func(i int), do func(i int) T, done func(i int, x T) bool) {
	answers := make([]chan T, n)
	for i := range answers {
		answers[i] = make(chan T, 1)
	}
	stop := make(chan struct{})
	defer close(stop)
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), n) {
		go func() {
			for i := range next {
				answers[i] <- do(i)
			}
		}()
	}
	go func() {
		defer close(next)
		for i := range n {
			ahead(i)
			select {
			case next <- i:
			case <-stop:
				return
			}
		}
	}()
	for i := range n {
		if !done(i, <-answers[i]) {
			return
		}
	}
}
