package clew_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
)

// aNumber finds the answers and positions of completions.
var aNumber = regexp.MustCompile(`:(value|revision) (\[:[a-z]+ )?(\d+)`)

// A pass over operations that tell positions goes on from the last one that is certain, and finds what repeated checks find.
func TestAMonitorGoesOnFromPositions(t *testing.T) {
	collectLess(t)
	for _, model := range []string{"register", "cas-register", "kv", "set"} {
		r := gen.Rand(82)
		compared, anomalies, forgot := 0, 0, 0
		for range effort.Histories(60, 20_000) {
			o := gen.LongOptions{Model: model, Operations: 10 + r.IntN(30), Processes: 1 + r.IntN(4), Values: r.IntN(5), Keys: 1 + r.IntN(3),
				Position: "revision", Sparse: r.IntN(3) == 0, Seed: r.Uint64()}
			if r.IntN(2) == 0 {
				o.Crashes, o.Crashed = 0.05, r.IntN(3)
			}
			var text bytes.Buffer
			if _, err := gen.Long(&text, o); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(text.String(), "\n")
			for range r.IntN(3) { // what an operation says is wrong
				i := r.IntN(len(lines))
				if places := aNumber.FindAllStringSubmatchIndex(lines[i], -1); strings.Contains(lines[i], ":ok") && len(places) > 0 {
					at := places[r.IntN(len(places))][6:8]
					n, _ := strconv.Atoi(lines[i][at[0]:at[1]])
					lines[i] = fmt.Sprint(lines[i][:at[0]], max(0, n-2+r.IntN(5)), lines[i][at[1]:])
				}
			}
			spec := models.Spec{Name: model, Position: "revision", SparsePositions: o.Sparse}.FromDefault()
			all := strings.Join(lines, "\n")
			want, decided := repeated(t, spec, all, unverified)
			if !decided {
				continue
			}
			compared++
			anomalies += len(want)
			for _, stretch := range []int{1, 1 + r.IntN(12)} {
				got, totals, err := monitored(t, spec, all, stretch, unverified)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, sparse %v, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", model, o.Sparse, stretch, got, err, want, numbered(all))
				}
				if compared%4 == 0 {
					checkWitness(t, spec, all, stretch, unverified)
				}
				if totals.Held < totals.Operations/2 {
					forgot++
				}
			}
		}
		if anomalies == 0 || forgot == 0 {
			t.Errorf("%s: %d histories, %d anomalies, %d passes forgot most", model, compared, anomalies, forgot)
		}
		t.Logf("%s: %d histories, %d anomalies, %d passes forgot most", model, compared, anomalies, forgot)
	}
}

// Some keys have only operations that crashed, which tell no position, and a monitor may look before any operation tells one.
func TestPositionsMayBeToldLaterOrOfOtherKeys(t *testing.T) {
	const text = `{:process 1, :type :invoke, :f :write, :value [2 5]}
{:process 1, :type :info, :f :write, :value [2 5]}
{:process 0, :type :invoke, :f :write, :value [1 1]}
{:process 0, :type :ok, :f :write, :value [1 1], :revision 7}
{:process 0, :type :invoke, :f :read, :value [1 nil]}
{:process 0, :type :ok, :f :read, :value [1 %d], :revision 7}
`
	spec := models.Spec{Name: "register", Position: "revision"}.FromDefault()
	for value, want := range map[int][]int{1: nil, 2: {6}} {
		text := fmt.Sprintf(text, value)
		if r, err := clew.Check(t.Context(), readLines(t, strings.Split(text, "\n")), spec, clew.Options{Independent: true}); err != nil || (r.Verdict == jepsen.Valid) != (want == nil) {
			t.Errorf("%v, %v:\n%s", r, err, text)
		}
		got, _, err := monitored(t, spec, text, 1, clew.Options{Independent: true})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the monitor finds %v (%v):\n%s", got, err, text)
		}
	}
	_, _, err := monitored(t, spec, strings.Split(text, "{:process 0")[0], 1, clew.Options{Independent: true})
	if err == nil || !strings.Contains(err.Error(), "no operation that completed has a :revision") {
		t.Errorf("without any position: %v", err)
	}
}
