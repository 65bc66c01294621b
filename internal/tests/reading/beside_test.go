package reading_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/tests/kit"
	"clew/jepsen"
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
		as, warning      string
	}{
		{name: "nothing says it", file: "other.log", text: "", verdict: "not linearizable"},
		{name: "a vector", file: "jepsen.log", text: log + "{:consistency-models [:read-uncommitted]}\n", verdict: "linearizable", by: "jepsen.log", level: models.ReadUncommitted},
		{name: "a set of which one implies the other", file: "jepsen.log", text: log + "{:consistency-models #{:read-committed :snapshot-isolation}}\n", verdict: "linearizable", by: "jepsen.log", level: models.SnapshotIsolation},
		{name: "among objects", file: "jepsen.log", text: log + object + ":isolation :serializable\n :nodes [\"n1\"]}\n\n2024-09-19 14:34:30,106{GMT}\tINFO\t[main] x: {:isolation :read-committed}\n", verdict: "linearizable", by: "jepsen.log", level: models.Serializable},
		{name: "the level that is expected comes before that of the database", file: "jepsen.log", text: log + object + ":isolation :serializable\n :expected-consistency-model :snapshot-isolation}\n", verdict: "linearizable", by: "jepsen.log", level: models.SnapshotIsolation},
		{name: "a string", file: "test.edn", text: `{:consistency-model "serializable"}`, verdict: "linearizable", by: "test.edn", level: models.Serializable},
		{name: "the strictest", file: "test.edn", text: `{:consistency-models [:strict-serializable]}`, verdict: "not linearizable", by: "test.edn", level: models.StrictSerializable},
		{name: "one that is not known", file: "test.edn", text: `{:consistency-models [:causal]}`, verdict: "undecided", warning: "according to test.edn its test asked for causal, which clew does not decide; only strict-serializable would imply it"},
		{name: "one that is known beside it", file: "test.edn", text: `{:consistency-models [:causal :read-committed]}`, verdict: "linearizable", by: "test.edn", level: models.ReadCommitted, as: "read-committed and causal, judged as read-committed", warning: "read-committed and causal, which clew does not decide; without Options.Consistency it decides read-committed, which that implies"},
		{name: "one that implies a level", file: "test.edn", text: `{:consistency-models [:monotonic-atomic-view]}`, verdict: "linearizable", by: "test.edn", level: models.ReadCommitted, as: "monotonic-atomic-view, judged as read-committed", warning: "monotonic-atomic-view, which clew does not decide"},
		{name: "one by another name", file: "test.edn", text: `{:consistency-models [:repeatable-read]}`, verdict: "linearizable", by: "test.edn", level: models.Serializable, as: "repeatable-read, judged as serializable"},
		{name: "two maps in a log that differ", file: "jepsen.log", text: log + "{:isolation :serializable}\n" + log + "{:isolation :snapshot-isolation}\n", verdict: "not linearizable",
			warning: "about its test: it asked for serializable according to jepsen.log, and for snapshot-isolation according to jepsen.log; clew decides strict-serializable"},
		{name: "two maps in a log that agree", file: "jepsen.log", text: log + "{:isolation :serializable}\n" + log + "{:consistency-models [:serializable]}\n", verdict: "linearizable", by: "jepsen.log", level: models.Serializable},
		{name: "a map that cannot be read", file: "test.edn", text: `{:consistency-models [:causal`, verdict: "not linearizable", warning: "what test.edn says of the test is not used: it cannot be read: "},
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
				if c.by != "" && !strings.Contains(r.Text(), "the test asked for "+cmp.Or(c.as, string(c.level))+" (according to "+c.by+")") {
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
		if warnings := strings.Join(r.History.Warnings, "; "); r.Verdict.String() != "not linearizable" || !strings.Contains(warnings, "the files beside it contradict each other about its test: it asked for ") {
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
		{[]int{0, 1, 2, 3, 4, 5, 6, 10}, "events are missing: indices run to 10, and 3 of them are not there, the first of which is 7"},
		{[]int{0, 1, 4, 5}, "events are missing: indices run to 5, and 2 of them are not there, the first of which is 2"},
		{[]int{0, 1, 2, 9}, ""}, // most are missing
		{[]int{0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 23, 24, 26, 27, 28}, ""}, // as if the nemesis had been left out
		{[]int{0, 2, 3, 5, 6, 8, 9, 11, 12, -1, 15, 17, 18, 20, 21, 23, 24, 26, 27, 29}, ""}, // as if a key had been left out
		{many(9), ""},
		{append(many(9), -1), "events are missing: indices run to 50, and 9 of them are not there, the first of which is 3"},
		{many(8), "events are missing: indices run to 49, and 8 of them are not there, the first of which is 3"},
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

// many returns the indices from 0 to 49 with so many gaps.
func many(gaps int) (indices []int) {
	for next := range 50 {
		if gaps > 0 && next%4 == 3 {
			gaps--
			continue
		}
		indices = append(indices, next)
	}
	return indices
}

// A core that clew has written has gaps, and lacks nothing.
func TestACoreLacksNothing(t *testing.T) {
	t.Parallel()
	const core = `{:f :write, :index 0, :process 0, :type :invoke, :value 1}
{:f :write, :index 1, :process 0, :type :ok, :value 1}
{:f :read, :index 4, :process 0, :time 7, :type :invoke, :value nil}
{:f :read, :index 5, :process 0, :time 8, :type :ok, :value 2}
`
	r := kit.CheckedText(t, core, models.Spec{}, clew.Options{})
	if r.Verdict != jepsen.Invalid || len(r.History.Warnings) > 0 {
		t.Errorf("%v, %q", r.Verdict, r.History.Warnings)
	}
	var again bytes.Buffer
	if err := r.WriteCore(&again); err != nil {
		t.Fatal(err)
	}
	if r := kit.CheckedText(t, again.String(), models.Spec{}, clew.Options{}); len(r.History.Warnings) > 0 {
		t.Errorf("%q", r.History.Warnings)
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
	const nemesis = "{:process :nemesis, :type :info, :f :kill, :value nil}\n"
	const txtAsEDN = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
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
		{"a shorter history beside what cannot be read", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n", "history.txt": txt + "  :more\t:ok\n"}, "history.edn", "linearizable", "history.edn", "it has 1 events, but the history.txt beside it has 2: events may be missing"},
		{"a shorter history", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n", "history.txt": txt}, "history.edn", "linearizable", "history.txt", "history.edn is cut off: it has 1 events of 2; the history.txt beside it was read instead"},
		{"a shorter history than a log", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :read, :value nil}\n", "jepsen.log": log}, "history.edn", "not linearizable", "jepsen.log", "history.edn is cut off: it has 1 events of 2; the jepsen.log beside it was read instead"},
		{"a log of another run", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :write, :value 1}\n", "jepsen.log": log}, "history.edn", "linearizable", "history.edn", "the jepsen.log beside it has 2 events, and it has 1, which are not all among them: they are of different runs"},
		{"a log without the nemesis", map[string]string{"history.edn": nemesis + "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value nil}\n", "jepsen.log": strings.ReplaceAll(log, "1\n", "nil\n")}, "history.edn", "linearizable", "history.edn", ""},
		{"a log with the nemesis", map[string]string{"history.edn": "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value nil}\n", "jepsen.log": stamp + ":nemesis\t:info\t:kill\tnil\n" + strings.ReplaceAll(log, "1\n", "nil\n")}, "history.edn", "linearizable", "history.edn", ""},
		{"a copy that is the same", map[string]string{"history.edn": txtAsEDN, "history.edn.gz": gzipped(txtAsEDN)}, "history.edn", "linearizable", "history.edn", ""},
		{"a copy with other blanks", map[string]string{"history.edn": txtAsEDN, "history.edn.gz": gzipped("\n" + txtAsEDN)}, "history.edn", "linearizable", "history.edn", ""},
		{"a copy that is longer", map[string]string{"history.edn": txtAsEDN[:strings.Index(txtAsEDN, "\n")], "history.edn.gz": gzipped(txtAsEDN)}, "history.edn", "linearizable", "history.edn.gz", "history.edn is cut off: it has 1 events of 2; the history.edn.gz beside it was read instead"},
		{"a copy that is shorter", map[string]string{"history.edn": txtAsEDN, "history.edn.gz": gzipped(txtAsEDN[:strings.Index(txtAsEDN, "\n")])}, "history.edn", "linearizable", "history.edn", "it has 2 events, but the history.edn.gz beside it has only 1 of them"},
		{"a copy of another history", map[string]string{"history.edn": txtAsEDN, "history.edn.gz": gzipped(strings.ReplaceAll(txtAsEDN, "1", "2"))}, "history.edn", "linearizable", "history.edn", "which are not all among them: they are of different runs"},
		{"a copy that cannot be read", map[string]string{"history.edn": txtAsEDN, "history.edn.gz": "no gzip"}, "history.edn", "linearizable", "history.edn", "the history.edn.gz beside it has another text, and cannot be read"},
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
				verdict := c.verdict
				if path == dir && r.History.Operations() == 0 {
					verdict = "undecided" // a run of a store without operations is not judged
				}
				if r.Verdict.String() != verdict || filepath.Base(r.History.File) != c.file || !strings.Contains(warnings, c.warning) || c.warning == "" && warnings != "" {
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
		"store-edn-shorter-than-txt":  "history.edn is cut off: it has 6 events of 12; the history.txt beside it was read instead",
		"store-edn-and-edn-gz-differ": "the history.edn.gz beside it has 12 events, and it has 12, which are not all among them: they are of different runs, or one of them is damaged",
		"store-edn-empty-beside-txt":  "history.edn has no events; the history.txt beside it was read instead",
	} {
		r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "register"}}, archive.Path(t, "turn4", "truth", name))
		if got := strings.Join(r.History.Warnings, "; "); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// gzipped returns a compressed text.
func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// A history of two values that each of some results go with, or do not.
const fromThree = `{:index 0, :time 10, :process 0, :type :invoke, :f :write, :value 1}
{:index 1, :time 11, :process 0, :type :ok, :f :write, :value 1}
{:index 2, :time 12, :process 1, :type :invoke, :f :cas, :value [1 2]}
{:index 3, :time 13, :process 1, :type :ok, :f :cas, :value [1 2]}
`

// Results of another run do not decide, whatever they have in common with the history.
func TestResultsOfAnotherRunAreNotUsed(t *testing.T) {
	t.Parallel()
	const model = `:configs ({:model #knossos.model.CASRegister{:value 3}, :last-op nil, :pending []})`
	for _, c := range []struct {
		name, results string
		used          bool
	}{
		{"nothing is named", `{:valid? true, ` + model + `}`, true},
		{"an operation that is there", `{:valid? false, ` + model + `, :op {:process 1, :type :ok, :f :cas, :value [1 2], :index 3, :time 13}}`, true},
		{"without an index", `{:valid? false, ` + model + `, :op {:process 1, :type :ok, :f :cas, :value [1 2]}}`, true},
		{"an invocation with what it returned", `{:valid? true, ` + model + `, :last-op {:process 1, :type :invoke, :f :cas, :value [1 2], :index 2}}`, true},
		{"a record", `{:valid? false, ` + model + `, :op #jepsen.history.Op{:process 1, :type :ok, :f :cas, :value (1 2), :index 3}}`, true},
		{"another value", `{:valid? false, ` + model + `, :op {:process 1, :type :ok, :f :cas, :value [1 3], :index 3}}`, false},
		{"another time", `{:valid? false, ` + model + `, :op {:process 1, :type :ok, :f :cas, :value [1 2], :index 3, :time 14}}`, false},
		{"another index", `{:valid? false, ` + model + `, :op {:process 1, :type :ok, :f :cas, :value [1 2], :index 1}}`, false},
		{"another value of the last operation", `{:valid? true, ` + model + `, :last-op {:process 1, :type :ok, :f :cas, :value [1 3], :index 3}}`, false},
		{"another value on a path", `{:valid? true, ` + model + `, :final-paths ([{:op {:process 0, :type :ok, :f :write, :value 7, :index 1}, :model {:value 7}}])}`, false},
		{"another value of an example", `{:linear {:valid? true, ` + model + `}, :exceptions {:exceptions ({:example {:process 0, :type :ok, :f :write, :value 7, :index 1}})}}`, false},
		{"the same number of operations", `{:linear {:valid? true, ` + model + `}, :stats {:count 2, :ok-count 2, :fail-count 0, :info-count 0, :by-f {:write {:count 1, :ok-count 1, :fail-count 0, :info-count 0}}}}`, true},
		{"another number of operations", `{:linear {:valid? true, ` + model + `}, :stats {:count 3, :ok-count 3, :fail-count 0, :info-count 0, :by-f {}}}`, false},
		{"another number of writes", `{:linear {:valid? true, ` + model + `}, :under-any-name {:count 2, :ok-count 2, :fail-count 0, :info-count 0, :by-f {:write {:count 2, :ok-count 2, :fail-count 0, :info-count 0}}}}`, false},
		{"cut off", `{:valid? true, ` + model, false},
		{"numbers that do not add up", `{:linear {:valid? true, ` + model + `}, :stats {:count 3, :ok-count 2, :fail-count 0, :info-count 0, :by-f {}}}`, true},
	} {
		dir := written(t, map[string]string{"history.edn": fromThree, "results.edn": c.results})
		r := checkedFolder(t, clew.StoreOptions{}, filepath.Join(dir, "history.edn"))
		told := strings.Contains(strings.Join(r.History.Record().Damage, "; "), "the results in results.edn are not used")
		if used := r.Init == "3"; used != c.used || told == c.used {
			t.Errorf("%s: from %q, %q", c.name, r.Init, r.History.Warnings)
		}
	}
}

// Results of keys name operations without their keys.
func TestResultsOfKeysNameOperationsWithoutTheirKeys(t *testing.T) {
	t.Parallel()
	keyed := strings.NewReplacer(":value 1", ":value [:k 1]", ":value [1 2]", ":value [:k [1 2]]").Replace(fromThree)
	for value, used := range map[string]bool{"[1 2], :index 3": true, "[:k [1 2]], :index 3": true, "[1 3], :index 3": false, "[:j [1 2]], :index 3": false,
		"[1 2], :index 1, :time 13": true, "[1 2], :index 1, :time 12": true, "[1 2], :index 3, :time 14": false, "[1 2], :index 1": false} {
		results := `{:results {:k {:valid? false, :configs ({:model #knossos.model.CASRegister{:value 3}, :last-op nil, :pending []}), :op {:process 1, :type :ok, :f :cas, :value ` + value + `}}}, :failures [:k]}`
		dir := written(t, map[string]string{"history.edn": keyed, "results.edn": results})
		if r := checkedFolder(t, clew.StoreOptions{}, filepath.Join(dir, "history.edn")); (r.Keys != nil) != used {
			t.Errorf("%s: %d keys, %q", value, len(r.Keys), r.History.Warnings)
		}
	}
}

// A map of another test gives no level.
func TestTheMapOfAnotherTestIsNotUsed(t *testing.T) {
	t.Parallel()
	const asks = ":consistency-models [:serializable]"
	const stamp = "2024-09-19 14:34:30,106{GMT}\tINFO\t[main] "
	logged := func(value string) string {
		return stamp + "jepsen.core: Running test:\n{:name \"a\" " + asks + "}\n\n" + stamp + "jepsen.util: 0\t:invoke\t:txn\t[[:w 1 " + value + "]]\n" + stamp + "jepsen.util: 0\t:ok\t:txn\t[[:w 1 " + value + "]]\n"
	}
	for _, c := range []struct {
		name, folder string
		files        map[string]string
		used         bool
	}{
		{"the same start", "a/20240919T143430.106Z", map[string]string{"test.edn": `{:name "b" :start-time "20240919T143430.106Z" ` + asks + `}`}, true},
		{"the same start in another zone", "a/20240919T163430.106+0200", map[string]string{"test.edn": `{:start-time #object[org.joda.time.DateTime "0x1" "2024-09-19T14:34:30.106Z"] ` + asks + `}`}, true},
		{"another start", "a/20240919T143430.106Z", map[string]string{"test.edn": `{:name "a" :start-time "20240919T143430.107Z" ` + asks + `}`}, false},
		{"the name of the folder", "a-b/20240919T143430.106Z", map[string]string{"test.edn": `{:name "A b" ` + asks + `}`}, true},
		{"another name", "a/20240919T143430.106Z", map[string]string{"test.edn": `{:name "b" ` + asks + `}`}, false},
		{"another name than the log", "r", map[string]string{"test.edn": `{:name "b" ` + asks + `}`, "jepsen.log": logged("1")}, false},
		{"another name than the log, and only one asks", "r", map[string]string{"test.edn": `{:name "b"}`, "jepsen.log": logged("1")}, false},
		{"the same name", "r", map[string]string{"test.edn": `{:name "a"}`, "jepsen.log": logged("1")}, true},
		{"a log of this history", "r", map[string]string{"jepsen.log": logged("1")}, true},
		{"a log of another history", "r", map[string]string{"jepsen.log": logged("2")}, false},
		{"a log that begins with zeros", "r", map[string]string{"jepsen.log": "\x00\x00\n" + logged("1")}, false},
		{"a history in the map", "r", map[string]string{"test.edn": `{` + asks + ` :history [{:index 0 :process 0 :type :invoke :f :txn :value [[:w 1 1]]}]}`}, true},
		{"another history in the map", "r", map[string]string{"test.edn": `{` + asks + ` :history [{:index 0 :process 0 :type :invoke :f :txn :value [[:w 1 2]]}]}`}, false},
	} {
		files := map[string]string{c.folder + "/history.edn": staleTxn}
		for name, text := range c.files {
			files[c.folder+"/"+name] = text
		}
		r := checkedFolder(t, clew.StoreOptions{}, filepath.Join(written(t, files), c.folder, "history.edn"))
		used := r.Levels != nil && r.Levels.AskedBy != ""
		if used != c.used || used == (len(r.History.Warnings) > 0) {
			t.Errorf("%s: %v, %q", c.name, r.Levels, r.History.Warnings)
		}
	}
}

// The initial value of a test map counts where nothing else says one.
func TestTheTestMapSaysTheInitialValue(t *testing.T) {
	t.Parallel()
	const reads = "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n" +
		"{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	dir := written(t, map[string]string{"history.edn": reads, "test.edn": "{:initial-value 7}"})
	r := checkedFolder(t, clew.StoreOptions{}, dir)
	if got := r.Reading().Init; r.Verdict != jepsen.Valid || got.Value != "7" || got.Source != report.Test || r.ToldBy != "test.edn" {
		t.Errorf("%v %v by %q", r.Verdict, got, r.ToldBy)
	}
	if r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "register", Init: "8"}}, dir); r.Verdict != jepsen.Invalid {
		t.Errorf("%v although the caller said another value", r.Verdict)
	}
	for _, says := range []string{"{:initial-value 7 :name \"a\"}", "{:initial-value 8}"} {
		dir := written(t, map[string]string{"history.edn": reads, "test.edn": says, "jepsen.log": "jepsen.core: Running test:\n{:initial-value 7 :name \"b\"}\n"})
		if got := checkedFolder(t, clew.StoreOptions{}, dir).Reading().Init; got.Source == report.Test {
			t.Errorf("%s: %v", says, got)
		}
	}
}

// The accounts and the sum that a test map gives leave only some initial states of a bank, and fix no balance.
func TestTheTestMapSaysTheSumOfABank(t *testing.T) {
	t.Parallel()
	const reads = `{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value {0 5, 1 15}}
{:process 0, :type :invoke, :f :transfer, :value {:from 1, :to 0, :amount 3}}
{:process 0, :type :ok, :f :transfer, :value {:from 1, :to 0, :amount 3}}
`
	transfers := reads[strings.Index(reads, "\n{:process 0, :type :invoke, :f :transfer")+1:]
	for _, c := range []struct {
		history, says string
		verdict       jepsen.Verdict
		told          string
	}{
		{reads, `{}`, jepsen.Unknown, ""},
		{reads, `{:accounts [0 1], :total-amount 20}`, jepsen.Unknown, "{:accounts [0 1], :total-amount 20}"},
		{reads, `{:accounts [0 1], :total-amount 21}`, jepsen.Invalid, "{:accounts [0 1], :total-amount 21}"},
		{reads, `{:accounts [1 2], :total-amount 20}`, jepsen.Invalid, "{:accounts [1 2], :total-amount 20}"},
		{reads, `{:accounts ["0" "1"], :total-amount 20}`, jepsen.Unknown, `{:accounts ["0" "1"], :total-amount 20}`},
		{reads, `{:accounts [0 1]}`, jepsen.Unknown, ""},
		{transfers, `{:accounts [0 1], :total-amount 20}`, jepsen.Unknown, "{:accounts [0 1], :total-amount 20}"},
		{transfers, `{:accounts [0 1], :total-amount 2}`, jepsen.Unknown, "{:accounts [0 1], :total-amount 2}"},
	} {
		dir := written(t, map[string]string{"history.edn": c.history, "test.edn": c.says})
		r := checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Name: "bank"}}, dir)
		if got := r.Reading().Test; r.Verdict != c.verdict || got.Value != c.told || (got.Source == report.Test) != (c.told != "") {
			t.Errorf("%s: %v (%s %s), %v", c.says, r.Verdict, r.Cause, r.Explanation, got)
		}
	}
}
