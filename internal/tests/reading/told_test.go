package reading_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/store"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// registerFromZero returns a history of a cas-register that begins with 0, which is never written. It may answer
// wrong. Only writes crash: a crashed cas may take effect, and nothing else would show what was there before it.
func registerFromZero(rng *rand.Rand) string {
	type call struct {
		f, value string
		ok       bool // of a cas
	}
	var b strings.Builder
	state, open := 0, map[int]*call{}
	names := []int{0, 1, 2}
	for range 24 {
		i := rng.IntN(len(names))
		p := names[i]
		c := open[p]
		if c == nil {
			c = &call{f: []string{"read", "write", "cas"}[rng.IntN(3)], value: "nil"}
			a, to := rng.IntN(4), 1+rng.IntN(3)
			switch c.f {
			case "write":
				c.value = fmt.Sprint(to)
			case "cas":
				c.value = fmt.Sprintf("[%d %d]", a, to)
			}
			fmt.Fprintf(&b, "{:process %d :type :invoke :f :%s :value %s}\n", p, c.f, c.value)
			open[p] = c
			continue
		}
		var from, to int
		switch c.f {
		case "read":
			c.ok, c.value = true, fmt.Sprint(state)
			if rng.IntN(12) == 0 {
				c.value = fmt.Sprint(rng.IntN(4))
			}
		case "write":
			fmt.Sscan(c.value, &state)
			c.ok = true
		case "cas":
			fmt.Sscanf(c.value, "[%d %d]", &from, &to)
			if c.ok = from == state; c.ok {
				state = to
			}
		}
		kind := map[bool]string{true: "ok", false: "fail"}[c.ok]
		if c.f == "write" && rng.IntN(8) == 0 {
			kind, names[i] = "info", p+3
		}
		fmt.Fprintf(&b, "{:process %d :type :%s :f :%s :value %s}\n", p, kind, c.f, c.value)
		delete(open, p)
	}
	return b.String()
}

// If neither model nor initial value is given, the verdict is the one from the initial value that the test had. It is
// unknown if the history fails from the default only. The failing operation is the same.
func TestInferredBesideGiven(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(35, 6))
	seen := map[string]int{}
	for range kit.Histories(500, 1500, 1500) {
		text := registerFromZero(rng)
		inferred := kit.CheckedText(t, text, models.Spec{}, clew.Options{})
		given := kit.CheckedText(t, text, models.Spec{Name: "cas-register", Init: "0"}, clew.Options{})
		both := fmt.Sprintf("%v %s, %v", inferred.Verdict, inferred.Cause, given.Verdict)
		seen[both]++
		switch {
		case inferred.Verdict == given.Verdict && inferred.FailingIndex() == given.FailingIndex():
		case inferred.Verdict == jepsen.Invalid && given.Verdict == jepsen.Invalid && inferred.Init != "0" && inferred.Init != "":
			// The first reads showed another value than the test began with.
			if inferred.FailingIndex() < given.FailingIndex() {
				t.Fatalf("from %s it fails at index %d, from 0 at %d\n%s", inferred.Init, inferred.FailingIndex(), given.FailingIndex(), text)
			}
		case inferred.Cause == jepsen.InitialValue && (given.Verdict == jepsen.Valid) == (inferred.LikelyInit == "0"):
		default:
			t.Fatalf("%s: index %d and %d\n%s", both, inferred.FailingIndex(), given.FailingIndex(), text)
		}
	}
	if len(seen) != 4 {
		t.Errorf("not all kinds of histories are there: %v", seen)
	}
}

// What the results of real runs say agrees with how their tests were set up.
func TestResultsOfRealRunsTellHowTheyWereChecked(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]string{
		"wild/01-josehu-etcd":           "map[independent:true keyless:every model:cas-register]",
		"wild/02-josehu-rabbitmq":       "map[independent:true keyless:every model:cas-register]",
		"wild/06-mvitz-etcd":            "", // Knossos's records are lost there
		"wild/07-zk-2016":               "",
		"wild/08-zk-oom":                "",
		"wild/10-omnipaxos-multiline":   "map[independent:true init:nil keyless:every model:cas-register]",
		"wild/12-scalardb-linkv":        "map[independent:true init:nil keyless:every model:cas-register]",
		"wild/04-redis-extreme-latency": "",
	} {
		dir := filepath.Join(archive.Path(t, strings.Split(run, "/")[0], strings.Split(run, "/")[1]), "run")
		found, err := store.Find(t.Context(), dir, store.Options{})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		said := ""
		told := found[0].Checked(context.Background(), 0)
		if told != nil {
			said = fmt.Sprint(told.Flags)
		}
		if said != want {
			t.Errorf("%s: %s, want %s", run, said, want)
		}
		if told == nil {
			continue
		}
		h, err := found[0].Read(context.Background(), jepsen.Options{})
		if err != nil || !told.Fits(h, "cas-register") {
			t.Errorf("%s: %v; its results are of another history", run, err)
		}
		claims := kit.ClaimsOf(t, dir, h)
		r, err := clew.Check(context.Background(), h, models.Spec{Name: told.Flags["model"], Init: told.Flags["init"]}, clew.Options{Independent: true, Keyless: true})
		if err != nil {
			t.Fatal(err)
		}
		verdicts := map[int32]jepsen.Verdict{}
		for _, k := range r.Keys {
			verdicts[k.Key.Class()] = k.Verdict
		}
		for _, c := range claims {
			if ours := verdicts[c.Key.Class()]; c.Verdict != jepsen.Unknown && c.Verdict != ours {
				t.Errorf("%s, key %s: %v, ours is %v", run, c.Key, c.Verdict, ours)
			}
		}
	}
}

// Results that make no sense say nothing, or only what can be given.
func TestOddResultsTellLittle(t *testing.T) {
	t.Parallel()
	h, err := clew.Read(strings.NewReader("{:process 0, :type :invoke, :f :read, :value [1 nil]}\n"), "history.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{:a {:valid? true, :configs (), :clew {:model :register, :init 0}}}`:                                                            "map[init:0 model:register] true",
		`{:valid? true, :results {1 {:valid? true, :configs ({:model #knossos.model.Register{:value 0}, :last-op nil})}}, :failures []}`: "map[independent:true init:0 keyless:every model:register] true",
		`{:valid? true, :results {2 {:valid? true, :configs ({:model #knossos.model.Register{:value 0}, :last-op nil})}}, :failures []}`: "map[independent:true init:0 keyless:every model:register] false", // no such key
		`{:valid? true, :configs ({:model {:value 0}, :last-op nil} {:model {:value 1}, :last-op nil})}`:                                 "",
		`{:valid? false, :op {:index 3, :process 0}, :configs ({:model {:value 0}, :last-op nil})}`:                                      "map[init:0] false", // no such operation exists
		`{:valid? true, :configs ({:model {:value 0}, :last-op nil} {:model {:value 0}, :last-op {:f :read}})}`:                          "map[init:0] true",
		`{:valid? true, :configs ({:model {:pending [1]}, :last-op nil})}`:                                                               "map[init:[1]] false",
		`{:valid? true, :configs [], :clew {nil nil, "model" [1], :init #a b, :independent 7}}`:                                          "map[\"model\":[1] independent:7 init:#a b nil:nil] true",
		`{:valid? true, :configs [], :clew {:model-file "a.star", :init 0}}`:                                                             "of its own: a.star",
		`{:valid? true, :configs [], :clew {:model :register}`:                                                                           "",
		`[]`: "",
		``:   "",
	} {
		told, got := store.ReadChecked(strings.NewReader(text)), ""
		if told != nil && told.Own != "" {
			got = "of its own: " + told.Own
		} else if told != nil {
			got = fmt.Sprint(told.Flags, " ", told.Fits(h, "register"))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if _, more := told.With(map[string]string{"model-file": "b.star"}); more {
			t.Errorf("%s: something was added to a model of one's own", text)
		}
	}
}
