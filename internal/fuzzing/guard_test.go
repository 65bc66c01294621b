package fuzzing

import (
	"fmt"
	"testing"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestGuardFailsInputsThatTakeTooMuch(t *testing.T) {
	t.Setenv("CLEW_FUZZ_GUARD", "1")
	var kept []byte
	for _, c := range []struct {
		name     string
		run      func()
		failures int
	}{
		{"an ordinary input", func() {}, 0},
		{"much memory", func() { kept = make([]byte, maxMemory+1<<20) }, 1},
		{"memory that is garbage at the end", func() {
			kept = make([]byte, maxMemory+1<<20)
			kept = nil
		}, 1},
		{"much time", func() {
			for began := cpu(); cpu() > 0 && cpu()-began <= maxCPU; {
			}
		}, min(1, int(cpu()))},
	} {
		r := &recorder{TB: t}
		done := Guard(r)
		c.run()
		done()
		if len(r.failures) != c.failures {
			t.Errorf("%s: %q; expected %d failures", c.name, r.failures, c.failures)
		}
		kept = nil
	}
	_ = kept
}

func TestGuardLeavesOrdinaryTestsAlone(t *testing.T) {
	t.Setenv("CLEW_FUZZ_GUARD", "")
	r := &recorder{TB: t}
	done := Guard(r)
	held := make([]byte, 2*maxMemory)
	done()
	if len(held) == 0 || len(r.failures) > 0 {
		t.Error(r.failures)
	}
}
