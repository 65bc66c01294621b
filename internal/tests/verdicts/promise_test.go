package verdicts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// clew gen promises a verdict and a failing completion, whatever its flags are.
func TestWhatIsPromisedOfALongHistoryIsWhatCheckSays(t *testing.T) {
	t.Parallel()
	for m, model := range models.All() {
		if !effort.Takes(m) {
			continue
		}
		for k, kind := range gen.LongKinds() {
			if kind != gen.Linearizable && !slices.Contains(gen.KindsOf(model.Name), kind) {
				continue
			}
			i := m + k
			t.Run(model.Name+", "+kind.String(), func(t *testing.T) {
				t.Parallel()
				// Equal elements are hard for the search, which alone decides java-queue with sizes.
				java := model.Name == "java-queue"
				hard := java || slices.Contains(campaign.Containers, model.Name) || model.Name == "log"
				few := max(3, kind.Processes())
				for seed := range uint64(2) {
					if effort.Few() && seed != uint64(i%2) {
						continue
					}
					o := gen.LongOptions{Model: model.Name, Kind: kind, Operations: 700, Processes: 5, Crashes: 0.01, Fails: 0.1, At: 0.8, Seed: seed}
					if java {
						o.Operations, o.Processes = 60, few
					}
					keepsPromise(t, o)
					o.Operations, o.Independent, o.Processes = 200, 9, 12
					keepsPromise(t, o)
					o.Operations, o.Independent, o.Processes, o.Values = 400, 0, 5, 5
					if hard {
						o.Operations, o.Processes = 40, few
					}
					keepsPromise(t, o)
				}
				for j, at := range []float64{1e-9, 0.5, 1} { // the first read may be the wrong one
					for seed := range uint64(3) {
						if !effort.Takes(int(seed) + i + j) {
							continue
						}
						keepsPromise(t, gen.LongOptions{Model: model.Name, Kind: kind, Operations: 12, Processes: few, At: at, Seed: seed})
						keepsPromise(t, gen.LongOptions{Model: model.Name, Kind: kind, Operations: 24, Processes: few, Independent: 3, At: at, Seed: seed})
					}
				}
			})
		}
	}
}

func keepsPromise(t *testing.T, o gen.LongOptions) {
	t.Helper()
	var b strings.Builder
	fail, err := gen.Long(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := clew.Read(strings.NewReader(b.String()), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h.Operations() < o.Operations || h.Operations() > o.Operations+100 {
		t.Errorf("%d operations instead of %d", h.Operations(), o.Operations)
	}
	spec, independent := kit.SpecOfLong(t, o)
	r, err := clew.Check(context.Background(), h, spec, clew.Options{Independent: independent})
	if err != nil {
		t.Fatal(err)
	}
	want, failing := jepsen.Valid, jepsen.Event(-1)
	if fail >= 0 {
		want = jepsen.Invalid
	}
	for _, k := range r.Keys {
		if k.Verdict == jepsen.Invalid {
			failing = jepsen.Event(k.Result().History.Index(k.Result().FailEvent.OrNone()))
			if key := fmt.Sprint(o.FailingKey()); k.Key.String() != key {
				t.Errorf("key %s fails, and not %s", k.Key.String(), key)
			}
		}
	}
	if len(r.Keys) == 0 && r.Verdict == jepsen.Invalid {
		failing = r.FailEvent.OrNone()
	}
	if r.Verdict != want || int(failing) != fail {
		t.Errorf("%+v: %v at event %d; %v at %d was promised", o, r.Verdict, failing, want, fail)
	}
	// Values that are repeated may be read from others.
	if strongest := gen.Strongest(o.Kind); strongest != nil && o.Values == 0 && !independent {
		strongest = slices.Sorted(slices.Values(strongest))
		if levels := slices.Sorted(slices.Values(r.Levels.Strongest)); !slices.Equal(levels, strongest) || !slices.Contains(r.Levels.Types(), o.Kind.String()) {
			t.Errorf("%+v: %v holds, with %v; %v was promised", o, levels, r.Levels.Types(), strongest)
		}
	}
}
