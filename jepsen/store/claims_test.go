package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/edn"
)

func known(record string) (string, bool) { return strings.ToLower(record), record == "Register" }

// said is claims as text.
func said(claims []Claim) string {
	var b strings.Builder
	for _, c := range claims {
		fmt.Fprintf(&b, "%s %s %s %s %d %t %s\n", c.Checker, c.Key, c.Verdict, c.Model, c.OpIndex, c.HasOp, c.Analyzer)
	}
	return b.String()
}

func TestATestFileMakesTheClaimsOfItsResults(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	files, _ := filepath.Glob(filepath.Join(root, "*", "*", "*", "test.jepsen"))
	some := 0
	for _, file := range files {
		results, err := os.Open(filepath.Join(filepath.Dir(file), "results.edn"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := ReadClaims(results, "results.edn", edn.NewValues(), known)
		if err != nil {
			t.Fatal(err)
		}
		results.Close()
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadTestClaims(context.Background(), f, file, 0, edn.NewValues(), known)
		f.Close()
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d claims, want %d, %v", file, len(got), len(want), err)
		}
		// The order is that of the maps.
		for _, c := range want {
			if !strings.Contains(said(got), said([]Claim{c})) {
				t.Errorf("%s: %s is not among\n%s", file, said([]Claim{c}), said(got))
			}
		}
		some += len(got)
	}
	if some < 7 {
		t.Errorf("only %d claims", some)
	}
}

func TestAFileThatIsNoTestMakesNoClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.jepsen")
	for _, text := range []string{"", "{}", "JEPSEN is a name"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if claims, err := ReadTestClaims(context.Background(), f, path, 0, edn.NewValues(), known); len(claims) != 0 || err != nil {
			t.Errorf("%q: %v, %v", text, claims, err)
		}
		f.Close()
	}
}

func TestMillisecondsOfATableAreFinite(t *testing.T) {
	for _, ms := range []string{"Inf", "-inf", "NaN", "1e999", "soon"} {
		_, err := ReadTable(strings.NewReader("file\tverdict\tms\nh\ttrue\t"+ms+"\n"), "t")
		if want := "t:2:1: expected milliseconds, found \"" + ms + "\""; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", ms, err, want)
		}
	}
	rows, err := ReadTable(strings.NewReader("file\tverdict\tms\nh\ttrue\t12.5\n"), "t")
	if err != nil || len(rows) != 1 || rows[0].Ms != 12.5 {
		t.Errorf("%v, %v", rows, err)
	}
}
