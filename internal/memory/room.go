package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// room is how much a small heap may grow before garbage is collected, in bytes. Go's own
// 4 MB make a collection for every few histories of a store, a fifth of the time that
// these take.
const room = 32 << 20

// sparing is how garbage is collected if there is time for it.
const sparing = 25

var isSparing atomic.Bool

// Spacious lets a small heap grow by as much as there is room, and a large one by itself
// as ever. It leaves alone what GOGC says. It is for a program to say, once.
func Spacious() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(room / (4 << 20) * 100) // the least heap is 4 MB at 100
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		percent := int(max(100, min(1000, room*100/max(live[0].Value.Uint64(), 1))))
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
