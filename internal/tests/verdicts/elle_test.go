package verdicts_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// Verdicts of small histories that an exhaustive search decided, also those for which Elle has no answer, and of longer ones
// with an anomaly that was planted.
func TestListAppendAgreesWithExhaustiveSearch(t *testing.T) {
	t.Parallel()
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	lines := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(root, "list-append", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	check := func(name, text string, want jepsen.Verdict) {
		h, err := clew.Read(strings.NewReader(text), name, jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "list-append", Init: "{}"}, clew.Options{Verify: clew.VerifyAlways})
		if err != nil || r.Verdict != want || !r.Verified {
			t.Errorf("%s: %v, want %v; verified: %t; %v\n%s", name, r.Verdict, want, r.Verified, err, text)
		}
	}
	verdicts := map[string]jepsen.Verdict{"true": jepsen.Valid, "false": jepsen.Invalid}
	histories, rows := lines("small.edn"), lines("verdicts.tsv")[1:]
	if len(histories) != len(rows) || len(rows) < 2500 {
		t.Fatalf("%d histories, %d verdicts", len(histories), len(rows))
	}
	for i, text := range histories {
		want, _, _ := strings.Cut(rows[i], "\t")
		check("small.edn", text, verdicts[want])
	}
	for name, want := range map[string]jepsen.Verdict{"serial": jepsen.Valid, "stale": jepsen.Invalid, "write-skew": jepsen.Invalid, "lost-update": jepsen.Invalid, "aborted-read": jepsen.Invalid} {
		check(name+".edn", strings.Join(lines(name+".edn"), "\n"), want)
	}
}
