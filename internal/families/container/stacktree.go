package container

import (
	"cmp"
	"slices"

	"clew/fastpath"
)

// # Stack, by a segment tree
//
// Decides which values of a stack can be taken away (stack.go), in
// O(operations log operations) for every history.
//
// Rests on: Lee and Mathur's data structure. A tree over the slots stores how many
// of the remaining zones cover each slot. If only one zone covers a slot, the peeks
// of its value that may take effect there are safe. If none covers it, all
// operations that may take effect there are safe. Each slot turns up at most twice.

// byTree takes values away.
func (s *stackZones) byTree() (order []int32) {
	t := &stackTree{stackZones: s, slots: newCountTree(s.Events + 1), owners: make(fenwick, s.Events+2),
		handled: make([]bool, s.Events+1), open: make([]int32, len(s.zones))}
	t.listSpans()
	for k := range s.zones {
		t.coverBy(int32(k), 1)
	}
	for {
		for slot, ok := t.slots.least(1); ok; slot, ok = t.slots.least(1) {
			t.uncovered(slot)
		}
		if len(t.free) == 0 {
			return t.order
		}
		k := t.free[len(t.free)-1]
		t.free = t.free[:len(t.free)-1]
		t.order = append(t.order, k)
		t.coverBy(k, -1)
	}
}

// span is the range of slots, from inv to res-1, in which an operation of zone k may take effect.
type span struct{ inv, res, k, op int32 }

type stackTree struct {
	*stackZones
	slots   *countTree
	owners  fenwick // by slot: the sum of the numbers of the zones that cover it
	handled []bool  // by slot: it has been covered by one zone only
	spans   []span  // of all operations, by inv
	all     *maxTree
	peekAt  []int32 // by zone: where its peeks begin in peeks
	own     []span  // peeks by zone, then inv
	ownEnds *maxTree
	isSafe  []bool  // by operation
	open    []int32 // by zone: operations that are not safe
	free    []int32 // zones to take away
	order   []int32
}

// listSpans lists the spans of all operations, and those of peeks by zone. The
// number of a pop that never happened is the complement of its push's number.
func (t *stackTree) listSpans() {
	t.isSafe = make([]bool, 2*t.Len())
	t.peekAt = make([]int32, len(t.zones)+1)
	var spans []span
	for k := range t.zones {
		z, e := &t.zones[k], t.element(int32(k))
		pop := e.rem
		if pop == none {
			pop = ^e.add
		}
		spans = append(spans, span{e.aInv, z.begin, int32(k), e.add}, span{z.end, e.rRes, int32(k), pop})
		t.peekAt[k] = int32(len(t.own))
		for _, o := range t.peeksOf(z.element) {
			inv, res := t.peekSpan(e, o)
			t.own = append(t.own, span{inv, res, int32(k), o})
		}
		t.open[k] = 2 + int32(len(t.own)) - t.peekAt[k]
	}
	t.peekAt[len(t.zones)] = int32(len(t.own))
	spans = append(spans, t.own...)
	sorted := fastpath.GroupBy(len(spans), t.Events+1, func(i int32) int32 { return spans[i].inv }).Sorted()
	t.spans = make([]span, len(spans))
	for i, k := range sorted {
		t.spans[i] = spans[k]
	}
	t.all, t.ownEnds = newMaxTree(len(t.spans)), newMaxTree(len(t.own))
	for i, x := range t.spans {
		t.all.put(int32(i), x.res)
	}
	for i, x := range t.own {
		t.ownEnds.put(int32(i), x.res)
	}
	t.all.build()
	t.ownEnds.build()
}

// coverBy adds n times the zone k to the slots that it covers.
func (t *stackTree) coverBy(k, n int32) {
	z := &t.zones[k]
	t.slots.add(z.begin, z.end, n)
	t.owners.add(z.begin, int64(n)*int64(k))
	t.owners.add(z.end, -int64(n)*int64(k))
}

// uncovered handles a slot that at most one zone covers.
func (t *stackTree) uncovered(slot int32) {
	n := t.slots.at(slot)
	if t.handled[slot] {
		n-- // it was set one too high
	}
	if n == 0 {
		t.slots.add(slot, slot+1, 1<<30)
		t.take(t.all, t.spans, 0, int32(len(t.spans)), slot)
		return
	}
	t.handled[slot] = true
	t.slots.add(slot, slot+1, 1)
	k := int32(t.owners.sum(slot))
	t.take(t.ownEnds, t.own, t.peekAt[k], t.peekAt[k+1], slot)
}

// take makes safe all operations of the spans from..to-1 that contain the slot.
func (t *stackTree) take(ends *maxTree, spans []span, from, to, slot int32) {
	n, _ := slices.BinarySearchFunc(spans[from:to], slot+1, func(x span, t int32) int { return cmp.Compare(x.inv, t) })
	if n == 0 {
		return
	}
	to = from + int32(n)
	// The spans of one zone stand together, so the search ends where they do.
	for i := ends.findLast(to-1, slot); i >= 0 && (ends == t.all || spans[i].k == spans[to-1].k); i = ends.findLast(i-1, slot) {
		x := &spans[i]
		ends.set(i, -1)
		at := x.op
		if at < 0 {
			at = int32(t.Len()) + ^at
		}
		if t.isSafe[at] {
			continue
		}
		t.isSafe[at] = true
		if x.op >= 0 {
			t.safely(x.op, slot)
		}
		if t.open[x.k]--; t.open[x.k] == 0 {
			t.free = append(t.free, x.k)
		}
	}
}

// fenwick sums numbers over slots: a number added at a slot counts from there on.
type fenwick []int64

func (f fenwick) add(i int32, x int64) {
	for i++; int(i) < len(f); i += i & -i {
		f[i] += x
	}
}

func (f fenwick) sum(i int32) (sum int64) {
	for i++; i > 0; i -= i & -i {
		sum += f[i]
	}
	return sum
}

// countTree counts over slots and finds one with a small count. A node
// holds the least count below it, without what nodes above it add.
type countTree struct {
	size    int32
	low, up []int32
}

func newCountTree(n int32) *countTree {
	size := int32(1)
	for size < n {
		size *= 2
	}
	t := &countTree{size, make([]int32, 2*size), make([]int32, 2*size)}
	for i := n; i < size; i++ {
		t.low[size+i] = 1 << 30
	}
	for i := size - 1; i > 0; i-- {
		t.low[i] = min(t.low[2*i], t.low[2*i+1])
	}
	return t
}

// add adds n to the slots from a to b-1.
func (t *countTree) add(a, b, n int32) { t.addBelow(1, 0, t.size, a, b, n) }

func (t *countTree) addBelow(node, low, high, a, b, n int32) {
	if b <= low || high <= a {
		return
	}
	if a <= low && high <= b {
		t.low[node] += n
		t.up[node] += n
		return
	}
	mid := (low + high) / 2
	t.addBelow(2*node, low, mid, a, b, n)
	t.addBelow(2*node+1, mid, high, a, b, n)
	t.low[node] = min(t.low[2*node], t.low[2*node+1]) + t.up[node]
}

// least returns a slot with a count of at most n.
func (t *countTree) least(n int32) (slot int32, ok bool) {
	if t.low[1] > n {
		return 0, false
	}
	node := int32(1)
	for node < t.size {
		n -= t.up[node]
		node *= 2
		if t.low[node] > n {
			node++
		}
	}
	return node - t.size, true
}

// at returns the count of a slot.
func (t *countTree) at(slot int32) int32 {
	node := t.size + slot
	n := t.low[node]
	for node /= 2; node > 0; node /= 2 {
		n += t.up[node]
	}
	return n
}
