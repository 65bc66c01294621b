package container

import (
	"cmp"
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # FIFO queue
//
// Decides: enqueue, dequeue, peek and empty answers of a first-in-first-out queue, as
// described in containers.go. Drains are not supported: they make a history ambiguous.
//
// Cost: O(operations + ids), no sort and no tree.
//
// Rests on: in a linearization, a value is known to be first in the queue for one stretch
// of time, from its first peek or dequeue to its dequeue. Values become first in the order
// in which they were added. So there must be one order of the values in which both hold:
//
//	v before w by enqueue  iff  aRes(v) < aInv(w)
//	v before w by front    iff  de(v) <= ds(w)
//
// Here [ds, de] is what is known about the stretch. If mRes < mInv, the value was first all that
// time (forward). Otherwise it was first at some time between mInv and mRes (backward). Forward
// stretches must not overlap, and the forward ones around the ends of a backward one narrow it.
//
// Lemma: if the union of the two orders has a cycle, it has a cycle of two values. Proof:
// both are interval orders. These are transitive, so a shortest cycle alternates. Of two
// pairs a before b, c before d, at least one of a before d, c before b holds, which
// shortens any longer cycle. Without the narrowing the lemma would not be true. (Lee and
// Mathur find the pairs in O(n log n); in time order, a prefix maximum is enough.)
//
// Crashed operations: containers.go. The stretch of a value that is still
// inside at the end lasts until after everything.

var fifoQueue = (&container{plain: decideQueue, why: whyQueue, match: matchQueue}).algorithm()

// stretch is when a value was first in the queue, from start to end: all
// the time (forward), or at some time.
type stretch struct{ start, end int32 }

func decideQueue(c *contents, witness bool) fastpath.Result {
	slots, filled, bad := c.emptySlots(c.byEvent(c.Events + 2))
	if bad != none {
		return c.fail(nil, filled, bad)
	}
	firsts := hugepages.Make[stretch](len(c.elements))
	if c.peeks == 0 {
		for i := range c.elements {
			firsts[i] = stretch{c.elements[i].mInv, c.elements[i].mRes}
		}
	} else if clash := c.stretches(firsts); clash != nil {
		return c.fail(nil, clash)
	}
	late := c.byEvent(c.Events) // by event aRes: start of the stretch, plus 1; then the latest so far
	for i := range c.elements {
		late[c.elements[i].aRes] = firsts[i].start + 1
	}
	latest := int32(0)
	for t, s := range late {
		latest = max(latest, s)
		late[t] = latest
	}
	for w := range c.elements {
		if late[c.elements[w].aInv] > firsts[w].end {
			return c.failQueue(int32(w), firsts)
		}
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = newQueueOrder(c, firsts, slots).witness()
	}
	return r
}

// stretches fills in the stretches. It returns elements whose stretches clash, or nil.
func (c *contents) stretches(firsts []stretch) []int32 {
	over := c.forwardStretches()
	if over.clash != nil {
		return over.clash
	}
	for i := range c.elements {
		e := &c.elements[i]
		if e.mRes < e.mInv {
			firsts[i] = stretch{e.mRes, e.mInv}
			continue
		}
		f := stretch{e.mInv, e.mRes}
		x, y := over.at(f.start), over.at(f.end)
		if x != none && x == y {
			return []int32{int32(i), x}
		}
		if x != none {
			f.start = c.elements[x].mInv
		}
		if y != none {
			f.end = c.elements[y].mRes
		}
		firsts[i] = f
	}
	return nil
}

// forwardCover tells which forward stretch contains an event.
type forwardCover struct {
	inside []int32 // by event: the element whose stretch strictly contains it, plus 1
	clash  []int32
}

func (c *contents) forwardStretches() (f forwardCover) {
	f.inside = make([]int32, c.Events)
	for i := range c.elements {
		if e := &c.elements[i]; e.mRes < e.mInv {
			f.inside[e.mRes] = int32(i) + 1
		}
	}
	now, end := int32(0), int32(-1)
	for t, x := range f.inside {
		if int32(t) >= end {
			now = 0
		}
		f.inside[t] = now
		if x == 0 {
			continue
		}
		if now != 0 {
			f.clash = []int32{now - 1, x - 1}
			return f
		}
		now, end = x, c.elements[x-1].mInv
	}
	return f
}

func (f forwardCover) at(t int32) int32 {
	if int(t) >= len(f.inside) {
		return none
	}
	return f.inside[t] - 1
}

// failQueue fails because w was first before a value that had been added earlier than w.
func (c *contents) failQueue(w int32, firsts []stretch) fastpath.Result {
	v := none
	for i := range c.elements {
		if c.elements[i].aRes < c.elements[w].aInv && firsts[i].start >= firsts[w].end {
			v = int32(i)
			break
		}
	}
	keys := []int32{v, w}
	if c.peeks > 0 {
		over := c.forwardStretches()
		if x := over.at(c.elements[v].mInv); x != none {
			keys = append(keys, x)
		}
		if x := over.at(c.elements[w].mRes); x != none {
			keys = append(keys, x)
		}
	}
	return c.fail(nil, keys)
}

// queueOrder puts the values in an order that both relations allow, and the
// operations in one that follows from it.
type queueOrder struct {
	*contents
	firsts []stretch
	slots  []int32 // of the empty answers; they separate the values into groups
	group  []int32 // by element: how many empty answers come before it
	order  []int32 // elements
}

func newQueueOrder(c *contents, firsts []stretch, slots []int32) *queueOrder {
	q := &queueOrder{contents: c, firsts: firsts, slots: slots}
	if len(slots) > 0 {
		q.group = c.groups(slots)
	}
	q.sort()
	return q
}

// groups gives each element the number of empty answers before it. The element's zone
// lies on one side of each slot. An element without a zone enters and leaves at mInv.
func (c *contents) groups(slots []int32) []int32 {
	before := c.byEvent(c.Events + 1) // by slot: empty answers in it or earlier
	for _, s := range slots {
		before[s]++
	}
	sum := int32(0)
	for s, n := range before {
		sum += n
		before[s] = sum
	}
	group := hugepages.Make[int32](len(c.elements))
	for i := range c.elements {
		if e := &c.elements[i]; e.forward() {
			group[i] = before[e.aRes-1]
		} else {
			group[i] = before[e.mInv]
		}
	}
	return group
}

// sort repeatedly takes, from the earliest group, a value that no other
// remaining value must precede. An element is a source of an interval order
// if it starts before the earliest end of the remaining ones.
func (q *queueOrder) sort() {
	n, el := len(q.elements), q.elements
	sorted := func(event func(i int32) int32) []int32 { // by event, up to Events+1
		return fastpath.GroupIn(q.byEvent(q.Events+4), n, event).Sorted()
	}
	aInv := sorted(func(i int32) int32 { return el[i].aInv })
	aRes := sorted(func(i int32) int32 { return el[i].aRes })
	start := sorted(func(i int32) int32 { return q.firsts[i].start })
	end := sorted(func(i int32) int32 { return q.firsts[i].end })
	ready := newGroupedStack(n, len(q.slots)+1, q.group)
	state := hugepages.Make[uint8](n) // bits: source of the first order, of the second; taken
	const first, second, taken = 1, 2, 4
	see := func(i int32, bit uint8) {
		if state[i] |= bit; state[i] == first|second {
			ready.push(i)
		}
	}
	q.order = hugepages.Make[int32](n)[:0]
	for len(q.order) < n {
		for len(aRes) > 0 && state[aRes[0]]&taken != 0 {
			aRes = aRes[1:]
		}
		for len(aInv) > 0 && el[aInv[0]].aInv < el[aRes[0]].aRes {
			see(aInv[0], first)
			aInv = aInv[1:]
		}
		for len(end) > 0 && state[end[0]]&taken != 0 {
			end = end[1:]
		}
		for len(start) > 0 && q.firsts[start[0]].start < q.firsts[end[0]].end {
			see(start[0], second)
			start = start[1:]
		}
		i := ready.pop()
		state[i] |= taken
		q.order = append(q.order, i)
	}
}

// groupedStack returns its elements of the earliest group.
type groupedStack struct {
	group []int32 // nil: one group
	head  []int32 // by group, plus 1
	next  []int32 // by element, plus 1
	now   int32
}

func newGroupedStack(n, groups int, group []int32) *groupedStack {
	return &groupedStack{group: group, head: hugepages.Make[int32](groups), next: hugepages.Make[int32](n)}
}

func (s *groupedStack) push(i int32) {
	g := int32(0)
	if s.group != nil {
		g = s.group[i]
	}
	s.next[i], s.head[g] = s.head[g], i+1
	s.now = min(s.now, g)
}

func (s *groupedStack) pop() int32 {
	for s.head[s.now] == 0 {
		s.now++
	}
	i := s.head[s.now] - 1
	s.head[s.now] = s.next[i]
	return i
}

// witness gives operations times and merges them: enqueues as early as the enqueues before them
// allow, then the operations of each value's stretch. Event t is at time 2t, slot s at 2s+1.
func (q *queueOrder) witness() []int32 {
	type timed struct{ time, op int32 }
	adds, fronts := hugepages.Make[timed](len(q.order))[:0], hugepages.Make[timed](q.Len())[:0]
	in, out := int32(-1), int32(-1)
	for _, i := range q.order {
		e := &q.elements[i]
		if q.group != nil && q.group[i] > 0 {
			in = max(in, 2*q.slots[q.group[i]-1]+1)
		}
		in = max(in, 2*e.aInv)
		out = max(out, in)
		adds = append(adds, timed{in, e.add})
		for _, p := range q.peeksOf(i) {
			out = max(out, 2*q.Inv[p])
			fronts = append(fronts, timed{out, p})
		}
		out = max(out, 2*e.mInv)
		if e.rem != none {
			fronts = append(fronts, timed{out, e.rem})
		}
	}
	order := hugepages.Make[int32](q.Len())[:0]
	for k, op := range q.empties {
		t := 2*q.slots[k] + 1
		for len(adds) > 0 && adds[0].time < t || len(fronts) > 0 && fronts[0].time < t {
			if len(fronts) == 0 || len(adds) > 0 && adds[0].time <= fronts[0].time {
				order, adds = append(order, adds[0].op), adds[1:]
			} else {
				order, fronts = append(order, fronts[0].op), fronts[1:]
			}
		}
		order = append(order, op)
	}
	for len(adds)+len(fronts) > 0 {
		if len(fronts) == 0 || len(adds) > 0 && adds[0].time <= fronts[0].time {
			order, adds = append(order, adds[0].op), adds[1:]
		} else {
			order, fronts = append(order, fronts[0].op), fronts[1:]
		}
	}
	return order
}

// matchQueue says which values the unknown dequeues took, if there is no peek. Some values
// are not known to have been taken in time. Such a value has to be gone when the dequeue of
// a value added after it returns, and when the queue was empty. There are enough unknown
// dequeues iff the k-th of them was invoked before the k-th of these events (Hall).
//
// If an empty answer may take effect in several slots, each is judged separately: for every point
// in time only the last slot before it counts. This is not exact if values have open dequeues of
// their own. If it fails for that reason, or if an empty answer has no slot, there is no shortcut.
func matchQueue(c *contents) (m matching, ok bool) {
	if c.peeks > 0 {
		return m, false
	}
	q := queueMatcher{contents: c}
	q.list()
	if !q.enough(-1) {
		return matching{invalid: true, elements: q.blame()}, true
	}
	slots, ok := q.emptySlots()
	if !ok {
		return m, false
	}
	q.emptied(slots)
	m.at = taken{}
	for k, d := range q.dues() {
		if k >= len(c.unknown) || c.Inv[c.unknown[k]] > d.by {
			return m, false
		}
		m.at[c.A[c.elements[d.element].add]] = c.Inv[c.unknown[k]]
	}
	return m, true
}

// queueMatcher judges when the values that were not dequeued had to be gone.
type queueMatcher struct {
	*contents
	inside []due // values that no completed dequeue took, by aRes
	late   []due // those of them that had to be gone because of others
	gone   []int32
}

// due says by which event an element had to be gone; own is when its own
// dequeue was invoked, or Open.
type due struct{ by, own, in, element int32 }

// list finds the values, and when others required them to be gone.
func (q *queueMatcher) list() {
	q.gone = make([]int32, q.Events+1) // by event: the first dequeue to return of a value added from then on
	for t := range q.gone {
		q.gone[t] = models.Open
	}
	for i := range q.elements {
		if e := &q.elements[i]; e.rRes < q.Events {
			q.gone[e.aInv] = e.mRes
		}
	}
	for t := q.Events - 1; t >= 0; t-- {
		q.gone[t] = min(q.gone[t], q.gone[t+1])
	}
	for i := range q.elements {
		e := &q.elements[i]
		if e.rRes < q.Events {
			continue
		}
		own := models.Open
		if e.rem != none {
			own = q.Inv[e.rem]
		}
		d := due{q.gone[e.aRes], own, e.aRes, int32(i)}
		q.inside = append(q.inside, d)
		if d.by != models.Open {
			q.late = append(q.late, d)
		}
	}
	slices.SortFunc(q.inside, func(a, b due) int { return cmp.Compare(a.in, b.in) })
}

// dues returns the values that need an unknown dequeue, in order of when they have to be gone.
func (q *queueMatcher) dues() []due {
	var dues []due
	for _, d := range q.inside {
		if d.by != models.Open && d.own > d.by {
			dues = append(dues, d)
		}
	}
	slices.SortFunc(dues, func(a, b due) int { return cmp.Compare(a.by, b.by) })
	return dues
}

// enough reports whether there are enough unknown dequeues, early enough,
// if the queue was also empty in the given slot.
func (q *queueMatcher) enough(slot int32) bool {
	var dues []int32
	add := func(d due) bool {
		if d.in <= slot {
			d.by = min(d.by, slot+1)
		}
		if d.by != models.Open && d.own > d.by {
			dues = append(dues, d.by)
		}
		return len(dues) <= len(q.unknown)
	}
	for _, d := range q.late {
		if !add(d) {
			return false
		}
	}
	for _, d := range q.inside {
		if d.in > slot {
			break
		}
		if d.by == models.Open && !add(d) {
			return false
		}
	}
	slices.Sort(dues)
	for k, by := range dues {
		if q.Inv[q.unknown[k]] > by {
			return false
		}
	}
	return true
}

// blame returns elements that show that there are not enough unknown dequeues.
func (q *queueMatcher) blame() (elements []int32) {
	for k, d := range q.dues() {
		elements = append(elements, d.element, q.of[q.A[q.OpReturning(d.by)]]-1)
		if k >= len(q.unknown) || q.Inv[q.unknown[k]] > d.by {
			break
		}
	}
	return elements
}

// emptySlots gives each empty answer a slot if possible.
func (q *queueMatcher) emptySlots() (slots []int32, ok bool) {
	if len(q.empties) == 0 {
		return nil, true
	}
	free := newCover(q.Events+1, false)
	for i := range q.elements {
		if e := &q.elements[i]; e.rRes < q.Events && e.forward() {
			free.add(e.aRes, e.mInv)
		}
	}
	judged := map[int32]bool{}
	for _, o := range q.empties {
		s := free.next(q.Inv[o])
		for ; s < q.Res[o]; s = free.next(s + 1) {
			good, ok := judged[s]
			if !ok {
				good = q.enough(s)
				judged[s] = good
			}
			if good {
				break
			}
		}
		if s >= q.Res[o] {
			return nil, false
		}
		slots = append(slots, s)
	}
	return slots, true
}

// emptied makes the values due by the times at which the queue was empty.
func (q *queueMatcher) emptied(slots []int32) {
	for _, s := range slots {
		for k := range q.inside {
			d := &q.inside[k]
			if d.in > s {
				break
			}
			d.by = min(d.by, s+1)
		}
	}
}

// whyQueue explains a minimal core.
func whyQueue(c *contents) *fastpath.Finding {
	if len(c.elements) != 2 {
		return nil
	}
	for i := range c.elements {
		v, w := &c.elements[i], &c.elements[1-i]
		if v.aRes < w.aInv && w.mRes < v.mInv {
			return OutOfOrder.Of(c.OpReturning(v.aRes), w.add, c.OpReturning(w.mRes), c.opAt(v.mInv))
		}
	}
	v, w := &c.elements[0], &c.elements[1]
	if v.mRes < v.mInv && w.mRes < w.mInv {
		return BothFirst.Of(c.OpReturning(v.mRes), c.opAt(v.mInv), c.OpReturning(w.mRes), c.opAt(w.mInv))
	}
	return nil
}

// opAt returns the operation invoked at event t, or Missing if t is after everything.
func (c *contents) opAt(t int32) models.Row {
	if t >= c.Events {
		return fastpath.Missing
	}
	return c.OpInvoked(t)
}

// OutOfOrder (v, w, tookW, tookV): v added, took or saw a value, and had returned before w, the
// add of another value, was invoked. But tookW took that other value or saw
// it first in the queue. It had returned before tookV, which took the first
// value or saw it first, was invoked. tookV is Missing if nothing took it.
var OutOfOrder = &fastpath.Pattern{Name: "out-of-order", Kind: models.Reordered, Relate: fastpath.Steps(fastpath.Returned(0, 1), fastpath.Returned(2, 3), fastpath.Must(3, 2)), Choose: func(_ models.Teller, v []models.Row) string {
	s := "{did 1} after {had 0}, yet {did 2} before "
	if v[3] == fastpath.Missing {
		return s + "value {value 0}, which was still there"
	}
	return s + "{did 3}"
}}

// BothFirst (firstV, tookV, firstW, tookW): firstV saw a value first in the queue and returned before tookV, which took
// it or saw it first, was invoked. tookV is Missing if nothing took it. All that time the value was
// first. The same is true of another value, with firstW and tookW. But these times overlap.
var BothFirst = &fastpath.Pattern{Name: "both-first", Kind: models.Reordered, Choose: func(_ models.Teller, v []models.Row) string {
	until := func(k int) string {
		if v[k] == fastpath.Missing {
			return " and was not dequeued by then"
		}
		return fmt.Sprintf(" until {did %d}", k)
	}
	return "values {value 0} and {value 2} were both first at the same time: {did 0}" + until(1) + ", and {did 2}" + until(3)
}}
