package report_test

import (
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

const hardHistory = `
{:process 0, :type :invoke, :f :enqueue, :value 1}
{:process 0, :type :ok, :f :enqueue, :value 1}
{:process 1, :type :invoke, :f :enqueue, :value 2}
{:process 2, :type :invoke, :f :dequeue}
{:process 2, :type :ok, :f :dequeue, :value 2}`

// TestWhatMakesAHistoryHard: the paragraph says how far the search got, what is certain, why it
// is hard, and what to change. The map has the same as data.
func TestWhatMakesAHistoryHard(t *testing.T) {
	h, err := clew.Read(strings.NewReader(hardHistory), "hard.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(t.Context(), h, models.Spec{Name: "fifo-queue"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Verdict, r.Cause, r.Explanation = jepsen.Unknown, jepsen.Timeout, ""
	r.Hard = &report.Hard{Passed: 1, Completions: 2, At: jepsen.Some[jepsen.Event](4), FailsBy: jepsen.Some[jepsen.Event](4),
		FailsAs: "since no order of the operations that had begun by then leads to its answer", Open: 11, Updates: 8, Distinct: 2, Values: true}
	for range 11 {
		r.Hard.Count(h.Values.Value(h.F[2]))
	}
	r.Hard.Count(h.Values.Value(h.F[3]))
	const want = "Linearizable up to 1 of 2 completions, and undecided from process 2's :dequeue 2 (index 4) on. " +
		"Certainly not linearizable from the usual initial value: it fails by process 2's :dequeue 2 (index 4) at the latest, since no order of the operations that had begun by then leads to its answer; " +
		"which completion fails first is undecided. What makes it hard: 12 crashed operations that may or may not have taken effect (11 :enqueue, 1 :dequeue); " +
		"up to 11 operations open at once; only 2 of 8 updates differ. To have the next run decided: " +
		"have fewer operations crash: report as :fail what certainly had no effect, and let faults be shorter; " +
		"have fewer operations open at once: fewer clients for each key, and shorter time-outs; use each value only once; " +
		"use more keys with fewer operations each, or set a higher limit."
	if got := r.Text(); !strings.HasSuffix(got, "\n  "+want+"\n") {
		t.Errorf("the text is\n%s\nwant it to end in\n%s", got, want)
	}
	if got := string(r.Line().Hard); got != want {
		t.Errorf("the line of JSON has %q", got)
	}
	var edn strings.Builder
	if err := r.WriteEDN(&edn); err != nil {
		t.Fatal(err)
	}
	const data = `:hard {:at {:f :dequeue, :index 4, :process 2, :type :ok, :value 2}, :completions 2, :crashed {:enqueue 11 :dequeue 1}, :distinct 2, ` +
		`:fails-by {:f :dequeue, :index 4, :process 2, :type :ok, :value 2}, :open 11, :passed 1, :text "` + want + `", :updates 8}`
	if !strings.Contains(edn.String(), data) {
		t.Errorf("the map is\n%s\nwant\n%s", edn.String(), data)
	}
}
