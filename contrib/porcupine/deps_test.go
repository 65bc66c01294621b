package porcupine

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A program that takes this package in place of porcupine gets no other modules than these, on any system: its go.sum
// grows by as many.
func TestModulesThatThePackageNeeds(t *testing.T) {
	modules := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for m := range strings.FieldsSeq(string(out)) {
			modules[m] = true
		}
	}
	want := []string{"clew", "clew/contrib/porcupine", "github.com/anishathalye/porcupine", "github.com/klauspost/compress", "olympos.io/encoding/edn"}
	if got := slices.Sorted(maps.Keys(modules)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
