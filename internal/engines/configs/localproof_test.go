package configs_test

import (
	"context"
	"math/rand/v2"
	"slices"
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

// Here, searches ask for local proofs at once, of longer and longer ends of the
// history.
func TestALocalProofIsOne(t *testing.T) {
	defer configs.ProveLocallyAtOnce()()
	n := effort.Histories(1000, 20_000)
	for _, model := range []string{"register", "cas-register", "mutex", "multi-register", "set"} {
		valid, invalid := 0, 0
		for seed := range n {
			ops, text := testops.Generated(t, models.Spec{Name: model}, gen.Options{Operations: int(10 + seed%20)}, seed)
			switch enginetest.Compare(t, ops, text, model, configs.Window{}, configs.Frontier{Rules: configs.Rules{NoCovering: true, NoDomination: true}}) {
			case jepsen.Valid:
				valid++
			case jepsen.Invalid:
				invalid++
			}
		}
		if valid == 0 || invalid == 0 {
			t.Errorf("%s: %d valid, %d invalid: one verdict is missing", model, valid, invalid)
		}
	}
}

// More operations do not make a core linearizable.
func TestACoreFailsWithWhateverElse(t *testing.T) {
	n := effort.Histories(300, 5000)
	smaller := 0
	for _, model := range []string{"register", "cas-register", "multi-register"} {
		for seed := range n {
			ops, text := testops.Generated(t, models.Spec{Name: model}, gen.Options{Operations: int(5 + seed%30)}, seed)
			a := configs.Window{}.Decide(context.Background(), ops, fallback.Limits{})
			if a.Verdict != jepsen.Invalid {
				continue
			}
			core := fallback.Core(context.Background(), configs.Window{}, ops, a.FailEvent, fallback.Limits{})
			if len(core) < ops.Len() {
				smaller++
			}
			r := rand.New(rand.NewPCG(seed, 1))
			for try := range 5 {
				var rows []int32
				for i := range int32(ops.Len()) {
					if slices.Contains(core, i) || try > 0 && r.IntN(4) < try {
						rows = append(rows, i)
					}
				}
				cut := ops.Select(rows).Prefix(a.FailEvent)
				if v := (porcupine.Engine{}).Decide(context.Background(), cut.Operations, fallback.Limits{}).Verdict; v != jepsen.Invalid {
					t.Fatalf("%s: core %v is linearizable with rows %v of\n%s", model, core, rows, text)
				}
			}
		}
	}
	if smaller == 0 {
		t.Error("no core was smaller than its history")
	}
}
