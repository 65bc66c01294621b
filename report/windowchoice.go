package report

import (
	"cmp"
	"fmt"
	"slices"

	"clew/jepsen"
)

// This file chooses which operations a window shows, and in which rows.

// How many operations a window shows in addition to those that it must.
const (
	contextOps = 16 // in total, if the core takes less
	coreOps    = 16 // in a core that is shown as a whole
	maxNamed   = 60 // that a sentence names
	fewCore    = 4  // of a larger core in text, or beside a core of one
)

// choose chooses the operations, and where the window ends.
func (b *windowBuilder) choose() error {
	b.threads = threadsOf(b.h)
	c := &chooser{h: b.h, o: b.o, threads: b.threads, in: map[jepsen.Operation]bool{}, rows: map[int32]bool{}, until: jepsen.Event(len(b.h.Type))}
	fails := b.r.fails()
	switch {
	case b.o.Around != nil:
		e := b.h.EventAt(*b.o.Around)
		if e == jepsen.None {
			return fmt.Errorf("no event has :index %d", *b.o.Around)
		}
		c.around(b.h.OpOf[e])
	case fails:
		b.w.MoreNamed = c.failure(b.r)
		b.end = b.r.FailEvent.OrNone()
	case b.r.Verdict == jepsen.Invalid && b.r.Hard != nil: // it is not known where it fails
		c.around(b.h.OpOf[b.r.Hard.FailsBy.OrNone()])
	default:
		c.around(0)
	}
	b.ops = c.ops
	slices.Sort(b.ops)
	for _, op := range b.ops {
		if !fails || b.o.Around != nil {
			b.end = max(b.end, b.h.Invocation[op], b.h.Completion[op])
		}
	}
	return nil
}

// chooser chooses operations up to the bounds of the options.
type chooser struct {
	h       *jepsen.History
	o       WindowOptions
	threads []int32
	ops     []jepsen.Operation
	in      map[jepsen.Operation]bool
	rows    map[int32]bool // threads that have a row
	until   jepsen.Event   // nothing is chosen that was called after this
}

func (c *chooser) thread(op jepsen.Operation) int32 {
	return c.threads[c.h.Process[c.h.Invocation[op]]]
}

// must adds an operation regardless of the bounds.
func (c *chooser) must(op jepsen.Operation) {
	if op != jepsen.None && !c.in[op] {
		c.in[op], c.rows[c.thread(op)] = true, true
		c.ops = append(c.ops, op)
	}
}

// may adds an operation if there are fewer than most, and it needs no more rows than allowed.
func (c *chooser) may(op jepsen.Operation, most int) {
	if op != jepsen.None && c.h.Invocation[op] <= c.until && len(c.ops) < min(most, c.o.Operations) && (c.rows[c.thread(op)] || len(c.rows) < c.o.Rows) && c.h.Status[op] != jepsen.Failed {
		c.must(op)
	}
}

// failure chooses the operations that explain a failure. These are the failing
// one, those that its sentence names, the core, those that returned last before,
// and those that were open then. It returns how many named ones were too many.
func (c *chooser) failure(r *Result) (tooMany int) {
	h := c.h
	c.until = r.FailEvent.OrNone()
	c.must(h.OpOf[c.until])
	for _, op := range r.Named {
		if h.Invocation[op] > c.until {
			tooMany++ // it is named for comparison only
		} else if len(c.ops) < maxNamed {
			c.must(op)
		} else {
			tooMany++
		}
	}
	if !c.o.Core || len(r.Core) == 0 {
		c.may(r.LastOperation.OrNone(), c.o.Operations)
	}
	most := c.o.Operations
	switch large := len(r.Core) > coreOps; {
	case large && c.o.Core:
		most = len(c.ops) + fewCore
	case large:
		most = contextOps
	}
	for _, op := range slices.Backward(r.Core) {
		c.may(op, most)
	}
	if c.o.Core && len(r.Core) > 1 {
		return tooMany
	}
	last, alone := min(contextOps, c.o.Operations)/2, c.o.Core && len(r.Core) == 1
	if alone {
		last = len(c.ops) + fewCore
	}
	for e := c.until - 1; e >= 0 && len(c.ops) < last; e-- {
		if h.Type[e] == jepsen.OK {
			c.may(h.OpOf[e], last)
		}
		if c.until-e > nearby {
			break
		}
	}
	if alone {
		return tooMany
	}
	for _, op := range slices.Backward(r.Before) { // what these saw may come from crashed operations
		if last == 0 {
			break
		}
		if h.Invocation[op] <= c.until { // the order is of the whole history if a guarantee is broken
			c.may(op, contextOps)
			last--
		}
	}
	for _, config := range r.Configs {
		for _, op := range slices.Backward(config.Pending) {
			c.may(op, contextOps)
		}
	}
	return tooMany
}

// nearby bounds how many events to look back for the operations that returned last.
const nearby = 10_000

// around chooses an operation and those invoked before and after it.
func (c *chooser) around(op jepsen.Operation) {
	c.must(op)
	for before, after := op-1, op+1; len(c.ops) < c.o.Operations && (before >= max(0, op-nearby) || int(after) < min(c.h.Operations(), int(op)+nearby)); before, after = before-1, after+1 {
		if int(after) < c.h.Operations() {
			c.may(after, c.o.Operations)
		}
		if before >= 0 {
			c.may(before, c.o.Operations)
		}
	}
}

// threadsOf says which processes belong to one thread: a process that took the place of a
// crashed one has the same thread. In Jepsen, its number is that of the crashed process
// plus the number of threads. If the processes do not look like that, each is a thread.
func threadsOf(h *jepsen.History) []int32 {
	n := len(h.Processes)
	threads, number := make([]int32, n), make([]int64, n)
	begins, crashes := make([]jepsen.Event, n), make([]jepsen.Event, n) // crashes: None unless the crash was its last event
	of := map[int64]int{}
	integers := true
	for p := range threads {
		var isInt bool
		number[p], isInt = h.Values.Int(h.Processes[p])
		integers = integers && isInt
		threads[p], begins[p], crashes[p] = int32(p), jepsen.None, jepsen.None
		of[number[p]] = p
	}
	firstCrash := jepsen.Event(len(h.Type))
	for op, inv := range h.Invocation {
		p := h.Process[inv]
		if begins[p] == jepsen.None {
			begins[p] = inv
		}
		if crashes[p] = jepsen.None; h.Status[op] == jepsen.Crashed && h.Completion[op] != jepsen.None {
			crashes[p] = h.Completion[op]
			firstCrash = min(firstCrash, crashes[p])
		}
	}
	greatest, last, early := int64(-1), -1, 0
	for p := range threads {
		if begins[p] < firstCrash {
			greatest = max(greatest, number[p])
			early++
		}
		if last < 0 || number[p] > number[last] {
			last = p
		}
	}
	if !integers || early < 2 || number[last] <= greatest {
		return threads
	}
	follows := func(p int, count int64) (before int, ok bool) {
		before, ok = of[number[p]-count]
		return before, ok && crashes[before] != jepsen.None && crashes[before] < begins[p]
	}
	for count, tries := greatest+1, 0; count <= number[last] && tries < maxTries; count, tries = count+1, tries+1 {
		all, first := true, int64(0)
		for p := 0; p < n && all; p++ {
			if number[p] >= count {
				_, all = follows(p, count)
			} else {
				first++
			}
		}
		if all && 2*first >= count { // most threads have a first process
			for p := range threads { // in order of appearance
				if number[p] >= count {
					before, _ := follows(p, count)
					threads[p] = threads[before]
				}
			}
			break
		}
	}
	return threads
}

// maxTries bounds how many numbers of threads are tried.
const maxTries = 64

// lanes assigns the operations to rows: one for each thread, and another
// one if a crashed operation took effect after the thread had continued, or may have in a core.
func (b *windowBuilder) lanes() {
	w := b.w
	type lane struct {
		order int64
		ops   []int
	}
	var lanes []lane
	latest := map[int32]int{} // by thread
	effect := make([]float64, len(w.Ops))
	for _, p := range w.Points {
		if !p.Attempt {
			effect[p.Op] = max(effect[p.Op], p.At)
		}
	}
	for i := range w.Ops {
		x := &w.Ops[i]
		p := b.h.Process[b.h.Invocation[x.Operation]]
		at, inLane := latest[b.threads[p]]
		if inLane {
			last := lanes[at].ops[len(lanes[at].ops)-1]
			inLane = max(w.Ops[last].To, effect[last]) <= x.From && !(b.o.Core && w.Ops[last].Crashed)
		}
		if !inLane {
			order, isInt := b.h.Values.Int(b.h.Processes[b.threads[p]])
			if !isInt {
				order = int64(b.threads[p])
			}
			at, lanes = len(lanes), append(lanes, lane{order: order})
			latest[b.threads[p]] = at
		} else if last := &w.Ops[lanes[at].ops[len(lanes[at].ops)-1]]; last.Crashed {
			last.Until = x.From
		}
		lanes[at].ops = append(lanes[at].ops, i)
	}
	slices.SortStableFunc(lanes, func(a, b lane) int { return cmp.Compare(a.order, b.order) })
	for row, l := range lanes {
		var processes []string
		for _, i := range l.ops {
			w.Ops[i].Row = row
			if name := b.h.ProcessName(w.Ops[i].Operation); !slices.Contains(processes, name) {
				processes = append(processes, name)
			}
		}
		w.Rows = append(w.Rows, WindowRow{Processes: processes})
	}
	w.Points = slices.DeleteFunc(w.Points, func(p Point) bool { return p.Attempt && p.At > w.Ops[p.Op].Until })
}

// gaps counts the omitted operations where they are omitted: before, between
// and after the operations of a row. It also counts those of the threads
// that have no row. It ignores failed operations, which did not happen.
func (b *windowBuilder) gaps() {
	h, w := b.h, b.w
	rowOf := map[int32]int{}
	shown := make([][]int, len(w.Rows))
	for i, x := range w.Ops {
		thread := b.threads[h.Process[h.Invocation[x.Operation]]]
		if row, known := rowOf[thread]; !known || x.Row < row {
			rowOf[thread] = x.Row
		}
		shown[x.Row] = append(shown[x.Row], i)
	}
	counts := make([][]int, len(w.Rows)) // by row: omitted before each operation, and after the last
	for row := range counts {
		counts[row] = make([]int, len(shown[row])+1)
	}
	others := map[int32]bool{}
	for op := range jepsen.Operation(h.Operations()) {
		if h.Status[op] == jepsen.Failed || h.Invocation[op] > b.end {
			continue
		}
		if _, in := b.placeOf[op]; in {
			continue
		}
		thread := b.threads[h.Process[h.Invocation[op]]]
		row, known := rowOf[thread]
		if !known {
			others[thread] = true
			w.MoreOps++
			continue
		}
		at, _ := slices.BinarySearchFunc(shown[row], op, func(i int, op jepsen.Operation) int { return cmp.Compare(w.Ops[i].Operation, op) })
		counts[row][at]++
	}
	w.MoreRows = len(others)
	for row := range counts {
		from := 0.0
		for k, n := range counts[row] {
			to := w.Width
			if k < len(shown[row]) {
				to = w.Ops[shown[row][k]].From
			}
			if n > 0 {
				w.Rows[row].Gaps = append(w.Rows[row].Gaps, Gap{from, to, n})
			}
			if k < len(shown[row]) {
				from = w.Ops[shown[row][k]].To
			}
		}
	}
}
