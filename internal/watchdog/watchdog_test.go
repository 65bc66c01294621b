package watchdog

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNothingWaitsForLongForWhatWasStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	never := make(chan struct{})
	defer close(never)
	if Await(ctx, 20*time.Millisecond, func() { <-never }) {
		t.Error("it never ended")
	}
	if !Await(ctx, time.Minute, func() { <-ctx.Done() }) {
		t.Error("it ended within the grace")
	}
}

func TestAPanicOfWhatIsAwaitedIsPassedOn(t *testing.T) {
	bug := Guarded(func() { Await(t.Context(), 0, func() { panic("no such row") }) })
	if !strings.HasPrefix(bug, "no such row\n") || !strings.Contains(bug, "watchdog_test.go") {
		t.Error(bug)
	}
	if bug := Guarded(func() { Await(t.Context(), 0, runtime.Goexit) }); !strings.HasPrefix(bug, "runtime.Goexit was called\n") {
		t.Errorf("it ends its goroutine: %q", bug)
	}
}

func TestADogLeavesWhenAStageDoesNotEndWithItsContext(t *testing.T) {
	left := make(chan int, 2)
	d := New(254, func(status int, why context.Context) { left <- status })
	ctx, end := context.WithCancel(t.Context())
	over := d.Stage(ctx, time.Millisecond)
	hung := d.Stage(ctx, 50*time.Millisecond)
	over()
	over() // A second call does nothing.
	d.Knows(func() int { return 1 })
	end()
	if status := <-left; status != 1 {
		t.Errorf("status %d", status)
	}
	hung()
	d.Leave(ctx)
	if len(left) > 0 {
		t.Error("it left twice")
	}
}

func TestADogStaysWhileNothingHangs(t *testing.T) {
	d := New(254, func(int, context.Context) { t.Error("it left") })
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		stage, end := context.WithCancel(t.Context())
		over := d.Stage(stage, 50*time.Millisecond)
		end()
		over()
		d.Stage(ctx, 0)
		time.Sleep(time.Hour)
	})
	var none *Dog
	none.Stage(ctx, 0)()
	none.Knows(nil)
	if Of(With(ctx, d)) != d || Of(ctx) != nil {
		t.Error("a context has another dog")
	}
}
