package report_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
	"clew/report"
)

func TestHowFarIsToldInWords(t *testing.T) {
	guarantees := func(hold, fail, undecided string) (g report.Guarantees) {
		for i, list := range []string{hold, fail, undecided} {
			for _, x := range strings.Fields(list) {
				g.Add(report.Guarantee(x), []jepsen.Verdict{jepsen.Valid, jepsen.Invalid, jepsen.Unknown}[i])
			}
		}
		return g
	}
	error := func(ns int64) *int64 { return &ns }
	none := &report.Clocks{Why: report.NoError}
	lost := &report.Forgotten{Why: report.NotForgotten}
	for _, c := range []struct {
		what string
		far  report.Distance
		want string
	}{
		{"linearizable", report.NotFar().Distance, "how far: its operations are linearizable"},
		{"nothing is known", report.Distance{}, "how far: it is undecided whether its operations are linearizable"},
		{"per key, behind, and a suffix", report.Distance{
			Holds:  guarantees("sequential-per-key monotonic-reads read-your-writes monotonic-writes writes-follow-reads", "linearizable sequential", ""),
			Clocks: &report.Clocks{Least: 1500, Most: error(1500)}, Behind: &report.Behind{Versions: 2, Read: "a read"},
			Forgotten: &report.Forgotten{Count: 2, Of: 9, First: "x", Last: "y", Smallest: true, Suffix: report.SuffixNode, Node: `"n1"`},
		}, "how far: sequential per key holds, but not sequential\nclocks: linearizable if they were wrong by 1.5µs\nversions: a read was 2 versions behind\n" +
			`forgotten: linearizable if 2 acknowledged updates of 9 were forgotten, from x to y; a suffix of node "n1" was lost: they are all that it acknowledged from the first to the last`},
		{"two sessions, bounds and fewer", report.Distance{
			Holds:  guarantees("monotonic-writes writes-follow-reads", "linearizable sequential sequential-per-key monotonic-reads read-your-writes", ""),
			Clocks: &report.Clocks{Least: 3, Most: error(9), Why: report.TooHard}, Behind: &report.Behind{},
			Forgotten: &report.Forgotten{Count: 2, Of: 9, First: "x", Last: "y"},
		}, "how far: monotonic writes and writes follow reads hold, but not monotonic reads or read your writes\n" +
			"clocks: linearizable if they were wrong by 9ns; less than 3ns does not suffice\nversions: no read was behind\n" +
			"forgotten: linearizable if 2 acknowledged updates of 9 were forgotten, from x to y; fewer may suffice"},
		{"nothing holds", report.Distance{Holds: guarantees("", "linearizable sequential", ""), Clocks: none, Forgotten: lost},
			"how far: not sequential\nclocks: no clock error explains it\nforgotten: answers contradict each other even if every acknowledged update was forgotten"},
		{"undecided", report.Distance{Holds: guarantees("", "linearizable", "sequential monotonic-reads"), Clocks: &report.Clocks{Least: 8, Why: report.TooHard}, Forgotten: &report.Forgotten{Why: report.TooHard}},
			"how far: it is undecided which weaker guarantees hold\nclocks: an error of less than 8ns does not explain it; whether a greater one does is undecided\nforgotten: a search was too hard"},
	} {
		if got := strings.Join(c.far.Lines(), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
		r := report.Result{HowFar: &report.HowFar{Distance: c.far}}
		if _, err := edn.NewValues().Parse([]byte(r.EDN()), edn.Pos{}); err != nil || !strings.Contains(r.EDN(), ":how-far {") {
			t.Errorf("%s: %v: %s", c.what, err, r.EDN())
		}
		var again report.Line
		text, err := json.Marshal(r.Line())
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || !reflect.DeepEqual(again, r.Line()) && c.far.Holds.Holds != nil {
			t.Errorf("%s: %v: %s", c.what, err, text)
		}
	}
}

// TestTheWorstKeyCounts in what is said of several keys together.
func TestTheWorstKeyCounts(t *testing.T) {
	most := int64(7)
	a := report.Distance{Clocks: &report.Clocks{Least: 7, Most: &most}, Behind: &report.Behind{Versions: 1}}
	a.Holds.Add(report.Sequential, jepsen.Valid)
	a.Holds.Add(report.MonotonicReads, jepsen.Unknown)
	b := report.Distance{Clocks: &report.Clocks{Least: 9, Why: report.TooHard}, Behind: &report.Behind{Versions: 3}}
	b.Holds.Add(report.Sequential, jepsen.Valid)
	b.Holds.Add(report.MonotonicReads, jepsen.Invalid)
	for _, keys := range [][]report.Distance{{a, b}, {b, a}} {
		x := report.Together(keys)
		if c := x.Clocks; c.Least != 9 || c.Most != nil || c.Why != report.TooHard || x.Behind.Versions != 3 {
			t.Errorf("%+v, %+v", c, x.Behind)
		}
		for g, want := range map[report.Guarantee]jepsen.Verdict{report.Sequential: jepsen.Valid, report.MonotonicReads: jepsen.Invalid} {
			if v, applies := x.Holds.Of(g); v != want || !applies {
				t.Errorf("%s: %v", g, v)
			}
		}
		if _, applies := x.Holds.Of(report.SequentialPerKey); applies {
			t.Error("a guarantee is told that no key has")
		}
	}
}
