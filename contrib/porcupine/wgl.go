package porcupine

import (
	"context"
	"slices"

	"clew/fallback"
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
// concurrency instead of as long as the history. It numbers nothing and prepares
// next to nothing, so no search decides easy histories faster. If states have a
// good hash, it is also good at hard histories with many states, because it meets
// fewer of them than Window.
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
	model Model
	part  *part

	at         []models.Row // by event
	next, prev []int32      // the events of operations that are not linearized, a ring ..
	head       int32        // .. that begins and ends here
	calls      []int32      // by row: how many calls precede its return
	done       []uint64     // the rows that are linearized
	hash       uint64       // of done
	state      any
	event      int32  // the next to be tried
	stack      []turn // what is linearized, in order
	left       int    // how many more steps, and comparisons of states, it may ask for

	show     bool         // whether furthest is to be kept
	furthest []models.Row // the most operations that could be linearized, in order

	heads []int32 // lists of configurations, plus 1, by hash
	seen  []seen
	words []uint64
}

// turn is a linearized operation, and the state before it.
type turn struct {
	row   models.Row
	state any
}

// seen is a configuration that was entered.
type seen struct {
	hash  uint64
	state any
	first models.Row
	next  int32 // in its list, plus 1
	words int32 // where its words begin
}

const (
	minHeads = 64
	maxWords = 1 << 23 // 64 MiB, after which it gives up
)

func newWGL(model Model, p *part) *wgl {
	n := int32(p.columns.Len())
	w := &wgl{model: model, part: p, head: 2 * n, at: fallback.RowsAt(&models.Operations{Columns: p.columns})}
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
	w.state = model.Init()
	return w
}

// run goes on for at most the given number of steps. Comparing two states counts
// as one too. If that is not enough, or the context is done, it returns Unknown.
func (w *wgl) run(ctx context.Context, steps int) CheckResult {
	w.left = steps
	for w.next[w.head] != w.head {
		row := w.at[w.event]
		if w.event == w.part.columns.Res[row] {
			if len(w.stack) == 0 {
				return Illegal
			}
			w.note()
			w.back()
			continue
		}
		if w.left--; w.left < 0 || len(w.words) > maxWords {
			return Unknown
		}
		c := &w.part.calls[row]
		ok, state := w.model.StepContext(ctx, w.state, c.input, c.output)
		if ctx.Err() != nil {
			return Unknown // the model may have given up within a step
		}
		if !ok {
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

// note keeps what is linearized if it has never been as much. It is asked before something is taken back.
func (w *wgl) note() {
	if !w.show || len(w.stack) <= len(w.furthest) {
		return
	}
	w.furthest = w.furthest[:0]
	for _, t := range w.stack {
		w.furthest = append(w.furthest, t.row)
	}
}

// order returns the linearization if there is one, or else the furthest that was reached. The search must show it.
func (w *wgl) order(r CheckResult) []models.Row {
	if r == Ok {
		w.note()
	}
	return w.furthest
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
func (w *wgl) enter(state any) bool {
	if w.next[w.head] == w.head {
		return true
	}
	first := w.at[w.next[w.head]]
	words := w.done[first>>6 : (w.calls[first]-1)>>6+1]
	h := w.hash
	if w.model.Hash != nil {
		h = mix(h, w.model.Hash(state))
	}
	h ^= h >> 32
	for i := w.heads[h&uint64(len(w.heads)-1)]; i != 0; {
		s := &w.seen[i-1]
		if s.hash == h && s.first == first && slices.Equal(w.words[s.words:int(s.words)+len(words)], words) && w.equal(state, s.state) {
			return false
		}
		i = s.next
	}
	if len(w.seen) == len(w.heads) {
		w.rehash()
	}
	head := &w.heads[h&uint64(len(w.heads)-1)]
	w.seen = append(w.seen, seen{h, state, first, *head, int32(len(w.words))})
	w.words = append(w.words, words...)
	*head = int32(len(w.seen))
	return true
}

func (w *wgl) equal(a, b any) bool {
	w.left--
	if w.model.Equal == nil {
		return a == b
	}
	return w.model.Equal(a, b)
}

func (w *wgl) rehash() {
	w.heads = make([]int32, 4*len(w.heads))
	for i := range w.seen {
		s := &w.seen[i]
		head := &w.heads[s.hash&uint64(len(w.heads)-1)]
		s.next, *head = *head, int32(i)+1
	}
}
