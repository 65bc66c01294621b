package page

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"clew/internal/text"
	"clew/jepsen"
)

// held holds the operations of a page: columns, in order. The script draws, finds and shows them.
type held struct {
	Op     []jepsen.Operation `json:"op"`
	Inv    []jepsen.Event     `json:"inv"`
	Res    []jepsen.Event     `json:"res"` // or -1
	Index  []int64            `json:"index"`
	End    []int64            `json:"end"`    // the index of the completion, or -1
	Who    []string           `json:"who"`    // the process
	Status []int              `json:"status"` // succeeded, failed, crashed
	Label  []string           `json:"label"`  // as people would say it
	Text   []string           `json:"text"`   // the op map of the completion, or of the invocation
	Began  []string           `json:"began"`  // for those in the window: the op map of the invocation if there is also a completion

	// For some in the window: what the drawing says of their effect.
	Effect map[jepsen.Operation]string `json:"effect"`
	Replay *replay                     `json:"replay"` // or null

	// Rows that are adjacent in the history, from the first one to the one after the last.
	From int `json:"from"`
	To   int `json:"to"`

	// For the whole history: the first operation of each stretch of the strip, and its index.
	Stretch      []jepsen.Operation `json:"stretch"`
	StretchIndex []int64            `json:"stretchIndex"`
}

// Bounds of the text of an operation, in characters.
const (
	maxLabel = 48
	maxMap   = 400  // an op map
	maxOwn   = 2000 // an op map of an operation in the window
)

// opTexts makes the texts of operations.
type opTexts struct {
	h       *jepsen.History
	printer *jepsen.OpPrinter
	line    []byte
}

// ofEvent returns an event's op map in at most max characters.
func (t *opTexts) ofEvent(e jepsen.Event, max int) string {
	t.line = t.printer.AppendEvent(t.line[:0], e)
	if len(t.line) > 4*max {
		t.line = t.line[:4*max] // the rest is not shown, and may be a megabyte
	}
	return text.Shorten(text.Line(string(t.line)), max)
}

type heldOp struct {
	op     jepsen.Operation
	status jepsen.Status
	who    string
	label  string
	text   string
	began  string
}

// newHeldOp returns an operation, with longer op maps if it is in the window.
func newHeldOp(t *opTexts, op jepsen.Operation, label string, inWindow bool) heldOp {
	h := t.h
	x := heldOp{op: op, status: h.Status[op], who: text.Shorten(text.Line(h.ProcessName(op)), maxLabel), label: label}
	last, limit := h.Completion[op], maxMap
	if inWindow {
		limit = maxOwn
	}
	if last == jepsen.None {
		last = h.Invocation[op]
	} else if inWindow {
		x.began = t.ofEvent(h.Invocation[op], limit)
	}
	x.text = t.ofEvent(last, limit)
	return x
}

// numbersBytes bounds what the numbers of a held operation take on the page.
const numbersBytes = 48

// size returns how many bytes the operation takes on the page.
func (x *heldOp) size() int {
	n := numbersBytes
	for _, s := range []string{x.who, x.label, x.text, x.began} {
		quoted, _ := json.Marshal(s) // a string is always marshaled
		n += len(quoted) + 1
	}
	return n
}

// hold puts operations into the section. It takes those of the window, and then
// their neighbors, from the middle to both sides, as long as there is room.
func (s *section) hold(ctx context.Context, room int) {
	h := s.r.History
	texts := &opTexts{h: h, printer: h.OpPrinter()}
	var all []heldOp
	own := map[jepsen.Operation]bool{}
	add := func(op jepsen.Operation, inWindow bool) {
		x := newHeldOp(texts, op, s.r.Spec.Words(ctx, h, op), inWindow)
		room -= x.size()
		all = append(all, x)
	}
	for _, op := range s.shown {
		own[op] = true
		add(op, true)
	}
	from, to := s.middle, s.middle // of the neighbors
	for room > 0 && ctx.Err() == nil && (from > 0 || int(to) < h.Operations()) {
		if int(to) < h.Operations() {
			if !own[to] {
				add(to, false)
			}
			to++
		}
		if from > 0 && room > 0 {
			if from--; !own[from] {
				add(from, false)
			}
		}
	}
	slices.SortFunc(all, func(a, b heldOp) int { return cmp.Compare(a.op, b.op) })
	s.Held = newHeld(h, all, s.Strip.begins)
	s.Held.Effect, s.Held.Replay = s.effects, s.Replay
	s.Held.From, _ = slices.BinarySearch(s.Held.Op, from)
	s.Held.To = s.Held.From + int(to-from)
	s.Holds = holding{
		All:  len(all) == h.Operations(),
		Ops:  int(to - from),
		Of:   h.Operations(),
		More: len(all) - int(to-from),
	}
	if to > from {
		s.Holds.From, s.Holds.To = h.Index(h.Invocation[from]), h.LastIndex(to-1)
	}
}

// holding says which operations a page holds. Ops says how many of them are adjacent.
type holding struct {
	All           bool
	Ops, Of, More int
	From, To      int64 // indices
}

func newHeld(h *jepsen.History, ops []heldOp, begins []jepsen.Operation) *held {
	c := &held{}
	for _, x := range ops {
		inv, res, end := h.Invocation[x.op], h.Completion[x.op], int64(-1)
		if res != jepsen.None {
			end = h.Index(res)
		}
		c.Op = append(c.Op, x.op)
		c.Inv, c.Res = append(c.Inv, inv), append(c.Res, res)
		c.Index, c.End = append(c.Index, h.Index(inv)), append(c.End, end)
		c.Status = append(c.Status, int(x.status))
		c.Who, c.Label = append(c.Who, x.who), append(c.Label, x.label)
		c.Text, c.Began = append(c.Text, x.text), append(c.Began, x.began)
	}
	for _, op := range begins {
		c.Stretch = append(c.Stretch, op)
		c.StretchIndex = append(c.StretchIndex, h.Index(h.Invocation[min(int(op), h.Operations()-1)]))
	}
	return c
}
