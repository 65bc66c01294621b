package verdicts_test

import (
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
)

// A failure is of the same kind, and told in the same words, whether the fast path finds it or a search does. Where several
// operations or values would do, another one may be named, which is counted.
func TestAFailureIsToldTheSameWhateverFindsIt(t *testing.T) {
	t.Parallel()
	pairs, otherwise := 0, 0
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 2300)
		for range kit.Histories(10, 60, 1000) {
			spec := campaign.WithParameters(r, spec)
			text := kit.Faulty(r, spec, 5+r.IntN(20), 1+r.IntN(4), []float64{0, 0.2}[r.IntN(2)], []float64{0.05, 0.2}[r.IntN(2)])
			if r.IntN(2) == 0 || spec.Name == "list-append" || spec.Name == "multi-register" {
				o := campaign.GenOptions(spec)
				o.Operations = 12
				text = gen.New(r, o).Text
			}
			h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
			if err != nil {
				continue
			}
			o := clew.Options{Memory: clew.NewMemory(64 << 20), Verify: clew.VerifyNever}
			fast, err := clew.Check(t.Context(), h, spec, o)
			if err != nil || fast.Verdict != jepsen.Invalid {
				continue
			}
			o.Algorithm = "window"
			searched, err := clew.Check(t.Context(), h, spec, o)
			if err != nil || searched.Verdict != jepsen.Invalid {
				continue
			}
			if pairs++; fast.FailingIndex() != searched.FailingIndex() {
				t.Errorf("%s: %s\n%s\n%s", campaign.Name(spec), text, fast.Text(), searched.Text())
			}
			if fast.Kind != searched.Kind || fast.Explanation != searched.Explanation {
				otherwise++
			}
		}
	}
	if t.Logf("%d pairs, %d told otherwise", pairs, otherwise); pairs < 100 || otherwise > 3+pairs/100 {
		t.Errorf("%d of %d pairs are told otherwise", otherwise, pairs)
	}
}
