package verdicts_test

import (
	"bytes"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// The file of a core fails as the history does when it is checked with the same flags and no more: at the same completion, of the same
// kind, and nearly always in the same words: not where an engine that is for few operations says it.
func TestACoreFailsAsItsHistory(t *testing.T) {
	t.Parallel()
	cores, said, words := 0, 0, 0
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 900)
		for range kit.Histories(10, 100, 2000) {
			spec := campaign.WithParameters(r, spec)
			text := kit.Faulty(r, spec, 5+r.IntN(30), 1+r.IntN(5), []float64{0, 0.2}[r.IntN(2)], []float64{0.05, 0.2}[r.IntN(2)])
			o := clew.Options{Memory: clew.NewMemory(64 << 20), Independent: spec.Name != "kv" && r.IntN(3) == 0}
			if o.Independent {
				text = kit.OfKeys(r, spec)
			}
			h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
			if err != nil {
				continue
			}
			x, err := clew.Check(t.Context(), h, spec, o)
			if err != nil || x.Verdict != jepsen.Invalid || x.FirstFailing().Core == nil {
				continue
			}
			var file bytes.Buffer
			if err := x.WriteCore(&file); err != nil {
				t.Fatal(err)
			}
			if cores++; x.CoreInit != "" {
				said++
			}
			core, err := clew.Read(bytes.NewReader(file.Bytes()), "core", spec.Pairing())
			if err != nil {
				t.Fatalf("%s: %v in\n%s", campaign.Name(spec), err, &file)
			}
			again, err := clew.Check(t.Context(), core, spec, o)
			if err != nil || again.Verdict != jepsen.Invalid || again.FailingIndex() != x.FailingIndex() {
				t.Errorf("%s: %v, %v\nof the core\n%s\nof\n%s\n%s", campaign.Name(spec), again, err, &file, text, x.Text())
				continue
			}
			if again.FailureKind() != x.FailureKind() {
				t.Errorf("%s: %q of the core\n%s\nand %q of\n%s", campaign.Name(spec), again.FailureKind(), &file, x.FailureKind(), text)
			}
			if again.FirstFailing().Explanation == x.FirstFailing().Explanation {
				words++
			}
		}
	}
	t.Logf("%d cores, of which %d say the initial value, and %d fail in the words of their history", cores, said, words)
	if cores < 100 || said == 0 || words < cores*95/100 {
		t.Errorf("only %d cores, of which %d say the initial value, and %d fail in the words of their history", cores, said, words)
	}
}

// So does the core of a bug that was planted in a longer history.
func TestACoreOfABugFailsAsItsHistory(t *testing.T) {
	t.Parallel()
	cores := 0
	for _, d := range models.All() {
		for _, kind := range gen.KindsOf(d.Name) {
			for seed := range kit.Histories(1, 4, 40) {
				h, spec, _ := kit.LongHistory(t, gen.LongOptions{Model: d.Name, Kind: kind, Operations: 150, Seed: seed + 1})
				x, err := clew.Check(t.Context(), h, spec, clew.Options{})
				if err != nil || x.Verdict != jepsen.Invalid || x.Core == nil {
					continue
				}
				var file bytes.Buffer
				if err := x.WriteCore(&file); err != nil {
					t.Fatal(err)
				}
				core, err := clew.Read(bytes.NewReader(file.Bytes()), "core", spec.Pairing())
				if err != nil {
					t.Fatalf("%s %v: %v in\n%s", d.Name, kind, err, &file)
				}
				cores++
				again, err := clew.Check(t.Context(), core, spec, clew.Options{})
				if err != nil || again.Verdict != jepsen.Invalid || again.FailingIndex() != x.FailingIndex() || again.Kind != x.Kind {
					t.Errorf("%s %v %d: %v; expected %s at %d, found %v of\n%s", d.Name, kind, seed, err, x.Kind, x.FailingIndex(), again, &file)
				}
			}
		}
	}
	if t.Logf("%d cores", cores); cores < 50 {
		t.Errorf("only %d cores", cores)
	}
}
