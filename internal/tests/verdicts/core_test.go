package verdicts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// coresOf checks small random histories of a model with an algorithm. It calls f with the core of each failure, as
// rows, with the operations and their oracle.
func coresOf(t *testing.T, spec models.Spec, algorithm string, histories int, f func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error) {
	t.Helper()
	if algorithm == "auto" {
		histories *= 4 // a near-linear decision finds most cores, which are then made smaller
	}
	random, invalid := gen.Rand(uint64(len(algorithm))), 0
	for k := range histories {
		o := campaign.GenOptions(spec)
		o.Init, o.Operations, o.OneKey = true, 8+k%5, k%2 == 0
		g := gen.New(random, o)
		spec.Init = g.Init
		h, ops, err := campaign.ReadText(spec, g.Text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := campaign.Checked(h, spec, algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != jepsen.Invalid {
			continue
		}
		invalid++
		var core []models.Row
		for row, op := range ops.Of {
			if slices.Contains(r.Core, op) {
				core = append(core, models.Row(row))
			}
		}
		small := oracle.Of(ops, oracle.Options{})
		if err := small.Core(core, int32(r.FailEvent.OrNone()), nil); err != nil {
			t.Fatalf("%s by %s: core %v: %v\n%s", campaign.Name(spec), algorithm, core, err, g.Text)
		}
		if err := f(r, ops, small, core); err != nil {
			t.Fatalf("%s by %s, from %s: core %v: %v: %s\n%s", campaign.Name(spec), algorithm, spec.Init, core, err, r.Explanation, g.Text)
		}
	}
	if invalid < histories/4 {
		t.Errorf("%s by %s: %d failures, expected more", campaign.Name(spec), algorithm, invalid)
	}
}

// coreHistories returns how many histories an algorithm gets in a test of cores.
func coreHistories() int {
	if effort.Few() {
		return 100
	}
	if effort.Long() {
		return 20_000
	}
	return 300
}

// A model that counts its updates fails where a version is missing, so a sub-history fails elsewhere if it lacks
// one that counts. If any operation is left out of a core, the rest, as a history of its own, no longer fails at the
// operation that fails.
func TestCoresOfModelsThatCountAreMinimal(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"versioned-register", "etcd"} {
		for _, algorithm := range []string{"auto", "fast", "window", "frontier", "porcupine"} {
			if model == "etcd" && algorithm == "fast" {
				continue
			}
			coresOf(t, models.Spec{Name: model}, algorithm, coreHistories(), func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error {
				fail := int32(r.FailEvent.OrNone())
				for _, row := range core {
					less := oracle.SetOf(core) &^ (1 << row)
					if ops.Res[row] != fail && h.Linearizable(fail, less) && !h.Linearizable(fail+1, less) {
						return fmt.Errorf("row %d could be left out", row)
					}
				}
				return nil
			})
		}
	}
}

// A selection of operations of a multi-register is closed under a condition: with an operation that reads a value, it
// has the operations that made that value or might have made it. No closed selection smaller than a core fails.
func TestCoresOfMultiRegistersAreMinimal(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{false, true} {
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
			coresOf(t, models.Spec{Name: "multi-register", NilReadsExact: exact}, algorithm, coreHistories(), func(r *report.Result, ops *models.Operations, h *oracle.History, core []models.Row) error {
				all := oracle.SetOf(core)
				closed := func(s oracle.Set) bool {
					return s == all || nothingElseIsSeen(ops.Model.Traits().Visibility, ops, int32(r.FailEvent.OrNone()), s)
				}
				return h.Core(core, int32(r.FailEvent.OrNone()), closed)
			})
		}
	}
}

// nothingElseIsSeen reports whether no operation of a set can have seen what an operation outside made. It can have
// seen it if two conditions hold: the other one began before it returned; and in between, no operation of the set
// replaced the value for certain. An operation replaces it for certain if it began after the other one had returned,
// and returned before the first one began.
func nothingElseIsSeen(m *models.Visibility, ops *models.Operations, fail int32, s oracle.Set) bool {
	replaced := func(place, before int32) int32 {
		since := int32(-1)
		for _, row := range s.Rows() {
			for _, c := range m.Makes(nil, ops.Op(row)) {
				if c.Place == place && ops.Res[row] < before {
					since = max(since, ops.Inv[row])
				}
			}
		}
		return since
	}
	for other := range models.Row(ops.Len()) {
		if s.Has(other) || ops.Inv[other] >= fail {
			continue
		}
		for _, made := range m.Makes(nil, ops.Op(other)) {
			for _, row := range s.Rows() {
				cells, all := m.Sees(nil, ops.Op(row))
				if (all || slices.Contains(cells, made)) && ops.Inv[other] < ops.Res[row] && ops.Res[other] > replaced(made.Place, ops.Inv[row]) {
					return false
				}
			}
		}
	}
	return true
}

// TestCoresOfTheGeneralSearchAreMinimal tries all selections of the elements of a core, for every model: none that is
// smaller may fail. docs/algorithms.md says which elements these are. A core of a model that counts has a test of its
// own.
func TestCoresOfTheGeneralSearchAreMinimal(t *testing.T) {
	t.Parallel()
	for _, config := range campaign.Configs() {
		if config.Name == "versioned-register" || config.Name == "etcd" || config.Knossos {
			continue
		}
		for _, algorithm := range []string{"window", "frontier"} {
			random, invalid, base := gen.Rand(7), 0, config
			for k := range coreHistories() / 2 {
				if k%10 == 0 {
					base = campaign.WithParameters(random, config)
				}
				spec, o := base, campaign.GenOptions(base)
				o.Init, o.Operations = true, 8+k%5
				g := gen.New(random, o)
				spec.Init = g.Init
				h, _, err := campaign.ReadText(spec, g.Text)
				if err != nil {
					t.Fatal(err)
				}
				r, err := campaign.Checked(h, spec, algorithm)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != jepsen.Invalid {
					continue
				}
				invalid++
				var core []models.Row
				for row, op := range r.Ops.Of {
					if slices.Contains(r.Core, op) {
						core = append(core, models.Row(row))
					}
				}
				fail := int32(r.FailEvent.OrNone())
				if r.Ops.Model.Traits().Alone != nil {
					err = coreAlone(r.Ops, fail, core)
				} else {
					err = oracle.Of(r.Ops, oracle.Options{}).Core(core, fail, choices(r.Ops, fail, core))
				}
				if err != nil {
					t.Fatalf("%s by %s, from %s: core %v: %v\n%s", campaign.Name(config), algorithm, spec.Init, core, err, g.Text)
				}
			}
			if invalid < coreHistories()/15 {
				t.Errorf("%s by %s: %d failures, expected more", campaign.Name(config), algorithm, invalid)
			}
		}
	}
}

// coreAlone says what is wrong with a core in which what only other operations make does not count. Then any operations are a
// choice.
func coreAlone(ops *models.Operations, fail int32, core []models.Row) error {
	for subset := range 1 << len(core) {
		var rows []models.Row
		for i, row := range core {
			if subset>>i&1 != 0 {
				rows = append(rows, row)
			}
		}
		alone := ops.Alone(rows, fail)
		whole := len(rows) == len(core)
		if got := oracle.Decide(alone.Operations, oracle.Options{}); got.Linearizable == whole || whole && got.Fail != fail {
			return fmt.Errorf("linearizable is %t for %v, which fails at %d", got.Linearizable, rows, got.Fail)
		}
	}
	return nil
}

// choices returns which subsets of a core consist of whole elements. Operations that change nothing are elements. So
// are values, with their operations, if the model is closed under dropping values. If a value is gone once another
// replaces it, a subset has the operations that made the values that it sees. All other operations belong to every
// subset.
func choices(ops *models.Operations, fail int32, core []models.Row) func(oracle.Set) bool {
	traits := ops.Model.Traits()
	visible := traits.Visibility
	if traits.FindVisibility != nil {
		visible = traits.FindVisibility(ops)
	}
	if visible != nil {
		return func(s oracle.Set) bool {
			return s == oracle.SetOf(core) || nothingElseIsSeen(visible, ops, fail, s)
		}
	}
	v := traits.Droppable
	whole := v != nil && !slices.ContainsFunc(core, func(row models.Row) bool {
		_, all := v.Touches(ops.Op(row))
		return all
	})
	tie := ties{}
	for _, row := range core {
		if whole {
			touched, _ := v.Touches(ops.Op(row))
			tie.together(touched)
			if ops.Res[row] == fail {
				tie.together(append(slices.Clone(touched), lasts))
			}
		}
	}
	if v != nil && v.Lasting != nil {
		tie.together(append(slices.Clone(v.Lasting()), lasts))
	}
	var always oracle.Set
	units, reads := map[int32]oracle.Set{}, map[int32]oracle.Set{}
	for _, row := range core {
		var touched []int32
		if whole {
			touched, _ = v.Touches(ops.Op(row))
		}
		switch {
		case ops.Res[row] == fail:
			always |= 1 << row
		case !ops.Model.Mutates(ops.Op(row)):
			for _, value := range touched {
				reads[tie.of(value)] |= 1 << row
			}
		case len(touched) == 0 || tie.of(touched[0]) == tie.of(lasts):
			always |= 1 << row
		default:
			units[tie.of(touched[0])] |= 1 << row
		}
	}
	return func(s oracle.Set) bool {
		for value, unit := range units {
			if s&unit != unit && s&(unit|reads[value]) != 0 {
				return false
			}
		}
		return s&always == always
	}
}

// ties groups values that belong together.
type ties map[int32]int32

// lasts is tied to the values that cannot be dropped.
const lasts = -7

func (t ties) of(value int32) int32 {
	for t[value] != 0 {
		value = t[value] - 100
	}
	return value
}

func (t ties) together(values []int32) {
	for _, value := range values {
		if a, b := t.of(value), t.of(values[0]); a != b {
			t[a] = b + 100
		}
	}
}

// A long core of a versioned-register is made small, too: here only the last read matters.
func TestALongCoreOfAVersionedRegisterIsMadeSmall(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for n := range 300 {
		fmt.Fprintf(&text, "{:process 0, :type :invoke, :f :write, :value [nil %d]}\n{:process 0, :type :ok, :f :write, :value [%d %[1]d]}\n", n, n+1)
		fmt.Fprintf(&text, "{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value [%d %d]}\n", n+1, n)
	}
	text.WriteString("{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value [nil -7]}\n")
	r := kit.CheckedText(t, text.String(), models.Spec{Name: "versioned-register", Init: "[0 nil]"}, clew.Options{})
	if r.Verdict != jepsen.Invalid || len(r.Core) != 1 {
		t.Errorf("%v, a core of %d operations; expected the read alone", r.Verdict, len(r.Core))
	}
}
