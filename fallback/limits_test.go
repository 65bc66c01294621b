package fallback

import (
	"context"
	"runtime"
	"testing"

	"clew/models"
)

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a search has taken off its budget is what the heap holds for it.
func TestWhatASearchHoldsIsWhatItsBudgetSays(t *testing.T) {
	const limit = 12 << 20
	ordinary := simulated(20_000, 20, 5, 0, 1)
	for name, ops := range map[string]*models.Operations{"many states": endless(20, counter{}), "few states": ordinary} {
		for _, engine := range []string{"window", "frontier"} {
			if engine == "frontier" && name == "few states" {
				continue // it needs little, for long
			}
			t.Run(engine+", "+name, func(t *testing.T) {
				before := heap()
				l := newLayout(context.Background(), Rules{NoDomination: true, NoCovering: true, NoLocalProof: true}, ops, Limits{Memory: NewBudget(limit)})
				m := newMoves(l)
				var search any
				if engine == "window" {
					s := &windowSearch{moves: m, furthest: -1, patience: firstPatience}
					s.run()
					search = s
				} else {
					s := newFrontierSearch(m)
					s.start(0, s.space.number(ops.Model.Init()), make([]uint64, s.width))
					s.run(0, int32(len(s.ends)))
					search = s
				}
				held := heap() - before
				runtime.KeepAlive(search)
				if l.cause != OutOfMemory {
					t.Skipf("it was decided with %d bytes", l.taken)
				}
				if held > limit*12/10 || held < limit*6/10 {
					t.Errorf("the heap holds %d bytes for a budget of %d", held, limit)
				}
			})
		}
	}
}

func TestAnUnknownAnswerSaysHowFarTheSearchGot(t *testing.T) {
	// It goes well up to the tenth return, and then nowhere.
	ops := &models.Operations{Model: counter{}}
	for i := range int32(10) {
		ops.Append(2*i, 2*i+1, models.Op{A: i})
	}
	for i := range int32(20) {
		ops.Append(20+i, 41+i, models.Op{A: i})
	}
	ops.Append(40, 61, models.Op{Kind: 1})
	ops.Events = 62
	for _, e := range []Engine{Window{}, Frontier{}, Porcupine{}, Auto{}, Race{Frontier{}, Window{}}} {
		a := e.Decide(context.Background(), ops, Limits{Memory: NewBudget(1 << 20)})
		if a.Cause != OutOfMemory || a.Passed < 10 || a.Held < 100 {
			t.Errorf("%s: %s after %d returns with %d configurations, want out-of-memory after 10 or more with some hundreds", e.Name(), a.Cause, a.Passed, a.Held)
		}
	}
}

func TestAFailureShowsSeveralConfigurations(t *testing.T) {
	// Two writes at the same time, and then a read of neither value.
	ops := simulated(200, 5, 2, 0, 3)
	n := ops.Events
	ops.Append(n, n+2, models.Op{Kind: models.Write, A: 0})
	ops.Append(n+1, n+3, models.Op{Kind: models.Write, A: 1})
	ops.Append(n+4, n+5, models.Op{Kind: models.Read, A: 2})
	ops.Events = n + 6
	for _, e := range []Engine{Window{}, Frontier{}, Auto{}} {
		a := Check(context.Background(), e, ops, Limits{})
		if a.Verdict != Invalid || a.Fail != n+5 {
			t.Fatalf("%s: %+v", e.Name(), a)
		}
		configs, _ := Explain(ops, a)
		t.Logf("%s: %d", e.Name(), len(configs))
		if len(configs) < 2 || len(configs) > MaxConfigs {
			t.Errorf("%s: %d configurations, want 2 or more", e.Name(), len(configs))
		}
	}
}

// What a search holds follows the busiest stretch, and a failure at the end is
// that of what came after the last operation that ran alone.
func TestQuiescenceForgetsWhatIsBefore(t *testing.T) {
	stretches := &models.Operations{Model: simulated(1, 1, 3, 0, 0).Model}
	for seed := range uint64(200) {
		busy := simulated(12, 4, 3, 0, seed)
		from := stretches.Events
		for i := range int32(busy.Len()) {
			stretches.Append(from+busy.Inv[i], from+busy.Res[i], busy.Op(i))
		}
		stretches.Events += busy.Events + 2
		stretches.Append(stretches.Events-2, stretches.Events-1, models.Op{Kind: models.Write, A: 0})
	}
	stretches.Append(stretches.Events, stretches.Events+1, models.Op{Kind: models.Read, A: 1})
	stretches.Events += 2
	sequence := &models.Operations{Model: counter{}}
	for i := range int32(1000) {
		sequence.Append(2*i, 2*i+1, models.Op{Kind: models.Kind(i / 999)}) // the last one never fits
	}
	sequence.Events = 2000
	for name, ops := range map[string]*models.Operations{"stretches": stretches, "a sequence": sequence} {
		var held, steps [2]int
		for i, off := range []bool{false, true} {
			l := newLayout(context.Background(), Rules{NoQuiescence: off, NoLocalProof: true}, ops, Limits{})
			s := &windowSearch{moves: newMoves(l), furthest: -1, patience: firstPatience}
			if s.run() || s.furthest != len(l.ends)-1 {
				t.Fatalf("%s: found a linearization, or failed at return %d of %d", name, s.furthest, len(l.ends))
			}
			held[i], steps[i] = cap(s.configs)/s.width, s.steps
		}
		t.Logf("%s: %d steps and %d configurations, without the rule %d and %d", name, steps[0], held[0], steps[1], held[1])
		if 10*held[0] > held[1] || 5*steps[0] > 4*steps[1] {
			t.Errorf("%s: it does not forget", name)
		}
	}
}
