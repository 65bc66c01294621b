package register

import (
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// TestTheJudgeCatchesADecisionThatLies: a judge that cannot fail is worse than none.
func TestTheJudgeCatchesADecisionThatLies(t *testing.T) {
	const passing = "write 1 [0,1]; write 2 [2,-]; read 2 [3,4]; write 4 [5,-]"
	// The first four operations are a core; the last read fails later.
	const failing = "write 1 [0,1]; write 2 [2,3]; write 3 [4,9]; read 1 [5,6]; read 7 [7,8]"
	const ambiguous = "write 1 [0,1]; write 2 [2,3]; write 1 [4,5]; read 1 [6,7]"
	for _, c := range []struct {
		name, history, caught string
		lie                   func(d *fastpath.Decision)
	}{
		{"nothing about what is valid", passing, "", func(*fastpath.Decision) {}},
		{"nothing about what is invalid", failing, "", func(*fastpath.Decision) {}},
		{"a valid history is invalid", passing, "not linearizable, first failing completion is -1", func(d *fastpath.Decision) { d.Verdict = jepsen.Invalid }},
		{"an invalid history is valid", failing, "linearizable, first failing completion is 6", func(d *fastpath.Decision) { d.Verdict = jepsen.Valid }},
		{"nobody knows, for no reason", passing, "without a reason", func(d *fastpath.Decision) { d.Verdict = jepsen.Unknown }},
		{"nobody knows, for a wrong reason", ambiguous, "for no reason", func(d *fastpath.Decision) {
			*d = fastpath.Undecided(fastpath.Repeated.Of(3, 0, 1))
		}},
		{"nobody knows where it fails, for no reason", failing, "without a reason", func(d *fastpath.Decision) { d.FailEvent = -1 }},
		{"nobody knows, but it fails", failing, "ambiguous, and fails", func(d *fastpath.Decision) { d.Verdict = jepsen.Unknown }},
		{"it fails too early", failing, "first failing completion 6, not 3", func(d *fastpath.Decision) { d.FailEvent = 3 }},
		{"it fails too late", failing, "first failing completion 6, not 8", func(d *fastpath.Decision) { d.FailEvent = 8 }},
		{"it failed before it did", failing, "bound 3", func(d *fastpath.Decision) { d.BoundEvent = 3 }},
		{"a witness that time forbids", "write 1 [0,1]; write 2 [2,3]", "had returned before", func(d *fastpath.Decision) { slices.Reverse(d.Witness) }},
		{"a witness that the register forbids", passing, "cannot happen", func(d *fastpath.Decision) { d.Witness = []models.Row{0, 2} }},
		{"a witness that lacks something", passing, "missing", func(d *fastpath.Decision) { d.Witness = []models.Row{0} }},
		{"a witness with something twice", passing, "twice", func(d *fastpath.Decision) { d.Witness = append(d.Witness, 2) }},
		{"a witness with what nobody saw", passing, "nor did anything see it", func(d *fastpath.Decision) { d.Witness = append(d.Witness, 3) }},
		{"a witness of operations that there are not", passing, "there is no row 9", func(d *fastpath.Decision) { d.Witness = append(d.Witness, 9) }},
		{"a witness of what was before lacks something", failing, "missing", func(d *fastpath.Decision) { d.Before = nil }},
		{"a witness of what was before knows the future", failing, "which began after", func(d *fastpath.Decision) { d.Before = append(d.Before, 4) }},
		{"a core that is linearizable", failing, "linearizable", func(d *fastpath.Decision) { d.Core = []models.Row{0, 3} }},
		{"a core without the failing operation", failing, "failing operation is not in it", func(d *fastpath.Decision) { d.Core = []models.Row{0, 1} }},
		{"a core that is too large", failing, "not minimal", func(d *fastpath.Decision) { d.Core = []models.Row{0, 1, 2, 3} }},
		{"a core that is not closed", failing, "not closed", func(d *fastpath.Decision) { d.Core = []models.Row{1, 3} }},
		{"a core in disorder", failing, "does not ascend", func(d *fastpath.Decision) { slices.Reverse(d.Core) }},
		{"a core with something twice", failing, "does not ascend", func(d *fastpath.Decision) { d.Core = append(d.Core, 3) }},
		{"a core of what began later", failing, "after the failure", func(d *fastpath.Decision) { d.Core = append(d.Core, 4) }},
		{"a violation by others", failing, "explained by others", func(d *fastpath.Decision) { d.Why = Overwritten.Of(0, 2, 3) }},
		{"a violation that is none", failing, "not what core", func(d *fastpath.Decision) { d.Why = Overwritten.Of(1, 0, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := parse(t, c.history)
			d := asRegister.Decide(h, fastpath.WantWitness|fastpath.WantFailure)
			c.lie(&d)
			err := asRegister.Judge(h, d)
			if (err == nil) != (c.caught == "") || err != nil && !strings.Contains(err.Error(), c.caught) {
				t.Errorf("found %v; expected %q; %+v", err, c.caught, d)
			}
		})
	}
}
