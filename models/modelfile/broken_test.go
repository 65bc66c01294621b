package modelfile_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// history returns operations that follow one another: "f value" or "f value -> out". Each
// has a process of its own; those that crashed have a ! before them, and those that failed a -.
func history(t testing.TB, ops string) *jepsen.History {
	t.Helper()
	h, err := historyOf(ops)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func historyOf(ops string) (*jepsen.History, error) {
	b := jepsen.NewBuilder(jepsen.Options{})
	for i, op := range strings.Split(ops, ", ") {
		op, crashed := strings.CutPrefix(op, "!")
		op, failed := strings.CutPrefix(op, "-")
		f, text, _ := strings.Cut(op, " ")
		in, out, two := strings.Cut(text, " -> ")
		if !two {
			out = in
		}
		given, err := b.Values().Parse([]byte(in), edn.Pos{})
		if err != nil {
			return nil, err
		}
		returned, err := b.Values().Parse([]byte(out), edn.Pos{})
		if err != nil {
			return nil, err
		}
		b.Invoke(i, f, b.Values().Value(given))
		switch {
		case crashed:
			b.Info(i, f, b.Values().Value(given))
		case failed:
			b.Fail(i, f, b.Values().Value(given))
		default:
			b.OK(i, f, b.Values().Value(returned))
		}
	}
	return b.History()
}

// comment returns the rest of a line "# word: .." of a model's text.
func comment(text, word string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# "+word+": "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestBrokenModels(t *testing.T) {
	all, err := txtar.ParseFile(filepath.Join("testdata", "broken.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Files) < 40 {
		t.Fatalf("only %d models", len(all.Files))
	}
	for _, x := range all.Files {
		text := string(x.Data)
		f, err := modelfile.Parse(x.Name, x.Data)
		if ops := comment(text, "on"); err == nil && ops != "" {
			for _, algorithm := range []string{"auto", "porcupine", "competition"} {
				r, err := clew.Check(context.Background(), history(t, ops), models.Own(f.Definition()), clew.Options{Algorithm: algorithm})
				if want := comment(text, "warning"); want != "" { // what only says things takes no verdict away
					if err != nil || r.Unsaid != want {
						t.Errorf("%s, %s:\n%v, %v\nwant\n%s", x.Name, algorithm, r, err, want)
					}
				} else if err == nil {
					t.Errorf("%s: no error, but %v", x.Name, r)
				} else if want := comment(text, "error"); err.Error() != want {
					t.Errorf("%s, %s:\n%v\nwant\n%s", x.Name, algorithm, err, want)
				}
			}
			continue
		}
		if want := comment(text, "error"); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nwant\n%s", x.Name, err, want)
		}
	}
}
