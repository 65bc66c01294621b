package limits_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// manyRegisters writes and then reads n registers. The bad one, if there is such a register, reads what was never
// written.
func manyRegisters(n, bad int) string {
	var b strings.Builder
	line := func(kind, f string, register int, value any) {
		fmt.Fprintf(&b, "{:process %d :type :%s :f :txn :value [[:%s %d %v]]}\n", register%3, kind, f, register, value)
	}
	for i := range n {
		line("invoke", "w", i, i)
		line("ok", "w", i, i)
	}
	for i := range n {
		value := i
		if i == bad {
			value = -1
		}
		line("invoke", "r", i, "nil")
		line("ok", "r", i, value)
	}
	return b.String()
}

// Deciding a part takes memory of the part's size, not of the history's.
func TestManyPartsTakeLinearMemory(t *testing.T) {
	perKey := func(n int) uint64 {
		h, err := clew.Read(strings.NewReader(manyRegisters(n, -1)), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "multi-register"}, clew.Options{})
		runtime.ReadMemStats(&after)
		if err != nil || r.Verdict != jepsen.Valid {
			t.Fatalf("%v, %v", r, err)
		}
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	few, many := perKey(2000), perKey(8000)
	t.Logf("%d bytes for each of 2,000 registers, %d for each of 8,000", few, many)
	if many > 2*few {
		t.Errorf("%d bytes are allocated for each of 8,000 registers, %d for each of 2,000", many, few)
	}
}

// The search of a small part numbers events on its own, but its answer is about the history's events.
func TestAFailureInOneOfManyPartsIsThatOfTheHistory(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
		h, err := clew.Read(strings.NewReader(manyRegisters(600, 123)), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "multi-register"}, clew.Options{Algorithm: algorithm, Verify: clew.VerifyAlways})
		if err != nil || r.Verdict != jepsen.Invalid {
			t.Fatalf("%v, %v", r, err)
		}
		if got := fmt.Sprint(r.FailingIndex(), names(r)); got != "1447 [process 0's :txn [[:r 123 -1]] (index 1447)]" {
			t.Errorf("%s: %s", algorithm, got)
		}
	}
}

// names returns the operations of a core.
func names(r *report.Result) (names []string) {
	for _, op := range r.CoreOps() {
		names = append(names, op.String())
	}
	return names
}
