package multiregister

import (
	"slices"

	"clew/internal/gen"
)

// longRegisters is multi-register. A transaction writes or reads a key, and may
// read another one.
type longRegisters struct {
	*gen.LongHistory
	now   []int
	steps int
}

func newLongRegisters(l *gen.LongHistory) gen.LongObject {
	return &longRegisters{LongHistory: l, now: slices.Repeat([]int{-1}, l.Keys)}
}

func (x *longRegisters) Read(*gen.LongThread) (gen.LongOp, bool) {
	o := gen.LongOp{F: ":txn", Key: x.Rand.IntN(x.Keys), Two: x.Rand.IntN(x.Keys)}
	if x.Rand.IntN(2) == 0 {
		o.Two = -1
	}
	return o, true
}

func (x *longRegisters) Change(t *gen.LongThread) gen.LongOp {
	o, _ := x.Read(t)
	o.Changes, o.A = true, x.Write()
	return o
}

// Bug writes one key, or both if the read is to be torn.
func (x *longRegisters) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	o := gen.LongOp{F: ":txn", Changes: true, Two: -1, Ok: x.Kind == gen.TornRead}
	if o.Ok {
		o.Two = x.Keys - 1
	}
	switch {
	case x.Kind == gen.WrongAnswer:
		return gen.LongOp{F: ":txn", Two: -1, Last: true}, true
	case x.Kind == gen.ImpossibleRead:
		o.A = x.Mark + 2
	case x.steps == 1:
		o.A, o.B = x.Mark, x.Mark
		return o, true
	case x.steps == 2:
		o.A, o.B, o.Forced = x.Mark+1, x.Mark+1, x.Kind == gen.LostWrite
		return o, true
	case x.Kind == gen.TornRead:
		o.A, o.B = x.Mark+1, x.Mark
	default:
		o.A = x.Mark
	}
	o.Changes, o.Ok, o.Forced, o.Last = false, false, true, true
	return o, true
}

func (x *longRegisters) Apply(o *gen.LongOp) gen.Outcome {
	if o.Changes {
		x.now[o.Key] = o.A
	} else {
		o.A = x.now[o.Key]
	}
	switch {
	case o.Ok:
		x.now[o.Two] = o.B
	case o.Two >= 0:
		o.B = x.now[o.Two]
	}
	return gen.Done
}

func (x *longRegisters) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	b = x.micro(append(b, '['), o.Changes, o.Key, o.A, returned)
	if o.Two >= 0 {
		b = x.micro(append(b, ' '), o.Ok, o.Two, o.B, returned)
	}
	return append(b, ']')
}

// micro prints a part of a transaction.
func (x *longRegisters) micro(b []byte, writes bool, key, value int, returned bool) []byte {
	name := "[:read "
	switch {
	case writes:
		name = "[:write "
	case !returned:
		value = -1
	}
	b = append(gen.AppendNumber(append(b, name...), key), ' ')
	return append(gen.AppendNumber(b, value), ']')
}
