package jepsen_test

import (
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// oddOps are op maps as people and programs write them. Each of them comes many times, so
// that a reader learns how it is printed.
var oddOps = []string{
	`{:type :invoke, :f :write, :value 1, :process P, :time 12, :index I}`,
	`{:index I, :time 007, :process P, :type :ok, :f :write, :value (1 [2N] #{3 1.0 2})}`,
	`{:index I :process P :type :invoke :f :read}`,
	`{:process P, :type :info, :f :read, :value nil, :error [:timeout "a\tb" \c], :index I}`,
	`{:process P, :type :invoke, :f :cas, :value [1 [2 3]], :time -5, :a 1.50M, :b 0, :c nil}`,
	`{:process P, :type :fail, :f :cas, :value [1 [2 3]], :z/y {:k 1, :a {2 3}}, :error #{b a "c"}}`,
	`{:process P, :type :invoke, :f :read, :value nil, :time 1234567890123456789012, :x +5, :y 1N}`,
	`{:process P, :type :ok, :f :read, :value #inst "2020-01-01T00:00:00Z", :host 10.0.0.1, :e #object[Foo 0x1 "x"]}`,
	`{:process P, :type :invoke, :f :read, "string" 1, :value nil, [1 2] 3, 4 5}`,
	`{:process P, :type :ok, :f :read, :value ##NaN, :error #<Foo bar>}`,
	`{:process P, :type :invoke, :f :read, :key {:a 1}, :value "k", :twice 1, :twice 1}`,
	"{:process P, :type :ok, :f :read, :key {:a 1}, :value \"k\", :text \"two\nlines\"}",
	`{:process P, :type :invoke, :f :read, :value ["k" 1], :1x 2, :time 3}`,
	`{:process P, :type :ok, :f :read, :value ["k" 1], :1x 2, :time 3, ::y 4, :odd {:a}}`,
}

// A printer appends the same text that the map prints, byte for byte.
func TestAPrinterPrintsWhatTheMapsPrint(t *testing.T) {
	var text strings.Builder
	for i := range 40 * len(oddOps) {
		op := oddOps[i%len(oddOps)]
		process := i / len(oddOps) % 3
		op = strings.ReplaceAll(strings.ReplaceAll(op, "P", string(rune('0'+process))), "I", string(rune('1'+i%9)))
		text.WriteString(op + "\n")
	}
	h, err := forms.Read(strings.NewReader(text.String()), "odd.edn", jepsen.Options{AnyFailedF: true})
	if err != nil {
		t.Fatal(err)
	}
	histories := []*jepsen.History{h, built(t)}
	keyed, err := h.IndependentOrShared()
	if err != nil {
		t.Fatal(err)
	}
	for i := range keyed.Keys {
		histories = append(histories, keyed.History(i).History)
	}
	for _, h := range histories {
		before := h.Values.Len()
		p := h.OpPrinter()
		var events, ops []string
		for e := range jepsen.Event(len(h.Type)) {
			events = append(events, string(p.AppendEvent(nil, e)))
		}
		for i := range events { // in another order
			if i = i * 149 % len(events); string(p.AppendEvent(nil, jepsen.Event(i))) != events[i] {
				t.Errorf("event %d prints otherwise after another one", i)
			}
		}
		for op := range jepsen.Operation(h.Operations()) {
			ops = append(ops, string(p.AppendOperation(nil, op)))
		}
		if h.Values.Len() > before {
			t.Errorf("printing added %d values", h.Values.Len()-before)
		}
		for e, got := range events {
			if want := h.EventMap(jepsen.Event(e)).String(); got != want {
				t.Errorf("event %d: %s; want %s", e, got, want)
			}
		}
		for op, got := range ops {
			if want := h.OperationMap(jepsen.Operation(op)).String(); got != want {
				t.Errorf("operation %d: %s; want %s", op, got, want)
			}
		}
	}
}

// built returns a history of a program.
func built(t *testing.T) *jepsen.History {
	b := jepsen.NewBuilder(jepsen.Options{})
	for i := range 20 {
		b.Invoke(i, "write", []any{i, "a"}, jepsen.With("time", i), jepsen.With("index", 3*i))
		b.OK(i, "write", []any{i, "b"})
		b.Invoke(i, "write", nil, jepsen.With("key", "k"), jepsen.With("index", 3*i+2))
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}
