package engines

import (
	"context"
	"fmt"
	"strings"
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

// refutes counts operations that fail, and that an engine refutes. It compares what the engine says with Frontier.
func refutes(t *testing.T, e fallback.Engine, ops *models.Operations, model, text string) (invalid, refuted int) {
	t.Helper()
	want := configs.Frontier{}.Decide(context.Background(), ops, fallback.Limits{})
	a := e.Decide(context.Background(), ops, fallback.Limits{})
	if want.Verdict == jepsen.Invalid {
		invalid++
	}
	switch {
	case a.Verdict != jepsen.Invalid:
		return invalid, 0
	case want.Verdict != jepsen.Invalid || want.FailEvent != a.FailEvent:
		t.Fatalf("%s: refuted at %d, but it is %d (event %d):\n%s", model, a.FailEvent, want.Verdict, want.FailEvent, text)
	}
	if err := enginetest.Shows(ops, a); err != nil {
		t.Fatalf("%s: %v\n%s", model, err, text)
	}
	return invalid, 1
}

// A crashed class that never ends explains everything that the real one explains.
func TestTheRelaxationRefutesOnlyWhatFails(t *testing.T) {
	n := effort.Histories(60, 10_000)
	for _, spec := range testops.Models() {
		model := spec.Name
		refuted, invalid := 0, 0
		for seed := range n {
			ops, text := testops.Generated(t, spec, gen.Options{Operations: 14, Crashes: 0.4}, seed)
			fails, found := refutes(t, refuter{}, ops, model, text)
			invalid, refuted = invalid+fails, refuted+found
		}
		t.Logf("%s: %d of %d refuted", model, refuted, invalid)
		if refuted == 0 {
			t.Errorf("%s: nothing was refuted", model)
		}
	}
}

// What fails under a projection, such as a bank with negative balances, fails under the model.
func TestProjectionsRefuteOnlyWhatFails(t *testing.T) {
	n := effort.Histories(400, 100_000)
	for _, model := range []string{"bank", "lease", "multi-register"} {
		refuted, invalid := 0, 0
		for seed := range n {
			whole, text := testops.Generated(t, models.Spec{Name: model}, gen.Options{Operations: 14, Crashes: 0.3}, seed)
			for _, ops := range whole.Parts() {
				if ops.Model.Traits().Projections == nil {
					continue
				}
				fails, found := refutes(t, loosener{}, ops, model, text)
				invalid, refuted = invalid+fails, refuted+found
			}
		}
		t.Logf("%s: %d of %d refuted", model, refuted, invalid)
		if refuted == 0 || refuted == invalid {
			t.Errorf("%s: that tells too little", model)
		}
	}
}

// Crashed transactions on other keys do not make a stale read of one key any harder.
func TestAKeyIsRefutedByItself(t *testing.T) {
	var text strings.Builder
	event := func(process int, typ, txn string) {
		fmt.Fprintf(&text, "{:process %d, :type :%s, :f :txn, :value %s}\n", process, typ, txn)
	}
	for i := range 30 {
		txn := fmt.Sprintf("[[:w %d 1] [:w %d 1]]", i, i+1)
		event(10+i, "invoke", txn)
		event(10+i, "info", txn)
	}
	for _, txn := range []string{"[[:w 0 2] [:w 99 5]]", "[[:w 99 6]]", "[[:r 99 5]]"} {
		event(0, "invoke", strings.Replace(txn, "[:r 99 5]", "[:r 99 nil]", 1))
		event(0, "ok", txn)
	}
	ops := testops.Read(t, models.Spec{Name: "multi-register"}, text.String())
	ctx, lim, stop := fallback.Limits{}.Within(context.Background(), 10_000_000)
	defer stop()
	if a := (easyFirst{}).Decide(ctx, ops, lim); a.Verdict != jepsen.Invalid || a.FailEvent != int32(ops.Events-1) {
		t.Errorf("%v at %d, with %d units of work", a.Verdict, a.FailEvent, a.Work)
	}
}

// An earlier answer says more of a level than its start does, if operations have crashed.
func TestAnswersAreComparedWithEarlierOnes(t *testing.T) {
	for _, c := range []struct{ model, name, calls string }{
		{"unordered-queue", "an element after the queue was empty", "enqueue 1, !dequeue nil, !dequeue nil, dequeue nil -> :empty, dequeue nil -> 1"},
		{"log", "a shorter log", "!append 1, !append 2, !append 3, tail nil -> 3, tail nil -> 2"},
		{"counter", "an add that is missing", "!add 5, !add 5, read nil -> 5, add 1, add 1, read nil -> 6"},
		{"counter", "an odd number", "!add 4, add 6, !add 2, read nil -> 7"},
		{"java-queue", "a size that shrank", "!offer 1, !offer 2, size nil -> 2, peek nil -> 1, size nil -> 1"},
	} {
		var text strings.Builder
		for i, call := range strings.Split(c.calls, ", ") {
			call, crashed := strings.CutPrefix(call, "!")
			f, value, _ := strings.Cut(call, " ")
			in, out, answers := strings.Cut(value, " -> ")
			if !answers {
				out = in
			}
			fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :%s, :value %s}\n", i, f, in)
			if !crashed {
				fmt.Fprintf(&text, "{:process %d, :type :ok, :f :%s, :value %s}\n", i, f, out)
			}
		}
		ops := testops.Read(t, models.Spec{Name: c.model}, text.String())
		if fail := refutedByLevels(ops); fail != int32(ops.Events-1) {
			t.Errorf("%s: event %d is ruled out, not %d", c.name, fail, ops.Events-1)
		}
	}
}

// A bounded queue of a user's own that returns what nothing put there, or is longer than its bound.
func TestAnswersThatNoStateAllows(t *testing.T) {
	queue := models.Func[string]{Name: "bounded", Ops: map[string]models.StepFunc[string]{
		"put": func(s string, c models.Call) ([]string, error) {
			if len(s) == 3 {
				return nil, models.Inconsistent("full")
			}
			return []string{s + c.Value.String()}, nil
		},
		"take": func(s string, c models.Call) ([]string, error) {
			if s == "" || s[:1] != c.Out.String() {
				return nil, models.Inconsistent("not first")
			}
			return []string{s[1:]}, nil
		},
		"length": func(s string, c models.Call) ([]string, error) {
			if c.Out.String() != fmt.Sprint(len(s)) {
				return nil, models.Inconsistent("another length")
			}
			return []string{s}, nil
		},
	}}
	for _, c := range []struct {
		f, value string
		ruledOut bool
	}{{"take", "9", true}, {"length", "4", true}, {"take", "1", false}, {"length", "3", false}} {
		var text strings.Builder
		for i := range 20 {
			fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :put, :value %d}\n", i, i%3)
		}
		fmt.Fprintf(&text, "{:process 99, :type :invoke, :f :%s, :value nil}\n{:process 99, :type :ok, :f :%s, :value %s}\n", c.f, c.f, c.value)
		ops := testops.Read(t, models.Own(queue.Definition()), text.String())
		a := reacher{}.Decide(context.Background(), ops, fallback.Limits{})
		if (a.Verdict == jepsen.Invalid) != c.ruledOut {
			t.Errorf("%s %s: %v", c.f, c.value, a.Verdict)
		}
	}
}

// parts are engines that may give up.
var parts = map[string]fallback.Engine{"beam": configs.Beam{GivesUp: true}, "beam alone": configs.Beam{}, "hindsight": hindsight{},
	"projections": loosener{}, "refuter": refuter{}, "reacher": reacher{}, "no levels": easyFirst{noLevels: true}, "all in turns": easyFirst{}}

// What the engines say that give up on some histories, and what the levels rule out, is
// compared with the oracle.
func TestRefutationsAndBeamsAgreeWithTheOracle(t *testing.T) {
	n := effort.Histories(80, 40_000)
	for _, spec := range testops.Models() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			invalid, refuted := 0, 0
			for seed := range n {
				r := gen.Rand(seed)
				o := gen.Options{Operations: 3 + r.IntN(8), Processes: 2 + r.IntN(4), Values: 1 + r.IntN(3), Crashes: 0.5 * r.Float64()}
				whole, text := testops.Generated(t, spec, o, seed)
				for _, ops := range whole.Parts() {
					want := oracle.Decide(ops, oracle.Options{})
					if !want.Linearizable {
						invalid++
					}
					if fail := refutedByLevels(ops); fail != models.Open {
						refuted++
						if want.Linearizable || fail < want.Fail {
							t.Fatalf("the levels rule out event %d, but the first failure is %v:\n%s", fail, want, text)
						}
					}
					for name, engine := range parts {
						if traits := ops.Model.Traits(); name == "hindsight" && traits.Hindsight == nil || name == "projections" && traits.Projections == nil {
							continue
						}
						a := engine.Decide(context.Background(), ops, fallback.Limits{})
						switch {
						case a.Verdict == jepsen.Unknown && name != "all in turns" && name != "no levels":
							continue
						case a.Verdict == jepsen.Unknown, (a.Verdict == jepsen.Valid) != want.Linearizable,
							a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail:
							t.Fatalf("%s says %d (event %d), but it is %v:\n%s", name, a.Verdict, a.FailEvent, want, text)
						}
						if err := enginetest.Shows(ops, a); err != nil {
							t.Fatalf("%s: %v\n%s", name, err, text)
						}
					}
				}
			}
			t.Logf("the levels rule out %d of %d", refuted, invalid)
			if traits := testops.Read(t, spec, "").Model.Traits(); refuted == 0 && invalid > 0 && traits.Levels != nil {
				t.Error("the levels rule out nothing")
			}
		})
	}
}
