package stores_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
)

const (
	goodRun = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	badRun  = goodRun + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 7}\n"
)

// said returns what is found at paths, a line for each run.
func said(o clew.StoreOptions, paths ...string) string {
	var b strings.Builder
	for run, err := range clew.CheckStore(context.Background(), o, paths...) {
		fmt.Fprintf(&b, "%s %s: %s", run.Test, run.Time, run.Result.Verdict)
		if run.Result.Cause != "" {
			fmt.Fprintf(&b, " %s", run.Result.Cause)
		}
		if err != nil {
			_, what, _ := strings.Cut(err.Error(), "history.edn")
			b.WriteString(" " + what)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestAStoreIsChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/20240101T000000/history.edn": goodRun, "b/20240101T000000/history.edn": badRun, "c/20240101T000000/history.edn": "{:process",
		"d/20240101T000000/history.edn": "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 7}\n",
		"d/20240101T000000/results.edn": `{:valid? false, :configs ({:model #knossos.model.Register{:value 7}, :last-op nil}), :final-paths ()}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const all = "a 20240101T000000: linearizable\nb 20240101T000000: not linearizable\n" +
		"c 20240101T000000: undecided unreadable :1:10: expected } to close { opened at 1:1, found end of input\nd 20240101T000000: linearizable\n"
	if got := said(clew.StoreOptions{}, dir); got != all {
		t.Errorf("\n%sexpected\n%s", got, all)
	}
	if got := said(clew.StoreOptions{FS: os.DirFS(dir)}, "."); got != all {
		t.Errorf("in a file system:\n%sexpected\n%s", got, all)
	}
	var parts []string
	for _, shard := range []string{"1/2", "2/2"} {
		parts = append(parts, strings.SplitAfter(said(clew.StoreOptions{Shard: shard}, dir), "\n")...)
	}
	slices.Sort(parts)
	if got := strings.Join(parts, ""); got != all {
		t.Errorf("two shards:\n%sexpected\n%s", got, all)
	}
	spec := func(test string) (models.Spec, bool) { return models.Spec{Name: "register", Init: "7"}, test == "b" }
	if got := said(clew.StoreOptions{Tests: spec}, filepath.Join(dir, "b")); got != "b 20240101T000000: not linearizable\n" {
		t.Errorf("a test with a model of its own: %s", got)
	}
	if got := said(clew.StoreOptions{Options: clew.Options{Algorithm: "x"}}, dir); !strings.Contains(got, "unreadable") {
		t.Errorf("options that make no sense: %s", got)
	}
	if got := said(clew.StoreOptions{}, filepath.Join(dir, "none")); !strings.Contains(got, "unreadable") {
		t.Errorf("a path with nothing: %s", got)
	}
	for run, err := range clew.CheckStore(t.Context(), clew.StoreOptions{}, dir) {
		if err != nil || run.Result.Verdict != jepsen.Valid {
			t.Errorf("%s: %v, %v", run.Path, run.Result.Verdict, err)
		}
		break
	}
}
