package jepsen

import (
	"slices"

	"clew/internal/huge"
)

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
	next := run{index, p.n, line, col}
	p.n++
	if n := len(p.runs); n == 0 || p.runs[n-1].after(next.event-p.runs[n-1].event) != next {
		p.runs = huge.Append(p.runs, next)
	}
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
