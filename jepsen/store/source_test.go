package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew/jepsen"
)

// The test.jepsen beside a history.edn stands for it only if that one is not whole.
func TestATestFileStandsForAHistoryThatIsNotWhole(t *testing.T) {
	run := filepath.Join(t.TempDir(), "20250101T000000.000Z")
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	copied := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "testfile", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(run, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("test.jepsen", copied("chunks.jepsen"))
	whole := copied("chunks.edn")
	lines := slices.Collect(strings.Lines(string(whole)))
	for _, c := range []struct {
		name, text string
		events     int
		warning    string
	}{
		{"whole", string(whole), 200, ""},
		{"longer", string(whole) + "{:index 200 :process 0 :type :invoke :f :read :value nil}", 201, ""},
		{"with a line less", strings.Join(lines[:199], ""), 200, "history.edn is cut off: it has 199 events of 200; the test.jepsen beside it was read instead"},
		{"with half a line less", string(whole[:len(whole)-20]), 200, "history.edn could not be read (200:"},
	} {
		write("history.edn", []byte(c.text))
		found, err := Find(run)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		h, err := found[0].Read(context.Background(), jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(h.Warnings, "; "); !strings.HasPrefix(got, c.warning) || (got == "") != (c.warning == "") {
			t.Errorf("%s: warnings %q, want %q", c.name, got, c.warning)
		}
		if h.Events != c.events {
			t.Errorf("%s: %d events, want %d", c.name, h.Events, c.events)
		}
	}
}
