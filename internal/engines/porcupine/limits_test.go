package porcupine

import (
	"clew/fallback"
	"clew/internal/rows"
	"clew/jepsen"
	"clew/models"
	"context"
	"runtime"
	"testing"
)

func TestTheSearchDoesNotAllocateFarPastItsBudget(t *testing.T) {
	const limit = 64 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newSearch(context.Background(), rows.Endless(14, rows.Counter{}), fallback.Limits{Memory: models.NewMemory(limit)})
	s.run() // what it remembers is garbage afterwards, so look at what it allocated
	runtime.ReadMemStats(&after)
	allocated := int64(after.TotalAlloc - before.TotalAlloc)
	if s.Cause != jepsen.OutOfMemory || allocated > 4*limit {
		t.Errorf("%d bytes allocated for a budget of %d (%s)", allocated, limit, s.Cause)
	}
}
