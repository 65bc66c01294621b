package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"clew/internal/effort"
)

// program returns the program in a language that a document shows.
func program(t *testing.T, path, language string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(text), "\n```"+language+"\n")
	body, _, ended := strings.Cut(rest, "\n```\n")
	if !begun || !ended {
		t.Fatalf("%s shows no program in %s", path, language)
	}
	return body
}

// The programs that docs/own-system.md shows run as they stand, and get a verdict.
func TestProgramsForOwnSystems(t *testing.T) {
	const document = "../../docs/own-system.md"
	in := func(t *testing.T, dir, name string, args ...string) []byte {
		t.Helper()
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		return out
	}
	write := func(t *testing.T, name, language string) (dir, file string) {
		dir = t.TempDir()
		file = filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(program(t, document, language)), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir, file
	}
	checked := func(t *testing.T, dir string, events string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		status := run(context.Background(), []string{"clew", "check", "--model", "kv", filepath.Join(dir, "history.jsonl")}, nil, &stdout, &stderr)
		if status != 0 || !strings.Contains(stdout.String(), events) {
			t.Errorf("status %d\n%s%s", status, stdout.String(), stderr.String())
		}
	}
	const all = "kv, 80 operations, "
	t.Run("Python", func(t *testing.T) {
		dir, file := write(t, "test.py", "python")
		in(t, dir, "python3", file)
		checked(t, dir, all)
	})
	t.Run("Go", func(t *testing.T) {
		dir, file := write(t, "store_test.go", "go")
		in(t, ".", "go", "test", file)
		if effort.Few() { // building the other program takes seconds
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const put = "store.Store(key, value)"
		broken := filepath.Join(dir, "broken_test.go")
		if err := os.WriteFile(broken, bytes.ReplaceAll(text, []byte(put), []byte("if c.Rand.IntN(5) > 0 { "+put+" }")), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "test", broken)
		cmd.Env = append(os.Environ(), "TMPDIR="+dir, "CLEW_SEED=17")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "  process 0  :get 0 nil        ├──┤ ✗ expected 1, got nil\n") || !strings.Contains(string(out), ": 200 operations of 4 clients, CLEW_SEED=17: the history is not linearizable\n") {
			t.Errorf("a store that forgets: %v\n%s", err, out)
		}
	})
	t.Run("Rust", func(t *testing.T) {
		dir, file := write(t, "main.rs", "rust")
		in(t, dir, "rustc", "-o", filepath.Join(dir, "program"), file)
		in(t, dir, filepath.Join(dir, "program"))
		checked(t, dir, all)
	})
}
