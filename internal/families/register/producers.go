package register

import (
	"slices"

	"clew/fastpath"
	"clew/models"
)

// This file says what must stay together in cores of registers; see
// register.go.

// producers lists, for each value, the operations that leave it, in order of
// invocation.
type producers struct {
	fastpath.Input
	of fastpath.Groups
}

// needsProducers returns the Needs of registers.
func needsProducers(in fastpath.Input) fastpath.Needs {
	return producers{in, fastpath.GroupBy(in.Len(), in.IDs, func(o int32) int32 {
		if v, ok := leaves(in, o); ok {
			return v
		}
		return -1
	})}.seenBy
}

// seenBy appends the operations whose value o may have seen, as far as
// operations on the same value show. These are all operations that were invoked
// before o returned, unless another completed one separates them from o. If any
// operation left the value, at least one such operation is among them.
func (l producers) seenBy(o int32, out []int32) []int32 {
	if l.Kind[o] == models.Write {
		return out
	}
	later := int32(-1) // the last invocation among those that returned before o
	for _, p := range slices.Backward(l.of.Of(l.A[o])) {
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

// stepRegister is the step of a register, with cas.
func stepRegister(op models.Op, state int32) (int32, bool) {
	switch op.Kind {
	case models.Write:
		return op.A, true
	case models.CAS:
		return op.B, op.A == state
	}
	return state, op.A == state
}

// laterWriter finds the first operation invoked after the failure that
// leaves a value which had never been written.
func laterWriter(c *models.Columns, why *fastpath.Finding, failEvent int32) {
	if !why.Is(NeverWritten) {
		return
	}
	in := fastpath.Input{Columns: c}
	for p := range int32(c.Len()) {
		if v, ok := leaves(in, p); ok && v == c.A[why.Rows[0]] && c.Inv[p] > failEvent {
			why.Rows[1] = p
			return
		}
	}
}
