package jepsen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
)

func TestSkippedEventsHaveTheirPlaceBetweenThoseOfClients(t *testing.T) {
	h, err := forms.Read(strings.NewReader(`
		{:process :nemesis :type :info :f :start :index 0}
		{:process 0 :type :invoke :f :write :value [:a 1] :index 1}
		{:process 1 :type :invoke :f :write :value [:b 2] :index 2}
		{:process 3 :type :info :f :write :value [:b 2] :index 3}
		{:process :nemesis :type :info :f :start :value "n1" :index 4}
		{:process 0 :type :ok :f :write :value [:a 1] :index 5}
		{:process "watch" :type :invoke :f :look :index 6}
		{:process 1 :type :ok :f :write :value [:b 2] :index 7}
		{:process :nemesis :type :info :f :stop :index 8}`), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say := func(h *jepsen.History) string {
		var all []string
		for _, e := range h.SkippedEvents() {
			all = append(all, fmt.Sprintf("%d %s%s%s=%s (%d)", e.Before, h.Values.Text(e.Process), e.Type, h.Values.Text(e.F), h.Values.Text(e.Value), e.Index))
		}
		return strings.Join(all, ", ")
	}
	if got, want := say(h), `0 :nemesis:info:start=nil (0), 2 :nemesis:info:start="n1" (4), 3 "watch":invoke:look=nil (6), 4 :nemesis:info:stop=nil (8)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	keyed, err := h.Independent()
	if err != nil {
		t.Fatal(err)
	}
	b := slices.IndexFunc(keyed.Keys, func(key edn.ID) bool { return h.Values.Text(key) == ":b" })
	if got, want := say(keyed.History(b).History), `0 :nemesis:info:start=nil (0), 1 :nemesis:info:start="n1" (4), 1 "watch":invoke:look=nil (6), 2 :nemesis:info:stop=nil (8)`; got != want {
		t.Errorf("of a key: %s, want %s", got, want)
	}
}

// One skipped event of such a process is worth a warning, as many are.
func TestSkippedEventsOfOtherProcessesGetAWarning(t *testing.T) {
	const client = "{:process 0 :type :invoke :f :write :value 1}\n{:process 0 :type :ok :f :write :value 1}\n"
	for n := range 3 {
		h, err := forms.Read(strings.NewReader(client+strings.Repeat("{:process \"watch\" :type :info :f :look}\n", n)), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string(nil)
		if n > 0 {
			want = []string{fmt.Sprintf("line 3: skipped events whose processes are not integers: %d, the first process \"watch\"'s :info :look (index 2)", n)}
		}
		if !slices.Equal(h.Warnings, want) {
			t.Errorf("%d events: %q, want %q", n, h.Warnings, want)
		}
	}
}
