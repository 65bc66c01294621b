package memory

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"

	"clew/internal/effort"
)

// TestASmallHeapHasRoom looks at the percentage that follows a collection. It does so in a process of its own, since
// the setting is global.
func TestASmallHeapHasRoom(t *testing.T) {
	if os.Getenv("CLEW_ROOM") == "" {
		for _, gogc := range []string{"", "70"} {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestASmallHeapHasRoom$")
			cmd.Env = append(os.Environ(), "CLEW_ROOM=1", "GOGC="+gogc)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("GOGC=%s: %s", gogc, out)
			}
		}
		return
	}
	if gogc := os.Getenv("GOGC"); gogc != "" {
		if Spacious(); percent() != 70 {
			t.Errorf("GOGC is not left alone: %d", percent())
		}
		return
	}
	Spacious()
	if got := percent(); got != 800 {
		t.Errorf("%d%% at first", got)
	}
	held := make([]byte, 200<<20)
	await(t, "a large heap", func(percent int) bool { return percent == 100 })
	runtime.KeepAlive(held)
	if math.MaxInt > math.MaxInt32 { // it does not fit into 32 bits
		held = make([]byte, math.MaxInt32)
		await(t, "one of gigabytes", func(percent int) bool { return percent == 33 })
		runtime.KeepAlive(held)
	}
	held = make([]byte, 60<<20)
	await(t, "that of a history", func(percent int) bool { return percent > 190 && percent < 220 })
	runtime.KeepAlive(held)
	held = make([]byte, 8<<20)
	await(t, "a small heap", func(percent int) bool { return percent > 200 && percent < 500 })
	runtime.KeepAlive(held)
	held = nil
	await(t, "hardly any heap", func(percent int) bool { return percent == 1000 })
	Sparing()
	for range 5 {
		runtime.GC()
		runtime.Gosched()
	}
	await(t, "there is time", func(percent int) bool { return percent == sparing })
}

// await collects garbage until the percentage is a wanted one.
func await(t *testing.T, when string, want func(percent int) bool) {
	t.Helper()
	effort.Await(t, when, func() bool { runtime.GC(); return want(percent()) })
}

func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}
