package languages

import (
	"math"

	"clew/fallback"
	"clew/models"
)

// search is one decision.
type search struct {
	*fallback.Layout
	sets
	a     *automata // of the stacks
	rules Rules

	value                   []int32 // by row: the value that it pushes, pops or sees, as a small number, or none
	initial                 []int32 // values as such numbers, with the top last
	counts                  []count
	crashedPush, crashedPop []int32 // by value: the class of crashed operations, or none
	crashedAny              int32   // the class of crashed pops of anything, or none
	last                    []int32 // by class: see survey

	moment      moment
	k           int32
	layer, next []int32   // the sets that are about to pass the k-th return, and those about to pass the next one
	here, past  table     // the sets at the return, and past it
	queue       [][]int32 // see enqueue
	stride      int       // of the queue: the number of slots plus 1
	least       int32     // the least number of crashed operations that the next sets use
	parent, key []uint64  // sets in the making
	peers       table     // the first peer by mask, see left
	covered     memo
	slacks      []int32 // by return: see thrift
	slack       int32   // that of the k-th return
	dropped     bool    // thrift has dropped some set
	furthest    int32   // how many returns it has ever passed

	points []point // where segments begin
	closed int64   // bytes that the automata held when this one began
	path   []int32 // see holds
}

// phase says how a set came about since the last return.
type phase uint64

const (
	popping  phase = iota // by pops and looks only, or not at all
	clearing              // the last ones were crashed pops, so something that needs them must follow
	pushing               // the last one was a push
	phases   phase = 3
)

func (s *search) phase(set []uint64) phase { return phase(set[s.Words]) & phases }

func (s *search) enter(p phase) {
	s.key[s.Words] = s.key[s.Words]&^uint64(phases) | uint64(p)
}

// pass finds the sets that have passed the k-th return.
func (s *search) pass(k int32) {
	s.k, s.slack = k, s.slacks[k]
	s.survey(k)
	s.here.reset(len(s.layer))
	s.past.reset(len(s.layer))
	s.next, s.queue, s.least = s.next[:0], s.queue[:0], math.MaxInt32
	returning := s.Slot[s.moment.open[0]]
	for _, i := range s.layer {
		if !s.step() {
			return
		}
		if set := s.set(i); fallback.HasBit(set, returning) {
			copy(s.key, set)
			s.arrive(way{from: i, kind: passes}, s.stack[i], s.size[i])
			continue
		}
		s.here.put(&s.sets, s.here.find(&s.sets, s.set(i), s.width), i, s.width)
		s.enqueue(i)
		s.meet(i)
	}
	covering := s.covering() && !s.rules.NoDemand
	if covering {
		s.peers.reset(len(s.layer))
	}
	for b := 0; b < len(s.queue); b++ {
		if b%s.stride == 0 && s.isEnough(int32(b/s.stride)) {
			break
		}
		for i := 0; i < len(s.queue[b]); i++ {
			if !s.step() {
				return
			}
			at := s.queue[b][i]
			stack := s.stack[at]
			if covering && s.phase(s.set(at)) == popping {
				stack = s.left(at)
			}
			s.expand(at, stack)
		}
	}
	s.drop()
	s.layer, s.next = s.next, s.layer
}

// enqueue queues a set to be expanded after all sets from which it may be reached. The
// order is by the number of crashed operations that they use, then by size.
func (s *search) enqueue(i int32) {
	spent := s.spent(i)
	b := int(spent)*s.stride + int(s.size[i]-spent)
	for len(s.queue) <= b {
		if n := len(s.queue); n < cap(s.queue) {
			s.queue = s.queue[:n+1]
			s.queue[n] = s.queue[n][:0]
		} else {
			s.queue = append(s.queue, nil)
		}
	}
	s.queue[b] = append(s.queue[b], i)
}

// reachHere adds stacks to the set in the making, at the same return.
func (s *search) reachHere(w way, stack, size int32) {
	if stack == nothing {
		return
	}
	at := s.here.find(&s.sets, s.key, s.width)
	if i := s.here.slots[at] - 1; i >= 0 {
		s.join(i, w, stack)
		return
	}
	i := s.add(s.key, stack, size, s.k)
	s.here.put(&s.sets, at, i, s.width)
	s.reach(i, w)
	s.enqueue(i)
}

// arrive adds stacks to the set in the making, past the return. The set has the
// returning operation, unless the way takes that one.
func (s *search) arrive(w way, stack, size int32) {
	if stack == nothing {
		return
	}
	if returning := s.Slot[s.moment.open[0]]; fallback.HasBit(s.key, returning) {
		fallback.ClearBit(s.key, returning)
		size--
	}
	s.enter(popping)
	at := s.past.find(&s.sets, s.key, s.width)
	if i := s.past.slots[at] - 1; i >= 0 {
		s.join(i, w, stack)
		return
	}
	i := s.add(s.key, stack, size, s.k+1)
	s.past.put(&s.sets, at, i, s.width)
	s.reach(i, w)
	s.next = append(s.next, i)
	s.least = min(s.least, s.spent(i))
}

// join adds stacks to a set.
func (s *search) join(i int32, w way, stack int32) {
	if all := s.a.union(s.stack[i], stack); all != s.stack[i] {
		s.stack[i] = all
		s.reach(i, w)
	}
}

// meet lets a returning pop at once take what a push before it brings.
func (s *search) meet(i int32) {
	row := s.moment.open[0]
	if s.Ops.Kind[row] != models.Pop {
		return
	}
	value, size := s.value[row], s.size[i]
	copy(s.key, s.set(i))
	place := s.first(s.key, s.moment.pushes, value)
	push := none
	if place != none {
		push = s.moment.open[place]
		fallback.SetBit(s.key, s.Slot[push])
	} else if push = s.unused(s.key, s.crashedPush[value]); push != none {
		s.use(s.key, s.crashedPush[value])
	}
	if push == none {
		return
	}
	size++
	for _, l := range s.moment.looks {
		if l.value == value {
			size += join(s.key, l.slots)
		}
	}
	stack := s.stack[i]
	if !s.rules.NoDelay {
		stack = s.a.without(value, stack)
	}
	s.arrive(way{from: i, row: push, kind: meets}, stack, size)
}

// expand goes on from some stacks of a set, at the same return.
func (s *search) expand(i, stack int32) {
	s.parent = append(s.parent[:0], s.set(i)...)
	if stack = s.look(i, stack); stack == nothing {
		return
	}
	p := s.phase(s.parent)
	if p != pushing || s.rules.NoDelay {
		s.pop(i, stack)
	}
	if p != clearing || s.rules.NoDemand {
		s.push(i, stack)
	}
}

// look lets the operations look that see what is on top. It returns the stacks with
// which none does.
func (s *search) look(i, stack int32) int32 {
	after := s.phase(s.parent)
	if after == clearing {
		after = popping
	}
	for _, l := range s.moment.looks {
		if !lacks(s.parent, l.slots) {
			continue
		}
		part := nothing
		if l.value != none {
			if below := s.a.pop(l.value, stack); below != nothing {
				part = s.a.push(l.value, below)
			}
		} else if s.a.ends[stack] {
			part = blank
		}
		if part == nothing {
			continue
		}
		copy(s.key, s.parent)
		size := s.size[i] + join(s.key, l.slots)
		s.enter(after)
		if fallback.HasBit(s.key, s.Slot[s.moment.open[0]]) {
			s.arrive(way{from: i, row: l.value, kind: sees}, part, size)
		} else {
			s.reachHere(way{from: i, row: l.value, kind: sees}, part, size)
		}
		switch {
		case s.rules.NoEagerLooks:
		case l.value != none:
			stack = s.a.without(l.value, stack)
		default:
			stack = s.a.notBlank(stack)
		}
	}
	return stack
}

// pop lets open and crashed operations pop.
func (s *search) pop(i, stack int32) {
	for _, place := range s.moment.pops {
		if !s.turns(s.parent, place) {
			continue
		}
		row := s.moment.open[place]
		copy(s.key, s.parent)
		w := way{from: i, row: row, kind: takes}
		below := s.a.pop(s.value[row], stack)
		if place == 0 {
			s.arrive(w, below, s.size[i])
			continue
		}
		fallback.SetBit(s.key, s.Slot[row])
		s.enter(popping)
		s.reachHere(w, below, s.size[i]+1)
	}
	if len(s.counts) > 0 && (s.rules.NoDemand || lacks(s.parent, s.moment.takers)) {
		s.popCrashed(i, stack)
	}
}

// popCrashed lets crashed operations pop.
func (s *search) popCrashed(i, stack int32) {
	anyRow, rest := s.unused(s.parent, s.crashedAny), nothing
	after := clearing
	if s.rules.NoDemand {
		after = s.phase(s.parent)
	}
	for at := s.a.first[stack]; at < s.a.first[stack+1]; at++ {
		value, below := s.a.value[at], s.a.to[at]
		if !s.rules.NoCanonicalOrder && s.first(s.parent, s.moment.pops, value) != none {
			continue // the open pop goes first
		}
		if row := s.unused(s.parent, s.crashedPop[value]); row != none {
			copy(s.key, s.parent)
			s.use(s.key, s.crashedPop[value])
			s.enter(after)
			s.reachHere(way{from: i, row: row, kind: takes}, below, s.size[i]+1)
			if !s.rules.NoCanonicalOrder {
				continue
			}
		}
		if anyRow != none {
			rest = s.a.union(rest, below)
		}
	}
	if rest != nothing {
		copy(s.key, s.parent)
		s.use(s.key, s.crashedAny)
		s.enter(after)
		s.reachHere(way{from: i, row: anyRow, kind: takes}, rest, s.size[i]+1)
	}
}

// push lets open and crashed operations push.
func (s *search) push(i, stack int32) {
	row := s.moment.open[0]
	switch kind := s.Ops.Kind[row]; {
	case s.rules.NoDelay || kind == models.Push:
	case kind != models.Peek || s.first(s.parent, s.moment.pushes, s.value[row]) == none && s.unused(s.parent, s.crashedPush[s.value[row]]) == none:
		return
	}
	for _, place := range s.moment.pushes {
		if !s.turns(s.parent, place) {
			continue
		}
		row := s.moment.open[place]
		copy(s.key, s.parent)
		w := way{from: i, row: row, kind: takes}
		after := s.a.push(s.value[row], stack)
		if place == 0 {
			s.arrive(w, after, s.size[i])
			continue
		}
		fallback.SetBit(s.key, s.Slot[row])
		s.enter(pushing)
		s.reachHere(w, after, s.size[i]+1)
	}
	for class := range s.counts {
		c := &s.counts[class]
		if c.kind != models.Push || !s.rules.NoDemand && !s.wanted(c.value) || !s.rules.NoCanonicalOrder && s.first(s.parent, s.moment.pushes, c.value) != none {
			continue
		}
		if row := s.unused(s.parent, int32(class)); row != none {
			copy(s.key, s.parent)
			s.use(s.key, int32(class))
			s.enter(pushing)
			s.reachHere(way{from: i, row: row, kind: takes}, s.a.push(c.value, stack), s.size[i]+1)
		}
	}
}

// wanted says whether an open operation that is not linearized saw a value.
func (s *search) wanted(value int32) bool {
	for _, l := range s.moment.looks {
		if l.value == value && lacks(s.parent, l.slots) {
			return true
		}
	}
	return false
}
