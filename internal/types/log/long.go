package log

import (
	"clew/internal/gen"
)

// longLog is a log. Appends tell their offsets if each has a value of its own.
// Appends of a bug always do.
type longLog struct {
	*gen.LongHistory
	now   []int
	steps int
}

func newLongLog(l *gen.LongHistory) gen.LongObject { return &longLog{LongHistory: l} }

func (x *longLog) Change(*gen.LongThread) gen.LongOp {
	return gen.LongOp{F: ":append", Changes: true, A: x.Write(), Ok: x.Values == 0}
}

func (x *longLog) Read(*gen.LongThread) (gen.LongOp, bool) {
	if x.Rand.IntN(2) == 0 {
		return gen.LongOp{F: ":tail"}, true
	}
	return gen.LongOp{F: ":read-at", Key: x.Rand.IntN(len(x.now) + 1)}, true
}

// Bug appends a value and does not find it at its offset, or appends another one there.
func (x *longLog) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	more := gen.LongOp{F: ":append", Changes: true, A: x.Mark, Key: len(x.now), Ok: true}
	wrong := gen.LongOp{F: ":read-at", Key: len(x.now) - 1, A: -1, Forced: true, Last: true}
	switch {
	case x.Kind == gen.ImpossibleRead:
		wrong.Key, wrong.A = x.Rand.IntN(len(x.now)+1), x.Mark+2
	case x.steps == 1:
		more.Forced = x.Kind == gen.LostWrite
		return more, true
	case x.Kind == gen.Duplicate:
		more.A, more.Key, more.Forced, more.Last = x.Mark+1, len(x.now)-1, true, true
		return more, true
	case x.Kind == gen.LostWrite:
		wrong.Key = len(x.now)
	}
	return wrong, true
}

func (x *longLog) Apply(o *gen.LongOp) gen.Outcome {
	switch {
	case o.Changes:
		o.Key = len(x.now)
		x.now = append(x.now, o.A)
	case o.F == ":tail":
		o.A = len(x.now)
	case o.Key < len(x.now):
		o.A = x.now[o.Key]
	default:
		o.A = -1
	}
	return gen.Done
}

func (x *longLog) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	switch {
	case o.Changes && returned && o.Ok:
		return append(gen.AppendNumber(append(b, "{:offset "...), o.Key), '}')
	case o.Changes && returned:
		return append(b, "nil"...)
	case o.Changes || returned:
		return gen.AppendNumber(b, o.A)
	case o.F == ":tail":
		return gen.AppendNumber(b, -1)
	}
	return gen.AppendNumber(b, o.Key)
}
