package jepsen

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"clew/edn"
	"clew/internal/hugepages"
	"clew/internal/opmap"
)

// push appends an event to the columns. For the event of a timed operation, pairTimed sets
// the place.
func (b *Builder) push(t Type, e *opmap.Event, position int64, timed bool) Event {
	h := b.h
	ev := Event(len(h.Type))
	if len(h.Type) == cap(h.Type) {
		b.reserve(e.End, 1)
	}
	h.Type = append(h.Type, t)
	h.Process = append(h.Process, b.process(h.Values.Same(e.Process)))
	h.F = append(h.F, h.Values.Same(e.F))
	h.Value = append(h.Value, e.Value)
	h.OpOf = append(h.OpOf, None)
	line, col := e.Line, e.Col
	if h.built || timed {
		line, col = h.Events, 0 // no line; the places of events that ascend in step take no memory
	}
	h.places.add(b.index(e.Has&opmap.HasIndex != 0, e.Index, position, e.Line), int32(line), int32(col))
	h.setKey(ev, e.Key)
	h.texts.Add(e)
	return ev
}

// AddRows implements feed.Feed. It does what add does with each event, and stops at one that is unusual in any way.
func (f feeder) AddRows(rows *opmap.Rows) (n int, err error) {
	b, h := f.Builder, f.h
	if len(rows.All) == 0 || b.done || b.err != nil || h.built || len(h.Type) > math.MaxInt32-len(rows.All) {
		return 0, nil
	}
	h.Values.Settle()
	from := len(h.Type)
	to := from + len(rows.All)
	if min(cap(h.Type), cap(h.Process), cap(h.F), cap(h.Value), cap(h.OpOf)) < to {
		b.reserve(rows.Begin, len(rows.All))
	}
	h.Type, h.Process, h.F, h.Value, h.OpOf = h.Type[:to], h.Process[:to], h.F[:to], h.Value[:to], h.OpOf[:to]
	for n < len(rows.All) && b.addRow(Event(from+n), &rows.All[n], rows.Line+n) {
		n++
	}
	to = from + n
	h.Type, h.Process, h.F, h.Value, h.OpOf = h.Type[:to], h.Process[:to], h.F[:to], h.Value[:to], h.OpOf[:to]
	h.texts.AddRows(rows, n)
	return n, nil
}

// addRow makes an event of a row, for which there is room, or returns false if it is unusual.
func (b *Builder) addRow(ev Event, row *opmap.Row, line int) bool {
	h := b.h
	t := Type(row.Type - b.types[Invoke])
	if int(t) >= len(b.types) || b.types[t] != row.Type {
		return false
	}
	f, process := h.Values.Same(row.F), h.Values.Same(row.Process)
	p := int32(-1)
	if int(process) < len(b.dense) {
		p = b.dense[process] - 1
	}
	if p < 0 {
		p = b.process(process)
	}
	h.Type[ev], h.Process[ev], h.F[ev], h.Value[ev] = t, p, f, row.Value
	switch op := b.open[p]; {
	case t == Invoke && op == None:
		b.open[p] = h.begin(ev)
	case t != Invoke && op != None && h.F[h.Invocation[op]] == f:
		h.end(op, ev)
		b.open[p], b.last[p] = None, op
	default:
		return false
	}
	if !row.HasIndex || b.indices != nil || row.Index <= b.lastIndex {
		row.Index = b.index(row.HasIndex, row.Index, int64(h.Events), line)
	} else {
		b.lastIndex = row.Index
	}
	h.places.add(row.Index, int32(line), 1)
	h.Events++
	return true
}

// reserve makes room for at least some more events. Reallocation would cost more time than the
// rest of the work here, and touch several times the memory.
func (b *Builder) reserve(read int64, least int) {
	h := b.h
	more := max(hugepages.More(len(h.Type), read, b.bytes), least)
	h.Values.Reserve(hugepages.More(h.Values.Len(), read, b.bytes))
	h.Type = hugepages.Grow(h.Type, more)
	h.Process = hugepages.Grow(h.Process, more)
	h.F = hugepages.Grow(h.F, more)
	h.Value = hugepages.Grow(h.Value, more)
	h.OpOf = hugepages.Grow(h.OpOf, more)
	h.Invocation = hugepages.Grow(h.Invocation, more/2)
	h.Completion = hugepages.Grow(h.Completion, more/2)
	h.Status = hugepages.Grow(h.Status, more/2)
}

// process numbers the client processes in order of appearance.
func (b *Builder) process(id edn.ID) int32 {
	if int(id) >= len(b.dense) {
		if int(id) >= cap(b.dense) {
			b.dense = hugepages.Grow(b.dense, int(id)+1)
		}
		b.dense = b.dense[:int(id)+1]
	}
	if b.dense[id] == 0 {
		b.h.Processes = hugepages.Append(b.h.Processes, id)
		b.dense[id] = int32(len(b.h.Processes))
		b.open = hugepages.Append(b.open, None)
		b.last = hugepages.Append(b.last, None)
	}
	return b.dense[id] - 1
}

// index returns the op's own :index, else its position. It looks up duplicates in a map
// only once the indices stop ascending. Ordinary histories never need that.
func (b *Builder) index(has bool, n, position int64, line int) int64 {
	if !has {
		if b.noIndex == 0 {
			b.firstNo = position
		}
		b.noIndex++
		return position
	}
	if b.indices == nil && n <= b.lastIndex {
		b.indices = make(map[int64]int64, 2*len(b.h.OpOf))
		for e := range b.h.places.n {
			old := b.h.Index(e)
			b.indices[old] = old
		}
	}
	if b.indices != nil {
		if _, dup := b.indices[n]; dup {
			b.duplicates++
			if b.duplicates == 1 {
				b.warn("%san earlier event also has :index %d; the order in the file counts", b.line(line), n)
			}
		} else if n < b.lastIndex {
			b.descents++
			if b.descents == 1 {
				b.warn("%s:index %d comes after :index %d; the order in the file counts, so sort the events if they were shuffled", b.line(line), n, b.lastIndex)
			}
		}
		b.indices[n] = position
	}
	b.lastIndex = n
	return n
}

// Indices that rise from 0 are dense: Jepsen numbers all events of a test. If some are missing, events were lost, or somebody
// has left them out on purpose, such as those of the nemesis or of other keys. What is left out on purpose is missing all
// over: there are many gaps, and either no event of the nemesis is left, or much is missing. A loss makes few gaps: events
// that are lost without their partners make a history that cannot be paired.
//
// Of a part of a history, such as a key, most indices are missing, or the first ones. Cores that clew has written have a form of
// their own.
const (
	fewGaps  = 8 // with no more, events were lost
	fewOfAll = 4 // with more gaps, events were lost if at most one in so many is missing and some event of the nemesis is there
)

// gap notes which indices are missing where most are there, and warns if these are lost.
func (b *Builder) gap() {
	h := b.h
	if b.lastIndex < 0 || b.noIndex > 0 || b.duplicates+b.descents > 0 || len(h.skipped) < h.Skipped || len(h.Type) == 0 {
		return
	}
	last := max(b.lastIndex, b.lastSkipped.Index)
	if h.Skipped == 0 {
		last = b.lastIndex
	}
	missing := last + 1 - int64(h.Events)
	if missing <= 0 || missing >= int64(h.Events) {
		return
	}
	gaps, first := h.gaps()
	if gaps == 0 || h.isCore() {
		return
	}
	lacks := fmt.Sprintf("events are missing: indices run to %d, and %d of them are not there, the first of which is %d", last, missing, first)
	if gaps <= fewGaps || h.Skipped > 0 && missing*fewOfAll <= int64(h.Events) {
		b.damage(lacks)
	}
	h.noted().Lacks = lacks
}

// isCore reports whether clew has written the history, as it writes cores: with the keys of each op map in order. What it has
// left out is not missing.
func (h *History) isCore() bool {
	text := h.text(0)
	return bytes.HasPrefix(text, []byte("{:f ")) && bytes.Contains(text, []byte(", :index ")) && bytes.Contains(text, []byte(", :process ")) &&
		bytes.Index(text, []byte(", :index ")) < bytes.Index(text, []byte(", :process ")) && bytes.Index(text, []byte(", :process ")) < bytes.Index(text, []byte(", :type "))
}

// gaps returns how many gaps there are between the indices of all events, and the first one that is missing. It returns none
// if the indices do not rise from 0.
func (h *History) gaps() (n int, first int64) {
	last := int64(-1)
	rises := true
	next := func(index int64) {
		rises = rises && index > last
		if index > last+1 {
			if n++; n == 1 {
				first = last + 1
			}
		}
		last = index
	}
	skipped, at := h.skipped, h.places.inOrder()
	for e := range Event(len(h.Type)) {
		for len(skipped) > 0 && skipped[0].Before <= e {
			next(skipped[0].Index)
			skipped = skipped[1:]
		}
		next(at(e).index)
	}
	for _, s := range skipped {
		next(s.Index)
	}
	if !rises || n > 0 && first == 0 {
		return 0, 0
	}
	return n, first
}

// places say where the events of a history stand. Nearly always an event's :index and line
// are one more than those of the one before, and its column is the same. A new run begins
// only where that does not hold. Finding a place takes logarithmic time.
type places struct {
	runs []run
	n    Event
}

// run is where the first event of a run stands.
type run struct {
	index     int64
	event     Event
	line, col int32
}

// after returns where the n-th event after it stands, while the run goes on.
func (r run) after(n Event) run {
	return run{r.index + int64(n), r.event + n, r.line + int32(n), r.col}
}

func (p *places) add(index int64, line, col int32) {
	if n := len(p.runs) - 1; n < 0 || p.runs[n].after(p.n-p.runs[n].event) != (run{index, p.n, line, col}) {
		p.runs = hugepages.Append(p.runs, run{index, p.n, line, col})
	}
	p.n++
}

func (p *places) dropLast() {
	p.n--
	if n := len(p.runs); p.runs[n-1].event == p.n {
		p.runs = p.runs[:n-1]
	}
}

func (p *places) at(event Event) run {
	i, begins := slices.BinarySearchFunc(p.runs, event, func(r run, event Event) int { return int(r.event - event) })
	if !begins {
		i--
	}
	return p.runs[i].after(event - p.runs[i].event)
}

// inOrder returns a function that finds the places of events that ascend, in linear time for all of them.
func (p *places) inOrder() func(Event) run {
	i := 0
	return func(event Event) run {
		for i+1 < len(p.runs) && p.runs[i+1].event <= event {
			i++
		}
		return p.runs[i].after(event - p.runs[i].event)
	}
}
