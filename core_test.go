package clew_test

import (
	"fmt"
	"slices"
	"testing"

	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// coresOf has an algorithm check small random histories of a model, and gives the core of
// each failure to f, as rows, with the operations and their oracle.
func coresOf(t *testing.T, spec models.Spec, algorithm string, histories int, f func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error) {
	t.Helper()
	if algorithm == "auto" {
		histories *= 4 // a near-linear decision finds most cores, and then they are made smaller
	}
	random, invalid := gen.Rand(uint64(len(algorithm))), 0
	for k := range histories {
		o := campaign.GenOptions(spec)
		o.Init, o.Operations, o.OneKey = true, 8+k%5, k%2 == 0
		g := gen.New(random, o)
		spec.Init = g.Init
		h, ops, err := campaign.ReadText(spec, g.Text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := campaign.Checked(h, spec, algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != jepsen.Invalid {
			continue
		}
		invalid++
		var core []models.Row
		for row, op := range ops.Of {
			if slices.Contains(r.Core, op) {
				core = append(core, models.Row(row))
			}
		}
		small := oracle.Of(ops, oracle.Options{})
		if err := small.Core(core, int32(r.FailEvent), nil); err != nil {
			t.Fatalf("%s by %s: core %v: %v\n%s", campaign.Name(spec), algorithm, core, err, g.Text)
		}
		if err := f(r, ops, small, core); err != nil {
			t.Fatalf("%s by %s, from %s: core %v: %v: %s\n%s", campaign.Name(spec), algorithm, spec.Init, core, err, r.Explanation, g.Text)
		}
	}
	if invalid < histories/4 {
		t.Errorf("%s by %s: %d failures, expected more", campaign.Name(spec), algorithm, invalid)
	}
}

// coreHistories is how many histories an algorithm has in a test of cores.
func coreHistories() int {
	if long() {
		return 20_000
	}
	return 300
}

// A register that counts its updates fails where a version is missing, so a sub-history
// fails elsewhere if it lacks one that counts. No operation of a core can be left out so
// that, as a history of its own, it still fails at the operation that fails.
func TestCoresOfVersionedRegistersAreMinimal(t *testing.T) {
	for _, algorithm := range []string{"auto", "fast", "window", "frontier", "porcupine"} {
		coresOf(t, models.Spec{Name: "versioned-register"}, algorithm, coreHistories(), func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error {
			fail := int32(r.FailEvent)
			for _, row := range core {
				less := oracle.SetOf(core) &^ (1 << row)
				if ops.Res[row] != fail && h.Linearizable(fail, less) && !h.Linearizable(fail+1, less) {
					return fmt.Errorf("row %d could be left out", row)
				}
			}
			return nil
		})
	}
}

// A choice of operations of a multi-register is closed if what made a value that one of
// them reads, or might have made it, is in it, too. No smaller closed choice than a core
// fails.
func TestCoresOfMultiRegistersAreMinimal(t *testing.T) {
	for _, exact := range []bool{false, true} {
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
			coresOf(t, models.Spec{Name: "multi-register", NilReadsExact: exact}, algorithm, coreHistories(), func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error {
				all := oracle.SetOf(core)
				closed := func(s oracle.Set) bool { return s == all || nothingElseIsSeen(ops, int32(r.FailEvent), s) }
				return h.Core(core, int32(r.FailEvent), closed)
			})
		}
	}
}

// nothingElseIsSeen says whether no operation of a set can have seen what one outside made:
// that one began before it returned, and had not returned before another one of the set
// began that had itself returned before it began, and that replaced the value.
func nothingElseIsSeen(ops *models.Operations, fail int32, s oracle.Set) bool {
	m := ops.Model.(models.Replacing)
	replaced := func(place, before int32) int32 {
		since := int32(-1)
		for _, row := range s.Rows() {
			for _, c := range m.Makes(nil, ops.Op(row)) {
				if c.Place == place && ops.Res[row] < before {
					since = max(since, ops.Inv[row])
				}
			}
		}
		return since
	}
	for other := range models.Row(ops.Len()) {
		if s.Has(other) || ops.Inv[other] >= fail {
			continue
		}
		for _, made := range m.Makes(nil, ops.Op(other)) {
			for _, row := range s.Rows() {
				cells, _ := m.Sees(nil, ops.Op(row))
				if slices.Contains(cells, made) && ops.Inv[other] < ops.Res[row] && ops.Res[other] > replaced(made.Place, ops.Inv[row]) {
					return false
				}
			}
		}
	}
	return true
}
