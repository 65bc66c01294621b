package ownmodels_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"clew/internal/effort"

	"clew"
	"clew/edn"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
	"clew/report"
)

func TestModelFilesAgreeWithTheirTwinsAndTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	n := 500
	if effort.Long() {
		n = 100_000
	} else if effort.Few() {
		n = 150
	}
	for _, name := range kit.Twins {
		t.Run(name, func(t *testing.T) { agreesWithItsTwin(t, name, n) })
	}
}

// agreesWithItsTwin checks n histories with a model file, with the built-in model of its name and with the oracle.
// Histories whose values Starlark could confuse do not count.
func agreesWithItsTwin(t *testing.T, name string, n int) {
	file := kit.StarModel(t, name)
	r := gen.Rand(16)
	valid, refused := 0, 0
	for range n {
		g := gen.New(r, gen.Options{Model: name, Init: true})
		own, twin := models.Own(file), models.Spec{Name: name}
		own.Init, twin.Init = g.Init, g.Init
		if name == "counter" {
			twin.Answers = models.AnswersTold
		}
		if _, _, err := campaign.ReadText(own, g.Text); err != nil && strings.Contains(err.Error(), "which are equal in the model and not in the history") {
			refused++
			continue
		}
		want := kit.Judged(t, twin, g.Text, "auto")
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
			got := kit.Judged(t, own, g.Text, algorithm)
			if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
				t.Fatalf("%s, %s: %v at event %d; the built-in model says %v at %d:\n%s", name, algorithm, got.Verdict, got.FailEvent.OrNone(), want.Verdict, want.FailEvent.OrNone(), g.Text)
			}
		}
		if want.Verdict == jepsen.Valid {
			valid++
		}
	}
	if judged := n - refused; 5*judged < 4*n || 5*valid < judged || 5*valid > 4*judged {
		t.Errorf("%s: %d valid of %d, %d refused", name, valid, n, refused)
	}
}

const dice = `
init = {}

def sides(op):
    return range(1, op.value[1] + 1)

def roll(state, op):
    return one_of([state | {op.value[0]: n} for n in sides(op)])

def look(state, op):
    die, seen = op.value
    return state if state.get(die) == seen else inconsistent("%s shows %s" % (die, state.get(die)))

ops = {"roll": roll, "look": look}
reads = ["look"]

def partition(op):
    return op.value[0]

def describe(state):
    return ["%s: %d" % (die, state[die]) for die in sorted(state)]
`

// Results are the same, byte for byte, however often they are made: with parts in parallel, with several outcomes,
// with several keys.
func TestResultsOfModelFilesNeverChange(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := gen.Rand(5)
	for i := range 40 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :roll :value [%d %d]}\n", i, i%7, 2+r.IntN(5))
		fmt.Fprintf(&b, "{:process %d :type :%s :f :roll :value [%d %d]}\n", i, []string{"ok", "info"}[i%5/4], i%7, 6)
	}
	valid := b.String() + "{:process 99 :type :invoke :f :look :value [3 1]}\n{:process 99 :type :ok :f :look :value [3 1]}\n"
	invalid := strings.ReplaceAll(valid, ":look :value [3 1]", ":look :value [3 9]")
	spec := func() models.Spec { return kit.OwnFile(t, dice) }
	for _, o := range []clew.Options{{}, {Algorithm: "frontier"}, {Algorithm: "porcupine"}} {
		unchanging(t, valid, spec, o, jepsen.Valid)
		unchanging(t, invalid, spec, o, jepsen.Invalid)
	}
}

func TestResultsOfTwinsNeverChange(t *testing.T) {
	t.Parallel()
	for _, name := range kit.Twins {
		t.Run(name, func(t *testing.T) {
			r := gen.Rand(6)
			spec := func() models.Spec { return models.Own(kit.StarModel(t, name)) }
			for _, verdict := range []jepsen.Verdict{jepsen.Valid, jepsen.Invalid} {
				for range 3 {
					text := smallOf(t, r, spec(), name, verdict)
					for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
						unchanging(t, text, spec, clew.Options{Algorithm: algorithm, Verify: clew.VerifyAlways}, verdict)
					}
				}
				var keys []*jepsen.History
				for range kit.KeyNames {
					keys = append(keys, kit.ReadLines(t, []string{smallOf(t, r, spec(), name, verdict)}))
				}
				k := kit.Interleave(r, keys, &jepsen.History{Values: edn.NewValues()})
				unchanging(t, strings.Join(k.Whole, "\n"), spec, clew.Options{Independent: true}, verdict)
			}
			if name == "counter" {
				return // gen.Long has none
			}
			for kind, verdict := range map[gen.LongKind]jepsen.Verdict{gen.Linearizable: jepsen.Valid, gen.ImpossibleRead: jepsen.Invalid} {
				var b strings.Builder
				if _, err := gen.Long(&b, gen.LongOptions{Model: name, Kind: kind, Operations: 150, Values: 5, Processes: 3}); err != nil {
					t.Fatal(err)
				}
				unchanging(t, b.String(), spec, clew.Options{}, verdict)
			}
		})
	}
}

// smallOf returns a small history with a verdict.
func smallOf(t *testing.T, r *rand.Rand, spec models.Spec, name string, verdict jepsen.Verdict) string {
	t.Helper()
	for range 1000 {
		text := gen.New(r, gen.Options{Model: name}).Text
		h, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if x, err := clew.Check(context.Background(), h, spec, clew.Options{}); err == nil && x.Verdict == verdict && h.Operations() > 3 {
			return text
		}
	}
	t.Fatalf("no history of %s is %v", name, verdict)
	return ""
}

// unchanging reads a history and a model and checks one with the other 20 times, or 5 times with the race detector.
// It compares everything that is written of the result, except for the time.
func unchanging(t *testing.T, text string, spec func() models.Spec, o clew.Options, verdict jepsen.Verdict) {
	t.Helper()
	first, times := "", 20
	if effort.Few() {
		times = 3
	}
	for range times {
		h, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, spec(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != verdict {
			t.Fatalf("%v, want %v:\n%s", r.Verdict, verdict, text)
		}
		r.Ms = 0
		got := written(t, r)
		if first == "" {
			first = got
		}
		if got != first {
			t.Fatalf("%s\nand before\n%s", got, first)
		}
	}
}

// written returns everything that is written of a result, without the time that each of its independent keys took.
func written(t *testing.T, r *report.Result) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(kit.Milliseconds.ReplaceAllString(r.EDN(), ""))
	b.WriteString(r.Text())
	if r.Keys != nil {
		return b.String()
	}
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	b.Write(text)
	writers := []func(io.Writer) error{r.WriteWitness}
	if r.Verdict == jepsen.Invalid {
		writers = []func(io.Writer) error{r.WriteCore, r.WriteSVG}
	}
	for _, write := range writers {
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// The keys of a history are checked in parallel, each with a model of its own.
func TestModelFilesWithIndependentKeys(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :add :value [%d 1]}\n{:process %d :type :ok :f :add :value [%d 1]}\n", i, i%6, i, i%6)
	}
	for key := range 6 {
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :read :value [%d nil]}\n{:process 0 :type :ok :f :read :value [%d %d]}\n", key, key, 10+key/5)
	}
	h, err := clew.Read(strings.NewReader(b.String()), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Own(kit.StarModel(t, "counter")), clew.Options{Independent: true, Verify: clew.VerifyAlways})
	if err != nil || r.Verdict != jepsen.Invalid || r.FailingKey().Key.String() != "5" {
		t.Fatal(r, err)
	}
	if want := "key 5: process 0's :read 11 (index 131) cannot happen after process 59's :add 1 (index 119): can't read 11 from counter 10"; r.Explanation != want {
		t.Errorf("%s, want %s", r.Explanation, want)
	}
	_, err = clew.Check(context.Background(), h, kit.OwnFile(t, "init = 0\ndef add(state, op):\n    return state // (op.value - 1)\nops = {\"add\": add, \"read\": add}\n"), clew.Options{Independent: true})
	if want := "key 0: own.star:3:18: in add: floored division by zero, on :add 1 (index 1) in state 0"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A slow model is stopped by the time limit of the check, and a model that grows without end by its memory limit.
func TestModelFilesEndByTheLimits(t *testing.T) {
	var ops []string
	for i := range 1000 {
		ops = append(ops, fmt.Sprintf("add %d", i))
	}
	slow := kit.OwnFile(t, "init = 0\ndef add(state, op):\n    for i in range(200000):\n        state += i\n    return state\nops = {\"add\": add}\n")
	r, err := clew.Check(context.Background(), kit.Calls(t, ops...), slow, clew.Options{TimeLimit: 50 * time.Millisecond})
	if err != nil || r.Verdict != jepsen.Unknown || r.Cause != jepsen.Timeout {
		t.Errorf("%v, %v, want unknown for want of time", r, err)
	}
	large := kit.OwnFile(t, "init = []\ndef add(state, op):\n    return [op.value * 1000000 + i for i in range(10000)]\nops = {\"add\": add}\n")
	r, err = clew.Check(context.Background(), kit.Calls(t, ops...), large, clew.Options{Memory: clew.NewMemory(20 << 20)})
	if err != nil || r.Verdict != jepsen.Unknown || r.Cause != jepsen.OutOfMemory {
		t.Errorf("%v, %v, want unknown for want of memory", r, err)
	}
}

func TestWhatModelsPrint(t *testing.T) {
	t.Parallel()
	f, err := modelfile.Parse("own.star", []byte("init = 0\ndef add(state, op):\n    print(state, op)\n    return state + op.value\nops = {\"add\": add}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "0 :add 1\n1 :add 2\n"} {
		var b strings.Builder
		if want != "" {
			f.Print = &b
		}
		if r, err := clew.Check(context.Background(), kit.Calls(t, "add 1", "add 2"), models.Own(f.Definition()), clew.Options{}); err != nil || r.Verdict != jepsen.Valid {
			t.Fatal(r, err)
		}
		if b.String() != want {
			t.Errorf("it prints %q, want %q", b.String(), want)
		}
	}
}
