package queue

import (
	"math/bits"
	"slices"

	"clew/internal/gen"
)

// Order says which element comes out of a container.
type Order int

// The orders.
const (
	Oldest Order = iota
	Newest
	Whichever
	Greatest
)

// longQueue stands for every container that hands out its elements. It stays short.
type longQueue struct {
	*gen.LongHistory
	add, remove string
	order       Order
	java        bool // it says whether it has added an element, and nil if it is empty
	now         []int
	shift       uint // of priorities, if every element has its own
	steps       int
}

// LongQueue makes containers with these names of operations.
func LongQueue(add, remove string, order Order, java bool) func(*gen.LongHistory) gen.LongObject {
	return func(l *gen.LongHistory) gen.LongObject {
		x := &longQueue{LongHistory: l, add: add, remove: remove, order: order, java: java}
		if order == Greatest && l.Values == 0 {
			x.shift = 64 - uint(bits.Len(uint(2*l.Operations)))
			l.Mark = 1 << (64 - x.shift)
		}
		return x
	}
}

// next returns the place of the element that comes out.
func (x *longQueue) next() int {
	switch x.order {
	case Newest:
		return len(x.now) - 1
	case Whichever:
		return x.Rand.IntN(len(x.now))
	case Greatest:
		best := 0
		for i, e := range x.now {
			if e > x.now[best] {
				best = i
			}
		}
		return best
	}
	return 0
}

// element returns an element to add. Distinct priorities come in no order: they
// are the numbers from 0 on times an odd number, modulo a power of two.
func (x *longQueue) element() int {
	n := x.Write()
	if x.shift > 0 {
		return int(uint64(n) * 0x9e3779b97f4a7c15 << x.shift >> x.shift)
	}
	return n
}

func (x *longQueue) Change(*gen.LongThread) gen.LongOp {
	if short := 2 * x.Processes; x.Rand.IntN(len(x.now)+short) < short {
		return gen.LongOp{F: x.add, Changes: true, A: x.element()}
	}
	return gen.LongOp{F: x.remove, Changes: true}
}

// Read is only for java-queue: the others have :peek, which bugs use.
func (x *longQueue) Read(*gen.LongThread) (gen.LongOp, bool) {
	switch {
	case !x.java:
		return gen.LongOp{}, false
	case x.Rand.IntN(2) == 0:
		return gen.LongOp{F: ":size"}, true
	}
	return gen.LongOp{F: ":peek"}, true
}

// MayCrash returns false for operations that remove, before a bug that such a
// crash could explain.
func (x *longQueue) MayCrash(_ *gen.LongThread, o *gen.LongOp) bool {
	return o.F != x.remove || x.Phase == gen.After || x.Kind != gen.LostWrite && x.Kind != gen.Reordered && x.Kind != gen.WrongEmpty
}

func (x *longQueue) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	add := func(value int, forced bool) (gen.LongOp, bool) {
		return gen.LongOp{F: x.add, Changes: true, A: value, Forced: forced}, true
	}
	wrong := gen.LongOp{F: x.remove, Changes: true, A: x.Mark, Forced: true, Last: true}
	switch {
	case x.Kind == gen.WrongAnswer:
		wrong.Forced = false
		return wrong, true
	case x.Kind == gen.ImpossibleRead:
		wrong.A = x.Mark + 2
		return wrong, true
	case x.Kind == gen.LostWrite:
		return x.lose()
	case x.steps == 1:
		return add(x.Mark, false)
	case x.Kind == gen.WrongEmpty:
		wrong.A = -1
		return wrong, true
	case x.Kind == gen.Reordered && x.steps == 2:
		return add(x.Mark+1, false)
	case x.Kind == gen.Reordered:
		return x.overtake()
	case slices.Contains(x.now, x.Mark):
		return gen.LongOp{F: x.remove, Changes: true}, true
	case x.Kind == gen.StaleRead:
		wrong.F = ":peek"
	}
	return wrong, true
}

// lose adds an element that gets lost. What comes out next shows it: for a queue,
// what was added later; for a stack, what was added before; for others, nothing or
// something else.
func (x *longQueue) lose() (gen.LongOp, bool) {
	lost := gen.LongOp{F: x.add, Changes: true, A: x.Mark, Forced: true}
	other := gen.LongOp{F: x.add, Changes: true, A: x.Mark + 1}
	fifo := x.order == Oldest
	switch {
	case x.steps == 1 && x.order == Newest:
		return other, true
	case x.steps == 1 || x.steps == 2 && x.order == Newest:
		return lost, true
	case x.steps == 2 && fifo:
		return other, true
	}
	o := gen.LongOp{F: x.remove, Changes: true, Last: true}
	switch {
	case fifo:
		o.Last = x.now[0] == x.Mark+1
	case x.order == Whichever:
		o.Last = len(x.now) == 0
	}
	return o, true
}

// overtake removes one of two marked elements, although the other comes before it.
// It leaves the element in place, since others may read meanwhile.
func (x *longQueue) overtake() (gen.LongOp, bool) {
	first := x.now[x.next()]
	o := gen.LongOp{F: x.remove, Changes: true, Forced: true, Last: true}
	switch first {
	case x.Mark:
		o.A = x.Mark + 1
	case x.Mark + 1:
		o.A = x.Mark
	default:
		o.Forced, o.Last = false, false
	}
	return o, true
}

func (x *longQueue) Apply(o *gen.LongOp) gen.Outcome {
	switch {
	case o.F == x.add:
		x.now = append(x.now, o.A)
		return gen.Done
	case o.F == ":size":
		o.A = len(x.now)
		return gen.Done
	case len(x.now) == 0:
		o.A = -1
		return gen.Done
	}
	i := x.next()
	o.A = x.now[i]
	switch {
	case o.F == ":peek":
	case i == 0:
		x.now = x.now[1:]
	default:
		x.now = slices.Delete(x.now, i, i+1)
	}
	return gen.Done
}

func (x *longQueue) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	switch {
	case o.F != x.add && !returned:
		return append(b, "nil"...)
	case x.java && o.F == x.add && returned:
		return append(b, "true"...)
	}
	return gen.AppendNumber(b, o.A)
}
