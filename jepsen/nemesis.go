package jepsen

import (
	"maps"
	"slices"
	"strings"

	"clew/edn"
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

// window is a NemesisWindow under way.
type window struct {
	first, last SkippedEvent
	done        bool    // the second event of its operation has come
	ends        *window // the window that this one ends, or nil
	open, ended bool    // it began something that another :f ends, and that end has come
}

// NemesisWindows returns what the skipped processes did, in order, as far as SkippedEvents are
// kept. The next event of a process with the same :f ends an operation. An operation such
// as :stop-partition ends the window that :start-partition began.
func (h *History) NemesisWindows() []NemesisWindow {
	type kind struct {
		process edn.ID
		f       string
	}
	var all []*window
	underWay, open := map[kind]*window{}, map[kind]*window{}
	for _, e := range h.SkippedEvents() {
		process, f := h.Values.Same(e.Process), h.Values.Text(e.F)
		if s := underWay[kind{process, f}]; s != nil && !s.done && e.Type != Invoke {
			s.done = true
			if s.ends != nil {
				s = s.ends
			}
			s.last = e
			continue
		}
		s := &window{first: e, last: e, open: opens(f)}
		underWay[kind{process, f}] = s
		if o := open[kind{process, closes(f)}]; o != nil && !o.ended {
			o.ended, o.last, s.ends = true, e, o
			continue
		}
		if s.open {
			open[kind{process, f}] = s
		}
		all = append(all, s)
	}
	windows := make([]NemesisWindow, len(all))
	for i, s := range all {
		windows[i] = NemesisWindow{s.first.Process, s.first.F, s.first.Value, s.first.Index, s.first.Before, s.last.Before}
		if s.open && !s.ended {
			windows[i].To = Event(len(h.Type))
		}
		if s.first.Value == edn.Nil && !s.ended {
			windows[i].Value = s.last.Value
		}
	}
	return windows
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
