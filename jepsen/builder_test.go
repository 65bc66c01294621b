package jepsen_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// columns returns the events and operations of a history, without their places. Of equal
// values the first spelling stands for all.
func columns(h *jepsen.History, spelling *edn.Values) []string {
	text := func(id edn.ID) string {
		x, err := spelling.From(h.Values.Value(id))
		return fmt.Sprint(x.Class(), " ", err)
	}
	all := []string{fmt.Sprint(h.Events, h.Skipped, len(h.Processes))}
	for e := range h.Type {
		all = append(all, fmt.Sprint(h.Type[e], text(h.Processes[h.Process[e]]), text(h.F[e]), text(h.Value[e]),
			text(h.Key(jepsen.Event(e))), h.Index(jepsen.Event(e)), h.OpOf[e]))
	}
	for op := range h.Invocation {
		all = append(all, fmt.Sprint(h.Invocation[op], h.Completion[op], h.Status[op]))
	}
	return all
}

// generated calls f with histories of many kinds.
func generated(t *testing.T, f func(h *jepsen.History, text string)) {
	r := gen.Rand(5)
	for _, model := range []string{"register", "cas-register", "versioned-register", "multi-register", "set", "lookup-set",
		"fifo-queue", "stack", "kv", "owner-semaphore", "java-queue"} {
		for range 40 {
			text := gen.New(r, gen.Options{Model: model, Permits: 2}).Text
			h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f(h, text)
		}
	}
}

func TestABuiltHistoryIsAsIfItHadBeenRead(t *testing.T) {
	compared := 0
	generated(t, func(h *jepsen.History, text string) {
		if h.Skipped > 0 || len(h.Warnings) > 0 {
			return
		}
		compared++
		b := jepsen.NewBuilder(jepsen.Options{})
		for e, kind := range h.Type {
			process, _ := h.Values.Int(h.Processes[h.Process[e]])
			with := []jepsen.Extra{jepsen.With("index", h.Index(jepsen.Event(e)))}
			if key := h.Key(jepsen.Event(e)); key != edn.Nil {
				with = append(with, jepsen.With("key", h.Values.Value(key).Go()))
			}
			add := map[jepsen.Type]func(int, string, any, ...jepsen.Extra){jepsen.Invoke: b.Invoke, jepsen.OK: b.OK, jepsen.Fail: b.Fail, jepsen.Info: b.Info}[kind]
			add(int(process), h.Values.Text(h.F[e]), h.Values.Value(h.Value[e]).Go(), with...)
		}
		built, err := b.History()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		spelling := edn.NewValues()
		if got, want := columns(built, spelling), columns(h, spelling); !slices.Equal(got, want) {
			t.Fatalf("%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
	})
	if compared < 100 {
		t.Errorf("only %d histories were compared", compared)
	}
}

func TestIntervalsAreAsIfTheirEventsHadBeenRead(t *testing.T) {
	generated(t, func(h *jepsen.History, text string) {
		var ops []jepsen.Interval
		for op, status := range h.Status {
			o := jepsen.Operation(op)
			inv := h.Invocation[op]
			process, _ := h.Values.Int(h.Processes[h.Process[inv]])
			x := jepsen.Interval{
				Process: int(process), F: h.Values.Text(h.F[inv]), Status: status, Call: 3 * int64(inv), Return: 3 * int64(h.Completion[op]),
				Input: h.Values.Value(h.Value[inv]), Output: h.Values.Value(h.OpValue(o)), Key: h.Values.Value(h.Key(inv)).Go(),
			}
			ops = append(ops, x)
		}
		gen.Rand(1).Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
		got, err := jepsen.FromIntervals(ops)
		if err != nil {
			t.Fatal(err)
		}
		if got.Operations() != h.Operations() || got.CrashedCount() != h.CrashedCount() {
			t.Fatalf("%d operations, %d crashed; want %d, %d", got.Operations(), got.CrashedCount(), h.Operations(), h.CrashedCount())
		}
		for op := range jepsen.Operation(h.Operations()) {
			a, b := got.Op(op), h.Op(op)
			if fmt.Sprint(a.Process, a.F, a.Status) != fmt.Sprint(b.Process, b.F, b.Status) || !same(got, h, op) {
				t.Fatalf("operation %d is %v, want %v\n%s", op, a, b, text)
			}
			for other := range jepsen.Operation(h.Operations()) {
				if before(got, op, other) != before(h, op, other) {
					t.Fatalf("real time differs for operations %d and %d of\n%s", op, other, text)
				}
			}
		}
	})
}

// same says whether an operation has the same value and key in both histories.
func same(a, b *jepsen.History, op jepsen.Operation) bool {
	value, _ := a.Values.From(b.Values.Value(b.OpValue(op)))
	key, _ := a.Values.From(b.Values.Value(b.Key(b.Invocation[op])))
	return a.Values.Value(a.OpValue(op)).Class() == value.Class() && a.Values.Value(a.Key(a.Invocation[op])).Class() == key.Class()
}

// before says whether an operation returned before another one began.
func before(h *jepsen.History, a, b jepsen.Operation) bool {
	return h.Status[a] != jepsen.Crashed && h.Completion[a] < h.Invocation[b]
}

func TestBuildersSayWhatMakesNoSense(t *testing.T) {
	for _, c := range []struct {
		want  string
		build func(b *jepsen.Builder)
	}{
		{"process 0's :invoke :read (index 1) begins while its :invoke :write (index 0) is still open; expected a completion first",
			func(b *jepsen.Builder) { b.Invoke(0, "write", 1); b.Invoke(0, "read", nil) }},
		{"process 0's :ok :read (index 0) has no invocation: it is the first event of its process",
			func(b *jepsen.Builder) { b.OK(0, "read", 1); b.OK(1, "later", 1) }},
		{"process 0's :ok :read (index 1) completes its :invoke :write (index 0) with a different :f; expected :write",
			func(b *jepsen.Builder) { b.Invoke(0, "write", 1); b.OK(0, "read", 1) }},
		{"process 0's :ok :write (index 2) comes after its own :info :write (index 1); expected an invocation",
			func(b *jepsen.Builder) { b.Invoke(0, "write", 1); b.Info(0, "write", 1); b.OK(0, "write", 1) }},
		{`event 0, process 3's :invoke "a b": expected an :f such as "write"`, func(b *jepsen.Builder) { b.Invoke(3, "a b", 1) }},
		{`event 0, process 3's :invoke "": expected an :f such as "write"`, func(b *jepsen.Builder) { b.Invoke(3, "", 1) }},
		{`event 1, process 1's :invoke "write": expected a value in plain Go (nil, a boolean, number, string, Keyword, Symbol, slice or map), found a chan int`,
			func(b *jepsen.Builder) { b.Invoke(0, "write", 1); b.Invoke(1, "write", make(chan int)) }},
		{`event 0, process 1's :invoke "write": expected another key, found :f`,
			func(b *jepsen.Builder) { b.Invoke(1, "write", 1, jepsen.With("f", 1)) }},
		{`event 0, process 1's :invoke "write": expected an integer for its :index, found "a"`,
			func(b *jepsen.Builder) { b.Invoke(1, "write", 1, jepsen.With("index", "a")) }},
	} {
		b := jepsen.NewBuilder(jepsen.Options{})
		c.build(b)
		_, err := b.History()
		var located *edn.Error
		if !errors.As(err, &located) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if _, again := b.History(); again != err {
			t.Errorf("then %v", again)
		}
	}
	b := jepsen.NewBuilder(jepsen.Options{File: "trace 5"})
	b.OK(0, "read", 1)
	if _, err := b.History(); err == nil || !strings.HasPrefix(err.Error(), "trace 5: process 0's") {
		t.Errorf("%v does not name the history", err)
	}
}

func TestAHistoryNeverChanges(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "read", nil)
	h, err := b.History()
	if again, errAgain := b.History(); err != nil || again != h || errAgain != nil {
		t.Fatalf("%v, then %v", err, errAgain)
	}
	b.OK(0, "read", 1)
	if _, err := b.History(); err == nil || h.Status[0] != jepsen.Crashed || len(h.Type) != 1 {
		t.Errorf("an event after History: %v", err)
	}
}

func TestZeroValuesAreErrorsAndNoPanics(t *testing.T) {
	for _, b := range []*jepsen.Builder{nil, {}} {
		b.Invoke(0, "read", nil)
		b.OK(0, "read", 1)
		if h, err := b.History(); h != nil || err != jepsen.ErrNoBuilder || b.Values() != nil {
			t.Errorf("History: %v", err)
		}
	}
	h := new(jepsen.History)
	if h.Operations() != 0 || h.CrashedCount() != 0 {
		t.Error("the zero History has operations")
	}
	if _, err := h.Independent(); err != jepsen.ErrNoHistory {
		t.Errorf("Independent: %v", err)
	}
	if h, err := jepsen.FromIntervals(nil); err != nil || h.Operations() != 0 {
		t.Errorf("no intervals: %v", err)
	}
}

func TestOperationsAreShownInPlainGo(t *testing.T) {
	h, err := forms.Read(strings.NewReader(`
		{:index 7, :process 3, :type :invoke, :f :read, :value nil, :key :k}
		{:index 9, :process 3, :type :ok, :f :read, :value [1 "a"]}
		{:index 10, :process 123456789012345678901234567890, :type :invoke, :f "odd", :value 5}`), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := h.Op(0), h.Op(1)
	if got := fmt.Sprint([]any{first.Process, first.F, first.Value, first.Key, first.Status, first.Index, first.Line}); got != "[3 read [1 a] k succeeded 9 3]" {
		t.Errorf("it is %s", got)
	}
	if got := first.String(); got != `process 3's :read :k [1 "a"] (index 9)` {
		t.Errorf("its name is %s", got)
	}
	if got := fmt.Sprint([]any{second.Process, second.F, second.Value, second.Key, second.Status, second.Index}); got != `[0 "odd" 5 <nil> crashed 10]` {
		t.Errorf("it is %s", got)
	}
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, ":add", new(big.Int).Lsh(big.NewInt(1), 80))
	if h, err := b.History(); err != nil || h.Op(0).F != "add" || h.Line(0) != 0 || h.Where(0) != "index 0" {
		t.Errorf("a built operation: %v, %v", h.Op(0), err)
	}
}

func TestIntervalsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		op   jepsen.Interval
		want string
	}{
		{jepsen.Interval{Process: 1, F: "read", Call: 7, Return: 5}, "interval 1 (process 1's read): it returns at 5, before its call at 7"},
		{jepsen.Interval{Process: 1, F: "read", Call: 7, Return: 5, Status: jepsen.Failed}, "interval 1 (process 1's read): it returns at 5, before its call at 7"},
		{jepsen.Interval{Process: 1, Return: 5}, `interval 1 (process 1's ): expected an :f such as "write"`},
		{jepsen.Interval{Process: 1, F: "read", Status: 9}, "interval 1 (process 1's read): expected the status Succeeded, Failed or Crashed"},
		{jepsen.Interval{Process: 1, F: "read", Output: struct{}{}}, "interval 1 (process 1's read): expected a value in plain Go (nil, a boolean, number, string, Keyword, Symbol, slice or map), found a struct {}"},
	} {
		if _, err := jepsen.FromIntervals([]jepsen.Interval{{F: "read", Return: 1}, c.op}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestAProcessMayHaveSeveralIntervalsAtOnce(t *testing.T) {
	h, err := jepsen.FromIntervals([]jepsen.Interval{
		{F: "write", Input: 1, Call: 0, Return: 9},
		{F: "write", Input: 2, Call: 0, Return: 0},
		{F: "read", Output: 2, Call: 5, Return: 6, Status: jepsen.Failed},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, op := range h.OpOf {
		got = append(got, fmt.Sprintf("%d %s %s", op, h.Type[e], h.Values.Text(h.Value[e])))
	}
	if s := strings.Join(got, ", "); s != "0 :invoke 1, 1 :invoke 2, 1 :ok 2, 2 :invoke nil, 2 :fail nil, 0 :ok 1" {
		t.Errorf("events: %s", s)
	}
}
