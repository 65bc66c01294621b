package forms

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/jepsen"
)

// BenchmarkReadFile reads a history as Jepsen prints it: 4 processes that add
// elements to a set, and ask for them.
func BenchmarkReadFile(b *testing.B) {
	var h strings.Builder
	at := int64(54_000_000)
	for i := range 140_000 {
		typ, value := ":invoke", fmt.Sprint(i*7919%1000)
		if i%8 >= 4 {
			typ, value = ":ok", fmt.Sprintf("[%d %t]", (i-4)*7919%1000, i%3 == 0)
		}
		at += int64(i) % 9973
		fmt.Fprintf(&h, "{:index %d, :time %d, :type %s, :process %d, :f %s, :value %s}\n", i, at, typ, i%4, [...]string{":add", ":contains"}[i/8%2], value)
	}
	path := filepath.Join(b.TempDir(), "history.edn")
	if err := os.WriteFile(path, []byte(h.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(h.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFile(path, jepsen.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
