package container

import (
	"cmp"
	"slices"

	"clew/fastpath"
	"clew/internal/beside"
	"clew/internal/bitset"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # Stack
//
// Decides: push, pop, peek and empty answers of a stack, as described in containers.go.
//
// Cost: O(operations + ids) in practice, by watched zones (stackwatch.go). If zones are watched too
// often, O(operations log operations), by a segment tree (stacktree.go). Tests compare the two.
//
// Rests on: Lee and Mathur's decrease and conquer. A value whose zone is empty can be
// pushed, peeked and popped at any one instant, and does not get in the way. Of the
// others, some value must lie at the bottom for as long as it is inside: its operations
// take effect in slots that no zone of another value covers. Any value for which this is
// possible may be chosen and removed; the history is linearizable iff the rest is. If
// values are left and it is possible for none of them, the history is not linearizable.
//
// Witness: values are entered into one list of operations, from the bottom up,
// in the order in which they were taken away. The operations of each value are
// entered together, after the last operation whose slot lies before the zone.
//
// Crashed operations: containers.go.

var stack = (&container{plain: decideStack, why: whyStack}).algorithm()

// If at least looseResidue values are left, their last return says little
// about where the history went wrong.
const looseResidue = 64

// stackZones holds the values of a stack that have a zone, in order of its start.
type stackZones struct {
	*contents
	zones []zone
	safe  []int32 // for the witness, by operation: a slot that is not covered
}

// zone is the zone of an element, from begin to end-1, and what stackWatch knows of it. All
// that is needed at a time is kept together, because zones are taken away in another order.
type zone struct {
	begin, end, element int32

	byEnd       int32 // its place among the zones by end
	later       int32 // the first zone that starts after it ends
	watched     int32 // an end that watches it, plus 1
	next        int32 // another end that watches the same zone as its own end, plus 1
	open        uint8 // how many of push and pop are not safe
	first, gone bool  // it has been first after a gap; it has been taken away
}

func decideStack(c *contents, witness bool) fastpath.Result {
	s := newStackZones(c)
	var slots, filled, order []int32
	var bad int32
	var done bool
	var list *slotList
	if witness {
		s.safe = hugepages.Make[int32](c.Len())
	}
	if witness && len(s.zones) > atOnce {
		taken := make(chan []int32, len(s.zones)/atOnce+1)
		beside.Call(func() {
			defer close(taken)
			order, done = s.byWatching(taken)
		}, func() {
			zeros := hugepages.Make[int32](s.Events + 2)
			if slots, filled, bad = c.emptySlots(zeros); bad == none {
				clear(zeros)
				list = s.newList(slots, zeros)
				for some := range taken {
					s.enterAll(list, some)
				}
			}
		})
	} else if slots, filled, bad = c.emptySlots(s.byEvent(s.Events + 2)); bad == none {
		order, done = s.byWatching(nil)
	}
	if bad != none {
		return c.fail(nil, filled, bad)
	}
	if !done { // both take away as many values as possible, and return them in that order
		order, list = s.byTree(), nil
	}
	if len(order) < len(s.zones) {
		return s.residue(order)
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		if list == nil {
			list = s.newList(slots, s.byEvent(s.Events+2))
			s.enterAll(list, order)
		}
		r.Witness = s.witness(list)
	}
	return r
}

// atOnce is how many values enter the witness together, while others are taken away. Tests change it.
var atOnce = 4096

func newStackZones(c *contents) *stackZones {
	s := &stackZones{contents: c}
	at := s.byEvent(c.Events) // the element whose zone starts there, plus 1
	n := 0
	for i := range c.elements {
		if e := &c.elements[i]; e.forward() {
			at[e.aRes] = int32(i) + 1
			n++
		}
	}
	s.zones = hugepages.Make[zone](n)[:0]
	for _, i := range at {
		if i != 0 {
			e := &c.elements[i-1]
			s.zones = append(s.zones, zone{begin: e.aRes, end: e.mInv, element: i - 1, open: 2})
		}
	}
	return s
}

// element returns the element of zone k.
func (s *stackZones) element(k int32) *element { return &s.elements[s.zones[k].element] }

// safely records a slot for an operation.
func (s *stackZones) safely(op, slot int32) {
	if s.safe != nil && op != none {
		s.safe[op] = slot
	}
}

// residue returns the result if only some zones could be taken away.
func (s *stackZones) residue(order []int32) fastpath.Result {
	gone := make([]bool, len(s.zones))
	for _, k := range order {
		gone[k] = true
	}
	var left []int32
	for k, g := range gone {
		if !g {
			left = append(left, s.zones[k].element)
		}
	}
	r := s.fail(nil, left)
	r.Loose = len(left) >= looseResidue
	return r
}

// newList returns a list of the empty answers. It works on Events+2 zeros.
func (s *stackZones) newList(slots, zeros []int32) *slotList {
	l := newSlotList(s.Len(), zeros[:s.Events+1])
	last := none
	for k, op := range s.empties {
		l.insert(last, op, slots[k])
		last = op
	}
	return l
}

// enterAll enters values with a zone, from the bottom up.
func (s *stackZones) enterAll(l *slotList, order []int32) {
	for _, k := range order {
		s.enter(l, s.zones[k].element, s.zones[k].begin-1)
	}
}

// witness enters the values without a zone after all others.
func (s *stackZones) witness(l *slotList) []int32 {
	for i := range s.elements {
		e := &s.elements[i]
		if e.forward() {
			continue
		}
		s.safely(e.add, e.mInv)
		s.safely(e.rem, e.mInv)
		for _, o := range s.peeksOf(int32(i)) {
			s.safe[o] = e.mInv
		}
		s.enter(l, int32(i), e.mInv)
	}
	return l.list()
}

// enter puts the operations of an element after the last one in a slot up to
// before.
func (s *stackZones) enter(l *slotList, i, before int32) {
	e := &s.elements[i]
	anchor := l.last(before)
	low, high := l.around(anchor)
	clamp := func(o int32) int32 { return max(low, min(high, s.safe[o])) }
	first, end := clamp(e.add), int32(-1)
	peeks := s.peeksOf(i)
	if len(peeks) > 0 {
		peeks = slices.Clone(peeks)
		slices.SortFunc(peeks, func(o, p int32) int { return cmp.Compare(clamp(o), clamp(p)) })
		first = min(first, clamp(peeks[0]))
		end = clamp(peeks[len(peeks)-1])
	}
	anchor = l.insert(anchor, e.add, first)
	for _, o := range peeks {
		anchor = l.insert(anchor, o, clamp(o))
	}
	if e.rem != none {
		l.insert(anchor, e.rem, max(end, clamp(e.rem)))
	}
}

// whyStack explains a minimal core.
func whyStack(c *contents) *fastpath.Finding {
	if len(c.elements) != 2 {
		return nil
	}
	for i := range c.elements {
		v, w := &c.elements[i], &c.elements[1-i]
		if v.aRes >= w.aInv {
			continue
		}
		covered := func(inv, res int32) bool { return w.aRes <= inv && res <= w.mInv }
		buried := none
		for _, o := range c.peeksOf(int32(i)) {
			if inv, res := c.Inv[o], c.Res[o]; covered(inv, res) {
				buried = o
			}
		}
		if v.rem != none && covered(c.Inv[v.rem], v.rRes) {
			buried = v.rem
		}
		if buried != none {
			return Buried.Of(c.OpReturning(v.aRes), w.add, buried, c.opAt(w.mInv))
		}
	}
	return nil
}

// Buried (below, above, took, tookAbove): below added, took or saw a value, and had returned before
// above, the add of another value, was invoked. While took, which took or saw the first value, ran,
// the other value was certainly inside, on top of it. tookAbove is the operation
// that took or saw the other value later, or Missing if it was never taken.
var Buried = &fastpath.Pattern{Name: "buried", Kind: models.Reordered, Relate: fastpath.Steps(fastpath.Returned(0, 1), fastpath.Returned(2, 3), fastpath.Must(3, 2)), Choose: func(_ models.Teller, v []models.Row) string {
	s := "{did 2}, but value {value 1} was above it throughout: {did 1} after {had 0}"
	if v[3] == fastpath.Missing {
		return s + ", and had not been taken by then"
	}
	return s + ", and {did 3} only later"
}}

// slotList is a list of operations in order of their slots.
type slotList struct {
	head int32      // the first operation, or none
	next []int32    // by operation: the one after it, or none
	slot []int32    // by operation
	tail []int32    // by slot: the last operation in it
	used bitset.Set // slots that hold an operation
}

// newSlotList returns an empty list with a slot for each of the zeros.
func newSlotList(ops int, zeros []int32) *slotList {
	return &slotList{head: none, next: hugepages.Make[int32](ops), slot: hugepages.Make[int32](ops),
		tail: zeros, used: bitset.New(int32(len(zeros)))}
}

// last returns the last operation in a slot up to s, or none.
func (l *slotList) last(s int32) int32 {
	if s = l.used.Last(s); s < 0 {
		return none
	}
	return l.tail[s]
}

// around returns the slots of an operation and of the one after it.
func (l *slotList) around(o int32) (low, high int32) {
	next := l.head
	if o != none {
		low, next = l.slot[o], l.next[o]
	}
	if next == none {
		return low, int32(len(l.tail)) - 1
	}
	return low, l.slot[next]
}

// insert puts an operation after another one, or first if that is none, and returns it.
func (l *slotList) insert(after, o, slot int32) int32 {
	if after == none {
		l.next[o], l.head = l.head, o
	} else {
		l.next[o], l.next[after] = l.next[after], o
	}
	l.slot[o] = slot
	if !l.used.Has(slot) {
		l.used.Add(slot)
		l.tail[slot] = o
	} else if l.tail[slot] == after {
		l.tail[slot] = o
	}
	return o
}

func (l *slotList) list() []int32 {
	order := hugepages.Make[int32](len(l.next))[:0]
	for o := l.head; o != none; o = l.next[o] {
		order = append(order, o)
	}
	return order
}
