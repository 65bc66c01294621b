package lockstep

import (
	"encoding/binary"
	"slices"

	"clew/fallback"
	"clew/internal/hugepages"
	"clew/models"
)

// none stands for no operation, no class or no place.
const none int32 = -1

// problem is what is known about a history before anything is decided. It gives
// operations numbers of its own: the initial elements are enqueues before everything,
// one after another, and the rows follow.
type problem struct {
	ops   *models.Operations
	first int32 // the operation of row 0

	sized bool // sizes say something

	inv, res []int32 // by operation, in events of the history and those before it
	kind     []models.Kind
	value    []int32 // by operation: the number of its value, dense; a drain has a place in flat; a size
	class    []int32 // by operation that crashed: its class
	free     []int32 // operations that say nothing: drains of nothing that returned

	in, out   side    // enqueues; all operations that look at the queue's front
	slots     int32   // how many bits there are
	classes   []class // of crashed operations
	add, take []int32 // by value: the class of its crashed enqueues, and of crashed dequeues that took it
	adding    []int32 // the classes of crashed enqueues
	taking    []int32 // the classes of crashed dequeues of a known value
	takeAny   int32   // the class of the other crashed dequeues
	drains    []int32 // the classes of crashed drains of known values
	drainAny  int32   // the class of the other crashed drains
	empties   int32   // the place in out after the last empty answer or size
	sizes     bool    // there are sizes

	// The values of all drains, each place with its drain and with whether it is the
	// drain's last.
	flat, of []int32
	last     []bool

	words  int            // how many words hold a configuration's bits
	counts fallback.Tally // of used crashed operations, by class
}

// class holds the crashed operations of one meaning, by invocation.
type class []int32

// side holds the operations of one of the two orders that returned, by return:
// their places. In a configuration, those before some place are linearized, and so
// are some of those that are open at its return.
type side struct {
	fallback.Overlap
	ops    []int32
	res    []int32 // by place, and models.Open after the last
	passed []int32 // by place: how many operations returned before, on both sides
}

// newProblem takes time linear in the events plus, summed over the returns, the
// operations that are open there.
func newProblem(ops *models.Operations, shape models.FIFOShape, sized bool) *problem {
	first := int32(len(shape.Init))
	n := int(first) + ops.Len()
	p := &problem{ops: ops, first: first, sized: sized, inv: make([]int32, n), res: make([]int32, n), kind: make([]models.Kind, n),
		value: slices.Repeat([]int32{none}, n), class: slices.Repeat([]int32{none}, n), takeAny: none, drainAny: none}
	var values models.Numbering
	for i, v := range shape.Init {
		p.inv[i], p.res[i], p.kind[i], p.value[i] = int32(2*i), int32(2*i+1), models.Enqueue, values.Of(v)
	}
	for row, kind := range ops.Kind {
		op := first + int32(row)
		p.inv[op], p.res[op], p.kind[op] = ops.Inv[row]+2*first, models.Open, kind
		if ops.Res[row] != models.Open {
			p.res[op] = ops.Res[row] + 2*first
		}
		switch kind {
		case models.Enqueue, models.Dequeue, models.Peek:
			p.value[op] = values.Of(ops.A[row])
		case models.Size:
			p.value[op], p.sizes = ops.A[row], sized
		case models.Drain:
			p.value[op] = int32(len(p.flat))
			drained := shape.Drains[ops.A[row]]
			for i, v := range drained {
				p.flat, p.of, p.last = append(p.flat, values.Of(v)), append(p.of, op), append(p.last, i == len(drained)-1)
			}
			if len(drained) == 0 {
				p.value[op] = none
			}
		}
	}
	p.layOut(int(values.Count))
	return p
}

// says says whether an operation can matter.
func (p *problem) says(op int32) bool {
	switch p.kind[op] {
	case models.Drain:
		return p.value[op] != none
	case models.Peek, models.DequeueEmpty:
		return p.res[op] != models.Open
	case models.Size:
		return p.sized && p.res[op] != models.Open
	}
	return true
}

// layOut gives every operation its place and its bit, or its class.
func (p *problem) layOut(values int) {
	p.add, p.take = slices.Repeat([]int32{none}, values), slices.Repeat([]int32{none}, values)
	at := p.at()
	in, out := p.countOpen(at)
	p.in.Overlap, p.out.Overlap = fallback.NewOverlap(p.res, in), fallback.NewOverlap(p.res, out)
	alike := map[string]int32{}
	passed := int32(0)
	for t, op := range at {
		if op == none {
			continue
		}
		side, begins, returns := &p.out, p.inv[op] == int32(t), p.res[op] != models.Open
		if p.kind[op] == models.Enqueue {
			side = &p.in
		}
		switch says := p.says(op); {
		case says && begins && returns:
			side.Begin(op)
		case says && begins:
			p.crash(op, alike)
		case says:
			side.End(op)
			side.ops, side.res, side.passed = append(side.ops, op), append(side.res, p.res[op]), append(side.passed, passed)
			if kind := p.kind[op]; kind == models.DequeueEmpty || kind == models.Size {
				p.empties = int32(len(p.out.ops))
			}
		case begins && returns:
			p.free = append(p.free, op)
		}
		if !begins && op >= p.first {
			passed++
		}
	}
	p.slots = p.in.Slots + p.out.Slots
	p.in.finish(0, passed)
	p.out.finish(p.in.Slots, passed)
	p.words = int(p.slots+63) / 64
	for _, c := range p.classes {
		p.counts.Add(p.words, len(c))
	}
}

// countOpen returns how many operations are open on each side at each of its returns, summed over all returns.
func (p *problem) countOpen(at []int32) (in, out int) {
	var open, sum [2]int
	for t, op := range at {
		if op == none || p.res[op] == models.Open || !p.says(op) {
			continue
		}
		side := 1
		if p.kind[op] == models.Enqueue {
			side = 0
		}
		if p.inv[op] == int32(t) {
			open[side]++
		} else {
			sum[side] += open[side]
			open[side]--
		}
	}
	return sum[0], sum[1]
}

// at returns the operation of each event, or none.
func (p *problem) at() []int32 {
	at := hugepages.Make[int32](int(2*p.first + p.ops.Events))
	for t := range at {
		at[t] = none
	}
	for op, inv := range p.inv {
		at[inv] = int32(op)
		if res := p.res[op]; res != models.Open {
			at[res] = int32(op)
		}
	}
	return at
}

// finish adds the end after the last place, and moves the bits.
func (s *side) finish(slot, passed int32) {
	s.res, s.passed = append(s.res, models.Open), append(s.passed, passed)
	for _, op := range s.ops {
		s.Slot[op] += slot
	}
}

// at returns what is open at the return of a place.
func (s *side) at(place int32) []int32 {
	if int(place) == len(s.ops) {
		return nil
	}
	return s.OpenRows(place)
}

// crash adds a crashed operation to its class. alike holds the classes of drains
// by the values that they drain.
func (p *problem) crash(op int32, alike map[string]int32) {
	var c *int32
	var list *[]int32
	switch p.kind[op] {
	case models.Enqueue:
		c, list = &p.add[p.value[op]], &p.adding
	case models.Dequeue:
		c, list = &p.take[p.value[op]], &p.taking
	case models.Drain:
		key := p.drained(op)
		known, ok := alike[key]
		if !ok {
			known = none
			alike[key] = int32(len(p.classes))
		}
		c, list = &known, &p.drains
	case models.DrainAny:
		c = &p.drainAny
	default:
		c = &p.takeAny
	}
	if *c == none {
		*c = int32(len(p.classes))
		p.classes = append(p.classes, nil)
		if list != nil {
			*list = append(*list, *c)
		}
	}
	p.class[op] = *c
	p.classes[*c] = append(p.classes[*c], op)
}

// drained returns the values of a drain as a key.
func (p *problem) drained(op int32) string {
	var key []byte
	for i := p.value[op]; ; i++ {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.flat[i]))
		if p.last[i] {
			return string(key)
		}
	}
}

// place marks an operation as linearized.
func (p *problem) place(x *side, place *int32, w []uint64, op int32) {
	if c := p.class[op]; c != none {
		p.counts.Of[c].Use(w)
		return
	}
	fallback.SetBit(w, x.Slot[op])
	for ; int(*place) < len(x.ops); *place++ {
		slot := x.Slot[x.ops[*place]]
		if !fallback.HasBit(w, slot) {
			break
		}
		fallback.ClearBit(w, slot)
	}
}

// enough returns the place in the second order up to which every value has been
// enqueued, or was about to be, as often as it has been taken.
func (p *problem) enough() int32 {
	added, taken := make([]int32, len(p.add)), make([]int32, len(p.add))
	adds := int32(0)
	for place, op := range p.out.ops {
		for ; int(adds) < len(p.inv) && p.inv[adds] < p.res[op]; adds++ {
			if p.kind[adds] == models.Enqueue {
				added[p.value[adds]]++
			}
		}
		lacks := false
		switch value := p.value[op]; p.kind[op] {
		case models.Peek:
			lacks = added[value] == 0
		case models.Dequeue:
			taken[value]++
			lacks = taken[value] > added[value]
		case models.Drain:
			for i := value; int(i) < len(p.of) && p.of[i] == op; i++ {
				taken[p.flat[i]]++
				lacks = lacks || taken[p.flat[i]] > added[p.flat[i]]
			}
		}
		if lacks {
			return int32(place)
		}
	}
	return int32(len(p.out.ops))
}

// long says whether sizes answer on average that the queue has longSize elements.
func (p *problem) long() bool {
	const longSize = 16
	sum, n := int64(0), int64(0)
	for op, kind := range p.kind {
		if kind == models.Size && p.says(int32(op)) {
			sum, n = sum+int64(p.value[op]), n+1
		}
	}
	return n > 0 && sum >= longSize*n
}

// bytes returns about how much memory the problem holds.
func (p *problem) bytes() int64 {
	sides := p.in.Sum() + p.out.Sum() + 4*(len(p.in.ops)+len(p.out.ops))
	return 4*int64(9*len(p.inv)+sides+2*len(p.flat)) + 2*int64(p.ops.Events)
}
