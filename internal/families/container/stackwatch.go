package container

import "clew/internal/hugepages"

// # Stack, by watched zones
//
// Decides which values of a stack can be taken away (stack.go).
//
// Cost: O(operations * concurrent pushes * log) at worst, linear in
// practice. It gives up after maxWatches watches per value.
//
// Rests on: the slots that no remaining zone covers begin where a zone ends, or before everything.
// Each end of a zone watches one zone that covers it, the last to start. Only when that one is
// taken away is a new one sought. If there is none, a gap begins. A gap makes safe the pops that
// may return after it began. It also makes safe the pushes that may be invoked before it ends, at
// the start of the next zone. A push is invoked before the next zone that starts, and a pop returns
// after the last zone that ends. So a search in the order of starts, or of ends, finds each of them
// once.
//
// A peek waits until push and pop of its value are safe. Then zones that cover all its
// slots are its certificate. It watches them and tries again when one is taken away.

// maxWatches bounds the watches per value, on average. Tests change it.
var maxWatches = 64

type stackWatch struct {
	*stackZones
	starts  []int32  // by slot: how many zones start there or before
	byEnd   []int32  // zones by end
	pushes  *maxTree // by zone: the complement of aInv, while the push is not safe
	pops    *maxTree // by place in byEnd: rRes, while the pop is not safe
	ends    *maxTree // by zone: end, until it is taken away
	after   []int32  // by zone: itself, or one from which to look for the next remaining zone
	watches int

	peeking      []int32       // by zone: peeks that are not safe
	retry        []peekOf      // to be tried
	tries        []int32       // by operation: how often a peek has been tried
	certificates []certificate // of peeks that were not safe
	helps        []int32       // by zone: the last certificate that includes it, plus 1

	free, order []int32
}

// peekOf is a peek of the value of zone k.
type peekOf struct{ k, op int32 }

// certificate says that a zone helps to cover all slots of a peek. It
// counts until the peek is tried again.
type certificate struct {
	peekOf
	try, before int32
}

// byWatching takes values away; done is false if it gave up. It also sends them to taken, some at a time, unless that is nil.
func (s *stackZones) byWatching(taken chan<- []int32) (order []int32, done bool) {
	if len(s.zones) == 0 {
		return nil, true
	}
	w := newStackWatch(s)
	w.start()
	sent := 0
	for {
		w.tryPeeks()
		if n := len(w.order); taken != nil && (n-sent >= atOnce || len(w.free) == 0) {
			taken <- w.order[sent:n:n]
			sent = n
		}
		if len(w.free) == 0 {
			return w.order, true
		}
		if w.watches > maxWatches*(len(s.zones)+w.peeks) {
			return nil, false
		}
		k := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		w.takeAway(k)
	}
}

func newStackWatch(s *stackZones) *stackWatch {
	n := len(s.zones)
	w := &stackWatch{
		stackZones: s,
		starts:     s.byEvent(s.Events),
		byEnd:      hugepages.Make[int32](n)[:0],
		pushes:     newMaxTree(n),
		ends:       newMaxTree(n),
		after:      hugepages.Make[int32](n + 1),
		order:      hugepages.Make[int32](n)[:0],
	}
	for k := range s.zones {
		w.pushes.put(int32(k), ^s.element(int32(k)).aInv)
		w.ends.put(int32(k), s.zones[k].end)
		w.after[k] = int32(k)
	}
	w.after[n] = int32(n)
	w.pushes.build()
	w.ends.build()
	if w.peeks > 0 {
		w.peeking, w.helps, w.tries = hugepages.Make[int32](n), hugepages.Make[int32](n), hugepages.Make[int32](s.Len())
		for k := range s.zones {
			w.peeking[k] = int32(len(s.peeksOf(s.zones[k].element)))
		}
	}
	return w
}

// start finds the initial gaps, and makes all other ends watch. A stack holds the zones
// that cover a slot, except those that end no later than one that starts after them.
func (w *stackWatch) start() {
	events := w.starts // until passed: the zone that starts, plus 1; or the one that ends, complemented
	for k := range w.zones {
		z := &w.zones[k]
		events[z.begin] = int32(k) + 1
		if z.end < w.Events {
			events[z.end] = ^int32(k)
		}
	}
	n := int32(0)
	var gaps, stack []int32
	for t, x := range events {
		switch {
		case x > 0:
			n++
			for len(stack) > 0 && w.zones[stack[len(stack)-1]].end < w.zones[x-1].end {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, x-1)
		case x < 0:
			u := ^x
			w.zones[u].byEnd, w.zones[u].later = int32(len(w.byEnd)), n
			w.byEnd = append(w.byEnd, u)
			for len(stack) > 0 && w.zones[stack[len(stack)-1]].end <= int32(t) {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				w.watch(stack[len(stack)-1], u)
			} else {
				gaps = append(gaps, u)
			}
		}
		w.starts[t] = n
	}
	w.pops = newMaxTree(len(w.byEnd))
	for i, u := range w.byEnd {
		w.pops.put(int32(i), w.element(u).rRes)
	}
	for k := range w.zones {
		if e := w.element(int32(k)); e.rRes > w.Events { // there is a gap after everything
			if z := &w.zones[k]; z.end < w.Events {
				w.pops.put(z.byEnd, -1)
			}
			w.safely(e.rem, w.Events)
			w.opSafe(int32(k))
		}
	}
	w.pops.build()
	w.left(0)
	for _, u := range gaps {
		w.gap(u)
	}
}

// watch makes the end of zone u watch zone k.
func (w *stackWatch) watch(k, u int32) {
	w.zones[k].watched, w.zones[u].next = u+1, w.zones[k].watched
	w.watches++
}

// gap handles the gap that begins where zone u ends.
func (w *stackWatch) gap(u int32) {
	z := &w.zones[u]
	for i := w.pops.findLast(z.byEnd, z.end); i >= 0; i = w.pops.findLast(i, z.end) {
		w.pops.set(i, -1)
		k := w.byEnd[i]
		w.safely(w.element(k).rem, z.end)
		w.opSafe(k)
	}
	w.left(z.later)
}

// left handles the gap that ends where the next remaining zone, from z on, starts.
func (w *stackWatch) left(z int32) {
	z = find(w.after, z)
	if int(z) == len(w.zones) || w.zones[z].first {
		return
	}
	w.zones[z].first = true
	begin := w.zones[z].begin
	for k := w.pushes.findFirst(z, ^begin); k >= 0; k = w.pushes.findFirst(k, ^begin) {
		w.pushes.set(k, -1<<31)
		w.safely(w.element(k).add, begin-1)
		w.opSafe(k)
	}
}

// opSafe records that the push or pop of zone k is safe. Once both are, it tries the peeks.
func (w *stackWatch) opSafe(k int32) {
	if w.zones[k].open--; w.zones[k].open > 0 {
		return
	}
	if w.peeks == 0 || w.peeking[k] == 0 {
		w.release(k)
		return
	}
	for _, o := range w.peeksOf(w.zones[k].element) {
		w.retry = append(w.retry, peekOf{k, o})
	}
}

// release marks zone k as taken away.
func (w *stackWatch) release(k int32) {
	w.order = append(w.order, k)
	w.free = append(w.free, k)
	w.zones[k].gone = true
	w.ends.set(k, -1)
	w.after[k] = k + 1
}

func (w *stackWatch) tryPeeks() {
	for _, p := range w.retry {
		w.tryPeek(p)
	}
	w.retry = w.retry[:0]
}

// tryPeek looks for a slot of a peek that no zone of another value covers.
func (w *stackWatch) tryPeek(p peekOf) {
	from := len(w.certificates)
	x, res := w.peekSpan(w.element(p.k), p.op)
	for x < res {
		j := none
		if x < w.Events {
			j = w.ends.findLast(w.starts[x]-1, x)
		}
		if j == p.k {
			j = w.ends.findLast(p.k-1, x)
		}
		if j == none {
			w.certificates = w.certificates[:from]
			w.safely(p.op, x)
			if w.peeking[p.k]--; w.peeking[p.k] == 0 {
				w.release(p.k)
			}
			return
		}
		w.certificates = append(w.certificates, certificate{p, w.tries[p.op], j})
		x = w.zones[j].end
	}
	for i := from; i < len(w.certificates); i++ {
		c := &w.certificates[i]
		c.before, w.helps[c.before] = w.helps[c.before], int32(i)+1
		w.watches++
	}
}

// takeAway finds what only zone k had blocked.
func (w *stackWatch) takeAway(k int32) {
	if w.zones[k].first {
		w.left(k)
	}
	for u := w.zones[k].watched; u != 0; {
		u--
		next := w.zones[u].next
		if !w.zones[u].gone {
			if j := w.ends.findLast(k-1, w.zones[u].end); j != none {
				w.watch(j, u)
			} else {
				w.gap(u)
			}
		}
		u = next
	}
	if w.peeks == 0 {
		return
	}
	for i := w.helps[k]; i != 0; i = w.certificates[i-1].before {
		if c := &w.certificates[i-1]; c.try == w.tries[c.op] {
			w.tries[c.op]++
			w.retry = append(w.retry, c.peekOf)
		}
	}
}
