// Package watchdog makes work end with its context, whatever hangs: a system call, a pipe that is not read, or a loop
// that does not look at its context. Await stops waiting for work that can be left behind. If the program's own way
// out hangs, a Dog ends the process.
package watchdog

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Await calls f and reports whether it ended before the context did, or within grace after that. If it did not, it
// goes on in the background, and the caller must not read what it sets. A panic of f is passed on, with its stack. If f ends its goroutine, that is a
// panic, too.
func Await(ctx context.Context, grace time.Duration, f func()) bool {
	done := make(chan string, 1)
	begin(func() {
		bug := "runtime.Goexit was called"
		defer func() { done <- bug }()
		bug = Guarded(f)
	})
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		close(late)
	})()
	select {
	case <-late:
		return false
	case bug := <-done:
		if bug != "" {
			panic(bug)
		}
		return true
	}
}

// spare hands work to goroutines that have ended theirs.
var spare = make(chan func())

// patience is how long a goroutine waits for more work.
const patience = 100 * time.Millisecond

// begin calls f in another goroutine. If there are many small pieces of work, most of the time of new goroutines would
// go into growing their stacks.
func begin(f func()) {
	select {
	case spare <- f:
	default:
		go func() {
			more := time.NewTimer(patience)
			defer more.Stop()
			for {
				f()
				more.Reset(patience)
				select {
				case f = <-spare:
				case <-more.C:
					return
				}
			}
		}()
	}
}

// Guarded calls f and returns what it panicked with and where, or "" if it did not panic.
func Guarded(f func()) (bug string) {
	defer func() {
		if p := recover(); p != nil {
			bug = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	f()
	return ""
}

// Dog ends the process if one of its stages does not end with its context. A nil Dog never does. It is safe for
// concurrent use.
type Dog struct {
	leave  func(status int, why context.Context)
	once   sync.Once
	mu     sync.Mutex
	status func() int
}

// New returns a Dog that ends the process by calling leave, with the exit status as known then and the context that
// had ended.
func New(status int, leave func(status int, why context.Context)) *Dog {
	return &Dog{leave: leave, status: func() int { return status }}
}

// Knows tells the dog how to find out the exit status at any time.
func (d *Dog) Knows(status func() int) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status = status
}

// Leave ends the process, as its context has ended. Only the first call has an
// effect.
func (d *Dog) Leave(why context.Context) {
	d.once.Do(func() {
		d.mu.Lock()
		status := d.status
		d.mu.Unlock()
		d.leave(status(), why)
	})
}

// Stage begins a stage that ends when over is called. The dog leaves if the stage has not ended when patience has
// passed since the end of the context.
func (d *Dog) Stage(ctx context.Context, patience time.Duration) (over func()) {
	if d == nil {
		return func() {}
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(patience):
			d.Leave(ctx)
		}
	})
	return sync.OnceFunc(func() {
		stop()
		close(ended)
	})
}

type key struct{}

// With returns a context that carries the dog.
func With(ctx context.Context, d *Dog) context.Context { return context.WithValue(ctx, key{}, d) }

// Of returns the dog of a context, or nil if it has none.
func Of(ctx context.Context) *Dog {
	d, _ := ctx.Value(key{}).(*Dog)
	return d
}
