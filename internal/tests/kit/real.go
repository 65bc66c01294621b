package kit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// SpecOf reads "cas-register:0" or "multi-register:{:x 0 :y 0}": a model with its initial value.
func SpecOf(text string) models.Spec {
	name, init, _ := strings.Cut(text, ":")
	return models.Spec{Name: name, Init: init}
}

// CheckFile checks a file of the archive, once for all tests.
func CheckFile(path string, spec models.Spec) (*report.Result, error) {
	type question struct {
		path string
		spec models.Spec
	}
	check, _ := checkedFiles.LoadOrStore(question{path, spec}, sync.OnceValues(func() (*report.Result, error) {
		return CheckAnew(path, spec)
	}))
	return check.(func() (*report.Result, error))()
}

var checkedFiles sync.Map

func CheckAnew(path string, spec models.Spec) (*report.Result, error) {
	h, err := clew.ReadFile(path, jepsen.Options{AnyFailedF: spec.Knossos})
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, spec, clew.Options{})
}

func VerdictText(r *report.Result) string {
	return [...]string{jepsen.Unknown: "unknown", jepsen.Valid: "true", jepsen.Invalid: "false"}[r.Verdict]
}

// InvalidHistories returns the histories of the archive that are not linearizable, with the spec to read each with.
func InvalidHistories(t *testing.T) map[string]models.Spec {
	files := map[string]models.Spec{}
	for _, row := range archive.Table(t, archive.Path(t, "knossos", "verdicts.tsv"), true) {
		if row[3] == "false" {
			files[archive.Path(t, "knossos", row[0])] = SpecOf(row[1])
		}
	}
	for _, row := range archive.Table(t, archive.Path(t, "porcupine", "etcd-expected.tsv"), false) {
		if row[1] == "Illegal" {
			files[archive.Path(t, "porcupine", "etcd", row[0])] = models.Spec{Name: "cas-register", NilReadsExact: true, ObserveFailedCAS: true}
		}
	}
	for _, name := range []string{"c01-bad.txt", "c10-bad.txt", "c50-bad.txt"} {
		files[archive.Path(t, "porcupine", "kv", name)] = models.Spec{Name: "kv"}
	}
	for _, name := range []string{"redis-split-brain-test/20250623T175651.207Z", "redis-flapping-partitions-test/20250623T184232.292Z"} {
		files[archive.Path(t, "redis-store", name, "history.edn")] = models.Spec{Name: "register"}
	}
	return files
}

// ClaimsOf returns the results of the checkers of a run, which may be none.
func ClaimsOf(t *testing.T, dir string, h *jepsen.History) []jepsen.Claim {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "results.edn"))
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	claims, err := store.ReadClaims(f, f.Name(), h.Values)
	if err != nil || len(claims) == 0 {
		t.Fatalf("%s: %d claims, %v", dir, len(claims), err)
	}
	return claims
}
