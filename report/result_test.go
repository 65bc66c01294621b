package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"clew/jepsen"
)

func TestZeroValuesAreShown(t *testing.T) {
	for _, r := range []*Result{{}, {History: new(jepsen.History)}} {
		if got := r.EDN(); !strings.Contains(got, ":valid? :unknown") || !strings.Contains(got, ":cause nil") {
			t.Errorf("EDN: %s", got)
		}
		if got := r.Text(); !strings.HasPrefix(got, "unknown\n") {
			t.Errorf("text: %q", got)
		}
		if line, err := json.Marshal(r); err != nil || !strings.Contains(string(line), `"valid":"unknown"`) {
			t.Errorf("JSON: %s, %v", line, err)
		}
		if err := r.WriteSVG(io.Discard); err == nil {
			t.Error("it draws no failure")
		}
		for _, write := range []func(io.Writer) error{r.WriteWitness, r.WriteCore} {
			if err := write(io.Discard); err == nil || !strings.HasSuffix(err.Error(), "found one that says undecided") {
				t.Errorf("it has no evidence to write: %v", err)
			}
		}
		if _, fails := r.Failing(); fails || r.FailingIndex() != -1 || r.WitnessOps() != nil || r.CoreOps() != nil {
			t.Error("it has operations")
		}
		if got := NewTable(TextOptions{}).Row(NewRun("", "", r), r.Line()); strings.TrimSpace(got) != "unknown" && !strings.HasPrefix(strings.TrimSpace(got), "unknown ") {
			t.Errorf("row: %q", got)
		}
	}
	keyed := &Result{Keys: []KeyResult{{}, {}}}
	if got := keyed.EDN(); !strings.Contains(got, ":results") {
		t.Errorf("EDN of keys that nobody gathered: %s", got)
	}
	if got := keyed.Text(); !strings.Contains(got, "key nil: unknown") {
		t.Errorf("text of keys that nobody gathered: %s", got)
	}
	if _, err := ReadWitness(nil, "w", nil); err == nil {
		t.Error("ReadWitness reads nothing at all")
	}
}

func TestAResultNamesItsOperations(t *testing.T) {
	r := failing(t, `
		{:process 0 :type :invoke :f :write :value 1}
		{:process 0 :type :ok     :f :write :value 1}
		{:process 1 :type :invoke :f :read :value nil}
		{:process 1 :type :ok     :f :read :value 2}`, 0, 1)
	op, fails := r.Failing()
	if got := fmt.Sprint(op, " ", fails, " ", r.FailingIndex()); got != "process 1's :read 2 (index 3) true 3" {
		t.Errorf("it fails at %s", got)
	}
	if got := fmt.Sprint(r.CoreOps()); got != "[process 0's :write 1 (index 1) process 1's :read 2 (index 3)]" {
		t.Errorf("the core is %s", got)
	}
	r.Witness = []jepsen.Operation{1, 0}
	if got := fmt.Sprint(r.WitnessOps()); got != "[process 1's :read 2 (index 3) process 0's :write 1 (index 1)]" {
		t.Errorf("the witness is %s", got)
	}
}

// TestWhyIsARecordInTheMap: Knossos shows why a step cannot happen in place of the state.
func TestWhyIsARecordInTheMap(t *testing.T) {
	r := failing(t, `
		{:process 1 :type :invoke :f :read :value nil}
		{:process 1 :type :ok     :f :read :value 2}`, 0)
	r.Paths = [][]Step{{{Operation: 0, Why: "can't read 2 from register 1"}}}
	if got := r.EDN(); !strings.Contains(got, `:model #knossos.model.Inconsistent{:msg "can't read 2 from register 1"}`) {
		t.Errorf("%s", got)
	}
	if got := r.Text(); !strings.Contains(got, "┤ ✗ expected 1, got 2\n") {
		t.Errorf("%s", got)
	}
}
