package forms

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/internal/archive"
	"clew/internal/effort"
	"clew/internal/fuzzing"
	"clew/internal/gen"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// converted returns a text in another form.
func converted(t testing.TB, text string, to Form) string {
	t.Helper()
	return convertedFile(t, "h", text, to)
}

// convertedFile returns the text of a file in another form. A report of etcd names clients by their folders.
func convertedFile(t testing.TB, name, text string, to Form) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := Convert(&out, strings.NewReader(text), name, "", to); err != nil {
		t.Fatalf("to %s: %v\n%s", to, err, text)
	}
	return out.String()
}

// events returns the events of a text in their exact spelling: what a log holds of
// each, or the op map with all its keys.
func events(t testing.TB, text string, withKeys bool) []string {
	t.Helper()
	return eventsOfFile(t, "h", text, withKeys)
}

// eventsOfFile returns the events of a file's text, as events does.
func eventsOfFile(t testing.TB, name, text string, withKeys bool) []string {
	t.Helper()
	b := jepsen.NewBuilder(jepsen.Options{File: name})
	v := b.Values()
	var all []string
	in := newInput(t.Context(), taker{eventwise{feed.Of(b)}, func(e *opmap.Event) error {
		s := fmt.Sprintf("%s %s %s %s", v.Text(e.Process), v.Text(e.Type), v.Text(e.F), v.Text(e.Value))
		if withKeys {
			s += fmt.Sprintf(" %s %d %b", v.Text(e.Key), e.Index, e.Has)
			id, err := v.ParseLenient(e.AppendText(nil, v))
			if err != nil {
				t.Fatal(err)
			}
			s += " " + v.Text(id)
		}
		all = append(all, s)
		return nil
	}}, name, jepsen.Options{})
	if err := in.read(strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t testing.TB, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d events, want %d", name, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: event %d is\n%s\nwant\n%s", name, i, got[i], want[i])
			return
		}
	}
}

// everyValue is a history with a value of every kind, in every place.
const everyValue = `; a comment
[{:index 0, :time 1, :process 0, :type :invoke, :f :write, :value [nil true 1 -1 1N 007 +1 4/2 0x1f 9223372036854775807 9223372036854775808]}
 {:process 0, :type :ok, :f :write, :value [1.0 -0.0 1e3 1. 1.5M 1/3 ##NaN ##Inf 1e400 0.1e-7]}
 {:process :nemesis, :type :info, :f :start, :value {:a 1, "b" 2}, :x {:a {:b "c"}, "d e" #{}}, :edn {:edn 1}, :y {:edn "1"}}
 {:process "nemesis", :type "info", :f "start", :value [:k "k" sym ns/sym :ns/k \a \newline (1 [2] ()) #{1} #inst "2020-01-01" #my/tag {:a 1} #"re;\d"]}
 {:process nil, :type :in/fo, :f nil, "a b" 1, "" 2}
 {:process 1, :type :invoke, :f :txn, :value [[:r "r" nil] ["r" :x 1] [:append 1 [:a "b"]] (:r 1 2) :r [] {:a ["r" 1]} ["not a name" 1]]}
 {:value [["r" "x" 1]], :f "txn", :process 2, :type :invoke}
 {:F "txn", :value [["r" "x" 1]], :f :read, :process 2, :type :invoke}
 {:process -1, :type :invoke, :f :write, :value "\"\\/\b\f\n\r\t\u0001\u007f\u2028é😀<&>;"}
 {:process 3, 4 5, :type :invoke, :f :write}
 {:process 3, "type" 5, :type :invoke, :f [:a "b"]}
 {:type :info :f :log :value 13 :error {:a}}
 {:type :info :f :log :value 1x3 :error {:a} :process :nemesis}
 {:edn "x", :f 1}]`

func TestJSONHoldsEverything(t *testing.T) {
	want := events(t, everyValue, true)
	if len(want) != 14 {
		t.Fatalf("%d events", len(want))
	}
	for _, to := range []Form{EDN, JSONL, JSON} {
		other := converted(t, everyValue, to)
		same(t, string(to), events(t, other, true), want)
		same(t, string(to)+" and back", events(t, converted(t, other, EDN), true), want)
	}
}

func TestJSONIsWhatElleCLIReads(t *testing.T) {
	const history = `{:index 0, :time 3, :process 0, :type :invoke, :f :txn, :value [[:r 1 nil] [:append 2 3]]}
{:index 1, :process :nemesis, :type :info, :f :start, :value :majority, :error [:x "y"]}
`
	const want = `{"index":0,"time":3,"process":0,"type":"invoke","f":"txn","value":[["r",1,null],["append",2,3]]}
{"index":1,"process":"nemesis","type":"info","f":"start","value":{"edn":":majority"},"error":[{"edn":":x"},"y"]}
`
	if got := converted(t, history, JSONL); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	first, second, _ := strings.Cut(strings.TrimSpace(want), "\n")
	for _, text := range []string{want, "[" + first + " ,\n\t" + second + "] \n", "\ufeff" + first + second,
		strings.NewReplacer(`"f":"txn","value"`, `"f" : "txn" , "va\u006cue"`).Replace(want)} {
		if got := converted(t, text, EDN); got != history {
			t.Errorf("%s\nis read as\n%s", text, got)
		}
	}
	if got := converted(t, "", JSON) + converted(t, "", JSONL); got != "[\n]\n" {
		t.Errorf("nothing is %s", got)
	}
}

func TestNumbersInJSONAreExact(t *testing.T) {
	const numbers = `[0, -0, 12345678901234567890123, 1.10, 1e3, 1E+3, -1.5e-7, 0.1234567890123456789]`
	got := converted(t, `{"process":0,"type":"ok","f":"read","value":`+numbers+`}`, EDN)
	want := "{:process 0, :type :ok, :f :read, :value " + strings.ReplaceAll(numbers, ",", "") + "}\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRecordsComeBack(t *testing.T) {
	const text = `{"process":0,"f":"write","value":[1,"a"],"call":0,"return":1}
{"process":1,"f":"read","key":"k","value":null,"output":1,"call":2,"return":5}
{"process":2,"f":"write","value":2,"call":3}
`
	if got := converted(t, converted(t, text, EDN), Intervals); got != text {
		t.Errorf("%s\nwant\n%s", got, text)
	}
}

func TestFormsThatAreNotWrittenAreRefused(t *testing.T) {
	for _, to := range []Form{"", "csv", Test} {
		_, err := Convert(io.Discard, strings.NewReader(""), "h", "", to)
		if want := fmt.Sprintf("expected one of %s, not %q", Names(All), to); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A conversion says what it omits, and nothing else.
func TestWhatAConversionLeavesOut(t *testing.T) {
	for form, want := range map[Form]int{EDN: 0, JSON: 0, JSONL: 0, Log: 1} {
		for _, with := range []string{"", ", :time 5, :error :refused"} {
			warnings, err := Convert(io.Discard, strings.NewReader("{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1"+with+"}\n"), "h", "", form)
			n := want
			if with == "" {
				n = 0
			}
			if err != nil || len(warnings) != n {
				t.Errorf("to %s: %v, %q", form, err, warnings)
			}
		}
	}
}

// Other readers of JSON would round numbers that do not fit in 64 bits, so these
// are written as EDN.
func TestJSONHasNumbersThatOthersReadExactly(t *testing.T) {
	got := converted(t, "{:process 0, :type :ok, :f :read, :value [9223372036854775807 -9223372036854775808 9223372036854775808 1N 1.50 1.5M 1e999]}", JSON)
	want := "[\n" + `{"process":0,"type":"ok","f":"read","value":[9223372036854775807,-9223372036854775808,{"edn":"9223372036854775808"},{"edn":"1N"},1.50,{"edn":"1.5M"},{"edn":"1e999"}]}` + "\n]\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestGeneratedHistoriesComeBackFromJSONAndLogs(t *testing.T) {
	for _, model := range []string{"register", "cas-register", "versioned-register", "multi-register", "set", "lookup-set", "fifo-queue",
		"unordered-queue", "stack", "priority-queue", "kv", "mutex", "owner-semaphore", "reentrant-fenced-mutex"} {
		r := gen.Rand(11)
		for i := range 50 {
			if !effort.Takes(i) {
				continue
			}
			h := gen.New(r, gen.Options{Model: model, Permits: 2, MaxHolds: 2})
			name := fmt.Sprintf("%s %d", model, i)
			want := events(t, h.Text, true)
			same(t, name, events(t, converted(t, h.Text, JSONL), true), want)
			same(t, name, events(t, converted(t, converted(t, h.Text, JSON), EDN), true), want)
			if model == "kv" {
				continue
			}
			log := converted(t, h.Text, Log)
			want = events(t, h.Text, false)
			same(t, name+" log", events(t, log, false), want)
			same(t, name+" log and back", events(t, converted(t, log, EDN), false), want)
		}
	}
}

// TestRealHistoriesComeBackFromJSON converts every readable history of the archive
// to JSON lines and back.
func TestRealHistoriesComeBackFromJSON(t *testing.T) {
	seen, files, skipped := 0, 0, 0
	err := filepath.WalkDir(archive.Path(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if seen++; !effort.Takes(seen) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := Read(bytes.NewReader(text), path, jepsen.Options{AnyFailedF: true})
		if err != nil {
			skipped++
			return nil
		}
		files++
		lines := convertedFile(t, path, string(text), JSONL)
		got, err := Read(strings.NewReader(lines), path, jepsen.Options{AnyFailedF: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		same(t, path, columns(got), columns(want))
		isEDN := detect(text) == &ednForm
		original := eventsOfFile(t, path, string(text), isEDN)
		same(t, path, events(t, lines, isEDN), original)
		same(t, path, events(t, converted(t, lines, EDN), isEDN), original)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d histories, %d other files", files, skipped)
	if files < 150 || files < 500 && !effort.Few() {
		t.Errorf("only %d histories", files)
	}
}

// columns returns the events and operations of a history, without their lines.
func columns(h *jepsen.History) []string {
	all := []string{fmt.Sprint(h.Events, h.Skipped)}
	for _, process := range h.Processes {
		all = append(all, h.Values.Text(process))
	}
	for e := range h.Type {
		all = append(all, fmt.Sprint(h.Type[e], h.Process[e], h.Values.Text(h.F[e]), h.Values.Text(h.Value[e]), h.Values.Text(h.Key(jepsen.Event(e))), h.Index(jepsen.Event(e)), h.OpOf[e]))
	}
	for op := range h.Invocation {
		all = append(all, fmt.Sprint(h.Invocation[op], h.Completion[op], h.Status[op]))
	}
	return all
}

// FuzzConvert converts texts to JSON and back.
func FuzzConvert(f *testing.F) {
	f.Add(everyValue)
	f.Add(`{"edn":"{:process 0 :type :invoke}"}`)
	f.Add("{:process 0 :type :ok :value {:a ; c\n :b :c}}")
	f.Add("# queue\nenq 1 0 2\n")
	f.Add("{:\x7f 0 :type :invoke}")
	f.Add("{:process 0 :type :invoke :value [:a]}\n{:process 0 :type :invoke :value [:a") // cut off
	for seed := range uint64(4) {
		f.Add(gen.New(gen.Rand(seed), gen.Options{Model: "multi-register"}).Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer fuzzing.Guard(t)()
		var out bytes.Buffer
		if _, err := Convert(&out, strings.NewReader(text), "h", "", JSONL); err != nil {
			return
		}
		var want bytes.Buffer
		if _, err := Convert(&want, strings.NewReader(text), "h", "", EDN); err != nil {
			t.Fatalf("JSON holds it, but EDN does not: %v\n%s", err, text)
		}
		if out.Len() > 0 && detect(out.Bytes()) != &jsonForm {
			t.Fatalf("not seen to be JSON:\n%s", out.String())
		}
		var got bytes.Buffer
		if _, err := Convert(&got, bytes.NewReader(out.Bytes()), "h", "", EDN); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if got.String() != want.String() { // the keys of an op may have been sorted
			const edn = "; neither a log nor binary data\n"
			same(t, out.String(), events(t, edn+got.String(), true), events(t, edn+want.String(), true))
		}
	})
}

// whole returns a history with everything that is shown of it, without its lines.
func whole(h *jepsen.History) []string {
	all := []string{fmt.Sprint(h.Events, h.Skipped)}
	p := h.OpPrinter()
	for e := range h.Type {
		all = append(all, fmt.Sprintf("%s %d", p.AppendEvent(nil, jepsen.Event(e)), h.OpOf[e]))
	}
	for op := range h.Invocation {
		all = append(all, fmt.Sprint(h.Invocation[op], h.Completion[op], h.Status[op]))
	}
	return all
}

// FuzzForms reads a history in each form, and then that form converted to EDN,
// which has another reader. Both are the same history.
func FuzzForms(f *testing.F) {
	for seed, model := range []string{"register", "cas-register", "multi-register", "set", "lookup-set", "fifo-queue", "stack", "priority-queue", "kv", "mutex"} {
		f.Add(gen.New(gen.Rand(uint64(seed)), gen.Options{Model: model}).Text)
	}
	f.Add(everyValue)
	for _, texts := range formTexts {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer fuzzing.Guard(t)()
		opts := jepsen.Options{AllClients: true, AnyFailedF: true}
		for _, to := range append([]Form{""}, All...) {
			in := text
			if to != "" {
				var out bytes.Buffer
				if _, err := Convert(&out, strings.NewReader(text), "h", "", to); err != nil {
					continue
				}
				in = out.String()
			}
			h, err := Read(strings.NewReader(in), "h", opts)
			if err != nil {
				continue
			}
			var out bytes.Buffer
			if _, err := Convert(&out, strings.NewReader(in), "h", "", EDN); err != nil {
				continue // a process has several operations at once, or a value is not EDN
			}
			want, err := Read(strings.NewReader("; no log\n"+out.String()), "h", opts)
			if err != nil {
				t.Fatalf("as EDN: %v\n%s\nof %s\n%s", err, out.String(), to, in)
			}
			same(t, fmt.Sprintf("%s\n%s\nas EDN\n%s", to, in, out.String()), whole(h), whole(want))
		}
	})
}

// The initial value that a text names comes along, or is missed by name.
func TestConvertKeepsTheInitialValue(t *testing.T) {
	const text = Initially + "[6]\n{:process 0, :type :invoke, :f :dequeue, :value nil}\n{:process 0, :type :ok, :f :dequeue, :value 6}\n"
	for _, to := range All {
		var b strings.Builder
		warnings, err := Convert(&b, strings.NewReader(text), "h", EDN, to)
		if err != nil {
			continue // it is a form of other objects
		}
		missed := strings.Contains(strings.Join(warnings, "\n"), "cannot hold the initial value [6]; left out")
		if to == EDN && b.String() != text || missed == (to == EDN) {
			t.Errorf("%s: %v\n%s", to, warnings, b.String())
		}
	}
}
