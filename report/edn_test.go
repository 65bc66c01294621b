package report_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// WriteEDN writes the text of the map that it reads
// as: the same bytes, with keys sorted at every level.
func TestWriteEDNWritesTheTextOfItsMap(t *testing.T) {
	var text strings.Builder
	for i, key := range []string{"10", "9", `"k"`, ":k", "1/2", "2.5", "[1 {:b 2, :a 1}]", "nil", "1N", "-3"} {
		read := 1 + i%3/2
		fmt.Fprintf(&text, `
			{:process 0 :type :invoke :f :write :value [%[1]s 1] :time 5}
			{:process 1 :type :invoke :f :write :value [%[1]s 3] :node "n1"}
			{:process 0 :type :ok     :f :write :value [%[1]s 1] :time 007}
			{:process 0 :type :invoke :f :read  :value [%[1]s nil]}
			{:process 0 :type :ok     :f :read  :value [%[1]s %[2]d]}
			{:process 1 :type :info   :f :write :value [%[1]s 3] :error "a \"b\""}`, key, read)
	}
	h, err := clew.Read(strings.NewReader(text.String()), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Independent: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Keys) != 10 || r.Verdict != jepsen.Invalid {
		t.Fatalf("%d keys, %s", len(r.Keys), r.Verdict)
	}
	results := []string{r.EDN()}
	for _, k := range r.Keys {
		results = append(results, k.Result().EDN())
	}
	for _, got := range results {
		v := edn.NewValues()
		id, err := v.Parse([]byte(got), edn.Pos{})
		if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if want := v.Text(id); got != want {
			t.Errorf("it writes\n%s\nfor\n%s", got, want)
		}
	}
	for _, got := range results[1:] {
		if !strings.Contains(got, ":stats {:crashed 1, :events 6, :ms ") || !strings.Contains(got, ", :operations 3, :skipped 0}") {
			t.Errorf("statistics of three operations, one of which crashed: %s", got)
		}
	}
	if err := r.WriteEDN(full{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("full")

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A result is read with what its history knows about it:
// operations by their events, and names in the sentence.
func TestASavedFailureIsReadWithWhatItsHistoryHas(t *testing.T) {
	written := check(t, models.Spec{Name: "register"}, clew.Options{},
		"0 invoke write 1", "0 ok write 1", "0 invoke write 2", "0 ok write 2", "1 invoke write 5", "2 invoke read", "2 ok read 1")
	text := written.EDN()
	read := func(text string) *report.Result {
		r, err := report.ReadEDN(strings.NewReader(text), "r", written.History)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return r
	}
	r := read(text)
	if r.Verdict != jepsen.Invalid || r.FailEvent != written.FailEvent || r.LastOperation != written.LastOperation || r.Explanation != written.Explanation {
		t.Errorf("%+v", r)
	}
	if got, want := fmt.Sprint(r.Core, slices.Sorted(slices.Values(r.Named))), fmt.Sprint(written.Core, slices.Sorted(slices.Values(written.Named))); got != want {
		t.Errorf("core and named %s, want %s", got, want)
	}
	if len(r.Configs) != len(written.Configs) || len(r.Configs) == 0 {
		t.Fatalf("%d configurations, want %d", len(r.Configs), len(written.Configs))
	}
	for i, c := range r.Configs {
		if got, want := fmt.Sprint(c.Pending), fmt.Sprint(written.Configs[i].Pending); got != want || len(c.Pending) == 0 {
			t.Errorf("configuration %d: pending %s, want %s", i, got, want)
		}
	}
	if len(r.Paths) != len(written.Paths) || len(r.Paths) == 0 {
		t.Fatalf("%d paths, want %d", len(r.Paths), len(written.Paths))
	}
	for i, path := range r.Paths {
		for k, step := range path {
			if want := written.Paths[i][k]; step.Operation != want.Operation || step.Why != want.Why {
				t.Errorf("path %d, step %d: %+v, want %+v", i, k, step, want)
			}
		}
	}
	// A path is omitted as a whole if the history does not have one of its operations.
	paths := strings.Index(text, ":final-paths ")
	other := text[:paths] + strings.Replace(text[paths:], ":f :write, :index 3", ":f :write, :index 99", 1)
	if other == text {
		t.Fatalf("there is no write in %s", text[paths:])
	}
	if got := read(other); len(got.Paths) != len(r.Paths)-1 {
		t.Errorf("%d paths are left of %d in\n%s", len(got.Paths), len(r.Paths), other)
	}
}
