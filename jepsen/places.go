package jepsen

import "slices"

// places say where the events of a history stand. Nearly always an event's
// :index and line are one more than those of the one before, and its column is
// the same: only where that is not so a run begins. Finding a place takes
// logarithmic time.
type places struct {
	runs []run
	n    int32
}

// run is where the first event of a run stands.
type run struct {
	index     int64
	event     int32
	line, col int32
}

// after is where the n-th event after it stands, as long as the run goes on.
func (r run) after(n int32) run {
	return run{r.index + int64(n), r.event + n, r.line + n, r.col}
}

func (p *places) add(index int64, line, col int32) {
	next := run{index, p.n, line, col}
	p.n++
	if n := len(p.runs); n == 0 || p.runs[n-1].after(next.event-p.runs[n-1].event) != next {
		p.runs = append(p.runs, next)
	}
}

func (p *places) dropLast() {
	p.n--
	if n := len(p.runs); p.runs[n-1].event == p.n {
		p.runs = p.runs[:n-1]
	}
}

func (p *places) at(event int32) run {
	i, begins := slices.BinarySearchFunc(p.runs, event, func(r run, event int32) int { return int(r.event - event) })
	if !begins {
		i--
	}
	return p.runs[i].after(event - p.runs[i].event)
}

// Index is the :index of an event's op, else its position in the file.
func (h *History) Index(event int32) int64 { return h.places.at(event).index }

// Line is where an event's op begins in the file, from 1.
func (h *History) Line(event int32) int { return int(h.places.at(event).line) }

// Col is likewise the column.
func (h *History) Col(event int32) int { return int(h.places.at(event).col) }
