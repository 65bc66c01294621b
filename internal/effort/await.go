package effort

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Hang is how long a test waits for another goroutine, a process or the system before it fails. Most of what is waited for
// takes milliseconds, and all of it less than a tenth of this even beside four busy loops on two cores. So only what hangs
// is late, and no test says how soon something happens.
const Hang = 3 * time.Minute

// Await looks again and again until something holds.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Hang); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", Hang, what)
		}
	}
}

// Receive returns what comes from a channel, or its zero value once it is closed.
func Receive[T any](t testing.TB, what string, from <-chan T) (x T) {
	t.Helper()
	select {
	case x = <-from:
	case <-time.After(Hang):
		t.Fatalf("after %v still not: %s", Hang, what)
	}
	return x
}

// Tick waits until the clock of the file system of a folder is later than all that was written there.
func Tick(dir string) error {
	path := filepath.Join(dir, ".tick")
	written := func() (at time.Time, err error) {
		if err = errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
			return at, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return at, err
		}
		return info.ModTime(), os.Remove(path)
	}
	before, err := written()
	for now := before; err == nil && !now.After(before); now, err = written() {
		time.Sleep(time.Millisecond)
	}
	return err
}
