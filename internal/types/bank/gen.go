package bank

import (
	"slices"
	"strconv"

	"clew/internal/gen"
)

// longBalance is the initial balance of every account of a long history's bank.
const longBalance = 20

// object is a bank in generated histories. In long ones all amounts are even except for the
// one of a bug's transfer. Whatever crashed transfers did, balances from before it, and odd
// ones without it, are impossible. So are balances whose sum is wrong.
type object struct {
	*gen.Maker
	now, stale []int
}

func newObject(m *gen.Maker) gen.Object {
	x := &object{Maker: m, now: make([]int, m.Keys)}
	if !m.Small {
		x.now = slices.Repeat([]int{longBalance}, m.Keys)
	}
	return x
}

func (x *object) Read(*gen.Thread) gen.Op { return gen.Op{F: ":read"} }

func (x *object) Change(*gen.Thread) gen.Op {
	from := x.Rand.IntN(x.Keys)
	to := (from + 1 + x.Rand.IntN(max(1, x.Keys-1))) % x.Keys
	o := gen.Op{F: ":transfer", Changes: true, Key: from, Two: to, A: 2 * (1 + x.Rand.IntN(gen.UpTo(x.Values, 5)))}
	if x.Small {
		o.Two, o.A = x.Rand.IntN(x.Keys), 1+x.Rand.IntN(3)
		if x.Chance(0.05) {
			o.A = 0
		}
	}
	return o
}

func (x *object) Start(b []byte) []byte {
	for i := range x.now {
		x.now[i] = x.Rand.IntN(6)
	}
	return x.balances(b, x.now)
}

func (x *object) Bug(*gen.Thread) gen.Op {
	from := slices.Index(x.now, slices.Max(x.now)) // this account holds something
	to := (from + 1) % x.Keys
	switch {
	case x.Kind == gen.ImpossibleRead:
		x.stale = slices.Clone(x.now)
		x.stale[from]--
		x.stale[to]++
	case x.Step == 0:
		x.stale = slices.Clone(x.now)
		if x.Kind == gen.TornRead {
			x.stale[from]--
		}
		return gen.Op{F: ":transfer", Changes: true, Key: from, Two: to, A: 1, Forced: x.Kind == gen.LostWrite}
	}
	return gen.Wrong(gen.Op{F: ":read", List: x.stale})
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	switch {
	case !o.Changes:
		o.List = slices.Clone(x.now)
		return gen.Done
	case x.now[o.Key] < o.A && !x.Options.Negative:
		return gen.Refused
	}
	x.now[o.Key] -= o.A
	x.now[o.Two] += o.A
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	n := x.Rand.IntN(3)
	o.List = slices.Clone(x.now)
	o.List[x.Rand.IntN(x.Keys)] -= n
	o.List[x.Rand.IntN(x.Keys)] += n
	if x.Chance(0.1) {
		o.List[0]++
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case o.Changes:
		b = gen.AppendNumber(append(b, "{:from "...), o.Key)
		b = gen.AppendNumber(append(b, ", :to "...), o.Two)
		return append(x.Int(append(b, ", :amount "...), o.A), '}')
	case !returned:
		return append(b, "nil"...)
	}
	return x.balances(b, o.List)
}

// balances prints the balances of accounts. Small histories may leave out balances of 0.
func (x *object) balances(b []byte, list []int) []byte {
	b = append(b, '{')
	for i, n := range list {
		if x.Small && n == 0 && x.Chance(0.2) {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ", "...)
		}
		b = append(strconv.AppendInt(b, int64(i), 10), ' ')
		b = x.Int(b, n)
	}
	return append(b, '}')
}

// initial returns the initial balances of a long history's accounts.
func initial(o gen.LongOptions) string {
	x := object{Maker: &gen.Maker{}}
	return string(x.balances(nil, slices.Repeat([]int{longBalance}, o.Keys)))
}
