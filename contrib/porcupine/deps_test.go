package porcupine

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A program that takes this package in place of porcupine gets no other modules than these: its go.sum grows by as many.
func TestModulesThatThePackageNeeds(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for m := range strings.FieldsSeq(string(out)) {
		modules[m] = true
	}
	want := []string{"clew", "clew/contrib/porcupine", "github.com/anishathalye/porcupine", "github.com/klauspost/compress",
		"github.com/mattn/go-isatty", "golang.org/x/sys", "olympos.io/encoding/edn"}
	if got := slices.Sorted(maps.Keys(modules)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
