package lockstep

import (
	"cmp"
	"slices"

	"clew/fallback"
	"clew/models"
)

// owed is what a size that is linearized says of enqueues that are not: that so many come
// before it, and all others come behind it.
type owed struct {
	at     int32 // enqueues, counted from the first one
	before int32 // they were invoked before this
	after  int32 // the others return after this
}

// sizes keeps what configurations owe. Equal lists have one number, and the empty list has 0.
type sizes struct {
	*problem
	any      bool    // there are sizes
	nextAdd  []int32 // by event: the first invocation of an enqueue from there on, or models.Open
	lastDone []int32 // by event: the last return of an enqueue up to there, or none
	begun    []int32 // by event: how many enqueues are invoked up to there
	done     []int32 // by event: how many enqueues return up to there

	// Where enqueues may stand in the first order, if sizes are ignored.
	lastIn  []int32 // by event: the last place of an enqueue that returns up to there, or none
	firstIn []int32 // by event: the first place of an enqueue that is invoked from there on, or models.Open

	lists   [][]owed
	numbers []uint64 // open addressing over lists: half of a hash, and 1 + a number; 0 is free
	list    []owed   // in the making
	filler  filler

	held int64 // about how many bytes the lists hold

	// The reasons of the frames so far, one after another: each item by how many
	// enqueues come before the others.
	why []int32
}

func newSizes(p *problem, guide []int32) *sizes {
	s := &sizes{problem: p, any: p.sizes, lists: make([][]owed, 1), filler: filler{problem: p}}
	if !s.any {
		return s
	}
	events := int(2*p.first + p.ops.Events)
	s.nextAdd, s.lastDone = make([]int32, events+1), make([]int32, events+1)
	s.begun, s.done = make([]int32, events+1), make([]int32, events+1)
	for t := range s.nextAdd {
		s.nextAdd[t], s.lastDone[t] = models.Open, none
	}
	for op, kind := range p.kind {
		if kind != models.Enqueue {
			continue
		}
		s.nextAdd[p.inv[op]], s.begun[p.inv[op]] = p.inv[op], 1
		if res := p.res[op]; res != models.Open {
			s.lastDone[res], s.done[res] = res, 1
		}
	}
	for t := range events {
		s.lastDone[t+1] = max(s.lastDone[t+1], s.lastDone[t])
		s.begun[t+1] += s.begun[t]
		s.done[t+1] += s.done[t]
		s.nextAdd[events-1-t] = min(s.nextAdd[events-1-t], s.nextAdd[events-t])
	}
	s.filler.marks = make([]int32, len(p.inv))
	s.follow(guide)
	return s
}

// follow learns where enqueues stand in an order of them.
func (s *sizes) follow(order []int32) {
	s.lastIn, s.firstIn = slices.Repeat([]int32{none}, len(s.done)), slices.Repeat([]int32{models.Open}, len(s.done))
	for place, op := range order {
		s.firstIn[s.inv[op]] = int32(place)
		if res := s.res[op]; res != models.Open {
			s.lastIn[res] = int32(place)
		}
	}
	last := len(s.done) - 1
	for t := range last {
		s.lastIn[t+1] = max(s.lastIn[t+1], s.lastIn[t])
		s.firstIn[last-1-t] = min(s.firstIn[last-1-t], s.firstIn[last-t])
	}
}

// likely says whether a size would be right here if enqueues came in the order that was
// followed.
func (s *sizes) likely(f *frame, op int32) bool {
	at, before := f.adds+s.value[op]-f.inside(), s.out.res[f.out]
	return s.lastIn[max(f.latest, s.inv[op])] < at && s.firstIn[before] >= at
}

// bytes returns about how much memory the lists hold.
func (s *sizes) bytes() int64 {
	return 4*int64(6*len(s.nextAdd)+len(s.filler.marks)) + s.held
}

// owe updates what a configuration owes after a step. It returns false if no enqueues that
// are left can make the sizes right.
func (s *sizes) owe(f *frame, w []uint64) bool {
	op := f.came.op()
	s.list = append(s.list[:0], s.lists[f.owes]...)
	added := s.kind[op] == models.Enqueue
	if s.kind[op] == models.Size && !s.size(f, f.adds+s.value[op]-f.inside()) {
		return false
	}
	if len(s.list) > 0 && s.list[0].at == f.adds {
		if s.in.res[f.in] <= s.list[0].after {
			s.blame(f.adds)
			return false
		}
		s.list = append(s.list[:0], s.list[1:]...)
	}
	if len(s.list) == 0 {
		f.owes = 0
		return true
	}
	placed, crashed := s.placed(f, w)
	kept := 0
	for i, o := range s.list {
		more := o.at - f.adds
		o.before = min(o.before, s.out.res[f.out])
		if !added {
			o.before = min(o.before, s.res[op])
		}
		if o.before != models.Open {
			o.before = s.nextAdd[o.before]
		}
		if o.before != models.Open && s.done[o.before]-placed >= more {
			o.before = models.Open // so many have to come before those anyway
		}
		o.after = s.lastDone[max(o.after, 0)]
		if o.after < s.in.res[f.in] || s.begun[o.after]-placed-crashed <= more {
			o.after = none // no more can come before those
		}
		if i == len(s.list)-1 || o.before != models.Open || o.after != none {
			s.list[kept] = o
			kept++
		}
	}
	s.list = s.list[:kept]
	if !slices.Equal(s.list, s.lists[f.owes]) {
		f.owes = s.number()
	}
	return s.fill(f, w)
}

// fill says whether there are enqueues for all that a configuration owes. There were before its
// last step. So there still are unless it was a size, or an enqueue that does not return
// first: where all that return before that one are picked, the same ones are picked as
// before.
func (s *sizes) fill(f *frame, w []uint64) bool {
	until := models.Open
	switch op := f.came.op(); s.kind[op] {
	case models.Size:
	case models.Enqueue:
		until = s.res[op]
	default:
		return true
	}
	failed := s.filler.fill(f, w, s.list, until)
	if failed == len(s.list) {
		return true
	}
	first, why := failed, s.list[:failed+1]
	for first > 0 && s.filler.fill(f, w, why[first:], models.Open) > failed-first {
		first--
	}
	for _, o := range why[first:] {
		s.blame(o.at)
	}
	return false
}

// blame notes that a configuration gets no further because of what it owes after so many
// enqueues.
func (s *sizes) blame(at int32) { s.why = append(s.why, at) }

// late says whether an enqueue was invoked too late to come next, and blames what says so.
func (s *sizes) late(f *frame, op int32) bool {
	list := s.lists[f.owes]
	if len(list) == 0 || s.inv[op] < list[0].before {
		return false
	}
	s.blame(list[0].at)
	return true
}

// blameList blames a list that is recorded with so many enqueues.
func (s *sizes) blameList(f *frame, list, adds int32) {
	for _, o := range s.lists[list] {
		s.blame(o.at + f.adds - adds)
	}
}

// blamed returns the number of the list of what a configuration owes and is a reason.
func (s *sizes) blamed(f *frame) int32 {
	s.list = s.list[:0]
	why := s.why[f.why:]
	slices.Sort(why)
	for _, o := range s.lists[f.owes] {
		if _, found := slices.BinarySearch(why, o.at); found {
			s.list = append(s.list, o)
		}
	}
	if len(s.list) == len(s.lists[f.owes]) {
		return f.owes
	}
	return s.number()
}

// passOn makes the reasons of the last frame reasons of the one before it, as far as that
// one owed them, too.
func (s *sizes) passOn(f, before *frame) {
	kept, list := f.why, s.lists[before.owes]
	for _, at := range s.why[f.why:] {
		_, owes := slices.BinarySearchFunc(list, at, func(o owed, at int32) int { return cmp.Compare(o.at, at) })
		if owes && !slices.Contains(s.why[before.why:kept], at) {
			s.why[kept] = at
			kept++
		}
	}
	s.why = s.why[:kept]
}

// includes says whether list a demands all that list b does. So many enqueues are linearized
// where they are owed.
func (s *sizes) includes(a, b, addsA, addsB int32) bool {
	if b == 0 || a == b && addsA == addsB {
		return true
	}
	list := s.lists[a]
	for _, o := range s.lists[b] {
		o.at += addsA - addsB
		for len(list) > 0 && list[0].at < o.at {
			list = list[1:]
		}
		if len(list) == 0 || list[0].at != o.at || list[0].before > o.before || list[0].after < o.after {
			return false
		}
	}
	return true
}

// placed returns how many enqueues are linearized that returned, and that crashed.
func (s *sizes) placed(f *frame, w []uint64) (returned, crashed int32) {
	returned = f.in
	for _, op := range s.in.at(f.in) {
		if fallback.HasBit(w, s.in.Slot[op]) {
			returned++
		}
	}
	for _, c := range s.adding {
		crashed += int32(s.counts.Of[c].Used(w))
	}
	return returned, crashed
}

// size adds a size that needs so many enqueues.
func (s *sizes) size(f *frame, at int32) bool {
	n := len(s.list)
	switch {
	case at < f.adds:
		return false
	case n > 0 && s.list[n-1].at > at:
		s.blame(s.list[n-1].at)
		return false
	case n > 0 && s.list[n-1].at == at:
		s.list[n-1].after = f.latest
	default:
		s.list = append(s.list, owed{at, models.Open, f.latest})
	}
	return true
}

// inside returns how many elements are known to be inside: the first one, or none.
func (f *frame) inside() int32 {
	if f.mode >= front {
		return 1
	}
	return 0
}

// number returns the number of the list.
func (s *sizes) number() int32 {
	if len(s.list) == 0 {
		return 0
	}
	if 2*len(s.lists) > len(s.numbers) {
		s.numbers = fallback.Doubled(s.numbers)
	}
	hash, mask := hashOf(s.list), uint32(len(s.numbers)-1)
	at := hash & mask
	for ; s.numbers[at] != 0; at = (at + 1) & mask {
		if n := int32(uint32(s.numbers[at])) - 1; uint32(s.numbers[at]>>32) == hash && slices.Equal(s.lists[n], s.list) {
			return n
		}
	}
	n := int32(len(s.lists))
	s.numbers[at] = uint64(hash)<<32 | uint64(n+1)
	s.lists = append(s.lists, slices.Clone(s.list))
	s.held += bytesPerList + 24*int64(len(s.list))
	return n
}

// hashOf returns a hash of a list.
func hashOf(list []owed) uint32 {
	h := uint64(len(list))
	for _, o := range list {
		h = (h ^ h>>29 ^ uint64(uint32(o.at)) ^ uint64(uint32(o.before))<<32) * odd
		h = (h ^ h>>29 ^ uint64(uint32(o.after))) * mixer
	}
	return uint32(h ^ h>>32)
}

// bytesPerList is about how many bytes a list takes besides its items.
const bytesPerList = 128

// filler finds enqueues that make sizes right, whatever their values are: at each place, the
// one that returns first among those that may stand there. If that fails, so does every other
// choice, since exchanging two enqueues such that the one that returns first comes first
// violates nothing.
type filler struct {
	*problem
	first  int32 // the place in the first order where it begins
	w      []uint64
	marks  []int32 // by operation: the round in which it was picked
	round  int32
	picked []int32
	work   int64 // how many were picked
}

// fill lists enqueues for all that is owed. It returns how much of the list it could fulfill.
// It takes the rest for fulfilled as soon as all enqueues that return before a time are picked
// or linearized.
func (x *filler) fill(f *frame, w []uint64, list []owed, until int32) int {
	place := f.in
	x.first, x.w, x.picked = place, w, x.picked[:0]
	x.round++
	for i, o := range list {
		for int(o.at-f.adds) > len(x.picked) {
			op := x.next(&place, o.before)
			switch {
			case x.in.res[place] > until:
				return len(list)
			case op == none:
				return i
			}
			x.marks[op] = x.round
			x.picked = append(x.picked, op)
			x.work++
		}
		if x.skip(&place); x.in.res[place] <= o.after {
			return i
		}
	}
	return len(list)
}

// placed says whether an enqueue that returned is linearized or picked.
func (x *filler) placed(op int32) bool {
	return x.marks[op] == x.round || x.inv[op] < x.in.res[x.first] && fallback.HasBit(x.w, x.in.Slot[op])
}

// skip goes to the next enqueue that is left.
func (x *filler) skip(place *int32) {
	for int(*place) < len(x.in.ops) && x.placed(x.in.ops[*place]) {
		*place++
	}
}

// next returns the enqueue that comes next and was invoked before a time, or none.
func (x *filler) next(place *int32, before int32) int32 {
	x.skip(place)
	for _, op := range x.in.at(*place) {
		if x.inv[op] < before && !x.placed(op) {
			return op
		}
	}
	for _, c := range x.adding {
		class := x.classes[c]
		for _, op := range class[x.counts.Of[c].Used(x.w):] {
			if x.inv[op] >= before {
				break
			}
			if x.marks[op] != x.round {
				return op
			}
		}
	}
	return none
}
