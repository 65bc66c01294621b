package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// clocks are the files of tests that may look at the clock, and why no busy machine makes these tests fail.
var clocks = map[string]string{
	"api/api_test.go":                      "a limit of a millisecond passes, however long that takes",
	"clewtest/recorder_test.go":            "the clock is that of a synctest bubble",
	"clewtest/run_test.go":                 "a log says how long it took",
	"clewtest/systems_test.go":             "a system of a user that takes its time",
	"contrib/porcupine/positioned_test.go": "it waits for a sign, for up to a minute",
	"contrib/porcupine/verbose_test.go":    "a step that takes its time, so that a limit passes, however long that takes",
	"internal/diagnosis/diagnosis_test.go": "the times are those of the test's own arrivals",
	"internal/files/tidy_test.go":          "a process that is killed meanwhile",
	"internal/serve/serve_test.go":         "checks that run at once would be seen together; if they are not, nothing fails",
	"internal/watchdog/watchdog_test.go":   "the clock is that of a synctest bubble",
	"jepsen/forms/follow_test.go":          "it sleeps for longer than there is time to read what has come, so what it expects needs no haste",
	"tools/adding/adding_test.go":          "a log says how long it took",

	"cmd/clew/follow_test.go":               "it waits for longer and longer until clew has come as far as a test needs",
	"cmd/clew/certain_test.go":              "it waits for longer and longer until clew has read what it then must not lose",
	"cmd/clew/script_test.go":               "it waits for longer and longer until clew has come as far as a test needs",
	"cmd/clew/shard_test.go":                "it kills a process anywhere in the time that a whole run takes; wherever that is, nothing fails",
	"cmd/clew/store_test.go":                "it looks again and again how much memory a process has",
	"cmd/clew/watchdog_test.go":             "it waits for longer and longer until clew has come as far as a test needs",
	"internal/tests/monitor/follow_test.go": "it gives a reader time to make a mistake; less time hides the mistake, and fails nothing",
	"internal/tests/ownmodels/func_test.go": "a step that takes its time, so that a limit passes, however long that takes",
	"internal/tests/real/wild_test.go":      "a file that is written slowly; the reader waits a thousand times as long",
}

// A test that sleeps, or compares how long something took with a bound, fails on a busy machine or takes longer than it
// must. It waits for signs instead (internal/effort), counts work, or has a clock of its own (testing/synctest).
func TestTestsDoNotLookAtTheClock(t *testing.T) {
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != root:
			return filepath.SkipDir
		case !strings.HasSuffix(p, "_test.go"):
			return nil
		}
		files++
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		looks := false
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Benchmark") {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && looksAtTheClock(call) {
					if looks = true; clocks[rel] != "" {
						return true
					}
					t.Errorf("%s: expected no time.Sleep, and no duration that was measured; wait for a sign, or list the file with a reason", fset.Position(n.Pos()))
				}
				return true
			})
		}
		if !looks && clocks[rel] != "" {
			t.Errorf("%s does not look at the clock, so it needs no place in the list", rel)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were found, %v", files, err)
	}
}

// looksAtTheClock reports whether a call sleeps or measures a duration.
func looksAtTheClock(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := f.X.(*ast.Ident)
	switch f.Sel.Name {
	case "Sleep", "Since", "Until":
		return of != nil && of.Name == "time"
	case "Elapsed":
		return of == nil || of.Name != "b" // of a benchmark
	case "Sub":
		return len(call.Args) == 1
	}
	return false
}
