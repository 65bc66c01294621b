package levels

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"clew/internal/testops"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/models"
)

var example = regexp.MustCompile("(?s)```edn\n; ([a-z-]+) (holds|fails)\n(.*?)```")

// Each level has an example in docs/transactions.md that is at it and one that is not, and the page tells what implies what.
func TestThePageOfTransactions(t *testing.T) {
	page, err := os.ReadFile("../../docs/transactions.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[models.Level][2]int{}
	for _, x := range example.FindAllStringSubmatch(string(page), -1) {
		level, holds := models.Level(x[1]), x[2] == "holds"
		spec := models.Spec{Name: "list-append"}
		if !strings.Contains(x[3], ":append") && !strings.Contains(x[3], "[]") {
			spec = models.Spec{Name: "multi-register", Init: "{}", NilReadsExact: true}
		}
		d := Decide(t.Context(), testops.Read(t, spec, x[3]), level)
		if (d.Verdict == jepsen.Valid) != holds || d.Verdict == jepsen.Unknown {
			t.Errorf("%s %s: %v, %s\n%s", level, x[2], d.Verdict, d.Why, x[3])
		}
		n := found[level]
		if holds {
			n[0]++
		} else {
			n[1]++
		}
		found[level] = n
	}
	for _, level := range models.AllLevels() {
		if n := found[level]; n[0] == 0 || n[1] == 0 {
			t.Errorf("%s has %d examples that hold and %d that fail; expected both", level, n[0], n[1])
		}
		if !strings.Contains(string(page), "\n### "+string(level)+"\n") {
			t.Errorf("%s has no section", level)
		}
	}
}
