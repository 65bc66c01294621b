package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// add adds events that are named "process:f", with ! at the end if they invoke. Their places are 1, 2, ..
func add(t *Tracker, events string) {
	for i, name := range strings.Fields(events) {
		process, f, _ := strings.Cut(name, ":")
		f, invokes := strings.CutSuffix(f, "!")
		t.Add(Event{Process: process, F: ":" + f, Invokes: invokes, Index: int64(i + 1), At: int64(i + 1)})
	}
}

// names returns windows with the places of their first and last events, + if they go on.
func names(t *Tracker, all []Window) string {
	var said []string
	for _, w := range all {
		s := fmt.Sprintf("%s%s %d-%d", w.Process, w.F, w.From, w.To)
		if t.GoesOn(&w) {
			s += "+"
		}
		said = append(said, s)
	}
	return strings.Join(said, ", ")
}

func TestWindowsOfANemesis(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"an action that is under way", "n:bump", "n:bump 1-1+"},
		{"an action with an end", "n:bump n:bump", "n:bump 1-2"},
		{"an action that is called and returns", "n:bump! n:bump", "n:bump 1-2"},
		{"an action that never returned, and the same again", "n:bump! n:bump! n:bump", "n:bump 1-1, n:bump 2-3"},
		{"a partition", "n:start-partition n:start-partition", "n:start-partition 1-2+"},
		{"a partition that is being stopped", "n:start-partition n:start-partition n:stop-partition", "n:start-partition 1-3+"},
		{"a partition that was stopped", "n:start-partition n:start-partition n:stop-partition n:stop-partition", "n:start-partition 1-4"},
		{"two partitions end together", "n:start n:start n:start n:start n:stop n:stop", "n:start 1-6, n:start 3-6"},
		{"the nodes that were killed start", "n:kill n:kill n:start n:start n:start", "n:kill 1-4, n:start 5-5+"},
		{"other processes end nothing", "n:pause n:pause m:resume", "n:pause 1-2+, m:resume 3-3+"},
		{"actions with one event each are moments", "n:start n:stop n:bump", "n:start 1-2, n:bump 3-3"},
	} {
		var x Tracker
		add(&x, c.events)
		if got := names(&x, x.During(0, 100)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// An operation falls into a window if it was open at some time while the window was.
func TestAnOperationFallsIntoTheWindowsOfItsTime(t *testing.T) {
	var x Tracker
	add(&x, "n:start-partition n:start-partition n:stop-partition n:stop-partition") // between the places 1 and 4
	for _, c := range []struct {
		from, to int64
		during   bool
	}{{0, 1, false}, {0, 2, true}, {3, 4, true}, {4, 9, true}, {5, 9, false}, {0, 9, true}} {
		if got := len(x.During(c.from, c.to)) > 0; got != c.during {
			t.Errorf("from %d to %d: %t", c.from, c.to, got)
		}
	}
}

// Whatever a nemesis does, what may go on is bounded, and no window is lost.
func TestATrackerIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x Tracker
	began := 0
	for at := range int64(20_000) {
		e := Event{Process: fmt.Sprint(r.IntN(200)), F: []string{":start", ":stop", ":kill", fmt.Sprint(":f", at)}[r.IntN(4)], Invokes: r.IntN(4) == 0, Index: at, At: at}
		if changed := x.Add(e); slices.ContainsFunc(changed, func(w Window) bool { return w.From == at }) {
			began++
		}
		if len(x.Live) > maxLive || len(x.Once) > maxOnce {
			t.Fatal(len(x.Live), len(x.Once))
		}
	}
	if n := len(x.Live) + len(x.Over); n != began {
		t.Errorf("%d windows, %d began", n, began)
	}
}
