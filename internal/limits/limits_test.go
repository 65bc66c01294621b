package limits

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clew/jepsen"
)

func TestWhyAContextIsDone(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if c := Stopped(ctx); c != jepsen.Timeout {
		t.Errorf("past its deadline: %s", c)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if c := Stopped(ctx); c != jepsen.Interrupted {
		t.Errorf("cancelled: %s", c)
	}
	full, stop := context.WithCancelCause(context.Background())
	ctx, cancel = context.WithTimeout(full, time.Hour)
	defer cancel()
	stop(ErrOutOfMemory)
	if c := Stopped(ctx); c != jepsen.OutOfMemory {
		t.Errorf("stopped for the memory: %s", c)
	}
}

func TestAReaderEndsWithItsContextAndItsMemory(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := Reader(ctx, strings.NewReader(strings.Repeat("x", 100)), 64<<20)
	if n, err := r.Read(make([]byte, 8<<20)); n != 100 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := r.Read(make([]byte, 8<<20+1)); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("a large piece: %v", err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestATextThatIsHeldAsAWholeHasItsShareOfTheMemory(t *testing.T) {
	text := strings.Repeat("x", 2<<20)
	for memory, want := range map[int64]error{0: nil, 64 << 20: nil, 32 << 20: nil, 31 << 20: ErrOutOfMemory, 1: ErrOutOfMemory} {
		if got, err := io.ReadAll(Whole(t.Context(), strings.NewReader(text), memory)); !errors.Is(err, want) || err == nil && len(got) != len(text) {
			t.Errorf("%d bytes of memory: %d bytes, %v", memory, len(got), err)
		}
	}
}

func TestWhatIsReadIsCountedIfACallerAsks(t *testing.T) {
	var read atomic.Int64
	ctx := Counting(t.Context(), &read)
	for range 2 {
		if text, err := io.ReadAll(Counted(ctx, strings.NewReader("twelve bytes"))); err != nil || string(text) != "twelve bytes" {
			t.Error(string(text), err)
		}
	}
	if read.Load() != 24 {
		t.Errorf("%d bytes", read.Load())
	}
	if r := strings.NewReader(""); Counted(t.Context(), r) != io.Reader(r) {
		t.Error("nobody asks")
	}
}
