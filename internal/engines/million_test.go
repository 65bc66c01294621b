package engines_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// TestSearchesAgreeWithTheOracle compares only the engines' answers, not the
// evidence made of them, so that a million small histories of each model are
// feasible. The long mode takes that many, or CLEW_LONG_HISTORIES of them.
func TestSearchesAgreeWithTheOracle(t *testing.T) {
	n := effort.Histories(100, 1_000_000)
	engines := []fallback.Engine{configs.Window{}, configs.Frontier{}}
	for _, spec := range testops.Models() {
		t.Run(spec.Name, func(t *testing.T) {
			var next, valid, crashed atomic.Uint64
			var group sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				group.Go(func() {
					for seed := next.Add(1); seed <= n && !t.Failed(); seed = next.Add(1) {
						ops, text := testops.Generated(t, spec, gen.Options{}, 10_000_000+seed)
						want := oracle.Decide(ops, oracle.Options{})
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

// differs says what is wrong with an engine's answer, or returns "".
func differs(ops *models.Operations, e fallback.Engine, want oracle.Answer) string {
	a := e.Decide(context.Background(), ops, fallback.Limits{})
	switch {
	case a.Verdict == jepsen.Unknown || (a.Verdict == jepsen.Valid) != want.Linearizable:
		return "the verdict differs"
	case a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail:
		return "it fails at event " + strconv.Itoa(int(a.FailEvent)) + ", not at " + strconv.Itoa(int(want.Fail))
	}
	if err := enginetest.Shows(ops, a); err != nil {
		return err.Error()
	}
	return ""
}
