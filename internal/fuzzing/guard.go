// Package fuzzing has what all fuzz targets share: Guard holds each input to
// limits of time and memory. tools/fuzzing is make fuzz.
package fuzzing

import (
	"flag"
	"fmt"
	"os"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The limits of an input. Inputs are short, and fuzzing makes the code several
// times slower, so an input that takes longer has found more than a constant
// factor.
const (
	maxCPU    = time.Second // of the process, so that a busy machine does not cause failures
	maxMemory = 256 << 20   // of the heap and of stacks, in bytes, garbage included
)

// Guard does not wait for an execution that takes patience times its limit, or that
// has not ended after maxWall on the clock and may be blocked.
const (
	patience = 8
	maxWall  = 10 * time.Minute
)

// Guard fails a target whose execution takes more than an input may. It is the first
// line of the function that a target fuzzes:
//
//	defer fuzzing.Guard(t)()
//
// It does nothing if the seeds run as ordinary tests, which do not assert times.
// CLEW_FUZZ_GUARD makes it work there too, so that an input can be tried again:
//
//	CLEW_FUZZ_GUARD=1 go test -run FuzzParse/0123456789abcdef ./edn
func Guard(t testing.TB) (done func()) {
	if keep := os.Getenv("CLEW_FUZZ_KEEP"); keep != "" {
		return func() { reaches(t, keep) }
	}
	if !fuzzes() {
		return func() {}
	}
	watch.Do(func() { go watchdog() })
	before, memory := cpu(), held()
	peak.Store(memory)
	wall.Store(time.Now().UnixNano())
	since.Store(int64(before) + 1)
	return func() {
		since.Store(0)
		if took := cpu() - before; took > maxCPU {
			t.Errorf("the input took %v of CPU time; expected at most %v", took, maxCPU)
		}
		if took := max(peak.Load(), held()) - memory; took > maxMemory {
			t.Errorf("the input took %d MB of memory; expected at most %d", took>>20, maxMemory>>20)
		}
	}
}

// fuzzes says whether this process executes inputs for go test -fuzz.
func fuzzes() bool {
	worker := flag.Lookup("test.fuzzworker")
	return worker != nil && worker.Value.String() == "true" || os.Getenv("CLEW_FUZZ_GUARD") != ""
}

// The execution that is watched. A process executes one input at a time.
var (
	watch sync.Once
	since atomic.Int64  // the process's CPU time when it began, plus 1, or 0
	wall  atomic.Int64  // the time then, in nanoseconds
	peak  atomic.Uint64 // the most memory seen since
)

// watchdog follows the memory of executions, and ends the process if one has gone too
// far. The fuzzer then keeps its input. A peak shorter than a tick may be missed.
func watchdog() {
	for range time.Tick(5 * time.Millisecond) {
		began := since.Load()
		if began == 0 {
			continue
		}
		now, took, waited := held(), cpu()-time.Duration(began-1), time.Since(time.Unix(0, wall.Load()))
		if old := peak.Load(); now > old {
			peak.CompareAndSwap(old, now)
		}
		if since.Load() != began {
			continue // these measurements are of two executions
		}
		if took > patience*maxCPU || now > patience*maxMemory || waited > maxWall {
			panic(fmt.Sprintf("the input has taken %v of CPU time in %v, and %d MB of memory are held; expected at most %v and %d MB",
				took, waited, now>>20, maxCPU, maxMemory>>20))
		}
	}
}

// held returns how much memory objects and stacks take, in bytes.
func held() uint64 {
	samples := [...]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples[:])
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
