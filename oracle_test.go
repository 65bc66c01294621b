package clew_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/fallback"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// How many histories a model gets, shared by its configurations.
const (
	historiesPerConfig    = 2000
	longHistoriesPerModel = 100_000
)

// oracleConfigs are all ways to read each model.
func oracleConfigs() []models.Spec {
	var specs []models.Spec
	both := []bool{false, true}
	for _, about := range models.All() {
		name := about.Name
		for _, knossos := range both {
			for _, exact := range both {
				for _, observe := range both {
					spec := models.Spec{Name: name, Knossos: knossos, NilReadsExact: exact, ObserveFailedCAS: observe}
					if spec.Check() != nil && withParameters(gen.Rand(0), spec).Check() != nil || knossos && !slices.Contains(knossosReads, name) {
						continue
					}
					specs = append(specs, spec)
				}
			}
		}
	}
	return specs
}

// knossosReads are the models that Knossos has too, or that read a value as its
// queues do.
var knossosReads = append([]string{"register", "cas-register", "mutex", "multi-register", "set", "kv"}, containers...)

// withParameters gives a model the parameters that it needs or may have, at
// random.
func withParameters(r *rand.Rand, s models.Spec) models.Spec {
	switch s.Name {
	case "semaphore", "owner-semaphore":
		s.Permits = 1 + r.IntN(3)
	case "reentrant-mutex", "reentrant-fenced-mutex":
		s.MaxHolds = 1 + r.IntN(3)
	case "priority-queue":
		s.Priority = [...]string{"max", "min"}[r.IntN(2)]
	case "id-generator":
		s.GrowingIDs = r.IntN(2) == 0
	case "bank":
		s.NegativeBalances = r.IntN(2) == 0
	}
	if owned := strings.HasPrefix(s.Name, "owner-") || strings.HasPrefix(s.Name, "reentrant-") || s.Name == "fenced-mutex"; owned {
		s.Threads = max(0, r.IntN(6)-1)
	}
	return s
}

// containers are the models that hand out what was put in.
var containers = []string{"fifo-queue", "unordered-queue", "stack", "priority-queue"}

func specName(s models.Spec) string {
	name := s.Name
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.Knossos, "knossos"}, {s.NilReadsExact, "nil reads exact"}, {s.ObserveFailedCAS, "failed cas observe"},
		{s.Init != "", "from " + s.Init}, {s.Priority == "min", "least first"}, {s.Permits > 0, fmt.Sprint(s.Permits, " permits")},
		{s.MaxHolds > 0, fmt.Sprint(s.MaxHolds, " holds")}, {s.Threads > 0, fmt.Sprint(s.Threads, " threads")},
		{s.GrowingIDs, "growing"}, {s.NegativeBalances, "negative balances"}} {
		if flag.on {
			name += ", " + flag.name
		}
	}
	return name
}

// collectLess has the garbage collector run less often while a test runs:
// reading a history takes large buffers, however small it is.
func collectLess(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

func long() bool { return os.Getenv("CLEW_LONG") == "1" }

// longHistories is how many histories a model gets in the long mode:
// CLEW_LONG_HISTORIES says another number than the usual one.
func longHistories(t *testing.T) int {
	text := os.Getenv("CLEW_LONG_HISTORIES")
	if text == "" {
		return longHistoriesPerModel
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CLEW_LONG_HISTORIES is a number of histories, not %q", text)
	}
	return n
}

func TestEveryVerdictAndItsEvidenceAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	specs := oracleConfigs()
	configs := map[string]int{}
	for _, s := range specs {
		configs[s.Name]++
	}
	for i, spec := range specs {
		n, seed := historiesPerConfig, uint64(i)
		if long() {
			n, seed = longHistories(t)/configs[spec.Name], seed+1000
		} else if testing.Short() {
			n = 200
		}
		t.Run(specName(spec), func(t *testing.T) {
			t.Parallel()
			var c counts
			r := gen.Rand(seed)
			for range n {
				spec := withParameters(r, spec)
				o := genOptions(spec)
				o.Init = true
				if slices.Contains(containers, spec.Name) && r.IntN(2) == 0 {
					o.Unique, o.Values = true, 8 // as their fast paths need it
				}
				h := gen.New(r, o)
				spec.Init = h.Init
				if !c.check(t, spec, h) && c.mismatches == 3 {
					t.Fatal("enough")
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash, %d with none to decide; %d by a fast path too; %d paths, %d configurations with pending operations",
				n, c.valid, c.invalid, c.crashed, c.empty, c.fast, c.paths, c.pending)
			if 5*c.valid < n || 5*c.invalid < n {
				t.Errorf("one verdict is rare: %d valid, %d invalid of %d", c.valid, c.invalid, n)
			}
		})
	}
}

// TestTransactionsOfOneKeyAgreeWithTheOracle is about parts of a multi-register
// that are decided as registers.
func TestTransactionsOfOneKeyAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	for i, spec := range []models.Spec{{Name: "multi-register"}, {Name: "multi-register", NilReadsExact: true}} {
		n := 2 * historiesPerConfig
		if long() {
			n = longHistories(t) / 2
		} else if testing.Short() {
			n = 400
		}
		t.Run(specName(spec), func(t *testing.T) {
			t.Parallel()
			var c counts
			r := gen.Rand(uint64(7000 + i))
			for range n {
				o := genOptions(spec)
				o.Init, o.OneKey = true, true
				if r.IntN(2) == 0 {
					o.Operations, o.Values = 14, 2
				}
				h := gen.New(r, o)
				spec := spec
				spec.Init = h.Init
				if !c.check(t, spec, h) && c.mismatches == 3 {
					t.Fatal("enough")
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash; %d by a fast path too, %d of registers only", n, c.valid, c.invalid, c.crashed, c.fast, c.registers)
			if 5*c.valid < n || 5*c.invalid < n || 5*c.fast < n || 5*c.registers < n {
				t.Errorf("that tells too little: %d valid, %d invalid, %d by a fast path, %d of registers only", c.valid, c.invalid, c.fast, c.registers)
			}
		})
	}
}

func genOptions(s models.Spec) gen.Options {
	return gen.Options{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads, Growing: s.GrowingIDs, Negative: s.NegativeBalances}
}

// counts say what the histories of a configuration were like.
type counts struct{ valid, invalid, crashed, empty, paths, pending, fast, registers, mismatches int }

// isNoRegister says whether a part is not decided as a register.
func isNoRegister(part *models.Operations) bool {
	_, single := part.Model.(models.SingleValue)
	return !single
}

// check checks one history and counts it.
func (c *counts) check(t *testing.T, spec models.Spec, g gen.History) bool {
	t.Helper()
	err := c.examine(spec, g)
	if err == nil {
		return true
	}
	c.mismatches++
	t.Errorf("%s, a %v:\n%s%v", specName(spec), g.Way, g.Text, err)
	if small := smallest(spec, g.Text); small != g.Text {
		t.Errorf("smaller:\n%s%v", small, new(counts).examine(spec, gen.History{Text: small, Way: gen.Guess}))
	}
	return false
}

// smallest drops events as long as the history can be read and something is
// still wrong with it. By itself it is no longer linearizable by construction.
func smallest(spec models.Spec, text string) string {
	lines := strings.Split(strings.Trim(text, "[]\n"), "\n")
	wrong := func(lines []string) bool {
		var unreadable *edn.Error
		err := new(counts).examine(spec, gen.History{Text: strings.Join(lines, "\n") + "\n", Way: gen.Guess})
		return err != nil && !errors.As(err, &unreadable)
	}
	if !wrong(lines) {
		return text
	}
	for again := true; again; {
		again = false
		for i := range lines {
			for j := i; j < len(lines); j++ {
				fewer := slices.Delete(slices.Clone(lines), j, j+1)
				if i != j {
					fewer = slices.Delete(fewer, i, i+1)
				}
				if wrong(fewer) {
					lines, again = fewer, true
				}
				if i >= len(lines) {
					break
				}
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// examine says what is wrong with how a history is read and decided.
func (c *counts) examine(spec models.Spec, g gen.History) error {
	h, ops, err := readText(spec, g.Text)
	if err != nil {
		return err
	}
	want := oracle.Decide(ops, oracle.Options{})
	if want.Linearizable {
		c.valid++
	} else {
		c.invalid++
	}
	if h.CrashedCount() > 0 {
		c.crashed++
	}
	if ops.Len() == 0 {
		c.empty++
	}
	if g.Way == gen.Run && !want.Linearizable {
		return fmt.Errorf("it is linearizable by construction; the oracle finds a failure at %s", oracle.Event(h, jepsen.Event(want.Fail)))
	}
	naive, err := oracle.Naive(g.Text, naiveOptions(spec))
	switch {
	case errors.Is(err, oracle.ErrNoReading):
	case err != nil:
		return err
	case naive != want.Linearizable:
		return fmt.Errorf("read as clew reads it, it is linearizable: %t; read naively: %t", want.Linearizable, naive)
	}
	return c.engines(spec, h, ops, want)
}

// engines says what is wrong with what the algorithms find.
func (c *counts) engines(spec models.Spec, h *jepsen.History, ops *models.Operations, want oracle.Answer) error {
	algorithms := []string{"auto", "fast", "window", "frontier", "porcupine", "hitting"}
	if _, parted := ops.Model.(models.Projecting); parted && !slices.ContainsFunc(ops.Parts(), isNoRegister) {
		algorithms = append(algorithms, "staged", "matching")
		c.registers++
	}
	if spec.Name == "stack" {
		algorithms = append(algorithms, "languages")
	}
	if spec.Name == "fifo-queue" {
		algorithms = append(algorithms, "lockstep")
	}
	for _, algorithm := range algorithms {
		r, err := checked(h, spec, algorithm)
		if err == nil && algorithm == "hitting" && r.Cause == jepsen.DepthExhausted {
			if want.Linearizable && ops.Len() <= hittingDepth {
				return fmt.Errorf("--algorithm hitting: no witness of %d operations at depth %d", ops.Len(), hittingDepth)
			}
			continue // it only ever finds witnesses
		}
		if err == nil && algorithm == "fast" && !strings.HasPrefix(r.Analyzer, "clew/fast-") {
			return fmt.Errorf("--algorithm fast: decided by %s", r.Analyzer)
		}
		if err == nil && algorithm == "fast" && r.Verdict == jepsen.Unknown && r.Cause == jepsen.Ambiguous {
			continue // not for the fast path
		}
		if err == nil {
			err = oracle.Examine(r, ops, want, oracle.Options{})
		}
		if err != nil {
			return fmt.Errorf("--algorithm %s: %w", algorithm, err)
		}
		c.paths += len(r.Paths)
		if len(r.Configs) > 0 && len(r.Configs[0].Pending) > 1 {
			c.pending++
		}
		if algorithm == "fast" {
			c.fast++
		}
	}
	return nil
}

// checked is clew.Check, with a panic as an error.
func checked(h *jepsen.History, spec models.Spec, algorithm string) (r *report.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	o := clew.Options{Algorithm: algorithm}
	if algorithm == "hitting" {
		o.Depth = hittingDepth
	}
	return clew.Check(context.Background(), h, spec, o)
}

// hittingDepth is less than the usual depth, which takes long where there is no
// witness.
const hittingDepth = 3

func readText(spec models.Spec, text string) (*jepsen.History, *models.Operations, error) {
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return nil, nil, err
	}
	ops, err := spec.Read(h)
	return h, ops, err
}

func naiveOptions(s models.Spec) oracle.NaiveOptions {
	return oracle.NaiveOptions{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Init: s.Init, Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads, Growing: s.GrowingIDs, Negative: s.NegativeBalances}
}

// TestHistoriesThatWereOnceDecidedWrongly holds the smallest histories of bugs
// that the oracle found.
func TestHistoriesThatWereOnceDecidedWrongly(t *testing.T) {
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
			h, ops, err := readText(c.spec, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := new(counts).engines(c.spec, h, ops, oracle.Decide(ops, oracle.Options{})); err != nil {
				t.Error(err)
			}
			r, err := checked(h, c.spec, "auto")
			if want := `#clew.model.KV{"x" ""}`; c.spec.Name == "kv" && err == nil && r.Final.String() != want {
				t.Errorf("the final state is %s; expected %s", r.Final.String(), want)
			}
		})
	}
}

// TestAllHistoriesOfThreeOperationsAgreeWithTheOracle tries, for every three
// operations over two values, every order of their events with every subset of
// them crashed.
func TestAllHistoriesOfThreeOperationsAgreeWithTheOracle(t *testing.T) {
	collectLess(t)
	for _, c := range []struct {
		model string
		ops   []string // what stands in the invocation is nil for all but the first two
	}{
		{"register", []string{":write 1", ":write 2", ":read 1", ":read 2", ":read nil"}},
		{"fifo-queue", []string{":enqueue 1", ":enqueue 2", ":dequeue 1", ":dequeue 2", ":dequeue nil", ":peek 1", ":peek nil", ":drain [1 2]"}},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			spec := models.Spec{Name: c.model, NilReadsExact: c.model == "register"}
			var counted counts
			n := 0
			for size := range 4 {
				for _, order := range eventOrders(size) {
					for _, ops := range tuples(c.ops, size) {
						n++
						h := gen.History{Text: textOf(ops, order), Way: gen.Guess}
						if !counted.check(t, spec, h) && counted.mismatches == 3 {
							t.Fatal("enough")
						}
					}
				}
			}
			t.Logf("%d histories: %d valid, %d invalid, %d with a crash", n, counted.valid, counted.invalid, counted.crashed)
		})
	}
}

// eventOrders is every order of the events of n operations, of which some never
// complete: an operation stands once for its invocation and again for its
// completion. Operations are numbered in order of invocation.
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

// textOf is the history of operations, each of a process of its own.
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

// lyingEngine answers as porcupine does, but for one lie.
type lyingEngine struct {
	lie func(a fallback.Answer, ops *models.Operations) fallback.Answer
}

func (lyingEngine) Name() string { return "lying" }

func (e lyingEngine) Decide(ctx context.Context, ops *models.Operations, lim limits.Limits) fallback.Answer {
	return e.lie(fallback.Porcupine{}.Decide(ctx, ops, lim), ops)
}

// resultOf is an engine's answer as a result without evidence.
func resultOf(h *jepsen.History, ops *models.Operations, engine fallback.Engine) *report.Result {
	r := &report.Result{History: h, FailEvent: jepsen.None, LastOperation: jepsen.None}
	switch a := engine.Decide(context.Background(), ops, limits.Limits{}); a.Verdict {
	case jepsen.Valid:
		r.Verdict = jepsen.Valid
	case jepsen.Invalid:
		r.Verdict, r.FailEvent = jepsen.Invalid, jepsen.Event(a.FailEvent)
	}
	return r
}

func TestTheOracleCatchesAnEngineThatLies(t *testing.T) {
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
				h, ops, err := readText(spec, gen.New(r, genOptions(spec)).Text)
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
		{"a path without its end", failing, "it ends with operation", func(r *report.Result) { r.Paths[1] = r.Paths[1][:2] }},
		{"another model in a path", failing, "does not lead to", func(r *report.Result) { r.Paths[1][1].State = r.Paths[1][0].State }},
		{"another message", failing, "not in the model's words", func(r *report.Result) {
			r.Paths[0][1].Why = "it did not feel like it"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops, err := readText(spec, c.text)
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
