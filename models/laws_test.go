package models_test

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/models"
)

// promises holds, for each field of models.Traits, the laws below that check it, or a file
// and the test in it that does.
var promises = map[string][]string{
	"Survey":         {"../internal/tests/reading/answers_test.go TestAHistoryHasOneReading", "../internal/tests/reading/answers_test.go TestKeysHaveOneReading"},
	"AnyOrder":       {"spec_test.go TestHalvesAreReadAsTheWhole"},
	"Finish":         {"../internal/types/priorityqueue/priorityqueue_test.go TestRanksOfFarClasses"},
	"Settle":         {"run_test.go TestRunsAgreeWithStep"},
	"Opening":        {"../internal/tests/reading/initial_test.go TestInitialValuesOfSmallHistoriesAgainstExhaustiveSearch", "../internal/tests/reading/initialexists_test.go TestInitialValuesThatExistAgainstEnumeration"},
	"FromAny":        {"../internal/tests/reading/initialexists_test.go TestAnyInitialValueAgainstAllOfThem", "may not follow", "may lead", "projections"},
	"Refused":        {"../testdata/script/altered.txtar kv-warning.txt"},
	"Text":           {"multiregister_test.go TestAPartOfOneKeyIsARegister"},
	"Place":          {"../internal/tests/explanations/stories_test.go TestStories"},
	"Because":        {"says why"},
	"Run":            {"run_test.go TestRunsAgreeWithStep"},
	"Outcomes":       {"outcomes are those of Step"},
	"Fits":           {"fits"},
	"StepNumber":     {"../contrib/porcupine/porcupine_test.go TestSmallHistoriesAsPorcupineHasThem"},
	"Weight":         {"../internal/tests/limits/limits_test.go TestASearchCountsWhatItsModelHolds"},
	"Expects":        {"../cmd/clew/asked_test.go TestStdioAsksForTheStepsOfAnOrder"},
	"Within":         {"../internal/tests/ownmodels/func_test.go TestSlowStepsEndWithTheTimeLimit"},
	"Shape":          {"../internal/tests/verdicts/counts_test.go TestModelAndFastPathCountAlikeAtTheirLimits"},
	"Partition":      {"parts go alone"},
	"IsRegister":     {"is a register"},
	"MayIdle":        {"../internal/families/position/idle_test.go TestADeleteOfNothingMayBeAnUpdate"},
	"Told":           {"../internal/families/position/own_test.go TestOwnModelsAgainstTheOracle"},
	"RefusesNothing": {"../internal/tests/reading/vacuous_test.go TestVacuousVerdicts"},
	"Overwrites":     {"overwrites"},
	"Lookahead":      {"may not follow", "may lead", "never"},
	"Guide":          {"../internal/engines/small_test.go TestEverySmallHistoryAgreesWithTheOracle"},
	"Liveness":       {"needs", "leaves the rest"},
	"Levels":         {"../internal/engines/refute_test.go TestRefutationsAndBeamsAgreeWithTheOracle"},
	"Hindsight":      {"../internal/engines/refute_test.go TestRefutationsAndBeamsAgreeWithTheOracle"},
	"Projections":    {"projections"},
	"Rank":           {"rank"},
	"Narrows":        {"narrows"},
	"Hard":           {"../internal/tests/limits/limits_test.go TestAdviceFitsTheModel"},
	"Droppable":      {"../internal/tests/verdicts/core_test.go TestCoresOfTheGeneralSearchAreMinimal"},
	"Alone":          {"../internal/tests/verdicts/core_test.go TestCoresOfTheGeneralSearchAreMinimal"},
	"Visibility":     {"makes nothing", "../internal/tests/verdicts/core_test.go TestCoresOfMultiRegistersAreMinimal"},
	"FindVisibility": {"../internal/tests/ownmodels/fewstates_test.go TestCoresOfRandomMachines"},
	"FindKinds":      {"../internal/tests/ownmodels/fewstates_test.go TestCoresOfRandomMachines"},
	"Anomaly":        {"../internal/tests/explanations/kinds_test.go TestModelsNameKindsOnlyOfFailures"},
	"Positions":      {"../internal/types/etcd/etcd_test.go TestPositionsAreThoseOfTheSteps", "../internal/families/position/oracle_test.go TestAgainstTheOracle"},
	"Beyond":         {"../internal/tests/etcd/etcd_test.go TestBrokenWatchesAreFound"},
	"Declared":       {"../internal/tests/ownmodels/func_test.go TestAFunctionThatFailsIsAnError"},
}

// Every field of models.Traits has a promise, and nothing else has.
func TestEveryTraitIsHeldToItsPromise(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[models.Traits]())
	for _, field := range fields {
		if len(promises[field.Name]) == 0 {
			t.Errorf("nothing checks %s", field.Name)
		}
	}
	if len(promises) != len(fields) {
		t.Errorf("there are %d fields and %d promises", len(fields), len(promises))
	}
	for name, checks := range promises {
		for _, check := range checks {
			if file, test, _ := strings.Cut(check, " "); strings.Contains(file, ".") {
				text, err := os.ReadFile(file)
				if err != nil || !strings.Contains(string(text), test) {
					t.Errorf("%s: %s does not have it: %v", name, check, err)
				}
			}
		}
	}
}

// The steps of a model must keep its other promises to searches. The test checks that for
// operations of small histories, in states that they lead to.
func TestModelsKeepTheirPromises(t *testing.T) {
	kept := map[string]int{}
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i))
		for range 100 {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			h := gen.New(r, o)
			spec.Init = h.Init
			_, ops, err := campaign.ReadText(spec, h.Text)
			if err != nil || ops.Len() == 0 {
				continue // the oracle's tests make sure that few are
			}
			(&laws{t, r, ops, kept}).walk()
			if any := ops.Model.Traits().FromAny; any != nil {
				for from := range any(ops) {
					(&laws{t, r, from.Operations, kept}).walk()
				}
			}
		}
	}
	t.Log(kept)
	for name, checks := range promises {
		for _, law := range checks {
			if !strings.Contains(law, ".") && kept[law] < 100 {
				t.Errorf("%s: %q was looked at %d times only", name, law, kept[law])
			}
		}
	}
	if kept["only reads"] < 100 {
		t.Errorf("%d operations only read", kept["only reads"])
	}
}

// laws checks a model and its operations.
type laws struct {
	t    *testing.T
	r    *rand.Rand
	ops  *models.Operations
	kept map[string]int // by law
}

// walk checks the laws in states that some operations in a row lead to.
func (l *laws) walk() {
	s := l.ops.Model.Init()
	var row []models.Op // what has happened
	for range 12 {
		op := l.op()
		l.step(s, op)
		l.lookahead(s, op)
		l.liveness(s, op)
		if next := l.ops.Model.Step(nil, s, op); len(next) > 0 {
			s, row = next[l.r.IntN(len(next))], append(row, op)
		}
	}
	l.projections(row)
	l.rank(s)
	l.narrows(s)
	l.parts()
}

func (l *laws) op() models.Op { return l.ops.Op(models.Row(l.r.IntN(l.ops.Len()))) }

// true counts a law that holds, and fails if it does not.
func (l *laws) true(law string, is bool, s models.State, op models.Op, others ...models.Op) {
	l.t.Helper()
	if l.kept[law]++; !is {
		l.t.Fatalf("%s: not so of %v in %v, which is %v, with %v", law, op, s, l.ops.Model.Record(s), others)
	}
}

// step checks the laws of single steps.
func (l *laws) step(s models.State, op models.Op) {
	m := l.ops.Model
	next := m.Step(nil, s, op)
	if !m.Mutates(op) {
		l.true("only reads", len(next) == 0 || len(next) == 1 && slices.Equal(next[0], s), s, op)
	}
	traits := m.Traits()
	if len(next) == 0 && traits.Because != nil {
		l.true("says why", models.Because(m, s, op) != "", s, op)
	}
	if traits.Overwrites != nil && traits.Overwrites(op) {
		first := m.Step(nil, m.Init(), op)
		l.true("overwrites", len(next) == 1 && len(first) == 1 && slices.Equal(next[0], first[0]), s, op)
	}
	if traits.Fits != nil {
		possible, same := traits.Fits(s, op)
		l.true("fits", possible == (len(next) > 0) && len(next) <= 1 && same == (possible && slices.Equal(next[0], s)), s, op)
	}
	if traits.IsRegister {
		l.true("is a register", len(s) == 1 && op.Kind <= models.FailedCAS && traits.Visibility != nil, s, op)
	}
	if v := traits.Visibility; v != nil && len(v.Makes(nil, op)) == 0 {
		l.true("makes nothing", len(next) == 0 || len(next) == 1 && slices.Equal(next[0], s), s, op)
	}
	if traits.Outcomes != nil {
		var outcomes []models.State
		traits.Outcomes(s, op, func(next models.State) bool {
			outcomes = append(outcomes, next)
			return true
		})
		l.true("outcomes are those of Step", slices.EqualFunc(outcomes, next, slices.Equal[models.State]), s, op)
	}
}

// rank compares what can happen in a row from a state with what can from others of its group.
func (l *laws) rank(s models.State) {
	m := l.ops.Model
	rank := m.Traits().Rank
	if rank == nil {
		return
	}
	seen := []models.State{s, m.Init()}
	for range 30 {
		next := m.Step(nil, seen[l.r.IntN(len(seen))], l.op())
		seen = append(seen, next...)
	}
	for range 20 {
		worse := seen[l.r.IntN(len(seen))]
		group, n := rank(worse)
		for _, better := range seen {
			if other, k := rank(better); !slices.Equal(group, other) || k > n {
				continue
			}
			from, to, row := better, worse, []models.Op(nil)
			for range 5 {
				op := l.op()
				worseNext, betterNext := m.Step(nil, to, op), m.Step(nil, from, op)
				if len(worseNext) == 0 {
					continue
				}
				row = append(row, op)
				l.true("rank", len(betterNext) == 1 && len(worseNext) == 1, worse, op, row...)
				from, to = betterNext[0], worseNext[0]
			}
		}
	}
}

// narrows compares what can happen in a row with and without an operation that narrows that down.
func (l *laws) narrows(s models.State) {
	m := l.ops.Model
	narrows := m.Traits().Narrows
	if narrows == nil {
		return
	}
	for range 20 {
		op := l.op()
		next := m.Step(nil, s, op)
		if !narrows(op) || len(next) == 0 {
			continue
		}
		l.true("narrows", len(next) == 1, s, op)
		with, without, row := next[0], s, []models.Op{op}
		for range 8 {
			op := l.op()
			after, also := m.Step(nil, with, op), m.Step(nil, without, op)
			if len(after) == 0 {
				continue
			}
			row = append(row, op)
			l.true("narrows", len(also) == 1 && len(after) == 1, s, op, row...)
			with, without = after[0], also[0]
		}
	}
}

// projections lets what can happen in a row happen under the model's projections.
func (l *laws) projections(row []models.Op) {
	project := l.ops.Model.Traits().Projections
	if project == nil {
		return
	}
	ops := &models.Operations{Model: l.ops.Model, History: l.ops.History}
	for i, op := range row {
		ops.Append(int32(2*i), int32(2*i+1), op)
		ops.Of = append(ops.Of, 0)
	}
	ops.Events = 2 * int32(len(row))
	for _, p := range project(ops) {
		m := p.Model
		states := []models.State{m.Init()}
		for i := range p.Len() {
			op := p.Op(models.Row(i))
			var next []models.State
			for _, s := range states {
				next = m.Step(next, s, op)
			}
			l.true("projections", len(next) > 0, states[0], op, row...)
			states = next[:min(len(next), 100)]
		}
	}
}

// lookahead compares what a model rules out with all orders of some other operations.
func (l *laws) lookahead(s models.State, op models.Op) {
	m := l.ops.Model.Traits().Lookahead
	if m == nil {
		return
	}
	var others, changing []models.Op
	for range l.r.IntN(5) {
		other := l.op()
		if others = append(others, other); l.ops.Model.Mutates(other) {
			changing = append(changing, other)
		}
	}
	if !m.MayFollow(s, op, others) {
		l.orders(s, others, func(s models.State, _ []models.Op) {
			l.true("may not follow", len(l.ops.Model.Step(nil, s, op)) == 0, s, op, others...)
		})
	}
	if m.Never != nil {
		l.never(s, m.Never)
	}
	first := l.ops.Model.Step(nil, s, op)
	if len(first) == 0 || !m.MayLead(s, op, changing) {
		return
	}
	l.orders(s, changing, func(now models.State, order []models.Op) {
		last := l.ops.Model.Step(nil, now, op)
		if len(last) == 0 {
			return
		}
		after := first
		for _, next := range order {
			if len(after) > 0 {
				after = l.ops.Model.Step(nil, after[0], next)
			}
		}
		l.true("may lead", len(after) == 1 && slices.Equal(after[0], last[0]), s, op, order...)
	})
}

// never looks for a row of operations from a state that leads to one that a model says cannot happen anymore.
func (l *laws) never(s models.State, never func(s models.State, op models.Op) bool) {
	ruled := map[models.Op]models.State{} // what cannot happen, and the state in which the model said so
	for range 30 {
		for row := range l.ops.Len() {
			op := l.ops.Op(models.Row(row))
			if from, ok := ruled[op]; ok {
				l.true("never", len(l.ops.Model.Step(nil, s, op)) == 0, from, op)
			} else if never(s, op) {
				ruled[op] = s
			}
		}
		if next := l.ops.Model.Step(nil, s, l.op()); len(next) > 0 {
			s = next[0]
		}
	}
}

// orders calls f with each state that some of the operations lead to, each at most once,
// and with their order.
func (l *laws) orders(s models.State, ops []models.Op, f func(s models.State, order []models.Op)) {
	var walk func(s models.State, left, order []models.Op)
	walk = func(s models.State, left, order []models.Op) {
		f(s, order)
		for i, op := range left {
			for _, next := range l.ops.Model.Step(nil, s, op) {
				walk(next, slices.Delete(slices.Clone(left), i, i+1), append(slices.Clip(order), op))
			}
		}
	}
	walk(s, ops, nil)
}

// liveness checks which cells operations show and leave.
func (l *laws) liveness(s models.State, op models.Op) {
	m := l.ops.Model.Traits().Liveness
	if m == nil {
		return
	}
	cells, needs := m.Shows(nil, op)
	next := l.ops.Model.Step(nil, s, op)
	if len(cells) == 0 {
		l.true("shows nothing", len(next) > 0, s, op)
	}
	if needs && len(next) > 0 {
		for _, c := range cells {
			l.true("needs", m.At(s, c.Place) == c.Value, s, op)
		}
	}
	left, blindly := m.Leaves(nil, op)
	for _, n := range next {
		for _, c := range left {
			l.true("leaves", !blindly || m.At(n, c.Place) == c.Value, s, op)
		}
		for row := range l.ops.Len() {
			there, _ := m.Leaves(nil, l.ops.Op(models.Row(row)))
			for _, at := range there {
				changed := slices.ContainsFunc(left, func(c models.Cell) bool { return c.Place == at.Place })
				l.true("leaves the rest", changed || m.At(n, at.Place) == m.At(s, at.Place), s, op)
			}
		}
	}
}

// parts checks that an operation can happen if and only if it can in its own part, after some
// of the operations in some order.
func (l *laws) parts() {
	m := l.ops.Model.Traits().Partition
	if m == nil {
		return
	}
	whole, own := l.ops.Model.Init(), map[int32]models.State{}
	for range 10 {
		op := l.op()
		part := m.Of(op)
		if own[part] == nil {
			own[part] = l.ops.Model.Init()
		}
		next, alone := l.ops.Model.Step(nil, whole, op), l.ops.Model.Step(nil, own[part], op)
		l.true("parts go alone", len(next) == len(alone), whole, op)
		if len(next) > 0 {
			i := l.r.IntN(len(next))
			whole, own[part] = next[i], alone[i]
		}
	}
}
