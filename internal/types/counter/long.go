package counter

import (
	"strconv"

	"clew/internal/gen"
)

// longCounter is a counter. Operations add 1, or one of a few numbers.
type longCounter struct {
	*gen.LongHistory
	now  int
	sure int // the sum of adds that do not crash
	step int
}

func newLongCounter(l *gen.LongHistory) gen.LongObject { return &longCounter{LongHistory: l} }

func (x *longCounter) Read(*gen.LongThread) (gen.LongOp, bool) { return gen.LongOp{F: ":read"}, true }

func (x *longCounter) Change(*gen.LongThread) gen.LongOp {
	o := gen.LongOp{F: ":add", Changes: true, A: 1}
	if x.Values > 1 {
		o.A += x.Rand.IntN(x.Values)
	}
	return o
}

// Ghost returns never before a lost write, since a crashed add would make up for it.
func (x *longCounter) Ghost(*gen.LongOp) gen.Haunting {
	if x.Kind == gen.LostWrite && x.Phase != gen.After {
		return gen.Never
	}
	return gen.Perhaps
}

// Bug reads less than the sum of all completed adds, or more than the sum of all adds.
func (x *longCounter) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.step++
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":read", A: (2*x.Operations + x.Processes) * max(x.Values, 1), Forced: true, Last: true}, true
	case x.step == 1:
		return gen.LongOp{F: ":add", Changes: true, A: 1, Forced: x.Kind == gen.LostWrite}, true
	case x.Kind == gen.LostWrite:
		return gen.LongOp{F: ":read", Last: true}, true
	}
	return gen.LongOp{F: ":read", A: x.sure - 1, Forced: true, Last: true}, true
}

func (x *longCounter) Apply(o *gen.LongOp) gen.Outcome {
	if !o.Changes {
		o.A = x.now
		return gen.Done
	}
	x.now += o.A
	if !o.Crashes {
		x.sure += o.A
	}
	return gen.Done
}

func (x *longCounter) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	if !o.Changes && !returned {
		return gen.AppendNumber(b, -1)
	}
	return gen.AppendNumber(b, o.A)
}

// longCount is counting-semaphore. Only increments crash, so the count is never less than it
// would be without them.
type longCount struct {
	*gen.LongHistory
	now, steps int
}

func newLongCount(l *gen.LongHistory) gen.LongObject { return &longCount{LongHistory: l} }

func (x *longCount) Change(*gen.LongThread) gen.LongOp {
	return gen.LongOp{F: [...]string{":incr", ":decr"}[x.Rand.IntN(2)], Changes: true}
}

func (x *longCount) MayCrash(_ *gen.LongThread, o *gen.LongOp) bool { return o.F == ":incr" }

// Bug increments, and finds that the count is 0.
func (x *longCount) Bug(*gen.LongThread) (gen.LongOp, bool) {
	if x.steps++; x.steps == 1 {
		return gen.LongOp{F: ":incr", Changes: true, Forced: true, Ok: true}, true
	}
	return gen.LongOp{F: ":decr", Changes: true, Forced: true, Last: true}, true
}

func (x *longCount) Apply(o *gen.LongOp) gen.Outcome {
	switch {
	case o.F == ":incr":
		x.now++
	case x.now == 0:
		return gen.Done
	default:
		x.now--
	}
	o.Ok = true
	return gen.Done
}

func (x *longCount) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	if !returned {
		return append(b, "nil"...)
	}
	return strconv.AppendBool(b, o.Ok)
}
