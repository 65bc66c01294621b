package clew

import (
	"fmt"

	"clew/edn"
	"clew/fallback"
	"clew/jepsen"
	"clew/models"
)

// explain says in one sentence what cannot happen, and after what.
func explain(r *jepsen.Result, path []fallback.Step) string {
	h := r.History
	s := h.Name(h.OpOf[r.Op]) + " cannot happen"
	if r.LastOp == jepsen.None {
		s += " at first"
	} else {
		s += " after " + h.Name(r.LastOp)
	}
	s += ": " + path[len(path)-1].Why
	switch n := len(r.Configs[0].Pending) - 1; {
	case n == 1:
		s += "; nor does the other operation open then help"
	case n > 1:
		s += fmt.Sprintf("; nor do the %d other operations open then help, in any order", n)
	}
	return s
}

// hint says what a user may have forgotten, if the failure looks like it: the
// initial value of a register, which it returns too, or that values are [key
// value] of independent keys.
func hint(h *jepsen.History, spec models.Spec, ops *models.Operations, fail int32) (text, init string) {
	if spec.Name != "register" && spec.Name != "cas-register" {
		return "", ""
	}
	if allPairs(h, spec) {
		return "every value is a pair: if the first of it is a key, give --independent, and each key is a register of its own", ""
	}
	if spec.Init != "" {
		return "", ""
	}
	for row := int32(0); row < int32(ops.Len()); row++ {
		if ops.Res[row] != fail {
			continue
		}
		if op := ops.Op(row); (op.Kind == models.Read || op.Kind == models.CAS) && !written(ops, op.A) && first(ops, row) {
			init = h.Values.Text(edn.ID(op.A))
			return fmt.Sprintf("nothing writes %s: if it is the initial value, give --init %s", init, init), init
		}
	}
	return "", ""
}

// written says whether any operation leaves a value.
func written(ops *models.Operations, value int32) bool {
	for i, kind := range ops.Kind {
		if kind == models.Write && ops.A[i] == value || kind == models.CAS && ops.B[i] == value {
			return true
		}
	}
	return false
}

// first says whether nothing that changes the register had returned when a row
// began.
func first(ops *models.Operations, row int32) bool {
	for i, res := range ops.Res {
		if res < ops.Inv[row] && ops.Model.Mutates(ops.Op(int32(i))) {
			return false
		}
	}
	return true
}

// allPairs says whether every value of an operation other than cas is a vector
// of two.
func allPairs(h *jepsen.History, spec models.Spec) bool {
	cas := h.Values.InternKeyword("cas")
	pairs := 0
	for op, inv := range h.Invocation {
		value := h.OpValue(int32(op))
		if value == edn.Nil || h.F[inv] == cas {
			continue
		}
		if h.Values.Kind(value) != edn.KindVector || len(h.Values.Items(value)) != 2 {
			return false
		}
		pairs++
	}
	return pairs > 1
}
