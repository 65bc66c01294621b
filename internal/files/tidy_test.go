//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestWhatAKilledRunLeftIsRemoved kills a process while it writes. The next one removes what it left, and nothing
// else.
func TestWhatAKilledRunLeftIsRemoved(t *testing.T) {
	if dir := os.Getenv("CLEW_TEST_WRITES_IN"); dir != "" {
		To(filepath.Join(dir, "killed"), nil, nil).Write(func(w io.Writer) error {
			io.WriteString(w, "half")
			os.Stdout.WriteString("writing")
			time.Sleep(time.Minute)
			return nil
		})
		return
	}
	dir := t.TempDir()
	start := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestWhatAKilledRunLeftIsRemoved$")
		c.Env = append(os.Environ(), "CLEW_TEST_WRITES_IN="+dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err == nil {
			_, err = io.ReadFull(out, make([]byte, len("writing")))
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		return c
	}
	killed := start()
	killed.Process.Kill()
	killed.Wait()
	list := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	left := list()
	if len(left) != 1 {
		t.Fatalf("%q are left of the killed process, want one file", left)
	}
	start() // this one lives
	living := slices.DeleteFunc(list(), func(name string) bool { return name == left[0] })
	others := []string{".clew-", ".clew-1a", ".clew-notes", "clew-12", ".clew-12.edn"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".clew-77"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("clew-12", filepath.Join(dir, ".clew-78")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".clew-79"), nil, 0o600); err != nil { // made within the last minute
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	for _, name := range slices.Concat(left, living, others, []string{".clew-77"}) {
		if err := os.Chtimes(filepath.Join(dir, name), before, before); err != nil {
			t.Fatal(err)
		}
	}
	if err := To(filepath.Join(dir, "next"), nil, nil).Write(func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(slices.Concat(living, others, []string{".clew-77", ".clew-78", ".clew-79", "next"})))
	if got := list(); !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}
