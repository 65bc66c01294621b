package lock

import (
	"strings"

	"clew/internal/gen"
)

// longLock stands for every lock and semaphore. A process releases what it has
// acquired, and does not crash where that would leave the lock held. An acquire
// that crashes has no effect, and a release that crashes has its effect.
type longLock struct {
	*gen.LongHistory
	permits int // of all holders together
	most    int // of one holder
	fenced  bool
	fence   int   // the last one
	holds   []int // by thread
	total   int
	steps   int
	first   int // the thread that acquires the lock for the bug
}

func newLongLock(l *gen.LongHistory) gen.LongObject {
	x := &longLock{LongHistory: l, permits: 1, most: 1, fenced: strings.Contains(l.Model, "fenced"), holds: make([]int, l.Clients)}
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

func (x *longLock) Change(t *gen.LongThread) gen.LongOp {
	o := gen.LongOp{F: ":acquire", Changes: true, Key: t.Number}
	if n := x.holds[t.Number]; n == x.most || n > 0 && x.Rand.IntN(2) == 0 {
		o.F = ":release"
	}
	return o
}

// Read releases what is held before a bug.
func (x *longLock) Read(t *gen.LongThread) (gen.LongOp, bool) {
	return gen.LongOp{F: ":release", Changes: true, Key: t.Number}, x.Phase == gen.Draining && x.holds[t.Number] > 0
}

func (x *longLock) Rests() bool { return x.total == 0 }

func (x *longLock) MayCrash(t *gen.LongThread, o *gen.LongOp) bool {
	return (x.holds[t.Number] == 1) == (o.F == ":release") && x.holds[t.Number] <= 1
}

func (x *longLock) Ghost(o *gen.LongOp) gen.Haunting {
	if o.F == ":release" {
		return gen.Surely
	}
	return gen.Never
}

// Bug acquires the lock, or all permits, and then acquires it once more. Or
// another process releases it, or it is released, and the next holder gets the
// same fence.
func (x *longLock) Bug(t *gen.LongThread) (gen.LongOp, bool) {
	o := gen.LongOp{F: ":acquire", Changes: true, Key: t.Number}
	held, mine := x.permits, x.steps == 0 || x.first == t.Number
	if x.Kind != gen.TwoHolders {
		held = 1
	}
	switch {
	case x.steps < held:
		if x.permits == 1 || x.steps == 0 {
			x.first = t.Number
		}
	case x.Kind == gen.Duplicate && x.steps == held:
		if !mine {
			return o, false
		}
		o.F = ":release"
	default:
		if mine && x.Kind != gen.Duplicate && !x.anyones() {
			return o, false
		}
		if x.Kind == gen.ForeignRelease {
			o.F = ":release"
		}
		o.A, o.Forced, o.Last = x.fence, true, true
		if x.Kind == gen.TwoHolders {
			o.A++
		}
	}
	x.steps++
	return o, true
}

// anyones says whether the lock does not know owners.
func (x *longLock) anyones() bool { return x.Model == "mutex" || x.Model == "semaphore" }

func (x *longLock) Apply(o *gen.LongOp) gen.Outcome {
	if o.F == ":release" {
		x.holds[o.Key]--
		x.total--
		return gen.Done
	}
	if !x.free(o.Key) {
		return gen.Blocked
	}
	if x.total == 0 {
		x.fence++
	}
	o.A = x.fence
	x.holds[o.Key]++
	x.total++
	return gen.Done
}

func (x *longLock) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	if !x.fenced || !returned || o.F == ":release" {
		return append(b, "nil"...)
	}
	return append(gen.AppendNumber(append(b, "{:fence "...), o.A), '}')
}
