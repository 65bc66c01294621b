package container

import (
	"math/bits"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// # Priority queue
//
// Decides: insert, poll, peek and empty answers of a priority queue, as described in
// containers.go. Poll and peek may return any of the elements of highest priority. B
// of an operation is the rank of its priority, and the highest comes first.
//
// Cost: O(operations + ids + priorities), except for a factor that grows like
// the inverse of Ackermann's function.
//
// Rests on: Lee and Mathur's procedure: a poll or peek needs a slot that no zone of a value
// of higher priority covers. The pass goes from the highest priority down and keeps the slots
// covered so far in a bitmap. Full words are skipped (union-find). Values of equal priority
// do not hinder each other, so a whole group is examined before it covers its slots.
//
// Why these slots suffice, and the order of the witness: a value enters in the last
// slot before its zone. If it was peeked earlier, it enters in the last uncovered slot
// before that peek. It leaves in the first uncovered slot from mInv on. Zones of still
// higher priority cover all other slots in which it is inside but outside its zone. So
// nothing lower is taken or seen there. Within a slot, values leave first, the higher
// ones before the lower ones. Then values enter, the lower ones before the higher ones.
//
// Crashed operations: containers.go.

var priorityQueue = (&container{plain: decidePriority, why: whyPriority, match: matchPriority}).algorithm()

func whyPriority(c *contents) *fastpath.Finding { return decidePriority(c, false).Why }

func decidePriority(c *contents, witness bool) fastpath.Result {
	slots, filled, bad := c.emptySlots(c.byEvent(c.Events + 2))
	if bad != none {
		return c.fail(nil, filled, bad)
	}
	p := &priorityPass{contents: c, cover: newCover(c.Events+1, witness)}
	if witness {
		p.placed = hugepages.Make[placed](c.Len())[:0]
		p.count = c.byEvent(c.Events + 2)
	}
	byRank := c.byRank()
	for rank := range c.IDs {
		group := byRank.Of(rank)
		for _, i := range group {
			if bad := p.examine(i); bad != none {
				return p.overtaken(i, bad)
			}
		}
		for _, i := range group {
			if e := &p.elements[i]; e.forward() {
				p.cover.add(e.aRes, e.mInv)
			}
		}
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = p.witness(slots)
	}
	return r
}

// priorityPass goes through the elements from the highest priority down.
type priorityPass struct {
	*contents
	cover *cover

	// For the witness.
	placed []placed
	count  []int32 // by slot: operations
}

// placed is the slot of an operation, complemented if the operation is among the last there.
type placed struct{ op, slot int32 }

// rank returns the rank of an element's priority, of which the highest is 0.
func (c *contents) rank(i int32) int32 { return c.IDs - 1 - c.B[c.elements[i].add] }

// byRank groups the elements by rank.
func (c *contents) byRank() fastpath.Groups {
	return fastpath.GroupBy(len(c.elements), c.IDs-1, c.rank)
}

// examine looks for slots for the operations of an element. It returns an operation
// that has no slot, or none. A remove that never happened has a slot of its own.
func (p *priorityPass) examine(i int32) (bad int32) {
	e := &p.elements[i]
	out := p.cover.next(e.mInv)
	if out >= e.rRes {
		return e.rem
	}
	for _, o := range p.peeksOf(i) {
		if inv, res := p.peekSpan(e, o); p.cover.next(inv) >= res {
			return o
		}
	}
	if p.placed != nil {
		p.place(i, e, out)
	}
	return none
}

// place gives the operations of an element slots; out is the slot of its remove.
// Operations that are among the last in a slot are placed in reverse order.
func (p *priorityPass) place(i int32, e *element, out int32) {
	if e.rem != none && out < e.aRes { // it comes and goes
		p.put(e.rem, ^out)
		for _, o := range p.peeksOf(i) {
			p.put(o, ^out)
		}
		p.put(e.add, ^out)
		return
	}
	in := e.aRes - 1
	for _, o := range p.peeksOf(i) {
		inv, res := p.peekSpan(e, o)
		if s := p.cover.next(max(inv, e.aRes)); s < res {
			p.put(o, s)
			continue
		}
		in = p.cover.previous(e.aRes - 1)
		p.put(o, ^in)
	}
	p.put(e.add, ^in)
	if e.rem != none {
		p.put(e.rem, out)
	}
}

func (p *priorityPass) put(o, slot int32) {
	p.placed = append(p.placed, placed{o, slot})
	p.count[max(slot, ^slot)]++
}

// overtaken returns the result for operation o of an element if all its slots are covered.
func (p *priorityPass) overtaken(i, o int32) fastpath.Result {
	e := &p.elements[i]
	inv, res := e.mInv, e.rRes
	if o != e.rem {
		inv, res = p.peekSpan(e, o)
	}
	chain := p.chain(inv, res, func(x *element) bool { return p.B[x.add] > p.B[e.add] })
	var higher []models.Row
	for _, x := range chain {
		higher = append(higher, p.elements[x].add)
	}
	return p.fail(Overtaken.Of(append(higher, o)...), append(chain, i))
}

// Overtaken (higher, taker): taker took or saw a value, but all the time that it ran, some
// of the values of higher priority that the others added were certainly inside.
var Overtaken = &fastpath.Pattern{Name: "overtaken", Kind: models.Reordered, Choose: func(_ models.Teller, v []models.Row) string {
	return "{did -1} although " + someOf(v[:len(v)-1]) + ", of higher priority, was in the queue throughout"
}}

// witness puts the operations in order of slots.
func (p *priorityPass) witness(slots []int32) []int32 {
	for _, s := range slots {
		p.count[s]++
	}
	next, sum := p.count, int32(0) // by slot: the place of the next operation in it
	for s, n := range p.count {
		next[s] = sum
		sum += n
	}
	order := hugepages.Make[int32](sum)
	put := func(o, slot int32) {
		order[next[slot]] = o
		next[slot]++
	}
	for _, x := range p.placed {
		if x.slot >= 0 {
			put(x.op, x.slot)
		}
	}
	for k, o := range p.empties {
		put(o, slots[k])
	}
	for _, x := range slices.Backward(p.placed) {
		if x.slot < 0 {
			put(x.op, ^x.slot)
		}
	}
	return order
}

// cover is a growing set of slots.
type cover struct {
	words []uint64
	after []int32 // by word: a word from it on before which all are full
	since []int32 // by word: the same backwards; nil if not asked for
}

// newCover makes an empty set of the slots from 0 on. The last one is never added.
func newCover(slots int32, backwards bool) *cover {
	n := slots/64 + 2
	c := &cover{words: make([]uint64, n), after: make([]int32, n)}
	for w := range c.after {
		c.after[w] = int32(w)
	}
	if backwards {
		c.since = make([]int32, n)
		copy(c.since, c.after)
	}
	return c
}

// find follows the links from a word, halving the path.
func find(link []int32, w int32) int32 {
	for link[w] != w {
		link[w] = link[link[w]]
		w = link[w]
	}
	return w
}

// add adds the slots from a to b-1.
func (c *cover) add(a, b int32) {
	for w := find(c.after, a/64); w <= (b-1)/64; w = find(c.after, w+1) {
		bits := ^uint64(0)
		if w == a/64 {
			bits <<= a % 64
		}
		if w == (b-1)/64 {
			bits &= ^uint64(0) >> (63 - (b-1)%64)
		}
		if c.words[w] |= bits; c.words[w] == ^uint64(0) {
			c.after[w] = w + 1
			if c.since != nil && w > 0 {
				c.since[w] = w - 1
			}
		}
	}
}

// next returns the first slot from s on that is not in the set.
func (c *cover) next(s int32) int32 {
	w := s / 64
	if free := ^c.words[w] >> (s % 64); free != 0 {
		return s + int32(bits.TrailingZeros64(free))
	}
	w = find(c.after, w+1)
	return w*64 + int32(bits.TrailingZeros64(^c.words[w]))
}

// previous returns the last slot up to s that is not in the set. There must be one.
func (c *cover) previous(s int32) int32 {
	w := s / 64
	if free := ^c.words[w] << (63 - s%64); free != 0 {
		return s - int32(bits.LeadingZeros64(free))
	}
	w = find(c.since, w-1)
	return w*64 + 63 - int32(bits.LeadingZeros64(^c.words[w]))
}
