// Package house holds what the folders promise each other.
package house

import (
	"os/exec"
	"strings"
	"testing"
)

// floor is how high a folder lies. A package imports only what lies lower.
var floor = map[string]int{
	"edn": 1, "jepsen": 2, "models": 3, "fastpath": 4, "fallback": 4, "report": 5, "clew": 6, "cmd": 7,
}

// folder is the top-level folder of a package of this module, "clew" for its
// root and "" for other modules and internal packages.
func folder(path string) string {
	if path == "clew" {
		return "clew"
	}
	rest, ours := strings.CutPrefix(path, "clew/")
	if !ours {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if floor[name] == 0 {
		return ""
	}
	return name
}

func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "clew/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := folder(fields[0])
		if from == "" {
			continue
		}
		packages++
		for _, path := range fields[1:] {
			to := folder(path)
			if to != "" && to != from && floor[to] >= floor[from] {
				t.Errorf("%s imports %s, which does not lie lower", fields[0], path)
			}
		}
	}
	if packages < len(floor) {
		t.Errorf("only %d of the house's packages were seen", packages)
	}
}
