package campaign

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Each configuration gets a few histories.
// TestEveryVerdictAndItsEvidenceAgreeWithTheOracle has more, without the changes that must
// not matter.
func TestUnitsFindNothingWrong(t *testing.T) {
	var all Counts
	configs, err := All("../../testdata/models")
	if err != nil {
		t.Fatal(err)
	}
	few := effort.Few()
	for i, config := range configs {
		if few && i%8 > 0 {
			continue
		}
		c, err := config.some(Unit{config.Name, uint64(i)}, max(1, config.Histories/20))
		if err != nil {
			t.Error(err)
		}
		all.Add(c)
	}
	enough := func(what Compared, least int, names ...string) {
		for _, name := range names {
			if n := what[name].Valid + what[name].Invalid; n < least {
				t.Errorf("%s: compared %d times only", name, n)
			}
		}
	}
	least := 20
	if few {
		least = 1
	}
	for seed := uint64(0); few && all.Changes["part alone"] == (Verdicts{}) && seed < 100; seed++ { // so few draws may leave these out
		r := gen.Rand(seed)
		s, err := all.examine(models.Spec{Name: "kv"}, gen.New(r, gen.Options{Model: "kv"}))
		if err == nil {
			err = all.apart(r, s)
		}
		if err != nil {
			t.Error(err)
		}
	}
	enough(all.Changes, least, "keys together", "prefix", "part alone")
	for _, rel := range relations {
		enough(all.Changes, least, rel.name)
	}
	if few { // so few draws may leave out a form
		s, err := all.examine(models.Spec{Name: "register"}, gen.New(gen.Rand(1), gen.Options{Model: "register"}))
		for _, f := range written {
			if err == nil {
				err = all.inForm(s, f)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, f := range written {
		if !f.ofObjects() || !few { // few histories can be written in those
			enough(all.Forms, 1, f.name)
		}
	}
}

// A change that does matter is detected.
func TestRelationsSeeWhatChangesAVerdict(t *testing.T) {
	const stale = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
		"{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n"
	before := relations
	defer func() { relations = before }()
	for name, change := range map[string]func(x *changing){
		"another verdict":       func(x *changing) { x.lines[3] = strings.Replace(x.lines[3], "7", "1", 1) },
		"another failing event": func(x *changing) { x.was[2], x.was[3] = 3, 2 },
	} {
		relations = []relation{{name: name, change: func(x *changing) bool { change(x); return true }}}
		if err := new(Counts).Relations(gen.Rand(1), models.Spec{Name: "register"}, stale); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a map holds at a missing key depends on the whole history. Its initial value
// may show it.
func TestPartsOfAMapMayDependOnTheWhole(t *testing.T) {
	const text = "{:process 0 :type :invoke :f :get :key 1}\n{:process 0 :type :ok :f :get :key 1}\n" +
		"{:process 0 :type :invoke :f :append :key \"x\" :value \"b\"}\n"
	for seed := range uint64(20) {
		if err := new(Counts).Relations(gen.Rand(seed), models.Spec{Name: "kv", Init: `{1 ""}`}, text); err != nil {
			t.Fatal(err)
		}
	}
}

// A value is renamed as a whole, or not at all.
func TestRenamingLeavesWhatIsNotPlain(t *testing.T) {
	for value, plain := range map[string]bool{"[1 2]": true, "{:a 1}, :index 3": true, "7 :index 3": true, `[{:a 1} [1 2] "a"]`: false, `[{:a 1} 1.0], :index 3`: false} {
		line := "{:process 0, :type :ok, :f :cas, :value " + value + "}"
		x := &changing{subject: subject{spec: models.Spec{Name: "cas-register"}}, r: gen.Rand(1), lines: []string{line}}
		if x.rename() != plain || (x.lines[0] != line) != plain {
			t.Errorf("%s becomes %s", line, x.lines[0])
		}
	}
}

// Each crashed dequeue may have taken anything.
func TestAnOrderOfTooManyStatesIsNotReplayed(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :enqueue, :value %d}\n{:process %d, :type :ok, :f :enqueue, :value %d}\n", i, i, i, i)
	}
	for i := range 20 {
		fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :dequeue}\n", 100+i)
	}
	_, ops, err := ReadText(models.Spec{Name: "unordered-queue"}, text.String())
	if err != nil {
		t.Fatal(err)
	}
	order := make([]models.Row, ops.Len())
	for i := range order {
		order[i] = models.Row(i)
	}
	if err := oracle.Shows(ops, order[:43], ops.Events); err != nil {
		t.Errorf("three dequeues: %v", err)
	}
	if err := oracle.Shows(ops, order, ops.Events); len(order) != 60 || !errors.Is(err, oracle.ErrManyStates) {
		t.Errorf("%d rows: %v", len(order), err)
	}
}

// A history of many keys keeps only those lines that one key needs for a verdict
// that differs from the one alone.
func TestAMismatchOfKeysIsMadeSmall(t *testing.T) {
	var queues [][]string
	r := gen.Rand(1)
	spec := models.Spec{Name: "register"}
	for i := range 5 {
		g := gen.New(r, gen.Options{Model: spec.Name})
		h, ops, err := ReadText(spec, g.Text)
		if err != nil {
			t.Fatal(err)
		}
		s := subject{spec: spec, h: h, ops: ops}
		queues = append(queues, s.keyed(r, i, keyNames[i]))
	}
	queues = append(queues, []string{"{:process 9000 :type :invoke :f :read :value [:x nil]}", "{:process 9000 :type :ok :f :read :value [:x 7]}"})
	lenient := func(spec models.Spec, text string) (*jepsen.History, *report.Result, error) {
		h, r, err := decided(spec, text)
		if err == nil && r.Verdict == jepsen.Invalid {
			r = &report.Result{Verdict: jepsen.Valid}
		}
		return h, r, err
	}
	text := smallestOfKeys(spec, interleaved(r, queues), lenient)
	if n := strings.Count(text, "\n"); n != 2 {
		t.Errorf("%d lines are left:\n%s", n, text)
	}
}
