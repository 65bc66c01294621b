package fallback

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"clew/internal/effort"
	"clew/internal/limits"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
)

// worker is an engine that does some work in pieces and then answers.
type worker struct {
	name   string
	pieces int // without end if negative
	then   func() Answer
	log    *[]string
}

func (w worker) Name() string { return w.name }

const pieceWork = 10

func (w worker) Decide(ctx context.Context, _ *models.Operations, lim limits.Limits) Answer {
	var m meter
	m.wait(lim.Turn)
	for n := 0; n != w.pieces; n++ {
		if ctx.Err() != nil {
			return Answer{Cause: limits.Stopped(ctx), Work: m.done}
		}
		if w.log != nil {
			*w.log = append(*w.log, w.name)
		}
		m.spend(pieceWork)
	}
	a := w.then()
	a.Work = m.done
	return a
}

func gaveUp() Answer { return Answer{Cause: GaveUp} }

// goroutines fails the test if more goroutines run than before. It gives those
// that have nothing left to do time to end.
func goroutines(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestARelayGivesTurnsInOrder(t *testing.T) {
	before := runtime.NumGoroutine()
	var log []string
	r := Relay{First: 3 * pieceWork, Turn: pieceWork, Apart: 1000, Engines: []Engine{
		worker{"a", -1, nil, &log}, worker{"b", 1, gaveUp, &log}, worker{"c", 2, func() Answer { return Answer{Verdict: jepsen.Valid} }, &log}}}
	a := r.Decide(context.Background(), nil, limits.Limits{})
	if want := []string{"a", "a", "a", "b", "c", "a", "c", "a"}; !slices.Equal(log, want) {
		t.Errorf("turns of %q, want %q", log, want)
	}
	if a.Verdict != jepsen.Valid || a.By != "c" || a.Work != int64(len(log))*pieceWork {
		t.Errorf("%+v, want valid by c after all of the work", a)
	}
	goroutines(t, before)
}

// Wherever engines stand, they end when the context ends, and before the answer.
func TestARelayEndsWithTheContext(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, r := range map[string]Relay{
		"in the first turn": {First: 1 << 60, Turn: 1, Apart: 1 << 60},
		"in turns":          {First: 1, Turn: 1, Apart: 1 << 60},
		"side by side":      {},
	} {
		r.Engines = []Engine{worker{"a", -1, nil, nil}, worker{"b", -1, nil, nil}, Race{worker{"c", -1, nil, nil}, worker{"d", 5, gaveUp, nil}}}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		if a := r.Decide(ctx, nil, limits.Limits{}); a.Cause != jepsen.Timeout {
			t.Errorf("%s: %+v", name, a)
		}
		cancel()
		goroutines(t, before)
	}
}

func TestAPanicOfAnEngineComesOutOfTheRelay(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, turns := range []int64{0, 1, 1000} {
		r := Relay{First: turns, Turn: turns, Apart: 100 * turns, Engines: []Engine{
			worker{"a", -1, nil, nil}, worker{"b", 3, func() Answer { panic("b panics") }, nil}, worker{"c", -1, nil, nil}}}
		func() {
			defer func() {
				if p := recover(); p != "b panics" {
					t.Errorf("with turns of %d: %v", turns, p)
				}
			}()
			r.Decide(context.Background(), nil, limits.Limits{})
			t.Error("no panic")
		}()
		goroutines(t, before)
	}
}

// holder takes memory until there is none left for it.
type holder struct {
	piece int64
	held  *int64 // at most
}

func (holder) Name() string { return "holder" }

func (h holder) Decide(_ context.Context, _ *models.Operations, lim limits.Limits) Answer {
	var m meter
	m.wait(lim.Turn)
	for there := true; there; *h.held += h.piece {
		there = lim.Memory.Take(h.piece)
		m.spend(pieceWork)
	}
	lim.Memory.Give(*h.held)
	return Answer{Cause: jepsen.OutOfMemory}
}

// Engines that wait keep their memory: together no more than the limit.
func TestEnginesOfARelayShareTheMemory(t *testing.T) {
	const memory, piece = 12_000, 10
	for _, first := range []int64{1, 100 * pieceWork, 1 << 40} {
		t.Run(fmt.Sprint("first turn of ", first), func(t *testing.T) {
			var held [3]int64
			r := Relay{First: first, Turn: pieceWork, Apart: 1 << 40, Engines: []Engine{holder{piece, &held[0]}, holder{piece, &held[1]}, holder{piece, &held[2]}}}
			budget := limits.NewBudget(memory)
			if a := r.Decide(context.Background(), nil, limits.Limits{Memory: budget}); a.Cause != jepsen.OutOfMemory {
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
	ops := rows.Simulated(n, 10, 5, 0.01, 1)
	for _, e := range []Engine{Window{}, Frontier{}, Porcupine{}} {
		want := e.Decide(context.Background(), ops, limits.Limits{})
		got := Relay{Engines: []Engine{e}, First: 1, Turn: workPerPoll / 3, Apart: 1 << 60}.Decide(context.Background(), ops, limits.Limits{})
		if got.Verdict != want.Verdict || !slices.Equal(got.Order, want.Order) || got.Work != want.Work || got.By != e.Name() {
			t.Errorf("%s: another answer in turns: %d of work, %d without", e.Name(), got.Work, want.Work)
		}
	}
}
