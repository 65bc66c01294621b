package limits_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/campaign"
	"clew/internal/countdown"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// ambiguous is a history that only the search decides.
const ambiguous = `{:process 0 :type :invoke :f :write :value 1}
{:process 1 :type :invoke :f :write :value 1}
{:process 0 :type :ok :f :write :value 1}
{:process 1 :type :ok :f :write :value 1}
{:process 0 :type :invoke :f :write :value 2}
{:process 1 :type :invoke :f :read}
{:process 0 :type :ok :f :write :value 2}
{:process 1 :type :ok :f :read :value 1}
`

func TestAnUnknownResultSaysHowFarItGot(t *testing.T) {
	spec := models.Spec{Name: "register"}
	h, _, err := campaign.ReadText(spec, ambiguous)
	if err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for _, algorithm := range []string{"window", "frontier", "porcupine", "competition"} {
		for cause, c := range map[jepsen.Cause]struct {
			ctx     context.Context
			options clew.Options
		}{
			"timeout":       {expired, clew.Options{Algorithm: algorithm}},
			"out-of-memory": {context.Background(), clew.Options{Algorithm: algorithm, Memory: clew.NewMemory(10)}},
		} {
			r, err := clew.Check(c.ctx, h, spec, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Cause != cause || !strings.HasPrefix(r.Explanation, "the search had passed 0 of 4 completions") {
				t.Errorf("%s: %s %q, want %s and how far it got", algorithm, r.Cause, r.Error, cause)
			}
		}
	}
	for model, f := range map[string]string{"register": ":write", "fifo-queue": ":enqueue", "unordered-queue": ":enqueue", "set": ":add", "mutex": ":acquire"} {
		spec = models.Spec{Name: model}
		h, _, err := campaign.ReadText(spec, strings.ReplaceAll("{:process 0 :type :invoke :f F :value 1}\n{:process 0 :type :ok :f F :value 1}\n", "F", f))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := clew.Check(expired, h, spec, clew.Options{}); err != nil || r.Cause != "timeout" {
			t.Errorf("fast path for %s: %q %v, want timeout", model, r.Cause, err)
		}
	}
}

// A verdict that has been found stands, even if there is no time for some evidence. Wherever a check is stopped, it
// ends at once.
func TestAVerdictStandsWithoutItsEvidence(t *testing.T) {
	t.Parallel()
	queue := func(last int) string {
		var b strings.Builder
		event := func(f, value string) {
			fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :%s, :value %s}\n{:process 0, :type :ok, :f :%s, :value %s}\n", f, value, f, value)
		}
		for i := range 60 {
			event("enqueue", strconv.Itoa(i))
		}
		for i := range 59 {
			event("dequeue", strconv.Itoa(i))
		}
		event("dequeue", strconv.Itoa(last))
		return b.String()
	}
	for _, c := range []struct {
		history, algorithm string
		verdict            jepsen.Verdict
		missing            []string
	}{
		{queue(59), "auto", jepsen.Valid, []string{"the final state"}},
		{queue(59), "window", jepsen.Valid, []string{"the final state", "its verification"}},
		{queue(7), "auto", jepsen.Invalid, []string{"configurations and final paths"}},
		{queue(7), "window", jepsen.Invalid, []string{"a minimal core", "configurations and final paths"}},
	} {
		spec := models.Spec{Name: "fifo-queue"}
		missing := map[string]bool{}
		unknown := 0
		for looks := 0; ; looks++ {
			h, _, err := campaign.ReadText(spec, c.history)
			if err != nil {
				t.Fatal(err)
			}
			ctx := &countdown.Context{Context: context.Background(), Looks: looks}
			r, err := clew.Check(ctx, h, spec, clew.Options{Algorithm: c.algorithm, Verify: clew.VerifyAlways})
			if err != nil {
				t.Fatal(err)
			}
			if ctx.After > 100 {
				t.Fatalf("%s: it went on after it had been said %d times to end", c.algorithm, ctx.After)
			}
			for _, what := range c.missing {
				missing[what] = missing[what] || strings.Contains(r.Missing, what)
			}
			switch {
			case r.Verdict == jepsen.Unknown && r.Cause == jepsen.Interrupted:
				unknown++
				continue
			case r.Verdict != c.verdict:
				t.Fatalf("%s: %s %s, want %s", c.algorithm, r.Verdict, r.Cause, c.verdict)
			case r.Missing != "" && !strings.HasPrefix(r.Missing, "evidence is missing (interrupted): "):
				t.Fatalf("%s: %s", c.algorithm, r.Missing)
			}
			if json, err := r.MarshalJSON(); err != nil || !strings.Contains(r.EDN(), ":valid? ") || strings.Contains(string(json), r.Missing) != strings.Contains(r.Text(), r.Missing) {
				t.Fatalf("%s: %s %s %v", c.algorithm, r.Text(), json, err)
			}
			if ctx.After == 0 {
				break
			}
		}
		for _, what := range c.missing {
			if !missing[what] {
				t.Errorf("%s, %s: %s is never missing", c.algorithm, c.verdict, what)
			}
		}
		if unknown == 0 {
			t.Errorf("%s: it never ended before its verdict", c.algorithm)
		}
	}
}

// A search counts the strings that a kv holds for its states: here 80 MB.
func TestASearchCountsWhatItsModelHolds(t *testing.T) {
	var b strings.Builder
	kilobyte := strings.Repeat("x", 1<<10)
	for range 400 {
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :append, :key 0, :value %q}\n{:process 0, :type :ok, :f :append, :key 0, :value %q}\n", kilobyte, kilobyte)
	}
	// A get reads them, or they would be forgotten.
	fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :get, :key 0}\n{:process 0, :type :ok, :f :get, :key 0, :value %q}\n", strings.Repeat(kilobyte, 400))
	spec := models.Spec{Name: "kv"}
	h, _, err := campaign.ReadText(spec, b.String())
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]jepsen.Cause{8 << 20: jepsen.OutOfMemory, 200 << 20: ""} {
		r, err := clew.Check(context.Background(), h, spec, clew.Options{Memory: clew.NewMemory(limit)})
		if err != nil || r.Cause != want {
			t.Errorf("%d bytes: %s %q %v, want %q", limit, r.Verdict, r.Cause, err, want)
		}
	}
}

func TestAnOptionThatMakesNoSenseIsNamed(t *testing.T) {
	h := kit.Calls(t, "write 1")
	for want, o := range map[string]clew.Options{
		"Options.TimeLimit: expected a positive duration or 0 for no limit, found -1ns":     {TimeLimit: -1},
		"Options.Memory: expected at least 0 bytes, found -1":                               {Memory: clew.NewMemory(-1)},
		"Options.Verify: expected VerifyCheap, VerifyAlways or VerifyNever, found 99":       {Verify: 99},
		"Options.Verify: expected VerifyCheap, VerifyAlways or VerifyNever, found -1":       {Verify: -1},
		"a depth must be at least 1 and requires the algorithm hitting; found -1 with \"\"": {Depth: -1},
		"unknown algorithm \"wing\"; clew knows " + strings.Join(clew.Algorithms(), ", "):   {Algorithm: "wing"},
	} {
		if _, err := clew.Check(t.Context(), h, models.Spec{Name: "register"}, o); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
		for run, err := range clew.CheckStore(t.Context(), clew.StoreOptions{Options: o}, kit.Path("testdata/histories")) {
			if err == nil || err.Error() != want || run.Path != "" {
				t.Errorf("CheckStore: %s: %v, expected %s", run.Path, err, want)
			}
		}
	}
	want := "StoreOptions.MemoryLimit: expected a number of bytes or 0 for no limit, found -1"
	for _, err := range clew.CheckStore(t.Context(), clew.StoreOptions{MemoryLimit: -1}, kit.Path("testdata/histories")) {
		if err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// A near-linear decision may know that a history fails by a completion, and the search for the first one may reach a limit.
func TestALimitAfterANearLinearDecision(t *testing.T) {
	for _, model := range []string{"register", "cas-register", "fifo-queue", "stack"} {
		var text strings.Builder
		o := gen.LongOptions{Model: model, Operations: 3000, Processes: 5, Values: 4, Kind: gen.ImpossibleRead, Seed: 1, At: 0.8, Crashes: 0.01}
		if _, err := gen.Long(&text, o); err != nil {
			t.Fatal(err)
		}
		h, _, err := campaign.ReadText(models.Spec{Name: model}, text.String())
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: model}, clew.Options{Memory: clew.NewMemory(1 << 12)})
		if err != nil {
			t.Fatal(err)
		}
		if by, certain := r.FailsBy(); r.Verdict != jepsen.Invalid || r.Placed() || !certain || !strings.Contains(r.Explanation, "(out-of-memory)") {
			t.Errorf("%s: %d: %s", model, by, r.Text())
		}
	}
}

// TestWhatIsCertainBeforeALimitIsTrueWithoutIt compares histories of which it is only known that they fail with what is known of
// them without a limit. Their initial values are not given: then it may be one from which the history is linearizable.
func TestWhatIsCertainBeforeALimitIsTrueWithoutIt(t *testing.T) {
	t.Parallel()
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: model.Name}
			if model.Name == "semaphore" || model.Name == "owner-semaphore" {
				spec.Permits = 2
			}
			placeless, undecided := 0, 0
			for seed := range effort.Histories(1000, 100_000) {
				r := gen.Rand(seed)
				o := campaign.GenOptions(spec)
				o.Init, o.Operations = r.IntN(2) == 0, 4+r.IntN(16)
				h, _, err := campaign.ReadText(spec, gen.New(r, o).Text)
				if err != nil {
					t.Fatal(err)
				}
				of, _, err := spec.Infer(h)
				if err != nil {
					continue
				}
				limited, err := clew.Check(t.Context(), h, of, clew.Options{Memory: clew.NewMemory(1), Verify: clew.VerifyNever})
				if err != nil {
					continue
				}
				if limited.Hard == nil || limited.Hard.FailsBy.OrNone() == jepsen.None {
					continue
				}
				whole, err := clew.Check(t.Context(), h, of, clew.Options{Verify: clew.VerifyNever})
				if err != nil {
					t.Fatal(err)
				}
				if limited.Verdict == jepsen.Unknown { // another initial value may explain it
					undecided++
					continue
				}
				placeless++
				if whole.Verdict != jepsen.Invalid || !whole.Placed() || whole.FailedBy() > limited.FailedBy() {
					var text strings.Builder
					h.WriteEDN(&text)
					t.Fatalf("seed %d: %s\nWithout the limit: %s\n%s", seed, limited.Text(), whole.Text(), text.String())
				}
			}
			t.Logf("%d fail somewhere, and %d may begin with another value", placeless, undecided)
		})
	}
}

// placeless fails, and only the search finds where.
const placeless = `{:process 0, :type :invoke, :f :cas, :value [0 1]}
{:process 2, :type :invoke, :f :read}
{:process 3, :type :invoke, :f :cas, :value [0 1]}
{:process 2, :type :ok, :f :read, :value 1}
{:process 2, :type :invoke, :f :write, :value 0}
{:process 0, :type :ok, :f :cas, :value [0 1]}
{:process 7, :type :invoke, :f :read}
{:process 1, :type :invoke, :f :read}
{:process 2, :type :info, :f :write, :value 0}
{:process 7, :type :ok, :f :read, :value 1}
{:process 1, :type :ok, :f :read, :value 0}
`

// The first failing completion is not known here, only a later one. By then 0 was written; the cas, which needs it, had been called
// before that, and the history may have begun with it.
func TestWhatACASNeedsMayHaveBeenThereIfItIsNotKnownWhereItFails(t *testing.T) {
	spec := models.Spec{Name: "cas-register"}
	h, _, err := campaign.ReadText(spec, placeless)
	if err != nil {
		t.Fatal(err)
	}
	for init, want := range map[string]jepsen.Verdict{"": jepsen.Unknown, "nil": jepsen.Invalid} {
		spec.Init = init
		r, err := clew.Check(t.Context(), h, spec, clew.Options{Memory: clew.NewMemory(1)})
		if err != nil {
			t.Fatal(err)
		}
		if _, certain := r.FailsBy(); r.Verdict != want || r.Placed() || !certain && want == jepsen.Invalid {
			t.Errorf("from %q: %s", init, r.Text())
		}
	}
}

// Of a map, such values are put together, key by key: with each other, and with one that is known where it fails without it.
func TestWhatACASOfSeveralKeysNeedsIsTriedTogether(t *testing.T) {
	half := func(key, process string) string {
		return strings.NewReplacer(":f :read", key+", :f :get", ":f :write", key+", :f :put", ":f :cas", key+", :f :cas", ":process ", ":process "+process).Replace(placeless)
	}
	known := "{:process 50, :key :x, :type :invoke, :f :cas, :value [0 5]}\n{:process 50, :key :x, :type :ok, :f :cas, :value [0 5]}\n"
	for _, text := range []string{half(":key :x", "1") + half(":key :y", "2"), known + half(":key :y", "2")} {
		h, _, err := campaign.ReadText(models.Spec{Name: "kv"}, text)
		if err != nil {
			t.Fatal(err)
		}
		for memory, want := range map[int64]jepsen.Verdict{1: jepsen.Unknown, 1 << 30: jepsen.Unknown} {
			r, err := clew.Check(t.Context(), h, models.Spec{Name: "kv"}, clew.Options{Memory: clew.NewMemory(memory)})
			if err != nil || r.Verdict != want {
				t.Errorf("%v: %s\n%s", err, r.Text(), text)
			}
		}
	}
}

// Key 1 certainly fails, and a limit keeps it unknown where. It is told last.
func TestKeysThatFailAndItIsNotKnownWhere(t *testing.T) {
	of := func(key int, text string) string {
		return regexp.MustCompile(`:value ([^}]+)`).ReplaceAllString(text, fmt.Sprintf(":value [%d $1]", key))
	}
	first := of(1, ambiguous+`{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value 7}
`)
	second := of(2, `{:process 5, :type :invoke, :f :read, :value nil}
{:process 5, :type :ok, :f :read, :value 8}
`)
	spec := models.Spec{Name: "register", Init: "0"}
	check := func(text string) *report.Result {
		h, _, err := campaign.ReadText(spec, text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(t.Context(), h, spec, clew.Options{Independent: true, Memory: clew.NewMemory(1)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	both := check(first + second)
	if k := both.FailingKey(); both.Verdict != jepsen.Invalid || k.Key.String() != "2" || both.FailingIndex() != 11 || both.Line().FailsBy != nil || len(both.Line().Failures) != 2 {
		t.Errorf("%s", both.Text())
	}
	alone := check(first)
	if l := alone.Line(); alone.Verdict != jepsen.Invalid || l.OpIndex != nil || l.FailsBy == nil || *l.FailsBy != 9 || alone.FailingKey().Event() != 9 {
		t.Errorf("%s", alone.Text())
	}
	if _, known := alone.Failing(); known || alone.CoreOps() != nil {
		t.Error("it has a failing operation")
	}
	for _, r := range []*report.Result{both, alone} {
		var said strings.Builder
		if err := r.WriteEDN(&said); err != nil || !strings.Contains(said.String(), `:valid? false`) || !strings.Contains(said.String(), ":fails-by {:f :read, :index 9,") {
			t.Errorf("%v\n%s", err, said.String())
		}
		if err := clew.WritePage(t.Context(), &said, r, report.WindowOptions{}); err != nil {
			t.Error(err)
		}
	}
	if err := alone.WriteCore(io.Discard); err == nil {
		t.Error("it has a core")
	}
}

// A saved result of such a history is drawn again.
func TestASavedResultMayNotSayWhereAHistoryFails(t *testing.T) {
	spec := models.Spec{Name: "register", Init: "0"}
	h, _, err := campaign.ReadText(spec, ambiguous+`{:process 0, :type :invoke, :f :read}
{:process 0, :type :ok, :f :read, :value 7}
`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(t.Context(), h, spec, clew.Options{Memory: clew.NewMemory(1)})
	if err != nil {
		t.Fatal(err)
	}
	var saved strings.Builder
	if err := r.WriteEDN(&saved); err != nil {
		t.Fatal(err)
	}
	again, err := clew.ReadResult(t.Context(), strings.NewReader(saved.String()), "result.edn", h, spec)
	if err != nil {
		t.Fatal(err)
	}
	if again.Placed() || again.FailedBy() != 9 || again.Explanation != r.Explanation || again.HardText() != r.HardText() {
		t.Errorf("%s\nwas\n%s", again.Text(), r.Text())
	}
	if err := clew.WritePage(t.Context(), io.Discard, again, report.WindowOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := clew.ReadResult(t.Context(), strings.NewReader(strings.Replace(saved.String(), ":fails-by {:f :read, :index 9", ":fails-by {:f :read, :index 90", 2)), "result.edn", h, spec); err == nil {
		t.Error("another history's result is read")
	}
}

// What makes a history hard, and what to change, are in the words of its model.
func TestAdviceFitsTheModel(t *testing.T) {
	for _, c := range []struct {
		spec models.Spec
		says string
		not  []string
	}{
		{models.Spec{Name: "counter"}, "let every update return the new value, as :add-and-get does; use more counters with fewer operations each, or set a higher limit.", []string{"only once", "differ"}},
		{models.Spec{Name: "bank", Init: "{0 20, 1 20, 2 20}"}, "use more banks with fewer transfers each, or set a higher limit.", []string{"only once", "differ"}},
		{models.Spec{Name: "multi-register"}, "write each value only once; touch fewer keys in a transaction, or set a higher limit.", []string{"more keys", "differ"}},
		{models.Spec{Name: "java-queue"}, ":size, which only a search decides. To have the next run decided: use each value only once; check :offer", []string{"differ"}},
		{models.Spec{Name: "counting-semaphore"}, "use more semaphores with fewer operations each, or set a higher limit.", []string{"only once", "differ"}},
		{models.Spec{Name: "stack"}, "use each value only once; use more keys with fewer operations each, or set a higher limit.", nil},
		{models.Own(kit.StarModel(t, "cas-register")), "make the steps faster; keep states few and small, for example by emptying what they hold now and then; declare the parts of the state, if it has several (partition), or set a higher limit.", []string{"only once", "differ", "more keys"}},
	} {
		var text strings.Builder
		o := gen.LongOptions{Model: strings.TrimSuffix(c.spec.Name, ".star"), Operations: 3000, Processes: 5, Values: 4, Seed: 1, Crashes: 0.02}
		if _, err := gen.Long(&text, o); err != nil {
			t.Fatal(err)
		}
		h, _, err := campaign.ReadText(c.spec, text.String())
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, c.spec, clew.Options{Memory: clew.NewMemory(1 << 12)})
		if err != nil {
			t.Fatal(err)
		}
		said := r.Text()
		if !strings.Contains(said, c.says) {
			t.Errorf("%s: %s\nwant: %s", c.spec.Name, said, c.says)
		}
		for _, not := range c.not {
			if strings.Contains(said, not) {
				t.Errorf("%s: %s\nit should not say %q", c.spec.Name, said, not)
			}
		}
	}
}
