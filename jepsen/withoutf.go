package jepsen

import (
	"slices"

	"clew/edn"
	"clew/internal/opmap"
)

// isTxn reports whether an op without an :f, or with nil, is a transaction, which Elle takes without one, and gives it the :f then. Its value
// is steps such as [:append k v] or [:r k v], or it completes such an op.
func (b *Builder) isTxn(t Type, e *opmap.Event) bool {
	v := b.h.Values
	steps := v.Items(e.Value)
	txn := v.InternKeyword("txn")
	is := false
	if v.Kind(e.Value) == edn.KindVector && len(steps) > 0 {
		is = !slices.ContainsFunc(steps, func(step edn.ID) bool {
			parts := v.Items(step)
			return v.Kind(step) != edn.KindVector || len(parts) != 3 || v.Kind(parts[0]) != edn.KindKeyword ||
				!slices.Contains([]string{"append", "r", "w", "read", "write"}, v.Str(parts[0]))
		})
	}
	if !is && t != Invoke {
		op := b.open[b.process(v.Same(e.Process))]
		is = op != None && b.h.F[b.h.Invocation[op]] == txn
	}
	if is {
		e.F = txn
	}
	return is
}
