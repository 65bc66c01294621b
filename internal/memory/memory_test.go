package memory

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"clew/internal/limits"
)

func TestTheKeeperEndsWhatHasGoneOnForLongest(t *testing.T) {
	var k Keeper
	first, release := k.Within(context.Background())
	second, releaseSecond := k.Within(context.Background())
	third, releaseThird := k.Within(context.Background())
	defer release()
	defer releaseThird()
	releaseSecond()
	k.endOldest()
	if !errors.Is(context.Cause(first), limits.ErrOutOfMemory) || third.Err() != nil {
		t.Errorf("%v and %v, want the first to be out of memory", context.Cause(first), third.Err())
	}
	k.endOldest()
	if !errors.Is(context.Cause(third), limits.ErrOutOfMemory) || errors.Is(context.Cause(second), limits.ErrOutOfMemory) {
		t.Error("the second was released, the third is next")
	}
	k.endOldest() // nothing is left
}

func TestTheKeeperSeesWhatTheProcessHolds(t *testing.T) {
	var k Keeper
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	work, release := k.Within(ctx)
	defer release()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	go k.Watch(ctx, 1<<20)
	var held [][]byte
	for range 20 {
		held = append(held, make([]byte, 8<<20))
	}
	select {
	case <-work.Done():
	case <-time.After(10 * time.Second):
		t.Errorf("%d pieces of 8 MB, and nothing happened", len(held))
	}
	if c := limits.Stopped(work); c != "out-of-memory" {
		t.Error(c)
	}
	runtime.KeepAlive(held) // the keeper would not see memory that nothing reads again: it is collected before
}

func TestTheSystemSaysWhatIsAvailable(t *testing.T) {
	if a := available(); a <= 0 || a == unknown || a > 1<<50 {
		t.Errorf("%d bytes are available", a)
	}
	if a, err := Limit(""); err != nil || a <= 0 {
		t.Error(a, err)
	}
}
