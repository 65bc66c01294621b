package clew_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

var othersOpen = regexp.MustCompile(`(?:the|no order of the (\d+)) other open operations? (?:does not make|makes) it possible`)

// The number of other open operations is a fact about the history. It does not depend on what an engine put into its
// order.
func TestEveryAlgorithmCountsTheSameOpenOperations(t *testing.T) {
	histories := 6
	if long() {
		histories = 200
	}
	told := 0
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(70_000 + i))
		for range histories {
			spec := campaign.WithParameters(r, spec)
			g := gen.New(r, campaign.GenOptions(spec))
			h, _, err := campaign.ReadText(spec, g.Text)
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string][]string{}
			for _, algorithm := range clew.Algorithms() {
				result, err := campaign.Checked(h, spec, algorithm)
				if err != nil || result.Verdict != jepsen.Invalid || !strings.Contains(result.Explanation, " cannot happen ") {
					continue // it does not decide this model, or has another sentence
				}
				n := "0"
				if found := othersOpen.FindStringSubmatch(result.Explanation); found != nil {
					n = "1" + found[1]
				}
				counts[n] = append(counts[n], algorithm+": "+result.Explanation)
				told++
			}
			if len(counts) > 1 {
				t.Fatalf("%s: %q of\n%s", campaign.Name(spec), counts, g.Text)
			}
		}
	}
	if told < 100 {
		t.Errorf("%d sentences, expected more", told)
	}
}

// Operations that are open at other keys do not count.
func TestOnlyOperationsOfTheSameKeyAreCounted(t *testing.T) {
	var b strings.Builder
	for p := range 5 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :append :value [:other \"a\"]}\n", p)
	}
	b.WriteString(`{:process 7 :type :invoke :f :append :value [:k "a"]}
{:process 8 :type :invoke :f :append :value [:k "b"]}
{:process 9 :type :invoke :f :get :value [:k nil]}
{:process 9 :type :ok :f :get :value [:k "c"]}
`)
	for _, algorithm := range clew.Algorithms() {
		if slices.Contains([]string{"fast", "staged", "matching", "languages", "lockstep", "hitting"}, algorithm) {
			continue
		}
		r := checkedText(t, b.String(), models.Spec{Name: "kv", Init: "{}"}, clew.Options{Algorithm: algorithm})
		if want := "no order of the 2 other open operations makes it possible"; !strings.Contains(r.Explanation, want) {
			t.Errorf("%s: %s; expected %s", algorithm, r.Explanation, want)
		}
	}
}

// An open operation may be impossible because of what it returns later, and so make another one fail first. The
// sentence names it.
func TestASentenceNamesAnOpenOperationWhoseAnswerIsImpossible(t *testing.T) {
	for _, c := range []struct {
		spec        models.Spec
		history     string
		failing, is string
	}{
		{models.Spec{Name: "multi-register", Init: "{:x 0 :y 0}"}, `
{:process 0, :type :invoke, :f :txn, :value [[:r :y nil] [:w :x 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:r :y 99] [:w :x 1]]}`, "process 1's :txn [[:r :x 1]] (index 2)",
			"process 0's :txn [[:r :y 99] [:w :x 1]] (index 3) would, but not with the answer that it returns later"},
		{models.Spec{Name: "java-queue"}, `
{:process 0, :type :invoke, :f :addAll, :value [1]}
{:process 2, :type :invoke, :f :addAll, :value [2]}
{:process 1, :type :invoke, :f :size}
{:process 1, :type :ok, :f :size, :value 2}
{:process 0, :type :ok, :f :addAll, :value true}
{:process 2, :type :ok, :f :addAll, :value false}`, "process 1's :size 2 (index 3)",
			"process 2's :addAll [2] → false (index 5) would, but not with the answer that it returns later"},
		// This one cannot happen whatever the open operation returns.
		{models.Spec{Name: "multi-register", Init: "{:x 0 :y 0}"}, `
{:process 0, :type :invoke, :f :txn, :value [[:r :y nil] [:w :x 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x 2]]}
{:process 0, :type :ok, :f :txn, :value [[:r :y 99] [:w :x 1]]}`, "process 1's :txn [[:r :x 2]] (index 2)",
			"no order of the operations that had begun by then makes it possible (:x is 0, not 2)"},
	} {
		r := checkedText(t, c.history, c.spec, clew.Options{Algorithm: "window"})
		if !strings.HasPrefix(r.Explanation, c.failing+" cannot happen") || !strings.HasSuffix(r.Explanation, c.is) {
			t.Errorf("%s\nwant %s .. %s", r.Explanation, c.failing, c.is)
		}
	}
}
