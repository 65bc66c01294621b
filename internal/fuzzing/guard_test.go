package fuzzing

import (
	"fmt"
	"strings"
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
		name string
		run  func()
		says string // one of the failures; a busy machine may also take long to get much memory
	}{
		{"an ordinary input", func() {}, ""},
		{"much memory", func() { kept = make([]byte, maxMemory+1<<20) }, "MB of memory"},
		{"memory that is garbage at the end", func() {
			kept = make([]byte, maxMemory+1<<20)
			kept = nil
		}, "MB of memory"},
		{"much time", func() {
			for began := cpu(); cpu() > 0 && cpu()-began <= maxCPU; {
			}
		}, map[bool]string{true: "of CPU time"}[cpu() > 0]},
	} {
		r := &recorder{TB: t}
		done := Guard(r)
		c.run()
		done()
		if said := strings.Join(r.failures, "\n"); !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s: %q; expected %q", c.name, said, c.says)
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
