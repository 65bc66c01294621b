package jepsen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// Histories that share arrays are the same as those of the keys alone, and none reaches
// into the next.
func TestHistoriesOfSeveralKeysAreThoseOfEachAlone(t *testing.T) {
	var text strings.Builder
	text.WriteString("{:process 9 :type :invoke :f :read :value nil :index 700 :key :k}\n")
	for i := range 30 {
		fmt.Fprintf(&text, "{:process %d :type :invoke :f :write :value [%q %d]}\n", i%3, fmt.Sprint("k", i%7), i)
		fmt.Fprintf(&text, "{:process %d :type %s :f :write :value [%q %d]}\n\n", i%3, []string{":ok", ":ok", ":fail"}[i%3], fmt.Sprint("k", i%7), i)
	}
	h, err := forms.Read(strings.NewReader(text.String()), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := h.IndependentOrShared()
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{6, 0, 3, 3, 1}
	together := keyed.Histories(rows)
	for i, row := range rows {
		if got, want := shown(together[i]), shown(keyed.History(row)); got != want {
			t.Errorf("key %d: got\n%s\nwant\n%s", row, got, want)
		}
	}
	for i, row := range rows {
		if got := keyed.History(row).Operations(); got != together[i].Operations() || got != (30-row+6)/7+1 {
			t.Errorf("key %d has %d operations, the one that has no key included", row, got)
		}
	}
	second := shown(together[1])
	first := together[0]
	first.Type = append(first.Type, jepsen.Info)
	first.Value = append(first.Value, 0)
	first.Status = append(first.Status, jepsen.Failed)
	first.WholeOp = append(first.WholeOp, 0)
	if shown(together[1]) != second {
		t.Error("what is appended to one history changes another")
	}
}

// Keys and values that are equal in Clojure are one, in any form.
func TestEqualKeysOfDifferentFormAreOneKey(t *testing.T) {
	const text = `{:process 0 :type :invoke :f :write :value [1 5]}
{:process 0 :type :ok :f :write :value [1N 5]}
{:process 0 :type :invoke :f :read :value [1N nil]}
{:process 0 :type :ok :f :read :value [1 5N]}
{:process 0 :type :invoke :f :write :value [[1 2] 5]}
{:process 0 :type :ok :f :write :value [(1 2N) 5]}
`
	h, err := forms.Read(strings.NewReader(text), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := h.Independent()
	if err != nil {
		t.Fatal(err)
	}
	if len(keyed.Keys) != 2 || keyed.History(0).Operations() != 2 || keyed.History(1).Operations() != 1 {
		t.Errorf("%d keys, want 1 with two operations and [1 2] with one", len(keyed.Keys))
	}
}

// The value that counts for an operation must have a key, unless the operation belongs to
// every key.
func TestAnOperationWithoutAKeyIsAnError(t *testing.T) {
	const keyed = "{:process 0 :type :invoke :f :write :value [:a 1]}\n{:process 0 :type :ok :f :write :value [:a 1]}\n"
	for text, want := range map[string]string{
		"{:process 1 :type :invoke :f :read :value nil}\n{:process 1 :type :ok :f :read :value [:a 1]}": "",
		"{:process 1 :type :invoke :f :read :value nil}\n{:process 1 :type :fail :f :read :value 2}":    "",
		"{:process 1 :type :invoke :f :read :value [:a nil]}\n{:process 1 :type :ok :f :read :value 2}": "read (index 3), found 2",
		"{:process 1 :type :invoke :f :read :value 3}":                                                  "read (index 2), found 3",
		"{:process 1 :type :invoke :f :cas :value [1 2 3]}":                                             "",
		"{:process 1 :type :invoke :f :y :value [1 2 3]}\n{:process 2 :type :invoke :f :x :value 4}":    "y (index 2), found [1 2 3]",
	} {
		h, err := forms.Read(strings.NewReader(keyed+text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.IndependentOrShared(); err != nil {
			t.Errorf("%s: shared: %v", text, err)
		}
		_, err = h.Independent()
		if want != "" {
			want = "Options.Independent: expected [key value] for the value of :" + want + "; with Options.Keyless, an operation without a key belongs to every key"
		}
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// nil is a key like any other, and a completion may be the first to name it.
func TestAKeyMayBeNil(t *testing.T) {
	h, err := forms.Read(strings.NewReader(`{:process 0 :type :invoke :f :read :value nil}
{:process 0 :type :ok :f :read :value [nil 5]}
{:process 0 :type :invoke :f :write :value [nil 6]}
{:process 0 :type :ok :f :write :value [nil 6]}
{:process 0 :type :invoke :f :write :value [:a 7]}
{:process 0 :type :info :f :write :value nil}
`), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := h.Independent()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, key := range keyed.Keys {
		for _, v := range keyed.History(row).Value {
			got = append(got, h.Values.Text(key)+" "+h.Values.Text(v))
		}
	}
	if all := strings.Join(got, ", "); all != "nil nil, nil 5, nil 6, nil 6, :a 7, :a nil" && all != ":a 7, :a nil, nil nil, nil 5, nil 6, nil 6" {
		t.Error(all)
	}
}

// shown returns everything in a key's history.
func shown(k *jepsen.KeyHistory) string {
	s := fmt.Sprint(k.Events, k.Skipped, k.WholeOp, k.Invocation, k.Completion, k.Status, k.Type, k.Process, k.F, k.Value, k.OpOf)
	for e := range jepsen.Event(len(k.Type)) {
		s += fmt.Sprintln(k.InWhole(e), k.Index(e), k.Line(e), k.Col(e), k.Values.Text(k.Key(e)), k.EventMap(e))
	}
	if !slices.IsSorted(k.WholeOp) {
		s += "unsorted"
	}
	return s
}

// Operations without a key count for each key. Too many copies are refused before they are
// made.
func TestCopiesOfOperationsWithoutAKeyAreBounded(t *testing.T) {
	for _, c := range []struct {
		shared, keys int
		fails        bool
	}{{7000, 7000, false}, {7100, 7100, true}, {100, 7100, false}} {
		b := jepsen.NewBuilder(jepsen.Options{File: "h"})
		for i := range c.shared + c.keys {
			var value any = i
			if i >= c.shared {
				value = []any{i, i}
			}
			b.Invoke(0, "write", value)
			b.OK(0, "write", value)
		}
		h, err := b.History()
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.IndependentOrShared()
		if want := fmt.Sprintf("Options.Independent: %d operations have no [key value] and count for each of %d keys; clew takes 50000000 such copies", c.shared, c.keys); (err != nil) != c.fails || err != nil && err.Error() != want {
			t.Errorf("%d operations for %d keys: %v", c.shared, c.keys, err)
		}
	}
}

// Keys are in the order of numbers, and then of texts.
func TestKeysAreSorted(t *testing.T) {
	b := jepsen.NewBuilder(jepsen.Options{File: "h"})
	for _, key := range []any{"b", 10, "a", 9, -1, "c", 2.5, 11, true} {
		b.Invoke(0, "write", []any{key, 1})
		b.OK(0, "write", []any{key, 1})
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := h.Independent()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, key := range keyed.Keys {
		got = append(got, h.Values.Text(key))
		if own := keyed.History(row); own.Operations() != 1 || int(own.WholeOp[0]) != slices.Index([]string{`"b"`, "10", `"a"`, "9", "-1", `"c"`, "2.5", "11", "true"}, got[row]) {
			t.Errorf("key %s has operations %v", got[row], own.WholeOp)
		}
	}
	if all := strings.Join(got, " "); all != `-1 9 10 11 "a" "b" "c" 2.5 true` {
		t.Error(all)
	}
}
