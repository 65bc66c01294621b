package verdicts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/engines/porcupine"

	"clew"
	"clew/edn"
	"clew/fallback"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// How many histories a model gets, shared by its configurations.
const (
	historiesPerConfig = 400
)

func TestEveryVerdictAndItsEvidenceAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	specs := campaign.Configs()
	configs := map[string]int{}
	for _, s := range specs {
		configs[s.Name]++
	}
	for i, spec := range specs {
		if !effort.Takes(i) {
			continue
		}
		n, seed := historiesPerConfig, uint64(i)
		if effort.Long() {
			n, seed = kit.LongHistories(t)/configs[spec.Name], seed+1000
		} else if effort.Few() {
			n = 120
		}
		t.Run(campaign.Name(spec), func(t *testing.T) {
			t.Parallel()
			var c campaign.Counts
			r := gen.Rand(seed)
			for range n {
				spec := campaign.WithParameters(r, spec)
				o := campaign.GenOptions(spec)
				o.Init = true
				if slices.Contains(campaign.Containers, spec.Name) && r.IntN(2) == 0 {
					o.Unique, o.Values = true, 8 // as their fast paths need it
				}
				h := gen.New(r, o)
				spec.Init = h.Init
				if !check(t, &c, spec, h) && c.Mismatches == 3 {
					t.Fatal("enough")
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash, %d with none to decide; %d by a fast path too; %d paths, %d configurations with pending operations",
				n, c.Valid, c.Invalid, c.Crashed, c.Empty, c.Fast, c.Paths, c.Pending)
			if 5*c.Valid < n || 5*c.Invalid < n {
				t.Errorf("one verdict is rare: %d valid, %d invalid of %d", c.Valid, c.Invalid, n)
			}
		})
	}
}

// TestTransactionsOfOneKeyAgreeWithTheOracle covers parts of a multi-register that are decided as registers.
func TestTransactionsOfOneKeyAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	for i, spec := range []models.Spec{{Name: "multi-register"}, {Name: "multi-register", NilReadsExact: true}} {
		n := 5 * historiesPerConfig
		if effort.Long() {
			n = kit.LongHistories(t) / 2
		} else if effort.Few() {
			n = 100
		}
		t.Run(campaign.Name(spec), func(t *testing.T) {
			t.Parallel()
			var c campaign.Counts
			r := gen.Rand(uint64(7000 + i))
			for range n {
				o := campaign.GenOptions(spec)
				o.Init, o.OneKey = true, true
				if r.IntN(2) == 0 {
					o.Operations, o.Values = 14, 2
				}
				h := gen.New(r, o)
				spec := spec
				spec.Init = h.Init
				if !check(t, &c, spec, h) && c.Mismatches == 3 {
					t.Fatal("enough")
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash; %d by a fast path too, %d of registers only", n, c.Valid, c.Invalid, c.Crashed, c.Fast, c.Registers)
			if 5*c.Valid < n || 5*c.Invalid < n || 5*c.Fast < n || 5*c.Registers < n {
				t.Errorf("that tells too little: %d valid, %d invalid, %d by a fast path, %d of registers only", c.Valid, c.Invalid, c.Fast, c.Registers)
			}
		})
	}
}

// check checks one history and counts it.
func check(t *testing.T, c *campaign.Counts, spec models.Spec, g gen.History) bool {
	t.Helper()
	err := c.Examine(spec, g)
	if err == nil {
		return true
	}
	c.Mismatches++
	t.Errorf("%s, a %v:\n%s%v", campaign.Name(spec), g.Way, g.Text, err)
	if small := campaign.Smallest(spec, g.Text); small != g.Text {
		t.Errorf("smaller:\n%s%v", small, new(campaign.Counts).Examine(spec, gen.History{Text: small, Way: gen.Guess}))
	}
	return false
}

// TestHistoriesThatWereOnceDecidedWrongly holds the smallest histories of bugs
// that the oracle found.
func TestHistoriesThatWereOnceDecidedWrongly(t *testing.T) {
	t.Parallel()
	bag, kv := models.Spec{Name: "unordered-queue"}, models.Spec{Name: "kv"}
	for _, c := range []struct {
		name, text string
		spec       models.Spec
	}{
		{"the failing dequeue was linearized as one that takes any element", `
			{:process 0 :type :invoke :f :enqueue :value 2}
			{:process 0 :type :ok :f :enqueue :value 2}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}
			{:process 1 :type :ok :f :dequeue :value 3}`, bag},
		{"a crashed dequeue keeps the value in its invocation, in prefixes too", `
			{:process 0 :type :invoke :f :enqueue :value 2}
			{:process 0 :type :ok :f :enqueue :value 2}
			{:process 1 :type :invoke :f :dequeue :value 3}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 2 :type :ok :f :dequeue}`, bag},
		{"a crashed drain keeps the values in its invocation, in final paths too", `
			{:process 0 :type :invoke :f :dequeue}
			{:process 0 :type :ok :f :dequeue}
			{:process 1 :type :invoke :f :drain :value [1 2]}
			{:process 0 :type :invoke :f :dequeue}
			{:process 0 :type :ok :f :dequeue :value 2}`, bag},
		{"a crashed dequeue with :empty in its invocation is no empty answer", `
			{:process 0 :type :invoke :f :enqueue :value 1}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :dequeue}
			{:process 3 :type :invoke :f :dequeue :value :empty}
			{:process 1 :type :ok :f :dequeue :value 2}
			{:process 2 :type :ok :f :dequeue :value 2}`, bag},
		{"a put of the empty string shows in the final state", `
			{:process 0 :type :invoke :f :put :key "x" :value ""}
			{:process 0 :type :ok :f :put :key "x" :value ""}`, kv},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops, err := campaign.ReadText(c.spec, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := new(campaign.Counts).ByEngines(c.spec, h, ops, oracle.Decide(ops, oracle.Options{})); err != nil {
				t.Error(err)
			}
			r, err := campaign.Checked(h, c.spec, "auto")
			if want := `#clew.model.KV{"x" ""}`; c.spec.Name == "kv" && err == nil && r.Final.String() != want {
				t.Errorf("the final state is %s; expected %s", r.Final.String(), want)
			}
		})
	}
}

// TestAllHistoriesOfThreeOperationsAgreeWithTheOracle tries, for every three
// operations over two values, every order of their events with every subset of
// them crashed. With the race detector it takes an eighth of them, drawn at random.
func TestAllHistoriesOfThreeOperationsAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	for _, c := range []struct {
		model string
		ops   []string // the values in the invocations are nil for all but the first two
	}{
		{"register", []string{":write 1", ":write 2", ":read 1", ":read 2", ":read nil"}},
		{"fifo-queue", []string{":enqueue 1", ":enqueue 2", ":dequeue 1", ":dequeue 2", ":dequeue nil", ":peek 1", ":peek nil", ":drain [1 2]"}},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: c.model, NilReadsExact: c.model == "register"}
			var counted campaign.Counts
			n, r := 0, gen.Rand(1)
			for size := range 4 {
				for _, order := range eventOrders(size) {
					for _, ops := range tuples(c.ops, size) {
						if share := map[bool]int{true: 24, false: 3}[effort.Few()]; !effort.Long() && r.IntN(share) > 0 {
							continue
						}
						n++
						h := gen.History{Text: textOf(ops, order), Way: gen.Guess}
						if !check(t, &counted, spec, h) && counted.Mismatches == 3 {
							t.Fatal("enough")
						}
					}
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash", n, counted.Valid, counted.Invalid, counted.Crashed)
		})
	}
}

// eventOrders returns every order of the events of n operations, some of which never complete. An operation occurs
// once for its invocation and again for its completion. Operations are numbered in order of invocation.
func eventOrders(n int) [][]int {
	var all [][]int
	var from func(order []int, begun int, open []int)
	from = func(order []int, begun int, open []int) {
		if begun == n {
			all = append(all, slices.Clone(order))
		} else {
			from(append(order, begun), begun+1, append(slices.Clone(open), begun))
		}
		for i, o := range open {
			from(append(order, o), begun, slices.Delete(slices.Clone(open), i, i+1))
		}
	}
	from(nil, 0, nil)
	return all
}

func tuples(of []string, n int) [][]string {
	all := [][]string{nil}
	for range n {
		var longer [][]string
		for _, t := range all {
			for _, x := range of {
				longer = append(longer, append(slices.Clone(t), x))
			}
		}
		all = longer
	}
	return all
}

// textOf returns the history of operations, each by a process of its own.
func textOf(ops []string, order []int) string {
	var b strings.Builder
	begun := map[int]bool{}
	for _, o := range order {
		f, value, _ := strings.Cut(ops[o], " ")
		typ := ":ok"
		if !begun[o] {
			typ, begun[o] = ":invoke", true
			if f != ":write" && f != ":enqueue" {
				value = "nil"
			}
		}
		fmt.Fprintf(&b, "{:process %d, :type %s, :f %s, :value %s}\n", o, typ, f, value)
	}
	return b.String()
}

// lyingEngine answers as porcupine does, except for one lie.
type lyingEngine struct {
	lie func(a fallback.Answer, ops *models.Operations) fallback.Answer
}

func (lyingEngine) Name() string { return "lying" }

func (e lyingEngine) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	return e.lie(porcupine.Engine{}.Decide(ctx, ops, lim), ops)
}

// resultOf returns an engine's answer as a result without evidence.
func resultOf(h *jepsen.History, ops *models.Operations, engine fallback.Engine) *report.Result {
	r := &report.Result{History: h}
	switch a := engine.Decide(context.Background(), ops, fallback.Limits{}); a.Verdict {
	case jepsen.Valid:
		r.Verdict = jepsen.Valid
	case jepsen.Invalid:
		r.Verdict, r.FailEvent = jepsen.Invalid, jepsen.Some(jepsen.Event(a.FailEvent))
	}
	return r
}

func TestTheOracleCatchesAnEngineThatLies(t *testing.T) {
	t.Parallel()
	spec := models.Spec{Name: "fifo-queue"}
	for _, c := range []struct {
		name, caught string
		lie          func(fallback.Answer, *models.Operations) fallback.Answer
	}{
		{"one that always says valid", "valid: true; the oracle says linearizable: false",
			func(a fallback.Answer, _ *models.Operations) fallback.Answer {
				return fallback.Answer{Verdict: jepsen.Valid}
			}},
		{"one that takes a valid history for invalid", "valid: false; the oracle says linearizable: true",
			func(a fallback.Answer, ops *models.Operations) fallback.Answer {
				return fallback.Answer{Verdict: jepsen.Invalid, FailEvent: ops.Events - 1}
			}},
		{"one that finds the failure too late", "first failing completion",
			func(a fallback.Answer, ops *models.Operations) fallback.Answer {
				for _, res := range ops.Res {
					if a.Verdict == jepsen.Invalid && res != models.Open {
						a.FailEvent = max(a.FailEvent, res)
					}
				}
				return a
			}},
		{"one that never knows", "unknown",
			func(fallback.Answer, *models.Operations) fallback.Answer {
				return fallback.Answer{Cause: jepsen.Timeout}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gen.Rand(1)
			caught := 0
			for range 300 {
				h, ops, err := campaign.ReadText(spec, gen.New(r, campaign.GenOptions(spec)).Text)
				if err != nil {
					t.Fatal(err)
				}
				want := oracle.Decide(ops, oracle.Options{})
				err = oracle.Examine(resultOf(h, ops, lyingEngine{c.lie}), ops, want, oracle.Options{})
				if err != nil && strings.HasPrefix(err.Error(), c.caught) {
					caught++
				}
			}
			t.Logf("caught with %d of 300 histories", caught)
			if caught < 10 {
				t.Errorf("%q was found in %d of 300 histories only", c.caught, caught)
			}
		})
	}
}

func TestTheOracleCatchesEvidenceThatWasTamperedWith(t *testing.T) {
	t.Parallel()
	// A late enqueue is pending at the failure, so that there are several paths.
	const failing = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 2}
		{:process 2 :type :invoke :f :dequeue}
		{:process 2 :type :ok :f :dequeue :value 3}`
	const passing = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 2}
		{:process 2 :type :invoke :f :dequeue}
		{:process 2 :type :ok :f :dequeue :value 1}
		{:process 2 :type :invoke :f :peek}
		{:process 2 :type :ok :f :peek :value 2}`
	const twice = `
		{:process 0 :type :invoke :f :enqueue :value 1}
		{:process 0 :type :ok :f :enqueue :value 1}
		{:process 1 :type :invoke :f :enqueue :value 1}
		{:process 1 :type :ok :f :enqueue :value 1}`
	spec := models.Spec{Name: "fifo-queue"}
	for _, c := range []struct {
		name, text, caught string
		tamper             func(r *report.Result)
	}{
		{"nothing was", passing, "", func(*report.Result) {}},
		{"nothing was there either", failing, "", func(*report.Result) {}},
		{"a witness in an order that real time forbids", twice, "returned before", func(r *report.Result) { slices.Reverse(r.Witness) }},
		{"a witness in an order that the model forbids", passing, "cannot happen", func(r *report.Result) { slices.Reverse(r.Witness) }},
		{"a witness without a crashed operation", passing, "cannot happen", func(r *report.Result) {
			r.Witness = slices.DeleteFunc(r.Witness, func(op jepsen.Operation) bool { return op == 1 })
		}},
		{"a witness that ends early", passing, "is missing", func(r *report.Result) { r.Witness = r.Witness[:len(r.Witness)-1] }},
		{"a witness with an operation twice", passing, "happens twice", func(r *report.Result) { r.Witness = append(r.Witness, r.Witness[0]) }},
		{"another final state", passing, "does not lead to", func(r *report.Result) { r.Final = edn.Value{} }},
		{"a pending operation left out", failing, "cannot be reached", func(r *report.Result) { r.Configs[0].Pending = withoutOp(r.Configs[0].Pending, 1) }},
		{"the failing operation not pending", failing, "the failing operation is not pending", func(r *report.Result) { r.Configs[0].Pending = withoutOp(r.Configs[0].Pending, 2) }},
		{"another model in the configuration", failing, "cannot be reached", func(r *report.Result) { r.Configs[0].State = edn.Value{} }},
		{"no configuration", failing, "0 configurations", func(r *report.Result) { r.Configs = nil }},
		{"no path", failing, "0 final paths", func(r *report.Result) { r.Paths = nil }},
		{"a path without its start", failing, "does not begin", func(r *report.Result) { r.Paths[0] = r.Paths[0][1:] }},
		{"a path without its end", failing, "its last operation is possible", func(r *report.Result) { r.Paths[1] = r.Paths[1][:2] }},
		{"another model in a path", failing, "does not lead to", func(r *report.Result) { r.Paths[1][1].State = r.Paths[1][0].State }},
		{"another message", failing, "not in the model's words", func(r *report.Result) {
			r.Paths[0][1].Why = "it did not feel like it"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops, err := campaign.ReadText(spec, c.text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: "porcupine"})
			if err != nil {
				t.Fatal(err)
			}
			c.tamper(r)
			err = oracle.Examine(r, ops, oracle.Decide(ops, oracle.Options{}), oracle.Options{})
			if (err == nil) != (c.caught == "") || err != nil && !strings.Contains(err.Error(), c.caught) {
				t.Errorf("found %v; expected %q", err, c.caught)
			}
		})
	}
}

func withoutOp(ops []jepsen.Operation, op jepsen.Operation) []jepsen.Operation {
	return slices.DeleteFunc(slices.Clone(ops), func(o jepsen.Operation) bool { return o == op })
}
