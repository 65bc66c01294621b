package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"clew/internal/effort"
)

// The path of standard input is not known, and a file that is deleted or replaced has a new time.
func TestStandardInputThatIsDeletedIsStillWhole(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted")
	}
	path := filepath.Join(t.TempDir(), "h.edn")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer func(in *os.File) { os.Stdin = in }(os.Stdin)
	os.Stdin = f
	s := StampOf(f)
	if moved := s.Moved(); moved != "" {
		t.Errorf("before: %s", moved)
	}
	if err := errors.Join(effort.Tick(filepath.Dir(path)), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if err, moved := s.Changed(f), s.Moved(); err != nil || moved != "deleted or replaced" {
		t.Errorf("after: %v, %q", err, moved)
	}
}
