package campaign

import (
	"math/rand/v2"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// Each configuration has a few histories; TestEveryVerdictAndItsEvidenceAgreeWithTheOracle
// has more, without the changes that must not matter.
func TestUnitsFindNothingWrong(t *testing.T) {
	var all Counts
	for i, spec := range Configs() {
		if testing.Short() && i%8 > 0 {
			continue
		}
		c, err := Unit{Name(spec), uint64(i)}.some(spec, 25)
		if err != nil {
			t.Error(err)
		}
		all.Add(c)
	}
	for _, rel := range append(relations, relation{name: "keys together"}) {
		if n := all.Compared[rel.name]; n < 30 {
			t.Errorf("%s: compared %d times only", rel.name, n)
		}
	}
}

// A change that does matter is seen.
func TestRelationsSeeWhatChangesAVerdict(t *testing.T) {
	const stale = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
		"{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n"
	before := relations
	defer func() { relations = before }()
	for name, change := range map[string]func(lines []string) []int{
		"another verdict":       func(lines []string) []int { lines[3] = strings.Replace(lines[3], "7", "1", 1); return each(lines) },
		"another failing event": func(lines []string) []int { return []int{0, 1, 3, 2} },
	} {
		relations = []relation{{name: name, change: func(_ *rand.Rand, _ *models.Spec, _ *jepsen.History, _ *models.Operations, lines []string) ([]string, []int) {
			was := change(lines)
			return lines, was
		}}}
		if err := new(Counts).Relations(gen.Rand(1), models.Spec{Name: "register"}, stale); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
