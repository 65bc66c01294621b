package reading_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// TestGeneratedHistoriesAreReadWithoutFlags has long histories of every model, valid ones and ones with each of its bugs, in all
// forms. Nothing is told of the initial value, and nothing of the model if it can be inferred. What is valid by construction is
// never INVALID. What has a bug is never valid, and INVALID in 99 of 100.
func TestGeneratedHistoriesAreReadWithoutFlags(t *testing.T) {
	t.Parallel()
	for _, model := range generated() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			var all plantedCounts
			for _, kind := range append([]gen.LongKind{gen.Linearizable}, gen.KindsOf(model)...) {
				t.Run(fmt.Sprint(kind), func(t *testing.T) {
					var counts plantedCounts
					for seed := range kit.Histories(4, 60, 1500) {
						o := gen.LongOptions{Model: model, Kind: kind, Operations: 40 + int(seed%3)*30, Crashed: int(seed % 4), Fails: float64(seed%2) / 10, Seed: 1000 + seed}
						var b strings.Builder
						fail, err := gen.Long(&b, o)
						if err != nil {
							continue // some kinds have no failed operations
						}
						counts.add(t, o, b.String(), fail)
					}
					if t.Logf("%+v", counts); kind != gen.Linearizable {
						all.sum(counts)
					}
				})
			}
			if t.Logf("%-26v %+v", "all bugs", all); all.Invalid*100 < 99*(all.Invalid+all.Unknown) {
				t.Errorf("%d of %d histories with a bug are invalid, expected 99 of 100", all.Invalid, all.Invalid+all.Unknown)
			}
		})
	}
}

// plantedCounts counts verdicts, of histories in which a bug was planted or of others.
type plantedCounts struct{ Valid, Invalid, Unknown, Inferred int }

func (x *plantedCounts) sum(y plantedCounts) {
	x.Valid, x.Invalid, x.Unknown, x.Inferred = x.Valid+y.Valid, x.Invalid+y.Invalid, x.Unknown+y.Unknown, x.Inferred+y.Inferred
}

// add checks a history, in EDN and in one other form. It fails at an event, or nowhere if that is -1.
func (x *plantedCounts) add(t *testing.T, o gen.LongOptions, text string, fail int) {
	t.Helper()
	spec, independent := kit.SpecOfLong(t, o)
	spec.Init = ""
	texts := []string{text}
	to := forms.All[1+int(o.Seed)%(len(forms.All)-1)]
	var b bytes.Buffer
	if _, err := forms.Convert(&b, strings.NewReader(text), "h", forms.EDN, to); err == nil {
		texts = append(texts, b.String())
	}
	for i, text := range texts {
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec := spec
		if inferred, err := models.Infer(h); err == nil && inferred == o.Model {
			spec.Name = ""
			x.Inferred++
		}
		r, err := clew.Check(context.Background(), h, spec, clew.Options{Independent: independent, Verify: clew.VerifyNever})
		if err != nil {
			t.Fatalf("%s %v %d: %v", o.Model, o.Kind, o.Seed, err)
		}
		about := fmt.Sprintf("%s %v, seed %d, form %s: %s, %s %s", o.Model, o.Kind, o.Seed, []string{"edn", string(to)}[i], kit.VerdictText(r), r.Cause, r.Explanation)
		switch r.Verdict {
		case jepsen.Valid:
			if x.Valid++; fail >= 0 {
				t.Errorf("%s, although it fails at %d", about, fail)
			}
		case jepsen.Invalid:
			if x.Invalid++; fail < 0 && o.Kind == gen.Linearizable {
				t.Error(about)
			}
		default:
			if x.Unknown++; o.Kind != gen.Linearizable {
				t.Log(about)
			}
		}
	}
}
