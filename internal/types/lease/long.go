package lease

import (
	"clew/internal/gen"
)

// longLease is a lease with some owners. A claim learns its epoch when it returns.
type longLease struct {
	*gen.LongHistory
	owner, epoch int // -1: no owner, no epoch
	owners       int
	steps        int
	first        gen.LongOp // the first operation of the bug
}

func newLongLease(l *gen.LongHistory) gen.LongObject {
	return &longLease{LongHistory: l, owner: -1, epoch: -1, owners: gen.UpTo(l.Values, 3)}
}

func (x *longLease) Read(*gen.LongThread) (gen.LongOp, bool) { return gen.LongOp{F: ":check"}, true }

// Change claims the lease, or lets its owner renew or release it.
func (x *longLease) Change(*gen.LongThread) gen.LongOp {
	n := x.Rand.IntN(4)
	if n < 2 || x.owner < 0 || x.owner >= x.owners {
		return gen.LongOp{F: ":claim", Changes: true, A: x.Rand.IntN(x.owners)}
	}
	return gen.LongOp{F: [...]string{2: ":renew", 3: ":release"}[n], Changes: true, A: x.owner, B: x.epoch}
}

// Bug claims the lease twice. The second claim has an epoch that is not greater, or
// comes before a check that sees the first.
func (x *longLease) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	o := gen.LongOp{F: ":claim", Changes: true, A: x.owners}
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":check", A: x.owners + 2, B: x.epoch + 1, Forced: true, Last: true}, true
	case x.steps == 1:
		return o, true
	case x.steps == 2:
		o.A++
		o.B = x.epoch + 1
		if o.Forced = x.Kind != gen.StaleRead; x.Kind == gen.Duplicate {
			o.B, o.Last = x.epoch, true
		}
		x.first = gen.LongOp{F: ":check", A: x.owner, B: x.epoch, Forced: true, Last: true}
		return o, true
	}
	return x.first, true
}

func (x *longLease) Apply(o *gen.LongOp) gen.Outcome {
	switch {
	case o.F == ":check":
		o.A, o.B = x.owner, x.epoch
		return gen.Done
	case o.F == ":claim":
		x.epoch++
		o.B = x.epoch
		x.owner = o.A
		return gen.Done
	case o.A != x.owner || o.B != x.epoch:
		return gen.Refused
	case o.F == ":release":
		x.owner = -1
	}
	return gen.Done
}

func (x *longLease) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	switch {
	case o.F == ":check" && (!returned || o.A < 0):
		return append(b, "nil"...)
	case o.F == ":claim" && !returned:
		return gen.AppendNumber(b, o.A)
	}
	b = append(gen.AppendNumber(append(b, '['), o.A), ' ')
	return append(gen.AppendNumber(b, o.B), ']')
}
