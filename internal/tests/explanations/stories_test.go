package explanations_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"clew/internal/option"
	"clew/internal/oracle"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// TestStories runs the table of testdata/stories: a small history, and what clew check prints
// about its failure between the line of the model and the picture.
//
//	story MODEL [as for TestCases] [model-file=NAME of testdata/models]
//
// The oracle examines what is said of each. Every model is there, and every kind of failure.
//
// go test -run TestStories ./internal/tests/explanations -rewrite writes the stories again; read them as somebody who only
// knows the database.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(kit.Path("testdata/stories/*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows, told, kinds := 0, map[string]bool{}, map[models.Anomaly]bool{}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "story" {
					t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
				}
				q, err := asked(t, d)
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				r, err := q.answer(d.Input, "")
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				rows++
				told[r.Model], kinds[r.Kind] = true, true
				if err := examined(r); err != nil && r.Kind != models.BrokenGuarantee { // no step can tell that
					return story(r) + "the oracle objects: " + err.Error() + "\n"
				}
				return story(r)
			})
		})
	}
	for _, d := range models.All() {
		if !told[d.Name] {
			t.Errorf("no story is about a %s", d.Name)
		}
	}
	for _, kind := range models.Anomalies() {
		if !kinds[kind] {
			t.Errorf("no story is about a %s", kind.Words())
		}
	}
	if rows < 120 {
		t.Errorf("only %d stories", rows)
	}
}

// story returns what the text of a result says, without what stands before it and the pictures. It
// names flags, as clew check does.
func story(r *report.Result) string {
	first, rest, _ := strings.Cut(r.Text(), "\n")
	var b strings.Builder
	if r.Verdict != jepsen.Invalid {
		b.WriteString(first + "\n")
	}
	saying := false
	for i, line := range strings.Split(rest, "\n") {
		line = strings.TrimPrefix(line, "  ")
		switch {
		case i == 0 && r.Keys == nil:
			saying = true
		case line == "":
			saying = false
		case strings.HasPrefix(line, "key "):
			saying = true
			fallthrough
		case saying:
			b.WriteString(line + "\n")
		}
	}
	return strings.NewReplacer(models.ParamInit.String(), "--"+string(models.ParamInit), option.Independent.Field, option.Independent.Flag, option.Whole.Field, option.Whole.Flag).Replace(b.String())
}

// examined says what the oracle finds wrong with a result.
func examined(r *report.Result) error {
	for i := range r.Keys {
		if err := examined(r.Keys[i].Result()); err != nil {
			return err
		}
	}
	if r.Keys != nil || r.Verdict == jepsen.Unknown {
		return nil
	}
	ops, err := r.Spec.Read(r.History)
	if err != nil {
		return err
	}
	return oracle.Examine(r, ops, oracle.Decide(ops, oracle.Options{}), oracle.Options{})
}
