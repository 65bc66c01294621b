package bank

import (
	"slices"
	"strconv"

	"clew/internal/gen"
)

// longBalance is the initial balance of every account of a bank.
const longBalance = 20

// longBank is a bank. All amounts are even except for the one of a bug's transfer.
// Whatever crashed transfers did, balances from before it, and odd ones without
// it, are impossible. So are balances whose sum is wrong.
type longBank struct {
	*gen.LongHistory
	now, stale []int
	steps      int
}

func newLongBank(l *gen.LongHistory) gen.LongObject {
	return &longBank{LongHistory: l, now: slices.Repeat([]int{longBalance}, l.Keys)}
}

func (x *longBank) Read(*gen.LongThread) (gen.LongOp, bool) { return gen.LongOp{F: ":read"}, true }

func (x *longBank) Change(*gen.LongThread) gen.LongOp {
	from := x.Rand.IntN(x.Keys)
	to := (from + 1 + x.Rand.IntN(max(1, x.Keys-1))) % x.Keys
	return gen.LongOp{F: ":transfer", Changes: true, Key: from, Two: to, A: 2 * (1 + x.Rand.IntN(gen.UpTo(x.Values, 5)))}
}

func (x *longBank) Bug(*gen.LongThread) (gen.LongOp, bool) {
	x.steps++
	from := slices.Index(x.now, slices.Max(x.now)) // this account holds something
	to := (from + 1) % x.Keys
	wrong := gen.LongOp{F: ":read", Forced: true, Last: true}
	switch {
	case x.Kind == gen.ImpossibleRead:
		wrong.List = slices.Clone(x.now)
		wrong.List[from]--
		wrong.List[to]++
		return wrong, true
	case x.steps == 1:
		x.stale = slices.Clone(x.now)
		if x.Kind == gen.TornRead {
			x.stale[from]--
		}
		return gen.LongOp{F: ":transfer", Changes: true, Key: from, Two: to, A: 1, Forced: x.Kind == gen.LostWrite}, true
	}
	wrong.List = x.stale
	return wrong, true
}

func (x *longBank) Apply(o *gen.LongOp) gen.Outcome {
	if !o.Changes {
		o.List = slices.Clone(x.now)
		return gen.Done
	}
	if x.now[o.Key] < o.A {
		return gen.Refused
	}
	x.now[o.Key] -= o.A
	x.now[o.Two] += o.A
	return gen.Done
}

func (x *longBank) Value(b []byte, o *gen.LongOp, returned bool) []byte {
	switch {
	case o.Changes:
		b = gen.AppendNumber(append(b, "{:from "...), o.Key)
		b = gen.AppendNumber(append(b, ", :to "...), o.Two)
		b = gen.AppendNumber(append(b, ", :amount "...), o.A)
	case !returned:
		return gen.AppendNumber(b, -1)
	default:
		return longBalances(b, o.List)
	}
	return append(b, '}')
}

// longBalances prints the balances of accounts.
func longBalances(b []byte, list []int) []byte {
	b = append(b, '{')
	for i, n := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(gen.AppendNumber(b, i), ' ')
		b = strconv.AppendInt(b, int64(n), 10) // -1 is a balance, too
	}
	return append(b, '}')
}

// longBalancesOf returns the initial balances of a bank's accounts.
func longBalancesOf(o gen.LongOptions) string {
	return string(longBalances(nil, slices.Repeat([]int{longBalance}, o.Keys)))
}
