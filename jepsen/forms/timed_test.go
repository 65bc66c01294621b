package forms

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"clew/edn"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// everything returns all that a history holds, or its error.
func everything(h *jepsen.History, err error) (all []string) {
	if err != nil {
		return []string{err.Error()}
	}
	printer := h.OpPrinter()
	for e := range jepsen.Event(len(h.Type)) {
		op := printer.AppendEvent(nil, e)
		all = append(all, fmt.Sprintf("%d:%d %d %s %d %d %d %d %s", h.Line(e), h.Col(e), h.Index(e), h.Type[e], h.Process[e], h.F[e], h.Value[e], h.OpOf[e], op))
	}
	all = append(all, fmt.Sprint(h.Invocation, h.Completion, h.Status, h.Processes, h.Events, h.Skipped, h.Warnings))
	for id := range h.Values.Len() {
		all = append(all, h.Values.Text(edn.ID(id)))
	}
	for e := range jepsen.Event(len(h.Type)) {
		all = append(all, h.EventMap(e).String())
	}
	return all
}

// readTimed does the same as Read for a text, by columns or by events.
func readTimed(text string, form Form, byColumns bool) (*jepsen.History, error) {
	b := jepsen.NewBuilder(jepsen.Options{File: "h"})
	to := feed.Of(b)
	if !byColumns {
		to = eventwise{to}
	}
	if err := newInput(context.Background(), to, "h", jepsen.Options{}).read(strings.NewReader(text), form.row()); err != nil {
		return nil, err
	}
	return b.History()
}

// timedText returns a random text of a form with times. Its lines end in end.
func timedText(r *rand.Rand, form Form, end string) string {
	var b strings.Builder
	objects := map[Form][]string{Fastlin: {"queue", "set", "priorityqueue"}, Fptlin: {"queue", "set", "rmw", "semaphore"}}[form]
	object := objects[r.IntN(len(objects))]
	methods := map[string]string{"queue": "enq deq peek", "set": "insert remove contains_true contains_false", "priorityqueue": "insert poll",
		"rmw": "read_modify_write", "semaphore": "incr decr"}[object]
	if r.IntN(4) > 0 {
		fmt.Fprintf(&b, "# %s%s\n", object, end)
	}
	between := []string{" ", " ", " ", " ", "  ", "\t", " \r ", "\v"}[r.IntN(8)]
	clock, long := int64(r.IntN(5)), r.IntN(3) == 0 // times with many digits, far from each other
	for n := r.IntN(40); n > 0; n-- {
		switch r.IntN(40) {
		case 0:
			b.WriteString([]string{"\n", "# x\n", " ", "  \t", "\r\n"}[r.IntN(5)])
		case 1:
			if r.IntN(10) == 0 {
				b.WriteString([]string{"enq 1", "0 2 2 ENQ 1", "enq 1 3 2", "0 1 2 ENQ x"}[r.IntN(4)] + end + "\n")
			}
			methods += " more" + strings.Repeat("_and_more", r.IntN(4))
		}
		words := strings.Fields(methods)
		method := words[r.IntN(len(words))]
		value := fmt.Sprint([]int64{int64(r.IntN(5)), -1, int64(r.IntN(1e6)), -int64(r.IntN(1e6)), r.Int64()}[min(r.IntN(30), 4)])
		clock += int64(r.IntN(3))
		if long {
			clock += r.Int64N(1 << 50)
		}
		times := fmt.Sprint(clock, between, clock+1+int64(r.IntN(6)))
		if form == Fastlin {
			fmt.Fprint(&b, method, between, value, between, times, end, "\n")
			continue
		}
		switch {
		case object == "rmw":
			value += between + fmt.Sprint(r.IntN(9))
		case object == "semaphore":
			value = fmt.Sprint(r.IntN(2))
		case object == "set" && r.IntN(20) > 0:
			value += between + fmt.Sprint(r.IntN(2))
		}
		process := n // or a process has two operations open
		if r.IntN(10) == 0 {
			process = r.IntN(9)
		}
		fmt.Fprint(&b, process, between, times, between, strings.ToUpper(method), between, value, end, "\n")
	}
	return b.String()
}

// Operations with times can be read in several ways: as columns, line after line,
// several bytes at once; event by event; or word by word. All ways give the same result.
func TestOperationsWithTimesAreTheSameInAllWays(t *testing.T) {
	for _, form := range []Form{Fastlin, Fptlin} {
		good, bad := 0, 0
		for seed := range effort.Histories(200, 1000) {
			text := func(end string) string { return timedText(gen.Rand(seed), form, end) }
			plain := text("")
			want := everything(readTimed(plain, form, false))
			if good++; len(want) == 1 {
				good, bad = good-1, bad+1
			}
			if got := everything(readTimed(plain, form, true)); !slices.Equal(got, want) {
				t.Fatalf("by columns\n%s\nnot\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), plain)
			}
			// Only the general way accepts vertical tabs.
			if got := everything(readTimed(text("\v"), form, true)); !slices.Equal(got, want) && (len(got) > 1 || len(want) > 1) {
				t.Fatalf("word by word\n%s\nnot\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), plain)
			}
		}
		t.Logf("%s: %d histories, %d errors", form, good, bad)
		if n := good + bad; good < n/2 || bad < n*3/100 {
			t.Errorf("%s: %d histories, %d errors", form, good, bad)
		}
	}
}

// Answers may be few and far apart, and each stays with its operation.
func TestAnswersMayBeFarApart(t *testing.T) {
	for _, between := range []int{0, 1, 63, 64, 200, 1500} {
		var text strings.Builder
		want := []string{"[0 false]"}
		text.WriteString("# set\n0 0 1 INSERT 0 0\n")
		for i := range between {
			fmt.Fprintf(&text, "0 %d %d INSERT %d\n", 2*i+2, 2*i+3, i)
			want = append(want, fmt.Sprint(i))
		}
		fmt.Fprintf(&text, "0 5000 5001 INSERT 8 1\n0 5002 5003 INSERT 9\n")
		want = append(want, "[8 true]", "9")
		for _, byColumns := range []bool{true, false} {
			h, err := readTimed(text.String(), Fptlin, byColumns)
			if err != nil {
				t.Fatal(err)
			}
			for op, c := range h.Completion {
				if got := h.Values.Text(h.Value[c]); got != want[op] {
					t.Fatalf("%d operations between: operation %d has %s, want %s", between, op, got, want[op])
				}
			}
		}
	}
}

func TestAProcessThatBeginsTwiceIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"# queue\n0 0 5 ENQ 1\n1 1 2 ENQ 2\n 0 4 6 ENQ 3\n": "h:4:2: process 0's :invoke :enqueue (index 3) begins while its :invoke :enqueue (index 0, line 2) is still open; expected a completion first",
		"# queue\n0 0 5 ENQ 1\n0 5 6 ENQ 3\n":               "",
	} {
		_, err := Read(strings.NewReader(text), "h", jepsen.Options{})
		if fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// stopping is a text of many lines. Reading it is stopped when it is at its end.
type stopping struct {
	strings.Reader
	stop func()
}

func (s *stopping) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.Len() == 0 {
		s.stop()
	}
	return n, err
}

func TestOrderingOperationsWithTimesIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits")
	text := &stopping{*strings.NewReader(strings.Repeat("enq 1 2 3\n", 1000)), func() { cancel(why) }}
	in := jepsen.NewBuilder(jepsen.Options{})
	if _, err := ReadWithin(ctx, text, "h", jepsen.Options{}); !errors.Is(err, why) || err.Error() != "h: nobody waits" {
		t.Error(err)
	}
	if added, err := feed.Of(in).AddTimedOps(ctx, &feed.TimedOps{Order: []int32{0, 1}, Method: []int32{0}, Methods: make([]feed.TimedMethod, 1), Value: make([]edn.ID, 1), Line: []int32{1}}); added || err != why {
		t.Error(added, err)
	}
}

// callsText returns a random text in LiMo. Its lines end in end.
func callsText(r *rand.Rand, end string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# @object atomic-queue\n")
	methods := []string{"enq", "deq", "add", "remove", "a_method_with_a_long_name"}
	open := make([]bool, 5)
	for n := r.IntN(60); n > 0; n-- {
		thread := r.IntN(len(open))
		calls := !open[thread]
		switch r.IntN(100) {
		case 0:
			fmt.Fprint(&b, []string{"\n", "# x\n", " \t", "# @object atomic-stack\n"}[r.IntN(4)])
		case 1:
			if r.IntN(8) == 0 {
				calls = !calls
			}
		case 2:
			fmt.Fprintf(&b, []string{"[%d] calls\n", "[%d] call 1(\n", "[-%d] call enq(1)\n"}[r.IntN(3)], thread)
		}
		open[thread] = calls
		value := []string{fmt.Sprint(r.IntN(9)), fmt.Sprint(r.Int64()), fmt.Sprint(r.IntN(1e9) - 5e8), "", "a", "empty", "emptyx", "7 "}[min(r.IntN(20), 7)]
		if calls {
			fmt.Fprintf(&b, "[%d] call %s(%s)%s\n", thread, methods[r.IntN(len(methods))], value, end)
		} else {
			fmt.Fprintf(&b, "[%d] return%s%s%s\n", thread, []string{" ", "  ", " \t", "\t"}[min(r.IntN(100)/33, 3)], value, end)
		}
	}
	return b.String()
}

// Lines of calls are read several bytes at once, or word by word; only the latter
// supports comments. Both ways give the same result.
func TestCallsAreTheSameInBothWays(t *testing.T) {
	good, bad := 0, 0
	for seed := range effort.Histories(2000, 2000) {
		want := everything(Read(strings.NewReader(callsText(gen.Rand(seed), " #")), "h", jepsen.Options{}))
		if good++; len(want) == 1 {
			good, bad = good-1, bad+1
		}
		text := callsText(gen.Rand(seed), "")
		got := everything(Read(strings.NewReader(text), "h", jepsen.Options{}))
		if !slices.Equal(got, want) && (len(got) > 1 || len(want) > 1 || strings.TrimSuffix(want[0], " #") != got[0]) {
			t.Fatalf("%s\nnot\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
	}
	t.Logf("%d histories, %d errors", good, bad)
	if n := good + bad; good < n/4 || bad < n/10 {
		t.Errorf("%d histories, %d errors", good, bad)
	}
}

func TestEventsOfARecordStandWhereItDoes(t *testing.T) {
	text := `[{"process":0,"f":"write","value":1,"call":10,"return":30},
   {"process":1,"f":"write","value":2,"call":5},{"process":2,"f":"read","output":2,"call":20,"return":25}, {"process":"nemesis","f":"kill","call":6,"return":7},
{"process":3,"f":"read","output":1,"call":20,"return":40}]`
	h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := range jepsen.Event(len(h.Type)) {
		got = append(got, fmt.Sprintf("%d:%d %s of %d at %d", h.Line(e), h.Col(e), h.Type[e], h.Process[e], h.Index(e)))
	}
	want := "2:4 :invoke of 0 at 0, 2:4 :info of 0 at 1, 1:2 :invoke of 1 at 4, 2:49 :invoke of 2 at 5, 3:1 :invoke of 3 at 6, " +
		"2:49 :ok of 2 at 7, 1:2 :ok of 1 at 8, 3:1 :ok of 3 at 9"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// logText returns a random log.
func logText(r *rand.Rand) string {
	var b strings.Builder
	befores := []string{"INFO  jepsen.util - ", "", " ", "2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen wörker 12] jepsen.util: ", "INFO - ", "\ufeff", "INFO [x: y] jepsen worker 8 - jepsen.util "}
	before := befores[r.IntN(len(befores))]
	open := make([]bool, 5)
	for n := r.IntN(60); n > 0; n-- {
		switch r.IntN(40) {
		case 0:
			before = befores[r.IntN(len(befores))]
		case 1:
			b.WriteString([]string{"\n", "; x\n", "INFO  jepsen.core - Run complete\n", before + "Run complete\n", " \t\n", "\n", before + ":nemesis\t:info\t:start\t{:a 1}\n", before + "7 :info\n", before + "03 :info :read nil\n"}[r.IntN(9)])
		}
		p := r.IntN(len(open))
		typ := ":invoke"
		if open[p] {
			typ = []string{":ok", ":ok", ":ok", ":fail", ":info"}[r.IntN(5)]
		}
		if open[p] = !open[p]; r.IntN(300) == 0 {
			typ = []string{":okay", "ok", ":", ":ok"}[r.IntN(4)]
		}
		value := []string{fmt.Sprint(r.IntN(9)), "nil", fmt.Sprint(r.IntN(1e9) - 5e8), "[1 -2 nil]", "true", fmt.Sprint(r.Int64()), "[[:r 1 2]]", "7 :timed-out", "-0", "nil ", "[1  2]", "#{1}", "007N", "x y", `"a b"`}[min(r.IntN(20), 14)]
		if r.IntN(200) == 0 {
			value = []string{"", "007", "]", "1x"}[r.IntN(4)]
		}
		blank := []string{"\t", "\t", " ", "  "}[r.IntN(4)]
		end := []string{"\n", "\n", "\n", "\r\n", " \n"}[r.IntN(5)]
		fmt.Fprint(&b, before, p, blank, typ, blank, ":write", blank, value, end)
	}
	return b.String()
}

// Lines of a log are read several bytes at once if they begin like the last one,
// and otherwise word by word. Lines that come byte by byte are always read word by
// word. Both ways give the same result.
func TestALogIsTheSameInBothWays(t *testing.T) {
	good, bad := 0, 0
	for seed := range effort.Histories(400, 2000) {
		text := logText(gen.Rand(seed))
		b := jepsen.NewBuilder(jepsen.Options{File: "h"})
		in := newInput(t.Context(), feed.Of(b), "h", jepsen.Options{})
		in.eager = true
		err := in.read(iotest.OneByteReader(strings.NewReader(text)), &logForm)
		if err == nil {
			_, err = b.History()
		}
		h, _ := b.SoFar()
		want := everything(h, err)
		b = jepsen.NewBuilder(jepsen.Options{File: "h"})
		if err = newInput(t.Context(), feed.Of(b), "h", jepsen.Options{}).read(strings.NewReader(text), &logForm); err == nil {
			_, err = b.History()
		}
		h, _ = b.SoFar()
		if got := everything(h, err); !slices.Equal(got, want) {
			t.Fatalf("%s\nnot\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
		if good++; err != nil {
			good, bad = good-1, bad+1
		}
	}
	t.Logf("%d histories, %d errors", good, bad)
	if n := good + bad; good < n/4 || bad < n/10 {
		t.Errorf("%d histories, %d errors", good, bad)
	}
}

// An operation that failed is dropped, with or without a return. Other words do
// not say that it certainly did not happen.
func TestARecordThatFailedIsDropped(t *testing.T) {
	const write, failed = `{"process":0,"f":"write","value":1,"call":1,"return":2,"status":"ok"}`, `{"process":1,"f":"write","value":2,"call":3`
	for _, c := range []struct {
		end    string
		status jepsen.Status
	}{
		{`,"status":"fail"}`, jepsen.Failed}, {`,"status":"FAIL","return":null}`, jepsen.Failed}, {`,"status":"fail","return":4}`, jepsen.Failed},
		{`,"state":"fail","output":"conflict"}`, jepsen.Failed}, {`,"outcome":":fail","error":"x"}`, jepsen.Failed},
		{`,"status":"timeout"}`, jepsen.Crashed}, {`,"ok":false}`, jepsen.Crashed}, {`,"status":"failed","return":null}`, jepsen.Crashed},
	} {
		text := strings.Repeat(write+"\n", 3) + failed + c.end + "\n" + failed + c.end + "\n" + `{"process":2,"f":"read","output":1,"call":9,"return":12}`
		h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.end, err)
		} else if h.Operations() != 6 || h.Status[3] != c.status || h.Status[4] != c.status || h.Status[5] != jepsen.Succeeded {
			t.Errorf("%s: %v", c.end, h.Status)
		}
	}
	if _, err := Read(strings.NewReader(failed+`,"status":"fail","return":2}`), "h", jepsen.Options{}); err == nil || err.Error() != "h:1:1: the record returns at 2, before its call at 3" {
		t.Error(err)
	}
}
