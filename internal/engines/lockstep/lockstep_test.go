package lockstep_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines"
	"clew/internal/engines/configs"
	"clew/internal/engines/lockstep"
	"clew/internal/engines/porcupine"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// variants are the engine as it is, with each technique switched off, and with none.
var variants = enginetest.Configure(func(r lockstep.Rules) fallback.Engine { return lockstep.Engine{Rules: r} }, map[string]lockstep.Rules{
	"as it is":         {},
	"no eager peeks":   {NoEagerPeeks: true},
	"no eager empties": {NoEagerEmpties: true},
	"no twins":         {NoTwins: true},
	"no uses":          {NoUses: true},
	"no counting":      {NoCounting: true},
	"no domination":    {NoDomination: true},
	"no guide":         {NoGuide: true},
	"short guide":      {ShortGuide: true},
	"no reasons":       {NoReasons: true},
	"no memo":          {NoMemo: true},
	"nothing":          {NoEagerPeeks: true, NoEagerEmpties: true, NoTwins: true, NoUses: true, NoCounting: true, NoDomination: true, NoGuide: true, NoReasons: true},
})

var queue = models.Spec{Name: "fifo-queue"}

func TestSmallHistoriesAgreeWithTheOracle(t *testing.T) {
	variants.Small(t, effort.Histories(800, 1_000_000), func(r *rand.Rand) *models.Operations {
		return read(t, r, testops.DrawQueues(r, 2, 10, 5))
	})
}

// read returns a history of a queue.
func read(t *testing.T, r *rand.Rand, s testops.Queues) *models.Operations {
	t.Helper()
	text, init := s.Run(r)
	return testops.Read(t, models.Spec{Name: "fifo-queue", Init: init}, text)
}

// TestPlainJavaQueuesAreQueues: a java-queue is a queue as long as it has only offer,
// poll, peek, and isEmpty that answers true.
func TestPlainJavaQueuesAreQueues(t *testing.T) {
	variants.Small(t, effort.Histories(400, 300_000), func(r *rand.Rand) *models.Operations {
		s := testops.DrawQueues(r, 2, 10, 5)
		s.Drains = 0
		text, init := s.Run(r)
		return testops.Read(t, models.Spec{Name: "java-queue", Init: init}, asJava(text))
	})
	for _, other := range []string{":isEmpty :value false", ":offer :value false"} {
		text := "{:process 0 :type :invoke :f " + strings.Replace(other, "false", "1", 1) + "}\n{:process 0 :type :ok :f " + other + "}"
		if ops := testops.Read(t, models.Spec{Name: "java-queue"}, text); isQueue(ops.Model) {
			t.Errorf("%s is an operation of a FIFO queue", other)
		}
	}
}

func TestSizesAgreeWithTheOracle(t *testing.T) {
	variants.Small(t, effort.Histories(800, 1_000_000), func(r *rand.Rand) *models.Operations {
		return withSizes(t, r, testops.DrawQueues(r, 2, 10, 5))
	})
}

// withSizes returns a history of a java-queue whose size is asked.
func withSizes(t *testing.T, r *rand.Rand, s testops.Queues) *models.Operations {
	t.Helper()
	s.Drains, s.Sizes, s.Length = 0, 1+r.IntN(12), s.Length+r.IntN(4)
	text, init := s.Run(r)
	return testops.Read(t, models.Spec{Name: "java-queue", Init: init}, asJava(text))
}

// In longer queues, reasons and the guide change what is visited, but nothing else.
func TestReasonsAndGuidesLoseNothing(t *testing.T) {
	found := map[jepsen.Verdict]int{}
	for seed := range effort.Histories(600, 200_000) {
		r := gen.Rand(seed)
		s := testops.Queues{N: 15 + r.IntN(40), Processes: 2 + r.IntN(4), Values: 1 + r.IntN(12), Crashes: r.IntN(6), Length: 2 + r.IntN(12), Wrong: r.IntN(2)}
		if r.IntN(2) == 0 {
			s.N, s.Values = 10+r.IntN(15), 1+r.IntN(3)
			s.Crashes = r.IntN(s.N / 2)
		}
		ops := withSizes(t, r, s)
		want := lockstep.Engine{Rules: lockstep.Rules{NoGuide: true, NoReasons: true}}.Decide(context.Background(), ops, fallback.Limits{})
		found[want.Verdict]++
		for _, rules := range []lockstep.Rules{{}, {ShortGuide: true}, {ShortGuide: true, NoReasons: true}} {
			a := lockstep.Engine{Rules: rules}.Decide(context.Background(), ops, fallback.Limits{})
			if a.Verdict != want.Verdict || a.FailEvent != want.FailEvent {
				t.Fatalf("seed %d, %+v: %d at %d, without reasons and guide %d at %d", seed, rules, a.Verdict, a.FailEvent, want.Verdict, want.FailEvent)
			}
			if err := enginetest.Shows(ops, a); err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, rules, err)
			}
		}
	}
	t.Log(found)
}

// The size of a queue of about 100 elements is asked. A wrong guess at where a size stands
// shows 100 elements later. It takes little work to find out what was wrong.
func TestSizesOfLongQueuesTakeLittleWork(t *testing.T) {
	const most = 10_000_000
	histories, hard := 0, 0
	for name, s := range map[string]testops.Queues{
		"distinct values":                 {Values: 1e6},
		"distinct values, crashes":        {Values: 1e6, Crashes: 20},
		"distinct values, a wrong answer": {Values: 1e6, Wrong: 1},
		"distinct values, both":           {Values: 1e6, Crashes: 5, Wrong: 1},
		"repeated values":                 {Values: 8},
		"repeated values, crashes":        {Values: 8, Crashes: 20},
		"repeated values, a wrong answer": {Values: 8, Wrong: 1},
		"repeated values, both":           {Values: 8, Crashes: 5, Wrong: 1},
	} {
		s.N, s.Processes, s.Length, s.Sizes = 2000, 5, 100, 2
		for seed := range effort.Histories(10, 50) {
			text, init := s.Run(gen.Rand(seed))
			ops := testops.Read(t, models.Spec{Name: "java-queue", Init: init}, asJava(text))
			a := enginetest.Bounded{Engine: lockstep.Engine{}, Work: most}.Decide(context.Background(), ops, fallback.Limits{})
			if histories++; a.Verdict == jepsen.Unknown {
				hard++
				t.Logf("%s, seed %d: undecided after %d units of work", name, seed, a.Work)
			}
			if s.Crashes == 0 && a.Verdict == jepsen.Unknown {
				t.Errorf("%s, seed %d: undecided though nothing crashed", name, seed)
			}
		}
	}
	if 8*hard > histories {
		t.Errorf("%d of %d histories are undecided after %d units of work", hard, histories, most)
	}
}

// asJava turns a fifo-queue's history into a java-queue's. Every operation has a
// process of its own. Peeks that found nothing become questions whether the queue is
// empty.
func asJava(text string) string {
	text = regexp.MustCompile(`:type :ok :f :enqueue :value \d+`).ReplaceAllString(text, ":type :ok :f :offer :value true")
	text = strings.NewReplacer(":enqueue", ":offer", ":dequeue", ":poll").Replace(text)
	for _, nothing := range regexp.MustCompile(`(:process \d+ ):type :ok :f :peek :value nil`).FindAllStringSubmatch(text, -1) {
		text = strings.NewReplacer(nothing[0], nothing[1]+":type :ok :f :isEmpty :value true", nothing[1]+":type :invoke :f :peek", nothing[1]+":type :invoke :f :isEmpty").Replace(text)
	}
	return text
}

// kinds returns operations over two values, of one model that knows their drains.
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
	all := testops.Read(t, queue, text)
	for row := range int32(all.Len()) {
		ops = append(ops, all.Op(row))
	}
	return all.Model, ops
}

func TestEverySmallHistory(t *testing.T) {
	m, kinds := kinds(t)
	variants.Every(t, m, kinds, func(op models.Op) (returns, crashes bool) {
		return op.Kind != models.DequeueAny && op.Kind != models.DrainAny, m.Mutates(op)
	})
}

func TestMediumHistoriesAtTheBoundary(t *testing.T) {
	m := enginetest.Meeting{Configs: variants, Judges: []fallback.Engine{configs.Window{MaxSteps: 300_000}, configs.Frontier{}, porcupine.Engine{}},
		Patience: 5 * enginetest.WorkPerSecond, Others: enginetest.WorkPerSecond / 5, Cores: true}
	m.AtTheBoundary(t, effort.Histories(30, 20_000), func(r *rand.Rand, most int) *models.Operations {
		s := testops.DrawQueues(r, 20, min(most, 500), 2+r.IntN(most/8))
		s.Processes, s.Values = 2+r.IntN(8), 1+r.IntN(6)
		s.Wrong = r.IntN(2)
		if r.IntN(2) == 0 {
			return withSizes(t, r, s)
		}
		return read(t, r, s)
	})
}

// long returns a long history for which the engine takes some time without its rules.
func long(t *testing.T, operations, crashed int) *models.Operations {
	t.Helper()
	var text strings.Builder
	o := gen.LongOptions{Model: "fifo-queue", Operations: operations, Processes: 20, Values: 5, Crashed: crashed, Kind: gen.WrongAnswer}
	if _, err := gen.Long(&text, o); err != nil {
		t.Fatal(err)
	}
	return testops.Read(t, queue, text.String())
}

func TestItStopsAtItsLimits(t *testing.T) {
	ops := long(t, 8000, 300)
	slow := variants["nothing"] // it would take long to decide
	for _, work := range []int64{0, enginetest.WorkPerSecond / 1000, enginetest.WorkPerSecond / 50} {
		budget := models.NewMemory(1 << 30)
		a := enginetest.Expires(slow, ops, fallback.Limits{Memory: budget}, work)
		if a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%d %q, want unknown for the time", a.Verdict, a.Cause)
		}
		if left := budget.Left(); left != 1<<30 {
			t.Errorf("%d bytes of the budget are left, want all", left)
		}
	}
	budget := models.NewMemory(6 << 20)
	if a := slow.Decide(context.Background(), ops, fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory || a.Passed == 0 || a.Held == 0 {
		t.Errorf("%+v, want unknown for the memory, and how far it got", a)
	}
	if left := budget.Left(); left != 6<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	if a := (lockstep.Engine{}).Decide(context.Background(), testops.Endless(3, testops.Counter{}), fallback.Limits{}); a.Cause != fallback.GaveUp {
		t.Errorf("%d %q of another model, want that it gives up", a.Verdict, a.Cause)
	}
}

func TestItTakesTurns(t *testing.T) {
	ops := long(t, 3000, 0)
	relay := engines.Turns{Engines: []fallback.Engine{lockstep.Engine{}, configs.Window{MaxSteps: 10}}, First: 1000, Turn: 1000, Apart: 1 << 40}
	alone := lockstep.Engine{}.Decide(context.Background(), ops, fallback.Limits{})
	if a := relay.Decide(context.Background(), ops, fallback.Limits{}); a.Verdict != alone.Verdict || a.By != "lockstep" || a.Work < alone.Work || alone.Work < 1000 {
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
		ops := testops.Read(t, spec, c.text)
		for config, e := range variants {
			variants.Judged(t, config, ops, oracle.Decide(ops, oracle.Options{}))
			if a := e.Decide(context.Background(), ops, fallback.Limits{}); a.Verdict != c.want {
				t.Errorf("%s, %s: %d, want %d", name, config, a.Verdict, c.want)
			}
		}
	}
}

func isQueue(m models.Model) bool { _, ok := models.ShapeOf[models.FIFOShape](m); return ok }
