package reading_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"clew"
	"clew/internal/archive"
	"clew/internal/campaign"
	"clew/internal/engines"
	"clew/internal/gen"
	"clew/internal/store"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// copies returns a history that has been written as EDN and read back, and one that has been packed.
func copies(t *testing.T, h *jepsen.History, o jepsen.Options) []*jepsen.History {
	t.Helper()
	var text bytes.Buffer
	if err := h.WriteEDN(&text); err != nil {
		t.Fatal(err)
	}
	again, err := clew.Read(bytes.NewReader(text.Bytes()), h.File, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	unpacked, _, err := jepsen.Unpack(h.NewPacker().Append(nil, h))
	if err != nil {
		t.Fatal(err)
	}
	unpacked.File = h.File
	return []*jepsen.History{again, unpacked}
}

// sameAnswer compares results of a history and of its copy, in all that the copy has.
func sameAnswer(t *testing.T, got, want *report.Result, text any) {
	t.Helper()
	g, w := got.Line(), want.Line()
	for _, l := range []*report.Line{&g, &w} {
		l.Ms, l.Events, l.Skipped, l.OpLine, l.Warnings = 0, 0, 0, nil, nil
		l.Init = report.Text(strings.NewReplacer("(", "[", ")", "]").Replace(kit.Spelling.ReplaceAllString(string(l.Init), "$1")))
		l.Reading.Init.Value = string(l.Init)
		l.Story = []string{kit.Spelling.ReplaceAllString(strings.NewReplacer("(", "[", ")", "]").Replace(strings.Join(l.Story, "\n")), "$1")}
		l.Explanation = report.Text(strings.NewReplacer("(", "[", ")", "]").Replace(kit.Spelling.ReplaceAllString(string(l.Explanation), "$1")))
	}
	if !reflect.DeepEqual(g, w) {
		t.Fatalf("got %+v\nwant %+v\n%v", g, w, text)
	}
}

func TestAKeyThatIsWrittenAndReadBackHasTheSameAnswer(t *testing.T) {
	t.Parallel()
	r := gen.Rand(20)
	verdicts := map[jepsen.Verdict]int{}
	for range 300 {
		spec := models.Spec{Name: []string{"register", "cas-register", "fifo-queue", "set"}[r.IntN(4)]}
		var keys []*jepsen.History
		for range 1 + r.IntN(3) {
			h, err := clew.Read(strings.NewReader(gen.New(r, gen.Options{Model: spec.Name}).Text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, h)
		}
		k := kit.Interleave(r, keys, new(jepsen.History))
		if len(k.Whole) == 0 {
			continue
		}
		keyed, err := kit.ReadLines(t, k.Whole).Independent()
		if err != nil {
			continue // all of its operations failed
		}
		for row := range keyed.Keys {
			own := keyed.History(row).History
			want, err := clew.Check(context.Background(), own, spec, clew.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, again := range copies(t, own, jepsen.Options{}) {
				got, err := clew.Check(context.Background(), again, spec, clew.Options{})
				if err != nil {
					t.Fatal(err)
				}
				sameAnswer(t, got, want, strings.Join(k.Whole, "\n"))
			}
			verdicts[want.Verdict]++
		}
	}
	t.Logf("%v", verdicts)
	if verdicts[jepsen.Valid] < 50 || verdicts[jepsen.Invalid] < 50 {
		t.Errorf("one verdict is rare: %v", verdicts)
	}
}

func TestRealHistoriesThatAreWrittenAndReadBackHaveTheSameAnswer(t *testing.T) {
	var found []store.Source
	for _, dir := range []string{"knossos", "redis-store"} {
		more, err := store.FindFS(t.Context(), os.DirFS(archive.Path(t)), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, more...)
	}
	same := 0
	for _, s := range found {
		h, err := s.Read(context.Background(), jepsen.Options{})
		if err != nil || h.Events > 2000 {
			continue
		}
		o := clew.Options{TimeLimit: time.Minute}
		spec, _, err := models.Spec{}.Infer(h)
		if err != nil {
			continue
		}
		want, err := clew.Check(context.Background(), h, spec, o)
		if err != nil {
			continue
		}
		for _, again := range copies(t, h, jepsen.Options{}) {
			got, err := clew.Check(context.Background(), again, spec, o)
			if err != nil {
				t.Fatalf("%s: %v", s.Path, err)
			}
			sameAnswer(t, got, want, s.Path)
		}
		same++
	}
	t.Logf("%d of %d", same, len(found))
	if same < 50 {
		t.Errorf("only %d histories", same)
	}
}

func TestWhatOpMapsCannotSayIsNotWritten(t *testing.T) {
	t.Parallel()
	h, err := jepsen.FromIntervals([]jepsen.Interval{
		{Process: 1, F: "write", Input: 1, Call: 0, Return: 10},
		{Process: 1, F: "write", Input: 2, Call: 5, Return: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "process 1 has another operation open, and op maps identify operations by their processes"
	if err := h.WriteEDN(new(bytes.Buffer)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	h, err = clew.Read(strings.NewReader("{:process 0, :type :invoke, :f :write, :value 1, :x {:a ; no\n :b :c}}"), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.WriteEDN(new(bytes.Buffer)); err == nil || err.Error() != "h.edn:1:1: process 0's :write has a value that is not EDN" {
		t.Error(err)
	}
	if err := (*jepsen.History)(nil).WriteEDN(nil); err != jepsen.ErrNoHistory {
		t.Error(err)
	}
}

const (
	oneWrite = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	oneRead  = "{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value 1}\n"
	keyReads = "{:process 0, :type :invoke, :f :read, :value [:x nil]}\n{:process 0, :type :ok, :f :read, :value [:x 5]}\n" +
		"{:process 0, :type :invoke, :f :write, :value [1 2]}\n"
)

// lineOf returns a result that went through JSON.
func lineOf(t *testing.T, r *report.Result) report.Line {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var l report.Line
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l, r.Line()) {
		t.Fatalf("got %+v\nwant %+v", l, r.Line())
	}
	again, err := json.Marshal(l)
	if err != nil || !bytes.Equal(again, text) {
		t.Fatalf("got %s, %v\nwant %s", again, err, text)
	}
	return l
}

// panicking is a model that panics when it reads an operation, as a bug would.
type panicking struct{ models.Reader }

func (m *panicking) Traits() *models.Traits { return &models.Traits{} }

func (m *panicking) Step([]models.State, models.State, models.Op) []models.State {
	panic("a poisoned history")
}

// In interval records, a process may have several operations open at once. So it may in the core of such a history.
func TestACoreOfOverlappingOperationsOfAProcessIsReadBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text        string
		independent bool
	}{
		"one": {text: `{"process":0,"f":"write","value":1,"call":0,"return":10}
{"process":0,"f":"write","value":2,"call":1,"return":9}
{"process":0,"f":"read","output":1,"call":11,"return":12}
{"process":0,"f":"read","output":2,"call":13,"return":14}`},
		"keys": {independent: true, text: `{"process":0,"f":"write","value":[7,1],"call":0,"return":10}
{"process":0,"f":"write","value":[8,1],"call":1,"return":9}
{"process":0,"f":"write","value":[7,2],"call":1,"return":9}
{"process":0,"f":"read","value":[7,null],"output":[7,1],"call":11,"return":12}
{"process":0,"f":"read","value":[7,null],"output":[7,2],"call":13,"return":14}`},
	} {
		text := c.text
		for range 2 { // the core of the core, too
			h, err := clew.Read(strings.NewReader(text), name, jepsen.Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			r, err := clew.Check(t.Context(), h, models.Spec{Name: "register"}, clew.Options{Independent: c.independent, Verify: clew.VerifyAlways})
			if err != nil || r.Verdict != jepsen.Invalid {
				t.Fatalf("%s: %v, %v\n%s", name, err, r, text)
			}
			var core strings.Builder
			if err := r.WriteCore(&core); err != nil || strings.Count(core.String(), "\n") != 4 {
				t.Fatalf("%s: %v\n%s", name, err, core.String())
			}
			text = core.String()
		}
	}
}

func TestWhateverComesOfAHistoryIsAResult(t *testing.T) {
	poisoned := *campaign.OwnRegister
	poisoned.New = func(b *models.Binding) (models.Reader, error) {
		own, err := campaign.OwnRegister.New(b)
		return &panicking{own}, err
	}
	files := fstest.MapFS{"h.edn": {Data: []byte(oneWrite + oneRead)},
		"torn.edn": {Data: []byte("{:process 0, :type")}}
	reading := func(name string) func(context.Context) (*jepsen.History, error) {
		return func(context.Context) (*jepsen.History, error) { return clew.ReadFS(files, name, jepsen.Options{}) }
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		read  func(context.Context) (*jepsen.History, error)
		spec  models.Spec
		o     clew.Options
		valid jepsen.Verdict
		cause jepsen.Cause
		error string
	}{
		{"a verdict", context.Background(), reading("h.edn"), models.Spec{}, clew.Options{}, jepsen.Valid, "", ""},
		{"no such file", context.Background(), reading("nowhere.edn"), models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, "nowhere.edn: file does not exist"},
		{"a file that is cut off", context.Background(), reading("torn.edn"), models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, "torn.edn:1:19: "},
		{"a model that does not fit", context.Background(), reading("h.edn"), models.Spec{Name: "mutex"}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, "h.edn:2:1: mutex does not know :f :write"},
		{"options that make no sense", context.Background(), reading("h.edn"), models.Spec{}, clew.Options{Algorithm: "wing"}, jepsen.Unknown, jepsen.Unreadable, `h.edn: unknown algorithm "wing"`},
		{"an end", done, reading("h.edn"), models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Interrupted, ""},
		{"a time limit while it is read", context.Background(), func(ctx context.Context) (*jepsen.History, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, models.Spec{}, clew.Options{TimeLimit: time.Millisecond}, jepsen.Unknown, jepsen.Timeout, ""},
		{"a panic while it is read", context.Background(), func(context.Context) (*jepsen.History, error) { panic("no way to read it") }, models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Panicked, "no way to read it\n"},
		{"no context", nil, reading("h.edn"), models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, "no context was given"},
		{"nothing to read", context.Background(), nil, models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, "expected what reads the history, found nil"},
		{"no history", context.Background(), func(context.Context) (*jepsen.History, error) { return nil, nil }, models.Spec{}, clew.Options{}, jepsen.Unknown, jepsen.Unreadable, jepsen.ErrNoHistory.Error()},
	} {
		r := clew.Try(c.ctx, "h", c.read, c.spec, c.o)
		if r.Verdict != c.valid || r.Cause != c.cause || !strings.HasPrefix(r.Error, c.error) || c.error == "" && r.Error != "" || r.File != "h" {
			t.Errorf("%s: %v, %q, %q of %s", c.name, r.Verdict, r.Cause, r.Error, r.File)
		}
		lineOf(t, r)
		_, _ = r.EDN(), r.Text()
	}
	for _, algorithm := range clew.Algorithms() {
		if e, _ := engines.Of(algorithm); e.Suits != nil || algorithm == "fast" {
			continue // these only know other models
		}
		r := clew.Try(context.Background(), "h", reading("h.edn"), models.Own(&poisoned), clew.Options{Algorithm: algorithm})
		if r.Verdict != jepsen.Unknown || r.Cause != jepsen.Panicked || !strings.HasPrefix(r.Error, "a poisoned history\n") {
			t.Errorf("%s: %v, %q, %q", algorithm, r.Verdict, r.Cause, r.Error)
		}
	}
}

// TestALineOfJSONIsReadBackWhole covers every verdict, keys, and what is null.
func TestALineOfJSONIsReadBackWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		spec models.Spec
		o    clew.Options
	}{
		{"", models.Spec{Name: "register"}, clew.Options{}},
		{oneWrite + oneRead, models.Spec{}, clew.Options{Verify: clew.VerifyAlways}},
		{oneWrite + strings.Replace(oneRead, "value 1", "value 7", 1), models.Spec{Init: "0"}, clew.Options{}},
		{keyReads, models.Spec{Name: "register"}, clew.Options{Independent: true}},
	} {
		h, err := clew.Read(strings.NewReader(c.text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, c.spec, c.o)
		if err != nil {
			t.Fatal(err)
		}
		lineOf(t, r)
	}
	for _, r := range []*report.Result{{}, {File: "\xff<a>", Cause: jepsen.Unreadable, Error: "x: no \"such\" file\n"}} {
		text, _ := json.Marshal(r)
		var l report.Line
		if err := json.Unmarshal(text, &l); err != nil || r.File == "" && !reflect.DeepEqual(l, r.Line()) {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	var l report.Line
	if err := json.Unmarshal([]byte(`{"valid": "maybe"}`), &l); err == nil || !strings.Contains(err.Error(), `expected true, false or "unknown" for a verdict, found "maybe"`) {
		t.Error(err)
	}
}

// What is read in two halves is what is read as a whole, with every model that says so of itself.
func TestEveryModelIsReadInHalvesAsTheWhole(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	halves := 0
	for _, d := range models.All() {
		var text bytes.Buffer
		o := gen.LongOptions{Model: d.Name, Operations: 17_000, Processes: 5, Seed: 9}
		if d.Name == "semaphore" || d.Name == "owner-semaphore" {
			o.Permits = 3
		}
		if d.Name == "set" {
			continue // each read has all elements
		}
		if _, err := gen.Long(&text, o); err != nil {
			t.Fatal(d.Name, err)
		}
		spec := models.Spec{Name: d.Name, Permits: o.Permits}
		h, err := clew.Read(&text, "h", spec.Pairing())
		if err != nil {
			t.Fatal(d.Name, err)
		}
		read := func() *models.Operations {
			ops, err := spec.Read(h)
			if err != nil {
				t.Fatal(d.Name, err)
			}
			return ops
		}
		first := read()
		runtime.GOMAXPROCS(1)
		whole := read()
		runtime.GOMAXPROCS(2)
		if !reflect.DeepEqual(first.Columns, whole.Columns) {
			t.Errorf("%s is read in another way in two halves", d.Name)
		}
		if any := first.Model.Traits().AnyOrder; any != nil && any(h) {
			halves++
		}
	}
	if halves < 5 {
		t.Errorf("%d models are read in halves", halves)
	}
}
