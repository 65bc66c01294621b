package main

import (
	"strings"
	"testing"

	"clew/tools/internal/tree"
)

// The renamed copy builds, its tests compile, and nothing is left of the old name.
func TestMakeModule(t *testing.T) {
	dir := tree.Copy(t, "../..")
	in := func(folder, name string, args ...string) string {
		t.Helper()
		cmd := tree.Command(t, dir, folder, name, args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	in("", "make", "module", "PATH=example.com/x/history.v2")
	in("", "make", "module", "PATH=example.com/y/clew")
	in("", "go", "build", "./...")
	in("contrib/porcupine", "go", "build", "./...")
	in("contrib/beam", "go", "mod", "verify")
	in("tools", "go", "build", "./...")
	in("", "go", "test", "-run", "TestImportsPointDownwards", "./internal/house")
	for _, folder := range []string{"", "tools", "contrib/porcupine", "contrib/beam"} {
		for _, path := range strings.Fields(in(folder, "go", "list", "-e", "-deps", "-test", "./...")) {
			if path == "clew" || strings.HasPrefix(path, "clew/") || strings.Contains(path, "history.v2") {
				t.Errorf("%s still imports %s", folder, path)
			}
		}
	}
	if out := in("", "gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change:\n%s", out)
	}
}

func TestWhatNamesTheModule(t *testing.T) {
	r := &renaming{from: "clew", to: "example.com/x/clew", packages: map[string]bool{"clew": true, "clew/models": true, "clew/jepsen": true}}
	r.prepare()
	for before, after := range map[string]string{
		"`go doc clew/models.Func` and `go doc clew`":   "`go doc example.com/x/clew/models.Func` and `go doc example.com/x/clew`",
		"go mod edit -require clew@v0 -replace clew=..": "go mod edit -require example.com/x/clew@v0 -replace example.com/x/clew=..",
		"import (\n\t\"clew\"\n\tx \"clew/jepsen\"\n)":  "import (\n\t\"example.com/x/clew\"\n\tx \"example.com/x/clew/jepsen\"\n)",
		"analyzer clew/window, cd ../clew/models":       "analyzer clew/window, cd ../clew/models",
		"[clew/jepsen \"0.1\"], clew/jepsen {:local":    "[clew/jepsen \"0.1\"], clew/jepsen {:local",
		"`:command` is `[\"clew\"]`":                    "`:command` is `[\"clew\"]`",
	} {
		if got := r.prose(before); got != after {
			t.Errorf("%s\nbecame\n%s\nwant\n%s", before, got, after)
		}
	}
}

func TestPathsThatCannotBeFetched(t *testing.T) {
	for _, path := range []string{"", "clew", "x/clew", "/usr/bin:/bin", "example.com/x y"} {
		if err := rename("../..", path); err == nil || !strings.Contains(err.Error(), "such as example.com/x/clew") {
			t.Errorf("%q: %v", path, err)
		}
	}
}
