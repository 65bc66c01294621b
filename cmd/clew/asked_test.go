package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/edn"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/jepsen"
)

// question is what clew asks the program of a request.
type question struct {
	Steps []stepsOf
	Chain *stepsOf
	Print []int
}

// stepsOf are operations in a state.
type stepsOf struct {
	state int
	ops   []int64
}

func (s *stepsOf) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[2]any{&s.state, &s.ops})
}

// register takes the steps of a cas-register, as a program with a model of its own does.
type register struct {
	v      *edn.Values
	ops    map[int64][2]edn.ID // :f and value, by the index of an event
	states []edn.ID
	asked  map[[3]edn.ID]bool // steps, by state and operation
	again  int                // how many were asked for before
	odd    bool               // there is a cas without [from to], which the built-in register bears with
	most   int                // answers to a question at most; 0: all
	chains int                // how many chains were asked for
	worse  bool               // it takes no read of a value that ends in 8
}

func newRegister(t *testing.T, history string) *register {
	h, err := clew.Read(strings.NewReader(history), "-", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &register{v: h.Values, ops: map[int64][2]edn.ID{}, states: []edn.ID{edn.Nil}, asked: map[[3]edn.ID]bool{}}
	for op := range jepsen.Operation(h.Operations()) {
		for _, e := range []jepsen.Event{h.Invocation[op], h.Completion[op]} {
			if e != jepsen.None {
				r.ops[h.Index(e)] = [2]edn.ID{h.F[e], h.Values.Same(h.Value[e])}
				r.odd = r.odd || h.Values.Text(h.F[e]) == ":cas" && len(h.Values.Items(h.Value[e])) < 2
			}
		}
	}
	return r
}

func (r *register) tells(q question) string {
	var told []any
	for _, s := range q.Print {
		told = append(told, "#demo.Register{:value "+r.v.Text(r.states[s])+"}")
	}
	for _, s := range q.Steps {
		for _, op := range s.ops {
			if r.most > 0 && len(told) == r.most {
				break
			}
			step := [3]edn.ID{r.states[s.state], r.ops[op][0], r.ops[op][1]}
			if r.asked[step] {
				r.again++
			}
			r.asked[step] = true
			told = append(told, r.step(s.state, r.v.Text(step[1]), step[2]))
		}
	}
	if q.Chain != nil {
		r.chains++
		state := q.Chain.state
		for _, op := range q.Chain.ops {
			next := r.step(state, r.v.Text(r.ops[op][0]), r.ops[op][1])
			told = append(told, next)
			var goesOn bool
			if state, goesOn = next.(int); !goesOn || len(told) == r.most {
				break
			}
		}
	}
	text, _ := json.Marshal(told)
	return string(text)
}

// step returns the number of a state, or why there is none.
func (r *register) step(state int, f string, value edn.ID) any {
	now := r.states[state]
	switch f {
	case ":read":
		if r.worse && r.v.Text(value) != "nil" && strings.HasSuffix(r.v.Text(value), "8") {
			return "there is no such value"
		}
		if value == edn.Nil || value == now {
			return state
		}
		return "can't read " + r.v.Text(value) + " from register " + r.v.Text(now)
	case ":write":
		return r.number(value)
	case ":cas":
		if fromTo := r.v.Items(value); r.v.Same(fromTo[0]) == now {
			return r.number(r.v.Same(fromTo[1]))
		}
		return "can't CAS " + r.v.Text(now) + " by " + r.v.Text(value)
	default:
		return map[string]string{"error": "no matching clause: " + f}
	}
}

func (r *register) number(value edn.ID) int {
	i := slices.Index(r.states, value)
	if i < 0 {
		i = len(r.states)
		r.states = append(r.states, value)
	}
	return i
}

// decided is what has to be the same of two results of a history.
type decided struct {
	Valid any
	Op    *int64 `json:"op-index"`
}

func decidedBy(t *testing.T, a reply) (d decided) {
	if err := json.Unmarshal([]byte(a.said), &d); err != nil {
		t.Fatalf("%v: %+v", err, a)
	}
	return d
}

// An order of the built-in model is taken in chains, and proves nothing about a model that does not take it.
func TestStdioAsksForTheStepsOfAnOrder(t *testing.T) {
	for _, x := range []struct {
		most       int
		kind       gen.LongKind
		worse      bool
		questions  int // at most, for most of all
		wantStatus int
	}{{0, gen.Linearizable, false, 3, 0}, {700, gen.Linearizable, false, 10, 0}, {0, gen.StaleRead, false, 0, 1}, {0, gen.Linearizable, true, 1, 1}} {
		var text strings.Builder
		fail, err := gen.Long(&text, gen.LongOptions{Model: "register", Operations: 4000, Kind: x.kind, Crashes: 0.002, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		c := asking(t, nil)
		own := newRegister(t, text.String())
		own.most, own.worse = x.most, x.worse
		c.tells = func(_ int, q question) string { return own.tells(q) }
		c.ask(1, text.String(), "--asked-model=demo.Register", "--output=json")
		a := c.answer(1)
		if a.Status != x.wantStatus || own.chains > x.questions {
			t.Errorf("%+v: status %d, %d chains", x, a.Status, own.chains)
		}
		replayed := strings.Contains(a.said, `"analyzer":"clew/replay"`)
		if replayed != (x.wantStatus == 0) {
			t.Errorf("%+v: %s", x, a.said)
		}
		if d := decidedBy(t, a); x.kind == gen.StaleRead && (d.Op == nil || *d.Op != int64(fail)) {
			t.Errorf("%+v: %s; expected %d", x, a.said, fail)
		}
		c.close()
	}
}

var index = regexp.MustCompile(`,? :index -?[0-9]+`)

// A register whose steps are asked for is decided as the built-in one is, and each step is asked for once.
func TestStdioAsksForTheStepsOfAModel(t *testing.T) {
	c, r := asking(t, nil), rand.New(rand.NewPCG(40, 3))
	n, invalid := int(effort.Histories(600, 100000)), 0
	for i := range n {
		history := index.ReplaceAllString(gen.New(r, gen.Options{Model: "cas-register"}).Text, "")
		own := newRegister(t, history)
		if own.odd {
			continue
		}
		own.most = i % 4
		c.tells = func(_ int, q question) string { return own.tells(q) }
		c.ask(1, history, "--asked-model=demo.Register", "--output=json")
		c.ask(2, history, "--model=cas-register", "--init=nil", "--output=json")
		a, b := c.answer(1), c.answer(2)
		if a.Status != b.Status {
			t.Fatalf("status %d, built-in %d of\n%s%+v\n%+v", a.Status, b.Status, history, a, b)
		}
		mine, builtIn := decidedBy(t, a), decidedBy(t, b)
		if mine.Valid != builtIn.Valid || (mine.Op == nil) != (builtIn.Op == nil) || mine.Op != nil && *mine.Op != *builtIn.Op {
			t.Fatalf("%s, built-in %s of\n%s", a.said, b.said, history)
		}
		if own.again > 0 {
			t.Fatalf("%d steps were asked for more than once of\n%s", own.again, history)
		}
		if mine.Op != nil {
			invalid++
		}
	}
	if invalid < n/5 || invalid > n*4/5 {
		t.Errorf("%d of %d were invalid", invalid, n)
	}
	c.close()
}

func TestStdioDrawsWhatTheProgramPrints(t *testing.T) {
	c, own := asking(t, nil), newRegister(t, misread)
	c.tells = func(_ int, q question) string { return own.tells(q) }
	c.ask(1, misread, "--asked-model=demo.Register", "--output=edn", "--svg=-", "--verify")
	a := c.answer(1)
	for _, expected := range []string{"<svg", "can&#39;t read 2 from register 1", ":read 2"} {
		if !strings.Contains(a.said, expected) {
			t.Errorf("expected %s, found %s", expected, a.said)
		}
	}
	c.ask(2, misread, "--asked-model=demo.Register", "--output=edn")
	if a := c.answer(2); a.Status != exitInvalid || !strings.Contains(a.said, ":model #demo.Register{:value 1}") {
		t.Errorf("%+v", a)
	}
	c.close()
}

// Whatever the program answers, the request ends, without a verdict, and others go on.
func TestStdioBearsWithProgramsThatAnswerNonsense(t *testing.T) {
	c := asking(t, nil)
	for id, x := range []struct{ told, says string }{
		{`null`, "the program answers with 0 steps; expected 1 to 2"},
		{`[]`, "the program answers with 0 steps; expected 1 to 2"},
		{`[0,0,0]`, "the program answers with 3 steps; expected 1 to 2"},
		{`[5000]`, "the program answers with state 5000; expected at most 2, since it numbers states one after another"},
		{`[-1]`, "the program answers with state -1"},
		{`[99999999999999999999]`, "the program's answer is not a list of steps: json: cannot unmarshal number 99999999999999999999"},
		{`[0.5]`, "the program's answer is not a list of steps: json: cannot unmarshal number 0.5"},
		{`[null]`, "expected the number of a state, found null"},
		{`[true]`, "the program's answer is not a list of steps: json: cannot unmarshal bool"},
		{`[[0]]`, "the program's answer is not a list of steps: json: cannot unmarshal array"},
		{`[{"state":0}]`, `expected {"error":".."}, found {"state":0}`},
		{`"none"`, "the program's answer is not a list of steps: json: cannot unmarshal string"},
		{`[{"error":"java.lang.ArithmeticException: Divide by zero"}]`, "demo.Register: in write: java.lang.ArithmeticException: Divide by zero, on :write 1 (index 1) in state "},
	} {
		c.tells = func(int, question) string { return x.told }
		c.ask(id, misread, "--asked-model=demo.Register", "--output=edn")
		if a := c.answer(id); a.Status != exitUsage || !strings.Contains(a.said, ":valid? :unknown") || !strings.Contains(a.complained, x.says) {
			t.Errorf("%s: %+v", x.told, a)
		}
	}
	own := newRegister(t, misread)
	c.tells = func(_ int, q question) string {
		if q.Print != nil {
			return `["} is not EDN"]`
		}
		return own.tells(q)
	}
	c.ask(98, misread, "--asked-model=demo.Register", "--output=edn")
	if a := c.answer(98); a.Status != exitInvalid || !strings.Contains(a.said, "state 1 of demo.Register") { // it costs no verdict
		t.Errorf("%+v", a)
	}
	c.ask(99, wellRead, "--model=register")
	if a := c.answer(99); a.Status != exitValid {
		t.Errorf("%+v", a)
	}
	c.close()
}

func TestStdioDoesNotWaitForAProgramForever(t *testing.T) {
	c := asking(t, nil)
	asked := make(chan bool, 10)
	c.tells = func(int, question) string { asked <- true; return "" }
	c.ask(1, misread, "--asked-model=demo.Register", "--output=edn", "--time-limit=50ms")
	c.ask(2, wellRead, "--model=register")
	if a := c.answer(1); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :timeout") {
		t.Errorf("%+v", a)
	}
	if a := c.answer(2); a.Status != exitValid {
		t.Errorf("beside it: %+v", a)
	}
	c.line(`{"id":1,"told":[0]}`) // it is too late, and no error

	c.ask(3, misread, "--asked-model=demo.Register", "--output=edn")
	c.tells = func(id int, _ question) string {
		c.line(fmt.Sprintf(`{"id":%d,"cancel":true}`, id))
		return ""
	}
	if a := c.answer(3); a.Status != exitUnknown || !strings.Contains(a.said, ":cause :interrupted") {
		t.Errorf("%+v", a)
	}
	own := newRegister(t, misread)
	c.tells = func(_ int, q question) string {
		if q.Print != nil {
			return ""
		}
		return own.tells(q)
	}
	patiently(t, func(wait time.Duration) (string, bool) { // the limit ends the wait for the text, and should leave time for the verdict
		c.ask(5, misread, "--asked-model=demo.Register", "--output=edn", "--time-limit="+wait.String())
		a := c.answer(5)
		return fmt.Sprintf("%+v", a), a.Status == exitInvalid && strings.Contains(a.said, `:model "state 1 of demo.Register"`)
	})
	c.ask(4, misread, "--asked-model=demo.Register", "--output=edn")
	if q := c.next(); q.Ask == nil {
		t.Fatalf("expected a question, found %+v", q)
	}
	if status := c.close(); status != exitValid || c.stderr.Len() > 0 {
		t.Errorf("status %d, %q", status, &c.stderr)
	}
}

// Questions of several requests wait for their own answers only.
func TestStdioAsksForSeveralRequestsAtOnce(t *testing.T) {
	if n := runtime.GOMAXPROCS(0); n == 1 { // one processor takes one request at a time
		defer runtime.GOMAXPROCS(n)
		runtime.GOMAXPROCS(2)
	}
	c, own := asking(t, nil), newRegister(t, misread)
	var held []string
	c.tells = func(id int, q question) string {
		if id == 1 && len(held) == 0 {
			held = append(held, own.tells(q))
			return ""
		}
		return own.tells(q)
	}
	c.ask(1, misread, "--asked-model=demo.Register", "--output=edn")
	for len(held) == 0 {
		if q := c.next(); q.Ask != nil {
			c.tells(*q.ID, *q.Ask)
		}
	}
	for id := 2; id < 5; id++ {
		other := newRegister(t, misread)
		c.tells = func(_ int, q question) string { return other.tells(q) }
		c.ask(id, misread, "--asked-model=demo.Register", "--output=edn")
		if a := c.answer(id); a.Status != exitInvalid {
			t.Errorf("%d: %+v", id, a)
		}
	}
	c.tells = func(_ int, q question) string { return own.tells(q) }
	c.line(fmt.Sprintf(`{"id":1,"told":%s}`, held[0]))
	if a := c.answer(1); a.Status != exitInvalid {
		t.Errorf("%+v", a)
	}
	c.close()
}

func TestAnAskedModelNeedsAProgram(t *testing.T) {
	c := asking(t, nil)
	c.ask(1, wellRead, "--asked-model=demo.Register", "--model=register")
	if a := c.answer(1); a.Status != exitUsage || a.complained != "clew: --asked-model cannot be combined with another model; found both demo.Register and register\n" {
		t.Errorf("%+v", a)
	}
	c.ask(2, wellRead, "--asked-model=demo.Register", "--init=0")
	if a := c.answer(2); a.Status != exitUsage || !strings.Contains(a.complained, "demo.Register does not take --init: its initial state is fixed") {
		t.Errorf("%+v", a)
	}
	c.ask(3, strings.ReplaceAll(wellRead, "}", " :index 1}"), "--asked-model=demo.Register")
	if a := c.answer(3); a.Status != exitUsage || !strings.Contains(a.complained, "expected ascending :index, by which the program knows its operations, found 1 after 1") {
		t.Errorf("%+v", a)
	}
	c.close()
	var stdout, stderr strings.Builder
	if status := run(t.Context(), []string{"clew", "check", "--asked-model=demo.Register", "-"}, strings.NewReader(wellRead), &stdout, &stderr); status != exitUsage ||
		stderr.String() != "clew: --asked-model is for a request of serve --stdio, whose program takes the steps of its model (docs/stdio.md)\n" {
		t.Errorf("status %d, %s", status, &stderr)
	}
}
