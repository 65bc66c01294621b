package fuzzing

import (
	"fmt"
	"os"
	"testing"
)

var reached float64

// reaches appends to the file that CLEW_FUZZ_KEEP names. If an execution reaches new
// statements, it adds the execution's name and the share of all statements that are
// new. The test must be run with -cover.
func reaches(t testing.TB, file string) {
	now := testing.Coverage()
	if now <= reached {
		return
	}
	more := now - reached
	reached = now
	to, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := fmt.Fprintf(to, "%.9f %s\n", more, t.Name()); err != nil {
		t.Error(err)
	}
}
