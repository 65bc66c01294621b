package set

import (
	"slices"
	"strconv"

	"clew/internal/gen"
)

// members is a set of numbers from 0 on.
type members []uint64

func (m members) has(n int) bool { return n>>6 < len(m) && m[n>>6]>>(n&63)&1 == 1 }

func (m *members) put(n int, in bool) {
	for n>>6 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[n>>6] &^= 1 << (n & 63)
	if in {
		(*m)[n>>6] |= 1 << (n & 63)
	}
}

// object is set in generated histories. It prints the whole set, so in long ones it reads only
// as often as the bytes of the other operations allow. A read sees the first A elements, and
// with Ok the one that is never there.
type object struct {
	*gen.Maker
	in    members
	now   []int
	spent int // on reads, in elements
}

// cheap is how many elements take as many bytes as an event.
const cheap = 12

func newObject(m *gen.Maker) gen.Object { return &object{Maker: m} }

func (x *object) Read(*gen.Thread) gen.Op {
	if x.spent+len(x.now) > cheap*(x.Started+1) && !x.Small {
		return gen.Op{}
	}
	x.spent += len(x.now)
	return gen.Op{F: ":read"}
}

func (x *object) Change(*gen.Thread) gen.Op { return gen.Op{F: ":add", Changes: true, A: x.Write()} }

func (x *object) Start(b []byte) []byte {
	for _, e := range x.Some() {
		x.Apply(&gen.Op{F: ":add", Changes: true, A: e})
	}
	return x.elements(b, x.now)
}

// Bug reads the set without the last added element, whether that is in the set
// or lost. Or it reads the set with an element that is not in it.
func (x *object) Bug(*gen.Thread) gen.Op {
	switch {
	case x.Kind == gen.ImpossibleRead:
		return gen.Wrong(gen.Op{F: ":read", A: len(x.now), Ok: true})
	case x.Step == 0:
		return gen.Op{F: ":add", Changes: true, A: x.Mark, Forced: x.Kind == gen.LostWrite}
	case x.Kind == gen.LostWrite:
		return gen.Op{F: ":read", Last: true}
	}
	return gen.Wrong(gen.Op{F: ":read", A: len(x.now) - 1})
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	switch {
	case !o.Changes:
		o.A = len(x.now)
	case !x.in.has(o.A):
		x.in.put(o.A, true)
		x.now = append(x.now, o.A)
	}
	return gen.Done
}

// Err reads any elements. For Knossos it may read what is not a set.
func (x *object) Err(o *gen.Op) {
	if o.Changes {
		return
	}
	if o.List = append([]int{}, x.Some()...); x.Options.Knossos && x.Chance(0.05) {
		o.Two = 1 + x.Rand.IntN(3)
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case o.Changes:
		return x.Print(b, o.A)
	case !returned:
		return append(b, "nil"...)
	case o.Two > 0:
		return append(b, [...]string{1: "[]", "nil", "7"}[o.Two]...)
	case o.List != nil:
		return x.elements(b, o.List)
	case o.Ok:
		return x.elements(b, append(slices.Clone(x.now[:o.A]), x.Mark+2))
	}
	return x.elements(b, x.now[:o.A])
}

// elements prints a set. In clew's small histories it may also be a sequence, even with an
// element twice.
func (x *object) elements(b []byte, es []int) []byte {
	if x.Small {
		es = slices.Clone(es)
		x.Rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
		if !x.Options.Knossos && x.Chance(0.3) {
			if len(es) > 0 && x.Chance(0.3) {
				es = append(es, es[0])
			}
			return x.Sequence(b, es...)
		}
	}
	return append(x.Items(append(b, "#{"...), es), '}')
}

// lookup is lookup-set in generated histories: operations ask element by element.
type lookup struct {
	*gen.Maker
	in members
}

func newLookup(m *gen.Maker) gen.Object { return &lookup{Maker: m} }

func (x *lookup) Read(*gen.Thread) gen.Op {
	return gen.Op{F: x.OneOf(":contains", ":lookup"), A: x.known()}
}

func (x *lookup) Change(*gen.Thread) gen.Op {
	if x.Rand.IntN(2) == 0 {
		return gen.Op{F: x.OneOf(":insert", ":add"), Changes: true, A: x.Write()}
	}
	return gen.Op{F: x.OneOf(":remove", ":delete"), Changes: true, A: x.known()}
}

// known returns any element, or one of the last.
func (x *lookup) known() int {
	if x.Values > 0 {
		return x.Write()
	}
	return max(0, x.Fresh-1-x.Rand.IntN(2*x.Processes))
}

func (x *lookup) Start(b []byte) []byte {
	some := x.Some()
	for _, e := range some {
		x.in.put(e, true)
	}
	return append(x.Items(append(b, "#{"...), some), '}')
}

func (x *lookup) Bug(*gen.Thread) gen.Op {
	switch {
	case x.Kind == gen.ImpossibleRead && x.Step == 0: // so that it was not there initially either
		return gen.Op{F: ":contains", A: x.Mark + 2}
	case x.Kind == gen.ImpossibleRead:
		return gen.Wrong(gen.Op{F: ":contains", A: x.Mark + 2, Ok: true})
	case x.Step == 0:
		return gen.Op{F: ":insert", Changes: true, A: x.Mark}
	case x.Kind == gen.Duplicate:
		return gen.Wrong(gen.Op{F: ":insert", Changes: true, A: x.Mark, Ok: true})
	case x.Step == 1:
		return gen.Op{F: ":remove", Changes: true, A: x.Mark, Ok: true, Forced: x.Kind == gen.LostWrite}
	}
	return gen.Wrong(gen.Op{F: ":contains", A: x.Mark, Ok: true})
}

func (x *lookup) Apply(o *gen.Op) gen.Outcome {
	was, inserts := x.in.has(o.A), o.F == ":insert" || o.F == ":add"
	o.Ok = was != inserts
	if o.Changes {
		x.in.put(o.A, inserts)
	}
	return gen.Done
}

func (x *lookup) Err(o *gen.Op) { o.Ok = x.Chance(0.5) }

func (x *lookup) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case !returned:
		return x.Print(b, o.A)
	case x.Small && x.Chance(0.3):
		return strconv.AppendBool(b, o.Ok)
	}
	b, end := x.Open(b)
	b = append(x.Print(b, o.A), ' ')
	return append(strconv.AppendBool(b, o.Ok), end)
}
