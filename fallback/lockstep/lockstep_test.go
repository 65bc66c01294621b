package lockstep_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"clew/fallback"
	"clew/fallback/lockstep"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/oracle"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
)

// configs are the engine as it is, with each technique off, and with none.
var configs = map[string]lockstep.Rules{
	"as it is":         {},
	"no eager peeks":   {NoEagerPeeks: true},
	"no eager empties": {NoEagerEmpties: true},
	"no twins":         {NoTwins: true},
	"no uses":          {NoUses: true},
	"no counting":      {NoCounting: true},
	"no domination":    {NoDomination: true},
	"no memo":          {NoMemo: true},
	"nothing":          {NoEagerPeeks: true, NoEagerEmpties: true, NoTwins: true, NoUses: true, NoCounting: true, NoDomination: true},
}

var configNames = slices.Sorted(maps.Keys(configs))

// some are the engine as it is and one of the others.
func some(r *rand.Rand) []string {
	return []string{"as it is", configNames[r.IntN(len(configNames))]}
}

var queue = models.Spec{Name: "fifo-queue"}

// judged compares what a configuration says with the oracle.
func judged(t *testing.T, name string, ops *models.Operations, want oracle.Answer) {
	t.Helper()
	a := lockstep.Engine{Rules: configs[name]}.Decide(context.Background(), ops, limits.Limits{})
	if (a.Verdict == jepsen.Valid) != want.Linearizable || a.Verdict == jepsen.Invalid && a.FailEvent != want.Fail || a.Verdict == jepsen.Unknown {
		t.Fatalf("%s: %+v, the oracle says %+v of %v,\n%s", name, a, want, ops.Model.Init(), rows.Text(ops))
	}
	if err := enginetest.Shows(ops, a); err != nil {
		t.Fatalf("%s: %v of %v,\n%s", name, err, ops.Model.Init(), rows.Text(ops))
	}
}

func TestSmallHistoriesAgreeWithTheOracle(t *testing.T) {
	n := enginetest.Histories(4000, 1_000_000)
	found := map[bool]int{}
	for seed := range n {
		r := gen.Rand(seed)
		spec := queue
		var text string
		text, spec.Init = rows.DrawQueues(r, 2, 10, 5).Run(r)
		ops := rows.Read(t, spec, text)
		want := oracle.Decide(ops, oracle.Options{})
		found[want.Linearizable]++
		for _, name := range some(r) {
			judged(t, name, ops, want)
		}
	}
	t.Logf("%d valid, %d invalid", found[true], found[false])
	if 10*found[true] < int(n) || 10*found[false] < int(n) {
		t.Error("one verdict is rare")
	}
}

// TestPlainJavaQueuesAreQueues: java-queue is a queue as long as there is nothing but
// offer, poll, peek, and isEmpty that answers true.
func TestPlainJavaQueuesAreQueues(t *testing.T) {
	n := enginetest.Histories(2000, 300_000)
	found := map[bool]int{}
	spec := models.Spec{Name: "java-queue"}
	for seed := range n {
		r := gen.Rand(seed)
		s := rows.DrawQueues(r, 2, 10, 5)
		s.Drains = 0
		var text string
		text, spec.Init = s.Run(r)
		ops := rows.Read(t, spec, asJava(text))
		want := oracle.Decide(ops, oracle.Options{})
		found[want.Linearizable]++
		for _, name := range some(r) {
			judged(t, name, ops, want)
		}
	}
	t.Logf("%d valid, %d invalid", found[true], found[false])
	if 10*found[true] < int(n) || 10*found[false] < int(n) {
		t.Error("one verdict is rare")
	}
	for _, other := range []string{":size :value 0", ":isEmpty :value false", ":offer :value false"} {
		text := "{:process 0 :type :invoke :f " + strings.Replace(other, "false", "1", 1) + "}\n{:process 0 :type :ok :f " + other + "}"
		if ops := rows.Read(t, models.Spec{Name: "java-queue"}, text); (lockstep.Engine{}).Suits(ops.Model) {
			t.Errorf("%s is an operation of a FIFO queue", other)
		}
	}
}

// asJava is a fifo-queue's history as a java-queue's. Every operation has a process of
// its own. Peeks that found nothing ask whether the queue is empty.
func asJava(text string) string {
	text = regexp.MustCompile(`:type :ok :f :enqueue :value \d+`).ReplaceAllString(text, ":type :ok :f :offer :value true")
	text = strings.NewReplacer(":enqueue", ":offer", ":dequeue", ":poll").Replace(text)
	for _, nothing := range regexp.MustCompile(`(:process \d+ ):type :ok :f :peek :value nil`).FindAllStringSubmatch(text, -1) {
		text = strings.NewReplacer(nothing[0], nothing[1]+":type :ok :f :isEmpty :value true", nothing[1]+":type :invoke :f :peek", nothing[1]+":type :invoke :f :isEmpty").Replace(text)
	}
	return text
}

// kinds are operations over two values, of one model that knows their drains.
func kinds(t *testing.T) (m models.Model, ops []models.Op) {
	t.Helper()
	const text = `
		{:process 0 :type :invoke :f :enqueue :value 1} {:process 0 :type :ok :f :enqueue :value 1}
		{:process 0 :type :invoke :f :enqueue :value 2} {:process 0 :type :ok :f :enqueue :value 2}
		{:process 0 :type :invoke :f :dequeue} {:process 0 :type :ok :f :dequeue :value 1}
		{:process 0 :type :invoke :f :dequeue} {:process 0 :type :ok :f :dequeue :value 2}
		{:process 0 :type :invoke :f :peek} {:process 0 :type :ok :f :peek :value 1}
		{:process 0 :type :invoke :f :dequeue} {:process 0 :type :ok :f :dequeue :value nil}
		{:process 0 :type :invoke :f :drain} {:process 0 :type :ok :f :drain :value [1 2]}
		{:process 0 :type :invoke :f :drain} {:process 0 :type :ok :f :drain :value []}
		{:process 0 :type :invoke :f :dequeue} {:process 0 :type :info :f :dequeue :value nil}
		{:process 1 :type :invoke :f :drain} {:process 1 :type :info :f :drain :value nil}`
	all := rows.Read(t, queue, text)
	for row := range int32(all.Len()) {
		ops = append(ops, all.Op(row))
	}
	return all.Model, ops
}

func TestEverySmallHistory(t *testing.T) {
	m, kinds := kinds(t)
	most := 3
	if os.Getenv("CLEW_LONG") == "1" {
		most = 4
	}
	fates := func(op models.Op) (returns, crashes bool) {
		return op.Kind != models.DequeueAny && op.Kind != models.DrainAny, m.Mutates(op)
	}
	found := map[bool]int{}
	for n := range most + 1 {
		rows.Every(m, n, kinds, fates, func(ops *models.Operations) {
			want := oracle.Decide(ops, oracle.Options{})
			found[want.Linearizable]++
			judged(t, "as it is", ops, want)
		})
	}
	t.Logf("%d valid, %d invalid", found[true], found[false])
}

// judges are engines that may not know.
var judges = []fallback.Engine{fallback.Window{MaxSteps: 300_000}, fallback.Frontier{}, fallback.Porcupine{}}

// TestMediumHistoriesAtTheBoundary: small histories have missed unsound rules of
// other engines.
func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	n := enginetest.Histories(50, 20_000)
	m := meeting{found: map[jepsen.Verdict]int{}, unknown: map[string]int{}}
	edges := 0
	for seed := range n {
		r := gen.Rand(seed)
		most := 20 << r.IntN(6)
		s := rows.DrawQueues(r, 20, min(most, 500), 2+r.IntN(most/8))
		s.Processes, s.Values = 2+r.IntN(8), 1+r.IntN(6)
		s.Wrong = r.IntN(2)
		spec := queue
		var text string
		text, spec.Init = s.Run(r)
		ops := rows.Read(t, spec, text)
		both := []*models.Operations{ops}
		if seed%2 == 0 {
			judge := func(ops *models.Operations) jepsen.Verdict {
				return enginetest.Within(lockstep.Engine{}, ops, 5*time.Second).Verdict
			}
			if valid, invalid, ok := rows.Boundary(r, ops, judge); ok {
				both = []*models.Operations{valid, invalid}
				edges++
			}
		}
		for _, ops := range both {
			m.meet(t, r, ops)
		}
	}
	t.Logf("%d histories, %d of them bisected: %d comparisons, %d valid, %d invalid, %d without a judge, %d cores; undecided: %v",
		n, edges, m.compared, m.found[jepsen.Valid], m.found[jepsen.Invalid], m.alone, m.cores, m.unknown)
	if m.found[jepsen.Valid] == 0 || m.found[jepsen.Invalid] == 0 || edges == 0 || m.cores == 0 {
		t.Error("one kind is missing")
	}
}

// meeting is what became of the histories that the engine and its judges decided.
type meeting struct {
	found                  map[jepsen.Verdict]int
	unknown                map[string]int
	compared, alone, cores int
}

// meet compares some configurations with the judges.
func (m *meeting) meet(t *testing.T, r *rand.Rand, ops *models.Operations) {
	t.Helper()
	var known []fallback.Answer
	for _, judge := range judges {
		if b := enginetest.Within(judge, ops, 50*time.Millisecond); b.Verdict != jepsen.Unknown {
			known = append(known, b)
		} else {
			m.unknown[judge.Name()]++
		}
	}
	if len(known) == 0 {
		m.alone++
	}
	for _, name := range some(r) {
		e := lockstep.Engine{Rules: configs[name]}
		patience := 5 * time.Second
		if name != "as it is" {
			patience = 200 * time.Millisecond
		}
		a := enginetest.Within(e, ops, patience)
		if a.Verdict == jepsen.Unknown {
			m.unknown[name]++
			continue
		}
		if err := enginetest.Shows(ops, a); err != nil {
			small := rows.Shrink(ops, func(ops *models.Operations) bool {
				a := enginetest.Within(e, ops, time.Second)
				return a.Verdict != jepsen.Unknown && enginetest.Shows(ops, a) != nil
			})
			t.Fatalf("%s: %v; smaller:\n%s", name, err, rows.Text(small))
		}
		for i, b := range known {
			if m.compared++; !agree(a, b) {
				small := rows.Shrink(ops, func(ops *models.Operations) bool {
					return !agree(enginetest.Within(e, ops, time.Second), enginetest.Within(fallback.Window{}, ops, time.Second))
				})
				t.Fatalf("%s: %d (event %d), judge %d says %d (event %d) of a history; smaller:\n%s", name, a.Verdict, a.FailEvent, i, b.Verdict, b.FailEvent, rows.Text(small))
			}
		}
		if name == "as it is" {
			m.found[a.Verdict]++
			if a.Verdict == jepsen.Invalid {
				m.core(t, ops, a)
			}
		}
	}
}

// core checks that a core is not linearizable, and that by itself it fails where the
// history does.
func (m *meeting) core(t *testing.T, ops *models.Operations, a fallback.Answer) {
	t.Helper()
	core := fallback.Core(context.Background(), lockstep.Engine{}, ops, a.FailEvent, limits.Limits{})
	if failing := int32(slices.Index(ops.Res, a.FailEvent)); !slices.Contains(core, failing) || !slices.IsSorted(core) {
		t.Fatalf("%v lacks %d", core, failing)
	}
	m.cores++
	cut := ops.Select(core).Prefix(a.FailEvent)
	for _, judge := range append([]fallback.Engine{lockstep.Engine{}}, judges...) {
		if b := enginetest.Within(judge, cut.Operations, 200*time.Millisecond); b.Verdict != jepsen.Unknown && !agree(a, b) {
			t.Fatalf("%s says %d (event %d) of the core of a failure at %d\n%s", judge.Name(), b.Verdict, b.FailEvent, a.FailEvent, rows.Text(cut.Operations))
		}
	}
}

// agree says whether two answers do not contradict each other.
func agree(a, b fallback.Answer) bool {
	return a.Verdict == jepsen.Unknown || b.Verdict == jepsen.Unknown || a.Verdict == b.Verdict && a.FailEvent == b.FailEvent
}

// long is a long history that takes the engine some time without its rules.
func long(t *testing.T, operations, crashed int) *models.Operations {
	t.Helper()
	var text strings.Builder
	o := gen.LongOptions{Model: "fifo-queue", Operations: operations, Processes: 20, Values: 5, Crashed: crashed, Kind: gen.WrongAnswer}
	if _, err := gen.Long(&text, o); err != nil {
		t.Fatal(err)
	}
	return rows.Read(t, queue, text.String())
}

func TestItStopsAtItsLimits(t *testing.T) {
	ops := long(t, 8000, 300)
	slow := lockstep.Engine{Rules: configs["nothing"]} // it would take long
	for _, limit := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		budget := limits.NewBudget(1 << 30)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		a := slow.Decide(ctx, ops, limits.Limits{Memory: budget})
		t.Logf("stopped %v after the limit", time.Since(start)-limit)
		cancel()
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := limits.NewBudget(6 << 20)
	if a := slow.Decide(context.Background(), ops, limits.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory || a.Passed == 0 || a.Held == 0 {
		t.Errorf("%+v, want unknown for the memory, and how far it got", a)
	}
	if left := budget.Left(); left != 6<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (lockstep.Engine{MaxSteps: 1000}).Decide(context.Background(), ops, limits.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q, want that it gives up", a.Verdict, a.Cause)
	}
	if a := (lockstep.Engine{}).Decide(context.Background(), rows.Endless(3, rows.Counter{}), limits.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}

func TestItTakesTurns(t *testing.T) {
	ops := long(t, 3000, 0)
	relay := fallback.Relay{Engines: []fallback.Engine{lockstep.Engine{}, fallback.Window{MaxSteps: 10}}, First: 1000, Turn: 1000, Apart: 1 << 40}
	alone := lockstep.Engine{}.Decide(context.Background(), ops, limits.Limits{})
	if a := relay.Decide(context.Background(), ops, limits.Limits{}); a.Verdict != alone.Verdict || a.By != "lockstep" || a.Work < alone.Work || alone.Work < 1000 {
		t.Errorf("%d by %s with work %d; alone %d with %d", a.Verdict, a.By, a.Work, alone.Verdict, alone.Work)
	}
}

// Histories in which a rule would be wrong without one of its conditions.
func TestWhatEachRuleNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		init, text string
		want       jepsen.Verdict
	}{
		// The dequeue that returns first may not come first: 2 would be in the queue by then.
		"of two dequeues of 1, one stands before the empty answer": {"[1]", `
			{:process 0 :type :invoke :f :dequeue}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :enqueue :value 1} {:process 2 :type :ok :f :enqueue :value 1}
			{:process 2 :type :invoke :f :enqueue :value 2} {:process 2 :type :ok :f :enqueue :value 2}
			{:process 2 :type :invoke :f :dequeue} {:process 2 :type :ok :f :dequeue :value 1}
			{:process 1 :type :ok :f :dequeue :value nil}
			{:process 0 :type :ok :f :dequeue :value 1}`, jepsen.Valid},
		"a peek of 1 stands behind the empty answer": {"[1]", `
			{:process 0 :type :invoke :f :dequeue}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :enqueue :value 1} {:process 2 :type :ok :f :enqueue :value 1}
			{:process 2 :type :invoke :f :peek} {:process 2 :type :ok :f :peek :value 1}
			{:process 1 :type :ok :f :dequeue :value nil}
			{:process 0 :type :ok :f :dequeue :value 1}`, jepsen.Valid},
		"the enqueue of 1 that returns first began too late": {"[]", `
			{:process 0 :type :invoke :f :enqueue :value 1}
			{:process 1 :type :invoke :f :dequeue} {:process 1 :type :ok :f :dequeue :value 1}
			{:process 2 :type :invoke :f :enqueue :value 1} {:process 2 :type :ok :f :enqueue :value 1}
			{:process 0 :type :ok :f :enqueue :value 1}`, jepsen.Valid},
		"a drain that takes what comes goes on behind what could be empty": {"[1]", `
			{:process 0 :type :invoke :f :drain} {:process 0 :type :info :f :drain}
			{:process 1 :type :invoke :f :dequeue}
			{:process 2 :type :invoke :f :enqueue :value 2}
			{:process 2 :type :ok :f :enqueue :value 2}
			{:process 1 :type :ok :f :dequeue :value nil}
			{:process 2 :type :invoke :f :dequeue} {:process 2 :type :ok :f :dequeue :value nil}`, jepsen.Valid},
		"a drain is one operation": {"[1]", `
			{:process 0 :type :invoke :f :drain} {:process 0 :type :ok :f :drain :value [1 2]}
			{:process 1 :type :invoke :f :enqueue :value 2} {:process 1 :type :ok :f :enqueue :value 2}`, jepsen.Invalid},
	} {
		spec := queue
		spec.Init = c.init
		ops := rows.Read(t, spec, c.text)
		for _, config := range configNames {
			judged(t, config, ops, oracle.Decide(ops, oracle.Options{}))
			if a := (lockstep.Engine{Rules: configs[config]}).Decide(context.Background(), ops, limits.Limits{}); a.Verdict != c.want {
				t.Errorf("%s, %s: %d, want %d", name, config, a.Verdict, c.want)
			}
		}
	}
}
