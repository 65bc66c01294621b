package verdicts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/edn"
	"clew/internal/campaign"
	"clew/internal/fuzzing"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// everyModel returns every model with its parameters. It adds some generated histories of each, starting at a seed.
func everyModel(from, n uint64, add func(model uint8, text string)) (specs []models.Spec) {
	for i, about := range models.All() {
		spec := campaign.WithParameters(gen.Rand(1), models.Spec{Name: about.Name})
		specs = append(specs, spec)
		for seed := from; seed < from+n; seed++ {
			add(uint8(i), gen.New(gen.Rand(seed), campaign.GenOptions(spec)).Text)
		}
	}
	return specs
}

// FuzzCheck reads any text as a history with any model. Every algorithm must decide what can be read in the same way,
// without a panic, and with evidence that holds. The result map must read back.
func FuzzCheck(f *testing.F) {
	specs := everyModel(0, 4, func(model uint8, text string) { f.Add(model, text) })
	f.Fuzz(func(t *testing.T, model uint8, text string) {
		defer fuzzing.Guard(t)()
		spec := specs[int(model)%len(specs)]
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil || h.Operations() > 12 {
			return
		}
		var first *report.Result
		for _, algorithm := range []string{"auto", "porcupine"} {
			r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: algorithm, Verify: clew.VerifyAlways, TimeLimit: time.Second})
			if err != nil {
				return // the model cannot read it
			}
			if r.Verdict == jepsen.Unknown {
				return
			}
			if first == nil {
				first = r
			}
			if r.Verdict != first.Verdict || r.FailEvent != first.FailEvent {
				t.Errorf("%s says %s at event %d; %s %s at %d", r.Analyzer, r.Verdict, r.FailEvent.OrNone(), first.Analyzer, first.Verdict, first.FailEvent.OrNone())
			}
			if _, err := edn.NewValues().ParseLenient([]byte(r.EDN())); err != nil {
				t.Errorf("%v in %s", err, r.EDN())
			}
		}
	})
}
