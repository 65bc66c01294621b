package porcupine

import (
	"context"
	"slices"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// # Porcupine's own search
//
// Decides: whether the history of one partition is linearizable, asking the model
// for the same steps as porcupine, in the same order.
//
// Precondition: every operation returns. Those whose outcome is unknown return at
// the end, with an output that stands for this in the model. Porcupine's models
// say what they may have done. There are no other crashed operations.
//
// Complexity: exponential in the worst case. What it remembers is as wide as the
// concurrency instead of as long as the history. It prepares next to nothing, so no
// search decides easy histories faster. On hard ones it is sometimes far better than
// Window, and sometimes far worse.
//
// States are the numbers of a numbered model, which other searches share. So the model is
// asked only once for a step, where the library asks again for every set of operations
// that leads to a state. After a read, for example, it asks again for all steps that
// were refused before it.
//
// The library itself does not serve here: its search cannot pause and go on, and its
// memory grows with the square of the history. Nor does this search serve as clew's
// engine porcupine, which is there as an independent opinion: the library's.
//
// It is Wing & Gong's search with Lowe's memory ("Testing for linearizability",
// 2017). Among the operations that are not linearized, those called before the
// first return may be next. It tries them in the order of their calls. A
// configuration consists of the linearized operations and the state. None is
// entered twice.
//
// Operations are numbered by call. Let first be the first that is not linearized.
// All before it are linearized, and after it only those called before it returned
// can be. So a configuration holds first, the bits of the words between, and the
// state.
type wgl struct {
	model *numbered
	part  *part

	at         []models.Row // by event
	next, prev []int32      // the events of operations that are not linearized, a ring ..
	head       int32        // .. that begins and ends here
	calls      []int32      // by row: how many calls precede its return
	done       []uint64     // the rows that are linearized
	hash       uint64       // of done
	state      int32
	event      int32  // the next to be tried
	stack      []turn // what is linearized, in order
	left       int    // how many more steps it may take before a search ends
	more       int    // how many more steps Decide may take

	shown *shown // unless nil, keeps what is to be shown

	heads []int32 // lists of configurations, plus 1, by hash
	seen  []seen
	words []uint64
}

// turn is a linearized operation, and the state before it.
type turn struct {
	row   models.Row
	state int32
}

// seen is a configuration that was entered.
type seen struct {
	hash  uint64
	state int32
	first models.Row
	next  int32 // in its list, plus 1
	words int32 // where its words begin
}

const (
	minHeads  = 16
	maxWords  = 1 << 23 // 64 MiB, after which it gives up
	stepWork  = 4       // of a step: a fourth of what it is, as other searches count it. So it gets the longest turns
	workSteps = fallback.WorkPerPoll / stepWork
)

func newWGL(m *numbered, p *part) *wgl {
	n := int32(p.columns.Len())
	w := &wgl{model: m, part: p, head: 2 * n, at: fallback.RowsAt(&models.Operations{Columns: p.columns})}
	links := make([]int32, 2*(2*n+1)+n+minHeads)
	w.next, w.prev, links = links[:2*n+1], links[2*n+1:4*n+2], links[4*n+2:]
	w.calls, w.heads = links[:n], links[n:]
	called := int32(0)
	for e, row := range w.at {
		w.next[e], w.prev[e+1] = int32(e)+1, int32(e)
		if p.columns.Inv[row] == int32(e) {
			called++
		} else {
			w.calls[row] = called
		}
	}
	w.next[w.head], w.prev[0] = 0, w.head
	w.done = make([]uint64, n/64+1)
	w.state = m.init[0]
	return w
}

// run goes on for at most the given number of steps. If that is not enough, or the
// context is done, it returns Unknown.
func (w *wgl) run(ctx context.Context, steps int) CheckResult {
	r := Unknown
	for r == Unknown && steps > 0 && ctx.Err() == nil && len(w.words) <= maxWords {
		w.left = min(steps, workSteps)
		steps -= w.left
		r = w.search()
	}
	if ctx.Err() != nil {
		return Unknown // the model may have given up within a step
	}
	return r
}

// search goes on until no steps are left.
func (w *wgl) search() CheckResult {
	for w.next[w.head] != w.head {
		row := w.at[w.event]
		if w.event == w.part.columns.Res[row] {
			if len(w.stack) == 0 {
				return Illegal
			}
			if w.shown != nil {
				w.shown.note(w.stack)
			}
			w.back()
			continue
		}
		if w.left == 0 {
			return Unknown
		}
		w.left--
		state := w.model.step(w.state, w.part.columns.Op(row))
		if state == none {
			w.event = w.next[w.event]
			continue
		}
		w.stack = append(w.stack, turn{row, w.state})
		w.lift(row)
		if w.enter(state) {
			w.state, w.event = state, w.next[w.head]
		} else {
			w.back()
		}
	}
	return Ok
}

// Name implements fallback.Engine.
func (w *wgl) Name() string { return "porcupine" }

// Decide implements fallback.Engine. It goes on where the search stands.
func (w *wgl) Decide(ctx context.Context, _ *models.Operations, lim fallback.Limits) (a fallback.Answer) {
	b := fallback.NewBudget(ctx, lim)
	for b.Cause == "" && a.Verdict == jepsen.Unknown {
		if len(w.words) > maxWords || w.more <= 0 {
			b.Cause = fallback.GaveUp
			break
		}
		switch w.run(ctx, workSteps) {
		case Ok:
			a.Verdict, a.Order = jepsen.Valid, w.orders(Ok)[0]
		case Illegal:
			a.Verdict, a.Order = jepsen.Invalid, w.orders(Illegal)[0]
		}
		w.more -= workSteps
		b.Work += fallback.WorkPerPoll
		if a.Verdict == jepsen.Unknown {
			b.Look()
		}
	}
	a.Cause, a.Work = b.Cause, b.Done()
	return a
}

// orders returns the linearization or, if there is none and the search keeps it, what could be linearized.
func (w *wgl) orders(r CheckResult) [][]models.Row {
	if r != Ok && w.shown != nil {
		return w.shown.orders()
	}
	order := make([]models.Row, len(w.stack))
	for i, t := range w.stack {
		order[i] = t.row
	}
	return [][]models.Row{order}
}

// lift removes an operation that is linearized from the ring.
func (w *wgl) lift(row models.Row) {
	for _, e := range [...]int32{w.part.columns.Inv[row], w.part.columns.Res[row]} {
		w.next[w.prev[e]], w.prev[w.next[e]] = w.next[e], w.prev[e]
	}
	w.flip(row)
}

// back takes back the last operation. Then the one after it is tried next.
func (w *wgl) back() {
	top := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	if w.shown != nil {
		w.shown.back(len(w.stack))
	}
	for _, e := range [...]int32{w.part.columns.Res[top.row], w.part.columns.Inv[top.row]} {
		w.next[w.prev[e]], w.prev[w.next[e]] = e, e
	}
	w.flip(top.row)
	w.state, w.event = top.state, w.next[w.part.columns.Inv[top.row]]
}

func (w *wgl) flip(row models.Row) {
	w.done[row>>6] ^= 1 << (row & 63)
	w.hash ^= mix(uint64(row), 1)
}

// enter remembers the configuration with a state. It returns false if it was known.
func (w *wgl) enter(state int32) bool {
	if w.next[w.head] == w.head {
		return true
	}
	first := w.at[w.next[w.head]]
	words := w.done[first>>6 : (w.calls[first]-1)>>6+1]
	h := w.hash
	if !w.model.coarse {
		h = mix(h, uint64(state))
	}
	h ^= h >> 32
	for i := w.heads[h&uint64(len(w.heads)-1)]; i != 0; {
		s := &w.seen[i-1]
		if s.hash == h && s.first == first && slices.Equal(w.words[s.words:int(s.words)+len(words)], words) && w.model.equal(state, s.state) {
			return false
		}
		i = s.next
	}
	if len(w.seen) == len(w.heads) {
		w.rehash()
	}
	head := &w.heads[h&uint64(len(w.heads)-1)]
	w.seen = append(room(w.seen, 1), seen{h, state, first, *head, int32(len(w.words))})
	w.words = append(room(w.words, len(words)), words...)
	*head = int32(len(w.seen))
	return true
}

func (w *wgl) rehash() {
	w.heads = make([]int32, 4*len(w.heads))
	for i := range w.seen {
		s := &w.seen[i]
		head := &w.heads[s.hash&uint64(len(w.heads)-1)]
		s.next, *head = *head, int32(i)+1
	}
}
