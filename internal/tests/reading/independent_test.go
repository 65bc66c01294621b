package reading_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// comparable returns a result map without what may differ: the time, and which of several equal values is spelled.
func comparable(r *report.Result) string {
	text := kit.Spelling.ReplaceAllString(kit.Milliseconds.ReplaceAllString(r.EDN(), "")+fmt.Sprint(r.Witness, r.Explanation), "$1")
	return strings.NewReplacer("(", "[", ")", "]", "-0.0", "0.0").Replace(text)
}

func TestIndependentKeysAreAnsweredAsEachAlone(t *testing.T) {
	t.Parallel()
	verdicts := map[jepsen.Verdict]int{}
	r := gen.Rand(11)
	for range kit.Histories(400, 1500, 1500) {
		spec := models.Spec{Name: []string{"register", "cas-register", "fifo-queue"}[r.IntN(3)]}.FromDefault()
		one := func() *jepsen.History {
			for {
				h, err := clew.Read(strings.NewReader(gen.New(r, gen.Options{Model: spec.Name}).Text), "", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if h.Operations() > 0 {
					return h
				}
			}
		}
		var keys []*jepsen.History
		for range 1 + r.IntN(len(kit.KeyNames)) {
			keys = append(keys, one())
		}
		every := &jepsen.History{Values: edn.NewValues()}
		if r.IntN(3) == 0 {
			if every = one(); hasPairs(every) {
				continue
			}
		}
		k := kit.Interleave(r, keys, every)
		whole := kit.ReadLines(t, k.Whole)
		got, err := clew.Check(context.Background(), whole, spec, clew.Options{Independent: true, Keyless: every.Operations() > 0, Verify: clew.VerifyAlways})
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(k.Whole, "\n"))
		}
		verdicts[got.Verdict]++
		want, first := jepsen.Valid, int64(-1)
		if len(got.Keys) != len(keys) {
			t.Fatalf("%d keys, not %d\n%s", len(got.Keys), len(keys), strings.Join(k.Whole, "\n"))
		}
		for _, key := range got.Keys {
			name := key.Key.String()
			alone, err := clew.Check(context.Background(), kit.ReadLines(t, k.Alone[name]), spec, clew.Options{Verify: clew.VerifyAlways, Whole: true})
			if err != nil {
				t.Fatal(err)
			}
			own := key.Result()
			alone.From.Keys = own.From.Keys
			alone.File, own.File = "", ""
			if g, w := comparable(own), comparable(alone); g != w {
				t.Fatalf("key %s in\n%s\n got %s\nwant %s", name, strings.Join(k.Whole, "\n"), g, w)
			}
			if alone.Verdict == jepsen.Invalid {
				want = jepsen.Invalid
				if index := alone.History.Index(alone.FailEvent.OrNone()); first < 0 || index < first {
					first = index
				}
			}
		}
		if got.Verdict != want {
			t.Fatalf("verdict %v, not %v\n%s", got.Verdict, want, strings.Join(k.Whole, "\n"))
		}
		if f := got.FirstFailing(); want == jepsen.Invalid && f.History.Index(f.FailEvent.OrNone()) != first {
			t.Fatalf("fails first at %d, not %d\n%s", f.History.Index(f.FailEvent.OrNone()), first, strings.Join(k.Whole, "\n"))
		}
		if got.Verdict == jepsen.Valid && (got.Witness == nil) != (every.Operations() > 0) {
			t.Fatalf("a witness is for histories whose operations have one key each\n%s", strings.Join(k.Whole, "\n"))
		}
		if got.Witness != nil {
			if err := clew.VerifyKeys(whole, spec, got.Witness); err != nil {
				t.Fatalf("witness: %v\n%s", err, strings.Join(k.Whole, "\n"))
			}
			if len(got.Witness) > 0 {
				if err := clew.VerifyKeys(whole, spec, got.Witness[1:]); err == nil && whole.Status[got.Witness[0]] == jepsen.Succeeded {
					t.Fatalf("half a witness passes\n%s", strings.Join(k.Whole, "\n"))
				}
			}
		}
	}
	t.Logf("%v", verdicts)
	if verdicts[jepsen.Valid] < 100 || verdicts[jepsen.Invalid] < 100 {
		t.Errorf("one verdict is rare: %v", verdicts)
	}
}

// hasPairs reports whether a value could be taken for a tuple.
func hasPairs(h *jepsen.History) bool {
	for e, value := range h.Value {
		n := len(h.Values.Items(value))
		if h.Values.Kind(value) == edn.KindVector && (n == 2 || n == 3 && h.Values.Text(h.F[e]) == ":cas") { // [key old new]
			return true
		}
	}
	return false
}

// A million keys are a million small histories. For a valid one, a check holds only a few numbers, and a result comes
// back whole when it is asked for.
func TestAValidKeyHoldsLittle(t *testing.T) {
	const keys = 20_000
	var text strings.Builder
	for i := range keys {
		fmt.Fprintf(&text, `
			{:process 0 :type :invoke :f :write :value [%[1]d 1]}
			{:process 1 :type :invoke :f :write :value [%[1]d 2]}
			{:process 0 :type :ok     :f :write :value [%[1]d 1]}
			{:process 1 :type :info   :f :write :value [%[1]d 2]}
			{:process 0 :type :invoke :f :read  :value [%[1]d nil]}
			{:process 0 :type :ok     :f :read  :value [%[1]d 2]}`, i)
	}
	h, err := clew.Read(strings.NewReader(text.String()), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := models.Spec{Name: "cas-register"}
	check := func() *report.Result {
		r, err := clew.Check(context.Background(), h, spec, clew.Options{Independent: true})
		if err != nil || r.Verdict != jepsen.Valid || len(r.Keys) != keys {
			t.Fatalf("%v, %v", r, err)
		}
		return r
	}
	check() // whatever it interns, it interns here
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := check()
	runtime.GC()
	runtime.ReadMemStats(&after)
	held, allocated := (after.HeapAlloc-before.HeapAlloc)/keys, (after.TotalAlloc-before.TotalAlloc)/keys
	t.Logf("%d bytes held for each key, %d allocated", held, allocated)
	if held > 400 {
		t.Errorf("the result holds %d bytes for each key", held)
	}
	if allocated > 8<<10 {
		t.Errorf("the check allocates %d bytes for each key", allocated)
	}
	last := r.Keys[keys-1].Result()
	if got, want := fmt.Sprintf("%v of %d, %s: %s", last.Witness, last.History.Operations(), last.Final, last.Explanation),
		fmt.Sprintf("[0 1 2] of 3, #knossos.model.CASRegister{:value 2}: clew's order has this crashed operation take effect: process 1's :write 2 (index %d)", 6*keys-5); got != want {
		t.Errorf("the last key's result is %s, want %s", got, want)
	}
	runtime.KeepAlive(h)
}
