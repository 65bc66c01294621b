package main

import (
	"path/filepath"
	"strings"
	"testing"

	"clew/models"
)

// TestThePageOfFailures checks docs/failures.md: every kind of failure has its section, in order, with its meaning. Its
// example shows what clew prints, and is of the kind.
func TestThePageOfFailures(t *testing.T) {
	text := documents(t)[filepath.Join("..", "..", "docs", "failures.md")]
	sections := strings.Split(text, "\n## ")[1:]
	kinds := models.Anomalies()
	if len(sections) != len(kinds) {
		t.Fatalf("%d sections, of %d kinds", len(sections), len(kinds))
	}
	for i, kind := range kinds {
		heading, rest, _ := strings.Cut(sections[i], "\n\n")
		if strings.ReplaceAll(strings.ToLower(heading), " ", "-") != string(kind) || !strings.EqualFold(heading, kind.Words()) {
			t.Errorf("section %d is %s, want %s", i, heading, kind.Words())
		}
		for _, part := range []string{kind.Meaning() + "\n\n* Also called: ", "\n* Models: `", "\n* Usual causes:\n  * ", "\n* Next, look at ", "\n  " + kind.First(" ")[:len(kind)+2], "\n  see " + kind.Page() + "\n"} {
			if !strings.Contains("\n"+rest, part) {
				t.Errorf("%s lacks %q", heading, part)
			}
		}
		if models.AnomalyOf(string(kind)) != kind {
			t.Errorf("%s is not known by its name", kind)
		}
	}
	if _, sessions := asTold(t, "docs/failures.md"); sessions != 2*len(kinds) {
		t.Errorf("%d sessions were found, of %d kinds", sessions, len(kinds))
	}
}
