package configs

import (
	"context"
	"runtime"
	"testing"

	"clew/fallback"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The heap holds as many bytes for a search as the search has taken off its budget.
func TestWhatASearchHoldsIsWhatItsBudgetSays(t *testing.T) {
	const limit = 12 << 20
	ordinary := testops.Simulated(20_000, 20, 5, 0, 1)
	for name, ops := range map[string]*models.Operations{"many states": testops.Endless(20, testops.Counter{}), "few states": ordinary} {
		for _, engine := range []string{"window", "frontier"} {
			if engine == "frontier" && name == "few states" {
				continue // it needs little memory, for a long time
			}
			t.Run(engine+", "+name, func(t *testing.T) {
				before := heap()
				l := fallback.NewLayout(context.Background(), ops, fallback.Limits{Memory: models.NewMemory(limit)})
				m := newTransitions(l, Rules{NoDomination: true, NoCovering: true, NoLocalProof: true})
				var search any
				if engine == "window" {
					s := &windowSearch{transitions: m, furthest: -1, patience: firstPatience}
					s.run()
					search = s
				} else {
					s := newFrontierSearch(m)
					s.start(0, s.Space.Number(ops.Model.Init()), make([]uint64, s.width))
					s.run(0, int32(len(s.Ends)))
					search = s
				}
				held := heap() - before
				runtime.KeepAlive(search)
				if l.Cause != jepsen.OutOfMemory {
					t.Skipf("it was decided with %d bytes", l.Taken())
				}
				if held > limit*12/10 || held < limit*6/10 {
					t.Errorf("the heap holds %d bytes for a budget of %d", held, limit)
				}
			})
		}
	}
}

// A search holds no more than the busiest stretch needs. A failure at the end
// is that of what came after the last operation that ran alone.
func TestQuiescenceForgetsWhatIsBefore(t *testing.T) {
	stretches := &models.Operations{Model: testops.Simulated(1, 1, 3, 0, 0).Model}
	for seed := range uint64(200) {
		busy := testops.Simulated(12, 4, 3, 0, seed)
		from := stretches.Events
		for i := range int32(busy.Len()) {
			stretches.Append(from+busy.Inv[i], from+busy.Res[i], busy.Op(i))
		}
		stretches.Events += busy.Events + 2
		stretches.Append(stretches.Events-2, stretches.Events-1, models.Op{Kind: models.Write, A: 0})
	}
	stretches.Append(stretches.Events, stretches.Events+1, models.Op{Kind: models.Read, A: 1})
	stretches.Events += 2
	sequence := &models.Operations{Model: testops.Counter{}}
	for i := range int32(1000) {
		sequence.Append(2*i, 2*i+1, models.Op{Kind: models.Kind(i / 999)}) // the last one never fits
	}
	sequence.Events = 2000
	for name, ops := range map[string]*models.Operations{"stretches": stretches, "a sequence": sequence} {
		var held, steps [2]int
		for i, off := range []bool{false, true} {
			l := fallback.NewLayout(context.Background(), ops, fallback.Limits{})
			s := &windowSearch{transitions: newTransitions(l, Rules{NoQuiescence: off, NoLocalProof: true}), furthest: -1, patience: firstPatience}
			if s.run() || s.furthest != len(l.Ends)-1 {
				t.Fatalf("%s: found a linearization, or failed at return %d of %d", name, s.furthest, len(l.Ends))
			}
			held[i], steps[i] = len(s.configs)*wayChunk, s.steps
		}
		t.Logf("%s: %d steps and %d configurations, without the rule %d and %d", name, steps[0], held[0], steps[1], held[1])
		if 10*held[0] > held[1] || 5*steps[0] > 4*steps[1] {
			t.Errorf("%s: it does not forget", name)
		}
	}
}
