package verdicts_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"clew/internal/effort"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// The fast paths and the general search check each other on histories that are far too long for the oracle. A third
// of them are cut so that a single crashed operation decides. internal/engines/engines_test.go does so if no fast path
// applies.

// longSource makes histories that a model's fast path decides. fail is the index of the first failing completion, -1
// if the history is linearizable, and unsaid if that is not known by construction.
type longSource struct {
	name string
	spec models.Spec
	text func(r *rand.Rand, n, crashed int) (text string, fail int)
}

const unsaid = -2

func longSources() []longSource {
	var all []longSource
	for _, model := range []string{"register", "cas-register", "fifo-queue", "unordered-queue", "lookup-set"} {
		all = append(all, longSource{"long " + model, models.Spec{Name: model}, func(r *rand.Rand, n, crashed int) (string, int) {
			most := 9
			if strings.HasSuffix(model, "queue") {
				n, most = min(n, 200), 3 // these are hard for the search
			}
			o := gen.LongOptions{Model: model, Operations: n, Processes: 2 + r.IntN(most), Crashed: min(crashed, n/10), At: 0.2 + 0.8*r.Float64(), Seed: r.Uint64()}
			if model == "lookup-set" {
				o.Values = 2 + r.IntN(10)
			}
			o.Kind = [...]gen.LongKind{gen.Linearizable, gen.Linearizable, gen.StaleRead, gen.LostWrite, gen.ImpossibleRead}[r.IntN(5)]
			if strings.HasSuffix(model, "queue") && o.Kind != gen.Linearizable {
				o.Kind = gen.ImpossibleRead
			}
			var b strings.Builder
			fail, err := gen.Long(&b, o)
			if err != nil {
				panic(err)
			}
			return b.String(), fail
		}})
	}
	for _, spec := range []models.Spec{{Name: "mutex"}, {Name: "semaphore", Permits: 3}, {Name: "owner-mutex"}, {Name: "reentrant-mutex", MaxHolds: 2},
		{Name: "owner-semaphore", Permits: 3}, {Name: "set"}, {Name: "fifo-queue"}, {Name: "stack"}, {Name: "priority-queue"}} {
		all = append(all, longSource{spec.Name, spec, func(r *rand.Rand, n, crashed int) (string, int) {
			o := campaign.GenOptions(spec)
			o.Operations, o.Processes, o.Crashes = n, 2+r.IntN(7), (float64(crashed)+0.1)/float64(n)
			if slices.Contains(campaign.Containers, spec.Name) {
				o.Unique, o.Values = true, n
			}
			for {
				// A history that is random throughout fails at its beginning.
				if h := gen.New(r, o); h.Way != gen.Guess {
					return h.Text, unsaid
				}
			}
		}})
	}
	return all
}

// bout counts the outcomes for the histories of one source.
type bout struct {
	limit                                 time.Duration // of a decision
	histories, valid, invalid, boundaries int
	fast                                  int            // were decided by the fast path
	single                                int            // were decided by one algorithm only
	undecided                             map[string]int // by algorithm
}

func TestFastPathsAgreeWithTheGeneralSearchUpToTwoThousandOperations(t *testing.T) {
	t.Parallel()
	n := 9
	if effort.Few() {
		n = 4
	}
	if effort.Long() {
		n = 600
	}
	for s, source := range longSources() {
		if !effort.Takes(s) {
			continue
		}
		t.Run(source.name, func(t *testing.T) {
			// A busy machine may need longer to decide enough of them.
			for limit := 200 * time.Millisecond; ; limit *= 5 {
				b := &bout{limit: limit, undecided: map[string]int{}}
				for i := range n {
					r := gen.Rand(uint64(1_000_000*s + i))
					if i%3 == 0 && b.boundary(t, r, source) {
						continue
					}
					text, fail := source.make(r)
					b.check(t, source, text, fail)
				}
				tells := b.valid > 0 && b.invalid > 0 && (b.fast > 0 || !strings.HasPrefix(source.name, "long ")) && 4*b.single <= 3*b.histories
				if !tells && limit < 5*time.Second {
					continue
				}
				t.Logf("%d histories: %d valid, %d invalid, %d boundaries, %d by the fast path, %d decided by one algorithm only; undecided: %v",
					b.histories, b.valid, b.invalid, b.boundaries, b.fast, b.single, b.undecided)
				if !tells {
					t.Error("that tells too little")
				}
				return
			}
		})
	}
}

// make makes a history of 20 to 2000 operations, with every order of magnitude equally likely.
func (s longSource) make(r *rand.Rand) (text string, fail int) {
	return s.text(r, int(20*math.Pow(100, r.Float64())), [...]int{0, 2, 5, 10, 20, 40}[r.IntN(6)])
}

// check decides a history with all algorithms, and compares their verdicts. If evidence is wrong, the verdict is
// unknown and counts as undecided.
func (b *bout) check(t *testing.T, s longSource, text string, fail int) {
	t.Helper()
	var first *report.Result
	decided := 0
	b.histories++
	algorithms := []string{"auto", "window", "frontier", "porcupine"}
	if s.spec.Name == "fifo-queue" {
		algorithms = append(algorithms, "lockstep")
	}
	for _, algorithm := range algorithms {
		r, err := b.decide(s.spec, text, algorithm)
		if err != nil {
			t.Fatalf("%s: %v of\n%s", algorithm, err, text)
		}
		if algorithm == "auto" && strings.HasPrefix(r.Analyzer, "clew/fast-") {
			b.fast++
		}
		switch {
		case r.Cause == jepsen.SelfCheckFailed:
			t.Fatalf("%s: the evidence is wrong: %s\n%s", algorithm, r.Error, text)
		case r.Verdict == jepsen.Unknown:
			b.undecided[algorithm]++
			continue
		case fail != unsaid && (r.Verdict == jepsen.Valid) != (fail < 0), fail >= 0 && r.FailEvent.OrNone() != jepsen.Event(fail):
			t.Fatalf("%s says %v, at event %d; by construction it fails at %d:\n%s", algorithm, r.Verdict, r.FailEvent.OrNone(), fail, text)
		case first == nil:
			first = r
		case r.Verdict != first.Verdict || r.FailEvent != first.FailEvent:
			t.Fatalf("%s says %v, at event %d; %s %v, at %d:\n%s", first.Analyzer, first.Verdict, first.FailEvent.OrNone(), r.Analyzer, r.Verdict, r.FailEvent.OrNone(), text)
		}
		decided++
	}
	switch {
	case decided < 2:
		b.single++
	case first.Verdict == jepsen.Valid:
		b.valid++
	default:
		b.invalid++
	}
}

// decide decides a history within bounds, and returns a panic as an error.
func (b *bout) decide(spec models.Spec, text, algorithm string) (r *report.Result, err error) {
	h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return clew.Check(context.Background(), h, spec,
		clew.Options{Algorithm: algorithm, Verify: clew.VerifyAlways, TimeLimit: b.limit, Memory: clew.NewMemory(64 << 20)})
}

// boundary makes a history, and takes crashed operations out of it until one more changes the verdict; both sides are
// checked. It returns false if none of 20 histories has such a boundary.
func (b *bout) boundary(t *testing.T, r *rand.Rand, s longSource) bool {
	t.Helper()
	for range 20 {
		text, _ := s.make(r)
		h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var done, crashed []jepsen.Operation
		for op, status := range h.Status {
			switch status {
			case jepsen.Crashed:
				crashed = append(crashed, jepsen.Operation(op))
			case jepsen.Succeeded:
				done = append(done, jepsen.Operation(op))
			}
		}
		r.Shuffle(len(crashed), func(i, j int) { crashed[i], crashed[j] = crashed[j], crashed[i] })
		keep := func(n int) string {
			var b strings.Builder
			if len(done)+n == 0 {
				return "" // an empty core is an error
			}
			if err := (&report.Result{History: h, Core: append(done[:len(done):len(done)], crashed[:n]...)}).WriteCore(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		verdict := func(n int) jepsen.Verdict {
			r, err := b.decide(s.spec, keep(n), "auto")
			if err != nil {
				t.Fatalf("%v of\n%s", err, keep(n))
			}
			return r.Verdict
		}
		low, high := 0, len(crashed)
		if high == 0 || verdict(low) != jepsen.Invalid || verdict(high) != jepsen.Valid {
			continue
		}
		for high-low > 1 {
			if middle := low + (high-low)/2; verdict(middle) == jepsen.Valid {
				high = middle
			} else {
				low = middle
			}
		}
		b.boundaries++
		b.check(t, s, keep(high), unsaid)
		b.check(t, s, keep(low), unsaid)
		return true
	}
	return false
}
