package matching_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"clew/edn"
	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/matching"
	"clew/internal/engines/porcupine"
	"clew/internal/engines/staged"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// variants are the engine as it is, with each technique switched off, and with none.
var variants = enginetest.Configure(func(r matching.Rules) fallback.Engine { return matching.Engine{Rules: r} }, map[string]matching.Rules{
	"as it is":       {},
	"no thresholds":  {NoThresholds: true},
	"no zone choice": {NoZoneChoice: true},
	"no chunks":      {NoChunks: true},
	"no phases":      {NoPhases: true},
	"no Hall":        {NoHall: true},
	"no base":        {NoBase: true},
	"no restarts":    {NoRestarts: true},
	"no reducing":    {NoReducing: true},
	"no activity":    {NoActivity: true},
	"no minimizing":  {NoMinimizing: true},
	"nothing": {NoThresholds: true, NoZoneChoice: true, NoChunks: true, NoPhases: true, NoHall: true, NoBase: true,
		NoRestarts: true, NoReducing: true, NoActivity: true, NoMinimizing: true},
})

var specs = []models.Spec{
	{Name: "register"}, {Name: "register", NilReadsExact: true},
	{Name: "cas-register"}, {Name: "cas-register", ObserveFailedCAS: true, NilReadsExact: true},
}

// Jepsen's histories are read as text, with everything that they can contain.
func TestHistoriesAsTheyAreReadAgreeWithTheOracle(t *testing.T) {
	for _, spec := range specs {
		variants.Small(t, effort.Histories(200, 300_000), func(r *rand.Rand) *models.Operations {
			o := gen.Options{Operations: 2 + r.IntN(8), Processes: 1 + r.IntN(5), Values: 1 + r.IntN(3), Init: true,
				ObserveFailedCAS: spec.ObserveFailedCAS, NilReadsExact: spec.NilReadsExact}
			if r.IntN(2) == 0 {
				o.Crashes = 0.6 * r.Float64()
			}
			o.Model = spec.Name
			h := gen.New(r, o)
			spec.Init = h.Init
			return testops.Read(t, spec, h.Text)
		})
	}
}

// onlyWrites turns a run on a cas-register into one on a register. A cas becomes a
// write or, with what it saw, a read.
func onlyWrites(r *rand.Rand, ops *models.Operations) {
	for i, kind := range ops.Kind {
		if kind == models.CAS || kind == models.FailedCAS {
			ops.Kind[i] = models.Read
			if ops.Res[i] == models.Open || kind == models.CAS && r.IntN(2) == 0 {
				ops.Kind[i], ops.A[i] = models.Write, ops.B[i]
			}
			ops.B[i] = 0
		}
	}
}

func TestSmallHistoriesWithManyCrashesAgreeWithTheOracle(t *testing.T) {
	for _, cas := range []bool{false, true} {
		variants.Small(t, effort.Histories(2000, 1_000_000), func(r *rand.Rand) *models.Operations {
			s := testops.DrawRegisters(r, 2, 9, 6)
			s.Processes, s.Values = 1+r.IntN(5), 1+r.IntN(4)
			ops := s.Run(r)
			if !cas {
				onlyWrites(r, ops)
			}
			if r.IntN(3) > 0 {
				testops.Disturb(r, ops, s.Values)
			}
			return ops
		})
	}
}

// Usually a try reaches the whole history.
func TestCASThatATryDoesNotReachAreLeftToTheSearch(t *testing.T) {
	for farthest := 1; farthest <= 3; farthest++ {
		t.Run(fmt.Sprint(farthest), func(t *testing.T) {
			defer matching.ReachAtMost(farthest)()
			variants.Small(t, effort.Histories(2000, 100_000), func(r *rand.Rand) *models.Operations {
				s := testops.DrawRegisters(r, 4, 12, 6)
				s.Processes, s.Values = 2+r.IntN(5), 1+r.IntN(3)
				ops := s.Run(r)
				if r.IntN(3) > 0 {
					testops.Disturb(r, ops, s.Values)
				}
				return ops
			})
		})
	}
}

func TestEverySmallHistory(t *testing.T) {
	register := []models.Op{{Kind: models.Read, A: 0}, {Kind: models.Read, A: 1}, {Kind: models.Read, A: 2}, {Kind: models.Write, A: 0}, {Kind: models.Write, A: 1}, {Kind: models.Write, A: 2}}
	cas := []models.Op{{Kind: models.Read, A: 0}, {Kind: models.Read, A: 1}, {Kind: models.Write, A: 1}, {Kind: models.CAS, A: 0, B: 1}, {Kind: models.CAS, A: 1, B: 0}, {Kind: models.CAS, A: 1, B: 1}, {Kind: models.FailedCAS, A: 1}}
	m, err := models.Spec{Name: "cas-register"}.Model(edn.NewValues())
	if err != nil {
		t.Fatal(err)
	}
	fates := func(op models.Op) (returns, crashes bool) { return true, op.Kind != models.Read }
	for _, kinds := range [][]models.Op{register, cas} {
		variants.Every(t, m, kinds, fates)
	}
}

// judges are engines that may give up, with what they may take.
var judges = []fallback.Engine{configs.Window{MaxSteps: 300_000}, configs.Frontier{}, enginetest.Bounded{Engine: staged.Engine{}, Work: 3_000_000}, porcupine.Engine{}}

func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	m := enginetest.Meeting{Configs: variants, Judges: judges, Patience: 10 * enginetest.WorkPerSecond, Others: 10 * enginetest.WorkPerSecond}
	m.AtTheBoundary(t, effort.Histories(30, 20_000), func(r *rand.Rand, most int) *models.Operations {
		s := testops.DrawRegisters(r, 20, min(most, 500), 4+r.IntN(most/4))
		s.Processes = 2 + r.IntN(1+min(most/4, 30))
		ops := s.Run(r)
		if r.IntN(2) == 0 {
			onlyWrites(r, ops)
		}
		if r.IntN(4) > 0 {
			testops.Disturb(r, ops, s.Values)
		}
		return ops
	})
}

// A core is not linearizable, and on its own it fails where the history does.
func TestCoresAreProofsByThemselves(t *testing.T) {
	m := enginetest.Meeting{Configs: variants, Judges: judges}
	cores, size := 0, 0
	for seed := range effort.Histories(40, 20_000) {
		r := gen.Rand(seed)
		s := testops.DrawRegisters(r, 5, 60, 8)
		ops := s.Run(r)
		if r.IntN(2) == 0 {
			onlyWrites(r, ops)
		}
		testops.Disturb(r, ops, s.Values)
		a := enginetest.Within(matching.Engine{}, ops, 10*enginetest.WorkPerSecond)
		if a.Verdict != jepsen.Invalid {
			continue
		}
		cores++
		size += m.Core(t, ops, a)
	}
	t.Logf("%d cores of %d operations", cores, size)
	if cores == 0 {
		t.Error("none")
	}
}

func TestItStopsAtItsLimits(t *testing.T) {
	s := testops.Registers{N: 8000, Processes: 60, Values: 2, Crashes: 300, Reads: 2, Writes: 1}
	r := gen.Rand(1)
	ops := s.Run(r)
	slow := variants["nothing"] // it would take long to decide
	for _, work := range []int64{0, enginetest.WorkPerSecond / 1000, enginetest.WorkPerSecond / 50} {
		budget := models.NewMemory(1 << 30)
		a := enginetest.Expires(slow, ops, fallback.Limits{Memory: budget}, work)
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := models.NewMemory(2 << 20)
	if a := slow.Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%d %q, want unknown for the memory", a.Verdict, a.Cause)
	}
	if left := budget.Left(); left != 2<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (matching.Engine{}).Decide(context.Background(), testops.Endless(3, testops.Counter{}), fallback.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}

func TestItTakesTurns(t *testing.T) {
	r := gen.Rand(1)
	ops := testops.Registers{N: 3000, Processes: 20, Values: 3, Reads: 3, Writes: 2}.Run(r)
	relay := engines.Turns{Engines: []fallback.Engine{matching.Engine{}, configs.Window{MaxSteps: 10}}, First: 1000, Turn: 1000, Apart: 1 << 40}
	alone := matching.Engine{}.Decide(context.Background(), ops, fallback.Limits{})
	if a := relay.Decide(context.Background(), ops, fallback.Limits{}); a.Verdict != jepsen.Valid || a.By != "matching" || a.Work < alone.Work || alone.Work < 1000 {
		t.Errorf("%d by %s with work %d; alone %d with %d", a.Verdict, a.By, a.Work, alone.Verdict, alone.Work)
	}
}

// Histories that the engine once decided wrongly, or would after a slip. An operation is
// its invocation, its return, and the values of a cas. -1 before a value marks a write,
// and -1 after it a read.
func TestHistoriesThatWereDecidedWrongly(t *testing.T) {
	const open = models.Open
	for name, ops := range map[string][][4]int32{
		"a cas may have taken effect long after what it saw was invoked": {
			{4, 21, 1, 2}, {5, 28, 0, 1}, {13, 25, 5, 0}, {17, 39, 2, 5}, {26, 31, 0, 4}, {33, 50, 4, 3}, {66, open, -1, 0}, {68, 82, 5, 0},
			{69, 83, 0, 5}, {73, 98, 4, 0}, {75, 111, 3, 4}, {86, 87, 0, 3}, {88, open, 3, 4}, {91, 136, 1, 2}, {97, 107, 4, 1}, {102, 139, 4, 5},
			{106, 113, 2, 5}, {115, 123, 1, 4}, {117, 119, 5, 3}, {121, open, 3, 1}, {124, 155, 1, -1},
		},
		"the zone of two chains that are joined begins with that of either": {
			{47, 108, -1, 3}, {59, 72, 3, 0}, {89, 116, 3, -1}, {94, 130, 1, 2}, {96, 114, 2, -1}, {98, 156, 3, 1}, {103, 209, -1, 3}, {105, 124, 3, 1},
			{110, 210, 1, 3}, {111, 171, -1, 1}, {121, 150, 1, 1}, {123, 142, 1, -1}, {129, 180, 1, 2}, {131, 134, 2, 1}, {137, 160, 2, 1},
			{140, 164, -1, 3}, {141, 198, 1, 2}, {143, 169, -1, 1}, {147, 152, 2, 1},
		},
		"a cas that need not take effect may yet see what began later": {
			{0, 3, 0, 2}, {1, open, 1, 0}, {2, 6, 0, 2}, {4, open, 1, 1}, {5, 8, 2, 1}, {7, 10, 1, -1}, {9, open, 2, 0},
		},
		"a threshold implies the weaker ones that are made later": { // otherwise it finds the same conflict again and again
			{0, 6, -1, 1}, {1, 14, -1, 0}, {2, 8, -1, 0}, {3, 5, 0, -1}, {4, open, -1, 1}, {7, 10, 1, -1}, {9, 16, 0, -1}, {11, 13, 0, -1},
			{12, 15, 0, -1}, {17, 18, 1, -1}, {19, 20, 0, -1},
		},
		"a read that began before a threshold does not imply it": {
			{0, 2, -1, 2}, {1, open, -1, 1}, {3, open, -1, 2}, {4, 9, 2, -1}, {5, 7, -1, 0}, {6, open, -1, 2}, {8, 12, 2, -1}, {10, open, -1, 1},
			{11, 14, 1, -1}, {13, 17, 1, -1}, {15, 19, 2, -1}, {16, 24, 1, -1}, {18, 20, -1, 1}, {21, 22, 1, -1}, {23, 25, 2, -1},
		},
	} {
		m, err := models.Spec{Name: "cas-register"}.Model(edn.NewValues())
		if err != nil {
			t.Fatal(err)
		}
		h := &models.Operations{Model: m}
		h.Events = 220
		for i, r := range ops {
			op := models.Op{Kind: models.CAS, A: r[2], B: r[3]}
			switch {
			case r[2] < 0:
				op = models.Op{Kind: models.Write, A: r[3]}
			case r[3] < 0:
				op = models.Op{Kind: models.Read, A: r[2]}
			}
			h.Append(r[0], r[1], op)
			h.Of = append(h.Of, jepsen.Operation(i))
		}
		if v := enginetest.Compare(t, h, testops.Text(h), name, matching.Engine{}, configs.Window{}); v == jepsen.Unknown {
			t.Errorf("%s: it is undecided", name)
		}
	}
}
