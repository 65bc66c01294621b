// Package effort says how many histories tests take: few of them by default, so that
// go test ./... ends soon; with CLEW_FULL=1, as .ci/run sets it, as many as find the small
// changes to the code that make mutants draws; more take time and find nothing. The long
// mode, CLEW_LONG=1, takes hours.
package effort

import (
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// Few reports whether a test takes few of its histories: without CLEW_FULL=1 and CLEW_LONG=1, with -short, and with
// the race detector, which makes everything some ten times slower.
func Few() bool { return testing.Short() || Race || os.Getenv("CLEW_FULL") == "" && !Long() }

// Long reports whether CLEW_LONG=1 asks for the long mode.
func Long() bool { return os.Getenv("CLEW_LONG") == "1" }

// Takes reports whether a test takes the i-th of its inputs: one in three if few are taken.
func Takes(i int) bool { return !Few() || i%3 == 0 }

// Races reports whether a test takes the i-th of its inputs: one in three with the race detector.
func Races(i int) bool { return !Race || i%3 == 0 }

// Histories returns how many histories a test takes: full, or about a fifth of that if few are taken. In the long
// mode it takes long, or CLEW_LONG_HISTORIES if that is set.
func Histories(full, long uint64) uint64 {
	switch {
	case Long():
	case Few():
		return max(full/5, min(full, 30))
	default:
		return full
	}
	if n, err := strconv.ParseUint(os.Getenv("CLEW_LONG_HISTORIES"), 10, 64); err == nil {
		return n
	}
	return long
}

// Patience returns how long a test waits for what nearly always takes less than d: far longer, since other tests run at
// the same time, except in the long mode, where a history that takes longer is one of many.
func Patience(d time.Duration) time.Duration {
	switch {
	case Long():
		return d
	case Race:
		return 25 * d
	}
	return 3 * d
}

// Main runs the tests of a package, unless GOGC says otherwise, with room for some garbage, as clew itself has
// (internal/memory): reading takes large buffers, however small the history, and what collects them would take more
// time than the tests.
func Main(m *testing.M) { Roomy{m}.Run() }

// Roomy does the same for what runs a testing.M itself.
type Roomy struct{ *testing.M }

// Run implements testscript.TestingM.
func (m Roomy) Run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(1 << 30)
	}
	return m.M.Run()
}
