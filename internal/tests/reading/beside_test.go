package reading_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/tests/kit"
	"clew/models"
	"clew/report"
)

// checkedFolder checks the histories of a folder as one would by the command.
func checkedFolder(t *testing.T, o clew.StoreOptions, path string) *report.Result {
	t.Helper()
	var found *report.Result
	for run, err := range clew.CheckStore(context.Background(), o, path) {
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		found = run.Result
	}
	return found
}

// written writes files below a new folder, and returns it.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const staleTxn = `{:index 0, :type :invoke, :process 0, :f :txn, :value [[:w 1 1]]}
{:index 1, :type :ok, :process 0, :f :txn, :value [[:w 1 1]]}
{:index 2, :type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]}
{:index 3, :type :ok, :process 1, :f :txn, :value [[:r 1 nil]]}
`

// A test map beside a history says at which level the test expects it to be.
func TestTheTestMapSaysTheLevel(t *testing.T) {
	t.Parallel()
	const log = "2024-09-19 14:34:30,106{GMT}\tINFO\t[main] jepsen.core: Running test:\n"
	const object = "{:db\n #object[a.b$reify__1\n         \"0x73\"\n         \"a.b$reify__1@73\"]\n :net #unprintable \"x\"\n "
	for _, c := range []struct {
		name, file, text string
		verdict, by      string
		level            models.Level
		warning          string
	}{
		{name: "nothing says it", file: "other.log", text: "", verdict: "not linearizable"},
		{name: "a vector", file: "jepsen.log", text: log + "{:consistency-models [:read-uncommitted]}\n", verdict: "linearizable", by: "jepsen.log", level: models.ReadUncommitted},
		{name: "a set of which one implies the other", file: "jepsen.log", text: log + "{:consistency-models #{:read-committed :snapshot-isolation}}\n", verdict: "linearizable", by: "jepsen.log", level: models.SnapshotIsolation},
		{name: "among objects", file: "jepsen.log", text: log + object + ":isolation :serializable\n :nodes [\"n1\"]}\n\n2024-09-19 14:34:30,106{GMT}\tINFO\t[main] x: {:isolation :read-committed}\n", verdict: "linearizable", by: "jepsen.log", level: models.Serializable},
		{name: "the level that is expected comes before that of the database", file: "jepsen.log", text: log + object + ":isolation :serializable\n :expected-consistency-model :snapshot-isolation}\n", verdict: "linearizable", by: "jepsen.log", level: models.SnapshotIsolation},
		{name: "a string", file: "test.edn", text: `{:consistency-model "serializable"}`, verdict: "linearizable", by: "test.edn", level: models.Serializable},
		{name: "the strictest", file: "test.edn", text: `{:consistency-models [:strict-serializable]}`, verdict: "not linearizable", by: "test.edn", level: models.StrictSerializable},
		{name: "one that is not known", file: "test.edn", text: `{:consistency-models [:causal]}`, verdict: "not linearizable", warning: "according to test.edn its test asked for causal, which clew does not decide"},
		{name: "one that is known beside it", file: "test.edn", text: `{:consistency-models [:causal :read-committed]}`, verdict: "not linearizable", warning: "read-committed and causal, which clew does not decide; it decides strict-serializable"},
		{name: "two maps in a log that differ", file: "jepsen.log", text: log + "{:isolation :serializable}\n" + log + "{:isolation :snapshot-isolation}\n", verdict: "not linearizable",
			warning: "its test asked for serializable according to jepsen.log, and for snapshot-isolation according to jepsen.log; clew decides strict-serializable"},
		{name: "two maps in a log that agree", file: "jepsen.log", text: log + "{:isolation :serializable}\n" + log + "{:consistency-models [:serializable]}\n", verdict: "linearizable", by: "jepsen.log", level: models.Serializable},
		{name: "a map that cannot be read", file: "test.edn", text: `{:consistency-models [:causal`, verdict: "not linearizable"},
		{name: "no map", file: "jepsen.log", text: log + "(1 2)\n", verdict: "not linearizable"},
		{name: "a level inside another map", file: "jepsen.log", text: log + "{:db {:isolation :serializable}}\n", verdict: "not linearizable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := written(t, map[string]string{"r/history.edn": staleTxn, "r/" + c.file: c.text})
			for _, path := range []string{dir, filepath.Join(dir, "r", "history.edn")} {
				r := checkedFolder(t, clew.StoreOptions{}, path)
				by, level := "", models.Level("")
				if r.Levels != nil {
					by, level = r.Levels.AskedBy, r.Levels.Asked
				}
				if r.Verdict.String() != c.verdict || by != c.by || level != c.level {
					t.Errorf("%s: %v at %q by %q", path, r.Verdict, level, by)
				}
				if warnings := strings.Join(r.History.Warnings, "; "); !strings.Contains(warnings, c.warning) || c.warning == "" && warnings != "" {
					t.Errorf("%s: warnings %q", path, warnings)
				}
				if c.by != "" && !strings.Contains(r.Text(), "the test asked for "+string(c.level)+" (according to "+c.by+")") {
					t.Errorf("%s: %s", path, r.Text())
				}
				strict := checkedFolder(t, clew.StoreOptions{Options: clew.Options{Consistency: models.Linearizable}}, path)
				if strict.Verdict.String() != "not linearizable" {
					t.Errorf("%s: %v, although linearizability was asked for", path, strict.Verdict)
				}
			}
		})
	}
}

// Files that differ say nothing, whichever would be read first.
func TestTestMapsThatDifferSayNoLevel(t *testing.T) {
	t.Parallel()
	for _, levels := range [][2]string{{"serializable", "strict-serializable"}, {"strict-serializable", "serializable"}, {"serializable", "causal"}} {
		dir := written(t, map[string]string{"r/history.edn": staleTxn, "r/test.edn": "{:isolation :" + levels[0] + "}",
			"r/jepsen.log": "jepsen.core: Running test:\n{:consistency-models [:" + levels[1] + "]}\n"})
		r := checkedFolder(t, clew.StoreOptions{}, filepath.Join(dir, "r", "history.edn"))
		if warnings := strings.Join(r.History.Warnings, "; "); r.Verdict.String() != "not linearizable" || !strings.Contains(warnings, "its test asked for ") {
			t.Errorf("%v: %v, warnings %q", levels, r.Verdict, warnings)
		}
	}
}

// A register has no levels, whatever Maelstrom prints about its test.
func TestALevelSaysNothingAboutARegister(t *testing.T) {
	t.Parallel()
	dir := written(t, map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n",
		"test.edn": "{:consistency-models [:read-uncommitted :causal]}"})
	if r := checkedFolder(t, clew.StoreOptions{}, dir); r.Levels != nil || len(r.History.Warnings) > 0 {
		t.Errorf("%+v, %q", r.Levels, r.History.Warnings)
	}
}

func TestATestOfMaelstromIsDecidedAtItsLevel(t *testing.T) {
	t.Parallel()
	path := archive.Path(t, "turn4", "reading", "maelstrom_txn_level_ignored")
	for _, spec := range []models.Spec{{}, {NilReadsExact: true}} {
		if r := checkedFolder(t, clew.StoreOptions{Spec: spec}, path); r.Verdict.String() != "linearizable" || r.Levels.AskedBy != "jepsen.log" {
			t.Errorf("%+v: %s", spec, r.Text())
		}
	}
}

// Indices that are dense but for a gap show that events were lost. A part that somebody has chosen has gaps everywhere,
// and does not begin at 0.
func TestAGapOfIndicesIsALoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		indices []int // -1: an event of the nemesis has the next one
		want    string
	}{
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, ""},
		{[]int{0, 1, -1, 3, 4, 5, 6, -1, 8, 9, 10}, ""},
		{[]int{0, 1, -1, 3, 4, 5, 6, -1, 9, 10, 11, 12}, "events are missing: indices run to 12, and 1 of them are not there, the first of which is 8"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 9}, "events are missing: indices run to 9, and 2 of them are not there, the first of which is 7"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 10}, ""},
		{[]int{0, 1, 4, 5}, ""},
		{[]int{4, 5, 6, 7, 8, 9, 10, 11, 13}, ""},
		{[]int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20}, ""},
	} {
		var b strings.Builder
		calls := 0
		for i, n := range c.indices {
			if n < 0 {
				fmt.Fprintf(&b, "{:index %d, :process :nemesis, :type :info, :f :kill, :value nil}\n", c.indices[i-1]+1)
				continue
			}
			fmt.Fprintf(&b, "{:index %d, :process 0, :type %s, :f :write, :value 1}\n", n, []string{":invoke", ":ok"}[calls%2])
			calls++
		}
		r := kit.CheckedText(t, b.String(), models.Spec{Name: "register"}, clew.Options{})
		if got := strings.Join(r.History.Warnings, "; "); got != c.want {
			t.Errorf("%v: %q", c.indices, got)
		}
	}
}

func TestHistoriesWithAGapAreWarnedAbout(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"edn-two-events-swallowed-by-a-string.edn", "index-gap-6-7-lost.edn"} {
		r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "register"}}, archive.Path(t, "turn4", "truth", file))
		const want = "events are missing: indices run to 11, and 2 of them are not there, the first of which is 6"
		if warnings := strings.Join(r.History.Warnings, "; "); warnings != want {
			t.Errorf("%s: %q", file, warnings)
		}
	}
}

// killed is a test.jepsen of a test that was killed before it had written any of its history.
func killed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(archive.Path(t, "turn4", "reading", "killed_run_log_has_ops_but_not_mentioned", "run", "test.jepsen"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run whose history was never written has what it printed.
func TestWhatARunPrintedIsReadIfItsHistoryWasNeverWritten(t *testing.T) {
	t.Parallel()
	const stamp = "2023-02-27 02:13:57,100{GMT}\tINFO\t[jepsen worker 0] jepsen.util: "
	const log = stamp + "0\t:invoke\t:read\tnil\n" + stamp + "0\t:ok\t:read\t1\n"
	const txt = "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n"
	zeros := strings.Repeat("\x00", 40)
	for _, c := range []struct {
		name          string
		files         map[string]string
		given         string
		verdict, file string
		warning       string
	}{
		{"no chunk", map[string]string{"test.jepsen": killed(t), "jepsen.log": log}, "test.jepsen", "not linearizable", "jepsen.log", "test.jepsen has nothing of the history; the jepsen.log beside it was read instead"},
		{"no header", map[string]string{"test.jepsen": zeros, "jepsen.log": log}, "test.jepsen", "not linearizable", "jepsen.log", "test.jepsen has nothing of the history; the jepsen.log beside it was read instead"},
		{"an empty history", map[string]string{"history.edn": "", "jepsen.log": log}, "history.edn", "not linearizable", "jepsen.log", "history.edn has no events; the jepsen.log beside it was read instead"},
		{"an empty vector", map[string]string{"history.edn": "[]", "history.txt": txt, "jepsen.log": log}, "history.edn", "linearizable", "history.txt", "history.edn has no events; the history.txt beside it was read instead"},
		{"an empty history and no chunk", map[string]string{"history.edn": "", "test.jepsen": killed(t), "jepsen.log": log}, "history.edn", "not linearizable", "jepsen.log", "history.edn has nothing of the history; the jepsen.log beside it was read instead"},
		{"nothing was printed", map[string]string{"history.edn": "", "jepsen.log": "2023-02-27 02:13:57,100{GMT}\tINFO\t[main] jepsen.cli: hello\n"}, "history.edn", "linearizable", "history.edn", "no operations"},
		{"a shorter history", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n", "history.txt": txt + "  :more\t:ok\n"}, "history.edn", "linearizable", "history.edn", "it has 1 events, but the history.txt beside it has 2: events may be missing"},
		{"a longer history", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n", "history.txt": ""}, "history.edn", "linearizable", "history.edn", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := written(t, c.files)
			for _, path := range []string{dir, filepath.Join(dir, c.given)} {
				r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "register"}.FromDefault()}, path)
				if r.History == nil {
					t.Errorf("%s: %s", path, r.Error)
					continue
				}
				warnings := strings.Join(r.History.Warnings, "; ")
				if r.Verdict.String() != c.verdict || filepath.Base(r.History.File) != c.file || !strings.Contains(warnings, c.warning) || c.warning == "" && warnings != "" {
					t.Errorf("%s: %v of %s, warnings %q", path, r.Verdict, r.History.File, warnings)
				}
			}
		})
	}
}

func TestTheLogOfAKilledRunIsRead(t *testing.T) {
	t.Parallel()
	path := archive.Path(t, "turn4", "reading", "killed_run_log_has_ops_but_not_mentioned")
	r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "id-generator"}}, path)
	if r.Verdict.String() != "not linearizable" || !strings.Contains(strings.Join(r.History.Warnings, ""), "jepsen.log beside it was read instead") {
		t.Errorf("%s, %q", r.Text(), r.History.Warnings)
	}
}

func TestATestWithoutAHeaderSaysSo(t *testing.T) {
	t.Parallel()
	path := archive.Path(t, "turn4", "reading", "test_jepsen_without_header_unclear_message", "test.jepsen")
	for _, err := range clew.CheckStore(context.Background(), clew.StoreOptions{}, path) {
		if err == nil || !strings.Contains(err.Error(), "test.jepsen") || !strings.Contains(err.Error(), "the header was never written") {
			t.Errorf("%v", err)
		}
	}
}

func TestAHistoryThatIsShorterThanWhatWasPrintedIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"store-edn-shorter-than-txt": "it has 6 events, but the history.txt beside it has 12: events may be missing",
		"store-edn-empty-beside-txt": "history.edn has no events; the history.txt beside it was read instead",
	} {
		r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "register"}}, archive.Path(t, "turn4", "truth", name))
		if got := strings.Join(r.History.Warnings, "; "); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
