package jepsen

import (
	"slices"

	"clew/edn"
)

// maxRecentSkips bounds the skipped events that Forget keeps.
const maxRecentSkips = 64

// Forget forgets all operations but those that keep names, in ascending order, and those that are open. So a history
// without end takes no more memory than what is kept of it. Operations and events are numbered from 0 on again; where
// they stand in the text does not change. A History from SoFar is not valid anymore. If values is true, it forgets values,
// too. Then the IDs of those that are kept change, except those of names.
//
// Forget does nothing, and returns false, if operations are not paired by process. It takes linear time in what came
// since the last call.
func (b *Builder) Forget(keep []Operation, values bool) bool {
	h := b.h
	if len(b.timed) > 0 || h.lines != nil || b.done || b.err != nil {
		return false
	}
	kept := make([]bool, h.Operations())
	for _, op := range keep {
		kept[op] = true
	}
	for _, op := range b.open {
		if op != None {
			kept[op] = true
		}
	}
	b.forgot = true
	events := h.kept(kept)
	h.skipped = slices.Clone(h.skipped[max(0, len(h.skipped)-maxRecentSkips):])
	for i := range h.skipped {
		x := &h.skipped[i]
		at, _ := slices.BinarySearchFunc(events, x.Before, func(r remembered, e Event) int { return int(r.was - e) })
		x.Before = Event(at)
	}
	if values {
		b.forgetValues(events)
		b.dense = nil
	} else {
		for _, id := range h.Processes {
			b.dense[id] = 0
		}
	}
	numbers := make([]int, len(events))
	for i := range events {
		numbers[i] = int(events[i].was)
	}
	texts := h.texts.Select(numbers)
	b.indices, b.open, b.last = nil, nil, nil
	h.Type, h.Process, h.F, h.Value, h.OpOf = h.Type[:0], h.Process[:0], h.F[:0], h.Value[:0], h.OpOf[:0]
	h.Invocation, h.Completion, h.Status = h.Invocation[:0], h.Completion[:0], h.Status[:0]
	h.places, h.keys, h.texts, h.Processes, h.nulls = places{}, nil, texts, nil, nil
	b.replay(events)
	return true
}

// forgetValues forgets all values but those of some events, and of the builder itself.
func (b *Builder) forgetValues(events []remembered) {
	h := b.h
	var ids []*edn.ID
	for i := range events {
		x := &events[i]
		ids = append(ids, &x.process, &x.f, &x.value, &x.key)
	}
	for i := range h.skipped {
		x := &h.skipped[i]
		ids = append(ids, &x.Process, &x.F, &x.Value)
	}
	for i := range h.SkippedClientOps {
		x := &h.SkippedClientOps[i]
		ids = append(ids, &x.Process, &x.F, &x.Value, &x.Key)
	}
	for _, all := range [][]Misread{h.Misread, b.misread} {
		for i := range all {
			ids = append(ids, &all[i].Process, &all[i].F, &all[i].Value, &all[i].Key)
		}
	}
	h.Values.Forget(ids)
	clear(b.skippedFs)
	for _, x := range h.SkippedClientOps {
		b.skippedFs[h.Values.Same(x.F)] = true
	}
}

// Follow adds the events of another history that begins with those of the builder, from one on. A builder that has any
// must have got them in this way, from the same history. The histories share their values, which must not be forgotten then.
// Linear time in what is added.
func (b *Builder) Follow(other *History, from Event) {
	h := b.h
	h.File, h.Values, h.built, h.words = other.File, other.Values, other.built, other.words
	var events []remembered
	for e := from; int(e) < len(other.Type); e++ {
		events = append(events, other.remember(e, other.place(e)))
	}
	h.texts.AddFrom(&other.texts, int(from), len(other.Type))
	b.replay(events)
}

// remembered is an event that Forget keeps.
type remembered struct {
	process, f, value, key edn.ID
	at                     run
	typ                    Type
	was                    Event // its number before
}

// kept returns the events of some operations.
func (h *History) kept(ops []bool) []remembered {
	n := 0
	for _, op := range h.OpOf {
		if ops[op] {
			n++
		}
	}
	events, place := make([]remembered, 0, n), h.places.inOrder()
	for e, op := range h.OpOf {
		if ops[op] {
			e := Event(e)
			events = append(events, h.remember(e, place(e)))
		}
	}
	return events
}

func (h *History) remember(e Event, at run) remembered {
	return remembered{h.Processes[h.Process[e]], h.F[e], h.Value[e], h.Key(e), at, h.Type[e], e}
}

// replay adds events that were kept to a history without any.
func (b *Builder) replay(events []remembered) {
	h := b.h
	for i := range events {
		x := &events[i]
		ev := Event(len(h.Type))
		h.Type = append(h.Type, x.typ)
		h.Process = append(h.Process, b.process(h.Values.Same(x.process)))
		h.F = append(h.F, h.Values.Same(x.f))
		h.Value = append(h.Value, x.value)
		h.OpOf = append(h.OpOf, None)
		h.places.add(x.at.index, x.at.line, x.at.col)
		h.setKey(ev, x.key)
		p := h.Process[ev]
		if x.typ == Invoke {
			b.open[p] = h.begin(ev)
			continue
		}
		op := b.open[p]
		h.end(op, ev)
		b.open[p], b.last[p] = None, op
	}
}

// Crash makes an operation that has succeeded count as crashed. The events that follow do not change that.
func (b *Builder) Crash(op Operation) {
	h := b.h
	if end := h.Completion[op]; end != None {
		h.Type[end] = Info
	}
	h.Status[op] = Crashed
}

// LeaveOut makes an operation that has returned count as if it had not happened. The events that follow do not change
// that. A failed operation of which the failure counts is still there until it is forgotten.
func (b *Builder) LeaveOut(op Operation) {
	h := b.h
	h.Type[h.Completion[op]] = Fail
	h.Status[op] = Failed
}
