package forms

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
)

func TestALongLogIsReadFromItsFile(t *testing.T) {
	const operations = 2000
	var log strings.Builder
	for i := range operations {
		fmt.Fprintf(&log, "0\t:invoke\t:write\t%d\n0\t:ok\t:write\t%d\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "history.txt")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := ReadFile(path, jepsen.Options{})
	if err != nil || h.Operations() != operations {
		t.Errorf("%d operations (%v), expected %d", h.Operations(), err, operations)
	}
}

// onCores reads a history on a number of cores, and returns everything that it holds.
func onCores(t *testing.T, n int, text string) (all []string) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	printer := h.OpPrinter()
	for e := range jepsen.Event(len(h.Type)) {
		op := printer.AppendEvent(nil, e)
		all = append(all, fmt.Sprintf("%d:%d %d %s %d %d %d %d %s", h.Line(e), h.Col(e), h.Index(e), h.Type[e], h.Process[e], h.F[e], h.Value[e], h.OpOf[e], op))
	}
	all = append(all, fmt.Sprint(h.Invocation, h.Completion, h.Status, h.Processes, h.Skipped, h.SkippedEvents(), h.Warnings))
	for id := range h.Values.Len() {
		all = append(all, h.Values.Text(edn.ID(id)))
	}
	return all
}

// A long history is read on all cores, and gives the same result.
func TestAHistoryIsTheSameOnEveryNumberOfCores(t *testing.T) {
	var b strings.Builder
	for i := range 4000 {
		p, v := i%7, fmt.Sprint(i%2000, " ")
		switch i % 50 {
		case 7:
			v = fmt.Sprintf("[%d %d]", i%3, -i)
		case 8:
			v = fmt.Sprintf("#{:x%d \"{:type\n}\"}", i)
		case 9:
			fmt.Fprintf(&b, "{:type :info, :process :nemesis, :f :kill, :value {n%d 10.0.0.1, :x {:a}}, :time %d}\n", i, i)
		case 10:
			fmt.Fprintf(&b, "#_ {:type :ok, :process 0, :f :write}\n")
		case 11:
			v = "\"\n{:type :ok, :process 1, :f :read, :value 1}\n\""
		}
		fmt.Fprintf(&b, "{:type :invoke, :process %d, :f :write, :value %s, :time %d, :index %d}\n", p, v, 1234567*i, 2*i)
		typ := []string{":ok", ":fail", ":info"}[max(0, i%40-37)]
		fmt.Fprintf(&b, "{:type %s, :process %d, :f :write, :value %s, :time %d, :index %d :error [:x \"a\nb\"]}\n", typ, p, v, 1234567*i+1, 2*i+1)
	}
	good := b.String()
	half := strings.Index(good[len(good)/2:], "}\n") + len(good)/2
	for _, c := range []struct{ name, text, err string }{
		{"whole", good, ""},
		{"wrapped", "[" + good + "]", ""},
		{"on a line", strings.ReplaceAll(good, "}\n", "}"), ""},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), ""},
		{"over several lines", strings.ReplaceAll(good, ", ", ",\n"), ""},
		{"with a form that never ends", good[:half] + " (" + good[half:], "expected ) to close ( opened at"},
		{"with a bracket too many", good[:half+2] + "]" + good[half+2:], "expected an op map, found ]"},
		{"with a value that is none", good[:half+2] + "{:process 1, :type :ok, :f :a, :value 1x}\n" + good[half+2:], "expected a number, found 1x"},
		{"with a completion too many", good[:half+2] + "{:process 1, :type :ok, :f :a, :value 1}\n" + good[half+2:], "process 1's :ok :a (index"},
		{"that is cut off", good[:len(good)-5], "expected \" to close the string opened at"},
	} {
		want := onCores(t, 1, c.text)
		if last := want[len(want)-1]; c.err == "" && len(want) < 1000 || !strings.Contains(last, c.err) {
			t.Errorf("a history %s: %s", c.name, last)
		}
		for _, n := range []int{2, 4} {
			got := onCores(t, n, c.text)
			if !slices.Equal(got, want) {
				t.Errorf("a history %s is another one on %d cores: %.300q, not %.300q", c.name, n, got, want)
			}
		}
	}
}

// A process is an integer by its class, and an op of a log is echoed with its spelling.
func TestProcessesOfALogAreEchoedAsTheyStand(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"00 :invoke :read nil", "{:f :read, :index 0, :process 00, :type :invoke, :value nil}"},
		{"7N :invoke :read", "{:f :read, :index 0, :process 7N, :type :invoke, :value nil}"},
		{"1 :invoke :write 0N\n0 :invoke :read nil", "{:f :read, :index 1, :process 0, :type :invoke, :value nil}"},
		{"1 :invoke :write 0\n00 :invoke :read nil", "{:f :read, :index 1, :process 00, :type :invoke, :value nil}"},
		{"1 :invoke [1]\n2 :invoke (1N) 3", "{:f (1N), :index 1, :process 2, :type :invoke, :value 3}"},
	} {
		h, err := Read(strings.NewReader(c.log), "h", jepsen.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.log, err)
		}
		last := jepsen.Event(len(h.Type) - 1)
		if got := string(h.OpPrinter().AppendEvent(nil, last)); got != c.want {
			t.Errorf("%s: printed as %s, want %s", c.log, got, c.want)
		}
		if got := h.EventMap(last).String(); got != c.want {
			t.Errorf("%s: its map is %s, want %s", c.log, got, c.want)
		}
	}
}

// A key that an op has twice counts once if its values are equal in Clojure, in
// every form that has keys.
func TestAKeyTwiceIsOneIfItsValuesAreEqual(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{:process 0, :type :invoke, :f :write, :f :write, :value 1}`, `{:f :write, :index 0, :process 0, :type :invoke, :value 1}`},
		{`{"process":0,"type":"invoke","f":"write","value":1,"value":{"edn":"1N"}}`, `{:f :write, :index 0, :process 0, :type :invoke, :value 1}`},
		{`{"process":0,"f":"write","value":[1,2],"value":{"edn":"(1 2)"},"call":1,"call":1,"node":"a","node":"a"}`,
			`{:f :write, :index 0, :node "a", :process 0, :time 1, :type :invoke, :value [1 2]}`},
		{`{:process 0, :type :invoke, :f :write, :value 1, :value 1.0}`, "h:1:50: duplicate key :value"},
		{`{"process":0,"type":"invoke","f":"write","value":1,"value":1.0}`, "h:1:1: duplicate key :value"},
		{`{"process":0,"f":"write","value":1,"value":1.0,"call":1}`, `h:1:1: the record has two fields "value" with different values`},
	} {
		got := ""
		if h, err := Read(strings.NewReader(c.text), "h", jepsen.Options{}); err != nil {
			got = err.Error()
		} else {
			got = string(h.OpPrinter().AppendEvent(nil, 0))
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
