package set

import (
	"clew/internal/gen"
)

// longMembers is a set of numbers from 0 on.
type longMembers []uint64

func (m longMembers) has(n int) bool { return n>>6 < len(m) && m[n>>6]>>(n&63)&1 == 1 }

func (m *longMembers) put(n int, in bool) {
	for n>>6 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[n>>6] &^= 1 << (n & 63)
	if in {
		(*m)[n>>6] |= 1 << (n & 63)
	}
}

// longSet is set. It prints the whole set, so it reads only as often as the
// bytes of the other operations allow.
type longSet struct {
	*gen.LongHistory
	in    longMembers
	now   []int
	spent int // on reads, in elements
	steps int
}

func newLongSet(l *gen.LongHistory) gen.LongObject { return &longSet{LongHistory: l} }

func (x *longSet) Read(*gen.LongThread) (gen.LongOp, bool) {
	if x.spent+len(x.now) > gen.LongElements*(x.Started+1) {
		return gen.LongOp{}, false
	}
	x.spent += len(x.now)
	return gen.LongOp{F: ":read"}, true
}

func (x *longSet) Change(*gen.LongThread) gen.LongOp {
	return gen.LongOp{F: ":add", Changes: true, A: x.Write()}
}

// Bug reads the set without the last added element, whether that is in the set
// or lost. Or it reads the set with an element that is not in it.
func (x *longSet) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":read", A: len(x.now), Ok: true, Forced: true, Last: true}, true
	case x.steps == 1:
		return gen.LongOp{F: ":add", Changes: true, A: x.Mark, Forced: x.Kind == gen.LostWrite}, true
	case x.Kind == gen.LostWrite:
		return gen.LongOp{F: ":read", Last: true}, true
	}
	return gen.LongOp{F: ":read", A: len(x.now) - 1, Forced: true, Last: true}, true
}

func (x *longSet) Apply(o *gen.LongOp) gen.Outcome {
	switch {
	case !o.Changes:
		o.A = len(x.now)
	case !x.in.has(o.A):
		x.in.put(o.A, true)
		x.now = append(x.now, o.A)
	}
	return gen.Done
}

func (x *longSet) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	switch {
	case o.Changes:
		return gen.AppendNumber(b, o.A)
	case !returned:
		return gen.AppendNumber(b, -1)
	}
	b = append(b, "#{"...)
	for i, e := range x.now[:o.A] {
		if i > 0 {
			b = append(b, ' ')
		}
		b = gen.AppendNumber(b, e)
	}
	if o.Ok {
		b = append(b, ' ')
		b = gen.AppendNumber(b, x.Mark+2)
	}
	return append(b, '}')
}

// longLookup is lookup-set.
type longLookup struct {
	*gen.LongHistory
	in    longMembers
	steps int
}

func newLongLookup(l *gen.LongHistory) gen.LongObject { return &longLookup{LongHistory: l} }

func (x *longLookup) Read(*gen.LongThread) (gen.LongOp, bool) {
	return gen.LongOp{F: ":contains", A: x.known()}, true
}

func (x *longLookup) Change(*gen.LongThread) gen.LongOp {
	if x.Rand.IntN(2) == 0 {
		return gen.LongOp{F: ":insert", Changes: true, A: x.Write()}
	}
	return gen.LongOp{F: ":remove", Changes: true, A: x.known()}
}

// known returns any element, or one of the last.
func (x *longLookup) known() int {
	if x.Values > 0 {
		return x.Write()
	}
	return max(0, x.Fresh-1-x.Rand.IntN(2*x.Processes))
}

func (x *longLookup) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	switch {
	case x.Kind == gen.ImpossibleRead && x.steps == 1: // so that it was not there initially either
		return gen.LongOp{F: ":contains", A: x.Mark + 2}, true
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":contains", A: x.Mark + 2, Ok: true, Forced: true, Last: true}, true
	case x.steps == 1:
		return gen.LongOp{F: ":insert", Changes: true, A: x.Mark}, true
	case x.Kind == gen.Duplicate:
		return gen.LongOp{F: ":insert", Changes: true, A: x.Mark, Ok: true, Forced: true, Last: true}, true
	case x.steps == 2:
		return gen.LongOp{F: ":remove", Changes: true, A: x.Mark, Ok: true, Forced: x.Kind == gen.LostWrite}, true
	}
	return gen.LongOp{F: ":contains", A: x.Mark, Ok: true, Forced: true, Last: true}, true
}

func (x *longLookup) Apply(o *gen.LongOp) gen.Outcome {
	was := x.in.has(o.A)
	if o.Ok = was; o.F == ":insert" {
		o.Ok = !was
	}
	if o.Changes {
		x.in.put(o.A, o.F == ":insert")
	}
	return gen.Done
}

func (x *longLookup) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	if !returned {
		return gen.AppendNumber(b, o.A)
	}
	b = gen.AppendNumber(append(b, '['), o.A)
	if o.Ok {
		return append(b, " true]"...)
	}
	return append(b, " false]"...)
}
