package kit

import (
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// Calls returns a history of operations that follow one another, each "f value" and by a process of its own. A !
// before an operation says that it crashed.
func Calls(t *testing.T, ops ...string) *jepsen.History {
	t.Helper()
	b := jepsen.NewBuilder(jepsen.Options{})
	for i, op := range ops {
		op, crashed := strings.CutPrefix(op, "!")
		f, text, _ := strings.Cut(op, " ")
		v, err := b.Values().Parse([]byte(text), edn.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		value := b.Values().Value(v)
		b.Invoke(i, f, value)
		if crashed {
			b.Info(i, f, value)
		} else {
			b.OK(i, f, value)
		}
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// StarModel returns a model of testdata/models.
func StarModel(t *testing.T, name string) *models.Definition {
	t.Helper()
	f, err := modelfile.Load(Path("testdata", "models", name+".star"))
	if err != nil {
		t.Fatal(err)
	}
	return f.Definition()
}

// Twins are the models in Starlark that are also built in.
var Twins = []string{"cas-register", "counter", "fifo-queue"}

// OwnFile returns a test's own model file.
func OwnFile(t *testing.T, text string) models.Spec {
	t.Helper()
	f, err := modelfile.Parse("own.star", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return models.Own(f.Definition())
}
