package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"clew/fallback"
	"clew/internal/effort"
	"clew/internal/limits"
	"clew/models"
)

// client is a program that has clew answer requests.
type client struct {
	t       testing.TB
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  bytes.Buffer
	status  chan int
	answers map[int]reply // those that came while another one was awaited

	// tells returns what the program tells of its model, "" for nothing.
	tells func(id int, ask question) string
}

// reply is a line of clew's, with what follows it.
type reply struct {
	ID               *int
	Status           int
	Err, Out, Line   int
	Error            string
	Clew             string
	AtOnce           int `json:"at-once"`
	Ask              *question
	said, complained string
}

// asking starts clew serve --stdio.
func asking(t testing.TB, engine fallback.Engine, flags ...string) *client {
	in, toClew := io.Pipe()
	fromClew, out := io.Pipe()
	c := &client{t: t, in: toClew, out: bufio.NewReader(fromClew), status: make(chan int, 1), answers: map[int]reply{}}
	go func() {
		c.status <- runWith(t.Context(), engine, append([]string{"clew", "serve", "--stdio"}, flags...), in, out, &c.stderr)
		out.Close()
		in.Close()
	}()
	if hello := c.next(); hello.Clew == "" || hello.AtOnce < 1 {
		t.Fatalf("expected a greeting, found %+v", hello)
	}
	return c
}

func (c *client) line(text string, rest ...string) {
	if _, err := io.WriteString(c.in, text+"\n"+strings.Join(rest, "")); err != nil {
		c.t.Errorf("%s: %v", text, err)
	}
}

func (c *client) check(id int, flags ...string) {
	text, _ := json.Marshal(map[string]any{"id": id, "check": append([]string{}, flags...)})
	c.line(string(text))
}

func (c *client) text(id int, text string) {
	c.line(fmt.Sprintf(`{"id":%d,"bytes":%d}`, id, len(text)), text)
}

func (c *client) end(id int) { c.line(fmt.Sprintf(`{"id":%d,"end":true}`, id)) }

func (c *client) ask(id int, history string, flags ...string) {
	c.check(id, flags...)
	c.text(id, history)
	c.end(id)
}

// next returns clew's next line.
func (c *client) next() reply {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("after %q: %v %s", line, err, &c.stderr)
	}
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		c.t.Fatalf("%q: %v", line, err)
	}
	rest := make([]byte, r.Err+r.Out)
	if _, err := io.ReadFull(c.out, rest); err != nil {
		c.t.Fatal(err)
	}
	r.complained, r.said = string(rest[:r.Err]), string(rest[r.Err:])
	return r
}

// answer returns the answer to a request.
func (c *client) answer(id int) reply {
	c.t.Helper()
	for {
		if r, ok := c.answers[id]; ok {
			delete(c.answers, id)
			return r
		}
		r := c.next()
		if r.ID == nil {
			c.t.Fatalf("expected an answer to %d, found %+v", id, r)
		}
		if r.Ask == nil {
			c.answers[*r.ID] = r
		} else if told := c.tells(*r.ID, *r.Ask); told != "" {
			c.line(fmt.Sprintf(`{"id":%d,"told":%s}`, *r.ID, told))
		}
	}
}

// close ends the input, and returns the status. It fails if clew does not end.
func (c *client) close() int {
	c.t.Helper()
	c.in.Close()
	go io.Copy(io.Discard, c.out)
	return effort.Receive(c.t, "it ends after its input has ended", c.status)
}

const (
	wellRead = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
		"{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n"
	misread = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
		"{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 2}\n"
)

// A request is answered as clew check answers for a file with its history, however many come at once and in pieces.
func TestStdioAnswersAsCheckDoes(t *testing.T) {
	asked := []struct {
		history string
		flags   []string
	}{
		{wellRead, []string{"--model=register", "--output=edn"}},
		{misread, []string{"--model", "register", "--output", "edn"}},
		{misread, []string{"--output=json", "--verify"}},
		{misread, nil},
		{"", []string{"--model=register", "--output=edn", "--empty=pass"}},
		{"{:process 0", []string{"--output=edn"}},
		{wellRead, []string{"--no-such-flag"}},
		{wellRead, []string{"--model"}},
		{wellRead, []string{"--model=set", "--output=edn"}},
		{wellRead, []string{"--help"}},
		{hard(12), []string{"--model=multi-register", "--output=edn", "--algorithm=window"}},
		{misread, []string{"--output=edn", "--core", "-"}},
	}
	t.Chdir(t.TempDir())
	took := regexp.MustCompile(`[0-9.]+ ms|:ms [0-9.]+|"ms":[0-9.]+`)
	same := func(said string) string { return took.ReplaceAllString(said, "ms") }
	c := asking(t, nil)
	for id, a := range asked {
		c.check(id, a.flags...)
	}
	for i := range 1000 { // by turns, a byte or a few at once
		for id, a := range asked {
			if from, to := i*len(a.history)/1000, (i+1)*len(a.history)/1000; from < to {
				c.text(id, a.history[from:to])
			}
		}
	}
	for id := range asked {
		c.end(id)
	}
	for id, a := range asked {
		var stdout, stderr bytes.Buffer
		args := append(append([]string{"clew", "check"}, a.flags...), "-")
		status := run(t.Context(), args, strings.NewReader(a.history), &stdout, &stderr)
		got := c.answer(id)
		if len(a.flags) == 1 && a.flags[0] == "--model" { // there, the path is the model
			stderr.Reset()
			stderr.WriteString("clew: --model needs a value; clew check --help lists the flags\n")
		}
		if got.Status != status || same(got.said) != same(stdout.String()) || same(got.complained) != same(stderr.String()) {
			t.Errorf("%q of %q: status %d, %q, %q\nwant %d, %q, %q", a.flags, a.history, got.Status, got.said, got.complained, status, &stdout, &stderr)
		}
	}
	if status := c.close(); status != exitValid || c.stderr.Len() > 0 {
		t.Errorf("status %d, %q", status, &c.stderr)
	}
}

func TestStdioRefusesWhatIsNotForARequest(t *testing.T) {
	t.Chdir(t.TempDir())
	c := asking(t, nil)
	for id, x := range []struct {
		flags []string
		says  string
	}{
		{[]string{"history.edn"}, `a request of serve --stdio brings its history, and takes only flags; found "history.edn"`},
		{[]string{"--model=register", "-"}, `a request of serve --stdio brings its history, and takes only flags; found "-"`},
		{[]string{"--", "--model"}, `a request of serve --stdio brings its history, and takes only flags; found "--"`},
		{[]string{"--model", "register", "-follow"}, "--follow cannot be used in a request of serve --stdio, which brings its history"},
		{[]string{"--models=m.edn"}, "--models cannot be used in a request of serve --stdio, which brings its history"},
		{[]string{"--shard", "1/2"}, "--shard cannot be used in a request of serve --stdio, which brings its history"},
		{[]string{"--stdin-is-lifeline"}, "--stdin-is-lifeline cannot be used in a request of serve --stdio, which brings its history"},
	} {
		c.ask(id, wellRead, x.flags...)
		if a := c.answer(id); a.Status != exitUsage || a.complained != "clew: "+x.says+"\n" || a.said != "" {
			t.Errorf("%q: %+v", x.flags, a)
		}
	}
	c.ask(99, misread, "--model=register", "--quiet", "--svg=failure.svg", "--html=failure.html")
	if a := c.answer(99); a.Status != exitInvalid {
		t.Errorf("%+v", a)
	}
	for _, name := range []string{"failure.svg", "failure.html"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	c.close()
}

func TestStdioNamesLinesThatItCannotRead(t *testing.T) {
	c := asking(t, nil)
	c.check(1, "--model=register") // line 1
	for i, x := range []struct{ line, says string }{
		{"", "expected a request, an object of JSON: EOF"},
		{"{:id 1}", "expected a request, an object of JSON: invalid character ':' looking for beginning of object key string"},
		{`{"id":1,"begin":true}`, `expected a request, an object of JSON: json: unknown field "begin"`},
		{`{"id":1,"cancel":true,"ID":2}`, `expected each key once, found "id" twice`},
		{`{"id":1,"end":true} {}`, "expected a request, an object of JSON: more than one value"},
		{`{"check":[]}`, `expected an "id", a number`},
		{`{"id":1}`, `expected "check", "bytes", "end", "told" or "cancel" beside the id 1`},
		{`{"id":1,"check":[]}`, "request 1 is not answered yet; expected another id"},
		{`{"id":2,"end":true}`, `no request 2 waits for its history; expected its "check" first`},
		{`{"id":1,"told":[0]}`, `request 1 asks nothing; expected "told" only after its "ask"`},
		{`{"id":2,"bytes":3}` + "\n{}", `no request 2 waits for its history; expected its "check" first`},
	} {
		c.line(x.line)
		if a := c.next(); a.Line != i+2 || a.Error != x.says {
			t.Errorf("%q: line %d: %s", x.line, a.Line, a.Error)
		}
	}
	c.text(1, wellRead)
	c.end(1)
	if a := c.answer(1); a.Status != exitValid {
		t.Errorf("%+v", a)
	}
	c.line(`{"id":1,"cancel":true}`) // its answer was on its way
	c.ask(1, misread)
	if a := c.answer(1); a.Status != exitInvalid {
		t.Errorf("%+v", a)
	}
	c.line(`{"id":1,"bytes":"many"}`) // what follows may be anything
	if a := c.next(); a.Line != 19 || !strings.Contains(a.Error, "cannot unmarshal string") {
		t.Errorf("%+v", a)
	}
	if status := <-c.status; status != exitUsage || !strings.HasPrefix(c.stderr.String(), "clew: line 19 of the requests: ") {
		t.Errorf("status %d, %q", status, &c.stderr)
	}
}

// A line that says several things loses none of them.
func TestStdioTakesLinesThatSaySeveralThings(t *testing.T) {
	c := asking(t, nil)
	c.line(fmt.Sprintf(`{"id":1,"check":["--model=register"],"bytes":%d,"end":true}`, len(misread)), misread)
	c.line(fmt.Sprintf(`{"id":2,"check":["--model=register"],"bytes":%d}`, len(misread)), misread)
	c.end(2)
	c.check(3, "--model=register")
	c.line(fmt.Sprintf(`{"id":3,"bytes":%d,"end":true}`, len(misread)), misread)
	for id := 1; id <= 3; id++ {
		if a := c.answer(id); a.Status != exitInvalid {
			t.Errorf("%d: %+v", id, a)
		}
	}
	c.close()
}

// Flags that are remembered are those of requests with the same flags.
func TestStdioDoesNotMixUpFlags(t *testing.T) {
	c := asking(t, nil)
	const readsNil = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value nil}\n"
	for id, x := range []struct {
		flags  []string
		status int
	}{
		{[]string{"--model=register", "--init=0 ; x\x00--nil-reads=exact"}, exitValid},
		{[]string{"--model=register", "--init=0 ; x", "--nil-reads=exact"}, exitInvalid},
	} {
		c.ask(id, readsNil, x.flags...)
		if a := c.answer(id); a.Status != x.status {
			t.Errorf("%q: %+v", x.flags, a)
		}
	}
	c.close()
}

// forever is an engine that does not end before its context.
type forever struct{ begun chan bool }

func (forever) Name() string { return "forever" }
func (f forever) Decide(ctx context.Context, _ *models.Operations, _ fallback.Limits) fallback.Answer {
	f.begun <- true
	<-ctx.Done()
	return fallback.Answer{Cause: limits.Stopped(ctx)}
}

func TestStdioCancelsARequestWhereverItStands(t *testing.T) {
	begun := make(chan bool, 100)
	c := asking(t, forever{begun})
	atOnce := runtime.GOMAXPROCS(0)
	for id := range atOnce {
		c.ask(id, misread, "--model=register", "--output=edn")
		<-begun
	}
	waits, comes := atOnce, atOnce+1
	c.ask(waits, misread, "--model=register")
	c.check(comes, "--model=register")
	c.text(comes, misread)
	for _, id := range []int{waits, comes} {
		c.line(fmt.Sprintf(`{"id":%d,"cancel":true}`, id))
		if a := c.answer(id); a.Status != exitUnknown || a.said != "" {
			t.Errorf("%d: %+v", id, a)
		}
	}
	if len(begun) > 0 {
		t.Error("a request began that was cancelled before")
	}
	for id := range atOnce {
		c.line(fmt.Sprintf(`{"id":%d,"cancel":true}`, id))
		if a := c.answer(id); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :interrupted") {
			t.Errorf("%d: %+v", id, a)
		}
	}
	c.close()
}

func TestStdioAnswersInOrderWithinItsProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	begun := make(chan bool, 100)
	c := asking(t, forever{begun})
	for id := range 10 {
		c.ask(id, misread, "--model=register", "--output=edn", "--time-limit=10ms")
	}
	for id := range 10 {
		if a := c.next(); *a.ID != id || a.Status != exitUnknown || !strings.Contains(a.said, ":cause :timeout") {
			t.Errorf("%d: %+v", id, a)
		}
	}
	c.close()
}

func TestStdioEndsWithItsInput(t *testing.T) {
	begun := make(chan bool, 100)
	c := asking(t, forever{begun})
	for id := range 10 {
		c.ask(id, misread, "--model=register")
	}
	<-begun
	if status := c.close(); status != exitValid || c.stderr.Len() > 0 {
		t.Errorf("status %d, %q", status, &c.stderr)
	}
	c = asking(t, nil)
	c.check(1)
	c.line(`{"id":1,"bytes":1000}`, "{:process")
	if status := c.close(); status != exitValid || c.stderr.Len() > 0 {
		t.Errorf("within a history: status %d, %q", status, &c.stderr)
	}
}

// broken is an engine that panics, and one that hangs.
type broken struct{ hang bool }

func (broken) Name() string { return "broken" }
func (b broken) Decide(context.Context, *models.Operations, fallback.Limits) fallback.Answer {
	if b.hang {
		select {}
	}
	panic("no such row")
}

func TestStdioLivesOnAfterABug(t *testing.T) {
	c := asking(t, broken{})
	for id := range 3 {
		c.ask(id, misread, "--model=register")
		if a := c.answer(id); a.Status != exitBug || !strings.Contains(a.complained, "this is a bug in clew") {
			t.Errorf("%+v", a)
		}
	}
	c.close()
	c = asking(t, broken{hang: true})
	c.ask(1, misread, "--model=register", "--output=edn", "--time-limit=10ms")
	if a := c.answer(1); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :timeout") {
		t.Errorf("%+v", a)
	}
	c.close()
}

func TestStdioKeepsItsMemory(t *testing.T) {
	c := asking(t, nil)
	var before runtime.MemStats
	memory := func(m *runtime.MemStats) int {
		runtime.GC()
		runtime.ReadMemStats(m)
		return runtime.NumGoroutine()
	}
	var goroutines int
	n := int(effort.Histories(2000, 100000))
	for i := range n {
		if i == n/5 {
			goroutines = memory(&before)
		}
		c.ask(i, []string{wellRead, misread}[i%2], "--model=register", "--output=edn")
		if a := c.answer(i); a.Status != i%2 {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	var after runtime.MemStats
	what := fmt.Sprintf("%d goroutines and %d bytes, or hardly more, after %d checks", goroutines, before.HeapAlloc, n)
	effort.Await(t, what, func() bool { // contexts end in the background
		return memory(&after) <= goroutines+5 && after.HeapAlloc <= before.HeapAlloc+1<<20
	})
	c.close()
}

func TestStdioKeepsMemoryLimits(t *testing.T) {
	c := asking(t, nil, "--memory-limit=40MB")
	c.ask(1, hard(60), "--model=multi-register", "--algorithm=porcupine", "--output=edn", "--memory-limit=8MB")
	if a := c.answer(1); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :out-of-memory") {
		t.Errorf("its own limit: %+v", a)
	}
	c.ask(2, hard(60), "--model=multi-register", "--algorithm=porcupine", "--output=edn", "--memory-limit=100GB")
	c.ask(3, wellRead, "--model=register", "--output=edn")
	if a := c.answer(2); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :out-of-memory") {
		t.Errorf("that of all: %+v", a)
	}
	if a := c.answer(3); a.Status != exitValid {
		t.Errorf("beside it: %+v", a)
	}
	c.check(4, "--model=register", "--output=edn")
	for range 25 {
		c.text(4, strings.Repeat(" ", 1<<20))
	}
	c.ask(5, wellRead, "--model=register", "--output=edn")
	c.end(4)
	if a := c.answer(4); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :out-of-memory") {
		t.Errorf("a text: %+v", a)
	}
	if a := c.answer(5); a.Status != exitValid {
		t.Errorf("beside a text: %+v", a)
	}
	c.close()
}
