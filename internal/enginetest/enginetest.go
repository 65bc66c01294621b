// Package enginetest compares the engines of the general search with each other, for
// tests.
package enginetest

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"clew/fallback"
	"clew/internal/engines/configs"
	"clew/internal/oracle"
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
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a, b := one.Decide(ctx, ops, fallback.Limits{}), other.Decide(ctx, ops, fallback.Limits{})
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

// Within returns what an engine says within a time and 256 MB. It may be Unknown.
func Within(e fallback.Engine, ops *models.Operations, limit time.Duration) fallback.Answer {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return e.Decide(ctx, ops, fallback.Limits{Memory: models.NewMemory(256 << 20)})
}

// Bounded is an engine that stops when it has done some work.
type Bounded struct {
	fallback.Engine
	Work int64
}

// Decide implements fallback.Engine.
func (b Bounded) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := false
	lim.Turn = func() int64 {
		if begun {
			cancel()
			return math.MaxInt64
		}
		begun = true
		return b.Work
	}
	return b.Engine.Decide(ctx, ops, lim)
}

// Settles fails the test if more goroutines run than before. It gives those that have
// nothing left to do time to end.
func Settles(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
