package explanations_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

var othersOpen = regexp.MustCompile(`(?:the|no order of the (\d+)) other open operations? (?:does not make|makes) it possible`)

// The number of other open operations is a fact about the history. It does not depend on what an engine put into its
// order.
func TestEveryAlgorithmCountsTheSameOpenOperations(t *testing.T) {
	t.Parallel()
	histories := 6
	if effort.Long() {
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

// A sentence does not speak of operations that are open at other keys.
func TestOnlyOperationsOfTheSameKeyAreSpokenOf(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for p := range 5 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :append :value [:other \"a\"]}\n", p)
	}
	b.WriteString(`{:process 7 :type :invoke :f :append :value [:k "a"]}
{:process 7 :type :ok :f :append :value [:k "a"]}
{:process 9 :type :invoke :f :get :value [:k nil]}
{:process 9 :type :ok :f :get :value [:k "c"]}
`)
	for _, algorithm := range clew.Algorithms() {
		if slices.Contains([]string{"fast", "staged", "matching", "languages", "lockstep", "hitting"}, algorithm) {
			continue
		}
		r := kit.CheckedText(t, b.String(), models.Spec{Name: "kv", Init: "{}"}, clew.Options{Algorithm: algorithm})
		if want := "cannot happen after process 7's :append [:k \"a\"] (index 6): the value of key :k is \"a\", not \"c\""; !strings.HasSuffix(r.Explanation, want) {
			t.Errorf("%s: %s; expected %s", algorithm, r.Explanation, want)
		}
	}
}

// An open operation may be impossible because of what it returns later, and so make another one fail first. The
// sentence names it.
func TestASentenceNamesAnOpenOperationWhoseAnswerIsImpossible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec        models.Spec
		history     string
		failing, is string
	}{
		{models.Spec{Name: "java-queue"}, `
{:process 0, :type :invoke, :f :addAll, :value [1]}
{:process 2, :type :invoke, :f :addAll, :value [2]}
{:process 1, :type :invoke, :f :size}
{:process 1, :type :ok, :f :size, :value 2}
{:process 0, :type :ok, :f :addAll, :value true}
{:process 2, :type :ok, :f :addAll, :value false}`, "process 1's :size 2 (index 3)",
			"process 2's :addAll [2] → false (index 5) would, but not with the answer that it returns later"},
		// This one cannot happen whatever the open operation returns.
		{models.Spec{Name: "java-queue"}, `
{:process 0, :type :invoke, :f :addAll, :value [1]}
{:process 1, :type :invoke, :f :size}
{:process 1, :type :ok, :f :size, :value 2}
{:process 0, :type :ok, :f :addAll, :value false}`, "process 1's :size 2 (index 2)", "nothing that had begun by then makes it possible (the queue is empty)"},
	} {
		r := kit.CheckedText(t, c.history, c.spec, clew.Options{Algorithm: "window"})
		if !strings.HasPrefix(r.Explanation, c.failing+" cannot happen") || !strings.HasSuffix(r.Explanation, c.is) {
			t.Errorf("%s\nwant %s .. %s", r.Explanation, c.failing, c.is)
		}
	}
}

// A picture of a failure by positions says what its sentence says.
func TestPicturesOfPositionsAgreeWithTheSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec                 models.Spec
		history, says, draws string
	}{
		{models.Spec{Name: "register", Position: "zxid", SparsePositions: true}, `
{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1, :zxid 5}
{:process 1, :type :invoke, :f :write, :value 2}
{:process 1, :type :ok, :f :write, :value 2, :zxid 8}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 1, :zxid 5}`, "says zxid 5, although", "✗ the zxid was 8 already, not 5"},
		{models.Spec{Name: "kv", Position: "revision"}, `
{:process 0, :type :invoke, :f :put, :key "x", :value 1}
{:process 0, :type :ok, :f :put, :key "x", :value 1, :revision 7}
{:process 1, :type :invoke, :f :put, :key "x", :value 2}
{:process 1, :type :info, :f :put, :key "x", :value 2}
{:process 0, :type :invoke, :f :put, :key "y", :value 3}
{:process 0, :type :ok, :f :put, :key "y", :value 3, :revision 9}
{:process 0, :type :invoke, :f :get, :key "x", :value nil}
{:process 0, :type :ok, :f :get, :key "x", :value 1, :revision 9}`, "only process 1's :put \"x\" 2 (index 2), which never returned", "✗ the value of key \"x\" is 2, not 1"},
		{models.Spec{Name: "etcd"}, `
{:process 0, :type :invoke, :f :put, :value {:key "a", :value 1}}
{:process 0, :type :ok, :f :put, :value {:revision 2}}
{:process 1, :type :invoke, :f :put, :value {:key "a", :value 2, :lease 7}}
{:process 1, :type :ok, :f :put, :value {:revision 3}}`, "(the revision is 2, not 3; a put with lease 7 does nothing, as there is no such lease)",
			"✗ the revision is 2, not 3; a put with lease 7 does nothing, as there is no such lease"},
	} {
		said := kit.CheckedText(t, strings.TrimSpace(c.history), c.spec, clew.Options{}).Text()
		if !strings.Contains(said, c.says) || !strings.Contains(said, c.draws) {
			t.Errorf("expected %q and %q in\n%s", c.says, c.draws, said)
		}
	}
}

// A hint calls two values unequal exactly if Clojure does: (= 1 1N), (= [1] '(1N)), but not (= 1 1.0).
func TestHintsCallValuesUnequalAsClojureDoes(t *testing.T) {
	t.Parallel()
	alike := [][]string{{"1", "1N", "+1"}, {"1.0"}, {`"1"`}, {":1"}, {"[1]", "(1N)", "[+1]"}, {"[1.0]"}, {`["1"]`}}
	hinted := 0
	for a, written := range alike {
		for b, read := range alike {
			for _, x := range written {
				for _, y := range read {
					lines := []string{
						"{:process 0, :type :invoke, :f :write, :value " + x + "}", "{:process 0, :type :ok, :f :write, :value " + x + "}",
						"{:process 1, :type :invoke, :f :read}",
						"{:process 2, :type :invoke, :f :cas, :value [" + y + " 8]}", "{:process 2, :type :ok, :f :cas, :value [" + y + " 8]}",
						"{:process 1, :type :ok, :f :read, :value " + x + "}",
					}
					if a == b { // the cas fails for another reason: nobody has written what it saw
						lines = lines[2:]
					}
					r, err := clew.Check(t.Context(), kit.ReadLines(t, lines), models.Spec{Name: "cas-register", Init: "nil"}, clew.Options{Whole: true})
					if err != nil || r.Verdict != jepsen.Invalid {
						t.Fatalf("write %s, read %s: %v %v", x, y, r, err)
					}
					if strings.Contains(r.Hint, "not equal") {
						if hinted++; a == b {
							t.Errorf("write %s, read %s: %s", x, y, r.Hint)
						}
					}
				}
			}
		}
	}
	if hinted < 20 {
		t.Errorf("%d hints", hinted)
	}
}
