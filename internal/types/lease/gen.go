package lease

import (
	"clew/internal/gen"
)

// object is a lease with some owners in generated histories. An operation has its owner in A
// and its epoch in B; with Ok its invocation says the epoch. A claim that does not learns its
// epoch when it returns.
type object struct {
	*gen.Maker
	owner, epoch int // -1: no owner, no epoch
	owners       int
	first        gen.Op // the check of a bug
}

// ownerValues are owners in small histories.
var ownerValues = gen.Values{{"1"}, {":b"}, {`"c"`}, {"7"}}

func newObject(m *gen.Maker) gen.Object {
	return &object{Maker: m, owner: -1, epoch: -1, owners: gen.UpTo(m.Values, 3)}
}

func (x *object) Read(*gen.Thread) gen.Op { return gen.Op{F: ":check"} }

// Change claims the lease, or lets its owner renew or release it.
func (x *object) Change(*gen.Thread) gen.Op {
	n := x.Rand.IntN(4)
	o := gen.Op{F: [...]string{":claim", ":claim", ":renew", ":release"}[n], Changes: true, A: x.owner, B: x.epoch, Ok: true}
	switch {
	case n < 2, !x.Small && (x.owner < 0 || x.owner >= x.owners):
		o = gen.Op{F: ":claim", Changes: true, A: x.Rand.IntN(x.owners)}
		if x.Small {
			o.B, o.Ok = x.epoch+1+x.Rand.IntN(2), x.Chance(0.5)
		}
	case x.Small:
		if x.owner < 0 || x.Chance(0.3) {
			o.A = x.Rand.IntN(x.owners)
		}
		o.Ok = x.epoch >= 0 && x.Chance(0.7)
	}
	return o
}

// Bug claims the lease twice. The second claim has an epoch that is not greater, or
// comes before a check that sees the first.
func (x *object) Bug(*gen.Thread) gen.Op {
	o := gen.Op{F: ":claim", Changes: true, A: x.owners}
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.Wrong(gen.Op{F: ":check", A: x.owners + 2, B: x.epoch + 1})
	case x.Step == 0:
		return o
	case x.Step == 1:
		o.A++
		o.B = x.epoch + 1
		if o.Forced = x.Kind != gen.StaleRead; x.Kind == gen.Duplicate {
			o.B, o.Last = x.epoch, true
		}
		x.first = gen.Wrong(gen.Op{F: ":check", A: x.owner, B: x.epoch})
		return o
	}
	return x.first
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	if o.F == ":check" {
		o.A, o.B = x.owner, x.epoch
		return gen.Done
	}
	if !o.Ok {
		o.B = x.epoch
		if o.F == ":claim" {
			o.B++
		}
	}
	if o.F == ":claim" && o.B <= x.epoch || o.F != ":claim" && (o.A != x.owner || o.B != x.epoch) {
		return gen.Refused
	}
	if x.owner, x.epoch = o.A, o.B; o.F == ":release" {
		x.owner = -1
	}
	return gen.Done
}

// Err does not contradict what an invocation says.
func (x *object) Err(o *gen.Op) {
	if o.F == ":check" {
		o.A = x.Rand.IntN(x.owners+1) - 1
	}
	if !o.Ok {
		o.B = max(0, x.epoch+x.Rand.IntN(3)-1)
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case o.F == ":check" && (!returned || o.A < 0 && !x.Small):
		return append(b, "nil"...)
	case !returned && !o.Ok, x.Small && (o.B < 0 || returned && x.Chance(0.5)):
		return x.Print(b, o.A)
	case x.Small && x.Chance(0.3):
		b = x.Print(append(b, "{:owner "...), o.A)
		return append(x.Int(append(b, ", :epoch "...), o.B), '}')
	}
	b = append(x.Print(append(b, '['), o.A), ' ')
	return append(x.Int(b, o.B), ']')
}
