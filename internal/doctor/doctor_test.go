package doctor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"clew"
	"clew/fallback"
	"clew/internal/doctor"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/gen"
	"clew/internal/option"
	"clew/jepsen"
	"clew/models"
)

// Messages are those that users of the command see.
func init() { option.AsFlags() }

// examine examines the text of a history.
func examine(t *testing.T, text string, spec models.Spec, o doctor.Options) (*doctor.Diagnosis, error) {
	t.Helper()
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Examine(context.Background(), h, spec, o)
}

// TestCases runs the conversations of testdata/cases.txt: a history, and what weakens its test.
//
//	doctor MODEL [init=EDN] [nil-reads=exact] [independent=true]
//
// go test -run TestCases -rewrite ./internal/doctor writes the answers again; read the difference.
func TestCases(t *testing.T) {
	datadriven.RunTest(t, "testdata/cases.txt", func(t *testing.T, d *datadriven.TestData) string {
		spec, o := models.Spec{}, doctor.Options{Mutants: 100, Seed: 1}
		for _, arg := range d.CmdArgs {
			if len(arg.Vals) == 0 {
				spec.Name = arg.Key
			} else if arg.Key == "independent" {
				o.Check.Independent = true
			} else if err := spec.Set(models.Param(arg.Key), arg.Vals[0]); err != nil {
				t.Fatal(err)
			}
		}
		x, err := examine(t, d.Input+"\n", spec, o)
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		var b strings.Builder
		for _, f := range x.Findings {
			fmt.Fprintf(&b, "%s: %s\n  to change: %s\n", f.Name, f.Says, f.Change)
		}
		m := x.Mutants
		fmt.Fprintf(&b, "%s; %d of %d operations: %d mutants, %d refuted, %d linearizable, %d undecided\n",
			x.Verdict, x.Changed, x.Operations, m.Made, m.Refuted, m.Valid, m.Undecided)
		return b.String()
	})
}

// long returns a generated history, and how to read it.
func long(t *testing.T, o gen.LongOptions) (text string, spec models.Spec) {
	t.Helper()
	var b strings.Builder
	if _, err := gen.Long(&b, o); err != nil {
		t.Fatal(err)
	}
	for flags := o.Flags(); len(flags) > 1; flags = flags[2:] {
		if err := spec.Set(models.Param(flags[0][2:]), flags[1]); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), spec
}

func names(d *doctor.Diagnosis) string {
	var all []string
	for _, f := range d.Findings {
		all = append(all, f.Name)
	}
	return strings.Join(all, " ")
}

func TestGeneratedTestsAreHealthyUnlessTheyHaveOneClient(t *testing.T) {
	mutants := map[bool]int{true: 15, false: 40}[effort.Few()]
	for i, model := range models.All() {
		for j, keys := range []int{0, 3} {
			if !effort.Takes(i + j) {
				continue
			}
			o := gen.LongOptions{Model: model.Name, Operations: 300, Processes: 5, Independent: keys, Seed: 1}
			how := doctor.Options{Mutants: mutants, Seed: 1, Check: clew.Options{Independent: keys > 0}}
			text, spec := long(t, o)
			d, err := examine(t, text, spec, how)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if d.Healthy != jepsen.Valid || d.Verdict != jepsen.Valid || d.Mutants.Made != mutants || d.Mutants.Undecided > 5 {
				t.Errorf("%+v: %s", o, d.Text())
			}
			if keys > 0 {
				continue // independent objects have five processes at a time
			}
			o.Processes = 1
			text, spec = long(t, o)
			if d, err = examine(t, text, spec, how); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if d.Healthy != jepsen.Invalid || !strings.Contains(names(d), "few-overlaps") || !strings.Contains(d.Text(), "one client ran all ") {
				t.Errorf("%+v: %s", o, d.Text())
			}
		}
	}
}

func TestTheSameSeedMakesTheSameMutants(t *testing.T) {
	text, spec := long(t, gen.LongOptions{Model: "kv", Operations: 200, Processes: 4, Seed: 3})
	said := func(seed uint64) string {
		d, err := examine(t, text, spec, doctor.Options{Mutants: 30, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		d.Ms = 0
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(line)
	}
	if a, b := said(1), said(1); a != b {
		t.Errorf("%s\nand %s", a, b)
	}
	if said(1) == said(2) {
		t.Error("another seed makes the same mutants")
	}
}

func TestALongHistoryIsChangedAtItsBeginning(t *testing.T) {
	for _, keys := range []int{0, 50} {
		text, spec := long(t, gen.LongOptions{Model: "register", Operations: 3 * doctor.Window, Processes: 5, Independent: keys, Seed: 1, Crashes: 0.01})
		d, err := examine(t, text, spec, doctor.Options{Mutants: 10, Seed: 1, Check: clew.Options{Independent: keys > 0}})
		if err != nil {
			t.Fatal(err)
		}
		if d.Changed != doctor.Window || d.Operations < 3*doctor.Window || d.Healthy != jepsen.Valid || !strings.Contains(d.Text(), "mutants of 2000 of them") {
			t.Errorf("%d of %d operations: %s", d.Changed, d.Operations, d.Text())
		}
	}
}

func TestTheBugOfAHistoryIsCutOff(t *testing.T) {
	text, spec := long(t, gen.LongOptions{Model: "register", Operations: 400, Processes: 5, Kind: gen.StaleRead, At: 0.5, Seed: 1})
	d, err := examine(t, text, spec, doctor.Options{Mutants: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d.Verdict != jepsen.Invalid || d.Healthy != jepsen.Valid || d.Changed == 0 || d.Changed >= d.Operations || d.Mutants.Valid == 0 {
		t.Errorf("%d of %d operations: %s", d.Changed, d.Operations, d.Text())
	}
}

func TestNothingIsConcludedIfTheContextHasEnded(t *testing.T) {
	text, spec := long(t, gen.LongOptions{Model: "register", Operations: 400, Processes: 5, Seed: 1})
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, err := doctor.Examine(ctx, h, spec, doctor.Options{Mutants: 40})
	if err != nil || d.Healthy != jepsen.Unknown || d.Cause != jepsen.Interrupted {
		t.Errorf("%+v, %v", d, err)
	}
}

// crashing returns a history of 8 keys and 8 clients. Every operation of a key or of a client crashes.
func crashing(ofKey bool) string {
	var b strings.Builder
	next, number := [8]int{0, 1, 2, 3, 4, 5, 6, 7}, 0
	for round := range 12 {
		for client := range 8 {
			key := (client + round) % 8
			fmt.Fprintf(&b, "%d :invoke :write [%d %d]\n", next[client], key, number+client)
		}
		for client := range 8 {
			key, end := (client+round)%8, ":ok"
			if ofKey && key == 0 || !ofKey && client == 0 {
				end = ":info"
			}
			fmt.Fprintf(&b, "%d %s :write [%d %d]\n", next[client], end, key, number+client)
			if end == ":info" {
				next[client] += 8
			}
		}
		number += 8
	}
	return b.String()
}

func TestCrashesOfFewKeysOrClientsAreTold(t *testing.T) {
	for ofKey, want := range map[bool]string{
		true:  "12 of 12 crashed operations are of 1 of 8 keys: 0",
		false: "12 of 12 crashed operations are of 1 of 8 clients: 0",
	} {
		d, err := examine(t, crashing(ofKey), models.Spec{Name: "register"}, doctor.Options{Mutants: 10, Seed: 1, Check: clew.Options{Independent: true}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.Text(), want) {
			t.Errorf("want %s\n%s", want, d.Text())
		}
	}
}

// lax is a register that refuses nothing, or one that refuses what was not written last.
func lax(refuses bool) models.Spec {
	return models.Own((&models.Func[string]{
		Name: "lax", Init: "nil",
		Ops: map[string]models.StepFunc[string]{
			"write": func(_ string, c models.Call) ([]string, error) { return []string{c.Value.String()}, nil },
			"read": func(s string, c models.Call) ([]string, error) {
				if refuses && c.OK && c.Out.String() != s {
					return nil, models.Inconsistent("%s≠%s", c.Out, s)
				}
				return []string{s}, nil
			},
		},
	}).Definition())
}

func TestAModelThatRefusesNothingIsTold(t *testing.T) {
	text, _ := long(t, gen.LongOptions{Model: "register", Operations: 200, Processes: 5, Seed: 1})
	for refuses, want := range map[bool]string{true: "", false: "refuses-nothing few-refuted"} {
		d, err := examine(t, text, lax(refuses), doctor.Options{Mutants: 40, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if names(d) != want {
			t.Errorf("refuses: %t\n%s", refuses, d.Text())
		}
	}
}

// tiring is an engine that gets no further than a number of completions.
type tiring struct{ fallback.Engine }

const strength = 30

func (e tiring) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	if len(fallback.Completions(ops)) <= strength {
		return e.Engine.Decide(ctx, ops, lim)
	}
	return fallback.Answer{Cause: jepsen.Timeout, Passed: strength}
}

func TestWhatIsTooHardIsChangedUpToWhereTheSearchGot(t *testing.T) {
	text, spec := long(t, gen.LongOptions{Model: "register", Operations: 100, Processes: 5, Seed: 1})
	how := doctor.Options{Mutants: 10, Seed: 1, Check: clew.Options{Engine: tiring{engines.New("", 0)}}}
	d, err := examine(t, text, spec, how)
	if err != nil {
		t.Fatal(err)
	}
	if d.Verdict != jepsen.Valid || d.Changed < strength || d.Changed > strength+5 || d.Mutants.Made != 10 || d.Mutants.Undecided > 0 {
		t.Errorf("%d of %d operations: %s", d.Changed, d.Operations, d.Text())
	}
}

// What had no time are the mutants: that the history is not linearizable is certain.
func TestATimeoutOfMutantsIsNotThatOfTheHistory(t *testing.T) {
	d := doctor.Diagnosis{File: "h.edn", Model: "register", Verdict: jepsen.Invalid, Healthy: jepsen.Unknown, Cause: jepsen.Timeout}
	if said := d.Text(); !strings.Contains(said, "enough mutants") || strings.Contains(said, "timeout") {
		t.Error(said)
	}
}
