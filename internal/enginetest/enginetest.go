// Package enginetest compares the engines of the general search with each other, for
// tests.
package enginetest

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/oracle"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// Switches are sets of rules for the searches: all on, each one off, and all off.
var Switches = map[string]configs.Rules{
	"every rule on":      {},
	"no eager reads":     {NoEagerReads: true},
	"no canonical order": {NoCanonicalOrder: true},
	"no domination":      {NoDomination: true},
	"no covering":        {NoCovering: true},
	"no local proof":     {NoLocalProof: true},
	"no quiescence":      {NoQuiescence: true},
	"no lookahead":       {NoLookahead: true},
	"no ranks":           {NoRanks: true},
	"no guide":           {NoGuide: true},
	"no forgetting":      {NoForgetting: true},
	"no needs":           {NoNeeds: true},
	"no narrowing":       {NoNarrowing: true},
	"no rule on": {NoEagerReads: true, NoCanonicalOrder: true, NoDomination: true, NoCovering: true, NoLocalProof: true, NoQuiescence: true,
		NoLookahead: true, NoGuide: true, NoForgetting: true, NoNeeds: true, NoRanks: true, NoNarrowing: true},
}

// Compare lets two engines decide operations. It checks that they agree on the
// verdict and on the first failing completion, and that each one's
// linearization replays. It returns Unknown if one of them does not know.
func Compare(t *testing.T, ops *models.Operations, text, name string, one, other fallback.Engine) jepsen.Verdict {
	t.Helper()
	a := Bounded{one, 10 * WorkPerSecond}.Decide(context.Background(), ops, fallback.Limits{})
	b := Bounded{other, 10 * WorkPerSecond}.Decide(context.Background(), ops, fallback.Limits{})
	if a.Verdict == jepsen.Unknown || b.Verdict == jepsen.Unknown {
		return jepsen.Unknown
	}
	if a.Verdict != b.Verdict || a.Verdict == jepsen.Invalid && a.FailEvent != b.FailEvent {
		t.Fatalf("%s: %s says %d (event %d), %s %d (event %d) of\n%s", name, one.Name(), a.Verdict, a.FailEvent, other.Name(), b.Verdict, b.FailEvent, text)
	}
	for _, x := range []fallback.Answer{a, b} {
		if err := Shows(ops, x); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, text)
		}
	}
	return a.Verdict
}

// Shows says why an answer's orders do not show what they should. They should
// have all operations that returned, or returned before the failure, in an order
// that time and model allow.
func Shows(ops *models.Operations, a fallback.Answer) error {
	until := ops.Events
	if a.Verdict == jepsen.Invalid {
		until = a.FailEvent
	}
	for _, order := range append([][]models.Row{a.Order}, a.Others...) {
		if err := oracle.Shows(ops, order, until); err != nil {
			return err
		}
	}
	return nil
}

// WorkPerSecond is the work that an engine does in about a second if it has a core to itself. Tests bound engines by work
// instead of time, so that they decide the same histories on a busy machine and with the race detector.
const WorkPerSecond = 100_000_000

// Within returns what an engine says within some work and 256 MB. It may be Unknown.
func Within(e fallback.Engine, ops *models.Operations, work int64) fallback.Answer {
	return Bounded{e, work}.Decide(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(256 << 20)})
}

// Bounded is an engine that stops when it has done some work.
type Bounded struct {
	fallback.Engine
	Work int64
}

// Decide implements fallback.Engine.
func (b Bounded) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	ctx, lim, stop := lim.Within(ctx, b.Work)
	defer stop()
	return b.Engine.Decide(ctx, ops, lim)
}

// Expires returns what an engine says if its time is over after some work: with 0 before it begins.
func Expires(e fallback.Engine, ops *models.Operations, lim fallback.Limits, work int64) fallback.Answer {
	ctx, expire := context.WithCancelCause(context.Background())
	defer expire(nil)
	given := false
	lim.Turn = func() int64 {
		if given || work == 0 {
			expire(context.DeadlineExceeded)
			return math.MaxInt64 / 2
		}
		given = true
		return work
	}
	return e.Decide(ctx, ops, lim)
}

// StoppedSoon decides a history without end until a context is stopped for a cause, some steps of the model later. It is for
// engines that run side by side, which count no work together. It also returns the context, which is done then.
func StoppedSoon(e fallback.Engine, cause error) (fallback.Answer, context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	var steps atomic.Int64
	ops := testops.Endless(20, testops.Counter{Stop: func() {
		if steps.Add(1) == 10_000 {
			stop(cause)
		}
	}})
	return e.Decide(ctx, ops, fallback.Limits{}), ctx
}

// Settles waits until no more goroutines run than before: those that have nothing left to do take a while to end.
func Settles(t *testing.T, before int) {
	t.Helper()
	effort.Await(t, "as few goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}
