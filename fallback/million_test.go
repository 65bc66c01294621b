package fallback

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/models"
)

// TestSearchesAgreeWithTheOracle compares the engines' answers alone, without
// the evidence made of them, so that a million small histories of each model
// are in reach. The long mode takes as many, or CLEW_LONG_HISTORIES of them.
func TestSearchesAgreeWithTheOracle(t *testing.T) {
	n := uint64(500)
	if os.Getenv("CLEW_LONG") == "1" {
		n = 1_000_000
		if s := os.Getenv("CLEW_LONG_HISTORIES"); s != "" {
			var err error
			if n, err = strconv.ParseUint(s, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	engines := []Engine{Window{}, Frontier{}}
	for _, spec := range generatedModels() {
		t.Run(spec.Name, func(t *testing.T) {
			var next, valid, crashed atomic.Uint64
			var group sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				group.Go(func() {
					for seed := next.Add(1); seed <= n && !t.Failed(); seed = next.Add(1) {
						ops, text := generated(t, spec, gen.Options{}, 10_000_000+seed)
						want := oracle.Decide(ops, oracle.Options{Bag: spec.Name == "unordered-queue"})
						if want.Linearizable {
							valid.Add(1)
						}
						if ops.History.CrashedCount() > 0 {
							crashed.Add(1)
						}
						for _, e := range engines {
							if wrong := differs(ops, e, want); wrong != "" {
								t.Errorf("%s: %s\n%s", e.Name(), wrong, text)
							}
						}
					}
				})
			}
			group.Wait()
			t.Logf("%d histories: %d linearizable, %d with a crash", n, valid.Load(), crashed.Load())
			if valid.Load() == 0 || valid.Load() == n || crashed.Load() == 0 {
				t.Error("one kind is missing")
			}
		})
	}
}

// differs says what is wrong with an engine's answer, "" if nothing is.
func differs(ops *models.Operations, e Engine, want oracle.Answer) string {
	a := Check(context.Background(), e, ops, Limits{})
	switch {
	case a.Verdict == Unknown || (a.Verdict == Valid) != want.Linearizable:
		return "the verdict differs"
	case a.Verdict == Invalid && a.Fail != want.Fail:
		return "it fails at event " + strconv.Itoa(int(a.Fail)) + ", not at " + strconv.Itoa(int(want.Fail))
	}
	if a.Verdict == Valid {
		return misordered(ops, a.Order, ops.Events)
	}
	return misordered(ops, a.Order, a.Fail)
}

// misordered says why an order of rows is no linearization of what has begun
// before an event, "" if it is one.
func misordered(ops *models.Operations, order []int32, end int32) string {
	seen := make([]bool, ops.Len())
	latest := int32(-1)
	for _, row := range order {
		if seen[row] || ops.Res[row] < latest || ops.Inv[row] >= end {
			return "an operation stands twice, or too early, or behind one that began after it had returned"
		}
		seen[row] = true
		latest = max(latest, ops.Inv[row])
	}
	for row, done := range seen {
		if !done && ops.Res[row] < end {
			return "an operation is missing"
		}
	}
	c := models.Columns{Events: ops.Events}
	for row := range int32(ops.Len()) {
		op := ops.Op(row)
		if ops.Res[row] >= end {
			op = ops.Opened(row)
		}
		c.Append(ops.Inv[row], ops.Res[row], op)
	}
	if _, err := models.Replay(ops.Model, &c, order); err != nil {
		return err.Error()
	}
	return ""
}
