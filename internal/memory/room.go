package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// How much a heap may grow before garbage is collected, in bytes. Go's own 4 MB make a
// collection for every few histories of a store, a fifth of the time that these take.
// What one history of a million operations fills is hardly ever garbage, and looking
// for it took a tenth of the time.
const (
	room  = 32 << 20  // a small heap
	ample = 128 << 20 // that of one large history
)

// growth is how much a heap may grow of which so many bytes live.
func growth(live uint64) uint64 {
	return max(room, min(4*live, ample), live)
}

// sparing is how garbage is collected if there is time for it.
const sparing = 25

var isSparing atomic.Bool

// Spacious gives a heap room to grow, and a large one as much as it holds, as ever. It
// leaves alone what GOGC says. It is for a program to say, once.
func Spacious() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(room / (4 << 20) * 100) // the least heap is 4 MB at 100
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		held := max(live[0].Value.Uint64(), 1)
		percent := int(min(1000, growth(held)*100/held))
		if isSparing.Load() {
			percent = sparing
		}
		debug.SetGCPercent(percent)
	})
}

// Sparing collects garbage often: there is time for it, and others need the memory.
func Sparing() {
	isSparing.Store(true)
	debug.SetGCPercent(sparing)
}

// afterEachCollection calls f after each collection of garbage.
func afterEachCollection(f func()) {
	type thing struct{ _ *byte } // that nobody holds
	runtime.AddCleanup(&thing{}, func(f func()) {
		f()
		afterEachCollection(f)
	}, f)
}
