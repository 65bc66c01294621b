package gen

import (
	"strings"
)

// longLock stands for every lock and semaphore. A process releases what it has
// acquired, and does not crash where that would leave the lock held. An acquire
// that crashes has no effect, and a release that crashes has its effect.
type longLock struct {
	*long
	permits int // of all holders together
	most    int // of one holder
	fenced  bool
	fence   int   // the last one
	holds   []int // by thread
	total   int
	steps   int
	first   int // the thread that acquires the lock for the bug
}

func newLongLock(l *long) longObject {
	x := &longLock{long: l, permits: 1, most: 1, fenced: strings.Contains(l.Model, "fenced"), holds: make([]int, l.processes)}
	switch {
	case l.Model == "semaphore" || l.Model == "owner-semaphore":
		x.permits = l.Permits
		x.most = min(2, l.Permits)
	case strings.HasPrefix(l.Model, "reentrant"):
		x.most = 2
	}
	return x
}

// free says whether a thread may acquire the lock.
func (x *longLock) free(thread int) bool {
	if x.permits > 1 {
		return x.total < x.permits
	}
	return x.total == x.holds[thread] && x.holds[thread] < x.most
}

func (x *longLock) change(t *longThread) longOp {
	o := longOp{f: ":acquire", changes: true, key: t.number}
	if n := x.holds[t.number]; n == x.most || n > 0 && x.r.IntN(2) == 0 {
		o.f = ":release"
	}
	return o
}

// read releases what is held before a bug.
func (x *longLock) read(t *longThread) (longOp, bool) {
	return longOp{f: ":release", changes: true, key: t.number}, x.phase == draining && x.holds[t.number] > 0
}

func (x *longLock) rests() bool { return x.total == 0 }

func (x *longLock) mayCrash(t *longThread, o *longOp) bool {
	return (x.holds[t.number] == 1) == (o.f == ":release") && x.holds[t.number] <= 1
}

func (x *longLock) ghost(o *longOp) haunting {
	if o.f == ":release" {
		return surely
	}
	return never
}

// bug acquires the lock, or all permits, and then acquires it once more. Or
// another process releases it, or it is released, and the next holder gets the
// same fence.
func (x *longLock) bug(t *longThread) (longOp, bool) {
	o := longOp{f: ":acquire", changes: true, key: t.number}
	held, mine := x.permits, x.steps == 0 || x.first == t.number
	if x.Kind != TwoHolders {
		held = 1
	}
	switch {
	case x.steps < held:
		if x.permits == 1 || x.steps == 0 {
			x.first = t.number
		}
	case x.Kind == Duplicate && x.steps == held:
		if !mine {
			return o, false
		}
		o.f = ":release"
	default:
		if mine && x.Kind != Duplicate && !x.anyones() {
			return o, false
		}
		if x.Kind == ForeignRelease {
			o.f = ":release"
		}
		o.a, o.forced, o.last = x.fence, true, true
		if x.Kind == TwoHolders {
			o.a++
		}
	}
	x.steps++
	return o, true
}

// anyones says whether the lock does not know owners.
func (x *longLock) anyones() bool { return x.Model == "mutex" || x.Model == "semaphore" }

func (x *longLock) apply(o *longOp) outcome {
	if o.f == ":release" {
		x.holds[o.key]--
		x.total--
		return done
	}
	if !x.free(o.key) {
		return blocked
	}
	if x.total == 0 {
		x.fence++
	}
	o.a = x.fence
	x.holds[o.key]++
	x.total++
	return done
}

func (x *longLock) value(b []byte, o *longOp, returned bool) []byte {
	if !x.fenced || !returned || o.f == ":release" {
		return append(b, "nil"...)
	}
	return append(number(append(b, "{:fence "...), o.a), '}')
}
