package idgenerator

import (
	"slices"

	"clew/internal/gen"
)

// object is id-generator in generated histories. Its ids grow, but for those of some small
// ones.
type object struct {
	*gen.Maker
	now   int
	given []int
}

func newObject(m *gen.Maker) gen.Object { return &object{Maker: m} }

func (x *object) Change(*gen.Thread) gen.Op {
	return gen.Op{F: x.OneOf(":generate", ":take"), Changes: true}
}

func (x *object) Bug(t *gen.Thread) gen.Op {
	o := x.Change(t)
	if x.Step > 0 {
		o.A = x.now
		return gen.Wrong(o)
	}
	return o
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	if x.Small && !x.Options.Growing {
		for range 20 {
			if id := x.Write(); !slices.Contains(x.given, id) {
				o.A, x.given = id, append(x.given, id)
				return gen.Done
			}
		}
		return gen.Refused
	}
	x.now++
	if x.Small {
		x.now += x.Rand.IntN(2)
	}
	o.A = x.now
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	if o.A = x.Write(); x.Options.Growing {
		o.A = x.now + x.Rand.IntN(6) - 3
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case !returned:
		return append(b, "nil"...)
	case x.Options.Growing:
		return x.Int(b, o.A)
	}
	return x.Print(b, o.A)
}
