package pipeline_test

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"clew"
	"clew/contrib/beam/pipeline"
	"clew/edn"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
	"clew/report"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	pipeline.Register(&models.Definition{Name: "poisoned", Fs: ":read, :write", About: "a register whose step panics",
		New: func(*models.Binding) (models.Reader, error) { return poisoned{}, nil }})
	ptest.MainWithDefault(m, "prism")
}

// poisoned is a model that panics when a poisoned value is read.
type poisoned struct{}

func (poisoned) Read(o models.Operation) (models.Op, bool, error) {
	if o.Value().String() == "13" {
		panic("thirteen")
	}
	return models.Op{}, true, nil
}
func (poisoned) Init() models.State { return models.State{0} }
func (poisoned) Step(to []models.State, s models.State, _ models.Op) []models.State {
	return append(to, s)
}
func (poisoned) Mutates(models.Op) bool             { return true }
func (poisoned) Why(models.State, models.Op) string { return "" }
func (poisoned) Record(models.State) edn.Value      { return edn.Value{} }
func (poisoned) Traits() *models.Traits             { return &models.Traits{} }

// checked returns the lines of a job over a folder, by file, and its summary.
func checked(t *testing.T, o pipeline.Options) (map[string]report.Line, pipeline.Summary) {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := pipeline.CheckInputs(t.Context(), o.Inputs); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	output, summary := filepath.Join(dir, "lines.json"), filepath.Join(dir, "summary.json")
	p, s := beam.NewPipelineWithRoot()
	pipeline.Write(s, pipeline.Check(s, o), output, summary)
	ptest.RunAndValidate(t, p)
	f, err := os.Open(output)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := map[string]report.Line{}
	for in := bufio.NewScanner(f); in.Scan(); {
		var l report.Line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if _, twice := lines[l.File]; twice {
			t.Errorf("%s has two lines", l.File)
		}
		l.Ms = 0
		lines[l.File] = l
	}
	text, err := os.ReadFile(summary)
	var sum pipeline.Summary
	if err := errors.Join(err, json.Unmarshal(text, &sum)); err != nil {
		t.Fatal(err)
	}
	return lines, sum
}

// same compares a line with what clew itself says.
func same(t *testing.T, got, want report.Line) {
	t.Helper()
	want.Ms = 0
	a, err := json.Marshal(got)
	b, err2 := json.Marshal(want)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("the job says\n%s\nand clew\n%s", a, b)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// register returns a history of a register: writes of numbers from n on, each read at once. The last read is wrong if
// bad.
func register(n, ops int, bad bool) string {
	var b strings.Builder
	for i := range ops {
		read := n + i
		if bad && i == ops-1 {
			read = n - 1
		}
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :write, :value %d}\n{:process 0, :type :ok, :f :write, :value %[1]d}\n", n+i)
		fmt.Fprintf(&b, "{:process 1, :type :invoke, :f :read}\n{:process 1, :type :ok, :f :read, :value %d}\n", read)
	}
	return b.String()
}

func TestAJobSaysWhatClewCheckSays(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		text := register(i, 5, i%7 == 3)
		if i%11 == 5 {
			text = text[:len(text)-9] + "}"
		}
		write(t, filepath.Join(dir, "store", fmt.Sprintf("test-%d", i%5), fmt.Sprintf("20260101T0000%02d", i), "history.edn"), text)
	}
	// A history.edn that is cut off, with the test.jepsen beside it.
	test, err := os.ReadFile("../../../internal/testfile/testdata/chunks.jepsen")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "store/test-5/20260101T000000/history.edn"), "{:process 0, :type")
	write(t, filepath.Join(dir, "store/test-5/20260101T000000/test.jepsen"), string(test))
	write(t, filepath.Join(dir, "store/test-5/20260101T000001/history.edn"), register(1, 1, false))
	write(t, filepath.Join(dir, "store/test-5/20260101T000001/test.jepsen"), string(test))
	members := [][2]string{}
	for i := range 10 {
		members = append(members, [2]string{fmt.Sprintf("old/20250101T0000%02d/history.edn", i), register(i, 3, i == 4)})
	}
	members = append(members, [2]string{"old/20250102T000000/history.edn", "{:process 0, :type"}, [2]string{"old/20250102T000000/test.jepsen", string(test)},
		[2]string{"old/20250102T000001/test.jepsen", string(test)}, [2]string{"old/20250102T000001/history.edn", "{:process 0"},
		[2]string{"old/20250102T000002/history.edn", "{"}, [2]string{"old/20250102T000002/test.jepsen", "JEPSEN"},
		[2]string{"old/20250102T000003/history.edn", register(1, 1, false)}, [2]string{"old/20250102T000003/test.jepsen", string(test)})
	members = append(members, [2]string{"old/20250103T000000/history.edn", ""})
	archived(t, filepath.Join(dir, "old.zip"), members)
	archived(t, filepath.Join(dir, "old.tar.gz"), members)
	lines, sum := checked(t, pipeline.Options{Inputs: []string{filepath.Join(dir, "store/*/*/*"), filepath.Join(dir, "*.zip"), filepath.Join(dir, "*.gz")},
		Params: map[string]string{"model": "register"}})
	spec := models.Spec{Name: "register"}
	n := 0
	for _, path := range []string{filepath.Join(dir, "store"), filepath.Join(dir, "old.zip"), filepath.Join(dir, "old.tar.gz")} {
		found, err := store.Find(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			read := func(ctx context.Context) (*jepsen.History, error) { return s.Read(ctx, spec.Pairing()) }
			same(t, lines[s.Path], clew.Try(t.Context(), s.Path, read, spec, clew.Options{}).Line())
			n++
		}
	}
	if want := (pipeline.Summary{Histories: 72, Valid: 59, Invalid: 7, Unknown: 6}); n != len(lines) || sum.Histories != want.Histories ||
		sum.Valid != want.Valid || sum.Invalid != want.Invalid || sum.Causes["unreadable"] != want.Unknown {
		t.Errorf("%d histories, %d lines, %+v", n, len(lines), sum)
	}
}

// archived writes an archive, a .zip or a .tar.gz, of names and texts.
func archived(t *testing.T, path string, members [][2]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(f)
	tape, z := tar.NewWriter(packed), zip.NewWriter(f)
	for _, m := range members {
		var w io.Writer = tape
		if filepath.Ext(path) == ".zip" {
			w, err = z.Create(m[0])
		} else {
			err = tape.WriteHeader(&tar.Header{Name: m[0], Size: int64(len(m[1])), Mode: 0o644})
		}
		if err == nil {
			_, err = io.WriteString(w, m[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if filepath.Ext(path) == ".zip" {
		err = z.Close()
	} else {
		err = errors.Join(tape.Close(), packed.Close())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestManyKeysOfOneHistory(t *testing.T) {
	const keys = 10_000
	for _, bad := range [][]int{nil, {4711, 17}} {
		var b strings.Builder
		index := 0
		event := func(process int, kind, f, value string) {
			fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s, :index %d}\n", process, kind, f, value, index)
			index++
		}
		for round := range 2 {
			for k := range keys {
				value, read := fmt.Sprintf("[%d %d]", k, round), round
				if round == 1 && slices.Contains(bad, k) {
					read = 0
				}
				event(k%10, "invoke", "write", value)
				event(k%10, "ok", "write", value)
				event(k%10, "invoke", "read", fmt.Sprintf("[%d nil]", k))
				event(k%10, "ok", "read", fmt.Sprintf("[%d %d]", k, read))
			}
		}
		path := filepath.Join(t.TempDir(), "history.edn")
		write(t, path, b.String())
		lines, _ := checked(t, pipeline.Options{Inputs: []string{path}, Independent: true})
		read := func(context.Context) (*jepsen.History, error) { return clew.ReadFile(path, jepsen.Options{}) }
		same(t, lines[path], clew.Try(t.Context(), path, read, models.Spec{}, clew.Options{Independent: true}).Line())
	}
}

// TestKeysAreAnsweredAsClewCheckDoes covers the key that fails first, and keys that are undecided or refused. It also
// covers their places in the whole file, and text that no op map could have.
func TestKeysAreAnsweredAsClewCheckDoes(t *testing.T) {
	const nemesis = "{:process :nemesis, :type :info, :f :start,\n :value nil}\n"
	op := func(process int, f, invoked, ok string) string {
		return fmt.Sprintf("  {:process %d, :type :invoke, :f :%s, :value %s, :extra [1 {:a 2}]}\n%s{:process %[1]d, :type :ok, :f :%[2]s, :value %[5]s}\n",
			process, f, invoked, nemesis, ok)
	}
	for name, c := range map[string]struct {
		text string
		o    pipeline.Options
	}{
		"the later key fails first": {text: op(1, "write", "[9 1]", "[9 1]") + op(2, "write", "[1 1]", "[1 1]") + op(3, "read", "[9 nil]", "[9 7]") + op(4, "read", "[1 nil]", "[1 8]")},
		"a key is refused":          {text: op(1, "write", "[:a 1]", "[:a 1]") + op(2, "cas", "[\"b;\" 5]", "[\"b;\" 5]") + op(3, "read", "[:a nil]", "[:a 2]"), o: pipeline.Options{Params: map[string]string{"model": "cas-register"}}},
		"and nothing fails":         {text: op(1, "write", "[:a 1]", "[:a 1]") + op(2, "cas", "[\"b;\" 5]", "[\"b;\" 5]"), o: pipeline.Options{Params: map[string]string{"model": "cas-register"}}},
		"the model fails at a key":  {text: op(1, "write", "[1 1]", "[1 1]") + op(2, "write", "[2 13]", "[2 13]"), o: pipeline.Options{ModelFile: "m.star", ModelText: thirteen}},
		"operations of every key":   {text: op(1, "write", "[1 1]", "[1 1]") + op(2, "write", "5", "5") + op(3, "read", "[2 nil]", "[2 5]") + op(3, "read", "[1 nil]", "[1 1]"), o: pipeline.Options{Keyless: true}},
		"a process has two operations at once": {text: `{"process": 1, "f": "write", "value": [1, 1], "call": 0, "return": 10}
{"process": 1, "f": "write", "value": [1, 2], "call": 5, "return": 20}
{"process": 1, "f": "read", "value": [1, 1], "call": 30, "return": 40}
{"process": 2, "f": "read", "value": [1, 3], "call": 30, "return": 41}
`},
	} {
		for _, verify := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "history.edn")
			write(t, path, c.text)
			o := c.o
			o.Inputs, o.Independent, o.Verify = []string{path}, true, verify
			lines, _ := checked(t, o)
			read := func(context.Context) (*jepsen.History, error) { return clew.ReadFile(path, jepsen.Options{}) }
			spec := models.Spec{}
			switch model := o.Params["model"]; {
			case model != "":
				spec.Name = model
			case o.ModelText != "":
				file, err := modelfile.Parse(o.ModelFile, []byte(o.ModelText))
				if err != nil {
					t.Fatal(err)
				}
				spec = models.Own(file.Definition())
			}
			options := clew.Options{Independent: true, Keyless: o.Keyless}
			if verify {
				options.Verify = clew.VerifyAlways
			}
			want := clew.Try(t.Context(), path, read, spec, options).Line()
			want.Warnings = []string{}
			t.Run(name, func(t *testing.T) { same(t, lines[path], want) })
		}
	}
}

// thirteen is a model that fails at a number.
const thirteen = `
init = 0

def write(state, op):
    return fail("thirteen") if op.value == 13 else op.value

ops = {"write": write}
`

// TestNothingThatComesOfAHistoryFailsTheJob covers a model that panics, a search that does not end, and a text that
// is not a history.
func TestNothingThatComesOfAHistoryFailsTheJob(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good.edn"), register(0, 3, false))
	write(t, filepath.Join(dir, "poisoned.edn"), register(13, 1, false))
	write(t, filepath.Join(dir, "unreadable.edn"), "{:process 0, :type :invoke")
	for _, independent := range []bool{false, true} {
		o := pipeline.Options{Inputs: []string{filepath.Join(dir, "*.edn")}, Params: map[string]string{"model": "poisoned"}}
		if o.Independent = independent; independent {
			o.Inputs = []string{filepath.Join(dir, "*.keyed")}
			write(t, filepath.Join(dir, "poisoned.keyed"), "{:process 0, :type :invoke, :f :write, :value [1 13]}\n")
			write(t, filepath.Join(dir, "unreadable.keyed"), "{:process 0, :type :invoke, :f :write, :value 7}\n")
			write(t, filepath.Join(dir, "good.keyed"), "{:process 0, :type :invoke, :f :write, :value [1 1]}\n")
		}
		lines, sum := checked(t, o)
		if sum.Histories != 3 || sum.Valid != 1 || sum.Causes["panic"] != 1 || sum.Causes["unreadable"] != 1 {
			t.Errorf("%+v\n%+v", sum, lines)
		}
	}
	write(t, filepath.Join(dir, "endless.edn"), endless())
	lines, sum := checked(t, pipeline.Options{Inputs: []string{filepath.Join(dir, "endless.edn")},
		Params: map[string]string{"model": "cas-register"}, Algorithm: "porcupine", TimeLimit: 200 * time.Millisecond})
	if sum.Causes["timeout"] != 1 {
		t.Errorf("%+v\n%+v", sum, lines)
	}
}

// endless returns a history of many clients that no search through all orders decides soon: everything is concurrent,
// and a read saw a value that was never written.
func endless() string {
	var b strings.Builder
	for _, kind := range []string{"invoke", "ok"} {
		for p := range 40 {
			fmt.Fprintf(&b, "{:process %d, :type :%s, :f :write, :value %[1]d}\n", p, kind)
		}
		fmt.Fprintf(&b, "{:process 40, :type :%s, :f :read, :value 99}\n", kind)
	}
	return b.String()
}

// TestDamagedArchivesAreReadAsClewCheckReadsThem: what is in them counts, and what is missing is reported.
func TestDamagedArchivesAreReadAsClewCheckReadsThem(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"whole.tar", "cut.tar", "flipped.tar.gz", "joined.zip", "flipped.zip", "one.zip"} {
		path := filepath.Join(dir, name)
		archived(t, path, [][2]string{{"a/history.edn", register(1, 9, false)}, {"b/history.edn", register(5, 9, true)}})
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "cut.tar":
			z, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			text = text[:len(text)-1024]
		case "flipped.tar.gz":
			text[len(text)-6] ^= 4
		case "flipped.zip":
			text[60] ^= 4
		case "joined.zip":
			text = slices.Concat(text, text)
		}
		write(t, path, string(text))
	}
	lines, _ := checked(t, pipeline.Options{Inputs: []string{filepath.Join(dir, "*")}})
	files := 0
	for _, name := range []string{"whole.tar", "cut.tar", "flipped.tar.gz", "joined.zip", "flipped.zip", "one.zip"} {
		path := filepath.Join(dir, name)
		found, err := store.Find(t.Context(), path, store.Options{})
		if files += len(found); err != nil {
			files++
			if got := lines[path]; got.Cause != report.Text(jepsen.Unreadable) || string(got.Error) != err.Error() {
				t.Errorf("%s: %+v, want %v", name, got, err)
			}
		}
		for _, s := range found {
			read := func(ctx context.Context) (*jepsen.History, error) { return s.Read(ctx, jepsen.Options{}) }
			want, got := clew.Try(t.Context(), s.Path, read, models.Spec{}, clew.Options{}).Line(), lines[s.Path]
			if got.Valid != want.Valid || got.Cause != want.Cause || got.Operations != want.Operations {
				t.Errorf("%s: %+v, want %+v", s.Path, got, want)
			}
		}
	}
	if len(lines) != files || files < 10 {
		t.Errorf("%d lines, want %d", len(lines), files)
	}
}

func TestAGlobThatMatchesNoHistoryIsAnError(t *testing.T) {
	dir := t.TempDir()
	err := pipeline.CheckInputs(t.Context(), []string{filepath.Join(dir, "*.edn")})
	if err == nil || !strings.HasSuffix(err.Error(), "*.edn: expected at least one history, found none among the 0 files that it matches") {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "store", "a", "history.edn"), register(1, 1, false))
	err = pipeline.CheckInputs(t.Context(), []string{filepath.Join(dir, "store", "*")})
	if err == nil || !strings.Contains(err.Error(), "*: expected at least one history, found 1 folders; a glob names files, such as ") {
		t.Error(err)
	}
}

// Results beside histories say how to read these, in folders and in archives.
func TestResultsTellHowHistoriesAreRead(t *testing.T) {
	dir := t.TempDir()
	const results = `{:valid? true, :configs [], :final-paths [], :clew {:model :cas-register, :init 0, :semantics :jepsen, :independent false}}`
	const keyed = `{:valid? true, :results {1 {:valid? true, :configs [], :final-paths []}}, :failures [], :clew {:model :cas-register, :init 0, :independent true}}`
	const zero = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 0}\n"
	write(t, filepath.Join(dir, "store/a/20260101T000000/history.edn"), zero)
	write(t, filepath.Join(dir, "store/a/20260101T000000/results.edn"), results)
	write(t, filepath.Join(dir, "store/b/20260101T000000/history.edn"), zero)
	write(t, filepath.Join(dir, "store/c/20260101T000000/history.edn"), strings.ReplaceAll(zero, ":value 0", ":value [1 0]"))
	write(t, filepath.Join(dir, "store/c/20260101T000000/results.edn"), keyed)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{"d/20260101T000000/history.edn": zero, "d/20260101T000000/results.edn": results} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "store.zip"), packed.String())
	says := func(o pipeline.Options, want map[string]string) {
		t.Helper()
		lines, _ := checked(t, o)
		for file, l := range lines {
			file, _ = filepath.Rel(dir, file)
			got := fmt.Sprintf("%v %s %s %s %s", l.Valid, l.Model, l.Init, l.ToldBy, l.Cause)
			if want[file] != got {
				t.Errorf("%s: %s, want %s", file, got, want[file])
			}
		}
	}
	say := "linearizable cas-register 0 results.edn "
	says(pipeline.Options{Inputs: []string{filepath.Join(dir, "store/*/*/history.edn"), filepath.Join(dir, "store.zip")}}, map[string]string{
		"store/a/20260101T000000/history.edn": say, "store/b/20260101T000000/history.edn": "undecided register   initial-value",
		"store/c/20260101T000000/history.edn": say, "store.zip/d/20260101T000000/history.edn": say})
	says(pipeline.Options{Inputs: []string{filepath.Join(dir, "store/c/*/history.edn")}, Independent: true}, map[string]string{"store/c/20260101T000000/history.edn": say})
	says(pipeline.Options{Inputs: []string{filepath.Join(dir, "store/a/*/history.edn")}, Params: map[string]string{"init": "nil"}}, map[string]string{
		"store/a/20260101T000000/history.edn": "not linearizable cas-register nil results.edn "})
}
