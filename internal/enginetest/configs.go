package enginetest

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// Configs are engines by name, such as one engine with its techniques switched off.
type Configs map[string]fallback.Engine

// AsItIs is the configuration in which every technique is on.
const AsItIs = "as it is"

// Configure makes an engine of each set of rules.
func Configure[R any](engine func(R) fallback.Engine, rules map[string]R) Configs {
	c := Configs{}
	for name, r := range rules {
		c[name] = engine(r)
	}
	return c
}

// Names returns the configurations' names.
func (c Configs) Names() []string { return slices.Sorted(maps.Keys(c)) }

// some returns the engine as it is and one of the configurations.
func (c Configs) some(r *rand.Rand) []string {
	return []string{AsItIs, c.Names()[r.IntN(len(c))]}
}

// Judged fails unless a configuration agrees with the oracle, and shows it.
func (c Configs) Judged(t *testing.T, name string, ops *models.Operations, want oracle.Answer) {
	t.Helper()
	a := c[name].Decide(context.Background(), ops, fallback.Limits{})
	if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
		t.Fatalf("%s: %+v, the oracle says %+v of %v,\n%s", name, a, want, ops.Model.Init(), testops.Text(ops))
	}
	if err := Shows(ops, a); err != nil {
		t.Fatalf("%s: %v of %v,\n%s", name, err, ops.Model.Init(), testops.Text(ops))
	}
}

// Small compares some configurations with the oracle on n small histories. At least a
// tenth must have either verdict.
func (c Configs) Small(t *testing.T, n uint64, draw func(r *rand.Rand) *models.Operations) {
	t.Helper()
	found := map[bool]int{}
	for seed := range n {
		r := gen.Rand(seed)
		ops := draw(r)
		want := oracle.Decide(ops, oracle.Options{})
		found[want.Linearizable]++
		for _, name := range c.some(r) {
			c.Judged(t, name, ops, want)
		}
	}
	t.Logf("%d valid, %d invalid", found[true], found[false])
	if 10*found[true] < int(n) || 10*found[false] < int(n) {
		t.Error("one verdict is rare")
	}
}

// Every compares the engine with the oracle on every history of up to three operations
// of some kinds, or four in the long mode. See rows.Every.
func (c Configs) Every(t *testing.T, m models.Model, kinds []models.Op, fates func(op models.Op) (returns, crashes bool)) {
	t.Helper()
	most := 3
	if effort.Long() {
		most = 4
	}
	found := map[bool]int{}
	for n := range most + 1 {
		testops.Every(m, n, kinds, fates, func(ops *models.Operations) {
			want := oracle.Decide(ops, oracle.Options{})
			found[want.Linearizable]++
			c.Judged(t, AsItIs, ops, want)
		})
	}
	t.Logf("%d valid, %d invalid", found[true], found[false])
}

// Meeting compares an engine with judges. These are other engines, and may give
// up. Small histories have missed unsound rules.
type Meeting struct {
	Configs
	Judges []fallback.Engine
	// Patience is how much work the engine may do as it is, and Others without some technique.
	Patience, Others int64
	// Cores says whether to check the core of each failure, too.
	Cores bool

	found                         map[jepsen.Verdict]int
	unknown                       map[string]int
	edges, compared, alone, cores int
}

// judgePatience is how much work a judge may do.
const judgePatience = WorkPerSecond / 10

// AtTheBoundary compares n histories of up to about most operations. If
// possible, it bisects half of them to where a single crashed operation decides.
func (m *Meeting) AtTheBoundary(t *testing.T, n uint64, draw func(r *rand.Rand, most int) *models.Operations) {
	t.Helper()
	m.found, m.unknown = map[jepsen.Verdict]int{}, map[string]int{}
	for seed := range n {
		r := gen.Rand(seed)
		ops := draw(r, 20<<r.IntN(6))
		both := []*models.Operations{ops}
		if seed%2 == 0 {
			judge := func(ops *models.Operations) jepsen.Verdict {
				return Within(m.Configs[AsItIs], ops, m.Patience).Verdict
			}
			if valid, invalid, ok := testops.Boundary(r, ops, judge); ok {
				both = []*models.Operations{valid, invalid}
				m.edges++
			}
		}
		for _, ops := range both {
			m.meet(t, r, ops)
		}
	}
	t.Logf("%d histories, %d of them bisected: %d comparisons, %d valid, %d invalid, %d without a judge, %d cores; undecided: %v",
		n, m.edges, m.compared, m.found[jepsen.Valid], m.found[jepsen.Invalid], m.alone, m.cores, m.unknown)
	if m.found[jepsen.Valid] == 0 || m.found[jepsen.Invalid] == 0 || m.edges == 0 || m.Cores && m.cores == 0 {
		t.Error("one kind is missing")
	}
}

// meet compares some configurations with the judges.
func (m *Meeting) meet(t *testing.T, r *rand.Rand, ops *models.Operations) {
	t.Helper()
	var known []fallback.Answer
	var by []fallback.Engine
	for _, judge := range m.Judges {
		if b := Within(judge, ops, judgePatience); b.Verdict != jepsen.Unknown {
			known, by = append(known, b), append(by, judge)
		} else {
			m.unknown[judge.Name()]++
		}
	}
	if len(known) == 0 {
		m.alone++
	}
	for i, name := range m.some(r) {
		e, patience := m.Configs[name], m.Patience
		if name != AsItIs {
			patience = m.Others
		}
		a := Within(e, ops, patience)
		if a.Verdict == jepsen.Unknown {
			m.unknown[name]++
			continue
		}
		if err := Shows(ops, a); err != nil {
			small := testops.Shrink(ops, func(ops *models.Operations) bool {
				a := Within(e, ops, WorkPerSecond)
				return a.Verdict != jepsen.Unknown && Shows(ops, a) != nil
			})
			t.Fatalf("%s: %v; smaller, of %v:\n%s", name, err, ops.Model.Init(), testops.Text(small))
		}
		for i, b := range known {
			if m.compared++; !agree(a, b) {
				small := testops.Shrink(ops, func(ops *models.Operations) bool {
					return !agree(Within(e, ops, WorkPerSecond), Within(by[i], ops, WorkPerSecond))
				})
				t.Fatalf("%s: %d (event %d), %s says %d (event %d) of a history; smaller, of %v:\n%s",
					name, a.Verdict, a.FailEvent, by[i].Name(), b.Verdict, b.FailEvent, ops.Model.Init(), testops.Text(small))
			}
		}
		if i > 0 {
			continue
		}
		m.found[a.Verdict]++
		if m.Cores && a.Verdict == jepsen.Invalid {
			m.Core(t, ops, a)
		}
	}
}

// Core checks that a core is not linearizable, and that on its own it fails where
// the history does. It returns how many operations the core has.
func (m *Meeting) Core(t *testing.T, ops *models.Operations, a fallback.Answer) int {
	t.Helper()
	core := fallback.Core(context.Background(), m.Configs[AsItIs], ops, a.FailEvent, fallback.Limits{})
	if failing := int32(slices.Index(ops.Res, a.FailEvent)); !slices.Contains(core, failing) || !slices.IsSorted(core) {
		t.Fatalf("%v lacks %d", core, failing)
	}
	m.cores++
	cut := ops.Alone(core, a.FailEvent)
	for _, judge := range append([]fallback.Engine{m.Configs[AsItIs]}, m.Judges...) {
		if b := Within(judge, cut.Operations, 5*judgePatience); !agree(a, b) {
			t.Fatalf("%s says %d (event %d) of the core of a failure at %d\n%s", judge.Name(), b.Verdict, b.FailEvent, a.FailEvent, testops.Text(cut.Operations))
		}
	}
	return len(core)
}

// agree says whether two answers do not contradict each other.
func agree(a, b fallback.Answer) bool {
	return a.Verdict == jepsen.Unknown || b.Verdict == jepsen.Unknown || a.Verdict == b.Verdict && a.FailEvent == b.FailEvent
}
