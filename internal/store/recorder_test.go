package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clew/jepsen"
)

// events returns n events as clew.watch records them, and as a history.edn has them.
func events(n int) (recorded, history string) {
	var lines, ops strings.Builder
	for i := range n {
		kind := []string{"invoke", "ok"}[i%2]
		fmt.Fprintf(&lines, `{"index":%d,"process":0,"type":"%s","f":"write","value":{"edn":"[:a #{%d}]"}}`+"\n", i, kind, i/2)
		fmt.Fprintf(&ops, "{:index %d, :process 0, :type :%s, :f :write, :value [:a #{%d}]}\n", i, kind, i/2)
	}
	return lines.String(), ops.String()
}

// eventsOf returns the events of a history, and some more, in the same forms.
func eventsOf(t *testing.T, path string, more int) (recorded, history string) {
	h, err := File(path).Read(t.Context(), jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines, ops strings.Builder
	event := func(i, process int64, kind, f, value string) {
		fmt.Fprintf(&lines, `{"index":%d,"process":%d,"type":"%s","f":"%s","value":%s}`+"\n", i, process, kind, f, strings.ReplaceAll(value, "nil", "null"))
		fmt.Fprintf(&ops, "{:index %d, :process %d, :type :%s, :f :%s, :value %s}\n", i, process, kind, f, value)
	}
	for e, kind := range h.Type {
		process, _ := h.Values.Int(h.Processes[h.Process[e]])
		event(int64(e), process, kind.Name(), h.Values.Str(h.F[e]), h.Values.Text(h.Value[e]))
	}
	for i := range more {
		event(int64(len(h.Type)+i), 0, []string{"invoke", "ok"}[i%2], "write", fmt.Sprint(1000+i/2))
	}
	return lines.String(), ops.String()
}

func TestARecorderStandsForAHistoryThatIsNotWhole(t *testing.T) {
	testJepsen := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "testfile", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	killed := testJepsen("killed.jepsen") // with 160 events
	killedAll, killedHistory := eventsOf(t, filepath.Join("..", "testfile", "testdata", "killed.jepsen"), 40)
	killedShorter := strings.Join(strings.SplitAfter(killedHistory, "\n")[:150], "")
	all, history := events(200)
	_, shorter := events(150)
	few, _ := events(100)
	const instead = "; the clew.jsonl beside it was read instead"
	for _, c := range []struct {
		name                  string
		history, test, record string
		from                  string
		events                int
		said                  string // a warning or an error
	}{
		{"a whole history", history, "", all, "history.edn", 200, ""},
		{"a longer history", history, "", few, "history.edn", 200, ""},
		{"no history", "", "", all, "clew.jsonl", 200, ""},
		{"a line that is not whole", "", "", all[:len(all)-20], "clew.jsonl", 199, "the last line is not whole (59 bytes), so it was left out"},
		{"a shorter history", shorter, "", all, "clew.jsonl", 200, "history.edn is cut off: it has 150 events of 200" + instead},
		{"a history that is damaged", shorter[:len(shorter)-20], "", all, "clew.jsonl", 200, "history.edn could not be read" + instead},
		{"a test that was killed", "", killed, killedAll, "clew.jsonl", 200, "test.jepsen is cut off: it has 160 events of 200" + instead},
		{"a recorder of another run", "", killed, all, "test.jepsen", 160, "the file ends in an unfinished chunk"},
		{"a recorder of another run, and a history", strings.ReplaceAll(shorter, "#{7}", "#{8}"), "", all, "history.edn", 150, "the clew.jsonl beside it has 200 events, and it has 150, which are not all among them: "},
		{"a test of another run that was killed", shorter, killed, "", "history.edn", 150, "the test.jepsen beside it has 160 events, and it has 150, which are not all among them: "},
		{"a test that was killed, and a history", killedShorter, killed, killedAll, "clew.jsonl", 200, "history.edn is cut off: it has 160 events of 200" + instead},
		{"a test without a chunk", "", killed[:1000], all, "clew.jsonl", 200, "test.jepsen could not be read" + instead},
		{"a test that is longer", "", killed, few, "test.jepsen", 160, "the file ends in an unfinished chunk"},
		{"a recorder that is damaged", shorter, "", all[:50] + "{" + all[50:], "", 0, "the history is cut off: it has 150 events of 200, and the clew.jsonl beside it cannot be read ("},
		{"a damaged one of a damaged history", shorter[:len(shorter)-20], "", all[:50] + "{" + all[50:], "", 0, "150:"},
		{"fewer events than a damaged history", shorter[:len(shorter)-20], "", few, "", 0, "150:"},
		{"a hole", "", "", strings.Join(append(strings.SplitAfter(all, "\n")[:50:50], strings.SplitAfter(all, "\n")[52:]...), ""), "", 0, "events are missing: it has 198, and the last one has index 199"},
		{"an empty one", shorter, "", "", "history.edn", 150, ""},
	} {
		root := t.TempDir()
		const run = "a/20250101T000000.000Z/"
		files := fstest.MapFS{run + "clew.jsonl": {Data: []byte(c.record)}}
		given := run + "clew.jsonl"
		if c.test != "" {
			given = run + "test.jepsen"
			files[given] = &fstest.MapFile{Data: []byte(c.test)}
		}
		if c.history != "" {
			given = run + "history.edn"
			files[given] = &fstest.MapFile{Data: []byte(c.history)}
		}
		if err := os.CopyFS(filepath.Join(root, "store"), files); err != nil {
			t.Fatal(err)
		}
		found := map[string]func() ([]Source, error){
			"folder":  func() ([]Source, error) { return Find(t.Context(), filepath.Join(root, "store"), Options{}) },
			"file":    func() ([]Source, error) { return Find(t.Context(), filepath.Join(root, "store", given), Options{}) },
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
			sources, err := find()
			if err != nil || len(sources) != 1 {
				t.Fatal(c.name, where, sources, err)
			}
			h, err := sources[0].Read(t.Context(), jepsen.Options{})
			said, from, n := "", "", 0
			if err != nil {
				said = strings.TrimLeft(strings.TrimPrefix(err.Error(), sources[0].Path), ": ")
			} else {
				said, n, from = strings.Join(h.Warnings, "; "), h.Events, filepath.Base(sources[0].From(h).Path)
			}
			if !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") || n != c.events || from != c.from {
				t.Errorf("%s, %s: %d events of %s, %q; want %d of %s, %q", c.name, where, n, from, said, c.events, c.from, c.said)
			}
		}
	}
}
