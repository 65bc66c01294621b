package idgenerator

import (
	"clew/internal/gen"
)

// longIDs is id-generator.
type longIDs struct {
	*gen.LongHistory
	now, steps int
}

func newLongIDs(l *gen.LongHistory) gen.LongObject { return &longIDs{LongHistory: l} }

func (x *longIDs) Change(*gen.LongThread) gen.LongOp {
	return gen.LongOp{F: ":generate", Changes: true}
}

func (x *longIDs) Bug(t *gen.LongThread) (gen.LongOp, bool) {
	o := x.Change(t)
	if x.steps++; x.steps > 1 {
		o.A, o.Forced, o.Last = x.now, true, true
	}
	return o, true
}

func (x *longIDs) Apply(o *gen.LongOp) gen.Outcome {
	x.now++
	o.A = x.now
	return gen.Done
}

func (x *longIDs) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	if !returned {
		return gen.AppendNumber(b, -1)
	}
	return gen.AppendNumber(b, o.A)
}
