package lockstep

import (
	"encoding/binary"

	"clew/fallback"
	"clew/models"
)

// owed is what a size that is linearized says of enqueues that are not: that so many come
// before it, and all others come behind it.
type owed struct {
	more   int32 // enqueues; those up to the size before it count here, too
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

	lists   [][]owed
	numbers map[string]int32
	list    []owed // in the making
	key     []byte
	filler  filler
}

func newSizes(p *problem) *sizes {
	s := &sizes{problem: p, any: p.sizes, lists: make([][]owed, 1), numbers: map[string]int32{"": 0}, filler: filler{problem: p}}
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
	return s
}

// bytes returns about how much memory the lists hold.
func (s *sizes) bytes() int64 {
	return 4*int64(len(s.nextAdd)+len(s.lastDone)+len(s.filler.marks)) + int64(len(s.lists))*256
}

// owe updates what a configuration owes after a step. It returns false if no enqueues that
// are left can make the sizes right.
func (s *sizes) owe(f *frame, w []uint64) bool {
	op := f.came.op()
	s.list = append(s.list[:0], s.lists[f.owes]...)
	added := s.kind[op] == models.Enqueue
	switch {
	case added:
		for i := range s.list {
			s.list[i].more--
		}
	case s.kind[op] == models.Size && !s.size(f, s.value[op]-f.inside()):
		return false
	}
	if len(s.list) > 0 && s.list[0].more == 0 {
		if s.in.res[f.in] <= s.list[0].after {
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
		o.before = min(o.before, s.out.res[f.out])
		if !added {
			o.before = min(o.before, s.res[op])
		}
		if o.before != models.Open {
			o.before = s.nextAdd[o.before]
		}
		if o.before != models.Open && s.done[o.before]-placed >= o.more {
			o.before = models.Open // so many have to come before those anyway
		}
		o.after = s.lastDone[max(o.after, 0)]
		if o.after < s.in.res[f.in] || s.begun[o.after]-placed-crashed <= o.more {
			o.after = none // no more can come before those
		}
		if i == len(s.list)-1 || o.before != models.Open || o.after != none {
			s.list[kept] = o
			kept++
		}
	}
	s.list = s.list[:kept]
	f.owes = s.number()
	return s.filler.fill(f.in, w, s.list)
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

// size adds a size that needs so many more enqueues.
func (s *sizes) size(f *frame, more int32) bool {
	n := len(s.list)
	switch {
	case more < 0 || n > 0 && s.list[n-1].more > more:
		return false
	case n > 0 && s.list[n-1].more == more:
		s.list[n-1].after = f.latest
	default:
		s.list = append(s.list, owed{more, models.Open, f.latest})
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
	s.key = s.key[:0]
	for _, o := range s.list {
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(o.more))
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(o.before))
		s.key = binary.LittleEndian.AppendUint32(s.key, uint32(o.after))
	}
	n, ok := s.numbers[string(s.key)]
	if !ok {
		n = int32(len(s.lists))
		s.numbers[string(s.key)] = n
		s.lists = append(s.lists, append([]owed(nil), s.list...))
	}
	return n
}

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
}

// fill says whether there are enqueues for all that is owed, and lists them.
func (x *filler) fill(place int32, w []uint64, list []owed) bool {
	x.first, x.w, x.picked = place, w, x.picked[:0]
	x.round++
	for _, o := range list {
		for int(o.more) > len(x.picked) {
			op := x.next(&place, o.before)
			if op == none {
				return false
			}
			x.marks[op] = x.round
			x.picked = append(x.picked, op)
		}
		if x.skip(&place); x.in.res[place] <= o.after {
			return false
		}
	}
	return true
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
