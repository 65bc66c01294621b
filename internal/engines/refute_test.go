package engines

import (
	"context"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// A crashed class that never ends explains everything that the real one explains.
func TestTheRelaxationRefutesOnlyWhatFails(t *testing.T) {
	n := effort.Histories(300, 10_000)
	for _, spec := range testops.Models() {
		model := spec.Name
		refuted, invalid := 0, 0
		for seed := range n {
			ops, text := testops.Generated(t, spec, gen.Options{Operations: 14, Crashes: 0.4}, seed)
			want := configs.Frontier{}.Decide(context.Background(), ops, fallback.Limits{})
			a := refuter{}.Decide(context.Background(), ops, fallback.Limits{})
			if want.Verdict == jepsen.Invalid {
				invalid++
			}
			switch {
			case a.Verdict != jepsen.Invalid:
				continue
			case want.Verdict != jepsen.Invalid || want.FailEvent != a.FailEvent:
				t.Fatalf("%s: refuted at %d, but it is %d (event %d):\n%s", model, a.FailEvent, want.Verdict, want.FailEvent, text)
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", model, err, text)
			}
			refuted++
		}
		t.Logf("%s: %d of %d refuted", model, refuted, invalid)
		if refuted == 0 {
			t.Errorf("%s: nothing was refuted", model)
		}
	}
}

// Banks without negative balances fail wherever banks with them fail, and in
// some more cases.
func TestALooserModelRefutesOnlyWhatFails(t *testing.T) {
	n := effort.Histories(2000, 100_000)
	refuted, invalid := 0, 0
	for seed := range n {
		ops, text := testops.Generated(t, models.Spec{Name: "bank"}, gen.Options{Operations: 14, Crashes: 0.3}, seed)
		want := configs.Frontier{}.Decide(context.Background(), ops, fallback.Limits{})
		a := loosener{}.Decide(context.Background(), ops, fallback.Limits{})
		if want.Verdict == jepsen.Invalid {
			invalid++
		}
		switch {
		case a.Verdict != jepsen.Invalid:
			continue
		case want.Verdict != jepsen.Invalid || want.FailEvent != a.FailEvent:
			t.Fatalf("refuted at %d, but it is %d (event %d):\n%s", a.FailEvent, want.Verdict, want.FailEvent, text)
		}
		if err := enginetest.Shows(ops, a); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		refuted++
	}
	t.Logf("%d of %d refuted", refuted, invalid)
	if refuted == 0 || refuted == invalid {
		t.Error("that tells too little")
	}
}
