package porcupine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"clew/internal/effort"
)

// Porcupine's own tests and benchmarks pass with this package in its place. They are in the library's package, so they are
// compiled as tests of this one, by an overlay. A few of them look at what a LinearizationInfo and a picture hold. For those,
// a copy of the library shows it.
func TestPorcupinesOwnSuite(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "library")
	if err := os.CopyFS(library, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("library/shown.go", showsInside)
	mod := strings.Replace(read("go.mod"), "../../", filepath.Join(here, "..", ".."), 1)
	write("go.mod", mod+"\nreplace github.com/anishathalye/porcupine => "+library+"\n")
	write("go.sum", read("go.sum"))
	overlay := map[string]string{}
	ours, err := filepath.Glob(filepath.Join(here, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range ours {
		overlay[file] = "" // is not there
	}
	overlay[filepath.Join(here, "inside_test.go")] = write("inside.go", seesInside)
	for _, name := range []string{"porcupine_test.go", "visualization_test.go"} {
		overlay[filepath.Join(here, name)] = write(name, strings.ReplaceAll(read(filepath.Join(library, name)), "info.history", "historyOf(info)"))
	}
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(dir, "suite.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-modfile", filepath.Join(dir, "go.mod"), "-overlay", write("overlay.json", string(replace)), "-o", suite)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{"-test.bench", ".", "-test.benchtime", "1x"}
	if effort.Few() {
		args = []string{"-test.short"}
	}
	run := exec.Command(suite, args...)
	run.Dir = library
	run.Env = append(os.Environ(), "TMPDIR="+dir) // it leaves its pictures behind
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// showsInside is a file of the library's copy.
const showsInside = `package porcupine

type (
	PartitionVisualizationData = partitionVisualizationData
	HistoryElement             = historyElement
	PartialLinearization       = partialLinearization
	VisualizationData          = visualizationData
)

var ComputeVisualizationData = computeVisualizationData

func Inside(info LinearizationInfo, each func(partition, id int, time int64, metadata interface{})) {
	for p, entries := range info.history {
		for _, e := range entries {
			each(p, e.id, e.time, e.metadata)
		}
	}
}
`

// seesInside gives the suite the names that it expects.
const seesInside = `package porcupine

import theirs "github.com/anishathalye/porcupine"

type (
	partitionVisualizationData = theirs.PartitionVisualizationData
	historyElement             = theirs.HistoryElement
	partialLinearization       = theirs.PartialLinearization
	visualizationData          = theirs.VisualizationData
)

var computeVisualizationData = theirs.ComputeVisualizationData

type entry struct {
	id       int
	time     int64
	metadata any
}

func historyOf(info LinearizationInfo) (all [][]entry) {
	theirs.Inside(info, func(p, id int, time int64, metadata any) {
		for len(all) <= p {
			all = append(all, nil)
		}
		all[p] = append(all[p], entry{id, time, metadata})
	})
	return all
}
`
