package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	histories "clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/outputs"
	"clew/internal/store"
)

// aBigStore makes a store with a number of tests: one in ten is in an archive, some are invalid, some cannot be read,
// some have warnings. It returns what to check.
func aBigStore(t *testing.T, tests, operations int) []string {
	t.Helper()
	archives := []string{"old.tar", "old.tar.gz", "old.zip", "older.zip"}
	packed := map[string]fstest.MapFS{}
	for i := range tests {
		path := fmt.Sprintf("test-%d/20250101T%06d.000Z/history.edn", i%7, i)
		var text bytes.Buffer
		kind := []gen.LongKind{gen.Linearizable, gen.Linearizable, gen.ImpossibleRead}[i%3]
		if _, err := gen.Long(&text, gen.LongOptions{Model: "register", Operations: operations, Processes: 5, Values: 5, Kind: kind, Seed: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		switch i % 23 {
		case 5:
			text.Truncate(text.Len() - 5)
		case 7:
			text.WriteString("{:process 0, :type :info, :f :read, :value nil}\n")
		case 9:
			text.Reset()
		}
		if i%10 == 3 {
			name := archives[i/10%len(archives)]
			if packed[name] == nil {
				packed[name] = fstest.MapFS{}
			}
			packed[name][path] = &fstest.MapFile{Data: text.Bytes()}
			continue
		}
		path = filepath.Join("store", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range packed {
		text, err := archived(name, files)
		if err != nil {
			t.Fatal(err)
		}
		putFile(t, name, text)
	}
	return append([]string{"store", "nowhere.edn"}, archives...)
}

// timeless returns an output without what differs from run to run.
func timeless(s string) string {
	return junitTime.ReplaceAllString(engineMs.ReplaceAllString(jsonMs.ReplaceAllString(s, `"ms":N`), "$1"), "")
}

var (
	jsonMs    = regexp.MustCompile(`"ms":[0-9.e-]+`)
	engineMs  = regexp.MustCompile(`(?m)(clew/[a-z-]+) +[0-9.]+$`)
	junitTime = regexp.MustCompile(` time="[0-9.]+"`)
)

// sameAsOne checks a list with and without shards, and compares the outputs.
func sameAsOne(t *testing.T, n []int, args ...string) {
	t.Helper()
	whole := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--shard-keys" })
	form := func(form string) (int, string, string) {
		status, stdout, stderr := clewRun(slices.Concat([]string{"check", "--output", form}, whole)...)
		return status, timeless(stdout), timeless(stderr)
	}
	status, json, stderr := form("json")
	wants := map[string]string{"json": json}
	for _, o := range outputs.Merge() {
		if o.For == outputs.Pipelines {
			_, wants[o.Name], _ = form(o.Name)
		}
	}
	if _, text, _ := form("text"); strings.Contains(text, "\n"+fmt.Sprint(strings.Count(json, "\n"))+" histories: ") {
		wants["text"] = text
	}
	shards := t.TempDir() // not among the histories
	for _, of := range n {
		var files []string
		for i := range of {
			flags := []string{"check", "--shard", fmt.Sprintf("%d/%d", i+1, of)}
			_, stdout, _ := clewRun(append(flags, args...)...)
			files = append(files, filepath.Join(shards, fmt.Sprintf("%d.jsonl", i)))
			putFile(t, files[i], stdout)
		}
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for form, want := range wants {
			gotStatus, stdout, gotStderr := clewRun(append([]string{"merge", "--output", form}, files...)...)
			if got := timeless(stdout); got != want || gotStatus != status {
				t.Errorf("%d shards, %s: status %d, want %d; %s", of, form, gotStatus, status, firstDifference(got, want))
			}
			if got := timeless(gotStderr); got != stderr {
				t.Errorf("%d shards, standard error: %s", of, firstDifference(got, stderr))
			}
		}
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// shardCounts returns 1 to 16, or some of them if the test must be quick.
func shardCounts(all bool) []int {
	if !all {
		return []int{1, 2, 7, 16}
	}
	var n []int
	for i := range 16 {
		n = append(n, i+1)
	}
	return n
}

func TestShardsAreTogetherWhatOneRunIs(t *testing.T) {
	t.Chdir(t.TempDir())
	long := os.Getenv("CLEW_LONG") != ""
	tests := 120
	if effort.Few() {
		tests = 60
	}
	if long {
		tests = 2000
	}
	sameAsOne(t, shardCounts(long), aBigStore(t, tests, 40)...)
}

func TestShardsOfRealHistoriesAreTogetherWhatOneRunIs(t *testing.T) {
	root := histories.Path(t)
	t.Chdir(t.TempDir())
	paths := []string{filepath.Join(root, "redis-store"), filepath.Join(root, "knossos", "cas-register")}
	if os.Getenv("CLEW_LONG") != "" {
		paths = []string{root, filepath.Join(root, "knossos"), filepath.Join(root, "knossos-probes")}
	}
	sameAsOne(t, shardCounts(os.Getenv("CLEW_LONG") != ""), paths...)
}

// keyedText returns a history of many keys, some of which fail.
func keyedText(r *rand.Rand, keys int) string {
	var b strings.Builder
	bad := r.IntN(4)
	for k := range keys {
		read := 1
		if bad > 0 && r.IntN(keys) < bad {
			read = 2
		}
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :write, :value [%d 1]}\n{:process 0, :type :ok, :f :write, :value [%[1]d 1]}\n", k)
		fmt.Fprintf(&b, "{:process 1, :type :invoke, :f :read, :value [%d nil]}\n{:process 1, :type :ok, :f :read, :value [%[1]d %d]}\n", k, read)
	}
	return b.String()
}

func TestKeysInShardsAreTogetherWhatOneRunIs(t *testing.T) {
	t.Chdir(t.TempDir())
	r := gen.Rand(4)
	for i := range 12 {
		putFile(t, fmt.Sprintf("h%d.edn", i), keyedText(r, 1+r.IntN(30)))
	}
	putFile(t, "torn.edn", "{:process 0")
	putFile(t, "none.edn", write)
	sameAsOne(t, shardCounts(!effort.Few()), "--independent", "--model", "register", "--shard-keys", ".")
	sameAsOne(t, []int{5}, "--independent", "--model", "register", "--verify", "--shard-keys", "h1.edn")
	sameAsOne(t, []int{5}, "--independent", "--model", "register", ".")
	sameAsOne(t, []int{3}, "--independent", "--model", "register", "--algorithm", "hitting", "--time-limit", "10m", "--shard-keys", ".")
}

// TestAShardThatIsKilledIsMissedByName: a shard leaves no trailer after a signal, whether or not it sees the signal.
func TestAShardThatIsKilledIsMissedByName(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "easy.edn", write)
	putFile(t, "hard.edn", hard(60))
	for _, signal := range append([]os.Signal{os.Kill}, signals...) {
		out, err := os.Create("cut.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("clew", "check", "--shard", "1/1", "easy.edn", "hard.edn")
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		effort.Await(t, "the first line is there", func() bool { // and the second will not come
			info, err := out.Stat()
			return err == nil && info.Size() > 0
		})
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		out.Close()
		status, stdout, stderr := clewRun("merge", "cut.jsonl")
		if want := "clew: cut.jsonl: shard 1/1 was cut short after "; status != exitUsage || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: status %d\n%s%s", signal, status, stdout, stderr)
		}
	}
}

// TestAShardThatIsKilledAtAnyMomentIsMissedByName kills a shard at any moment, including before its first line and at
// its last one.
func TestAShardThatIsKilledAtAnyMomentIsMissedByName(t *testing.T) {
	t.Chdir(t.TempDir())
	paths := aBigStore(t, 60, 100)
	args := func(i int) []string { return append([]string{"check", "--shard", fmt.Sprintf("%d/3", i)}, paths...) }
	for _, i := range []int{1, 3} {
		_, stdout, _ := clewRun(args(i)...)
		putFile(t, fmt.Sprintf("%d.jsonl", i), stdout)
	}
	run := func(life time.Duration) (killed bool, took time.Duration) {
		out, err := os.Create("2.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd := exec.Command("clew", args(2)...)
		cmd.Stdout = out
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(life, func() { cmd.Process.Kill() }).Stop()
		cmd.Wait()
		return cmd.ProcessState.ExitCode() == -1, time.Since(start)
	}
	merge := func() (status int, stdout, stderr string) { return clewRun("merge", "1.jsonl", "2.jsonl", "3.jsonl") }
	_, whole := run(time.Hour)
	wantStatus, want, _ := merge()
	if wantStatus != exitInvalid {
		t.Fatalf("status %d\n%s", wantStatus, want)
	}
	r, kills, begun := gen.Rand(5), 0, 0
	for range 12 {
		killed, _ := run(time.Duration(r.Float64() * float64(whole)))
		status, stdout, stderr := merge()
		switch {
		case status == wantStatus && timeless(stdout) == timeless(want): // it was quicker, or had written its last line
			continue
		case !killed:
			t.Errorf("it has ended: status %d; %s", status, firstDifference(timeless(stdout), timeless(want)))
			continue
		case status != exitUsage || stdout != "" || !strings.Contains(stderr, "shard 2/3") || !strings.HasPrefix(stderr, "clew: 2.jsonl"):
			t.Errorf("status %d\n%s%s", status, stdout, stderr)
		}
		kills++
		if text, err := os.ReadFile("2.jsonl"); err == nil && len(text) > 0 {
			begun++
		}
	}
	t.Logf("killed %d times, %d of them after its first line", kills, begun)
}

// TestTheReadyFilesCheckAStore runs the scripts of docs/scale, as far as they need only a shell.
func TestTheReadyFilesCheckAStore(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs", "scale"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "\n4 histories: 2 valid (2 vacuous), 1 invalid, 0 unknown, 1 unreadable\n"
	sh := func(env []string, args ...string) string {
		cmd := exec.Command("sh", args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return err.Error()
		}
		return string(out) + fmt.Sprint(cmd.ProcessState.ExitCode())
	}
	t.Chdir(t.TempDir())
	store := fstest.MapFS{
		"a store/1/history.edn": {Data: []byte(write)}, "a store/2/history.edn": {Data: []byte("{")},
		"a store/3/history.edn": {Data: []byte(many(2))}, "a store/4/history.edn": {Data: []byte(write)},
	}
	if err := os.CopyFS(".", store); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("shards", 0o777); err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	for task := 1; task <= 16; task++ {
		tasks.Go(func() {
			if got := sh([]string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", task)}, filepath.Join(docs, "slurm.sh"), "a store"); got != "0" {
				t.Errorf("task %d: %s", task, got)
			}
		})
	}
	tasks.Wait()
	if got := sh(nil, "-c", "clew merge shards/*.jsonl"); !strings.HasSuffix(got, want+"1") {
		t.Error(got)
	}
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("GNU parallel is not installed")
	}
	// A shard that is torn or missing is checked again.
	if err := os.RemoveAll("shards"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("shards", 0o777); err != nil {
		t.Fatal(err)
	}
	putFile(t, "shards/2.jsonl", "torn")
	if got := sh(nil, filepath.Join(docs, "parallel.sh"), "3", "a store"); !strings.HasSuffix(got, want+"1") {
		t.Error(got)
	}
}

// TestPartsOfHistoriesThatDifferAreNotMerged: two stores differ only where the fingerprint of their files does not
// look. Each is invalid, and in one half of each nothing fails.
func TestPartsOfHistoriesThatDifferAreNotMerged(t *testing.T) {
	t.Chdir(t.TempDir())
	sound, other := "", 0
	for k := range 400 {
		if (store.Shard{I: 1, Of: 2}).Has(fmt.Sprint("h.edn ", k+100)) != (store.Shard{I: 1, Of: 2}).Has("h.edn 200") && k > 100 && k < 300 {
			other = k + 100
		}
		sound += fmt.Sprintf("{:process 0, :type :invoke, :f :write, :value [%d 1]}\n{:process 0, :type :ok, :f :write, :value [%[1]d 1]}\n", k+100)
		sound += fmt.Sprintf("{:process 1, :type :invoke, :f :read, :value [%d nil]}\n{:process 1, :type :ok, :f :read, :value [%[1]d 1]}\n", k+100)
	}
	part := func(of, shard string, key int) {
		text := strings.Replace(sound, fmt.Sprintf(":ok, :f :read, :value [%d 1]", key), fmt.Sprintf(":ok, :f :read, :value [%d 2]", key), 1)
		putFile(t, "h.edn", text)
		_, stdout, stderr := clewRun("check", "--independent", "--model", "register", "--shard-keys", "--shard", shard+"/2", "h.edn")
		if stderr != "" {
			t.Fatal(stderr)
		}
		putFile(t, of+shard+".jsonl", stdout)
	}
	for _, shard := range []string{"1", "2"} {
		part("a", shard, 200)
		part("b", shard, other)
	}
	for _, of := range []string{"a", "b"} {
		if status, _, stderr := clewRun("merge", of+"1.jsonl", of+"2.jsonl"); status != exitInvalid {
			t.Errorf("%s: status %d, %s", of, status, stderr)
		}
	}
	for _, other := range [][2]string{{"a1.jsonl", "b2.jsonl"}, {"b1.jsonl", "a2.jsonl"}} {
		const want = "clew: h.edn: shards 1/2 and 2/2 read different histories under this name (SHA-256 "
		if status, stdout, stderr := clewRun("merge", other[0], other[1]); status != exitUsage || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%v: status %d\n%s%s", other, status, stdout, stderr)
		}
	}
}

// TestShardsOfStoresThatDifferAreNotMerged: the histories are the same, and something that decides how they count
// differs.
func TestShardsOfStoresThatDifferAreNotMerged(t *testing.T) {
	const star = "def write(state, op):\n    return op.value\n\nops = {\"write\": write}\n"
	for what, c := range map[string]struct{ models, file, text string }{
		"an empty test.jepsen":     {`{"*" {}}`, "st/t/1/test.jepsen", ""},
		"results beside a history": {`{"*" {}}`, "st/t/1/results.edn", "{:valid? true}"},
		"a model file":             {`{"*" {:model-file "m.star"}}`, "m.star", "init = 1\n" + star},
	} {
		t.Chdir(t.TempDir())
		for _, run := range []string{"1", "2", "3", "4"} {
			if err := os.MkdirAll("st/t/"+run, 0o777); err != nil {
				t.Fatal(err)
			}
			putFile(t, "st/t/"+run+"/history.edn", write)
		}
		putFile(t, "m.star", "init = 0\n"+star)
		putFile(t, "models.edn", c.models)
		shard := func(i string) {
			_, stdout, _ := clewRun("check", "--models", "models.edn", "--shard", i+"/2", "st")
			putFile(t, i+".jsonl", stdout)
		}
		shard("1")
		shard("2")
		if status, _, stderr := clewRun("merge", "1.jsonl", "2.jsonl"); status != exitValid {
			t.Fatalf("%s: status %d before it\n%s", what, status, stderr)
		}
		putFile(t, c.file, c.text)
		shard("2")
		const want = "it belongs to another store"
		if status, stdout, stderr := clewRun("merge", "1.jsonl", "2.jsonl"); status != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d\n%s%s", what, status, stdout, stderr)
		}
	}
}
