package configs_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func TestNoRuleChangesAnAnswer(t *testing.T) {
	n := effort.Histories(60, 20_000)
	for _, spec := range testops.Models() {
		model := spec.Name
		valid, invalid := 0, 0
		for seed := range n {
			ops, text := testops.Generated(t, spec, gen.Options{}, seed)
			known := decided{porcupine.Engine{}.Decide(t.Context(), ops, fallback.Limits{})}
			for i, name := range slices.Sorted(maps.Keys(enginetest.Switches)) {
				if !effort.Takes(int(seed) + i) {
					continue
				}
				rules := enginetest.Switches[name]
				enginetest.Compare(t, ops, text, model+", "+name, configs.Frontier{Rules: rules}, known)
				switch enginetest.Compare(t, ops, text, model+", "+name, configs.Window{Rules: rules}, known) {
				case jepsen.Valid:
					valid++
				case jepsen.Invalid:
					invalid++
				}
			}
		}
		if valid == 0 || invalid == 0 {
			t.Errorf("%s: %d valid, %d invalid: one verdict is missing", model, valid, invalid)
		}
	}
}

// A cas that fails leaves what was possible before, even if it runs alone: of two
// writes at the same time either may have been the last.
func TestAFailedCASFixesNoState(t *testing.T) {
	const before = "0 :invoke :write 1\n1 :invoke :write 2\n0 :ok :write 1\n1 :ok :write 2\n" +
		"2 :invoke :cas [3 4]\n2 :fail :cas [3 4]\n"
	for value, want := range []jepsen.Verdict{1: jepsen.Valid, 2: jepsen.Valid, 3: jepsen.Invalid} {
		if value == 0 {
			continue
		}
		for _, cas := range []string{"", "2 :invoke :cas [3 4]\n2 :fail :cas [3 4]\n"} {
			text := before + cas + fmt.Sprintf("0 :invoke :read nil\n0 :ok :read %d\n", value)
			ops := testops.Read(t, models.Spec{Name: "cas-register", ObserveFailedCAS: true}, text)
			for name, e := range map[string]fallback.Engine{"window": configs.Window{}, "frontier": configs.Frontier{}, "porcupine": porcupine.Engine{}} {
				if a := enginetest.Within(e, ops, 60*enginetest.WorkPerSecond); a.Verdict != want {
					t.Errorf("%s says %s, want %s:\n%s", name, a.Verdict, want, text)
				}
			}
		}
	}
}

// Each operation that is open has a bit of its own. The end of a word changes nothing.
func TestAsManyOpenOperationsAsAWordHasBits(t *testing.T) {
	var counts []int
	for _, word := range []int{64, 128} {
		for n := word - 3; n <= word+2; n++ {
			counts = append(counts, n)
		}
	}
	for _, n := range counts {
		for read, want := range map[int]jepsen.Verdict{0: jepsen.Valid, 1: jepsen.Valid, n / 2: jepsen.Valid, n: jepsen.Valid, n + 1: jepsen.Invalid} {
			var begin, end strings.Builder
			for p := range n {
				fmt.Fprintf(&begin, "%d :invoke :add 1\n", p)
				fmt.Fprintf(&end, "%d :ok :add 1\n", p)
			}
			text := begin.String() + fmt.Sprintf("%d :invoke :read nil\n%[1]d :ok :read %d\n", n, read) + end.String()
			ops := testops.Read(t, models.Spec{Name: "counter"}, text)
			for name, e := range map[string]fallback.Engine{"window": configs.Window{}, "frontier": configs.Frontier{}} {
				a := enginetest.Within(e, ops, 60*enginetest.WorkPerSecond)
				if a.Verdict != want || enginetest.Shows(ops, a) != nil {
					t.Errorf("%s says %s of a read of %d with %d adds open, want %s; %v", name, a.Verdict, read, n, want, enginetest.Shows(ops, a))
				}
			}
		}
	}
}

// decided gives porcupine's answer again.
type decided struct{ answer fallback.Answer }

func (decided) Name() string { return "porcupine" }

func (d decided) Decide(context.Context, *models.Operations, fallback.Limits) fallback.Answer {
	return d.answer
}

func TestEnginesAgreeOnLongerHistories(t *testing.T) {
	n := effort.Histories(30, 2000)
	if effort.Few() {
		n = 10
	}
	for _, spec := range testops.Models() {
		model := spec.Name
		valid, invalid, unknown := 0, 0, 0
		// A few histories may all have the same verdict.
		for seed := uint64(0); seed < n || seed < 60 && (valid == 0 || invalid == 0); seed++ {
			ops, text := testops.Generated(t, spec, gen.Options{Operations: 40}, 1_000_000+seed)
			known := decided{enginetest.Within(porcupine.Engine{}, ops, enginetest.WorkPerSecond)}
			if known.answer.Verdict == jepsen.Unknown {
				unknown++
				continue
			}
			enginetest.Compare(t, ops, text, model, configs.Frontier{}, known)
			switch enginetest.Compare(t, ops, text, model, configs.Window{}, known) {
			case jepsen.Valid:
				valid++
			case jepsen.Invalid:
				invalid++
			}
		}
		t.Logf("%s: %d valid, %d invalid, %d not decided by porcupine", model, valid, invalid, unknown)
		if valid == 0 || invalid == 0 {
			t.Errorf("%s: one verdict is missing", model)
		}
	}
}
