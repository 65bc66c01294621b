package reading_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// A history of independent keys that nobody has told of is INVALID exactly if some key is, as one object and key by key.
func TestKeysThatNobodyHasToldOfAreNoFailure(t *testing.T) {
	t.Parallel()
	r := gen.Rand(63)
	seen := map[string]int{}
	nothing, err := clew.Read(strings.NewReader(""), "", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range effort.Histories(1500, 30000) {
		spec := models.Spec{Name: []string{"register", "cas-register", "fifo-queue", "stack", "set", "mutex", "unordered-queue", "counter"}[i%8]}
		var keys []*jepsen.History
		for range 2 + r.IntN(2) {
			g := gen.New(r, gen.Options{Model: spec.Name, Operations: 3 + r.IntN(4)})
			h, err := clew.Read(strings.NewReader(g.Text), "", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, h)
		}
		k := kit.Interleave(r, keys, nothing)
		text := strings.Join(k.Whole, "\n")
		check := func(o clew.Options) (jepsen.Verdict, jepsen.Cause) {
			h := kit.ReadLines(t, k.Whole)
			x, err := clew.Check(context.Background(), h, spec, o)
			if err != nil {
				return jepsen.Unknown, jepsen.Unreadable
			}
			return x.Verdict, x.Cause
		}
		each, _ := check(clew.Options{Independent: true})
		one, _ := check(clew.Options{Whole: true})
		got, cause := check(clew.Options{})
		switch {
		case one != jepsen.Invalid: // as one object it may be all right, or not readable
			if got != one {
				t.Fatalf("%s: %v, and as one object %v\n%s", spec.Name, got, one, text)
			}
			seen["as one object"]++
		case each == jepsen.Invalid && got != jepsen.Invalid:
			t.Fatalf("%s: %v (%s), although it is invalid in both ways\n%s", spec.Name, got, cause, text)
		case each != jepsen.Invalid && (got != jepsen.Unknown || cause != jepsen.Reading):
			t.Fatalf("%s: %v (%s), although its keys are %v\n%s", spec.Name, got, cause, each, text)
		case each == jepsen.Invalid:
			seen["invalid"]++
		default:
			seen["not known how to read"]++
		}
	}
	for _, what := range []string{"as one object", "invalid", "not known how to read"} {
		if seen[what] < 5 {
			t.Errorf("%s: %d", what, seen[what])
		}
	}
	t.Log(seen)
}

// What may be keys is said, whatever else is said of a history. The verdicts are worked out on paper.
func TestPairsThatMayHaveKeysAreToldOf(t *testing.T) {
	t.Parallel()
	either := "Options.Independent or Options.Whole says which it was"
	for _, c := range []struct {
		name, model, ops string
		o                clew.Options
		want, says       string
	}{
		{"a first read of nil", "register", "read [0 nil] -> [0 nil]; write [0 1]; read [1 nil] -> [1 nil]; read [0 nil] -> [0 1]", clew.Options{}, "unknown reading", either},
		{"a first read of nil of one object", "register", "read [0 nil] -> [0 nil]; write [0 1]; read [0 nil] -> [0 1]", clew.Options{Whole: true}, "unknown initial-value", ""},
		{"a first read of another value", "register", "read [0 nil] -> [0 5]; write [1 1]; read [0 nil] -> [0 5]", clew.Options{}, "unknown reading", either},
		{"valid as one object alone", "mutex", "acquire [0 nil]; release [1 nil]; acquire [0 nil]; release [1 nil]", clew.Options{}, "true", "the completion at index 3 cannot happen (Options.Independent)"},
		{"and one object it is", "mutex", "acquire [0 nil]; release [1 nil]", clew.Options{Whole: true}, "true", ""},
		{"valid in both ways", "mutex", "acquire [0 nil]; release [0 nil]; acquire [1 nil]; release [1 nil]", clew.Options{}, "true", ""},
		{"a keyed counter", "counter", "add [0 1]; read [0 nil] -> [0 1]", clew.Options{}, "error", "give Options.Independent to check each key as a counter of its own"},
		{"a keyed bank", "bank", "read [0 nil] -> [0 {:a 5}]; transfer [0 {:from :a :to :b :amount 1}]", clew.Options{}, "error", "give Options.Independent to check each key as a bank of its own"},
		{"keyed reads alone", "", "read [0 nil] -> [0 1]; read [1 nil] -> [1 2]", clew.Options{}, "error", "give Options.Independent to check each key as a register of its own"},
		{"what cannot be read in either way", "counter", "add [0 :a]", clew.Options{}, "error", "!Options.Independent"},
		{"lists that nothing appends to", "", "txn [[:r :x nil]] -> [[:r :x [1 2]]]; txn [[:r :x nil]] -> [[:r :x [1]]]", clew.Options{}, "error", "give Spec.Name multi-register or list-append"},
		{"scalars that nothing writes", "", "txn [[:r :x nil]] -> [[:r :x 1]]", clew.Options{}, "unknown initial-value", ""},
	} {
		r, err := kit.CheckLog(kit.Sequential(c.ops), models.Spec{Name: c.model}, c.o)
		got, said := "error", fmt.Sprint(err)
		if err == nil {
			got, said = strings.TrimSpace(kit.VerdictText(r)+" "+string(r.Cause)), r.Explanation+" "+r.Granted
		}
		without, absent := strings.CutPrefix(c.says, "!")
		if got != c.want || strings.Contains(said, without) == absent || c.want == "true" && c.says == "" && r.Granted != "" {
			t.Errorf("%s: %s: %s; expected %s: %s", c.name, got, said, c.want, c.says)
		}
	}
	for _, o := range []clew.Options{{Whole: true}, {Independent: true}} {
		r, err := kit.CheckLog(kit.Sequential("write [0 [1 2]]; read [0 nil] -> [0 [1 3]]"), models.Spec{Name: "register", Init: "nil"}, o)
		if err != nil || strings.Contains(r.Hint, "Options.Independent") {
			t.Errorf("%+v: %v, %v", o, r, err)
		}
	}
}

// Pairs of a lock may be keys, or an owner and something else: nothing in the history says which.
func TestPairsOfALockMayBeKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ log, want string }{
		{"0 :invoke :acquire [0 1]\n0 :ok :acquire [0 1]\n1 :invoke :acquire [1 2]\n1 :ok :acquire [1 2]\n", "unknown reading"},
		{"0 :invoke :acquire [0 nil]\n0 :ok :acquire [0 nil]\n1 :invoke :acquire [1 nil]\n1 :ok :acquire [1 nil]\n", "unknown reading"}, // as jepsen.independent has keys
		{"0 :invoke :acquire [:x 1]\n0 :ok :acquire [:x 1]\n1 :invoke :acquire [:y 2]\n1 :ok :acquire [:y 2]\n0 :invoke :release [:x 1]\n0 :ok :release [:x 1]\n", "unknown reading"},
		{"0 :invoke :acquire [:x 1]\n0 :ok :acquire [:x 1]\n1 :invoke :acquire [:y 2]\n1 :ok :acquire [:y 2]\n0 :invoke :release [:y 1]\n0 :ok :release [:y 1]\n", "unknown reading"},
		{"0 :invoke :acquire [:x 1]\n0 :ok :acquire [:x 1]\n1 :invoke :acquire [:y 2]\n1 :ok :acquire [:y 2]\n2 :invoke :release [:y 1]\n2 :ok :release [:y 1]\n", "unknown reading"},
	} {
		r, err := kit.CheckLog(c.log, models.Spec{Name: "mutex"}, clew.Options{})
		if err != nil || kit.VerdictText(r)+" "+string(r.Cause) != c.want {
			t.Errorf("%s: %v, %v; expected %s", c.log, r, err, c.want)
		}
	}
}

// A :default beside other keys may be meant as either, and lists and banks have none.
func TestADefaultOfAllKeysIsNotAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, init, want string }{
		{"kv", "{:default 1, :a 2}", "must be a map such as"},
		{"multi-register", "{:default 1, :a 2}", "must be a map such as"},
		{"kv", "{:each {:a 2} :default 1}", ""},
		{"kv", "{:each {:default 1, :a 2}}", ""},
		{"list-append", "{:default [1]}", "there is no :default"},
		{"list-append", "{:x [1]}", ""},
		{"list-append", "{:each {:default [1]}}", ""},
		{"bank", "{:default 5}", "there is no :default"},
		{"bank", "{:default 5, 0 5}", "there is no :default"},
		{"bank", "{:each {:default 5}}", ""},
	} {
		err := models.Spec{Name: c.model, Init: c.init}.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s from %s: %v; expected %q", c.model, c.init, err, c.want)
		}
	}
	for _, c := range []struct{ model, ops, init string }{
		{"kv", "get [:default nil] -> [:default 1]; get [:a nil] -> [:a 2]", "{:each {:default 1, :a 2}}"},
		{"kv", "get [:default nil] -> [:default 1]", "{:each {:default 1}}"},
		{"bank", "read nil -> {:default 5 :a 1}", "{:each {:default 5, :a 1}}"},
	} {
		r, err := kit.CheckLog(kit.Sequential(c.ops), models.Spec{Name: c.model}, clew.Options{})
		if err != nil || r.Cause != jepsen.InitialValue {
			t.Errorf("%s: %v, %v", c.ops, r, err)
			continue
		}
		if from, err := kit.CheckLog(kit.Sequential(c.ops), models.Spec{Name: c.model, Init: r.LikelyInit}, clew.Options{}); err != nil || from.Verdict != jepsen.Valid || !same(r.LikelyInit, c.init) {
			t.Errorf("%s from %s: %v, %v; expected %s", c.ops, r.LikelyInit, from, err, c.init)
		}
	}
	var accounts strings.Builder
	for n := range 30 {
		fmt.Fprintf(&accounts, "%d 20 ", n)
	}
	r, err := kit.CheckLog(kit.Sequential("read nil -> {"+accounts.String()+"}"), models.Spec{Name: "bank"}, clew.Options{})
	if err != nil || !strings.Contains(r.Explanation, "Init @FILE") {
		t.Errorf("a bank of many accounts with one balance: %v, %v", r, err)
	}
}

// same reports whether two texts are equal values.
func same(a, b string) bool {
	v := edn.NewValues()
	x, err := v.Parse([]byte(a), edn.Pos{})
	y, err2 := v.Parse([]byte(b), edn.Pos{})
	return err == nil && err2 == nil && v.Same(x) == v.Same(y)
}
