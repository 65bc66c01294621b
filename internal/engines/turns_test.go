package engines

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/engines/configs"
	"clew/internal/engines/porcupine"
	"clew/internal/enginetest"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

// worker is an engine that does some work in pieces and then answers.
type worker struct {
	name   string
	pieces int // without end if negative
	then   func() fallback.Answer
	log    *[]string
}

func (w worker) Name() string { return w.name }

const pieceWork = 10

func (w worker) Decide(ctx context.Context, _ *models.Operations, lim fallback.Limits) fallback.Answer {
	b := fallback.NewBudget(ctx, lim)
	for n := 0; n != w.pieces; n++ {
		if ctx.Err() != nil {
			return fallback.Answer{Cause: limits.Stopped(ctx), Work: b.Done()}
		}
		if w.log != nil {
			*w.log = append(*w.log, w.name)
		}
		b.Spend(pieceWork)
	}
	a := w.then()
	a.Work = b.Done()
	return a
}

func gaveUp() fallback.Answer { return fallback.Answer{Cause: fallback.GaveUp} }

func TestARelayGivesTurnsInOrder(t *testing.T) {
	before := runtime.NumGoroutine()
	var log []string
	r := Turns{First: 3 * pieceWork, Turn: pieceWork, Apart: 1000, Engines: []fallback.Engine{
		worker{"a", -1, nil, &log}, worker{"b", 1, gaveUp, &log}, worker{"c", 2, func() fallback.Answer { return fallback.Answer{Verdict: jepsen.Valid} }, &log}}}
	a := r.Decide(context.Background(), nil, fallback.Limits{})
	if want := []string{"a", "a", "a", "b", "c", "a", "c", "a"}; !slices.Equal(log, want) {
		t.Errorf("turns of %q, want %q", log, want)
	}
	if a.Verdict != jepsen.Valid || a.By != "c" || a.Work != int64(len(log))*pieceWork {
		t.Errorf("%+v, want valid by c after all of the work", a)
	}
	enginetest.Settles(t, before)
}

// What may end all engines is asked once, unless the first one has decided before, or the context has ended.
func TestARelayEndsIf(t *testing.T) {
	before := runtime.NumGoroutine()
	valid := func() fallback.Answer { return fallback.Answer{Verdict: jepsen.Valid} }
	for _, test := range []struct {
		name  string
		first worker
		ends  bool
		asked int
		log   []string
		by    string
	}{
		{"decides early", worker{"a", 1, valid, nil}, true, 0, []string{"a"}, "a"},
		{"gives up early", worker{"a", 1, gaveUp, nil}, false, 1, []string{"a", "b"}, "b"},
		{"decides late", worker{"a", 5, valid, nil}, false, 1, []string{"a", "a", "a", "a", "a"}, "a"},
		{"ends", worker{"a", -1, nil, nil}, true, 1, []string{"a", "a"}, ""},
	} {
		var log []string
		asked := 0
		test.first.log = &log
		r := Turns{First: 2 * early * pieceWork, Turn: pieceWork, Apart: 1000, Engines: []fallback.Engine{test.first, worker{"b", 1, valid, &log}},
			EndIf: func() bool { asked++; return test.ends }}
		a := r.Decide(context.Background(), nil, fallback.Limits{})
		if (a.Verdict == jepsen.Valid) != (test.by != "") || test.by != "" && a.By != test.by || asked != test.asked || !slices.Equal(log, test.log) {
			t.Errorf("%s: %+v, asked %d times, turns of %q, want %q", test.name, a, asked, log, test.log)
		}
		enginetest.Settles(t, before)
	}
}

// Wherever engines stand, they end when the context ends, and before the answer.
func TestARelayEndsWithTheContext(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, r := range map[string]Turns{
		"in the first turn": {First: 1 << 60, Turn: 1, Apart: 1 << 60},
		"in turns":          {First: 1, Turn: 1, Apart: 1 << 60},
		"side by side":      {},
	} {
		ctx, stop := context.WithCancelCause(context.Background())
		stops := func() fallback.Answer { stop(context.DeadlineExceeded); return gaveUp() }
		first := worker{"a", -1, nil, nil}
		if r.First > 1 { // the others never have a turn
			first = worker{"a", 1000, stops, nil}
		}
		r.Engines = []fallback.Engine{first, worker{"b", -1, nil, nil}, Race{worker{"c", -1, nil, nil}, worker{"d", 5, stops, nil}}}
		if a := r.Decide(ctx, nil, fallback.Limits{}); a.Cause != jepsen.Timeout {
			t.Errorf("%s: %+v", name, a)
		}
		enginetest.Settles(t, before)
	}
}

func TestAPanicOfAnEngineComesOutOfTheRelay(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, turns := range []int64{0, 1, 1000} {
		r := Turns{First: turns, Turn: turns, Apart: 100 * turns, Engines: []fallback.Engine{
			worker{"a", -1, nil, nil}, worker{"b", 3, func() fallback.Answer { panic("b panics") }, nil}, worker{"c", -1, nil, nil}}}
		func() {
			defer func() {
				if p := recover(); p != "b panics" {
					t.Errorf("with turns of %d: %v", turns, p)
				}
			}()
			r.Decide(context.Background(), nil, fallback.Limits{})
			t.Error("no panic")
		}()
		enginetest.Settles(t, before)
	}
}

// holder takes memory until there is none left for it.
type holder struct {
	piece int64
	held  *int64 // at most
}

func (holder) Name() string { return "holder" }

func (h holder) Decide(_ context.Context, _ *models.Operations, lim fallback.Limits) fallback.Answer {
	b := fallback.NewBudget(context.Background(), lim)
	for there := true; there; *h.held += h.piece {
		there = b.Take(h.piece)
		b.Spend(pieceWork)
	}
	b.Release()
	return fallback.Answer{Cause: jepsen.OutOfMemory}
}

// Engines that wait keep their memory: together no more than the limit.
func TestEnginesThatTakeTurnsShareTheMemory(t *testing.T) {
	const memory, piece = 12_000, 10
	for _, first := range []int64{1, 100 * pieceWork, 1 << 40} {
		t.Run(fmt.Sprint("first turn of ", first), func(t *testing.T) {
			var held [3]int64
			r := Turns{First: first, Turn: pieceWork, Apart: 1 << 40, Engines: []fallback.Engine{holder{piece, &held[0]}, holder{piece, &held[1]}, holder{piece, &held[2]}}}
			budget := models.NewMemory(memory)
			if a := r.Decide(context.Background(), nil, fallback.Limits{Memory: budget}); a.Cause != jepsen.OutOfMemory {
				t.Errorf("%+v", a)
			}
			if left := budget.Left(); left != memory {
				t.Errorf("%d bytes of the budget are left, want all", left)
			}
			if alone := first > 1<<30; !alone && held[0]+held[1]+held[2] > memory+3*piece {
				t.Errorf("they held %d bytes, of %d", held, memory)
			}
		})
	}
}

// Work is counted in the same way whether an engine takes turns or not.
func TestTurnsChangeNeitherAnswerNorWork(t *testing.T) {
	n := 2000
	if effort.Few() {
		n = 1000
	}
	ops := testops.Simulated(n, 10, 5, 0.01, 1)
	for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, porcupine.Engine{}} {
		want := e.Decide(context.Background(), ops, fallback.Limits{})
		got := Turns{Engines: []fallback.Engine{e}, First: 1, Turn: fallback.WorkPerPoll / 3, Apart: 1 << 60}.Decide(context.Background(), ops, fallback.Limits{})
		if got.Verdict != want.Verdict || !slices.Equal(got.Order, want.Order) || got.Work != want.Work || got.By != e.Name() {
			t.Errorf("%s: another answer in turns: %d of work, %d without", e.Name(), got.Work, want.Work)
		}
	}
}

func TestSearchesStopAtTheirLimits(t *testing.T) {
	for _, e := range []fallback.Engine{configs.Window{}, configs.Frontier{}, Race{configs.Window{}, configs.Frontier{}}} {
		t.Run(e.Name(), func(t *testing.T) { stopsAtItsLimits(t, e) })
	}
}

func stopsAtItsLimits(t *testing.T, e fallback.Engine) {
	before := runtime.NumGoroutine()
	if a, _ := enginetest.StoppedSoon(e, context.DeadlineExceeded); a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
		t.Errorf("%+v, want unknown for the time", a)
	}
	budget := models.NewMemory(1 << 20)
	if a := e.Decide(context.Background(), testops.Endless(20, testops.Counter{}), fallback.Limits{Memory: budget}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.OutOfMemory {
		t.Errorf("%+v, want unknown for the memory", a)
	}
	if left := budget.Left(); left != 1<<20 {
		t.Errorf("%d bytes of the budget are left, want all", left)
	}
	enginetest.Settles(t, before)
}

func TestARaceTakesTheFirstVerdictAndStopsTheOthers(t *testing.T) {
	before := runtime.NumGoroutine()
	ops, text := testops.Generated(t, models.Spec{Name: "register"}, gen.Options{}, 7)
	want := configs.Window{}.Decide(context.Background(), ops, fallback.Limits{})
	a := Race{forever{}, configs.Window{}}.Decide(context.Background(), ops, fallback.Limits{})
	if a.Verdict != want.Verdict || a.By != "window" {
		t.Errorf("%+v, want %+v, of\n%s", a, want, text)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if a := (Race{forever{}, forever{}}).Decide(ctx, ops, fallback.Limits{}); a.Verdict != jepsen.Unknown || a.Cause != jepsen.Timeout {
			t.Errorf("%+v, want unknown for the time", a)
		}
	})
	enginetest.Settles(t, before)
}

// forever is an engine that never decides.
type forever struct{}

func (forever) Name() string { return "forever" }
func (forever) Decide(ctx context.Context, _ *models.Operations, _ fallback.Limits) fallback.Answer {
	<-ctx.Done()
	return fallback.Answer{Cause: limits.Stopped(ctx)}
}
