package real_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/archive"
	"clew/internal/geometry"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func TestKnossosOwnHistoriesHaveItsVerdictAndFailingOp(t *testing.T) {
	t.Parallel()
	dir := archive.Path(t, "knossos")
	files := map[string]bool{}
	rows := archive.Table(t, filepath.Join(dir, "verdicts.tsv"), true)
	for _, row := range rows {
		file, model, verdict, failIndex, events := row[0], row[1], row[3], row[5], row[6]
		files[file] = true
		r, err := kit.CheckFile(filepath.Join(dir, file), kit.SpecOf(model))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got := kit.VerdictText(r); got != verdict {
			t.Errorf("%s with %s: %s, Knossos says %s", file, model, got, verdict)
		}
		if failIndex != "" && (r.Verdict != jepsen.Invalid || strconv.FormatInt(r.History.Index(r.FailEvent.OrNone()), 10) != failIndex) {
			t.Errorf("%s with %s: Knossos fails at %s, we do not:\n%s", file, model, failIndex, r.Text())
		}
		if strconv.Itoa(r.History.Events) != events {
			t.Errorf("%s: %d events, expected %s", file, r.History.Events, events)
		}
	}
	if len(rows) != 125 || len(files) != 122 {
		t.Errorf("%d rows on %d files; expected 125 on 122", len(rows), len(files))
	}
}

// elsewhere holds the contract's answer for the probes on which Knossos's two analyzers do not agree on a verdict:
// "true", "false", or a substring of the error.
var elsewhere = map[string]string{
	"c7": "false", "c9": "false", // the value of :info does not count
	"e3": "true", "e4": "true", "e5": "true", "e9": "true", // the value of :fail does not count either
	"e7":  "has no invocation",
	"f1":  "true", // a process may go on after its own :info
	"f2":  "comes after its own :info :write (index 1, line 2)",
	"g1":  "has no invocation",
	"g3":  "has no invocation",
	"h1":  "begins while its :invoke :write (index 0, line 2) is still open",
	"j2":  "true", // the nemesis is not a client
	"j3":  "true",
	"j4":  "its process is not an integer",
	"j5":  "its process is not an integer",
	"j6":  "its process is not an integer",
	"j8":  "true",
	"j9":  "its process is not an integer",
	"j10": "process 1.0's :ok :write (index 1): its process is not an integer",
	"j11": "true",
	"k6":  "register does not know :f :cas (index 3)",
	"k8":  "register does not know :f :cas (index 2)",
	"k9":  "expected [old new], found 7",
	"k12": "cas-register does not know :f :inc (index 1)",
	"k13": "expected [old new], found #{1 2}",
	"n2":  "true", // indices name ops, position orders them
	"n4":  "true",
	"n5":  "true",
	"r1":  `register does not know :f "write"`,
	"r2":  `the op has :type "invoke"; expected :invoke, :ok, :fail or :info`,
	"r3":  "the op has :type :foo; expected :invoke, :ok, :fail or :info",
	"r4":  "the op has no :type; expected :invoke, :ok, :fail or :info",
	"r5":  "register does not know :f nil",
	"r6":  "with a different :f; expected :read",
	"r7":  "with a different :f; expected :write",
	"r8":  "expected an op map, found a vector",
	"r9":  "has no :process",
	"t4":  "true", // :r and :w are understood
	"t5":  "true", // so is :read with a transaction
}

func TestProbesHaveKnossosVerdictWhereItsAnalyzersAgree(t *testing.T) {
	t.Parallel()
	dir := archive.Path(t, "knossos-probes")
	rows := archive.Table(t, filepath.Join(dir, "verdicts.tsv"), true)
	if len(rows) != 163 {
		t.Errorf("%d probes, expected 163", len(rows))
	}
	agreed := 0
	for _, row := range rows {
		id, model, what := row[0], row[1], row[2]
		spec := kit.SpecOf(model)
		spec.Knossos = true
		r, err := kit.CheckFile(filepath.Join(dir, id+"."+spec.Name+".edn"), spec)
		wgl, linear := knossosAnswer(t, row[3]), knossosAnswer(t, row[4])
		want, listed := elsewhere[id]
		if wgl.verdict == linear.verdict && wgl.verdict != "" {
			agreed++
			want = wgl.verdict
			if listed {
				t.Errorf("%s is listed, but Knossos's analyzers agree on it", id)
			}
		} else if !listed {
			t.Errorf("%s (%s): no expectation", id, what)
		}
		switch {
		case err != nil && (want == "true" || want == "false" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s (%s): error %v, expected %s", id, what, err, want)
		case err == nil && kit.VerdictText(r) != want:
			t.Errorf("%s (%s): %s, expected %s", id, what, kit.VerdictText(r), want)
		}
		// Knossos renumbers all indices if the first op has none: n3.
		if err == nil && wgl.verdict == "false" && wgl.hasIndex && id != "n3" && id != "j5" && r.History.Index(r.FailEvent.OrNone()) != wgl.index {
			t.Errorf("%s (%s): fails at %d, in Knossos at %d", id, what, r.History.Index(r.FailEvent.OrNone()), wgl.index)
		}
	}
	t.Logf("%d probes on which Knossos's analyzers agree", agreed)
}

type knossos struct {
	verdict  string // "true", "false" or ""
	index    int64
	hasIndex bool
}

func knossosAnswer(t *testing.T, text string) knossos {
	v := edn.NewValues()
	m, err := v.Parse([]byte(strings.TrimSpace(text)), edn.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	var k knossos
	if id, _ := v.Get(m, v.InternKeyword("v")); id == edn.True || id == edn.False {
		k.verdict = v.Text(id)
	}
	if op, ok := v.Get(m, v.InternKeyword("op")); ok {
		index, _ := v.Get(op, v.InternKeyword("index"))
		k.index, k.hasIndex = v.Int(index)
	}
	return k
}

func TestEtcdLogsHaveTheirExpectedVerdict(t *testing.T) {
	t.Parallel()
	dir := archive.Path(t, "porcupine", "etcd")
	rows := archive.Table(t, archive.Path(t, "porcupine", "etcd-expected.tsv"), false)
	for _, row := range rows {
		spec := models.Spec{Name: "cas-register", NilReadsExact: true, ObserveFailedCAS: true}
		r, err := kit.CheckFile(filepath.Join(dir, row[0]), spec)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := map[string]string{"Ok": "true", "Illegal": "false"}[row[1]]; kit.VerdictText(r) != want {
			t.Errorf("%s: %s, expected %s", row[0], kit.VerdictText(r), want)
		}
	}
	if len(rows) != 102 {
		t.Errorf("%d logs, expected 102", len(rows))
	}
}

func TestKeyValueHistoriesHaveTheVerdictInTheirName(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(archive.Path(t, "porcupine", "kv"), "*.txt"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, expected 6 (%v)", len(files), err)
	}
	for _, file := range files {
		r, err := kit.CheckFile(file, models.Spec{Name: "kv"})
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strconv.FormatBool(strings.HasSuffix(file, "-ok.txt")); kit.VerdictText(r) != want {
			t.Errorf("%s: %s, expected %s", file, kit.VerdictText(r), want)
		}
	}
}

func TestRedisStoreHasJepsensVerdictAndFailingOp(t *testing.T) {
	t.Parallel()
	results, err := filepath.Glob(filepath.Join(archive.Path(t, "redis-store"), "*", "*", "results.edn"))
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, expected 4 (%v)", len(results), err)
	}
	for _, file := range results {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v := edn.NewValues()
		m, err := v.ParseLenient(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := kit.CheckFile(filepath.Join(filepath.Dir(file), "history.edn"), models.Spec{Name: "register"})
		if err != nil {
			t.Error(err)
			continue
		}
		ours, err := v.Parse([]byte(r.EDN()), edn.Pos{})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, checker := range []string{"linear", "linear-wgl", "linear-competition"} {
			theirs, ok := v.Get(m, v.InternKeyword(checker))
			if !ok {
				continue
			}
			compared++
			for _, key := range []string{"valid?", "op", "previous-ok"} {
				a, hasA := v.Get(theirs, v.InternKeyword(key))
				b, hasB := v.Get(ours, v.InternKeyword(key))
				if hasA != hasB || v.Same(a) != v.Same(b) {
					t.Errorf("%s, %s of %s: %s, ours is %s", file, key, checker, v.Text(a), v.Text(b))
				}
			}
		}
		if compared == 0 {
			t.Errorf("%s: no linearizability result", file)
		}
	}
}

// TestOtherMonitorsHistoriesHaveTheVerdictInTheirName checks the files of other monitors' test suites, in their own
// text forms, by the fast path and by another engine.
func TestOtherMonitorsHistoriesHaveTheVerdictInTheirName(t *testing.T) {
	t.Parallel()
	files, fast := 0, 0
	for _, root := range []string{archive.Path(t, "linp"), archive.Path(t, "limo")} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			files++
			want := strconv.FormatBool(filepath.Base(filepath.Dir(path)) == "safe" || strings.HasPrefix(entry.Name(), "lin_"))
			h, err := clew.ReadFile(path, jepsen.Options{})
			if err != nil {
				t.Error(err)
				return nil
			}
			spec := models.Spec{}
			if spec.Name, err = models.Infer(h); err != nil {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			var first *report.Result
			for _, algorithm := range []string{"auto", "porcupine"} {
				r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: algorithm, Verify: clew.VerifyAlways})
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return nil
				}
				if first == nil {
					first = r
				}
				if kit.VerdictText(r) != want || r.Verdict == jepsen.Invalid && r.FailEvent != first.FailEvent {
					t.Errorf("%s: %s at event %d by %s, expected %s", path, kit.VerdictText(r), r.FailEvent.OrNone(), r.Analyzer, want)
				}
			}
			if strings.HasPrefix(first.Analyzer, "clew/fast-") {
				fast++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d of them by the fast path", files, fast)
	if files != 158 {
		t.Errorf("%d files, expected 158", files)
	}
}

func TestCoresOfInvalidHistoriesFailByThemselves(t *testing.T) {
	t.Parallel()
	byFastPath, ambiguous := 0, 0
	files := kit.InvalidHistories(t)
	for file, spec := range files {
		r, err := kit.CheckFile(file, spec)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteCore(&text); err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range []string{"auto", "porcupine", "fast"} {
			h, err := clew.Read(bytes.NewReader(text.Bytes()), "core of "+file, jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: algorithm})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.Verdict == jepsen.Invalid:
				if got, want := h.Index(c.FailEvent.OrNone()), r.History.Index(r.FailEvent.OrNone()); got != want {
					t.Errorf("%s: the core fails at %d by %s, the history at %d", file, got, algorithm, want)
				}
				if algorithm == "fast" {
					byFastPath++
				}
			case algorithm == "fast" && c.Cause == jepsen.Ambiguous && !strings.HasPrefix(r.Analyzer, "clew/fast-"):
				ambiguous++
			default:
				t.Errorf("%s: its core is %s by %s:\n%s", file, c.Verdict, algorithm, text.String())
			}
		}
	}
	t.Logf("%d invalid histories: all cores fail by porcupine, %d by the fast path, %d are ambiguous or of a model without one",
		len(files), byFastPath, ambiguous)
}

// TestPicturesOfRealFailures checks what a picture of a failure promises.
func TestPicturesOfRealFailures(t *testing.T) {
	t.Parallel()
	files := kit.InvalidHistories(t)
	for file, spec := range files {
		r, err := kit.CheckFile(file, spec)
		if err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := r.FirstFailing().WriteSVG(&svg); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if dir := os.Getenv("CLEW_PICTURES"); dir != "" { // to look at them
			name := filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file) + ".svg"
			if err := os.WriteFile(filepath.Join(dir, name), svg.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		p, err := geometry.Read(svg.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if p.Width > 1400 || p.Height > 900 || svg.Len() > 60_000 {
			t.Errorf("%s: %d x %d pixels, %d bytes", file, p.Width, p.Height, svg.Len())
		}
		for _, overlap := range p.Overlaps() {
			t.Errorf("%s: %s", file, overlap)
		}
		titles := strings.Join(p.Titles, "\n")
		for _, op := range append(r.FirstFailing().Named, r.History.OpOf[r.FailEvent.OrNone()]) {
			if name := r.History.Name(op); r.History.Invocation[op] < r.FailEvent.OrNone() && !strings.Contains(titles, name) {
				t.Errorf("%s: %s is not in it", file, name)
			}
		}
		if !slices.Contains(p.Classes, "wrong") {
			t.Errorf("%s: nothing is red", file)
		}
	}
	t.Logf("%d pictures", len(files))
}

func TestWitnessesOfValidHistoriesReplay(t *testing.T) {
	t.Parallel()
	dir := archive.Path(t, "knossos")
	for _, row := range archive.Table(t, filepath.Join(dir, "verdicts.tsv"), true) {
		if row[3] != "true" {
			continue
		}
		spec := kit.SpecOf(row[1])
		r, err := kit.CheckFile(filepath.Join(dir, row[0]), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := clew.Verify(r.History, spec, r.Witness); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}
