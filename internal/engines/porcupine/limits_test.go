package porcupine

import (
	"context"
	"runtime"
	"testing"

	"clew/fallback"
	"clew/internal/testops"
	"clew/jepsen"
	"clew/models"
)

func TestTheSearchDoesNotAllocateFarPastItsBudget(t *testing.T) {
	const limit = 64 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newSearch(context.Background(), testops.Endless(14, testops.Counter{}), fallback.Limits{Memory: models.NewMemory(limit)})
	s.run() // what it remembers is garbage afterwards, so look at what it allocated
	runtime.ReadMemStats(&after)
	allocated := int64(after.TotalAlloc - before.TotalAlloc)
	if s.Cause != jepsen.OutOfMemory || allocated > 4*limit {
		t.Errorf("%d bytes allocated for a budget of %d (%s)", allocated, limit, s.Cause)
	}
}
