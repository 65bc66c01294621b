package forms

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/jepsen"
)

func TestALongLogIsReadFromItsFile(t *testing.T) {
	const operations = 2000
	var log strings.Builder
	for i := range operations {
		fmt.Fprintf(&log, "0\t:invoke\t:write\t%d\n0\t:ok\t:write\t%d\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "history.txt")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := ReadFile(path, jepsen.Options{})
	if err != nil || h.Operations() != operations {
		t.Errorf("%d operations (%v), expected %d", h.Operations(), err, operations)
	}
}
