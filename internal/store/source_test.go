package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"clew/jepsen"
)

// The test.jepsen beside a history.edn replaces it only if the history.edn is not whole.
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
		{"longer", string(whole) + "{:index 200 :process 0 :type :invoke :f :read :value nil}", 201, "it has 201 events, but the test.jepsen beside it has only 200: "},
		{"with a line less", strings.Join(lines[:199], ""), 200, "history.edn is cut off: it has 199 events of 200; the test.jepsen beside it was read instead"},
		{"with half a line less", string(whole[:len(whole)-20]), 200, "history.edn could not be read (200:"},
	} {
		write("history.edn", []byte(c.text))
		found, err := Find(t.Context(), run, Options{})
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

// A history.edn that is cut off because the test was killed causes a message in every case: for
// a run in a folder, for a file by its name, in archives, and where the caller opens the files.
func TestAKilledTestIsToldOfWhereverItIs(t *testing.T) {
	content := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "testfile", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	test, killed, history := content("chunks.jepsen"), content("killed.jepsen"), content("chunks.edn")
	first := func(n int) []byte {
		return []byte(strings.Join(slices.Collect(strings.Lines(string(history)))[:n], ""))
	}
	damaged := slices.Clone(test)
	damaged[len(damaged)-40] ^= 1 // in the index
	changed := slices.Clone(test)
	changed[400] ^= 1 // in a chunk
	may := "the history may be cut off after 150 events: the test.jepsen beside it "
	for _, c := range []struct {
		name          string
		history, test []byte
		events        int
		said          string // a warning or an error
	}{
		{"whole", history, test, 200, ""},
		{"without a test.jepsen", first(150), nil, 150, ""},
		{"fewer events", first(150), test, 200, "history.edn is cut off: it has 150 events of 200; the test.jepsen beside it was read instead"},
		{"fewer than a cut file has", first(150), test[:3000], 160, "history.edn is cut off: it has 150 events of 160; the test.jepsen beside it was read instead; the file is cut off (offset 3000)"},
		{"fewer than a killed test has", first(150), killed, 160, "history.edn is cut off: it has 150 events of 160; "},
		{"more than a cut file has", first(150), test[:2000], 0, may + "ends before the test did, after 80 events"},
		{"a file without a chunk", first(150), test[:1000], 0, may + "cannot be read ("},
		{"an empty file", first(150), []byte{}, 0, may + "is empty"},
		{"a damaged file", first(150), damaged, 0, may + "cannot be read ("},
		{"a damaged chunk", first(150), changed, 0, "the history is cut off: it has 150 events of 200, and the test.jepsen beside it cannot be read ("},
		{"a damaged chunk beside a whole history", history, changed, 200, ""},
		{"an empty file beside a damaged history", history[:len(history)-20], []byte{}, 0, "200:"},
		{"another file beside a damaged history", history[:len(history)-20], []byte("\n"), 0, "200:"},
		{"another file", first(150), []byte("Hello, world"), 0, may + "is damaged: it does not begin like a test.jepsen"},
		{"a pointer of Git LFS", first(150), []byte("version https://git-lfs.github.com/spec/v1\noid"), 150, "the test.jepsen beside it is a Git LFS pointer"},
	} {
		root := t.TempDir()
		run := filepath.Join(root, "store", "a", "20250101T000000.000Z")
		if err := os.MkdirAll(run, 0o755); err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"a/20250101T000000.000Z/history.edn": {Data: c.history}}
		if c.test != nil {
			files["a/20250101T000000.000Z/test.jepsen"] = &fstest.MapFile{Data: c.test}
		}
		for name, f := range files {
			if err := os.WriteFile(filepath.Join(root, "store", name), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found := map[string]func() ([]Source, error){
			"folder":  func() ([]Source, error) { return Find(t.Context(), filepath.Join(root, "store"), Options{}) },
			"file":    func() ([]Source, error) { return Find(t.Context(), filepath.Join(run, "history.edn"), Options{}) },
			"streams": func() ([]Source, error) { return FindFS(t.Context(), streams{files}, ".", Options{}) },
		}
		for _, ending := range []string{".tar", ".tar.gz", ".zip"} {
			path := filepath.Join(root, "store"+ending)
			if err := os.WriteFile(path, archived(t, path, files), 0o644); err != nil {
				t.Fatal(err)
			}
			found[ending] = func() ([]Source, error) { return Find(t.Context(), path, Options{}) }
		}
		for where, find := range found {
			all, err := find()
			if err != nil || len(all) != 1 {
				t.Fatal(c.name, where, all, err)
			}
			h, err := all[0].Read(t.Context(), jepsen.Options{})
			said, events := "", 0
			if err != nil {
				said = strings.TrimLeft(strings.TrimPrefix(err.Error(), all[0].Path), ": ")
			} else {
				said, events = strings.Join(h.Warnings, "; "), h.Events
			}
			if events != c.events || !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") {
				t.Errorf("%s, %s: %d events, %q; want %d, %q", c.name, where, events, said, c.events, c.said)
			}
		}
	}
}
