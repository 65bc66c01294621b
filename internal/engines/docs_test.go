package engines

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The table in docs/algorithms.md has a row for every engine.
func TestTheDocsListTheEngines(t *testing.T) {
	text, err := os.ReadFile("../../docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile("(?s)\n\\| engine \\|[^\n]*\n[^\n]*\n((?:\\|[^\n]*\n)+)").FindSubmatch(text)
	if table == nil {
		t.Fatal("there is no table of engines")
	}
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllSubmatch(table[1], -1) {
		got = append(got, string(row[1]))
	}
	for _, e := range All() {
		want = append(want, e.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("docs/algorithms.md lists %v, want %v", got, want)
	}
}
