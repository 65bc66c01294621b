package configs_test

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
)

// Narrow beams drop most of what there is, so they must know that they did.
func TestANarrowBeamDoesNotRefute(t *testing.T) {
	defer configs.NarrowBeams()()
	gaveUp, decided := 0, 0
	for _, spec := range testops.Models() {
		for seed := range effort.Histories(40, 10_000) {
			ops, text := testops.Generated(t, spec, gen.Options{Operations: 10, Values: 2, Crashes: 0.4}, seed)
			want := configs.Frontier{}.Decide(context.Background(), ops, fallback.Limits{})
			a := configs.Beam{GivesUp: true}.Decide(context.Background(), ops, fallback.Limits{})
			switch {
			case a.Verdict == jepsen.Unknown:
				gaveUp++
				continue
			case a.Verdict != want.Verdict || a.FailEvent != want.FailEvent:
				t.Fatalf("%s: beam says %d (event %d), but it is %d (event %d):\n%s", spec.Name, a.Verdict, a.FailEvent, want.Verdict, want.FailEvent, text)
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Fatalf("%s: %v\n%s", spec.Name, err, text)
			}
			decided++
		}
	}
	t.Logf("%d decided, %d given up", decided, gaveUp)
	if gaveUp == 0 || decided == 0 {
		t.Error("that tells too little")
	}
}
