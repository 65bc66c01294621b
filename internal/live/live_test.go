package live

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func never() (time.Duration, bool) { return 0, false }

func TestATextIsReadWhole(t *testing.T) {
	want := strings.Repeat("some text ", 100_000)
	for _, r := range []io.Reader{strings.NewReader(want), iotest.HalfReader(strings.NewReader(want)), iotest.DataErrReader(strings.NewReader(want))} {
		x := NewReader(t.Context(), r, never, nil)
		got, err := io.ReadAll(x)
		if err != nil || string(got) != want {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		x.Close()
	}
	x := NewReader(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab"))), never, nil)
	if got, err := io.ReadAll(x); string(got) != "a" || err != iotest.ErrTimeout {
		t.Error(string(got), err)
	}
	x.Close()
}

func TestWhileNothingComesSomethingElseIsDone(t *testing.T) {
	in, out := io.Pipe()
	looks := 0
	enough := errors.New("enough")
	x := NewReader(t.Context(), in, func() (time.Duration, bool) { return time.Millisecond, looks < 3 }, func() error {
		if looks++; looks == 3 {
			go out.Write([]byte("late"))
		}
		return nil
	})
	p := make([]byte, 10)
	if n, err := x.Read(p); err != nil || string(p[:n]) != "late" || looks != 3 {
		t.Error(string(p[:n]), err, looks)
	}
	x.pause, x.look = func() (time.Duration, bool) { return 0, true }, func() error { return enough }
	if _, err := x.Read(p); err != enough {
		t.Error(err)
	}
	x.Close()
}

func TestAContextEndsTheWaiting(t *testing.T) {
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	time.AfterFunc(time.Millisecond, func() { cancel(over) })
	x := NewReader(ctx, in, never, nil)
	if _, err := x.Read(make([]byte, 1)); err != over {
		t.Error(err)
	}
	x.Close()
}
