package fastpath

import (
	"slices"

	"clew/models"
)

// What cores of registers are made of: see register.go.

// producers lists, by value, the operations that leave it, by invocation.
type producers struct {
	input
	from []int32 // by value, where its producers begin in ops
	ops  []int32
}

// needsProducers is the needs of the registers.
func needsProducers(in input) needs {
	l := &producers{in, make([]int32, in.ids+2), make([]int32, in.Len())}
	for i := range in.Inv {
		if v, ok := in.leaves(int32(i)); ok {
			l.from[v+2]++
		}
	}
	for v := range in.ids {
		l.from[v+2] += l.from[v+1]
	}
	for i := range in.Inv {
		if v, ok := in.leaves(int32(i)); ok {
			l.ops[l.from[v+1]] = int32(i)
			l.from[v+1]++
		}
	}
	return l.seenBy
}

// seenBy appends what operation o may have seen, as far as operations on the
// same value tell: all that was invoked before it returned and not separated
// from it by another completed one. If anything left the value, some of it is
// among them.
func (l *producers) seenBy(o int32, out []int32) []int32 {
	if l.Kind[o] == models.Write {
		return out
	}
	later := int32(-1) // the last invocation of those that returned before o
	for _, p := range slices.Backward(l.ops[l.from[l.A[o]]:l.from[l.A[o]+1]]) {
		if p == o || l.Inv[p] > l.Res[o] {
			continue
		}
		if l.Res[p] > later {
			out = append(out, p)
		}
		if l.Res[p] < l.Inv[o] {
			later = max(later, l.Inv[p])
		}
	}
	return out
}

// stepRegister is a register, with cas.
func stepRegister(op models.Op, state int32) (int32, bool) {
	switch op.Kind {
	case models.Write:
		return op.A, true
	case models.CAS:
		return op.B, op.A == state
	}
	return state, op.A == state
}

// laterProducer is the first operation invoked after event t that leaves a
// value, if there is one.
func laterProducer(c *models.Columns, value, t int32) []int32 {
	in := input{Columns: c}
	for p := range int32(c.Len()) {
		if v, ok := in.leaves(p); ok && v == value && c.Inv[p] > t {
			return []int32{p}
		}
	}
	return nil
}
