package register

import (
	"clew/internal/gen"
)

// longRegister is register, cas-register and versioned-register.
type longRegister struct {
	*gen.LongHistory
	now, version   int
	cas, versioned bool
	told           int // the version of the marked value
	steps          int
}

func newLongRegister(l *gen.LongHistory) gen.LongObject {
	return &longRegister{LongHistory: l, now: -1, cas: l.Model != "register", versioned: l.Model == "versioned-register"}
}

func (x *longRegister) Read(*gen.LongThread) (gen.LongOp, bool) { return gen.LongOp{F: ":read"}, true }

func (x *longRegister) Change(*gen.LongThread) gen.LongOp {
	if !x.cas || x.Rand.IntN(2) == 0 {
		return gen.LongOp{F: ":write", Changes: true, A: x.Write()}
	}
	from := x.now
	if from < 0 || from >= x.Mark || x.Values > 0 && x.Rand.IntN(2) == 0 {
		from = x.Rand.IntN(max(x.Values, 1))
	}
	return gen.LongOp{F: ":cas", Changes: true, A: from, B: x.Write()}
}

func (x *longRegister) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	switch {
	case x.Kind == gen.WrongAnswer:
		return gen.LongOp{F: ":read", Last: true}, true
	case x.Kind == gen.ImpossibleRead:
		return gen.LongOp{F: ":read", A: x.Mark + 2, Key: x.version, Forced: true, Last: true}, true
	case x.steps == 1:
		x.told = x.version + 1
		return gen.LongOp{F: ":write", Changes: true, A: x.Mark}, true
	case x.steps == 2:
		return gen.LongOp{F: ":write", Changes: true, A: x.Mark + 1, Key: x.version + 1, Forced: x.Kind == gen.LostWrite}, true
	}
	return gen.LongOp{F: ":read", A: x.Mark, Key: x.told, Forced: true, Last: true}, true
}

func (x *longRegister) Apply(o *gen.LongOp) gen.Outcome {
	switch o.F {
	case ":read":
		o.A, o.Key = x.now, x.version
		return gen.Done
	case ":write":
		x.now = o.A
	default:
		if x.now != o.A {
			return gen.Refused
		}
		x.now = o.B
	}
	x.version++
	o.Key = x.version
	return gen.Done
}

func (x *longRegister) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	read := o.F == ":read" && !returned
	if x.versioned && !read {
		version := o.Key
		if !returned {
			version = -1
		}
		b = append(gen.AppendNumber(append(b, '['), version), ' ')
	}
	switch {
	case read:
		return append(b, "nil"...)
	case o.F == ":cas":
		b = append(gen.AppendNumber(append(b, '['), o.A), ' ')
		b = append(gen.AppendNumber(b, o.B), ']')
	default:
		b = gen.AppendNumber(b, o.A)
	}
	if x.versioned {
		b = append(b, ']')
	}
	return b
}
