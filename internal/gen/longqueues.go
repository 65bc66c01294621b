package gen

import (
	"math/bits"
	"slices"
)

// longQueue stands for every container that hands out its elements. It stays short.
type longQueue struct {
	*long
	add, remove string
	java        bool
	next        func(x *longQueue) int // returns which element comes out
	now         []int
	shift       uint // of priorities, if every element has its own
	steps       int
}

func newLongQueue(l *long) longObject {
	x := &longQueue{long: l, add: ":enqueue", remove: ":dequeue", next: (*longQueue).oldest}
	switch l.Model {
	case "unordered-queue":
		x.next = (*longQueue).whichever
	case "stack":
		x.add, x.remove, x.next = ":push", ":pop", (*longQueue).newest
	case "priority-queue":
		x.add, x.remove, x.next = ":insert", ":poll", (*longQueue).greatest
		if l.Values == 0 {
			x.shift = 64 - uint(bits.Len(uint(2*l.Operations)))
			l.mark = 1 << (64 - x.shift)
		}
	case "java-queue":
		x.add, x.remove, x.java = ":offer", ":poll", true
	}
	return x
}

func (x *longQueue) oldest() int    { return 0 }
func (x *longQueue) newest() int    { return len(x.now) - 1 }
func (x *longQueue) whichever() int { return x.r.IntN(len(x.now)) }

func (x *longQueue) greatest() int {
	best := 0
	for i, e := range x.now {
		if e > x.now[best] {
			best = i
		}
	}
	return best
}

// element returns an element to add. Distinct priorities come in no order: they
// are the numbers from 0 on times an odd number, modulo a power of two.
func (x *longQueue) element() int {
	n := x.write()
	if x.shift > 0 {
		return int(uint64(n) * 0x9e3779b97f4a7c15 << x.shift >> x.shift)
	}
	return n
}

func (x *longQueue) change(*longThread) longOp {
	if short := 2 * x.Processes; x.r.IntN(len(x.now)+short) < short {
		return longOp{f: x.add, changes: true, a: x.element()}
	}
	return longOp{f: x.remove, changes: true}
}

// read is only for java-queue: the others have :peek, which bugs use.
func (x *longQueue) read(*longThread) (longOp, bool) {
	switch {
	case !x.java:
		return longOp{}, false
	case x.r.IntN(2) == 0:
		return longOp{f: ":size"}, true
	}
	return longOp{f: ":peek"}, true
}

// mayCrash returns false for operations that remove, before a bug that such a
// crash could explain.
func (x *longQueue) mayCrash(_ *longThread, o *longOp) bool {
	return o.f != x.remove || x.phase == after || x.Kind != LostWrite && x.Kind != Reordered && x.Kind != WrongEmpty
}

func (x *longQueue) bug(*longThread) (longOp, bool) {
	x.steps++
	add := func(value int, forced bool) (longOp, bool) {
		return longOp{f: x.add, changes: true, a: value, forced: forced}, true
	}
	wrong := longOp{f: x.remove, changes: true, a: x.mark, forced: true, last: true}
	switch {
	case x.Kind == WrongAnswer:
		wrong.forced = false
		return wrong, true
	case x.Kind == ImpossibleRead:
		wrong.a = x.mark + 2
		return wrong, true
	case x.Kind == LostWrite:
		return x.lose()
	case x.steps == 1:
		return add(x.mark, false)
	case x.Kind == WrongEmpty:
		wrong.a = -1
		return wrong, true
	case x.Kind == Reordered && x.steps == 2:
		return add(x.mark+1, false)
	case x.Kind == Reordered:
		return x.overtake()
	case slices.Contains(x.now, x.mark):
		return longOp{f: x.remove, changes: true}, true
	case x.Kind == StaleRead:
		wrong.f = ":peek"
	}
	return wrong, true
}

// lose adds an element that gets lost. What comes out next shows it: for a queue,
// what was added later; for a stack, what was added before; for others, nothing or
// something else.
func (x *longQueue) lose() (longOp, bool) {
	lost := longOp{f: x.add, changes: true, a: x.mark, forced: true}
	other := longOp{f: x.add, changes: true, a: x.mark + 1}
	fifo := x.java || x.Model == "fifo-queue"
	switch {
	case x.steps == 1 && x.Model == "stack":
		return other, true
	case x.steps == 1 || x.steps == 2 && x.Model == "stack":
		return lost, true
	case x.steps == 2 && fifo:
		return other, true
	}
	o := longOp{f: x.remove, changes: true, last: true}
	switch {
	case fifo:
		o.last = x.now[0] == x.mark+1
	case x.Model == "unordered-queue":
		o.last = len(x.now) == 0
	}
	return o, true
}

// overtake removes one of two marked elements, although the other comes before it.
// It leaves the element in place, since others may read meanwhile.
func (x *longQueue) overtake() (longOp, bool) {
	first := x.now[x.next(x)]
	o := longOp{f: x.remove, changes: true, forced: true, last: true}
	switch first {
	case x.mark:
		o.a = x.mark + 1
	case x.mark + 1:
		o.a = x.mark
	default:
		o.forced, o.last = false, false
	}
	return o, true
}

func (x *longQueue) apply(o *longOp) outcome {
	switch {
	case o.f == x.add:
		x.now = append(x.now, o.a)
		return done
	case o.f == ":size":
		o.a = len(x.now)
		return done
	case len(x.now) == 0:
		o.a = -1
		return done
	}
	i := x.next(x)
	o.a = x.now[i]
	switch {
	case o.f == ":peek":
	case i == 0:
		x.now = x.now[1:]
	default:
		x.now = slices.Delete(x.now, i, i+1)
	}
	return done
}

func (x *longQueue) value(b []byte, o *longOp, returned bool) []byte {
	switch {
	case o.f != x.add && !returned:
		return append(b, "nil"...)
	case x.java && o.f == x.add && returned:
		return append(b, "true"...)
	}
	return number(b, o.a)
}
