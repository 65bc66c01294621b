package log

import (
	"slices"

	"clew/internal/gen"
)

// object is a log in generated histories. With Ok, appends return their offsets, which are in
// Key: in long histories if each has a value of its own, and always those of a bug. In some
// small histories all appends return them, in others some do, and in others none. The last may
// repeat what they append. Two is one more than the offset that an append requires.
type object struct {
	*gen.Maker
	now    []int
	tells  float64 // the rate of offsets in small histories
	unique bool    // every value is appended once
}

func newObject(m *gen.Maker) gen.Object {
	x := &object{Maker: m}
	if m.Small {
		x.tells, x.unique = [...]float64{0, 0.5, 1, 1}[m.Rand.IntN(4)], m.Chance(0.6)
	}
	return x
}

func (x *object) Change(*gen.Thread) gen.Op {
	o := gen.Op{F: ":append", Changes: true}
	if !x.Small {
		o.A, o.Ok = x.Write(), x.Values == 0
		return o
	}
	if o.A, o.Ok = x.Write(), x.Chance(x.tells); x.unique {
		x.Fresh++
		o.A = 100 + x.Fresh
	}
	if x.Chance(0.15) {
		o.Two = 1 + max(0, len(x.now)+x.Rand.IntN(3)-1)
	}
	return o
}

func (x *object) Read(*gen.Thread) gen.Op {
	switch {
	case x.Small && x.Chance(0.4):
		return gen.Op{F: ":read"}
	case x.Rand.IntN(2) == 0:
		return gen.Op{F: ":tail"}
	}
	most := len(x.now)
	if x.Small {
		most++
	}
	return gen.Op{F: ":read-at", Key: x.Rand.IntN(most + 1)}
}

func (x *object) Start(b []byte) []byte {
	x.now = x.Some()
	return append(x.Items(append(b, '['), x.now), ']')
}

// Bug appends a value and does not find it at its offset, or appends another one there.
func (x *object) Bug(*gen.Thread) gen.Op {
	more := gen.Op{F: ":append", Changes: true, A: x.Mark, Key: len(x.now), Ok: true}
	wrong := gen.Op{F: ":read-at", Key: len(x.now) - 1, A: -1}
	switch {
	case x.Kind == gen.ImpossibleRead:
		wrong.Key, wrong.A = x.Rand.IntN(len(x.now)+1), x.Mark+2
	case x.Step == 0:
		more.Forced = x.Kind == gen.LostWrite
		return more
	case x.Kind == gen.Duplicate:
		more.A, more.Key = x.Mark+1, len(x.now)-1
		return gen.Wrong(more)
	case x.Kind == gen.LostWrite:
		wrong.Key = len(x.now)
	}
	return gen.Wrong(wrong)
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	switch {
	case o.Changes && o.Two > 0 && o.Two-1 != len(x.now):
		return gen.Refused
	case o.Changes:
		o.Key = len(x.now)
		x.now = append(x.now, o.A)
	case o.F == ":tail":
		o.A = len(x.now)
	case o.F == ":read":
		o.List = slices.Clone(x.now)
	case o.Key < len(x.now):
		o.A = x.now[o.Key]
	default:
		o.A = -1
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	n := max(0, len(x.now)+x.Rand.IntN(4)-2)
	switch {
	case o.Changes:
		o.Key = n
	case o.F == ":tail":
		o.A = n
	case o.F == ":read":
		o.List = slices.Clone(x.now[:min(n, len(x.now))])
		if len(o.List) > 1 && x.Chance(0.3) {
			i := x.Rand.IntN(len(o.List) - 1)
			o.List[i], o.List[i+1] = o.List[i+1], o.List[i]
		}
	case len(x.now) == 0 || x.Chance(0.2):
		o.A = -1
	default:
		o.A = x.now[x.Rand.IntN(len(x.now))]
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case o.F == ":append":
		return x.place(b, o, returned)
	case !returned && o.F == ":read-at":
		return x.Int(b, o.Key)
	case !returned:
		return append(b, "nil"...)
	case o.F == ":tail":
		return x.Int(b, o.A)
	case o.F == ":read":
		return append(x.Items(append(b, '['), o.List), ']')
	case x.Small && (x.Chance(0.2) || x.Spelling(o.A)[0] == '{'):
		b = x.Print(append(x.Int(append(b, "{:offset "...), o.Key), ", :msg "...), o.A)
		return append(b, '}')
	}
	return x.Print(b, o.A)
}

// place prints the value of an append, or the offset that it returned.
func (x *object) place(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case returned && o.Ok && x.Small && x.Chance(0.7):
		return x.Int(b, o.Key)
	case returned && o.Ok:
		if b = x.Int(append(b, "{:offset "...), o.Key); x.Small {
			b = x.Print(append(b, ", :msg "...), o.A)
		}
		return append(b, '}')
	case returned && (!x.Small || x.tells > 0 || x.Chance(0.5)):
		return append(b, "nil"...)
	case o.Two > 0:
		b = x.Print(append(b, "{:msg "...), o.A)
		return append(x.Int(append(b, ", :match-seq-num "...), o.Two-1), '}')
	}
	return x.Print(b, o.A)
}
