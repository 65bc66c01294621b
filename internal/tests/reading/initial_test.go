package reading_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/second"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// TestAHistoryThatDependsOnItsInitialValueIsUndecided checks for each model that what its first reads show counts,
// unless some operation had been called to write it.
func TestAHistoryThatDependsOnItsInitialValueIsUndecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, log, init string }{ // "": it is invalid
		{"register", "0 invoke read nil; 0 ok read 0; 0 invoke write 0; 0 ok write 0", "0"},
		{"register", "0 invoke write 0; 1 invoke read nil; 1 ok read 0; 0 fail write 0", ""},
		{"register", "0 invoke write 0; 0 fail write 0; 0 invoke read nil; 0 ok read 0", ""},
		{"register", "0 invoke write 1; 0 ok write 1; 0 invoke read nil; 0 ok read 0", ""},
		{"cas-register", "0 invoke cas [0 1]; 0 ok cas [0 1]", "0"},
		{"cas-register", "0 invoke cas [0 3]; 0 info cas [0 3]; 1 invoke read nil; 1 ok read 3", "0 or 3"},
		{"cas-register", "0 invoke cas [0 3]; 0 info cas [0 3]; 1 invoke cas [3 4]; 1 info cas [3 4]; 2 invoke read nil; 2 ok read 4", "0 or 4"},
		{"cas-register", "0 invoke cas [0 3]; 1 invoke read nil; 1 ok read 3; 2 invoke write 0; 2 ok write 0; 0 ok cas [0 3]", "0"},
		{"cas-register", "0 invoke cas [0 3]; 1 invoke read nil; 1 ok read 3; 2 invoke write 0; 0 ok cas [0 3]; 2 ok write 0", "0"},
		{"cas-register", "0 invoke cas [0 3]; 0 fail cas [0 3]; 1 invoke read nil; 1 ok read 3", ""},
		{"cas-register", "2 invoke write 0; 2 fail write 0; 0 invoke cas [0 3]; 0 info cas [0 3]; 1 invoke read nil; 1 ok read 3", ""},
		{"cas-register", "2 invoke write 1; 2 ok write 1; 0 invoke cas [0 3]; 0 info cas [0 3]; 1 invoke read nil; 1 ok read 3", ""},
		{"multi-register", "0 invoke txn [[:r :x nil] [:w :y 3]]; 1 invoke txn [[:r :y nil]]; 1 ok txn [[:r :y 3]]; 2 invoke txn [[:w :x 7]]; 0 ok txn [[:r :x 7] [:w :y 3]]", "{:x 7}"},
		{"kv", "0 invoke cas [:a [0 3]]; 0 info cas [:a [0 3]]; 1 invoke get [:a nil]; 1 ok get [:a 3]", "{:a 0} or {:a 3}"},
		{"kv", "0 invoke get [:b nil]; 0 ok get [:b 5]; 0 invoke cas [:a [0 3]]; 0 info cas [:a [0 3]]; 1 invoke get [:a nil]; 1 ok get [:a 3]; 2 invoke cas [:c [1 2]]; 2 info cas [:c [1 2]]; 1 invoke get [:c nil]; 1 ok get [:c 2]", "{:a 0, :b 5, :c 1} or {:a 3, :b 5, :c 2}"},
		{"kv", "0 invoke put [:a 0]; 0 fail put [:a 0]; 0 invoke cas [:a [0 3]]; 0 info cas [:a [0 3]]; 1 invoke get [:a nil]; 1 ok get [:a 3]", ""},
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
		{"counter", "0 invoke incr 1; 1 invoke read nil; 1 ok read 5; 0 ok incr 5", "4"},
		{"counter", "0 invoke add 1; 1 invoke read nil; 1 ok read 5; 0 ok add 1; 1 invoke read nil; 1 ok read 5", "4"},
		{"counter", "0 invoke incr nil; 0 ok incr 11; 0 invoke incr nil; 0 ok incr 13", ""},
		{"counter", "1 invoke add 10; 1 fail add 10; 0 invoke incr nil; 0 ok incr 11", ""},
		{"fifo-queue", "0 invoke dequeue nil; 0 ok dequeue 1; 0 invoke peek nil; 0 ok peek 1", "[1 1]"},
		{"fifo-queue", "0 invoke peek nil; 0 ok peek 1; 0 invoke dequeue nil; 0 ok dequeue 1; 0 invoke peek nil; 0 ok peek 2", "[1 2]"},
		{"stack", "0 invoke pop nil; 0 ok pop 1; 0 invoke pop nil; 0 ok pop 2; 0 invoke peek nil; 0 ok peek 1", "[1 2 1]"},
		{"versioned-register", "0 invoke write [nil 8]; 0 ok write [4 8]; 0 invoke write [nil 8]; 0 ok write [4 8]", ""},
		{"lease", "0 invoke check nil; 0 ok check :a", "[:a 0]"},
		{"lease", "0 invoke check nil; 0 ok check [:a 3]; 0 invoke claim [:b 4]; 0 ok claim [:b 4]", "[:a 3]"},
		{"lease", "0 invoke release [:a 3]; 0 ok release [:a 3]", "[:a 3]"},
		{"lease", "0 invoke check nil; 0 ok check [:a 3]; 0 invoke claim [:b 3]; 0 ok claim [:b 3]", ""},
		{"lease", "1 invoke claim [:a nil]; 1 fail claim [:a nil]; 0 invoke check nil; 0 ok check :a", ""},
		{"bank", "0 invoke transfer {:from 0 :to 1 :amount 5}; 0 ok transfer {:from 0 :to 1 :amount 5}; 0 invoke read nil; 0 ok read {0 5 1 15}", "{0 10, 1 10}"},
		{"log", "0 invoke read nil; 0 ok read [1 2]; 0 invoke append 3; 0 ok append 2", "[1 2]"},
	} {
		var text strings.Builder
		for _, line := range strings.Split(c.log, "; ") {
			x := strings.SplitN(line, " ", 4)
			fmt.Fprintf(&text, "{:process %s :type :%s :f :%s :value %s}\n", x[0], x[1], x[2], x[3])
		}
		r := kit.CheckedText(t, text.String(), models.Spec{Name: c.model}, clew.Options{})
		likely, _, _ := strings.Cut(c.init, " or ")
		switch {
		case c.init == "" && r.Verdict != jepsen.Invalid, c.init != "" && r.Cause != jepsen.InitialValue:
			t.Errorf("%s, %s: %v %s %s", c.model, c.log, r.Verdict, r.Cause, r.Explanation)
		case c.init != "" && (r.LikelyInit != likely || !strings.HasPrefix(r.Explanation, "linearizable if the initial value is "+c.init+", not if it is ")):
			t.Errorf("%s, %s: %s, %s; expected %s", c.model, c.log, r.LikelyInit, r.Explanation, c.init)
		}
		if r = kit.CheckedText(t, text.String(), models.Spec{Name: c.model}.FromDefault(), clew.Options{}); r.Verdict != jepsen.Invalid {
			t.Errorf("%s from its default, %s: %v", c.model, c.log, r.Verdict)
		}
	}
}

// TestACrashedWriteOfTheInitialValueIsHintedAt: a crashed write may have written what an early read saw, so the
// verdict stands. So may a cas that says it failed, which is common, and a write that was open. A failed write is not hinted at.
func TestACrashedWriteOfTheInitialValueIsHintedAt(t *testing.T) {
	t.Parallel()
	const read = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 0}\n"
	const failed = "{:process 2, :type :invoke, :f :write, :value 4}\n{:process 2, :type :fail, :f :write, :value 4}\n"
	const crashed = "{:process 1, :type :invoke, :f :cas, :value [4 0]}\n{:process 1, :type :info, :f :cas, :value [4 0]}\n"
	for _, c := range []struct {
		text   string
		cause  jepsen.Cause
		advice string
	}{
		{failed + crashed + read, "",
			"it is linearizable if the initial value is 0, which a crashed operation had begun to write by then: Spec.Init 0"},
		{crashed + read, jepsen.InitialValue,
			"linearizable if the initial value is 4 or 0, not if it is nil: Spec.Init 4, Spec.Init 0 or Spec.Init nil says which"},
		{"{:process 1, :type :invoke, :f :cas, :value [4 0]}\n{:process 1, :type :fail, :f :cas, :value [4 0]}\n" + read, "",
			"it is linearizable if the initial value is 0, which a failed :cas had been called to write by then: Spec.Init 0"},
		{"{:process 1, :type :invoke, :f :write, :value 0}\n{:process 1, :type :fail, :f :write, :value 0}\n" + read, "", ""},
		{"{:process 1, :type :invoke, :f :write, :value 0}\n{:process 2, :type :invoke, :f :cas, :value [0 1]}\n{:process 2, :type :ok, :f :cas, :value [0 1]}\n" +
			"{:process 3, :type :invoke, :f :write, :value 2}\n{:process 3, :type :ok, :f :write, :value 2}\n{:process 1, :type :ok, :f :write, :value 0}\n" +
			"{:process 2, :type :invoke, :f :read}\n{:process 2, :type :ok, :f :read, :value 0}\n", "",
			"it is linearizable if the initial value is 0, which an open operation had begun to write by then: Spec.Init 0"},
		{"{:process 1, :type :invoke, :f :cas, :value [4 0]}\n" + read + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 3}\n", "", ""},
	} {
		for _, algorithm := range []string{"", "porcupine"} {
			r := kit.CheckedText(t, c.text, models.Spec{Name: "cas-register"}, clew.Options{Algorithm: algorithm})
			advice := r.Hint
			if c.cause != "" {
				advice = r.Explanation + r.Hint
			}
			if (c.cause == "") != (r.Verdict == jepsen.Invalid) || r.Cause != c.cause || advice != c.advice || !strings.Contains(r.Text(), advice) {
				t.Errorf("%s%v %s: %q; expected %s %q", c.text, r.Verdict, r.Cause, advice, c.cause, c.advice)
			}
		}
	}
}

// TestInitialValuesOfSmallHistoriesAgainstExhaustiveSearch: a register is undecided if and only if no order works
// from nil, and one does from another value. Nothing may have been called to write that value before the first
// completion that fails from nil.
func TestInitialValuesOfSmallHistoriesAgainstExhaustiveSearch(t *testing.T) {
	t.Parallel()
	for _, fs := range [][]string{{"read", "read", "write"}, {"read", "read", "write", "cas", "cas"}} {
		random, undecided, byCalls := gen.Rand(35), 0, 0
		for n := range int(kit.Histories(600, 2000, 2000)) {
			small := smallRegister(random, fs)
			spec := models.Spec{Name: []string{"register", "cas-register"}[len(fs)/4]}
			h, err := clew.Read(strings.NewReader(small.text), "", jepsen.Options{})
			if err != nil {
				continue // no operations
			}
			ops, err := spec.FromDefault().Read(h)
			if err != nil {
				t.Fatal(err)
			}
			want, cause := jepsen.Valid, jepsen.Cause("")
			if fail := oracle.Decide(ops, oracle.Options{}).Fail; fail >= 0 {
				want = jepsen.Invalid
				for value := range 4 {
					init := fmt.Sprint(value)
					if at, called := small.written[init]; called && at < int(fail) {
						continue
					}
					holds, err := second.Decide(small.text, second.Options{Model: spec.Name, Init: init})
					if err != nil {
						t.Fatal(err)
					}
					if holds {
						want, cause = jepsen.Unknown, jepsen.InitialValue
					}
				}
			}
			if cause != "" {
				undecided++
				if strings.Contains(small.text, ":info") {
					byCalls++
				}
			}
			r, err := clew.Check(context.Background(), h, spec, clew.Options{Algorithm: []string{"", "window"}[n%2]})
			if err != nil || r.Verdict != want || r.Cause != cause {
				t.Fatalf("%s %d: %v, %+v; expected %v of\n%s", spec.Name, n, err, r, want, small.text)
			}
		}
		if undecided < 100 || len(fs) > 3 && byCalls < 50 {
			t.Errorf("%v: %d undecided, %d of them with crashes, expected more", fs, undecided, byCalls)
		}
	}
}

// shows says whether an operation's answer shows what was there at first, given the operations called by then.
// The answer is one of an operation that was called before any update had returned.
type shows func(called []string, own int, answer string) bool

// TestFirstAnswersOfSmallHistoriesAgainstExhaustiveSearch: a history is undecided if and only if no order works from
// the default, an early answer shows what was there at first, and some order works from another value.
func TestFirstAnswersOfSmallHistoriesAgainstExhaustiveSearch(t *testing.T) {
	t.Parallel()
	var terms []string
	for n := range 25 {
		terms = append(terms, fmt.Sprintf("[%s %d]", []string{"nil", ":a", ":b"}[n%3], n/3))
	}
	for _, c := range []struct {
		model     string
		ops       []string // "f given answer"
		inits     []string
		reads     string
		shows     shows
		undecided int
	}{
		{"lease", []string{"check nil nil", "check nil :a", "check nil [:a 1]", "check nil [nil 1]", "renew [:a 1] [:a 1]", "renew [:a nil] [:a nil]",
			"release [:a 1] [:a 1]", "release [:b nil] [:b nil]", "claim [:a 2] [:a 2]", "claim [:b 2] [:b 2]", "claim [:b nil] [:b nil]"}, terms, "check renew",
			func(called []string, own int, answer string) bool {
				owner := "nil"
				for _, name := range []string{":a", ":b"} {
					if strings.Contains(answer, name) {
						owner = name
					}
				}
				for i, op := range called {
					claims := strings.HasPrefix(op, "claim")
					if i != own && (claims && (owner == "nil" || strings.Contains(op, owner)) || owner == "nil" && strings.HasPrefix(op, "release")) {
						return false
					}
				}
				return !strings.HasPrefix(answer, "claim")
			}, 100},
	} {
		random, undecided := gen.Rand(35), 0
		for range 800 {
			text, shown := smallAnswers(random, c.ops, c.reads, c.shows)
			h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			holds := func(init string) bool {
				holds, err := second.Decide(text, second.Options{Model: c.model, Init: init})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				return holds
			}
			want, cause := jepsen.Valid, jepsen.Cause("")
			if !holds("") {
				want = jepsen.Invalid
				if shown && slices.ContainsFunc(c.inits, holds) {
					want, cause = jepsen.Unknown, jepsen.InitialValue
					undecided++
				}
			}
			r, err := clew.Check(context.Background(), h, models.Spec{Name: c.model}, clew.Options{})
			if err != nil || r.Verdict != want || r.Cause != cause {
				t.Fatalf("%s: %v %s %s, %v; expected %v %s of\n%s", c.model, r.Verdict, r.Cause, r.Explanation, err, want, cause, text)
			}
		}
		if undecided < c.undecided {
			t.Errorf("%s: %d undecided, expected more", c.model, undecided)
		}
	}
}

// smallAnswers returns a history of operations "f given answer", and whether an early answer shows what was there at
// first. Operations of reads change nothing.
func smallAnswers(random *rand.Rand, ops []string, reads string, shows shows) (string, bool) {
	var text strings.Builder
	type call struct {
		f, given, answer string
		number           int
		early            bool
	}
	var called []string
	open, early, shown := map[int]call{}, true, false
	for range 4 + random.IntN(8) {
		p := random.IntN(3)
		x, busy := open[p]
		if !busy {
			parts := strings.SplitN(ops[random.IntN(len(ops))], " ", 2)
			given, answer := cutForm(parts[1])
			x = call{parts[0], given, answer, len(called), early}
			open[p], called = x, append(called, x.f+" "+given)
			fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :%s, :value %s}\n", p, x.f, given)
			continue
		}
		delete(open, p)
		end := []string{"ok", "ok", "ok", "fail", "info"}[random.IntN(5)]
		if end != "ok" {
			x.answer = x.given
		} else {
			shown = shown || x.early && shows(called, x.number, x.f+" "+x.answer)
			early = early && strings.Contains(reads, x.f)
		}
		fmt.Fprintf(&text, "{:process %d, :type :%s, :f :%s, :value %s}\n", p, end, x.f, x.answer)
	}
	return text.String(), shown
}

// cutForm cuts two forms apart, of which the first may be a vector.
func cutForm(forms string) (first, second string) {
	end := strings.Index(forms, " ")
	if forms[0] == '[' {
		end = strings.Index(forms, "]") + 1
	}
	return forms[:end], forms[end+1:]
}

// TestAnInvalidHistoryDoesNotClaimAnInitialValue: other values than those tried may explain it.
func TestAnInvalidHistoryDoesNotClaimAnInitialValue(t *testing.T) {
	t.Parallel()
	r := kit.CheckedText(t, kit.Sequential("read-at 0 -> :a; tail -> 2"), models.Spec{Name: "log"}, clew.Options{})
	const want = "it is linearizable neither from [], where process 0's :read-at 0 → :a (index 1) cannot happen, nor from [:a], which its first reads suggest; Spec.Init gives another initial value"
	if r.Verdict != jepsen.Invalid || r.Hint != want {
		t.Errorf("%v, %q; expected %q", r.Verdict, r.Hint, want)
	}
}

// smallHistory is a history of a register, and the first event that called for each value.
type smallHistory struct {
	text    string
	written map[string]int
}

func smallRegister(random *rand.Rand, fs []string) smallHistory {
	var text strings.Builder
	open, written := map[int][2]string{}, map[string]int{}
	for event := range 4 + random.IntN(12) {
		p := random.IntN(3)
		if f, busy := open[p]; busy {
			end := []string{"ok", "ok", "ok", "fail", "info"}[random.IntN(3+len(fs)/2)]
			delete(open, p)
			fmt.Fprintf(&text, "{:process %d, :type :%s, :f :%s, :value %s}\n", p, end, f[0], f[1])
			continue
		}
		a, b := fmt.Sprint(random.IntN(4)), fmt.Sprint(random.IntN(4))
		f := [2]string{fs[random.IntN(len(fs))], a}
		given := a
		switch f[0] {
		case "read":
			given = "nil"
		case "cas":
			f[1] = "[" + a + " " + b + "]"
			given = f[1]
		default:
			b = a
		}
		if _, called := written[b]; !called && given != "nil" && (f[0] == "write" || a != b) {
			written[b] = event
		}
		open[p] = f
		fmt.Fprintf(&text, "{:process %d, :type :invoke, :f :%s, :value %s}\n", p, f[0], given)
	}
	return smallHistory{text.String(), written}
}

// Keys that fail are advised of one flag, and given as it stands it explains all of them.
func TestAnInitialValueIsAdvisedForAllKeysThatFail(t *testing.T) {
	t.Parallel()
	history := func(values ...int) string {
		var b strings.Builder
		for key, v := range values {
			for _, e := range []string{"2 invoke write 4", "2 fail write 4", "1 invoke cas [4 V]", "1 info cas [4 V]", "0 invoke read nil", "0 ok read V"} {
				x := strings.SplitN(strings.ReplaceAll(e, "V", strconv.Itoa(v)), " ", 4)
				fmt.Fprintf(&b, "{:process %d%s, :type :%s, :f :%s, :value [%d %s]}\n", key, x[0], x[1], x[2], key, x[3])
			}
		}
		return b.String()
	}
	for _, values := range [][]int{{0}, {0, 0}, {0, 1}, {0, 1, 0}} {
		spec := models.Spec{Name: "cas-register"}
		r := kit.CheckedText(t, history(values...), spec, clew.Options{Independent: true})
		for _, k := range r.Keys {
			own := k.Result()
			if own.Verdict != jepsen.Invalid || own.InitHint == nil || !strings.Contains(own.Hint, "Spec.Init") {
				t.Fatalf("%v: key %s is %v, advised of %v: %s", values, k.Key, own.Verdict, own.InitHint, own.Hint)
			}
			if spec.Init = own.InitHint.Value; kit.CheckedText(t, history(values...), spec, clew.Options{Independent: true}).Verdict != jepsen.Valid {
				t.Errorf("%v: key %s: %s does not decide all keys", values, k.Key, spec.Init)
			}
		}
	}
}
