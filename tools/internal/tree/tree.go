// Package tree copies the repository for tests that change it.
package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Copy returns a folder with the files of the repository, as they are now. root leads to
// the repository. Files that git ignores stay behind.
func Copy(t testing.TB, root string) string {
	t.Helper()
	to := t.TempDir()
	const copies = `cd "$1" && git ls-files -co --exclude-standard -z | xargs -0 ls -d 2> /dev/null | tar -cf - -T - | tar -xf - -C "$2"`
	if out, err := exec.Command("sh", "-c", copies, "sh", root, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}

// Command returns a command for a folder of a copy. Go keeps what the command builds for
// the next copy, wherever that is.
func Command(t testing.TB, dir, folder, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = filepath.Join(dir, folder), append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false")
	return c
}
