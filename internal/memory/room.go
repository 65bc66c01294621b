package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// A heap may grow by this many bytes before garbage is collected. Go's own 4 MB cause a collection for every few
// histories of a store, which took a fifth of their time. What one history of a million operations fills is hardly
// ever garbage, and looking for it took a tenth of the time.
const (
	room  = 32 << 20  // a small heap
	ample = 128 << 20 // that of one large history
	large = 512 << 20 // one that no longer doubles
	some  = 24 << 20  // a heap that Steady keeps small
)

// many is how many operations hold so much memory that it is worth a collection, which takes up to 3% of the time of a check.
const many = 1 << 22

// growth returns how much a heap with this many live bytes may grow.
func growth(live uint64) uint64 {
	return max(room, min(4*live, ample), min(live, max(large, live/3)))
}

// sparing is the garbage collection percentage for when there is time to collect often, and steady that for a process
// that runs for long.
const (
	sparing = 25
	steady  = 100
)

// fixed is the percentage that Sparing or Steady has set, or 0.
var fixed atomic.Int64

// Spacious gives a small heap room to grow, and lets a larger one double, as Go does, and one of gigabytes grow by a third: it should
// not need twice the memory of a history. If GOGC is set, it changes nothing. A program calls it once.
func Spacious() {
	if os.Getenv("GOGC") != "" {
		return
	}
	spacious.Store(true)
	debug.SetGCPercent(room / (4 << 20) * 100) // the least heap is 4 MB at 100
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		held := max(live[0].Value.Uint64(), 1)
		percent := int(min(1000, growth(held)*100/held))
		switch set := int(fixed.Load()); {
		case set == steady:
			percent = int(min(1000, max(steady/2, some*100/held)))
		case set > 0:
			percent = set
		}
		debug.SetGCPercent(percent)
	})
}

// spacious is whether Spacious has taken over.
var spacious atomic.Bool

// Collect collects garbage if a stage of work on that many operations leaves much of it, which the next stage would
// otherwise take as much again for. It changes nothing unless Spacious did.
func Collect(operations int) {
	if spacious.Load() && operations >= many {
		runtime.GC()
	}
}

// Sparing makes the process collect garbage often: there is time for it, and other processes need the memory.
func Sparing() { fix(sparing) }

// Steady lets a small heap grow by some, and a large one by half.
func Steady() { fix(steady) }

func fix(percent int) {
	fixed.Store(int64(percent))
	debug.SetGCPercent(percent)
}

// afterEachCollection calls f after each collection of garbage.
func afterEachCollection(f func()) {
	type thing struct{ _ *byte } // unreachable at once
	runtime.AddCleanup(&thing{}, func(f func()) {
		f()
		afterEachCollection(f)
	}, f)
}
