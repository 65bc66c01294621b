package ownmodels_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"clew/internal/effort"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// funcCounter returns the counter in functions.
func funcCounter() models.Func[int64] {
	return models.Func[int64]{
		Name: "func-counter",
		Start: func(init edn.Value) (int64, error) {
			n, ok := init.Int()
			if !ok {
				return 0, fmt.Errorf("expected a number, found %v", init)
			}
			return n, nil
		},
		Ops: map[string]models.StepFunc[int64]{
			"add": func(n int64, c models.Call) ([]int64, error) {
				d, ok := c.Value.Int()
				if !ok {
					return nil, fmt.Errorf("expected a number, found %v", c.Value)
				}
				return []int64{n + d}, nil
			},
			"read": func(n int64, c models.Call) ([]int64, error) {
				if out, _ := c.Out.Int(); out == n {
					return []int64{n}, nil
				}
				return nil, models.Inconsistent("can't read %v from counter %d", c.Out, n)
			},
		},
		Reads: []string{"read"},
	}
}

// funcTotals returns the counter with all of its operations.
func funcTotals() models.Func[int64] {
	f := funcCounter()
	adds := f.Ops["add"]
	f.Ops["add"] = func(n int64, c models.Call) ([]int64, error) {
		if c.OK {
			c.Value = c.Out
		}
		return adds(n, c)
	}
	for name, sign := range map[string]int64{"incr": 1, "increment": 1, "decr": -1, "decrement": -1, "add-and-get": 1} {
		f.Ops[name] = func(n int64, c models.Call) ([]int64, error) {
			if d, ok := c.Value.Int(); ok {
				n += sign * d
			} else {
				n += sign
			}
			after := edn.Value{}
			if items := c.Out.Items(); len(items) == 2 {
				after = items[1]
			} else if c.OK {
				after = c.Out // as with --answers told
			}
			if total, told := after.Int(); told && total != n {
				return nil, models.Inconsistent("can't go to %d", total)
			}
			return []int64{n}, nil
		}
	}
	return f
}

// funcCAS returns cas-register in functions. States are texts.
func funcCAS() models.Func[string] {
	return models.Func[string]{
		Name: "func-cas-register",
		Init: "nil",
		Start: func(init edn.Value) (string, error) {
			return same(init), nil
		},
		Ops: map[string]models.StepFunc[string]{
			"read": func(s string, c models.Call) ([]string, error) {
				if c.Out.Kind() == edn.KindNil || same(c.Out) == s {
					return []string{s}, nil
				}
				return nil, models.Inconsistent("can't read %v", c.Out)
			},
			"write": func(_ string, c models.Call) ([]string, error) { return []string{same(value(c))}, nil },
			"cas": func(s string, c models.Call) ([]string, error) {
				pair := value(c).Items()
				if len(pair) < 2 {
					pair = []edn.Value{{}, {}} // a cas of nil leads from nil to nil
				}
				if same(pair[0]) != s {
					return nil, models.Inconsistent("can't CAS %v", pair[0])
				}
				return []string{same(pair[1])}, nil
			},
		},
		Reads:      []string{"read"},
		Overwrites: []string{"write"},
	}
}

// value returns what counts of a call, as in the built-in registers.
func value(c models.Call) edn.Value {
	if c.OK {
		return c.Out
	}
	return c.Value
}

// same returns a value's class as text, so that equal values are equal states.
func same(v edn.Value) string {
	if v.Kind() == edn.KindNil {
		return "nil"
	}
	return fmt.Sprint(v.Class())
}

func TestFunctionsAgreeWithTheirTwinsAndTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	n := 500
	if effort.Long() {
		n = 100_000
	} else if effort.Few() {
		n = 300
	}
	for _, c := range []struct {
		twin string
		own  *models.Definition
	}{
		{"counter", funcTotals().Definition()},
		{"cas-register", funcCAS().Definition()},
	} {
		r := gen.Rand(11)
		for range n {
			g := gen.New(r, gen.Options{Model: c.twin, Init: true})
			own, twin := models.Own(c.own), models.Spec{Name: c.twin}
			own.Init, twin.Init = g.Init, g.Init
			if c.twin == "counter" {
				twin.Answers = models.AnswersTold
			}
			want := kit.Judged(t, twin, g.Text, "auto")
			for _, algorithm := range []string{"auto", "frontier", "porcupine"} {
				got := kit.Judged(t, own, g.Text, algorithm)
				if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
					t.Fatalf("%s: %v at event %d; the built-in model says %v at %d:\n%s", algorithm, got.Verdict, got.FailEvent.OrNone(), want.Verdict, want.FailEvent.OrNone(), g.Text)
				}
			}
		}
	}
}

func checkOwn(t *testing.T, d *models.Definition, o clew.Options, ops ...string) (*report.Result, error) {
	t.Helper()
	return clew.Check(context.Background(), kit.Calls(t, ops...), models.Own(d), o)
}

func TestAFunctionThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	broken := func(change func(f *models.Func[int64])) models.Func[int64] {
		f := funcCounter()
		change(&f)
		return f
	}
	panics := func(int64, models.Call) ([]int64, error) {
		var none []int64
		return none[3:4], nil
	}
	exits := func(int64, models.Call) ([]int64, error) {
		runtime.Goexit()
		return nil, nil
	}
	type ops = []string
	for _, c := range []struct {
		name string
		f    models.Func[int64]
		ops  ops
		want string
	}{
		{"an error", funcCounter(), ops{"add 1", "add x"}, `func-counter: in add: expected a number, found x, on :add x (index 3) in state 1`},
		{"a panic", broken(func(f *models.Func[int64]) { f.Ops["add"] = panics }), ops{"add 1"},
			`func-counter: in add: panic: runtime error: slice bounds out of range [:4] with capacity 0, on :add 1 (index 1) in state 0`},
		{"a step that ends its goroutine", broken(func(f *models.Func[int64]) { f.Ops["add"] = exits }), ops{"add 1", "add 2", "read 3"},
			`func-counter: in add: runtime.Goexit was called, as t.Fatal does; return an error instead, on :add 1 (index 1) in state 0`},
		{"a part's step that ends its goroutine", broken(func(f *models.Func[int64]) {
			f.Ops["add"], f.Partition = exits, func(c models.Call) any { return c.Value.Class() }
		}), ops{"add 1", "add 1", "read 0"}, `func-counter: in add: runtime.Goexit was called`},
		{"a crashed read that ends its goroutine", broken(func(f *models.Func[int64]) { f.Ops["add"], f.Reads = exits, []string{"add"} }), ops{"!add 1", "read 1"},
			`func-counter: in add: runtime.Goexit was called`},
		{"a description that ends its goroutine", broken(func(f *models.Func[int64]) {
			f.Describe = func(int64) any { runtime.Goexit(); return nil }
		}), ops{"add 1"}, `func-counter: describe: runtime.Goexit was called`},
		{"a size that ends its goroutine", broken(func(f *models.Func[int64]) {
			f.Size = func(n int64) int {
				if n > 0 {
					runtime.Goexit()
				}
				return 8
			}
		}), ops{"add 1"}, `func-counter: in add: runtime.Goexit was called`},
		{"a read that changes something", broken(func(f *models.Func[int64]) { f.Reads = []string{"add"} }), ops{"add 1"},
			`func-counter: add is among its reads, but it may lead to 1, on :add 1 (index 1) in state 0`},
		{"a crashed read that changes something", broken(func(f *models.Func[int64]) { f.Reads = []string{"add"} }), ops{"!add 1", "read 1"},
			`func-counter: add is among its reads, but it may lead to 1, on :add 1 (index 0) in state 0`},
		{"an overwriting operation that does not", broken(func(f *models.Func[int64]) { f.Overwrites = []string{"add"} }), ops{"add 1", "add 1"},
			`func-counter: add is among its overwrites, but it leads to 2, and from 0 to 1, on :add 1 (index 1) in state 1`},
		{"an overwriting operation that may be refused", broken(func(f *models.Func[int64]) { f.Overwrites = []string{"read"} }), ops{"read 1"},
			`func-counter: read is among its overwrites, but it cannot happen there: can't read 1 from counter 0, on :read 1 (index 1) in state 0`},
		{"parts that are none", broken(func(f *models.Func[int64]) { f.Partition = func(c models.Call) any { return c.F } }), ops{"add 1", "read 1"},
			`func-counter: partition separates :add 1 (index 1) and :read 1 (index 3), but the effect of the second depends on whether the first happened before it, in state 0`},
		{"parts that hide a failure", broken(func(f *models.Func[int64]) { f.Partition = func(c models.Call) any { return c.F } }), ops{"add 1", "read 0"},
			`the partition is declared wrongly: every part is linearizable, but together process 1's :read 0 (index 3) cannot happen: can't read 0 from counter 1`},
		{"a partition that panics", broken(func(f *models.Func[int64]) { f.Partition = func(c models.Call) any { return []int{1} } }), ops{"add 1"},
			`func-counter cannot read the value of :add (index 1): in partition: hash of unhashable type: []int; it knows :add, :read`},
		{"a size that panics", broken(func(f *models.Func[int64]) { f.Size = func(n int64) int { return int(1 / n) } }), ops{"add 1"},
			`func-counter: in size: panic: runtime error: integer divide by zero`},
		{"a size that panics later", broken(func(f *models.Func[int64]) { f.Size = func(n int64) int { return int(1/(n-1)) * -1 } }), ops{"add 1"},
			`func-counter: in size: panic: runtime error: integer divide by zero`},
		{"a size below 0", broken(func(f *models.Func[int64]) { f.Size = func(n int64) int { return -1 << 60 } }), ops{"add 1"},
			`func-counter: in size: it returns -1152921504606846976; expected a number of bytes from 0 on`},
		{"a check that panics", broken(func(f *models.Func[int64]) { f.Check = func(c models.Call) error { panic("lost") } }), ops{"add 1"},
			`func-counter cannot read the value of :add (index 1): in check: panic: lost; it knows :add, :read`},
		{"a declaration about nothing", broken(func(f *models.Func[int64]) { f.Reads = []string{"look"} }), ops{"add 1"},
			`func-counter makes a declaration about :look, which is not among its operations; it has :add, :read`},
		{"no operations", models.Func[int64]{Name: "nothing"}, ops{"add 1"}, `nothing has no operations`},
		{"an operation that is refused when it is read", broken(func(f *models.Func[int64]) {
			f.Check = func(c models.Call) error { return errors.New("not on a Sunday") }
		}), ops{"add 1"}, `func-counter cannot read the value of :add (index 1): not on a Sunday; it knows :add, :read`},
		{"an unknown :f", funcCounter(), ops{"ad 1"}, `func-counter does not know :f :ad (index 1); it knows :add, :read`},
	} {
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine", "competition"} {
			r, err := checkOwn(t, c.f.Definition(), clew.Options{Algorithm: algorithm}, c.ops...)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, %v, want %s", c.name, algorithm, r, err, c.want)
			}
		}
	}
	for _, fails := range []models.StepFunc[int64]{panics, exits} {
		own := broken(func(f *models.Func[int64]) { f.Ops["add"] = fails }).Definition()
		_, err := checkOwn(t, own, clew.Options{}, "add 1")
		var failed *models.Failure
		if !errors.As(err, &failed) {
			t.Errorf("%v is not a Failure", err)
		}
		if err := clew.Verify(kit.Calls(t, "add 1"), models.Own(own), []jepsen.Operation{0}); !errors.As(err, &failed) {
			t.Errorf("Verify: %v is not a Failure", err)
		}
		store := fstest.MapFS{"history.edn": {Data: []byte("{:process 0, :type :invoke, :f :add, :value 1}\n{:process 0, :type :ok, :f :add, :value 1}\n")}}
		for run, err := range clew.CheckStore(t.Context(), clew.StoreOptions{Spec: models.Own(own), FS: store}, ".") {
			if !errors.As(err, &failed) || run.Result.Cause != jepsen.Unreadable {
				t.Errorf("CheckStore: %v is not a Failure: %s", err, run.Result.Cause)
			}
		}
	}
}

func TestAStepWithoutAStateOrAnErrorIsRefused(t *testing.T) {
	t.Parallel()
	f := funcCounter()
	f.Ops["add"] = func(int64, models.Call) ([]int64, error) { return nil, nil }
	r, err := checkOwn(t, f.Definition(), clew.Options{}, "add 1")
	if err != nil || r.Verdict != jepsen.Invalid || !strings.HasSuffix(r.Explanation, "cannot happen: nothing that had begun by then makes it possible (its step leads to no state)") {
		t.Errorf("%v: %v", err, r)
	}
}

func TestAStepOfAStateAndAnOperationRunsOnce(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	f := funcCounter()
	add := f.Ops["add"]
	f.Ops["add"] = func(n int64, c models.Call) ([]int64, error) {
		ran.Add(1)
		return add(n, c)
	}
	// :add 1 is asked in the states 0, 1, 2 and 3.
	if _, err := checkOwn(t, f.Definition(), clew.Options{Algorithm: "competition"}, "add 1", "add 1", "add 1", "read 3", "!add 1"); err != nil {
		t.Fatal(err)
	}
	if n := ran.Load(); n > 4 {
		t.Errorf("%d steps of 4 pairs of a state and an operation", n)
	}
}

func TestSlowStepsEndWithTheTimeLimit(t *testing.T) {
	f := funcCounter()
	add := f.Ops["add"]
	f.Ops["add"] = func(n int64, c models.Call) ([]int64, error) {
		time.Sleep(20 * time.Millisecond)
		return add(n, c)
	}
	var ops []string
	for range 1000 {
		ops = append(ops, "add 1")
	}
	r, err := checkOwn(t, f.Definition(), clew.Options{TimeLimit: 50 * time.Millisecond}, ops...)
	if err != nil || r.Verdict != jepsen.Unknown || r.Cause != jepsen.Timeout {
		t.Errorf("%v, %v, want unknown for want of time", r, err)
	}
}

// docs/limits.md says which functions wait for a step that is under way.
func TestOnlyCheckStoreLeavesAStepBehind(t *testing.T) {
	end := make(chan struct{})
	hung := func() (*models.Definition, <-chan struct{}) {
		began := make(chan struct{}, 1)
		f := funcCounter()
		f.Ops["add"] = func(n int64, c models.Call) ([]int64, error) {
			began <- struct{}{}
			<-end
			return []int64{n}, nil
		}
		return f.Definition(), began
	}
	own, _ := hung()
	o := clew.Options{TimeLimit: 100 * time.Millisecond}
	store := fstest.MapFS{"history.edn": {Data: []byte("{:process 0, :type :invoke, :f :add, :value 1}\n{:process 0, :type :ok, :f :add, :value 1}\n")}}
	for run, err := range clew.CheckStore(t.Context(), clew.StoreOptions{Options: o, Spec: models.Own(own), FS: store}, ".") {
		if err != nil || run.Result.Cause != jepsen.Timeout {
			t.Errorf("CheckStore: %v, %s", err, run.Result.Cause)
		}
	}
	own, began := hung()
	h := kit.Calls(t, "add 1")
	ctx, cancel := context.WithCancel(t.Context())
	checked := make(chan error, 1)
	go func() {
		_, err := clew.Check(ctx, h, models.Own(own), clew.Options{})
		checked <- err
	}()
	effort.Receive(t, "the step", began)
	cancel()
	select {
	case <-checked:
		t.Error("Check did not wait for its step")
	case <-time.After(200 * time.Millisecond): // a busy machine only makes an early end harder to see
	}
	close(end)
	if err := effort.Receive(t, "the end of Check", checked); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func TestTheStatesOfFunctionsAreCounted(t *testing.T) {
	f := funcCounter()
	f.Size = func(int64) int { return 1 << 20 }
	memory := clew.NewMemory(8 << 20)
	r, err := checkOwn(t, f.Definition(), clew.Options{Memory: memory}, "add 1", "add 1", "add 1", "add 1", "add 1", "add 1", "add 1", "add 1", "add 1")
	if err != nil || r.Verdict != jepsen.Unknown || r.Cause != jepsen.OutOfMemory {
		t.Errorf("%v, %v, want unknown for want of memory", r, err)
	}
	if r, err := checkOwn(t, funcCounter().Definition(), clew.Options{Memory: memory}, "add 1"); err != nil || r.Verdict != jepsen.Valid {
		t.Errorf("afterwards: %v, %v", r, err)
	}
}

func TestStepsWithSeveralOutcomesAndParts(t *testing.T) {
	t.Parallel()
	// dice is a die per key, which shows anything up to its number of sides.
	type dice [2]int64
	f := models.Func[dice]{
		Name: "dice",
		Ops: map[string]models.StepFunc[dice]{
			"roll": func(s dice, c models.Call) (next []dice, err error) {
				i, _ := c.Value.Items()[0].Int()
				sides, _ := c.Value.Items()[1].Int()
				for n := range sides {
					s[i] = n + 1
					next = append(next, s)
				}
				return next, nil
			},
			"look": func(s dice, c models.Call) ([]dice, error) {
				i, _ := c.Value.Items()[0].Int()
				if n, _ := c.Value.Items()[1].Int(); n != s[i] {
					return nil, models.Inconsistent("die %d shows %d", i, s[i])
				}
				return []dice{s}, nil
			},
		},
		Reads:     []string{"look"},
		Partition: func(c models.Call) any { return c.Value.Items()[0].Class() },
	}
	first := ""
	for range 20 {
		r, err := checkOwn(t, f.Definition(), clew.Options{}, "roll [0 6]", "roll [1 6]", "look [1 4]", "look [0 2]", "roll [0 6]")
		if err != nil || r.Verdict != jepsen.Valid {
			t.Fatal(r, err)
		}
		if first == "" {
			first = r.Final.String()
		}
		if got := r.Final.String(); got != first || !strings.HasSuffix(got, " 4]") {
			t.Fatalf("it ends in %s, and before in %s", got, first)
		}
		r, err = checkOwn(t, f.Definition(), clew.Options{}, "roll [0 6]", "roll [1 6]", "look [1 4]", "look [0 7]", "roll [0 6]")
		if err != nil || r.Verdict != jepsen.Invalid || r.FailEvent.OrNone() != 7 {
			t.Fatal(r, err)
		}
	}
}

func TestLabelsOfFunctionsAreInEveryPicture(t *testing.T) {
	t.Parallel()
	f, labels := funcCounter(), 0
	f.Label = func(c models.Call) string {
		if labels++; c.F == "read" {
			return "" // the usual words
		}
		return fmt.Sprintf("n += %v", c.Value)
	}
	if _, err := checkOwn(t, f.Definition(), clew.Options{}, "add 1", "read 1"); err != nil || labels > 0 {
		t.Errorf("%v, and %d operations of a valid history have labels", err, labels)
	}
	r, err := checkOwn(t, f.Definition(), clew.Options{}, "add 1", "read 2")
	if err != nil || labels != 2 {
		t.Fatalf("%v, and %d labels, want 2", err, labels)
	}
	if text := r.Text(); !strings.Contains(text, "  n += 1   ├") || !strings.Contains(text, "  :read 2  ") {
		t.Errorf("its text is\n%s", text)
	}
	w, err := r.Window(t.Context(), report.WindowOptions{})
	if err != nil || w.Ops[0].Label != "n += 1" || w.Ops[1].Label != "read 2" {
		t.Errorf("its window has %+v, %v", w, err)
	}
}

// What the author's functions say beside the steps takes no verdict away: if they fail, that is a warning.
func TestAFailureOfWhatIsSaidLosesNoVerdict(t *testing.T) {
	t.Parallel()
	said := "the model's label failed, so pictures say it in the history's own words: func-counter: in label: panic: lost, on :add 1 (index 1)"
	shown := "the model's describe failed, so states are shown as they are: func-counter: describe: "
	for name, c := range map[string]struct {
		hook  func(f *models.Func[int64])
		warns string
	}{
		"a label that panics":         {func(f *models.Func[int64]) { f.Label = func(models.Call) string { panic("lost") } }, said},
		"a description that panics":   {func(f *models.Func[int64]) { f.Describe = func(int64) any { panic("no idea") } }, shown + "no idea"},
		"a description that is a map": {func(f *models.Func[int64]) { f.Describe = func(int64) any { return make(chan int) } }, shown},
	} {
		f := funcCounter()
		c.hook(&f)
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine", "competition"} {
			o := clew.Options{Algorithm: algorithm}
			r, err := checkOwn(t, f.Definition(), o, "add 1", "read 2")
			want, _ := checkOwn(t, funcCounter().Definition(), o, "add 1", "read 2")
			if err != nil || r.Verdict != jepsen.Invalid || r.FailEvent != want.FailEvent || r.Explanation != want.Explanation {
				t.Errorf("%s, %s: %v, %v", name, algorithm, r, err)
			} else if !strings.HasPrefix(r.Unsaid, c.warns) || !slices.Contains(r.Warnings(), r.Unsaid) {
				t.Errorf("%s, %s: it warns %q, want %q", name, algorithm, r.Unsaid, c.warns)
			}
			var edn, page bytes.Buffer
			if err := errors.Join(r.WriteEDN(&edn), clew.WritePage(t.Context(), &page, r, report.WindowOptions{})); err != nil || !strings.Contains(edn.String(), ":valid? false") {
				t.Errorf("%s, %s: %v, %s", name, algorithm, err, edn.String())
			}
			if r, err = checkOwn(t, f.Definition(), o, "add 1", "read 1"); err != nil || r.Verdict != jepsen.Valid {
				t.Errorf("%s, %s: %v, %v", name, algorithm, r, err)
			}
		}
	}
}

// A model of the caller's own says where its operations stand.
func TestAnOwnModelHasPositions(t *testing.T) {
	t.Parallel()
	counter := funcCounter()
	counter.Ops["read"] = func(n int64, c models.Call) ([]int64, error) { return []int64{n}, nil }
	counter.Ops["drop"] = func(n int64, c models.Call) ([]int64, error) { return []int64{0}, nil }
	counter.Position = func(c models.Call) (position int64, update, known bool) {
		position, known = c.Out.Int()
		return position, c.F == "add", known
	}
	for _, x := range []struct {
		name, history, want string
		ignored, sparse     bool
	}{
		{name: "in order", history: "add 1 1, read nil 1, add 5 2", want: "linearizable"},
		{name: "a stale read", history: "add 1 1, add 5 2, read nil 1", want: "says position 1, although process 0's :add 5 → 2 (index 3) had said 2 before it began"},
		{name: "ignored", history: "add 1 1, add 5 2, read nil 1", ignored: true, want: "linearizable"},
		{name: "a gap", history: "add 1 1, add 5 3", want: "fewer updates than that had begun"},
		{name: "a gap that may be", history: "add 1 1, add 5 3", sparse: true, want: "linearizable"},
		{name: "an update of a read", history: "add 1 1, drop nil 1", want: "drop tells a position and is not an update, but it may lead to 0, on :drop 1 (index 3) in state 1"},
		{name: "not a natural number", history: "add 1 -1", want: "cannot read the position of process 0's :add 1 → -1 (index 1): expected a natural number below 2^62, found -1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := jepsen.NewBuilder(jepsen.Options{})
			for op := range strings.SplitSeq(x.history, ", ") {
				var f, in string
				var out int
				if _, err := fmt.Sscan(op, &f, &in, &out); err != nil {
					t.Fatal(err)
				}
				given := any(nil)
				if in != "nil" {
					given = int(in[0] - '0')
				}
				b.Invoke(0, f, given)
				b.OK(0, f, out)
			}
			h, err := b.History()
			if err != nil {
				t.Fatal(err)
			}
			f := counter
			f.SparsePositions = x.sparse
			spec := models.Own(f.Definition())
			if x.ignored {
				spec.Position = "none"
			}
			r, err := clew.Check(t.Context(), h, spec, clew.Options{})
			got := fmt.Sprint(err)
			if err == nil {
				got = cmp.Or(r.Explanation, fmt.Sprint(r.Verdict))
			}
			if !strings.Contains(got, x.want) {
				t.Errorf("%s; want %s", got, x.want)
			}
		})
	}
}
