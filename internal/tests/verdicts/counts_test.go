package verdicts_test

import (
	"fmt"
	"strings"
	"testing"

	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/models"
)

// TestModelAndFastPathCountAlikeAtTheirLimits has semaphores with as many permits as possible, and operations on
// nearly all of them: sums exceed 32 bits.
func TestModelAndFastPathCountAlikeAtTheirLimits(t *testing.T) {
	t.Parallel()
	const most = 1 << 30
	numbers := []int{1, most - 1, most}
	r := gen.Rand(7)
	for _, name := range []string{"semaphore", "owner-semaphore"} {
		var counted campaign.Counts
		for range 300 {
			spec := models.Spec{Name: name, Permits: numbers[r.IntN(3)]}
			var b strings.Builder
			for range 1 + r.IntN(2) {
				var completions []string
				for process := range 2 {
					op := fmt.Sprintf(":f %s, :value %d}\n", []string{":acquire", ":release"}[r.IntN(2)], numbers[r.IntN(3)])
					fmt.Fprintf(&b, "{:process %d, :type :invoke, %s", process, op)
					completions = append(completions, fmt.Sprintf("{:process %d, :type %s, %s", process, []string{":ok", ":ok", ":info"}[r.IntN(3)], op))
					if r.IntN(2) == 0 { // it has returned before the other begins
						b.WriteString(completions[process])
						completions[process] = ""
					}
				}
				b.WriteString(completions[1] + completions[0])
			}
			h, ops, err := campaign.ReadText(spec, b.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := counted.ByEngines(spec, h, ops, oracle.Decide(ops, oracle.Options{})); err != nil {
				t.Fatalf("%+v: %v\n%s", spec, err, b.String())
			}
		}
	}
}
