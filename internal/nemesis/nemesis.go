// Package nemesis finds out what the nemesis of a history did, and how long that lasted, while its events come. It is for
// histories that are held, and for monitors that forget their events. What it remembers is plain data.
package nemesis

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Event is an event of a process that is not a client. F is the EDN of its :f, such as ":start-partition".
type Event struct {
	Process, F string
	Invokes    bool  // it is an :invoke
	Index      int64 // its :index
	At         int64 // its place; places never go back
	Time       int64 // its :time in nanoseconds, or the like
}

// Window is an action of a process, and what it began. It lasts from its first event to its last; at the last one, a
// partition that was started has been stopped.
type Window struct {
	Process, F string
	Index      int64 // the :index of its first event
	From, To   int64 // the places of its first and its last event so far
	Began      int64 // the times of these events
	Ended      int64
	Opens      bool   // it begins something that another :f ends
	Closed     bool   // that has ended
	Pending    string // the :f of the action under way of which one event has come, "" if there is none
}

// Tracker finds the windows of events that are added in order. The next event of a process with the same :f ends an
// action. An action such as :stop-partition ends the windows that :start-partition began.
//
// The zero Tracker has seen nothing. It remembers the last maxLive windows that may go on, and those over until they are
// taken.
type Tracker struct {
	Live []Window // those that may go on, in the order of their first events
	Over []Window // the others, in the order in which they were over
	// Once has the processes whose last action had a single event before the next one began. Their actions are moments.
	Once map[string]bool
}

// maxLive bounds the windows that may go on: older ones count as over. maxOnce bounds the processes in Once.
const (
	maxLive = 64
	maxOnce = 64
)

// Add adds the next event, and returns the windows that have changed: those of which it is the last event so far.
func (t *Tracker) Add(e Event) (changed []Window) {
	second := func(w *Window) bool { return w.Process == e.Process && w.Pending == e.F }
	if !e.Invokes && slices.ContainsFunc(t.Live, func(w Window) bool { return second(&w) }) {
		return t.end(e, second, "")
	}
	t.next(e)
	closes := func(w *Window) bool { return w.Process == e.Process && w.IsOpen() && w.F == closes(e.F) }
	if ended := t.end(e, closes, e.F); ended != nil {
		return ended
	}
	if len(t.Live) == maxLive {
		t.Over = append(t.Over, t.Live[0])
		t.Live = slices.Delete(t.Live, 0, 1)
	}
	w := Window{Process: e.Process, F: e.F, Index: e.Index, From: e.At, To: e.At, Began: e.Time, Ended: e.Time, Opens: opens(e.F), Pending: e.F}
	t.Live = append(t.Live, w)
	return []Window{w}
}

// end makes an event the last one of some windows so far. If it closes them, its action is pending then.
func (t *Tracker) end(e Event, of func(*Window) bool, pending string) (ended []Window) {
	live := t.Live[:0]
	for _, w := range t.Live {
		if !of(&w) {
			live = append(live, w)
			continue
		}
		w.To, w.Ended = e.At, e.Time
		w.Closed = w.Closed || pending != ""
		w.Pending = pending
		ended = append(ended, w)
		if w.IsOpen() || w.Pending != "" {
			live = append(live, w)
		} else {
			t.Over = append(t.Over, w)
		}
	}
	t.Live = live
	return ended
}

// next notes that a process begins another action. If it calls the same again, the one before had a single event.
func (t *Tracker) next(e Event) {
	once, live := false, t.Live[:0]
	for _, w := range t.Live {
		if w.Process == e.Process && w.Pending != "" {
			once = true
			if w.Pending == e.F {
				w.Pending = ""
			}
		}
		if w.IsOpen() || w.Pending != "" {
			live = append(live, w)
		} else {
			t.Over = append(t.Over, w)
		}
	}
	t.Live = live
	if !once {
		delete(t.Once, e.Process)
		return
	}
	if t.Once == nil || len(t.Once) == maxOnce {
		t.Once = map[string]bool{}
	}
	t.Once[e.Process] = true
}

// IsOpen says whether what a window began has not ended.
func (w *Window) IsOpen() bool { return w.Opens && !w.Closed }

// GoesOn says whether a window is not over: what it began has not ended, or its action is under way.
func (t *Tracker) GoesOn(w *Window) bool { return w.IsOpen() || w.Pending != "" && !t.Once[w.Process] }

// During returns the windows that were open at some time from one place to another, in the order of their first events.
// Those that Over does not have anymore are missing.
func (t *Tracker) During(from, to int64) (during []Window) {
	for _, all := range [][]Window{t.Over, t.Live} {
		for _, w := range all {
			if w.From < to && (from <= w.To || t.GoesOn(&w)) {
				during = append(during, w)
			}
		}
	}
	slices.SortFunc(during, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	return during
}

// opposites maps :f's to those that they end, beside :stop-x and :start-x.
var opposites = map[string]string{":stop": ":start", ":start": ":kill", ":resume": ":pause", ":heal": ":partition"}

// closes returns the :f that another one ends, "" if it ends none.
func closes(f string) string {
	if what, ok := strings.CutPrefix(f, ":stop-"); ok {
		return ":start-" + what
	}
	return opposites[f]
}

// opens says whether an :f begins something that another one ends.
func opens(f string) bool {
	return strings.HasPrefix(f, ":start-") || slices.Contains(slices.Collect(maps.Values(opposites)), f)
}
