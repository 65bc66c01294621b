package packages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/internal/archive"
)

// largest bounds the histories that are compared, and sample how many of them, unless CLEW_LONG asks for all.
const (
	largest = 2 << 20
	sample  = 60
)

// histories compares what Python says of the real histories with what the program says: each line of JSON, byte for
// byte, but for how long it took. Histories come to both without a path, since a path also tells what is beside it.
func (p *place) histories(t *testing.T) {
	var all []string
	err := filepath.WalkDir(archive.Path(t), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, failed := d.Info(); failed == nil && info.Size() <= largest {
				all = append(all, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	chosen := all
	if os.Getenv("CLEW_LONG") == "" {
		chosen = nil
		for i := range sample {
			chosen = append(chosen, all[i*len(all)/sample])
		}
	}
	list := filepath.Join(p.dir, "list")
	if err := os.WriteFile(list, []byte(strings.Join(chosen, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p.run(t, `while read -r path; do timeout 60 clew check --time-limit 20s --output json - < "$path" 2> /dev/null || true; done < list > program`)
	p.run(t, `python packages/python/tests/compared.py list > python`)
	ours, theirs := p.lines(t, "program"), p.lines(t, "python")
	if len(ours) != len(chosen) || len(theirs) != len(chosen) {
		t.Fatalf("%d histories, %d lines of the program, %d of Python", len(chosen), len(ours), len(theirs))
	}
	verdicts, different := map[string]int{}, 0
	for i, path := range chosen {
		verdicts[verdict.FindString(ours[i])]++
		if ours[i] != theirs[i] {
			different++
			t.Errorf("%s\n%s\n%s", path, ours[i], theirs[i])
		}
	}
	t.Logf("%d histories, %d different: %v", len(chosen), different, verdicts)
	if len(verdicts) < 3 {
		t.Errorf("only these verdicts: %v", verdicts)
	}
}

var (
	verdict = regexp.MustCompile(`"valid":[^,]*`)
	took    = regexp.MustCompile(`"ms":[\d.]+`)
)

// lines returns the lines of a file of the place, without how long anything took.
func (p *place) lines(t *testing.T, name string) []string {
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(took.ReplaceAllString(string(data), `"ms":0`)))
}
