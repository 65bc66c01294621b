package clew_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// TestAHistoryThatDependsOnItsInitialValueIsUndecided: for each model, what its first
// reads show counts, unless something had been called to write it.
func TestAHistoryThatDependsOnItsInitialValueIsUndecided(t *testing.T) {
	for _, c := range []struct{ model, log, init string }{ // "": it is invalid
		{"register", "0 invoke read nil; 0 ok read 0; 0 invoke write 0; 0 ok write 0", "0"},
		{"register", "0 invoke write 0; 1 invoke read nil; 1 ok read 0; 0 fail write 0", ""},
		{"register", "0 invoke write 0; 0 fail write 0; 0 invoke read nil; 0 ok read 0", ""},
		{"register", "0 invoke write 1; 0 ok write 1; 0 invoke read nil; 0 ok read 0", ""},
		{"cas-register", "0 invoke cas [0 1]; 0 ok cas [0 1]", "0"},
		{"versioned-register", "0 invoke read [nil nil]; 0 ok read [3 7]", "[3 7]"},
		{"multi-register", "0 invoke txn [[:r :x nil]]; 0 ok txn [[:r :x 1]]; 0 invoke txn [[:w :y 1]]; 0 ok txn [[:w :y 1]]", "{:x 1}"},
		{"set", "0 invoke read nil; 0 ok read #{1}; 0 invoke add 2; 0 ok add 2", "#{1}"},
		{"lookup-set", "0 invoke contains 1; 0 ok contains true", "#{1}"},
		{"fifo-queue", "0 invoke dequeue nil; 0 ok dequeue 1; 0 invoke enqueue 3; 0 ok enqueue 3; 0 invoke dequeue nil; 0 ok dequeue 2", "[1 2]"},
		{"fifo-queue", "0 invoke enqueue 3; 0 ok enqueue 3; 0 invoke dequeue nil; 0 ok dequeue 2", ""},
		{"stack", "0 invoke pop nil; 0 ok pop 1; 0 invoke pop nil; 0 ok pop 2", "[2 1]"},
		{"kv", "0 invoke get [:a nil]; 0 ok get [:a 1]; 0 invoke put [:b 2]; 0 ok put [:b 2]", "{:a 1}"},
		{"kv", `0 invoke append [:a "x"]; 0 fail append [:a "x"]; 0 invoke get [:a nil]; 0 ok get [:a "x"]`, ""},
		{"counter", "0 invoke read nil; 0 ok read 10; 0 invoke add 1; 0 ok add 1; 0 invoke read nil; 0 ok read 11", "10"},
		{"counter", "0 invoke add 5; 0 fail add 5; 0 invoke read nil; 0 ok read 5", ""},
		{"bank", "0 invoke transfer {:from 0 :to 1 :amount 5}; 0 ok transfer {:from 0 :to 1 :amount 5}; 0 invoke read nil; 0 ok read {0 5 1 15}", "{0 10, 1 10}"},
		{"log", "0 invoke read nil; 0 ok read [1 2]; 0 invoke append 3; 0 ok append 2", "[1 2]"},
	} {
		var text strings.Builder
		for _, line := range strings.Split(c.log, "; ") {
			x := strings.SplitN(line, " ", 4)
			fmt.Fprintf(&text, "{:process %s :type :%s :f :%s :value %s}\n", x[0], x[1], x[2], x[3])
		}
		r := checkedText(t, text.String(), models.Spec{Name: c.model}, clew.Options{})
		switch {
		case c.init == "" && r.Verdict != jepsen.Invalid, c.init != "" && r.Cause != jepsen.InitialValue:
			t.Errorf("%s, %s: %v %s %s", c.model, c.log, r.Verdict, r.Cause, r.Explanation)
		case c.init != "" && (r.LikelyInit != c.init || !strings.HasPrefix(r.Explanation, "linearizable if the initial value is "+c.init+", not if it is ")):
			t.Errorf("%s, %s: %s, %s; expected %s", c.model, c.log, r.LikelyInit, r.Explanation, c.init)
		}
		if r = checkedText(t, text.String(), models.Spec{Name: c.model}.FromDefault(), clew.Options{}); r.Verdict != jepsen.Invalid {
			t.Errorf("%s from its default, %s: %v", c.model, c.log, r.Verdict)
		}
	}
}

// TestACrashedWriteOfTheInitialValueIsHintedAt: it may have written what an early read saw,
// so that the verdict stands, but a failed one may not.
func TestACrashedWriteOfTheInitialValueIsHintedAt(t *testing.T) {
	const read = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 0}\n"
	for _, c := range []struct{ text, hint string }{
		{"{:process 1, :type :invoke, :f :cas, :value [4 0]}\n{:process 1, :type :info, :f :cas, :value [4 0]}\n" + read,
			"it is linearizable if the initial value is 0, which a crashed operation had been called to write by then: --init 0"},
		{"{:process 1, :type :invoke, :f :cas, :value [4 0]}\n{:process 1, :type :fail, :f :cas, :value [4 0]}\n" + read, ""},
		{"{:process 1, :type :invoke, :f :cas, :value [4 0]}\n" + read + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 3}\n", ""},
	} {
		for _, algorithm := range []string{"", "porcupine"} {
			r := checkedText(t, c.text, models.Spec{Name: "cas-register"}, clew.Options{Algorithm: algorithm})
			if r.Verdict != jepsen.Invalid || r.Hint != c.hint {
				t.Errorf("%s%v: %q; expected %q", c.text, r.Verdict, r.Hint, c.hint)
			}
		}
	}
}

// TestInitialValuesOfSmallHistoriesAgainstExhaustiveSearch: a register is undecided if
// and only if no order works from nil, and one does from a value that some read or cas
// shows before anything was called to write it.
func TestInitialValuesOfSmallHistoriesAgainstExhaustiveSearch(t *testing.T) {
	random, undecided := gen.Rand(35), 0
	for n := range 3000 {
		var text strings.Builder
		open, shows := map[int][2]string{}, map[string]bool{}
		var called []string
		for range 4 + random.IntN(12) {
			p := random.IntN(3)
			f, busy := open[p]
			if !busy {
				f = [2]string{[]string{"read", "read", "write"}[random.IntN(3)], fmt.Sprint(random.IntN(3))}
				open[p] = f
				given := f[1]
				if f[0] == "read" {
					given = "nil"
				} else {
					called = append(called, f[1])
				}
				fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :%s, :value %s}\n", p, f[0], given)
				continue
			}
			end := []string{"ok", "ok", "ok", "fail"}[random.IntN(4)]
			delete(open, p)
			fmt.Fprintf(&text, "{:process %d, :type :%s, :f :%s, :value %s}\n", p, end, f[0], f[1])
			if end == "ok" && f[0] == "read" && !strings.Contains(strings.Join(called, " "), f[1]) {
				shows[f[1]] = true
			}
		}
		holds := func(init string) bool {
			is, err := oracle.Naive(text.String(), oracle.NaiveOptions{Model: "register", Init: init})
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		want, cause := jepsen.Invalid, jepsen.Cause("")
		if holds("nil") {
			want = jepsen.Valid
		} else {
			for value := range shows {
				if holds(value) {
					want, cause = jepsen.Unknown, jepsen.InitialValue
					undecided++
				}
			}
		}
		h, err := clew.Read(strings.NewReader(text.String()), "", jepsen.Options{})
		if err != nil {
			continue // no operations
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{})
		if err != nil || r.Verdict != want || r.Cause != cause {
			t.Fatalf("history %d: %v, %+v; expected %v of\n%s", n, err, r, want, text.String())
		}
	}
	if undecided < 100 {
		t.Errorf("%d undecided, expected more", undecided)
	}
}
