package jepsen

import (
	"cmp"
	"slices"

	"clew/edn"
	"clew/internal/nemesis"
)

// NemesisWindow is an action of a process that is not a client, such as the nemesis. It lasts from
// its first event to its last; at the last one, a partition that was started has been
// stopped.
type NemesisWindow struct {
	Process, F, Value edn.ID
	Index             int64 // the :index of its first event
	// From and To are the first events of clients after its first and its last event. A
	// window that nothing ended goes on to the end of the history.
	From, To Event
}

// NemesisWindows returns what the skipped processes did, in order, as far as SkippedEvents are
// kept. The next event of a process with the same :f ends an operation. An operation such
// as :stop-partition ends the windows that :start-partition began.
func (h *History) NemesisWindows() []NemesisWindow {
	events := h.SkippedEvents()
	var t nemesis.Tracker
	for i, e := range events {
		t.Add(nemesis.Event{Process: h.Values.Text(h.Values.Same(e.Process)), F: h.Values.Text(e.F), Invokes: e.Type == Invoke, At: int64(i)})
	}
	all := append(t.Over, t.Live...)
	slices.SortFunc(all, func(a, b nemesis.Window) int { return cmp.Compare(a.From, b.From) })
	windows := make([]NemesisWindow, len(all))
	for i, w := range all {
		first, last := events[w.From], events[w.To]
		windows[i] = NemesisWindow{first.Process, first.F, first.Value, first.Index, first.Before, last.Before}
		if w.IsOpen() {
			windows[i].To = Event(len(h.Type))
		}
		if first.Value == edn.Nil && !w.Closed {
			windows[i].Value = last.Value
		}
	}
	return windows
}
