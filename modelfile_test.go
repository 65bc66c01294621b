package clew_test

import (
	"path/filepath"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// starModel is a model of testdata/models.
func starModel(t *testing.T, name string) *models.Definition {
	t.Helper()
	f, err := modelfile.Load(filepath.Join("testdata", "models", name+".star"))
	if err != nil {
		t.Fatal(err)
	}
	return f.Definition()
}

// twins are the models in Starlark that are built in as well.
var twins = []string{"cas-register", "counter", "fifo-queue"}

func TestModelFilesAgreeWithTheirTwinsAndTheOracle(t *testing.T) {
	collectLess(t)
	n := 2000
	if long() {
		n = 100_000
	} else if testing.Short() {
		n = 300
	}
	for _, name := range twins {
		file := starModel(t, name)
		r := gen.Rand(16)
		valid, refused := 0, 0
		for range n {
			g := gen.New(r, gen.Options{Model: name, Init: true})
			own, twin := models.Own(file), models.Spec{Name: name}
			own.Init, twin.Init = g.Init, g.Init
			if _, _, err := readText(own, g.Text); err != nil && strings.Contains(err.Error(), "which are equal in the model and not in the history") {
				refused++
				continue
			}
			want := judged(t, twin, g.Text, "auto")
			for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
				got := judged(t, own, g.Text, algorithm)
				if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
					t.Fatalf("%s, %s: %v at event %d; the built-in model says %v at %d:\n%s", name, algorithm, got.Verdict, got.FailEvent, want.Verdict, want.FailEvent, g.Text)
				}
			}
			if want.Verdict == jepsen.Valid {
				valid++
			}
		}
		if judged := n - refused; 5*judged < 4*n || 5*valid < judged || 5*valid > 4*judged {
			t.Errorf("%s: %d valid of %d, %d refused", name, valid, n, refused)
		}
	}
}
