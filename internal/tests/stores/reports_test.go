package stores_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
)

// aStore writes a store with a valid run, an invalid one and one that cannot be read.
func aStore(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": goodRun, "b": badRun, "c": "{:process"} {
		path := filepath.Join(dir, "store", name, "20240101T000000", "history.edn")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reported returns the reports about runs in all forms, without times.
func reported(t *testing.T, runs []clew.Run) string {
	t.Helper()
	var b strings.Builder
	for _, form := range []string{"text", "junit", "sarif", "github"} {
		for i := range runs {
			runs[i].Result.Ms = 0
		}
		if err := clew.WriteReport(&b, form, runs...); err != nil {
			t.Fatal(err)
		}
	}
	if err := clew.WriteIndex(&b, runs...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShardsAreMergedAndReported(t *testing.T) {
	dir := aStore(t)
	t.Chdir(dir)
	var whole []clew.Run
	for run := range clew.CheckStore(t.Context(), clew.StoreOptions{}, "store") {
		whole = append(whole, run)
	}
	var parts []io.Reader
	for _, shard := range []string{"2/2", "1/2"} {
		var part bytes.Buffer
		for run := range clew.CheckStore(t.Context(), clew.StoreOptions{Shard: shard, ShardTo: &part}, "store") {
			if run.Lost != nil {
				t.Error(run.Lost)
			}
		}
		parts = append(parts, &part)
	}
	merged, err := clew.MergeShards(parts...)
	if err != nil || len(merged) != 3 {
		t.Fatal(merged, err)
	}
	for i, run := range merged {
		if run.Path != whole[i].Path || run.Test != whole[i].Test || run.Result.Verdict != whole[i].Result.Verdict || run.Result.Error != whole[i].Result.Error {
			t.Errorf("%+v, want %+v", run, whole[i])
		}
		run.Result.Text()
		run.Result.Line()
		run.Result.EDN()
	}
	got, want := withoutTimes(reported(t, merged)), withoutTimes(reported(t, whole))
	if got != want || !strings.Contains(got, "<failure ") || !strings.Contains(got, "::error file=store/b/20240101T000000/history.edn,line=4") {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, err := clew.MergeShards(strings.NewReader("{}\n")); err == nil || !strings.HasPrefix(err.Error(), "input 1:1: this is not a line of StoreOptions.ShardTo: ") {
		t.Error(err)
	}
	if err := clew.WriteReport(io.Discard, "xml", merged...); err == nil || err.Error() != `the form of a report must be text, json, junit, sarif or github, not "xml"` {
		t.Error(err)
	}
}

// withoutTimes removes the last column of a table, and the attributes of JUnit that have times.
func withoutTimes(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if i := strings.LastIndex(line, "clew/fast-register"); i >= 0 && strings.HasPrefix(line, "a ") || strings.HasPrefix(line, "b ") {
			line = line[:i] + "\n"
		}
		for {
			before, after, found := strings.Cut(line, ` time="`)
			if !found {
				break
			}
			_, after, _ = strings.Cut(after, `"`)
			line = before + after
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestAStoreGetsEvidenceAndPages(t *testing.T) {
	t.Chdir(aStore(t))
	o := clew.StoreOptions{Evidence: "cores", Pages: "pages"}
	for run := range clew.CheckStore(context.Background(), o, "store") {
		if run.Lost != nil {
			t.Error(run.Lost)
		}
	}
	for _, name := range []string{"cores/store/b/20240101T000000/history.edn", "pages/store/b/20240101T000000/history.html", "pages/index.html"} {
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		o    clew.StoreOptions
		want string
	}{
		{clew.StoreOptions{Evidence: "store/cores"}, "StoreOptions.Evidence store/cores: clew reads store"},
		{clew.StoreOptions{PageStyle: "x"}, `StoreOptions.PageStyle must be clew or porcupine, not "x"`},
		{clew.StoreOptions{ShardTo: io.Discard}, "StoreOptions.ShardTo and StoreOptions.ShardKeys require StoreOptions.Shard"},
	} {
		for run, err := range clew.CheckStore(t.Context(), c.o, "store") {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", run.Path, err, c.want)
			}
		}
	}
}
