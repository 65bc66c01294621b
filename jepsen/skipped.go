package jepsen

import (
	"cmp"
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/nemesis"
	"clew/internal/opmap"
	"clew/internal/option"
)

// SkippedClientOp is an event that was skipped because its process is neither a client nor
// :nemesis: the first one with its :f. A model that knows the :f refuses the history, since
// nothing would check an event that looks like a client's operation.
type SkippedClientOp struct {
	Process, F, Value, Key edn.ID

	at   edn.Pos
	name string // "process \"a\"'s :invoke :write (index 3)"
}

// notClient says what to do about a SkippedClientOp.
func notClient() string {
	return fmt.Sprintf("its process is not an integer, so it would not be checked; with %s, every process but :nemesis is a client", option.AllClients)
}

// Err returns the error of a history in which it would count.
func (s *SkippedClientOp) Err() error { return s.at.Errorf("%s: %s", s.name, notClient()) }

// isClient says whether the process of an event is a client; it is not an integer. If it is
// not, the event is skipped.
func (b *Builder) isClient(e *opmap.Event, position int64) (bool, error) {
	v := b.h.Values
	index := position
	if e.Has&opmap.HasIndex != 0 {
		index = e.Index
	}
	switch {
	case e.Has&opmap.HasProcess == 0:
		return false, b.at(e).Errorf("%s (index %d) has%s no :process; expected the process that performs the operation", b.call(e), index, b.otherName(e, "process"))
	case e.Process == b.nemesis:
		b.skip(e, index)
		return false, nil
	case b.opts.AllClients:
		return true, nil
	}
	b.skip(e, index)
	b.notClients++
	if f := v.Same(e.F); !b.skippedFs[f] {
		b.skippedFs[f] = true
		b.h.SkippedClientOps = append(b.h.SkippedClientOps, SkippedClientOp{e.Process, e.F, e.Value, e.Key, b.at(e),
			fmt.Sprintf("process %s's %s (index %d)", v.Text(e.Process), b.call(e), index)})
	}
	return false, nil
}

// SkippedEvent is an event of a process that is not a client.
type SkippedEvent struct {
	Before            Event // the first event of a client after it
	Index             int64
	Type              Type // Info if it has none
	Process, F, Value edn.ID
}

// maxSkippedEvents bounds the skipped events that are kept; all are counted.
const maxSkippedEvents = 10_000

// SkippedEvents returns the first of the skipped events, up to a bound, in order. In the
// history of a key they are those of the whole history.
func (h *History) SkippedEvents() []SkippedEvent {
	if h.whole == nil {
		return h.skipped
	}
	own := slices.Clone(h.whole.skipped)
	for i := range own {
		at, _ := slices.BinarySearch(h.wholeEvent, own[i].Before)
		own[i].Before = Event(at)
	}
	return own
}

// LastSkipped returns the last event that was skipped, which SkippedEvents may not have. It is for callers that look after
// each event. The second result is how many events have been skipped.
func (b *Builder) LastSkipped() (SkippedEvent, int) { return b.lastSkipped, b.h.Skipped }

func (b *Builder) skip(e *opmap.Event, index int64) {
	h := b.h
	t := slices.Index(b.types[:], e.Type)
	if t < 0 {
		t = int(Info)
	}
	b.lastSkipped = SkippedEvent{Event(len(h.Type)), index, Type(t), e.Process, e.F, e.Value}
	if h.Skipped++; len(h.skipped) < maxSkippedEvents {
		h.skipped = append(h.skipped, b.lastSkipped)
	}
}

// call names an event by the type and :f that it has: ":invoke :write".
func (b *Builder) call(e *opmap.Event) string {
	v := b.h.Values
	switch has := e.Has & (opmap.HasType | opmap.HasF); has {
	case opmap.HasType:
		return v.Text(e.Type)
	case opmap.HasF:
		return v.Text(e.F)
	case 0:
		return "event"
	}
	return v.Text(e.Type) + " " + v.Text(e.F)
}

// clients warns about events that are not a client's. It is an error if no client has an
// operation, unless all events are the nemesis's: checking nothing must not pass for a
// verdict.
func (b *Builder) clients() error {
	h := b.h
	switch none := len(h.Type) == 0 && !b.forgot; {
	case none && b.notClients > 0:
		first := &h.SkippedClientOps[0]
		return first.at.Errorf("no operation of a client: the first event is %s; %s", first.name, notClient())
	case none && h.Events > h.Skipped:
		return b.lost.Errorf("no operation of a client: only completions without an invocation")
	case none:
		b.warn("no operations of clients (processes that are integers): nothing to check")
	case b.notClients > 0:
		b.warn("%s", b.skippedClients())
	}
	return nil
}

// skippedClients warns of the events that are neither a client's nor the nemesis's. There must be one.
func (b *Builder) skippedClients() string {
	first := &b.h.SkippedClientOps[0]
	return fmt.Sprintf("%sskipped events whose processes are not integers: %d, the first %s", b.line(first.at.Line), b.notClients, first.name)
}

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
