package matching_test

import (
	"context"
	"os"
	"strconv"
	"testing"

	"clew/fallback/matching"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/oracle"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
)

func long() bool { return os.Getenv("CLEW_LONG") == "1" }

// longHistories is how many histories the long mode takes.
func longHistories(n uint64) uint64 {
	if k, err := strconv.ParseUint(os.Getenv("CLEW_LONG_HISTORIES"), 10, 64); err == nil {
		return k
	}
	return n
}

var configs = map[string]matching.Rules{
	"as it is":       {},
	"no thresholds":  {NoThresholds: true},
	"no zone choice": {NoZoneChoice: true},
	"no chunks":      {NoChunks: true},
	"no phases":      {NoPhases: true},
	"no base":        {NoBase: true},
	"no restarts":    {NoRestarts: true},
	"no reducing":    {NoReducing: true},
	"no activity":    {NoActivity: true},
	"no minimizing":  {NoMinimizing: true},
	"nothing": {NoThresholds: true, NoZoneChoice: true, NoChunks: true, NoPhases: true, NoBase: true,
		NoRestarts: true, NoReducing: true, NoActivity: true, NoMinimizing: true},
}

func TestSmallHistoriesAgreeWithTheOracle(t *testing.T) {
	n := uint64(3000)
	if long() {
		n = longHistories(300_000)
	}
	for _, spec := range []models.Spec{{Name: "register"}, {Name: "register", NilReadsExact: true}, {Name: "cas-register"}, {Name: "cas-register", ObserveFailedCAS: true, NilReadsExact: true}} {
		verdicts := [2]int{}
		for seed := range n {
			r := gen.Rand(seed)
			ops, text := rows.Generated(t, spec, gen.Options{Operations: 2 + r.IntN(8), Processes: 1 + r.IntN(5), Values: 1 + r.IntN(3), Crashes: r.Float64() * 0.6 * float64(r.IntN(2)),
				ObserveFailedCAS: spec.ObserveFailedCAS, NilReadsExact: spec.NilReadsExact}, seed)
			want := oracle.Decide(ops, oracle.Options{})
			for name, rules := range configs {
				a := matching.Engine{Rules: rules}.Decide(context.Background(), ops, limits.Limits{})
				if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
					t.Fatalf("seed %d, %s: %+v, the oracle says %+v of\n%s\n%s", seed, name, a, want, rows.Text(ops), text)
				}
				if err := enginetest.Shows(ops, a); err != nil {
					t.Fatalf("seed %d %s: %v %v\n%s", seed, name, err, a, rows.Text(ops))
				}
			}
			if want.Linearizable {
				verdicts[0]++
			} else {
				verdicts[1]++
			}
		}
		t.Logf("%s: %d valid, %d invalid", spec.Name, verdicts[0], verdicts[1])
	}
}
