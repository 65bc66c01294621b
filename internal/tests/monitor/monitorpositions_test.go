package monitor_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// aNumber finds the answers and positions of completions.
var aNumber = regexp.MustCompile(`:(value|revision) (\[:[a-z]+ )?(\d+)`)

// withDeletes returns a history of a map, of which most deletes do not answer whether they did something.
func withDeletes(r *rand.Rand, operations, processes int) string {
	type client struct {
		number        int
		f, key, given string
		answer        string // once it has taken effect
		at            int
	}
	var b strings.Builder
	values, at := map[string]string{}, 0
	clients := make([]client, processes)
	for i := range clients {
		clients[i].number = i
	}
	for begun := 0; begun < operations; {
		switch c := &clients[r.IntN(len(clients))]; {
		case c.f == "":
			begun++
			c.f, c.key, c.given = []string{"put", "delete", "delete", "get", "put-if-absent"}[r.IntN(5)], []string{"x", "y"}[r.IntN(2)], "nil"
			if strings.HasPrefix(c.f, "put") {
				c.given = strconv.Itoa(r.IntN(4))
			}
			fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :%s, :key %q, :value %s}\n", c.number, c.f, c.key, c.given)
		case c.answer == "" && r.IntN(20) == 0, r.IntN(40) == 0:
			fmt.Fprintf(&b, "{:process %d, :type :info, :f :%s, :key %q, :value nil}\n", c.number, c.f, c.key)
			*c = client{number: c.number + len(clients)}
		case c.answer == "":
			old, there := values[c.key]
			c.answer = "nil"
			switch {
			case c.f == "get" && there:
				c.answer = old
			case c.f == "delete":
				if r.IntN(4) == 0 {
					c.answer = strconv.FormatBool(there)
				}
				if delete(values, c.key); there {
					at++
				}
			case c.f == "put" || c.f == "put-if-absent" && !there:
				values[c.key] = c.given
				at++
				if c.answer = c.given; c.f == "put-if-absent" {
					c.answer = "true"
				}
			case c.f == "put-if-absent":
				c.answer = "false"
			}
			c.at = at
		default:
			fmt.Fprintf(&b, "{:process %d, :type :ok, :f :%s, :key %q, :value %s, :revision %d}\n", c.number, c.f, c.key, c.answer, c.at)
			*c = client{number: c.number}
		}
	}
	return b.String()
}

// A pass over operations that tell positions goes on from the last one that is certain, and finds what repeated checks find.
func TestAMonitorGoesOnFromPositions(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	for _, model := range []string{"kv", "register", "cas-register", "set"} {
		r := gen.Rand(82)
		compared, anomalies, forgot := 0, 0, 0
		for range kit.Histories(25, 30, 20_000) {
			o := gen.LongOptions{Model: model, Operations: 10 + r.IntN(30), Processes: 1 + r.IntN(4), Values: r.IntN(5), Keys: 1 + r.IntN(3),
				Position: "revision", Sparse: r.IntN(3) == 0, Seed: r.Uint64()}
			if r.IntN(2) == 0 {
				o.Crashes, o.Crashed = 0.05, r.IntN(3)
			}
			var text bytes.Buffer
			if _, err := gen.Long(&text, o); err != nil {
				t.Fatal(err)
			}
			if model == "kv" && r.IntN(2) == 0 {
				text.Reset()
				text.WriteString(numberedEvents(withDeletes(r, o.Operations, o.Processes)))
				o.Sparse = false
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
			want, decided := repeated(t, spec, all, kit.Unverified)
			if !decided {
				continue
			}
			compared++
			anomalies += len(want)
			for _, stretch := range []int{1, 1 + r.IntN(12)} {
				got, totals, err := monitored(t, spec, all, stretch, kit.Unverified)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, sparse %v, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", model, o.Sparse, stretch, got, err, want, kit.Numbered(all))
				}
				if compared%4 == 0 {
					checkWitness(t, spec, all, stretch, kit.Unverified)
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
	t.Parallel()
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
		if r, err := clew.Check(t.Context(), kit.ReadLines(t, strings.Split(text, "\n")), spec, clew.Options{Independent: true}); err != nil || (r.Verdict == jepsen.Valid) != (want == nil) {
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

// What answers that it changed nothing is left out, also if it tells a position.
func TestAnAnomalyThatChangedNothingIsNoUpdate(t *testing.T) {
	t.Parallel()
	const put = `{:process 0, :type :invoke, :f :put, :key "y", :value 1}
{:process 0, :type :ok, :f :put, :key "y", :value 1, :revision 1}
`
	for _, c := range []struct{ model, text string }{
		{"kv", put + `{:process 1, :type :invoke, :f :put-if-absent, :key "x", :value 3}
{:process 1, :type :ok, :f :put-if-absent, :key "x", :value false, :revision 1}
{:process 0, :type :invoke, :f :get, :key "x"}
{:process 0, :type :ok, :f :get, :key "x", :value 3}
`}, {"kv", put + `{:process 1, :type :invoke, :f :delete, :key "y"}
{:process 1, :type :ok, :f :delete, :key "y", :value false, :revision 1}
{:process 0, :type :invoke, :f :get, :key "y"}
{:process 0, :type :ok, :f :get, :key "y", :value nil, :revision 2}
`}, {"register", `{:process 1, :type :invoke, :f :write, :value 3}
{:process 1, :type :ok, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 4, :revision 4}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 2}
`},
	} {
		spec := models.Spec{Name: c.model, Position: "revision", Init: "{}"}
		if c.model == "register" {
			spec.Init = "0"
		}
		want, decided := repeated(t, spec, c.text, kit.Unverified)
		for _, stretch := range []int{1, 3, 100} {
			got, _, err := monitored(t, spec, c.text, stretch, kit.Unverified)
			if err != nil || !decided || !slices.Equal(got, want) || !slices.Equal(got, []int{4, 6}) {
				t.Errorf("each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", stretch, got, err, want, kit.Numbered(c.text))
			}
		}
	}
}
