// Package samerun says whether two records are of one run of a test, as far as both have the events of the same clients. It
// does not know files.
//
// Each client is compared by itself: a log may have the events of different clients in another order than the history. Two
// events are the same if they agree in everything that both records say: the process, the type, the :f, the value and the time.
package samerun

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
)

// Event is what a record says of an event of a client. Its forms are classes of the table of values that it is compared in.
type Event struct {
	Type              jepsen.Type
	Process, F, Value edn.ID
	Time              int64 // if HasTime
	HasTime           bool
}

func (a *Event) same(b *Event) bool {
	return a.Type == b.Type && a.F == b.F && a.Value == b.Value && (!a.HasTime || !b.HasTime || a.Time == b.Time)
}

// reader returns the events of a history, with their forms in another table of values.
func reader(h *jepsen.History, to *edn.Values) func(jepsen.Event) Event {
	times := h.Times() // before the copier, which copies what is there
	id := h.Values.Same
	if to != h.Values {
		copier := h.Values.CopierInto(to)
		id = func(id edn.ID) edn.ID { return to.Same(copier.ID(id)) }
	}
	return func(e jepsen.Event) Event {
		x := Event{Type: h.Type[e], Process: id(h.Processes[h.Process[e]]), F: id(h.F[e]), Value: id(h.Value[e])}
		x.Time, x.HasTime = times(e)
		return x
	}
}

// First returns the first events of a record, at most so many, to be compared in a table of values.
func First(record *jepsen.History, most int, to *edn.Values) []Event {
	read := reader(record, to)
	events := make([]Event, min(most, len(record.Type)))
	for i := range events {
		events[i] = read(jepsen.Event(i))
	}
	return events
}

// Begins reports whether the events of each client in a history begin as some others do, which are all that come first, but
// for those that are :info: Jepsen has not always logged them. Where one of the two ends, nothing is known of the rest.
func Begins(h *jepsen.History, first []Event) bool {
	of := map[edn.ID][]*Event{} // by process
	for i := range first {
		e := &first[i]
		of[e.Process] = append(of[e.Process], e)
	}
	read, left := reader(h, h.Values), len(first)
	for e := range jepsen.Event(len(h.Type)) {
		if left == 0 {
			break
		}
		process := h.Values.Same(h.Processes[h.Process[e]])
		queue := of[process]
		if len(queue) == 0 {
			continue
		}
		if x := read(e); x.same(queue[0]) {
			of[process] = queue[1:]
		} else if x.Type == jepsen.Info {
			continue
		} else {
			return false
		}
		left--
	}
	return true
}

// Part reports whether the events of each client in one record are among those of the other one, in the same order. Then the
// second one may be whole where the first one is not. It takes linear time.
func Part(part, whole *jepsen.History) bool {
	theirs, ours := reader(part, whole.Values), reader(whole, whole.Values)
	of := map[edn.ID][]jepsen.Event{} // by process: the events of whole that are left
	for e := range jepsen.Event(len(whole.Type)) {
		process := whole.Values.Same(whole.Processes[whole.Process[e]])
		of[process] = append(of[process], e)
	}
	for e := range jepsen.Event(len(part.Type)) {
		x := theirs(e)
		left := of[x.Process]
		at := slices.IndexFunc(left, func(e jepsen.Event) bool { y := ours(e); return y.same(&x) })
		if at < 0 {
			return false
		}
		of[x.Process] = left[at+1:]
	}
	return true
}
