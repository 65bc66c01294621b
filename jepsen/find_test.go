package jepsen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// store makes empty files and returns their folder.
func store(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestADirectoryStandsForItsHistories(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"every history.edn below it, and no other file",
			"a/1/history.edn a/1/results.edn b/history.edn c.edn", "a/1/history.edn b/history.edn"},
		{"not the parts of a history beside it",
			"a/history.edn a/independent/1/history.edn", "a/history.edn"},
		{"the parts alone, where there is no whole",
			"independent/1/history.edn", "independent/1/history.edn"},
		{"every .edn, where there is no history.edn",
			"b.edn.gz a.edn c/d.edn.zst e.log", "a.edn b.edn.gz c/d.edn.zst"},
	} {
		root := store(t, strings.Fields(c.files)...)
		found, err := Find(root)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range found {
			found[i], _ = filepath.Rel(root, found[i])
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSymbolicLinksAreFollowedOnlyWhereTheyAreGiven(t *testing.T) {
	root := store(t, "real/history.edn")
	if err := os.Symlink("real", filepath.Join(root, "latest")); err != nil {
		t.Skip(err)
	}
	if found, err := Find(root); err != nil || len(found) != 1 {
		t.Errorf("%v (%v): a link below the folder was followed", found, err)
	}
	if found, err := Find(filepath.Join(root, "latest")); err != nil || len(found) != 1 {
		t.Errorf("%v (%v): the given link was not followed", found, err)
	}
}
