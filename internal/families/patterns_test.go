package families

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
)

// Pipelines know violations by these names, which must not change. Nearly all have a kind.
func TestPatternsHaveNames(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := []string{
		"never-added", "fence-too-low", "fence-differs", "held-already", "not-held", "passed",
		"out-of-reach", "same-id", "not-greater", "grown", "disagree", "never-written",
		"initial-late", "replaced", "no-update", "overwritten", "backwards", "replaced-twice",
		"circle", "made-twice", "before-first", "wrong-version", "other-value", "too-few-updates",
		"never-current", "removed-twice", "seen-after-removed", "not-empty", "taken-too-often", "never-empty",
		"out-of-order", "both-first", "buried", "overtaken", "incomparable", "not-read",
		"added-before", "not-a-set", "unchanged",
		"cycle", "internal", "cycle", "internal", "never-written", "intermediate-read", "lost-update", "overwritten", "no-order", "never-appended", "incompatible-order", "duplicate-element", "torn-append", "initial-missing",
		"position-backwards", "position-twice", "position-before-first", "position-missing", "position-unmade", "position-answer", "position-never",
	}
	for _, name := range named {
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/ci.md does not list %s", name)
		}
	}
	defined := regexp.MustCompile(`fastpath\.Pattern\{\s*Name: "([a-z-]+)"`)
	kindless := []string{"before-first", "fence-differs", "never-current", "not-a-set",
		"position-before-first", "position-unmade", "position-answer", "position-never",
		"cycle", "internal", "torn-append", "initial-missing", "no-order"} // which depend on what the model is, as overwritten does of transactions
	var got []string
	collect := func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, at := range defined.FindAllStringSubmatchIndex(string(text), -1) {
			name := string(text[at[2]:at[3]])
			got = append(got, name)
			pattern, _, _ := strings.Cut(string(text[at[1]:]), "\nvar ")
			if pattern, _, _ = strings.Cut(pattern, "fastpath.Pattern{"); strings.Contains(pattern, "Kind:") == slices.Contains(kindless, name) && name != "overwritten" {
				t.Errorf("%s has a kind: %t", name, slices.Contains(kindless, name))
			}
		}
		return err
	}
	if err := filepath.WalkDir(".", collect); err != nil {
		t.Fatal(err)
	}
	got = append(got, fastpath.NeverAdded.Name)
	slices.Sort(got)
	slices.Sort(named)
	if !slices.Equal(got, named) {
		t.Errorf("the patterns are %v, want %v", got, named)
	}
}
